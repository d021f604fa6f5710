"""A passage as statements: the sentences, list items, table rows and `key: value` lines that can be quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from trivium.language.headings import code_of
from trivium.language.json_pieces import pieces_of
from trivium.language.languages import language_of
from trivium.language.rows import DIGITS, ROW_LINE, is_table, rows_of
from trivium.language.rows import Cell as Cell
from trivium.language.text_lines import Line, is_rule, lines_of, plain, trimmed
from trivium.language.values import DURATION, MEASURE, MONEY, NUMBER, PERCENT, Value, find_values
from trivium.language.yaml_records import ENDS as YAML
from trivium.language.yaml_records import cells_of
from trivium.search.passage import Passage
from trivium.search.segment import tokens
from trivium.search.sentences import sentences

SENTENCE, ITEM, ROW, PAIR, CODE, HEADING = "sentence", "item", "row", "pair", "code", "heading"
LONGEST = 400
_SHORT_KEY = 4

_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(?P<text>[^\n]*?)[ \t#]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣]|\d{1,3}[.)]|[a-z]\))[ \t]+(?:\[(?P<box>[ xX])\][ \t]+)?(?=\S)")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_PAIR = re.compile(
    r"[*_`]*(?P<key>[^\s:：|][^:：|\n]{0,60}?)[*_`]*[ \t]*[:：](?!//)[*_`]*(?:[ \t]+|(?<=：))(?P<value>\S[^\n]*)$"
)
_ASSIGNED = re.compile(r"(?P<key>[\w\"'][\w.\"' -]{0,60}?)[ \t]*=[ \t]*(?P<value>\S[^\n]*)$")
_SECTION = re.compile(r"[ \t]*\[{1,2}[ \t]*(?P<name>[^\[\]\n]+?)[ \t]*\]{1,2}[ \t]*(?:[#;].*)?$")
_REMARK = re.compile(r"[ \t]*[#;]+[ \t]*(?P<text>\S.*?)[ \t]*$")
_SETTINGS = frozenset({".toml", ".ini", ".cfg", ".conf", ".properties", ".env"})
"""Ends of the names of files whose lines are `key = value` under `[section]`."""
_CHAT = re.compile(
    r"\u200e?\[?(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4})[,T\s]{1,2}\d{1,2}:\d{2}(?::\d{2})?"
    r"(?:[\s\u202f]?[AaPp]\.?[Mm]\.?)?\]?\s?(?:[-–]\s)?(?=(?!(?:[A-Z]{4,8})\b)[^\s:\[][^:\n]{0,40}: )"
)
"""The stamp of a message in a chat, before the name of who wrote it."""
_WROTE = re.compile(r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|написала?):\W*$")
_OPENER = re.compile(r"[ \t]*(?:- )?[\"']?(?P<key>[^\s:：#\"'][^:：\n\"']{0,40}?)[\"']?[ \t]*:[ \t]*$")
_FARTHEST = 400
"""Lines above a pair in which the keys over it are looked for."""
_COMMENT = re.compile(r"[ \t]*<!--(?:(?!-->)[\s\S])*+-->[ \t]*$", re.MULTILINE)
_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_ENDS = re.compile(r"[.!?。！？]\s")
_ASKED = re.compile(r"\"[^\"\n]*[?？]\"|'[^'\n]*[?？]'")
"""A question that code holds as a text: that it is asked there answers nothing."""
_WRITTEN = frozenset({".xlsx", ".xlsm", ".docx", ".docm", ".pptx", ".pptm", ".html", ".htm", ".xhtml", ".eml"})
"""Ends of the names of files whose readers write tables with `|` between the cells alone."""


class Statement(Struct):
    """A quotable piece, `passage.text[start:stop]`; `text` is it on one line without markup.

    `lead` is the sentence that introduces a list, `before` the statement before in the same paragraph, which begins at
    `before_start`. `place` counts the statements of a passage, `block` the paragraphs, lists and tables in it. `done`
    is whether the box of an item is ticked, None where it has none.
    """

    passage: Passage
    rank: int
    place: int
    block: int
    kind: str
    start: int
    stop: int
    text: str
    language: str
    headings: tuple[str, ...] = ()
    lead: str = ""
    before: str = ""
    before_start: int = 0
    cells: list[Cell] = []
    words: list[str] = []
    values: list[Value] = []
    done: bool | None = None

    @property
    def quote(self) -> str:
        return self.passage.text[self.start : self.stop]

    @property
    def context(self) -> str:
        """What tells what the statement is about but stands outside of it."""
        passage = self.passage
        place = PurePosixPath(passage.source)
        stem = place.with_suffix("").as_posix().replace("/", " ") if place.name else ""
        outer = [part for path in passage.section_paths for part in path]
        return " ".join([stem, passage.title, passage.name, *outer, *self.headings, self.lead])


def statements_of(passages: Sequence[Passage], *, headings: bool = False) -> list[Statement]:
    """The statements of passages in order; what two passages both hold is given once, by the better one.

    `headings`: those that begin with a code or a version are statements too.
    """
    found: list[Statement] = []
    spans: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for rank, passage in enumerate(passages):
        seen = spans.setdefault((passage.ctx, passage.source or passage.id), [])
        language = language_of(passage.text)
        kept: list[tuple[int, int]] = []
        for place, statement in enumerate(_split(passage, rank, language, headings)):
            span = passage.start + statement.start, passage.start + statement.stop
            if any(start < span[1] and span[0] < stop for start, stop in seen):
                continue
            statement.place = place
            statement.words = _words(statement)
            statement.values = _values(statement)
            kept.append(span)
            found.append(statement)
        seen += kept
    return found


def tells_who_wrote(text: str) -> bool:
    """Whether a line tells who wrote what a message quotes, and when: `On 3 March 2025, Marco Rossi wrote:`."""
    return _WROTE.search(text) is not None


def _words(statement: Statement) -> list[str]:
    """The words of a statement: of a row with the header that its line leaves out, of code without what it asks."""
    text = statement.text
    if statement.kind == CODE:
        text = _ASKED.sub(" ", text)
    elif statement.kind == ROW and not text.startswith(statement.cells[0].key):
        text = f"{statement.cells[0].key}: {text}"
    return tokens(text)


def _values(statement: Statement) -> list[Value]:
    """The values of a statement; a number alone in its cell has the unit with which another cell begins."""
    values = find_values(statement.text, statement.language)
    if statement.kind in (SENTENCE, PAIR) and (stamp := _CHAT.match(statement.text)):
        return [value for value in values if value.start >= stamp.end()]
    if statement.kind != ROW:
        return values
    alone = [cell.text for cell in statement.cells if DIGITS.fullmatch(cell.text)]
    units = [cell.text for cell in statement.cells if cell.text[:1].isalpha()]
    for place, value in enumerate(values):
        number = statement.text[value.start : value.stop]
        if value.kind != NUMBER or number not in alone:
            continue
        for text in units:
            first = next(iter(find_values(f"{number} {text}", statement.language)), value)
            if first.start == 0 and first.kind in (DURATION, MEASURE, MONEY, PERCENT):
                values[place] = replace(first, start=value.start, stop=value.stop)
                break
    return values


def _split(passage: Passage, rank: int, language: str, quotable: bool) -> Iterator[Statement]:
    """The statements of one passage, by a walk over its lines; of JSON its members and records."""
    if pieces := pieces_of(passage):
        for one in pieces:
            kind, over = ROW if one.is_record else PAIR, one.over
            place = (one.block, kind, one.start, one.stop, one.text, language, over)
            yield Statement(passage, rank, 0, *place, cells=one.cells)
        return
    text = passage.text
    lines = list(lines_of(text))
    headings: list[tuple[int, str]] = []
    lead = ""
    block = 0
    at = 0
    table = is_table(passage)
    settings = PurePosixPath(passage.source).suffix.lower() in _SETTINGS or passage.source.endswith(".env")
    yaml = PurePosixPath(passage.source).suffix.lower() in YAML
    header = passage.table_header
    named = {part: level for path in passage.section_paths for level, part in enumerate(path, 1)}
    while at < len(lines):
        line = lines[at]
        if comment := _COMMENT.match(text, line.start):
            while at < len(lines) and lines[at].start < comment.end():
                at += 1
            continue
        heading = _heading(line.text, settings, bool(headings)) or _named(line.text, named)
        if not line.text.strip() or (is_rule(line.text) and not table):
            at += 1
            continue
        block += 1
        if heading or block > 1:
            header = ""
        if heading:
            level, name = heading
            headings = [*((n, other) for n, other in headings if n < level), (level, name)]
            lead = ""
            at += 1
            if quotable and not settings and code_of(name):
                marked = _HEADING.match(line.text)
                start, stop = trimmed(text, line.start + (marked.start("text") if marked else 0), line.stop)
                above = tuple(other for _, other in headings[:-1])
                yield Statement(passage, rank, 0, block, HEADING, start, stop, name, language, headings=above)
            continue
        until, kind = _extent(lines, at, table, _is_open(passage, lines, at, header), settings)
        if kind == ITEM and yaml:
            until = _sequence(lines, at, until)
        names = tuple(name for _, name in headings)
        part = lines[at:until]
        before, before_start, count = "", 0, 0
        for statement in _statements(passage, rank, language, part, kind, block, header, settings):
            if statement.kind == PAIR or (yaml and statement.kind == ROW):
                statement.headings = (*names, *_over(lines, at, statement.start))
            else:
                statement.headings = (*names, *statement.headings)
            statement.before, statement.before_start = before, before_start
            statement.lead = lead if kind in (ITEM, ROW, CODE) else ""
            if kind == SENTENCE:
                before, before_start, count = statement.text, statement.start, count + 1
            yield statement
        if kind == SENTENCE:
            lead = before if before.endswith((":", "：")) or (count == 1 and not _PAIR.match(before)) else ""
        elif kind != ITEM:
            lead = ""
        at = until


def _heading(line: str, settings: bool, inside: bool) -> tuple[int, str] | None:
    """The level and text of a heading; of settings a section is one, and a remark, in a section one of a part of it."""
    if settings:
        if match := _SECTION.match(line):
            return 2, plain(match["name"])
        return (3 if inside else 1, plain(match["text"])) if (match := _REMARK.match(line)) else None
    match = _HEADING.match(line)
    return (len(match[1]), plain(match["text"])) if match else None


def _named(line: str, named: dict[str, int]) -> tuple[int, str] | None:
    """The level and text of a line that says the name of a section, as extracted texts have them without marks."""
    text = line.strip()
    return (named[text], text) if text in named else None


def _over(lines: list[Line], at: int, start: int) -> list[str]:
    """The keys under which a pair stands by its indentation, the outermost first; `at` is a line at or before it."""
    while lines[at].stop < start:
        at += 1
    depth, found = _depth(lines[at].text), list[str]()
    for line in reversed(lines[max(0, at - _FARTHEST) : at]):
        if not depth:
            break
        if line.text.strip() and _depth(line.text) < depth:
            depth, opener = _depth(line.text), _OPENER.match(line.text)
            if opener is None:
                break
            found.append(plain(opener["key"]))
    return found[::-1]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _opens(line: Line, following: Line) -> bool:
    """Whether a line is a key alone under which the next line stands."""
    return bool(_OPENER.match(line.text)) and _depth(following.text) > _depth(line.text)


def _is_open(passage: Passage, lines: list[Line], at: int, header: str) -> bool:
    """Whether a table begins at a line whose rows have no `|` around them."""
    if " | " not in f"{lines[at].text} " or ROW_LINE.match(lines[at].text):
        return False
    following = lines[at + 1].text if at + 1 < len(lines) else ""
    written = PurePosixPath(passage.source).suffix.lower() in _WRITTEN and " | " in following
    return written or " | " in header or ("|" in following and is_rule(following))


def _extent(lines: list[Line], at: int, table: bool, is_open: bool, settings: bool) -> tuple[int, str]:
    """Where the block that begins at a line ends, and what it is."""
    first = lines[at].text
    if table:
        return len(lines), ROW
    if is_open:
        until = at + 1
        while until < len(lines) and lines[until].text.strip() and not _HEADING.match(lines[until].text):
            until += 1
        return until, ROW
    if fence := _FENCE.match(first):
        until = at + 1
        while until < len(lines) and not lines[until].text.strip().startswith(fence[1]):
            until += 1
        return min(until + 1, len(lines)), CODE
    if ROW_LINE.match(first):
        until = at + 1
        while until < len(lines) and (ROW_LINE.match(lines[until].text) or is_rule(lines[until].text)):
            until += 1
        return until, ROW
    kind = ITEM if _ITEM.match(first) else SENTENCE
    until = at + 1
    while until < len(lines):
        text = lines[until].text
        if not text.strip() or _HEADING.match(text) or _FENCE.match(text) or ROW_LINE.match(text) or is_rule(text):
            break
        if (kind == SENTENCE and _ITEM.match(text)) or (settings and _heading(text, settings, True)):
            break
        until += 1
    return until, kind


def _sequence(lines: list[Line], at: int, until: int) -> int:
    """Where a sequence of YAML ends: before what stands no deeper than it and is no element."""
    depth = _depth(lines[at].text)
    inside = (place for place in range(at + 1, until) if lines[place].text.strip())
    return next((one for one in inside if _depth(lines[one].text) <= depth and not _ITEM.match(lines[one].text)), until)


def _statements(
    passage: Passage, rank: int, language: str, part: list[Line], kind: str, block: int, header: str, settings: bool
) -> Iterator[Statement]:
    def made(kind: str, start: int, stop: int, text: str, cells: list[Cell], done: bool | None = None) -> Statement:
        return Statement(passage, rank, 0, block, kind, start, stop, text, language, cells=cells, done=done)

    if kind == ROW:
        yield from (made(ROW, *row) for row in rows_of(passage, part, header))
        return
    if kind == CODE:
        inner = part[1:-1] if len(part) > 2 else part
        start, stop = trimmed(passage.text, inner[0].start, inner[-1].stop)
        if start < stop:
            yield made(CODE, start, stop, " ".join(passage.text[start:stop].split()), [])
        return
    assigned = settings and any(_ASSIGNED.match(line.text.strip()) for line in part)
    pieces = ((line.start, line.stop, True) for line in part) if assigned else _pieces(part, kind)
    for start, stop, paired in pieces:
        begin = _after_marks(passage.text, start, stop)
        is_yaml = kind == ITEM and PurePosixPath(passage.source).suffix.lower() in YAML
        if is_yaml and (members := cells_of(passage.text, start, stop)):
            told = "; ".join(f"{cell.key}: {cell.text}" for cell in members)
            yield made(ROW, *trimmed(passage.text, start, stop), told, members)
            continue
        done = _ticked(passage.text[start:stop])
        pair = (_ASSIGNED if assigned else _PAIR).match(passage.text, begin, stop) if paired else None
        if pair and _is_key(pair["key"]):
            cell = Cell(plain(pair["key"]), plain(pair["value"]), pair.start("value"), pair.end("value"))
            yield made(PAIR, begin, stop, plain(passage.text[begin:stop]), [cell], done)
            continue
        said = sentences(passage.text[begin:stop])
        label = _label(passage.text[begin:stop], said, kind)
        for number, (sentence_start, sentence_stop) in enumerate(said):
            for piece in _bounded(passage.text, begin + sentence_start, begin + sentence_stop):
                statement = made(kind, *piece, plain(passage.text[slice(*piece)]), [], done)
                statement.headings = (label,) if label and number else ()
                yield statement


def _label(text: str, said: list[tuple[int, int]], kind: str) -> str:
    """The few words that an item, or a paragraph in bold, begins with to say what the rest is about: `1. Budget. …`."""
    if len(said) < 2:
        return ""
    first = text[slice(*said[0])].strip()
    bold = first.startswith(("**", "__"))
    words = plain(first).rstrip(".。:：")
    if (kind != ITEM and not bold) or len(words.split()) > _SHORT_KEY or not words or any(map(str.isdigit, words)):
        return ""
    return words


def _ticked(text: str) -> bool | None:
    """Whether the box of an item is ticked; None where it has none."""
    box = _ITEM.match(text)
    return box["box"] != " " if box and box["box"] else None


def _pieces(part: list[Line], kind: str) -> Iterator[tuple[int, int, bool]]:
    """The items of a list, each with the lines that continue it; the lines of a paragraph that are pairs, the rest.

    With each comes whether it may be a pair.
    """
    if kind == ITEM:
        start = part[0].start
        for before, line in pairwise(part):
            if _ITEM.match(line.text):
                yield start, before.stop, True
                start = line.start
        yield start, part[-1].stop, True
        return
    at = 0
    for first, last in _runs_of_pairs(part):
        until = first
        while until > at and _opens(part[until - 1], part[until]):
            until -= 1  # what stands over pairs is told with them
        if at < until:
            yield part[at].start, part[until - 1].stop, False
        for line in part[first:last]:
            yield line.start, line.stop, True
        at = last
    if at < len(part):
        yield part[at].start, part[-1].stop, False


def _runs_of_pairs(part: list[Line]) -> Iterator[tuple[int, int]]:
    """Where a paragraph holds pairs: two lines or more in a row, or one alone that is no sentence with a colon in it.

    A line of wrapped prose may hold a colon too; its neighbours are none, or the line before is not at its end.
    """
    keys = [_key_of(line.text) for line in part]
    if len(part) == 1:
        if keys[0] and len(keys[0].split()) <= _SHORT_KEY:
            yield 0, 1
        return
    at = 0
    while at < len(part):
        until = at
        while until < len(part) and keys[until]:
            until += 1
        begins = at == 0 or part[at - 1].text.rstrip().endswith((".", "!", "?", ":", "。", "：", "！", "？"))
        names = all(not key[:1].islower() or len(key.split()) <= 2 for key in keys[at:until])
        under = 0 < at < until and _opens(part[at - 1], part[at])
        if (until - at > 1 or under) and begins and names:
            yield at, until
        at = max(until, at + 1)


def _key_of(line: str) -> str:
    """What stands before the colon of a line that may be a pair; empty when it is none."""
    begin = _after_marks(line, 0, len(line))
    pair = _PAIR.match(line, begin)
    whole = pair and len(sentences(pair["value"])) == 1 and not line.rstrip().endswith((",", ";"))
    return pair["key"] if pair and whole and _is_key(pair["key"]) else ""


def _after_marks(text: str, start: int, stop: int) -> int:
    for mark in (_QUOTE, _ITEM):
        if match := mark.match(text, start, stop):
            start = match.end()
    while start < stop and text[start].isspace():
        start += 1
    return start


def _is_key(key: str) -> bool:
    return len(key.split()) <= 7 and not _ENDS.search(key) and not key.startswith(("http", "("))


def _bounded(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """A sentence, in pieces where it is very long, cut at a comma or at white space."""
    while stop - start > LONGEST:
        cuts = [text.rfind(sign, start + LONGEST // 2, start + LONGEST) for sign in ("; ", "；", ", ", "，", "、", " ")]
        cut = next((cut for cut in cuts if cut > 0), start + LONGEST - 1) + 1
        yield trimmed(text, start, cut)
        start = trimmed(text, cut, stop)[0]
    if start < stop:
        yield start, stop
