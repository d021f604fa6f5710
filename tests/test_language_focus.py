"""What is asked of which thing: dimensions told by units, things that are not spoken of, opposites, spellings."""

from __future__ import annotations

import time

import pytest

from tests.models_support import passage, quoted
from trivium.language.compounds import wordings
from trivium.language.focus import focus_of
from trivium.language.question import understand
from trivium.search.passage import Passage
from trivium.search.segment import fold

LIMITS = (
    "# Limits\n\n| name | default | meaning |\n| --- | --- | --- |\n| `max_context_bytes` | 10000000 | bytes of a"
    " context |\n| `max_hops` | 64 | largest bound of a path |\n\nA shape has at most 64 KiB. A label may"
    " have 80 characters.\n"
)


KINDS = {
    "מתי מסתיים החוזה?": "when", "כמה עולה כרטיס?": "how_much", "כמה זמן נמשך הקורס?": "how_long",
    "מי מנהל את המשרד?": "who", "איפה נמצא המשרד?": "where", "למה נדחה הפרויקט?": "why", "האם יש חניה?": "yes_no",
    "כל כמה זמן מוגש הדוח?": "how_often", "איך מגישים דוח?": "how",
    "متى ينتهي العقد؟": "when", "كم سعر التذكرة؟": "how_much", "كم تستغرق الجولة؟": "how_long", "من هو المدير؟": "who",
    "من يدير المكتبة؟": "who", "من أين تأتي المياه؟": "where", "أين يقع المكتب؟": "where",
    "لماذا تأجل المشروع؟": "why", "هل يوجد موقف؟": "yes_no", "كم مرة يقدم التقرير؟": "how_often",
    "كيف يقدم التقرير؟": "how",
}  # fmt: skip


@pytest.mark.parametrize("ask", KINDS)
def test_question_words_of_hebrew_and_arabic_are_known(ask: str) -> None:
    assert understand(ask).kind == KINDS[ask]


@pytest.mark.parametrize(
    ("ask", "head", "of"),
    [
        ("מה המחיר של כרטיס לאי?", "מחיר", "כרטיס לאי"),
        ("מהו מחיר הכרטיס?", "מחיר", "הכרטיס"),
        ("ما هو سعر التذكرة؟", "سعر", "التذكره"),
    ],
)
def test_the_thing_asked_about_is_known_in_hebrew_and_arabic(ask: str, head: str, of: str) -> None:
    focus = focus_of(fold(ask))
    assert focus is not None
    assert (focus.head, focus.of) == (head, of)


def source(text: str) -> list[Passage]:
    return [passage("page.md", text)]


ANSWERED = [
    ("What is the max size of a shape?", LIMITS, "64 KiB"),
    ("What is the maximum length of a label?", LIMITS, "80 characters"),
    ("What is the default of max_hops?", LIMITS, "max_hops"),
    ("What is the weight of the bell?", "The bell hangs in the tower. The bell weighs 3 t.", "3 t"),
    ("Was ist das Gewicht der Glocke?", "Die Glocke hängt im Turm. Die Glocke wiegt 3 t.", "3 t"),
    (
        "What is the length of a visit?",
        "A visit of the tower lasts 40 minutes. A visit needs good shoes.",
        "40 minutes",
    ),
    (
        "What is the port of the console?",
        "The console has no port for guests. The console listens on port 4410.",
        "4410",
    ),
    ("Who makes the back-up?", "The night crew makes the backup.", "night crew"),
    ("How do I back up the card?", "A backup of the card is made with the key B.", "key B"),
    ("How do I make a backup of the card?", "Back up the card with the key B.", "key B"),
    ("How long does the set-up take?", "Setup takes an hour.", "an hour"),
    ("Wie hoch ist die Jahres-Gebühr?", "Die Jahresgebühr beträgt 20 Euro.", "20 Euro"),
    ("Wie hoch ist die Jahresgebühr?", "Die Jahres-Gebühr beträgt 20 Euro.", "20 Euro"),
    ("What is the price of the team plan?", "The free plan has 3 seats, the team plan costs 40 euros a month.", "40"),
    ("What is the price of the free plan?", "The free plan, with 3 seats, costs 5 euros a month.", "5 euros"),
    ("What is the price of the free plan?", "The free plan has 3 seats and a log, and it costs 5 euros.", "5 euros"),
    (
        "What is the price of the team plan?",
        "The team plan, the free plan and the old plan cost 4 euros each.",
        "4 euros",
    ),
    ("What is the price of the free plan?", "The team plan costs 40 euros, the free plan 5 euros.", "5 euros"),
]


