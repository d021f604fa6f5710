"""Texts in other encodings than UTF-8: read as they were written, the guess told; what is no text is refused."""

from __future__ import annotations

import random
import struct
import sys

import pytest

from trivium.ingest.decoding import decode
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
