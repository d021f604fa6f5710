"""Facts of the graph as passages: what is known of the concepts that a question, or what was found for it, names.

Where documents say "the billing service is written in Rust" and the graph knows who designed Rust, the question who
designed the language of the billing service is answered by both. So concepts are looked up whose name or alias stands
in the question, that the question's words point at, or whose name stands in the best passages and of which something
is known that the question asks for. No model takes part; the same question and knowledge give the same facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from trivium.search import index
from trivium.search.passage import ARTIFACT, CHUNK, Passage
from trivium.search.segment import fold, query_tokens
from trivium.search.value_text import value_text
from trivium.search.words import passage_tokens, question_tokens
from trivium.store import fulltext
from trivium.store.ends import Ends, ends
from trivium.store.graph import Concept, Graph, concept_id_text, parse_concept_id
from trivium.store.sqlite import Session

ENTITY = "entity"
MOST_FACTS = 6
"""Concepts that are told of one context for one question."""
MOST_PREDICATES, MOST_LINKS = 40, 40
"""Predicates of a concept that are told in each direction, and links of each."""
NAMED, POINTED = 0.55, 0.45
"""What a concept scores at least that the question names, and one that its words point at."""
THROUGH = 0.8
"""What a concept scores at most, as a share of the score of the passage that names it."""

_CANDIDATES = 40
_READ_PASSAGES = 6
_LONGEST_NAME = 5
_MOST_NAMES = 600
_LONGEST_VALUE = 400
_WORD = re.compile(r"[\w+#][\w+#.'’&/-]*")
_UNTOLD_TYPES = {"Domain", "SourceFile", "Document", "$ConceptType", "$PropositionType"}
_UNTOLD_PREDICATES = {"belongs_to_domain", "instance_of"}
_UNTOLD_KEYS = {"description", "aliases"}


class _Wanted(Struct):
    """A concept that may be told: what it scores for being named, and by which passage it was met."""

    concept: Concept
    base: float
    through: float = 0.0


def facts(
    session: Session, ctx: int, slug: str, wordings: Sequence[str], passages: Sequence[Passage] = ()
) -> list[Passage]:
    """What the graph of a context knows that bears on a question, best first.

    `wordings` are the question and other forms of it, `passages` what was found for it in any context; the names in
    them lead to facts that answer what they leave open.
    """
    graph = Graph(session, ctx)
    asked = list(dict.fromkeys(token for wording in wordings for token in question_tokens(wording)))
    told = []
    for wanted in _candidates(session, graph, wordings, passages):
        text = fact_text(session, ctx, wanted.concept)
        score = _score(asked, wanted, text)
        if score > 0:
            told.append(_passage(ctx, slug, wanted.concept, text, score))
    told.sort(key=lambda passage: (-passage.score, passage.type, passage.name))
    return told[:MOST_FACTS]


def is_fact(passage: Passage) -> bool:
    """Whether a passage is told by the graph, and not stored as an artifact."""
    return passage.kind == ARTIFACT and parse_concept_id(passage.id) is not None


def fact(session: Session, ctx: int, slug: str, id_: str) -> Passage | None:
    """The facts of the concept `C:<n>` as they are now."""
    number = parse_concept_id(id_)
    concept = None if number is None else Graph(session, ctx).concept(number)
    return None if concept is None else _passage(ctx, slug, concept, fact_text(session, ctx, concept), 0.0)


# --- which concepts -------------------------------------------------------------------------------


def _candidates(
    session: Session, graph: Graph, wordings: Sequence[str], passages: Sequence[Passage]
) -> Iterator[_Wanted]:
    found: dict[int, _Wanted] = {}
    for wording in wordings:
        words = query_tokens(wording)
        said = f" {_spaced(wording)} "
        for concept in graph.concepts(fulltext.candidates(session, graph.ctx, words, None, _CANDIDATES)):
            if not _is_told(concept):
                continue
            names = [concept.name, *index.aliases_of(concept.attributes)]
            named = any(_is_named(name, said, wording) for name in names)
            base = NAMED if named else POINTED * index.score(wording, words, concept.name, concept.attributes)
            known = found.get(concept.id)
            if known is None or known.base < base:
                found[concept.id] = _Wanted(concept, base)
    for passage in [passage for passage in passages if passage.kind == CHUNK][:_READ_PASSAGES]:
        ids = fulltext.ids_of_names(session, graph.ctx, _names_in(passage.text))
        for concept in graph.concepts(ids):
            if _is_told(concept):
                known = found.setdefault(concept.id, _Wanted(concept, 0.0))
                known.through = max(known.through, passage.score)
    yield from found.values()


def _is_told(concept: Concept) -> bool:
    return concept.type not in _UNTOLD_TYPES and not concept.name.startswith("$")


def _is_named(name: str, said: str, wording: str) -> bool:
    """Whether a name stands in a question as words of its own; between letters without spaces it may stand anywhere."""
    spaced = _spaced(name)
    if not spaced:
        return False
    if f" {spaced} " in said:
        return len(spaced) > 1 or name in wording
    return not name.isascii() and len(name) > 1 and fold(name) in fold(wording)


def _spaced(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))


def _names_in(text: str) -> list[str]:
    """Runs of up to five words that may be a name, as they are written."""
    words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    found: dict[str, None] = {}
    for number, (start, _) in enumerate(words):
        for last in range(number, min(number + _LONGEST_NAME, len(words))):
            run = text[start : words[last][1]]
            if "\n\n" in run:
                break
            found.setdefault(run)
            found.setdefault(run.rstrip(".'’-/&"))
        if len(found) > _MOST_NAMES:
            break
    return list(found)[:_MOST_NAMES]


# --- how well they answer -------------------------------------------------------------------------


def _score(asked: Sequence[str], wanted: _Wanted, text: str) -> float:
    """Higher the more of what is asked beside the name is told. Facts met through a passage must tell some of it."""
    own = set(passage_tokens(wanted.concept.name))
    open_ = [token for token in asked if token not in own]
    told = set(passage_tokens(text)) - own
    share = sum(any(_meets(token, word) for word in told) for token in open_) / len(open_) if open_ else 1.0
    base = wanted.base * (0.6 + 0.4 * share) + (0.4 * share if wanted.base >= NAMED else 0.0)
    through = THROUGH * wanted.through * share**0.5 if share > 0 else 0.0
    return round(min(0.99, max(base, through)), 6)


def _meets(asked: str, told: str) -> bool:
    """Whether two stems belong to one word: designed, designer."""
    if asked == told:
        return True
    shorter, longer = sorted((asked, told), key=len)
    return len(shorter) >= 5 and shorter.isalpha() and longer.startswith(shorter)


# --- what is told ---------------------------------------------------------------------------------


def fact_text(session: Session, ctx: int, concept: Concept) -> str:
    """All that is known of a concept, one fact to a paragraph, each with the name it is about."""
    return "\n\n".join(_facts(session, ctx, concept))


def _facts(session: Session, ctx: int, concept: Concept) -> Iterator[str]:
    name, attributes = concept.name, concept.attributes
    description = attributes.get("description")
    kind = f"{name} ({concept.type})"
    yield f"{kind}: {description}" if isinstance(description, str) and description.strip() else f"{kind}."
    aliases = index.aliases_of(attributes)
    if aliases:
        yield f"{name} is also called {value_text(aliases, _LONGEST_VALUE)}."
    for key in sorted(attributes):
        value = "" if key in _UNTOLD_KEYS else value_text(attributes[key], _LONGEST_VALUE)
        if value:
            yield f"{name}, {_words(key)}: {value}."
    for forth in (True, False):
        found = ends(session, ctx, concept.id, _UNTOLD_PREDICATES, MOST_PREDICATES, MOST_LINKS, forth=forth)
        for told in found:
            others, predicate = _names(told), _words(told.predicate)
            yield f"{name} {predicate} {others}." if forth else f"{others} {predicate} {name}."


def _names(told: Ends) -> str:
    listed = ", ".join(sorted(dict.fromkeys(told.names)))
    return f"{listed} and {told.more} more" if told.more else listed


def _words(identifier: str) -> str:
    return " ".join(identifier.replace("_", " ").split())


def _passage(ctx: int, slug: str, concept: Concept, text: str, score: float) -> Passage:
    return Passage(
        id=concept_id_text(concept.id),
        kind=ARTIFACT,
        context=slug,
        ctx=ctx,
        source="",
        text=text,
        score=score,
        title=concept.name,
        name=concept.name,
        type=concept.type,
        artifact_kind=ENTITY,
        scope="corpus",
        format="markdown",
        edges=[],
    )


def without_doubles(told: Iterable[Passage], passages: Iterable[Passage]) -> list[Passage]:
    """Those facts whose concept is no artifact among the passages already."""
    known = {(p.ctx, p.type, p.name) for p in passages if p.kind == ARTIFACT}
    return [passage for passage in told if (passage.ctx, passage.type, passage.name) not in known]
