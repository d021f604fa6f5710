"""Texts from the evidence: names, dates, codes, reasons, choices, quoted statements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from trivium.answers.ranking import because
from trivium.language.addresses import EMAIL as EMAIL_ADDRESS
from trivium.language.addresses import PHONE as PHONE_NUMBER
from trivium.language.addresses import PHONED, REACH, URL
from trivium.language.changed import asks_of_changes, is_off, outdated, was_once
from trivium.language.denial import negated
from trivium.language.languages import silent_words
from trivium.language.matching import INFLECTED, alike
from trivium.language.ranges import is_end_of_range, stands_behind
from trivium.language.statements import ITEM, PAIR, ROW, Statement
from trivium.language.values import DATE, LABEL, NUMBER, TIME, YEAR, Value, find_values, is_number_word, is_time_word
from trivium.search.segment import fold, tokens
from trivium.search.sentences import sentences
from trivium.shapes.fill_evidence import About, Candidate, Filled, Finder, decide
from trivium.shapes.fill_number import bounds, distance, numbers_in, places_of
from trivium.shapes.property import ADDRESSED, EMAIL, FREE, LINK, NAME, PHONE, REASON, WHERE, Property
from trivium.shapes.property_words import PLACES, REASONS, SINCE, UNTIL
from trivium.shapes.shape import Validator

_PROPER = re.compile(
    r"(?<![\w'’])[^\W\d_a-zà-ÿа-я][\w'’.-]*(?:\s+(?:[^\W\d_a-zà-ÿа-я][\w'’-]*|de|van|von|der|la|del|di|da|le))*"
)
_POST = re.compile(r"\s?\(([^()]{2,40})\)")
_HAN_VALUE = re.compile("(?:是|为|為|叫|は)([^，。；、！？,;.!?]{2,20}?)(?:です|でした|$|[，。；、！？,;.!?])")
_BELONGS = re.compile(
    r"\b(?:of|in|at|for|from|near|to|on|des|vom|im|aus|bei|am|de|del|en|du|des|da|do|di|a|au|van|te|в|на|из) $"
)
"""What stands before the name of that to which somebody belongs."""
_IN_PLACE = re.compile(
    r"(?:\b(?:in|at|on|near|to|inside|im|am|auf|bei|nach|zu|zur|zum|a|au|aux|en|chez|dans|al|nel|nella|ad|em|no|na|ao"
    r"|te|op|naar|в|на)(?: (?:the|der|dem|den|die|das|la|le|les|el|los|las|il|lo|het|de))? |\b[al]')$"
)
"""What stands before the name of a place where something is."""
_CODE_WORD = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w]+(?:[-./][\w]+)*\b|#\d+")
_STREET = re.compile(
    r"(?:[\w-]* )?[\w-]*(?:strasse|str\.|weg|gasse|allee|platz|street|road|avenue|lane|square|straat|laan|plein)\b"
    r"|(?:rue|avenue|boulevard|place|calle|plaza|avenida|paseo|via|viale|piazza|rua|ул|улица)\b|\w+ \d"
)
"""A street is no city, where both are told."""
_LABELLED = re.compile(
    r"\b(?P<word>[^\W\d_]{3,}\.?)(?: (?:no\.?|nr\.?|number|nummer|n°|num\.?))?(?:[ :#]{1,2}| (?:is|ist|est|es|is:|=) )"
    r"(?P<code>[A-Z]{1,4}[ -]?\d[\w/-]*|[A-Za-z]*\d[\w/.-]*\w|\d)(?![\w%€$£°]|\.\w)"
)
_KEY = re.compile(r"\w[^.:!?]{0,40}:\s")
_ASIDE = re.compile(r"\s*(?:,\s*(?=[a-zà-ÿа-я\d+(])|<)")
"""What stands behind the name of somebody in a cell that tells more of them: `Ann Lee, phone 123`."""
_WAS = re.compile(
    r"\s*\((?:[^()]*[\s;,])?(?:was|before|formerly|previously|former|until now|bisher|vorher|fruher|früher|zuvor"
    r"|avant|antes|prima"
    r"|ранее)\b[^()]*\)",
    re.IGNORECASE,
)
_NAMED_ITSELF = 0.6
"""The share of the words of a cause or a place that a statement has which is it, without a `because` or an `in`."""
_NAMING = frozenset(["name", "who", "title", "nombre", "nom", "nome", "naam", "имя", "名", "名字", "名前"])
"""Words of a property that is what an element of an array is called, rather than something of it."""
_KINDS_OF = frozenset(
    fold(
        "kind type category what thing subject topic art kategorie gegenstand clase tipo categoria objet sorte"
        " categorie cosa вид тип 种类 类型"
    ).split()
)
"""Words for what a line of the form `Invoices: 10 years` is about."""
_CODE_NAMES = frozenset(["id", "code", "sku", "key", "ticket", "reference", "number", "nr", "kennung", "codigo"])


def fill_text(finder: Finder, wanted: Property) -> Filled:
    check = Validator(bounds(wanted.schema))
    if finder.asks_name(wanted):
        wanted = replace(wanted, role=NAME)
    abouts = finder.about(wanted)
    if not abouts and wanted.role in ADDRESSED:
        abouts = finder.without(REACH).about(wanted)
    if not abouts and wanted.role in (FREE, REASON, WHERE):
        abouts = finder.about(_asked(wanted))
    if not abouts and wanted.role == REASON:
        abouts = finder.without(REASONS).about(_asked(wanted))
    if wanted.role == WHERE:
        abouts = [about for about in abouts if about.statement.passage.source][:1]
    candidates = [
        Candidate(text, about, round(about.score + bonus, 6))
        for about in abouts
        for text, bonus in _texts(about, finder, wanted)
        if check.conforms(text)
    ]
    if wanted.role in (FREE, REASON) and candidates:
        candidates = [max(candidates, key=lambda one: one.score)]
    if wanted.role == NAME:  # of the names in one statement, the nearest
        best: dict[int, Candidate] = {}
        for one in sorted(candidates, key=lambda one: -one.score):
            best.setdefault(id(one.about.statement), one)
        candidates = list(best.values())
    return decide(candidates, wanted, finder.question)


def _asked(wanted: Property) -> Property:
    """The property as one about which the question says all."""
    return Property(wanted.path, wanted.schema, role=wanted.role)


def _texts(about: About, finder: Finder, wanted: Property) -> Iterator[tuple[str, float]]:
    """The texts in a statement that a property may mean, each with what it adds to the score."""
    statement, text = about.statement, _own_part(about, wanted.role)
    form = wanted.schema.get("format")
    if not form and (holder := _with_post(text, wanted)):
        yield holder, 0.1
        return
    if (wanted.dated and form != "time") or form in ("date", "date-time"):
        found = list(_dates(about, form, wanted, finder))
        yield from found
        if form or (about.cell is None and (found or _edge(about, wanted) is None)):
            return
    if about.cell is None and not form and (bound := _edge(about, wanted)) is not None:
        yield text[bound.start : bound.stop], 0.1
    elif form == "time":
        yield from _times(about, wanted, finder)
    elif TIME in wanted.kinds and about.cell is None:
        near = places_of(text, wanted)
        times = _ends(statement.values, about, wanted, finder, TIME)
        yield from ((text[value.start : value.stop], -_away(value, near)) for value in times)
    elif wanted.role == EMAIL:
        yield from ((match[0], 0.0) for match in EMAIL_ADDRESS.finditer(text))
    elif wanted.role == PHONE:
        told = about.cell is not None or PHONED.search(fold(text)) is not None
        numbers = [number for number in _phones(text) if told or number.startswith(("+", "0", "(0"))]
        yield from ((number, 0.0) for number in numbers or ([text] if about.cell is not None else []))
    elif wanted.role == LINK:
        yield from ((match[0].rstrip(".,;"), 0.0) for match in URL.finditer(text))
    elif wanted.role == WHERE:
        yield statement.passage.source, 0.0
    elif "pattern" not in wanted.schema and about.cell is None and (labelled := _labelled(text, wanted)):
        yield from ((code, 0.1) for code in labelled)
    elif "pattern" in wanted.schema or _CODE_NAMES & set(tokens(wanted.path.rpartition(".")[2].replace("_", " "))):
        yield from _codes(about, wanted)
    elif about.cell is not None:
        if PLACES.isdisjoint(wanted.words) or any(map(str.isalpha, text)):  # how many places is not where
            yield text, 0.0
    elif labelled := _labelled(text, wanted):
        yield from ((code, 0.1) for code in labelled)
    elif wanted.role == REASON:
        reason = because(text)
        if reason:
            yield reason, 0.2
        elif _says_itself(statement, wanted, finder):
            yield text, -0.1
    elif finder.alone and statement.kind == PAIR and (wanted.role == NAME or not _KINDS_OF.isdisjoint(wanted.words)):
        yield statement.cells[0].key, 0.0
    elif wanted.role == NAME and (about.met or not finder.alone or _NAMING.intersection(wanted.words)):
        yield from _names(statement, finder, wanted)
    elif wanted.role == NAME:
        return
    elif wanted.kinds and wanted.words:
        yield from _quantities(statement, wanted, finder)
    elif _last(wanted) and any(value.kind in (DATE, TIME, YEAR) for value in statement.values):
        return  # a sentence is no end of anything
    elif not finder.alone or wanted.role == FREE or _is_whole(statement, wanted, finder):
        yield text, 0.0


def _with_post(text: str, wanted: Property) -> str:
    """Who stands before a bracket that says what a property is: `Jonas Weber (chair)`, `Peter Marsh (Contoso)`."""
    for name in _PROPER.finditer(text) if wanted.words and "(" in text else ():
        post = _POST.match(text, name.end())
        if post and all(any(alike(word, own) for own in wanted.words) for word in tokens(post[1])):
            return name[0]
    return ""


def _phones(text: str) -> Iterator[str]:
    yield from (match[0].strip() for match in PHONE_NUMBER.finditer(text) if 6 < sum(map(str.isdigit, match[0])) < 16)


def _is_whole(statement: Statement, wanted: Property, finder: Finder) -> bool:
    """Whether a property of an element is an item of a list as a whole."""
    return statement.kind == ITEM and wanted.path.rpartition(".")[2] in ("", "[]", finder.called)


def _own_part(about: About, role: str) -> str:
    """The text of a cell without quotation marks, the sentences behind it, and who it was: `Piet (was: Ludmila)`."""
    if about.cell is None:
        return about.text
    text = about.cell.text
    if about.statement.kind == PAIR and role != FREE:
        parts = list(sentences(text))
        if len(parts) > 1 and (role == NAME or _KEY.match(text[parts[1][0] :])):
            text = text[slice(*parts[0])].rstrip(" .")
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if role == NAME and (name := _PROPER.match(text)) and _ASIDE.match(text[name.end() :]):
        text = name[0]
    return _WAS.sub("", text).strip() or about.cell.text


def _edge(about: About, wanted: Property) -> Value | None:
    """The value of a sentence that is the end of a range for which the last word of a name stands: `open_from`."""
    last = _last(wanted)
    if not last or about.cell is not None:
        return None
    if (bound := is_end_of_range(wanted.asked, about.text, about.statement.values)) is not None:
        return bound
    values = [value for value in about.statement.values if value.kind in (DATE, TIME, YEAR)]
    behind = [value for value in values if stands_behind(last, about.text, value)]
    return behind[0] if len(behind) == 1 else None


def _last(wanted: Property) -> set[str]:
    """The last word of a name of several words such as `open_from`, where it is one for an end of a range."""
    return {name[-1] for name in wanted.names if len(name) > 1} & (SINCE | UNTIL)


def _labelled(text: str, wanted: Property) -> list[str]:
    """The codes right behind a word of a property: `seat 11F`, `extension 4400`, `flight SK 4722`."""
    if wanted.kinds - {NUMBER} or wanted.dated or not wanted.words or wanted.role in (FREE, REASON, WHERE):
        return []
    found = []
    for match in _LABELLED.finditer(text):
        word, behind = fold(match["word"]).rstrip("."), tokens(text[match.end() : match.end() + 24])[:1]
        ends = match.end() == len(text) or text[match.end()] in ",;.:)!?]" or bool(silent_words(behind))
        ends = ends or any(value.kind == LABEL and value.start == match.start("code") for value in find_values(text))
        short = match["word"].endswith(".")
        if ends and any(alike(word, part) >= INFLECTED or (short and part.startswith(word)) for part in wanted.words):
            found.append(match["code"])
    return found


def _times(about: About, wanted: Property, finder: Finder) -> Iterator[tuple[str, float]]:
    near = places_of(about.text, wanted)
    values = _ends(find_values(about.text, about.statement.language), about, wanted, finder, TIME)
    yield from ((value.iso, -_away(value, near)) for value in values)


def _away(value: Value, near: list[int]) -> float:
    """How far a time or day is from the property's words, which stand before it rather than behind it."""
    return distance(value, near) + (0.1 if near and value.start < min(near) else 0.0)


