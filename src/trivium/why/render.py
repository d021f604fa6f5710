"""The text form of an answer, for people: decisions first, evidence as `file:start-end` (reference 11)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trivium.why.guidance import KIND_MISSING, NOT_FOUND
from trivium.why.model import MAX_LINKS, Entity
from trivium.why.prepared import regions
from trivium.why.reasons import explained
from trivium.why.target import locate

Find = Callable[[str], Entity | None]
Beyond = Callable[[Iterable[str]], Mapping[str, Sequence[str]]]

_KIND_ORDER = {"decision": 0, "concept": 1, "change": 2}
_LINK_WORDS = {"affects": ("affected-path", "affected-fact"), "defines": ("defines-symbol",)}
_SUPERSESSION = {"supersedes": "supersedes", "superseded-by": "superseded by"}
_AT_PATH = ("module:", "area:", "document:")
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]+")
_AFTER = ("", "/", ":", " ")
_FULL = re.compile(
    r" ?(One entity names|(\d+) entities name) this target beyond the (\d+) links that an entity holds\."
)
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"

_NO_PROOF = "That does not show that there was no reason; the coverage below says what was read."
NOTHING = f"No {{kind}} that was read matches. {_NO_PROOF}"
UNKNOWN = (
    "Nothing here is called `{target}`: it is no id, name or alias of a decision, concept or change that was read, and "
    f"no path, symbol or package. {_NO_PROOF}"
)
NAMES = "Targets are matched whole, and case counts. To find names, ask for a folder, or for `.`, the whole repository."
ANY_KIND = "decision, concept or change"
SHOWN = 8
"""The most paths, names or places in one line; the rest is counted."""
MAX_REASON = 240
OTHERS = 3
"""The most lines about what was not read completely."""
AMBIGUITIES = 3
_AMBIGUOUS = "ambiguous-symbol: "
MORE = "--json shows all"
BEYOND = "beyond the links that an entity holds"
TRUNCATED = "Some results were left out by the limit; ask with a higher one, at most 100, to see more."


def render_text(
    answer: dict[str, Any],
    find: Find | None = None,
    *,
    beyond: Beyond | None = None,
    kind: str | None = None,
    asked: Collection[str] | None = None,
    color: bool = False,
    more: str = MORE,
    truncated: str = TRUNCATED,
    commits: Sequence[str] = (),
) -> str:
    """The text of an answer of `knowledge_why`, ending in a line ending; equal answers give equal text.

    `find` looks up entities that are linked but not in the answer (`View.entity`), so that supersession can be told
    with name and status, `beyond` what entities lead to beyond their links (`View.beyond`). `kind` is the kind that was
    asked for, `asked` the paths that the target stands for: of long lists they are shown first; without any, and with
    nothing found, the target is told to be unknown. `commits` are the change ids of the first-parent line, newest first
    (`Index.commits`), without which commits are ordered by date; those whose links are full follow the others. Long
    lists are cut, saying how `more` is had; what says the same twice is said once. Control characters of repository
    texts become spaces.
    """
    known = _Known(answer, find)
    short = _Short([answer["target"], *(asked or ())], more)
    ids = [str(entity["id"]) for entity in answer["entities"]]
    further = {} if beyond is None else beyond(ids)
    newest = {entity_id: place for place, entity_id in enumerate(commits)}
    ordered = _ordered(answer["entities"], newest, _Named(answer["target"], asked or ()))
    blocks = [list(_head(answer, kind, is_unknown(answer, asked)))]
    blocks += [list(_entity(entity, known, short, further.get(entity["id"], ()))) for entity in ordered]
    blocks.append([_relation(relation) for relation in answer.get("memoryRelations", ())])
    blocks.append([f"Cited by {item['path']} {short.context(item['context'])}" for item in answer["documents"]])
    blocks.append(list(_coverage(answer["coverage"], short, more)))
    blocks.append([*_full(answer), *([truncated] if answer["truncated"] else [])])
    cleaned = [[_CONTROL.sub(" ", line) for line in block] for block in blocks if block]
    if color:
        for block in cleaned[: 1 + len(answer["entities"])]:
            block[0] = f"{_BOLD}{block[0]}{_PLAIN}"
    return "\n\n".join("\n".join(block) for block in cleaned) + "\n"


class _Short:
    """Lists cut to what a line holds; items that are or lie below what was asked come first."""

    def __init__(self, asked: Iterable[str], more: str) -> None:
        self._asked = {text.removeprefix("./").rstrip("/") for text in asked} - {""}
        self._more = more

    def __call__(self, items: Sequence[str], beyond: Sequence[str] = ()) -> str:
        """The first of the items, and how many are left; `more` does not tell those that are `beyond`."""
        every = [*items, *beyond]
        if len(every) <= SHOWN:
            return ", ".join(every)
        places = sorted(range(len(every)), key=lambda place: not self.is_asked(every[place]))
        left = len(every) - SHOWN
        hidden = sum(place >= len(items) for place in places[SHOWN:])
        how = self._more if not hidden else self._more.replace("all", f"{left - hidden:,} of them")
        told = how if hidden < left else BEYOND
        return f"{', '.join(every[place] for place in places[:SHOWN])} and {left:,} more ({told})"

    def context(self, text: str) -> str:
        return f"via {self(text.removeprefix('via ').split(', '))}"

    def is_asked(self, item: str) -> bool:
        """Whether the item is what was asked or lies below it."""
        return any(item.startswith(asked) and item[len(asked) : len(asked) + 1] in _AFTER for asked in self._asked)


class _Known:
    """Name, status and place of entities: those of the answer, then those that the index can find."""

    def __init__(self, answer: dict[str, Any], find: Find | None) -> None:
        self._answered: dict[str, dict[str, Any]] = {entity["id"]: entity for entity in answer["entities"]}
        self._find = find

    def __call__(self, entity_id: str) -> dict[str, Any] | None:
        if entity_id in self._answered:
            return self._answered[entity_id]
        entity = None if self._find is None else self._find(entity_id)
        if entity is None:
            return None
        places = [{"kind": "document-region", "path": path} for path, _ in regions(entity)]
        found: dict[str, Any] = {"name": entity.name, "evidence": places}
        return found if entity.status is None else found | {"status": entity.status}


def is_unknown(answer: dict[str, Any], asked: Collection[str] | None) -> bool:
    """Whether nothing that was read has the target's name: no entity of any kind, no document, no path of `asked`."""
    if asked is None or asked or not answer["enabled"] or KIND_MISSING in answer.get("guidance", ""):
        return False
    return not (answer["entities"] or answer["documents"])