@pytest.mark.parametrize(("ask", "text", "said"), ANSWERED)
def test_the_first_quote_says_what_is_asked_of_that_thing(ask: str, text: str, said: str) -> None:
    composed = quoted(ask, source(text))
    assert composed.found
    assert said in composed.cited[0].quote


REFUSED = [
    ("What is the default port of the ferry?", "The port of the console is 4410 by default. The ferry is white."),
    ("What is the depth of the pool?", "The pool is 50 metres long."),
    ("What is the weight of the door?", "The bell weighs 3 t. The door is of oak."),
    ("What is the minimum temperature of the kiln?", "The maximum temperature of the kiln is 1300 °C."),
    ("Quelle est la température maximale de la serre ?", "La température minimale de la serre est de 16 °C."),
    ("Wie hoch ist die Kaution für die Drehbank?", "Die Kaution für den Schlüssel beträgt 25 Euro."),
    ("¿Cuál es el precio de un mapa?", "El mapa está en la sala. El precio de una copia es de 3 euros."),
    ("Who is the captain of the gateway?", "The captain is Linnea Aalto. The gateway has a log."),
    ("What is the price of the free plan?", "The free plan is for three people, the team plan costs 40 euros a month."),
    ("What does the free plan cost?", "The free plan has 3 seats and no support; the team plan costs 40 euros."),
    ("Was kostet der kleine Plan?", "Der kleine Plan hat 3 Sitze, der große Plan kostet 40 Euro."),
]


@pytest.mark.parametrize(("ask", "text"), REFUSED)
def test_what_is_said_of_another_thing_is_no_answer(ask: str, text: str) -> None:
    assert not quoted(ask, source(text)).found


def test_a_name_stays_a_name_where_a_file_writes_it_with_a_hyphen() -> None:
    lines = passage("contracts/northern-lines.md", "# Northern Lines\n\nInvoices are payable within 30 days.")
    star = passage("contracts/southern-star.md", "# Southern Star\n\nInvoices are payable within 14 days.")
    composed = quoted("When must Northern Lines pay its invoices?", [lines, star])
    assert [cited.passage.source for cited in composed.cited] == ["contracts/northern-lines.md"]


def test_the_row_of_the_thing_itself_comes_before_rows_that_name_it() -> None:
    text = "| code | meaning |\n| --- | --- |\n| `lost`, `late` | of the answer |\n| `late` | came after the end |\n"
    assert "came after the end" in quoted("What does the code late mean?", source(text)).cited[0].quote


@pytest.mark.parametrize(
    ("ask", "others"),
    [
        ("How do I back up?", ["How do I backup?"]),
        ("How do I log-in?", ["How do I login?", "How do I log in?"]),
        ("Was kostet die E-Mail-Adresse?", []),
        ("Was kostet der Jahres-Beitrag?", ["Was kostet der Jahresbeitrag?", "Was kostet der Jahres Beitrag?"]),
        ("What is KB-1423 and x-1?", []),
        ("What changed in 2024-05-01?", []),
        ("什么是合同？", []),
    ],
)
def test_a_question_is_also_searched_for_in_other_spellings(ask: str, others: list[str]) -> None:
    assert wordings(ask) == others


def test_the_form_of_a_question_is_found_in_bounded_time() -> None:
    began = time.process_time()
    for text in (
        "what is the " + "of " * 10_000,
        "what is the " + "a" * 30_000,
        "quel est l'" + "d'" * 15_000,
        "a-b" * 10_000,
    ):
        understand(text[:32_768])
        wordings(text)
    for text in ("what is the " + "of " * 90, "what is the " + "- " * 140, "was ist der " + "von der " * 35):
        focus_of(fold(text))
    assert time.process_time() - began < 5
