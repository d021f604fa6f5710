"""Texts in other encodings than UTF-8: read as they were written, the guess told; what is no text is refused."""

from __future__ import annotations

import random
import struct
import sys

import pytest

from trivium.ingest.decoding import decode
from trivium.ingest.parse import parse
from trivium.ingest.parsed import Unreadable

RUSSIAN = "Договор поставки вступает в силу с момента подписания. Оплата в течение 30 дней.\n"
JAPANESE = "契約書の支払条件は受領後30日以内とする。カタカナとひらがな。\n"
CHINESE = "合同付款条件为收到发票后三十天内支付。\n"
TEXTS = {
    "russian": (RUSSIAN, ["cp1251", "koi8_r", "iso8859_5", "cp866"]),
    "japanese": (JAPANESE, ["shift_jis", "euc_jp", "iso2022_jp"]),
    "chinese": (CHINESE, ["gb18030"]),
    "traditional": ("合同付款條件為收到發票後三十天內支付。\n", ["big5"]),
    "korean": ("계약서의 지급 조건은 수령 후 30일 이내로 한다.\n", ["euc_kr"]),
    "greek": ("Η σύμβαση τίθεται σε ισχύ κατά την υπογραφή. Η πληρωμή γίνεται εντός τριάντα ημερών.\n", ["cp1253"]),
    "hebrew": ("החוזה נכנס לתוקף ביום חתימתו. התשלום בתוך שלושים יום.\n", ["cp1255"]),
    "arabic": ("يدخل العقد حيز التنفيذ عند التوقيع. يتم الدفع خلال ثلاثين يوما.\n", ["cp1256"]),
    "thai": ("สัญญามีผลบังคับใช้เมื่อลงนาม ชำระเงินภายในสามสิบวัน\n", ["cp874"]),
}
LATIN = {
    "german": ("Größe: Übergänge und Maßnahmen für Straßen, gut.\n", ["latin-1", "mac_roman", "cp850"]),
    "german signs": ("Der Raum hat 30 m³, 20 °C und 5 m² (§5, ±2 µm); „größer“ kostet 30 €.\n", ["cp1252"]),
    "french": (
        "Le délai de paiement est de trente jours à compter de la réception. Œuvre – naïf.\n",
        ["cp1252"],
    ),
    "spanish": ("El contrato entrará en vigor el día de su firma. ¿Cuándo se paga? Niño y pingüino.\n", ["cp1252"]),
    "portuguese": ("O contrato entra em vigor na data da assinatura. Não há exceções à condição.\n", ["cp1252"]),
    "swedish": ("Avtalet träder i kraft vid undertecknandet. Räksmörgås på ön.\n", ["latin-1", "cp437"]),
    "short": ("Café for 30 people\n", ["cp1252"]),
    "polish": ("Umowa wchodzi w życie z dniem podpisania. Płatność w ciągu dni, źdźbło.\n", ["cp1250", "iso8859_2"]),
    "czech": ("Smlouva nabývá účinnosti dnem podpisu. Příliš žluťoučký kůň.\n", ["cp1250"]),
    "hungarian": ("A szerződés az aláírás napján lép hatályba. Árvíztűrő tükörfúrógép.\n", ["cp1250"]),
    "turkish": ("Sözleşme imza tarihinde yürürlüğe girer. Ödeme otuz gün içinde yapılır.\n", ["cp1254"]),
    "latvian": ("Līgums stājas spēkā parakstīšanas dienā. Samaksa trīsdesmit dienu laikā.\n", ["cp1257"]),
}
ALL = [(name, text, encoding) for name, (text, encodings) in (TEXTS | LATIN).items() for encoding in encodings]


@pytest.mark.parametrize("times", [1, 20])
@pytest.mark.parametrize(("name", "text", "encoding"), ALL, ids=[f"{name}-{encoding}" for name, _, encoding in ALL])
def test_an_8_bit_or_east_asian_text_is_read_and_the_guess_told(
    name: str, text: str, encoding: str, times: int
) -> None:
    found, note = decode((text * times).encode(encoding))
    assert found == text * times
    assert note is not None
    assert "guessed" in note


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text",
    ["plain words\n", RUSSIAN, JAPANESE, CHINESE, *(TEXTS[name][0] for name in ("korean", "arabic", "thai"))],
    ids=["english", "russian", "japanese", "chinese", "korean", "arabic", "thai"],
)
def test_a_wide_text_is_read_with_and_without_a_mark(text: str, encoding: str) -> None:
    found, note = decode(text.encode(encoding))
    assert (found, note) == (text, f"read as {encoding.upper()} (guessed: there is no byte-order mark)")
    assert decode(("\ufeff" + text).encode(encoding)) == (text, None)


@pytest.mark.parametrize("before", ["", " "])
def test_a_zero_byte_in_a_text_makes_no_wide_text_of_it(before: str) -> None:
    text = before + "The log of the pump.\n" + "line of text here\n" * 200 + "bad\0byte\nThe pressure is 5 bar.\n"
    assert decode(text.encode()) == (text.replace("\0", "\ufffd"), "zero bytes were replaced")