def _head(answer: dict[str, Any], kind: str | None, unknown: bool) -> Iterator[str]:
    yield f"Why: {answer['target']}"
    guidance = _FULL.sub("", answer.get("guidance", "")).strip()
    if unknown:
        yield UNKNOWN.format(target=answer["target"])
        guidance = guidance.removeprefix(NOT_FOUND).strip() or NAMES
    if guidance:
        yield guidance
    budget = answer.get("budget")
    if budget is not None:
        fits = "yes" if budget["fits"] else "no"
        yield f"Budget: {budget['tokens']['total']}/{budget['budgetTokens']} tokens (approximate), fits: {fits}"
    if answer["enabled"] and not answer["entities"] and not unknown:
        yield NOTHING.format(kind=kind or ANY_KIND)


def _full(answer: dict[str, Any]) -> Iterator[str]:
    """That entities name the target only beyond the links they hold, which the guidance tells in terms of the index."""
    if match := _FULL.search(answer.get("guidance", "")):
        many, most = match[2], match[3]
        which = f"{many} of the matching entries name" if many else "One of the matching entries names"
        yield f"{which} more than {most} places{' each' if many else ''}; this target is beyond the first {most}."


def _ordered(
    entities: Iterable[dict[str, Any]], place: Mapping[str, int], is_named: Callable[[dict[str, Any]], bool]
) -> list[dict[str, Any]]:
    """Decisions (superseded ones last), concepts, change-log entries, commits with the newest first; else by id.

    What was asked for by name comes before others of its kind. A commit whose links are full says little of each of its
    paths, so that these follow all others.
    """

    def later(entity: dict[str, Any]) -> tuple[int, bool, bool, bool, bool]:
        commit = _sha(entity) is not None
        wide = commit and len(entity["links"]) >= MAX_LINKS
        return _KIND_ORDER[entity["kind"]], not is_named(entity), _is_past(entity), commit, wide

    by_id = sorted(entities, key=lambda entity: str(entity["id"]))
    dated = sorted(by_id, key=lambda entity: str(entity.get("date", "")) if _sha(entity) else "", reverse=True)
    newest = sorted(dated, key=lambda entity: place.get(entity["id"], len(place)) if _sha(entity) else 0)
    return sorted(newest, key=later)


