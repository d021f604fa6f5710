"""The text form of an answer, for people: decisions first, evidence as `file:start-end` (reference 11)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trivium.why.model import Entity

Find = Callable[[str], Entity | None]

_KIND_ORDER = {"decision": 0, "concept": 1, "change": 2}
_LINK_WORDS = {
    "affected-path": "affects",
    "affected-fact": "concerns",
    "defines-symbol": "defines",
    "supersedes": "supersedes",
    "superseded-by": "superseded by",
}
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]+")
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"

NOTHING = (
    "Nothing recorded matches. That does not show that there was no reason; the coverage below says what was read."
)
TRUNCATED = "Some results were left out by the limit; ask with a higher one to see more."


def render_text(answer: dict[str, Any], find: Find | None = None, *, color: bool = False) -> str:
    """The text of an answer of `knowledge_why`, ending in a line ending; equal answers give equal text.

    `find` looks up entities that are linked but not in the answer (`View.entity`), so that supersession can be told
    with name and status. Control characters of repository texts become spaces.
    """
    known = _Known(answer, find)
    blocks = [list(_head(answer)), *(list(_entity(entity, known)) for entity in _ordered(answer["entities"]))]
    blocks.append([_relation(relation) for relation in answer.get("memoryRelations", ())])
    blocks.append([f"Cited by {item['path']} {item['context']}" for item in answer["documents"]])
    blocks.append([_coverage(record) for record in answer["coverage"]])
    blocks.append([TRUNCATED] if answer["truncated"] else [])
    cleaned = [[_CONTROL.sub(" ", line) for line in block] for block in blocks if block]
    if color:
        for block in cleaned[: 1 + len(answer["entities"])]:
            block[0] = f"{_BOLD}{block[0]}{_PLAIN}"
    return "\n\n".join("\n".join(block) for block in cleaned) + "\n"


class _Known:
    """Name and status of entities: those of the answer, then those that the index can find."""

    def __init__(self, answer: dict[str, Any], find: Find | None) -> None:
        self._answered = {entity["id"]: (entity["name"], entity.get("status")) for entity in answer["entities"]}
        self._find = find

    def __call__(self, entity_id: str) -> tuple[str, str | None] | None:
        if entity_id in self._answered:
            return self._answered[entity_id]
        entity = None if self._find is None else self._find(entity_id)
        return None if entity is None else (entity.name, entity.status)


def _head(answer: dict[str, Any]) -> Iterator[str]:
    yield f"Why: {answer['target']}"
    if "guidance" in answer:
        yield answer["guidance"]
    budget = answer.get("budget")
    if budget is not None:
        fits = "yes" if budget["fits"] else "no"
        yield f"Budget: {budget['tokens']['total']}/{budget['budgetTokens']} tokens (approximate), fits: {fits}"
    if answer["enabled"] and not answer["entities"]:
        yield NOTHING


def _ordered(entities: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Decisions, concepts, change-log entries, then commits with the newest first; else ascending by id."""
    by_id = sorted(entities, key=lambda entity: str(entity["id"]))
    newest = sorted(by_id, key=lambda entity: str(entity.get("date", "")) if _sha(entity) else "", reverse=True)
    return sorted(newest, key=lambda entity: (_KIND_ORDER[entity["kind"]], _sha(entity) is not None))


def _sha(entity: dict[str, Any]) -> str | None:
    """The commit of a change, if it is one."""
    if entity["kind"] != "change":
        return None
    return next((str(proof["sha"]) for proof in entity["evidence"] if proof["kind"] == "commit"), None)


def _entity(entity: dict[str, Any], known: _Known) -> Iterator[str]:
    status = f" [{entity['status']}]" if "status" in entity else ""
    date = f" {entity['date']}" if "date" in entity and _sha(entity) is None else ""
    yield f"{entity['kind']} {entity['id']}: {entity['name']}{status}{date}"
    if entity["aliases"]:
        yield f"  also called: {', '.join(entity['aliases'])}"
    conventional = entity.get("conventional")
    if conventional is not None and conventional["breaking"]:
        yield "  a breaking change"
    yield f"  evidence: {', '.join(_evidence(entity))}"
    yield from _links(entity, known)


def _evidence(entity: dict[str, Any]) -> Iterator[str]:
    date = f" {entity['date']}" if "date" in entity else ""
    for proof in entity["evidence"]:
        if proof["kind"] == "document-region":
            yield f"{proof['path']}:{proof['lineStart']}-{proof['lineEnd']}"
        elif proof["kind"] == "commit":
            yield f"commit {proof['sha'][:7]}{date}"
        else:
            yield f"fact {proof['factId']}"


def _links(entity: dict[str, Any], known: _Known) -> Iterator[str]:
    """One line for each kind of link; supersession one line for each decision, in words."""
    for kind, words in _LINK_WORDS.items():
        links = [link for link in entity["links"] if link["kind"] == kind]
        if kind in {"supersedes", "superseded-by"}:
            yield from (f"  {words} {_decision(link['target'], known)}" for link in links)
        elif links:
            yield f"  {words}: {', '.join(_target(link) for link in links)}"


def _target(link: dict[str, Any]) -> str:
    return f"{link['target']} (`{link['symbol']}`)" if "symbol" in link else str(link["target"])


def _decision(entity_id: str, known: _Known) -> str:
    """`<name> (<id>), which is <status>`, as far as it is known."""
    other = known(entity_id)
    if other is None:
        return entity_id
    name, status = other
    if status is None:
        return f"{name} ({entity_id}), which states no status"
    return f"{name} ({entity_id}), which is {status}"


def _relation(relation: dict[str, Any]) -> str:
    proof = relation["evidence"]
    source = f" in {proof['rawPath']}" if "rawPath" in proof else ""
    return (
        f"memory-supports {relation['candidateId']} → {relation['target']}: by {proof['kind']} {proof['value']}{source}"
    )


def _coverage(record: dict[str, Any]) -> str:
    reason = f" — {record['reason']}" if record.get("reason") else ""
    return f"{record['scope']}: {record['status']}{reason}"