def _ends(values: list[Value], about: About, wanted: Property, finder: Finder, *kinds: str) -> list[Value]:
    """Of the values of some kinds the end of a range that a property asks for, else those said of what is asked.

    None of what does not take place, and none that is no more.
    """
    asked = " ".join([finder.question.text, *wanted.words, *wanted.described])
    if is_off(about.statement.text, asked):
        return []
    if not asks_of_changes(*wanted.words, *wanted.described):
        old = outdated(about.text, values)
        values = [value for value in values if value not in old]
    bound = is_end_of_range(wanted.asked, about.text, values)
    if bound is not None:
        return [bound] if bound.kind in kinds else []
    values = [value for value in values if value.kind in kinds]
    if wanted.bare and about.cell is None:
        return [value for value in values if stands_behind(wanted.bare, about.text, value)]
    own = finder.told_of(about.text, [(value.start, value.stop) for value in values], wanted)
    return [value for value in values if (value.start, value.stop) in own]


def _dates(about: About, form: object, wanted: Property, finder: Finder) -> Iterator[tuple[str, float]]:
    near: list[int] = [] if about.cell is not None else places_of(about.text, wanted)
    for value in _ends(find_values(about.text, about.statement.language), about, wanted, finder, DATE, YEAR):
        if value.kind == DATE and not value.iso.startswith("--") and (len(value.iso) == 10 or not form):
            yield value.iso, -_away(value, near)
        elif value.kind == DATE and value.iso.startswith("--") and not form:
            yield about.text[value.start : value.stop], -0.05 - _away(value, near)
        elif value.kind == YEAR and not form:
            yield value.iso, -0.1