class _Named:
    """Whether the target is the id, the name, an alias or the commit id of an entity, or the place of its record."""

    def __init__(self, target: str, asked: Iterable[str]) -> None:
        self._target = target
        self._paths = {*asked, target}
        self._lines = locate(target, self._paths.difference((target,)).__contains__).lines

    def __call__(self, entity: dict[str, Any]) -> bool:
        names = (entity["id"], entity["name"], *entity["aliases"], _sha(entity))
        return self._target in names or any(map(self._is_here, entity["evidence"]))

    def _is_here(self, proof: dict[str, Any]) -> bool:
        if proof["kind"] != "document-region" or proof["path"] not in self._paths:
            return False
        return self._lines is None or (proof["lineStart"] <= self._lines[1] and proof["lineEnd"] >= self._lines[0])


def _is_past(entity: dict[str, Any]) -> bool:
    return any(link["kind"] == "superseded-by" for link in entity["links"])


def _sha(entity: dict[str, Any]) -> str | None:
    """The commit of a change, if it is one."""
    if entity["kind"] != "change":
        return None
    return next((str(proof["sha"]) for proof in entity["evidence"] if proof["kind"] == "commit"), None)


def _entity(entity: dict[str, Any], known: _Known, short: _Short, beyond: Iterable[str]) -> Iterator[str]:
    status = f" [{entity['status']}]" if "status" in entity else ""
    date = f" {entity['date']}" if "date" in entity and _sha(entity) is None else ""
    yield f"{entity['kind']}: {entity['name']}{status}{date}"
    yield f"  id: {entity['id']}"
    if entity["aliases"]:
        yield f"  also called: {short(entity['aliases'])}"
    conventional = entity.get("conventional")
    if conventional is not None and conventional["breaking"]:
        yield "  a breaking change"
    for kind, words in _SUPERSESSION.items():
        others = [link["target"] for link in entity["links"] if link["kind"] == kind]
        yield from (f"  {words} {_decision(other, known)}" for other in others)
    links = {words: _targets(entity, kinds) for words, kinds in _LINK_WORDS.items()}
    told = {target for targets in links.values() for target in targets}
    if evidence := list(_evidence(entity, told)):
        yield f"  evidence: {short(evidence)}"
    lines = {words: [_with_symbols(path, names) for path, names in targets.items()] for words, targets in links.items()}
    lines["affects"] = [item for item in lines["affects"] if item not in lines["defines"]]
    further = {"affects": [path for path in dict.fromkeys(map(_place, beyond)) if path not in told]}
    yield from (f"  {words}: {short(items, further.get(words, ()))}" for words, items in lines.items() if items)


def _evidence(entity: dict[str, Any], told: Container[str]) -> Iterator[str]:
    """Where the entity was observed; a fact that its links name is left to these."""
    date = f" {entity['date']}" if "date" in entity else ""
    for proof in entity["evidence"]:
        if proof["kind"] == "document-region":
            first, last = proof["lineStart"], proof["lineEnd"]
            yield f"{proof['path']}:{first}" if first == last else f"{proof['path']}:{first}-{last}"
        elif proof["kind"] == "commit":
            yield f"commit {proof['sha'][:7]}{date}"
        elif _place(proof["factId"]) not in told:
            yield f"fact {proof['factId']}"


