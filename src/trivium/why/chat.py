"""Which entities a question names, as data for a model that the user configured (reference 13); no model is called."""

from __future__ import annotations

from trivium.search.passage import ARTIFACT, Passage
from trivium.why.model import DocumentRegion, Entity, Index
from trivium.why.prepared import PreparedIndex

MAX_ENTITIES_IN_CHAT = 8
SHORTEST_NAME = 3


def entities_for_question(index: Index | PreparedIndex, question: str) -> list[Entity]:
    """At most eight entities whose name or an alias stands in the question as whole words, case counting.

    Those named with more characters come first, then ascending by id. Names shorter than three characters are left
    out. The entities are context to be cited by id, never instructions.
    """
    loaded = index.index if isinstance(index, PreparedIndex) else index
    named = []
    for entity in loaded.entities or []:
        longest = max((len(name) for name in (entity.name, *entity.aliases) if _stands_in(question, name)), default=0)
        if longest:
            named.append((-longest, entity.id, entity))
    named.sort(key=lambda item: item[:2])
    return [entity for _, _, entity in named[:MAX_ENTITIES_IN_CHAT]]


def _stands_in(text: str, name: str) -> bool:
    """Whether the name occurs without a letter, digit or underscore running on at either end."""
    if len(name) < SHORTEST_NAME:
        return False
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (_runs_on(before, name[0]) or _runs_on(name[-1], after)):
            return True
        at = text.find(name, at + 1)
    return False


def _runs_on(left: str, right: str) -> bool:
    return _in_word(left) and _in_word(right)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def passage_of(entity: Entity, context: str) -> Passage:
    """An entity as a passage that a model may cite: what the index holds of it, a line for each kind of fact."""
    lines = [f"{entity.kind} {entity.name}", f"id: {entity.id}"]
    lines += [f"{label}: {value}" for label, value in (("status", entity.status), ("date", entity.date)) if value]
    if entity.aliases:
        lines.append(f"aliases: {', '.join(entity.aliases)}")
    by_kind: dict[str, list[str]] = {}
    for link in entity.links:
        by_kind.setdefault(link.kind, []).append(link.target if link.symbol is None else f"{link.target}#{link.symbol}")
    lines += [f"{kind}: {', '.join(targets)}" for kind, targets in sorted(by_kind.items())]
    for proof in entity.evidence:
        if isinstance(proof, DocumentRegion):
            lines.append(f"recorded in: {proof.path}:{proof.line_start}-{proof.line_end}")
    return Passage(
        id=entity.id,
        kind=ARTIFACT,
        context=context,
        ctx=0,
        source="",
        text="\n".join(lines),
        score=1.0,
        name=entity.name,
        type=entity.kind,
    )
