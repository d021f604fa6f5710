"""Documents in many scripts from end to end: imported, curated, asked in their own language, cited by their lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import trivium

DOCUMENTS = {
    "دليل.md": """# دليل المتجر

يفتح المتجر في الساعة التاسعة صباحا.
تكلفة التذكرة 15 دينارا.

## الضمان

مدة الضمان 24 شهرا من تاريخ الشراء.
مديرة المتجر هي ليلى حسن.
""",
    "מדריך.md": """# מדריך החנות

החנות נפתחת בשעה תשע בבוקר.
מחיר הכרטיס הוא 15 שקלים.

## אחריות

תקופת האחריות היא 24 חודשים מיום הקנייה.
מנהלת החנות היא ליאורה כהן.
""",
    "คู่มือ.md": """# คู่มือร้านค้า

ร้านเปิดเวลาเก้าโมงเช้า
ราคาตั๋วคือ 150 บาท

## การรับประกัน

ระยะเวลารับประกันคือ 24 เดือนนับจากวันที่ซื้อ
ผู้จัดการร้านคือ สมชาย ใจดี
""",
    "मार्गदर्शिका.md": """# दुकान मार्गदर्शिका

दुकान सुबह नौ बजे खुलती है।
टिकट की कीमत 150 रुपये है।

## वारंटी

वारंटी की अवधि खरीद की तारीख से 24 महीने है।
दुकान की प्रबंधक मीरा शर्मा हैं।
""",
    "안내.md": """# 매장 안내

매장은 오전 9시에 문을 엽니다.
입장권 가격은 15000원입니다.

## 보증

보증 기간은 구매일로부터 24개월입니다.
매장 관리자는 김민지입니다.
""",
    "店舗案内.md": """# 店舗案内

店は午前9時に開きます。
入場券の価格は1500円です。

## 保証

保証期間は購入日から24か月です。
店長は山田花子です。
""",
    "指南.md": """# 商店指南

商店上午九点开门。
门票价格是150元。

## 保修

保修期为购买之日起24个月。
店长是王小丽。
""",
    "🏪 shop.md": """# 🏪 Shop 🎉

The 🎟️ ticket costs 15 euros. 👩‍👩‍👧 families pay 30 euros.

## 🛡️

The 🛡️ warranty lasts 24 months.
👩‍🍳 Maria Lopez is the cook.
""",
}
ANSWERED = [
    ("دليل.md", "كم تكلفة التذكرة؟", "15 دينار"),
    ("دليل.md", "ما هي مدة الضمان؟", "24 شهر"),
    ("دليل.md", "من هي مديرة المتجر؟", "ليلى حسن"),
    ("מדריך.md", "מה מחיר הכרטיס?", "15 שקלים"),
    ("מדריך.md", "כמה זמן תקופת האחריות?", "24 חודשים"),
    ("מדריך.md", "מי מנהלת החנות?", "ליאורה כהן"),
    ("คู่มือ.md", "ราคาตั๋วเท่าไหร่?", "150 บาท"),
    ("คู่มือ.md", "ระยะเวลารับประกันกี่เดือน?", "24 เดือน"),
    ("คู่มือ.md", "ใครคือผู้จัดการร้าน?", "สมชาย"),
    ("मार्गदर्शिका.md", "टिकट की कीमत क्या है?", "150 रुपये"),
    ("मार्गदर्शिका.md", "वारंटी की अवधि कितनी है?", "24 महीने"),
    ("मार्गदर्शिका.md", "दुकान की प्रबंधक कौन हैं?", "मीरा शर्मा"),
    ("안내.md", "입장권 가격은 얼마입니까?", "15000원"),
    ("안내.md", "보증 기간은 얼마나 됩니까?", "24개월"),
    ("안내.md", "매장 관리자는 누구입니까?", "김민지"),
    ("店舗案内.md", "入場券の価格はいくらですか？", "1500円"),
    ("店舗案内.md", "保証期間はどのくらいですか？", "24か月"),
    ("店舗案内.md", "店長は誰ですか？", "山田花子"),
    ("指南.md", "门票价格是多少？", "150元"),
    ("指南.md", "保修期多长？", "24个月"),
    ("指南.md", "店长是谁？", "王小丽"),
    ("🏪 shop.md", "What does the ticket cost?", "15 euros"),
    ("🏪 shop.md", "What do 👩‍👩‍👧 families pay?", "30 euros"),
    ("🏪 shop.md", "How long is the 🛡️ warranty?", "24 months"),
    ("🏪 shop.md", "Who is the cook?", "Maria Lopez"),
]
REFUSED = [
    "كم وزن الجرس؟",
    "כמה שוקל הפעמון?",
    "ระฆังหนักเท่าไหร่?",
    "घंटी का वजन कितना है?",
    "종의 무게는 얼마입니까?",
    "鐘の重さはどのくらいですか？",
    "钟有多重？",
    "How heavy is the bell?",
]


@pytest.fixture(scope="module")
def shop() -> Iterator[trivium.Context]:
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("shop")
        for name, text in DOCUMENTS.items():
            context.add_bytes(name, text.encode())
        context.curate()
        yield context


@pytest.mark.parametrize(("source", "ask", "said"), ANSWERED)
def test_a_question_is_answered_from_the_document_in_its_language(
    shop: trivium.Context, source: str, ask: str, said: str
) -> None:
    document = shop.ask(ask, model="builtin/extractive")
    assert said in document["output"][0]["content"][0]["text"].split("\n")[0]
    citation = document["citations"][0]
    assert citation["source"] == source
    assert said in citation["grounding"]
    assert citation["grounding"] in DOCUMENTS[source]
    first, last = citation["lines"]
    assert said in "\n".join(DOCUMENTS[source].split("\n")[first - 1 : last])


@pytest.mark.parametrize("ask", REFUSED)
def test_what_no_document_says_is_not_answered(shop: trivium.Context, ask: str) -> None:
    document = shop.ask(ask, model="builtin/extractive")
    assert document["citations"] == []
    assert [warning["code"] for warning in document["warnings"]] == ["no_evidence"]