def _codes(about: About, wanted: Property) -> Iterator[tuple[str, float]]:
    if "pattern" not in wanted.schema and about.cell is not None and len(about.cell.text.split()) <= 3:
        yield about.cell.text, 0.0
        return
    pattern = wanted.schema.get("pattern")
    words = _CODE_WORD.finditer(about.text) if pattern is None else re.finditer(r"[^\s,;()\[\]\"']+", about.text)
    yield from ((match[0].strip(".:!?"), 0.0) for match in words)


def _quantities(statement: Statement, wanted: Property, finder: Finder) -> Iterator[tuple[str, float]]:
    """A value as it is written, for a text whose name asks for an amount."""
    near = places_of(statement.text, wanted)
    fitting = [value for value in statement.values if value.kind in wanted.kinds]
    own = finder.told_of(statement.text, [(value.start, value.stop) for value in fitting], wanted)
    for value in fitting:
        if (value.start, value.stop) in own:
            yield statement.text[value.start : value.stop], -distance(value, near)


def _names(statement: Statement, finder: Finder, wanted: Property) -> Iterator[tuple[str, float]]:
    """The names in a statement, the one nearest to the property's words first."""
    text = statement.text
    if not re.search("[A-Za-zÀ-ÿА-я]", text):
        yield from ((match[1].strip(), 0.0) for match in _HAN_VALUE.finditer(text))
        return
    known = {*tokens(finder.question.text), *wanted.words, *silent_words(statement.words)}
    near = places_of(text, wanted)
    found = [span for match in _PROPER.finditer(text) if (span := _trimmed(match, known))]
    own = finder.told_of(text, found, wanted)
    own = [span for span in own if not _is_when(text, *span, wanted)]
    if wanted.placed and (there := [span for span in own if _IN_PLACE.search(fold(text[: span[0]]))]):
        own = [span for span in there if not _STREET.match(fold(text[span[0] :]))] or there
    elif wanted.placed and not finder.alone and not _says_itself(statement, wanted, finder):
        own = []
    for start, stop in own if statement.kind != ROW else ():
        words = text[start:stop].split()
        if not is_number_word(words[0]):
            away = min((abs(start - at) for at in near), default=0)
            behind = 0.2 if not wanted.placed and _BELONGS.search(fold(text[:start])) else 0.0
            first = 0.1 if start == 0 and len(words) < 2 else 0.0
            yield " ".join(words), 0.05 * (len(words) > 1) - min(away, 200) / 200 * 0.2 - first - behind


