"""Whether passages support a sentence, and which of their statements does so best."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from trivium.answers.code_spans import code_spans
from trivium.language.languages import language_of, silent_words
from trivium.language.matching import Words
from trivium.language.statements import CODE, Statement, statements_of
from trivium.language.values import DATE, LABEL, TIME, Value, find_values
from trivium.models.claims import Given, telling
from trivium.models.swapped import is_of_another, swapped
from trivium.search.passage import Passage
from trivium.search.segment import fold, tokens

_NOTE = re.compile(r"(?<![:=(,])(?<![:=(,]\s)\[\^?\d{1,3}(?:\s?[-–,;]\s?\d{1,3})*\]")
_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)?(?:(?:(?<=\d)[T ])?(?P<time>\d\d:\d\d)(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:\d\d)?)?"
)
_CODE_WORD = re.compile(r"(?<![<{\[$\w-])-{0,2}[^\W\d_][\w-]+(?![>}\]\w-])")
"""A word or an option in code; what stands in brackets is to be put in."""
WEAK, STRONG = 0.35, 0.6
"""Support below which a citation is reported, and from which a sentence without one is given it."""


class Backing(Struct, frozen=True):
    """How far a statement of a passage supports a sentence: the share of its telling words that stand there too.

    `measured` is False when the languages differ, so that words cannot be compared. `held` is the share of the
    sentence's values that the passage has.
    """

    number: int
    quote: str
    score: float
    measured: bool
    held: float = 1.0

    @property
    def plain(self) -> bool:
        """Whether the passage can be said to support the sentence."""
        return self.score >= WEAK or (not self.measured and self.held > 0)


class _Read:
    """A passage as its statements, and where in them each word and value stands."""

    def __init__(self, statements: list[Statement]) -> None:
        self.statements = statements
        self.holding: dict[str, list[int]] = {}
        """The places among the statements in which a word stands."""
        self.over: list[set[str]] = []
        """The words of what stands over each statement."""
        self.values = {value.key for one in statements for value in one.values}
        contexts: dict[str, set[str]] = {}
        for at, one in enumerate(statements):
            for word in set(one.words):
                self.holding.setdefault(word, []).append(at)
            if one.context not in contexts:
                contexts[one.context] = set(tokens(one.context))
            self.over.append(contexts[one.context])

    def met(self, words: Sequence[Collection[str]]) -> list[int]:
        """How many of some words, each given as all those that stand for it, each statement has."""
        found = [0] * len(self.statements)
        for forms in words:
            for at in {at for form in forms for at in self.holding.get(form, ())}:
                found[at] += 1
        return found


class _Claim(Struct, frozen=True):
    """A sentence: its language, its telling words, each as all those known here that stand for it, and its values."""

    language: str
    words: list[Collection[str]]
    values: set[tuple[str, str]]


class Support:
    """The passages that a model was given, by number.

    What a word may stand for is looked up once for all passages, so that a sentence costs what it finds in them.
    """

    def __init__(self) -> None:
        self.passages: dict[int, Passage] = {}
        self._passages: dict[int, _Read] = {}
        self._words = Words()
        """The words of all passages that were read, of what stands over them, and of the results of tools."""
        self._claims: tuple[str, int, dict[str, _Claim]] = ("", 0, {})
        self._best: dict[tuple[str, int], Backing | None] = {}
        self._results: list[tuple[set[str], set[tuple[str, str]]]] = []
        self._heard: list[str] = []
        self._given: tuple[int, Given] | None = None

    def add(self, number: int, passage: Passage) -> None:
        self.passages[number] = passage

    def add_result(self, text: str) -> None:
        """What a tool gave that is no passage: it can support a sentence, but nothing can be cited for it."""
        self._heard.append(text)
        words = set(tokens(text))
        self._words.add(words)
        self._results.append((words, {value.key for value in find_values(text)}))

    def hear(self, text: str) -> None:
        """What the model was told beside passages, such as the question: repeating it is no invention."""
        self._heard.append(text)

    @property
    def given(self) -> Given:
        """All that the model was given."""
        count = len(self.passages) + len(self._heard)
        if self._given is None or self._given[0] != count:
            passages = self.passages.values()
            sources = [name for one in passages for name in (one.source, one.name, *one.sources) if name]
            self._given = count, Given([*map(_whole, passages), *self._heard], sources)
        return self._given[1]

    @property
    def is_empty(self) -> bool:
        return not self.passages and not self._results

    def told(self, sentence: str) -> bool:
        """Whether the result of a tool says what a sentence says: its words, and all of its values."""
        words = self._forms(_telling(sentence)) if self._results else []
        values = {
            value.key[1].split()[0] for value in find_values(sentence, language_of(sentence)) if value.kind != LABEL
        }
        for known, given in self._results:
            held = {key[1].split()[0] for key in given if key[1].split()} | known
            if values <= held and _share(words, known) >= WEAK and (values or _share(words, known) >= STRONG):
                return True
        return False

    @property
    def words(self) -> set[str]:
        """All words of the passages and of what stands over them."""
        statements = [one for number in self.passages for one in self._of(number)]
        return {word for one in statements for word in [*one.words, *tokens(one.context)]}

    def of(self, sentence: str, number: int) -> Backing | None:
        """The best support in one passage; None when it holds nothing to quote."""
        read = self._read(number)
        statements = read.statements
        if not statements:
            return None
        claim = self._claim(sentence, statements[0].language)
        words, values = claim.words, claim.values
        met = read.met(words)
        at = max(range(len(statements)), key=lambda at: (met[at], -statements[at].place))
        best, over = statements[at], read.over[at]
        named = sum(any(form in read.holding or form in over for form in forms) for forms in words)
        share = 0.7 * (met[at] / len(words)) + 0.3 * (named / len(words)) if words else 0.0
        held = len(values & read.values) / len(values) if values else 1.0
        measured = claim.language == best.language or not words
        if not measured:
            best = _with_values(statements, values) or best
        return Backing(number, best.quote, round(share * (0.4 + 0.6 * held), 6), measured, held)

    def _claim(self, sentence: str, otherwise: str) -> _Claim:
        """A sentence, read once for all passages; it is taken to be in the language `otherwise` unless it tells."""
        if self._claims[:2] != (sentence, len(self._passages)):
            self._claims = sentence, len(self._passages), {}
        claims = self._claims[2]
        if otherwise not in claims:
            language = language_of(sentence, otherwise=otherwise)
            values = {value.key for value in find_values(sentence, language) if value.kind != LABEL}
            known = next(iter(claims.values()), None)
            words = known.words if known is not None else self._forms(_telling(sentence))
            claims[otherwise] = _Claim(language, words, values)
        return claims[otherwise]

    def _forms(self, words: Iterable[str]) -> list[Collection[str]]:
        """Each word as all the words known here that stand for it."""
        return [self._words.met_by(word) for word in words]

    def best(self, sentence: str) -> Backing | None:
        """The best support in any passage."""
        key = sentence.strip(), len(self.passages)
        if key not in self._best:
            self._best[key] = self._found_best(sentence)
        return self._best[key]

    def _found_best(self, sentence: str) -> Backing | None:
        for number in self.passages:
            self._read(number)  # all of them first: what a word stands for is looked up among all words
        found = [backing for number in self.passages if (backing := self.of(sentence, number)) is not None]
        return max(found, key=lambda backing: (backing.score, -backing.number), default=None)

    def misplaced(self, sentence: str) -> str | None:
        """The only value of a sentence, where no statement that holds it has another word of the sentence.

        Such as `24 months` in `The repair fee is 24 months`, where the passages say so of the warranty alone.
        """
        values = find_values(sentence, language_of(sentence))
        if len(values) != 1 or values[0].kind == LABEL:
            return None
        value = values[0]
        others = telling(f"{sentence[: value.start]} {sentence[value.stop :]}")
        holding = [
            one
            for number in self.passages
            for one in self._of(number)
            if value.key in {held.key for held in one.values}
        ]
        if not holding or len(others) < 2:
            return None
        told = {word for one in holding for word in (*one.words, *tokens(f"{one.context} {one.before}"))}
        self._words.add(told)
        return None if _share(self._forms(others), told) else sentence[value.start : value.stop]

    def swapped(self, sentence: str) -> str | None:
        """The value or name of a sentence that the passages give to something else alone."""
        statements = self._all()
        if not statements:
            return None
        language = language_of(sentence, otherwise=statements[0].language)
        return swapped(sentence, language, statements, self._forms)

    def is_swapped(self, amount: float, of: Iterable[str]) -> bool:
        """Whether a number is given to something else alone than these words name."""
        value = next((one for one in find_values(f"{amount:g}") if one.amount is not None), None)
        if value is None:
            return False
        holding = [held for one in self._all() for held in one.values if held.amount == value.amount]
        kinds = {held.kind: held for held in holding if held.kind != LABEL}
        return any(is_of_another(set(of), held, self._all(), self._forms) for held in kinds.values())

    def strange_code(self, sentence: str) -> list[str]:
        """What a sentence shows as code within a line, of which a word stands nowhere in what was given."""
        spans = [sentence[start:stop] for start, stop in code_spans(sentence)]
        codes = [one.strip("`").strip() for one in spans if "\n" not in one]
        if not codes:
            return []
        known = fold("\n".join([*map(_whole, self.passages.values()), *self._heard]))
        return [code for code in codes if any(fold(word) not in known for word in _CODE_WORD.findall(code))]

    def find_value(self, text: str) -> Backing | None:
        """The statement that holds a text word for word, or a day or time in another form; None where none does."""
        folded = " ".join(tokens(text))
        for number in self.passages:
            for statement in self._of(number):
                if folded and f" {folded} " in f" {' '.join(statement.words)} ":
                    return Backing(number, statement.quote, 1.0, True)
        return self._find_moment(text.strip())

    def _find_moment(self, text: str) -> Backing | None:
        """The statement that tells a day or a time that is given as ISO 8601 has it."""
        match = _MOMENT.fullmatch(text)
        wanted = {part for part in (match["day"], match["time"]) if part} if match is not None else set()
        if not wanted:
            return None
        for number in self.passages:
            for statement in self._of(number):
                if wanted <= {value.iso for value in statement.values if value.kind in (DATE, TIME)}:
                    return Backing(number, statement.quote, 1.0, True)
        return None

    def find_number(self, amount: float, of: Iterable[str] = ()) -> Backing | None:
        """The first statement that holds a number, of those with most of some words; None where none does."""
        forms = self._forms(of)
        best: tuple[float, Backing] | None = None
        for number in self.passages:
            for statement in self._of(number):
                if any(_is_number(value, amount) for value in _said_values(statement)):
                    share = _share(forms, set(statement.words))
                    if best is None or share > best[0]:
                        best = share, Backing(number, statement.quote, 1.0, True)
        return best[1] if best is not None else None

    def _all(self) -> list[Statement]:
        return [one for number in self.passages for one in self._of(number)]

    def _of(self, number: int) -> list[Statement]:
        return self._read(number).statements

    def _read(self, number: int) -> _Read:
        if number not in self._passages:
            read = self._passages[number] = _Read(statements_of([self.passages[number]]))
            self._words.add(read.holding)
            self._words.add(word for over in read.over for word in over)
        return self._passages[number]


def _whole(passage: Passage) -> str:
    """A passage with all that the model is told of it."""
    outer = [part for path in passage.section_paths for part in path]
    parts = (passage.text, passage.table_header, passage.source, passage.name, passage.title, passage.section_path)
    return "\n".join(str(part) for part in (*parts, passage.dated, passage.context, *outer) if part)


def _said_values(statement: Statement) -> list[Value]:
    """The values of a statement but for numbers of footnotes and of quoted sources, which say nothing."""
    if "[" not in statement.text or statement.kind == CODE:
        return statement.values
    notes = [match.span() for match in _NOTE.finditer(statement.text)]
    return [value for value in statement.values if not any(start <= value.start < stop for start, stop in notes)]


def _is_number(value: Value, amount: float) -> bool:
    if value.amount is not None and abs(float(value.amount) - amount) <= abs(amount) * 1e-9:
        return True
    return value.iso[:4].isdigit() and amount == int(value.iso[:4])


def _telling(text: str) -> set[str]:
    found = set(tokens(text, query=True))
    return found - silent_words(found) or found


def _share(words: Sequence[Collection[str]], there: set[str]) -> float:
    """The share of some words, each given as all those that stand for it, of which a text has one."""
    return sum(any(form in there for form in forms) for forms in words) / len(words) if words else 0.0


def _with_values(statements: list[Statement], values: set[tuple[str, str]]) -> Statement | None:
    held = [(len(values & {value.key for value in one.values}), one) for one in statements]
    most = max(held, key=lambda pair: pair[0], default=None)
    return most[1] if most and most[0] else None
