"""Which passage supports a sentence: as a look at every word says, at the cost of what is found."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from tests.answer_questions import passages
from tests.models_support import passage
from trivium.language import matching
from trivium.language.languages import language_of, silent_words
from trivium.language.matching import alike
from trivium.language.statements import statements_of
from trivium.language.values import LABEL, find_values
from trivium.models.support import Support
from trivium.search.passage import Passage
from trivium.search.segment import tokens


def share(words: set[str], there: Iterable[str]) -> float:
    known = set(there)
    return sum(any(alike(word, other) for other in known) for word in words) / len(words) if words else 0.0


def plainly(sentence: str, given: Passage) -> tuple[str, float]:
    """The quote and the score, by comparing every word with every word."""
    statements = statements_of([given])
    words = set(tokens(sentence, query=True))
    words = words - silent_words(words) or words
    language = language_of(sentence, otherwise=statements[0].language)
    values = {value.key for value in find_values(sentence, language) if value.kind != LABEL}
    best = max(statements, key=lambda one: (round(share(words, one.words), 6), -one.place))
    named = [word for one in statements for word in one.words] + tokens(best.context)
    held = len(values & {value.key for one in statements for value in one.values}) / len(values) if values else 1.0
    score = (0.7 * share(words, best.words) + 0.3 * share(words, named)) * (0.4 + 0.6 * held)
    return best.quote, round(score, 6)


def test_the_best_support_is_that_of_a_look_at_every_word() -> None:
    chosen = random.Random(11)
    given = chosen.sample([one for one in passages() if statements_of([one])], 12)
    support = Support()
    sentences = [one.text for one in statements_of(passages())]
    for number, one in enumerate(given, 1):
        support.add(number, one)
        words = chosen.choice(sentences).split()
        sentence = " ".join(chosen.sample(words, len(words) // 2 + 1))
        found = {at: support.of(sentence, at) for at in support.passages}
        for at, backing in found.items():
            quote, score = plainly(sentence, given[at - 1])
            assert backing is not None
            assert backing.score == score
            assert backing.quote == quote or not backing.measured
        best = max((one for one in found.values() if one), key=lambda backing: (backing.score, -backing.number))
        assert support.best(sentence) == best


def test_a_long_answer_without_markers_costs_no_look_at_every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words compared for each sentence stay few, however much the model was given."""
    compared = 0

    def counted(term: str, word: str) -> float:
        nonlocal compared
        compared += 1
        return alike(term, word)

    chosen = random.Random(5)
    syllables = [first + vowel for first in "bdfgklmnprst" for vowel in "aeiou"]
    words = ["".join(chosen.sample(syllables, 3)) for _ in range(3_000)]
    text = "".join(f"{' '.join(chosen.sample(words, 12)).capitalize()}.\n\n" for _ in range(400))
    support = Support()
    for number in range(1, 9):
        support.add(number, passage(f"{number}.md", text[number * 20 :]))
    support.best("Read all of it first.")
    monkeypatch.setattr(matching, "alike", counted)
    for _ in range(20):
        assert support.best(" ".join(chosen.sample(words, 10))) is not None
    assert compared < 20 * 10 * 150  # of 3,000 words those that begin or end alike


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("The bill is due on 3 May 2024.", "2024-05-03"),
        ("The bill is due on May 3, 2024.", "2024-05-03"),
        ("Die Rechnung ist am 3. Mai 2024 fällig.", "2024-05-03"),
        ("Termin: 03.05.2024", "2024-05-03"),
        ("The office opens at 9 am.", "09:00"),
        ("The talk starts at 2:30 pm.", "14:30:00"),
        ("The bill is due on 3 May 2024 at 9 am.", "2024-05-03T09:00:00Z"),
    ],
)
def test_a_day_or_time_in_another_form_is_found(text: str, moment: str) -> None:
    support = Support()
    support.add(1, passage("c1", text))
    found = support.find_value(moment)
    assert found is not None
    assert found.quote == text
    other = moment.replace("2024", "2025").replace("09:00", "10:00").replace("14:30", "15:30")
    assert support.find_value(other) is None
    assert support.find_value("") is None