def _targets(entity: dict[str, Any], kinds: Sequence[str]) -> dict[str, list[str]]:
    """What links of these kinds lead to, each once, with the symbols they name: an entry is told by its path."""
    found: dict[str, list[str]] = {}
    for kind in kinds:
        for link in entity["links"]:
            if link["kind"] == kind:
                symbols = found.setdefault(_place(link["target"]), [])
                if "symbol" in link and link["symbol"] not in symbols:
                    symbols.append(link["symbol"])
    return found


def _place(target: str) -> str:
    kind = next((kind for kind in _AT_PATH if target.startswith(kind)), "")
    return target.removeprefix(kind)


def _with_symbols(path: str, symbols: list[str]) -> str:
    return f"{path} ({', '.join(f'`{symbol}`' for symbol in symbols)})" if symbols else path


def _decision(entity_id: str, known: _Known) -> str:
    """`<name> (<path of its record>), which is <status>`, as far as it is known; a record's path can be asked for."""
    other = known(entity_id)
    if other is None:
        return entity_id
    path = next((proof["path"] for proof in other["evidence"] if proof["kind"] == "document-region"), entity_id)
    if "status" not in other:
        return f"{other['name']} ({path}), which states no status"
    return f"{other['name']} ({path}), which is {other['status']}"


def _relation(relation: dict[str, Any]) -> str:
    proof = relation["evidence"]
    source = f" in {proof['rawPath']}" if "rawPath" in proof else ""
    return (
        f"memory-supports {relation['candidateId']} → {relation['target']}: by {proof['kind']} {proof['value']}{source}"
    )


# --- coverage -------------------------------------------------------------------------------------


def _coverage(records: Sequence[dict[str, Any]], short: _Short, more: str) -> Iterator[str]:
    """What was read completely in one line, and at most three lines about the rest."""
    complete = dict.fromkeys(record["scope"] for record in records if record["status"] == "complete")
    if complete:
        yield f"complete: {', '.join(complete)}"
    others = [record for record in records if record["status"] != "complete"]
    lines = OTHERS if len(others) <= OTHERS else OTHERS - 1
    for record in others[:lines]:
        reason = _reason(record.get("reason") or "", short, more)
        yield f"{record['scope']}: {record['status']}{f' — {reason}' if reason else ''}{_places(record)}"
    if rest := others[lines:]:
        named = ", ".join(f"{record['scope']} ({record['status']})" for record in rest[:SHOWN])
        yield f"not complete either: {named}{' and others' if len(rest) > SHOWN else ''} ({more})"


def _places(record: dict[str, Any]) -> str:
    """Where a record's reasons were met; names with several owners are told by themselves."""
    places = [f"{place['path']}:{place['line']}" for place in record.get("evidence", ())]
    if not places or (record.get("reason") or "").startswith(_AMBIGUOUS):
        return ""
    rest = len(places) - OTHERS
    return f" ({', '.join(places[:OTHERS])}{f' and {rest:,} more' if rest > 0 else ''})"


def _reason(reason: str, short: _Short, more: str) -> str:
    """A reason cut to a line; of names with several owners those that concern the target, the others counted."""
    if reason.startswith(_AMBIGUOUS):
        return _ambiguous(reason.removeprefix(_AMBIGUOUS), short, more)
    told = explained(reason)
    if len(told) <= MAX_REASON:
        return told
    if len(reason) > MAX_REASON:
        return f"{reason[:MAX_REASON].rsplit(' ', 1)[0]} … ({more})"
    return reason


def _ambiguous(listed: str, short: _Short, more: str) -> str:
    names = listed.split("; ")
    cut = listed.endswith("…")
    told = [name for name in names if _concerns(name, short)][:AMBIGUITIES]
    count = len(names) - len(told)
    number = f"{'at least ' if cut else ''}{count:,}{' other' if told else ''} name{'' if count == 1 else 's'}"
    if not told:
        return f"{number} in documents with several owners ({more})"
    rest = f", and {number}" if count else ""
    return f"several owners: {'; '.join(told)}{rest} ({more})"


def _concerns(listed: str, short: _Short) -> bool:
    """Whether an ambiguous name, told as `name (owner, owner)`, or one of its owners is what was asked for."""
    name, _, owners = listed.partition(" (")
    return short.is_asked(name) or any(short.is_asked(_place(owner)) for owner in owners.rstrip(")").split(", "))