def _says_itself(statement: Statement, wanted: Property, finder: Finder) -> bool:
    """Whether the words of a property stand in a statement itself."""
    return finder.ranking.vocabulary.coverage(wanted.words, frozenset(statement.words)) >= _NAMED_ITSELF


def _is_when(text: str, start: int, stop: int, wanted: Property) -> bool:
    """Whether what is written like a name is a day or a month: `on Monday`; someone may be called April."""
    when = all(is_time_word(word) or is_number_word(word) for word in text[start:stop].split())
    return when and (wanted.placed or bool(_BELONGS.search(fold(text[:start]))))


def _trimmed(match: re.Match[str], known: Collection[str]) -> tuple[int, int] | None:
    """Where a name stands without words that the question has, and without what is no name, at its ends."""
    words = list(re.finditer(r"\S+", match[0].rstrip(".,;:'’-")))
    while words and (words[-1][0][0].islower() or not set(tokens(words[-1][0])).difference(known)):
        words.pop()
    while words and not set(tokens(words[0][0])).difference(known):
        words.pop(0)
    return (match.start() + words[0].start(), match.start() + words[-1].end()) if words else None


def fill_choice(finder: Finder, wanted: Property, options: Sequence[Any]) -> Filled:
    """The one of given values that the evidence says. Raises: NoEvidence."""
    numbers = [option for option in options if isinstance(option, (int, float)) and not isinstance(option, bool)]
    candidates: list[Candidate] = []
    for about in finder.about(wanted) or finder.about(_asked(wanted)):
        candidates += [Candidate(option, about, about.score) for option in choices_in(about.text, options)]
        if numbers:
            found = numbers_in(about, wanted, False, finder)
            candidates += [Candidate(number, about, score) for number, score in found if number in numbers]
    return decide(candidates, wanted, finder.question)


def choices_in(text: str, options: Sequence[Any]) -> list[str]:
    """The choices that a text says, the longer one where one holds another; of what it denies, those that deny too."""
    found = [option for option in options if isinstance(option, str) and _occurs(option, text)]
    if len(found) > 1:
        found = [option for option in found if not was_once(text, option)] or found
    if negated(text):
        found = [option for option in found if negated(option)]
    return [one for one in found if not any(one != other and fold(one) in fold(other) for other in found)]


def _occurs(option: str, text: str) -> bool:
    """Whether a choice stands in a text, in one of its forms."""
    if len(option) == 1 and option.isalpha() and option.isascii():  # such as a grade, not such as "a"
        return text == option or bool(re.search(rf"(?<=\s){option.upper()}(?![\w'’])", text))
    wanted, there = tokens(option.replace("_", " "), query=True), tokens(text)
    return bool(wanted) and all(any(alike(word, other) >= 0.9 for other in there) for word in wanted)