SHORT = {
    "cp1255": ["שלום עולם", "רשימת קניות: חלב ולחם", "הפגישה נדחתה ליום שלישי", "תודה רבה"],
    "iso8859_8": ["הדוח השנתי מוכן לבדיקה"],
    "cp1251": ["Привет, мир!", "Список покупок: молоко", "Щиро дякуємо за допомогу", "Много благодаря"],
    "koi8_r": ["Привет, мир!", "Большое спасибо"],
    "cp866": ["Список покупок"],
    "cp1253": ["Γεια σου κόσμε", "Ευχαριστώ πολύ"],
    "cp1256": ["مرحبا بالعالم", "شكرا جزيلا"],
    "cp874": ["ขอบคุณมาก"],
    "cp1252": ["Größe: Übergänge", "Bonjour à tous", "El Niño", "costs £30", "it’s fine", "25 °C"],
    "cp1250": ["Płatność w ciągu dni", "žluťoučký kůň"],
    "gb18030": ["你好世界", "购物清单"],
    "euc_kr": ["안녕 세상"],
    "euc_jp": ["こんにちは世界"],
}


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, encoding) for encoding, texts in SHORT.items() for text in texts]
)
def test_a_line_of_a_few_words_is_read_as_it_was_written(text: str, encoding: str) -> None:
    for end in ("", "\r\n"):
        found, note = decode((text + end).encode(encoding))
        assert found == text + end
        assert note is not None
        assert "guessed" in note


def test_a_guess_from_a_few_letters_says_that_it_may_be_wrong() -> None:
    doubt = "too few letters outside ASCII to be sure"
    assert doubt in (decode("costs £30\n".encode("cp1252"))[1] or "")
    assert doubt in (decode("כן\n".encode("cp1255"))[1] or "")
    assert doubt not in (decode((TEXTS["hebrew"][0]).encode("cp1255"))[1] or "")


def test_letters_far_into_a_file_are_what_the_guess_is_made_from() -> None:
    text = "plain words\n" * 40_000 + RUSSIAN * 3
    assert decode(text.encode("cp1251"))[0] == text


@pytest.mark.parametrize(
    ("parts", "note"),
    [
        ([("Café and Größe\n", "utf-8"), ("Café and Größe\n", "latin-1")], "2 places not in UTF-8, read as CP1252"),
        ([("It’s “fine” – really. " * 30, "utf-8"), ("Déjà vu, naïve\n", "cp1252")], "3 places"),
        ([("Straße\n" * 300, "utf-8"), ("Käufer\n", "cp1252"), ("Straße\n" * 300, "utf-8")], "1 place not in UTF-8"),
        ([("Привет из файла\n", "utf-8"), ("Привет из другого файла, строка\n", "cp1251")], "read as CP1251"),
        ([("これはUTF-8です\n", "utf-8"), ("契約書の支払条件です\n", "cp932")], "1 place not in UTF-8, read as CP932"),
        ([("café and ", "utf-8"), ("café", "latin-1")], "1 place not in UTF-8, read as CP1252"),
    ],
    ids=["latin", "a few", "one", "cyrillic", "japanese", "one line"],
)
def test_bytes_of_another_encoding_within_utf_8_are_read_and_told(parts: list[tuple[str, str]], note: str) -> None:
    found, told = decode(b"".join(text.encode(encoding) for text, encoding in parts))
    assert found == "".join(text for text, _ in parts)
    assert told is not None
    assert note in told
    assert "(guessed: the rest is UTF-8)" in told


def test_what_is_cut_off_within_utf_8_is_replaced_and_told() -> None:
    long = "L’été était très chaud. " * 40
    assert decode(long.encode() + b"caf\xc3") == (long + "caf\ufffd", "not UTF-8, and replaced: 1 byte")
    text, note = decode(long.encode() + b"\xe2\x80 and caf\xe9.")
    assert text == long + "\ufffd and café."
    assert note == "2 places not in UTF-8, read as CP1252 (guessed: the rest is UTF-8); replaced: 1 character"


@pytest.mark.parametrize("text", ["Das „Ä“ ist ein Umlaut wie ö und ü.", "„Groß“ und „Ö“", "« CAFÉ » et « ÉTÉ\xa0»"])
def test_letters_before_quotation_marks_do_not_pass_for_utf_8(text: str) -> None:
    assert decode(text.encode("cp1252"))[0] == text


def test_a_guess_in_a_message_is_told() -> None:
    head = b"Subject: Offer\nContent-Type: text/plain\n\n"
    parsed = parse("a.eml", head + "Größe: Übergänge für Straßen\n".encode("cp1252"))
    assert "Größe: Übergänge" in parsed.text
    assert parsed.notes == ["read as CP1252 (guessed: it is not UTF-8)"]


def test_latin_texts_are_told_apart_without_the_detector_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    for text, encodings in LATIN.values():
        for encoding in encodings:
            assert decode(text.encode(encoding))[0] == text


def test_numbers_and_noise_are_no_text_in_any_encoding() -> None:
    source = random.Random(7)
    for data in (
        source.randbytes(100_000),
        struct.pack("<20000I", *range(20_000)),
        struct.pack("<20000H", *(source.randrange(3_000) for _ in range(20_000))),
        struct.pack("<5000d", *(source.random() for _ in range(5_000))),
    ):
        with pytest.raises(Unreadable, match="no text file"):
            decode(data)
