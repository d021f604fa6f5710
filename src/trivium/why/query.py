"""`knowledge_why`: what is recorded about a target, exactly and with its evidence (Knowledge query v1, reference 7).

The steps, each one function: check the request → locate the target → direct entities → keys → matching entities →
documents → cut to the limit → budget. Nothing is inferred, and no file, process or socket is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

import msgspec

from trivium.errors import TriviumError
from trivium.why.budget import with_budget
from trivium.why.model import Coverage, Definition, DocumentItem, Entity, Entry, Index, MemoryRelation, Response
from trivium.why.prepared import FOLLOWED, PreparedIndex, Profile, View, regions, relation_order
from trivium.why.response import MAX_BUDGET, MAX_GUIDANCE, MAX_RESULTS, MAX_TARGET, to_dict
from trivium.why.suggest import suggestions
from trivium.why.target import Located, locate

KINDS = ("decision", "concept", "change")
DEFAULT_LIMIT = 20
HISTORY_SCOPE = "git:first-parent"
DISABLED = (
    "This index was built without knowledge entities. Set index.knowledgeEntities.enabled to true and build the index "
    "again (`trivium index`, or `ak-docs index`). A restricted service cannot do this itself: give it a stored index "
    "that holds entities."
)
_MAX_WORDS = 96
"""Characters of a target that are searched for as words."""
UNREAD_HISTORY = Coverage(
    analyzer="knowledge-query",
    scope=HISTORY_SCOPE,
    status="not-analyzed",
    reason="The restricted profile reads no history and leaves out entities that rest on commits.",
)


class WhyRequestError(TriviumError):
    """A request is malformed; `argument` names the part at fault and `problem` says what is wrong with it."""

    def __init__(self, argument: str, problem: str, hint: str) -> None:
        super().__init__(f"{argument} {problem}", hint)
        self.argument = argument
        self.problem = problem


class Request(NamedTuple):
    """A checked request; the target is trimmed."""

    target: str
    kind: str | None
    limit: int
    budget_tokens: int | None
    profile: Profile
    root: str | None


class Found(msgspec.Struct):
    """Everything that matches, before the limit unless said otherwise."""

    request: Request
    source: str
    enabled: bool
    coverage: list[Coverage]
    ranked: list[Entity] = []
    documents: list[DocumentItem] = []
    """The first ones, as many as the request's limit."""
    document_count: int = 0
    relations: dict[str, list[MemoryRelation]] = {}
    guidance: list[str] = []


def knowledge_why(
    index: Index | PreparedIndex,
    target: str,
    *,
    kind: str | None = None,
    limit: int = DEFAULT_LIMIT,
    budget_tokens: int | None = None,
    profile: Profile = "local",
    root: str | None = None,
) -> dict[str, Any]:
    """The decisions, concepts and changes recorded about a path, symbol, name or id (Knowledge query v1).

    `limit` (1 to 100) bounds each of the three lists; `root` is the repository's absolute path, needed only to
    understand absolute targets. Prepare an index (`PreparedIndex`) to ask it more than once. Raises
    `WhyRequestError`; a target that nothing matches is an answer with empty lists, never an error.
    """
    request = check_request(target, kind, limit, budget_tokens, profile, root)
    prepared = index if isinstance(index, PreparedIndex) else PreparedIndex(index)
    found = _find(prepared, request)
    answer = cut(found, request.limit)
    if request.budget_tokens is not None:
        answer = with_budget(answer, request.budget_tokens, request.limit, lambda lower: cut(found, lower))
    return to_dict(answer)


# --- step 1: the request --------------------------------------------------------------------------


def check_request(
    target: object, kind: object, limit: object, budget_tokens: object, profile: object, root: object
) -> Request:
    """The request with its bounds checked (step 1); raises `WhyRequestError` naming the argument."""
    if not isinstance(target, str):
        raise WhyRequestError("target", "must be a string", "Give a path, a symbol, a name or an entity id.")
    text = target.strip()
    if not text or len(text) > MAX_TARGET:
        raise WhyRequestError(
            "target", f"must have 1 to {MAX_TARGET} characters", "Give a path, a symbol, a name or an entity id."
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise WhyRequestError("target", "must be well-formed Unicode text", "Leave out lone surrogates.")
    if kind is not None and kind not in KINDS:
        raise WhyRequestError("kind", f"must be one of {', '.join(KINDS)}", "Leave it out to get all kinds.")
    if profile not in get_args(Profile):
        raise WhyRequestError("profile", "must be local or service", "Use local for your own working tree.")
    return Request(
        text,
        None if kind is None else str(kind),
        _whole_number("limit", limit, MAX_RESULTS),
        None if budget_tokens is None else _whole_number("budget_tokens", budget_tokens, MAX_BUDGET),
        "service" if profile == "service" else "local",
        None if root is None else str(root),
    )


def _whole_number(argument: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise WhyRequestError(
            argument, f"must be a whole number from 1 to {most:,}", f"For example {min(20, most)}; or leave it out."
        )
    return value


# --- steps 2 to 7: what matches -------------------------------------------------------------------


def _find(prepared: PreparedIndex, request: Request) -> Found:
    """Steps 2 to 8, 10, 11 and 13, without any limit."""
    index = prepared.index
    restricted = request.profile == "service"
    source = f"index:{index.index_hash}"
    if index.entities is None:
        return Found(request, source, False, [UNREAD_HISTORY] if restricted else [], guidance=[DISABLED])
    view = prepared.view(request.profile)
    found = Found(request, source, True, _coverage(index.coverage, restricted), relations=view.relations)
    located, named = _locate(view, request)
    entries = _entries(prepared, request.target, located)
    direct = _direct(view, request.target, located)
    near = _about_lines(view, located)
    keys = {request.target, *_path_keys(prepared, located), *(entry.id for entry in entries)}
    keys.update(_reached(view, direct))
    matching = direct | near | _belonging(view, request.target, located) | _linked(view, request.target, keys)
    found.ranked = _ranked(view, matching, direct, near, request.kind)
    found.document_count, found.documents = _documents(prepared, keys, request.limit)
    known = bool(matching or entries or located.path is not None or named)
    found.guidance = _guidance(view, found, located, len(matching), known)
    return found


def _locate(view: View, request: Request) -> tuple[Located, bool]:
    """The target as a path, and whether it is the id of an entry; such an id stands for the entry's path."""
    entry = view.prepared.by_id.get(request.target)
    if entry is None:
        return locate(request.target, view.knows, request.root), False
    path = None if entry.kind == "package" else entry.path
    return Located(path, None, request.target), True


def _entries(prepared: PreparedIndex, target: str, located: Located) -> list[Entry]:
    """Step 5: entries with this id, this path or this exported name."""
    found = [*prepared.exporting(target), *prepared.by_path.get(target, ())]
    if target in prepared.by_id:
        found.append(prepared.by_id[target])
    if located.path is not None and located.path != target:
        found.extend(prepared.by_path.get(located.path, ()))
    return found


def _direct(view: View, target: str, located: Located) -> set[int]:
    """Step 4: entities of this id, name or alias, or with a region in this document (at these lines)."""
    spellings = {target, located.path or target}
    direct = {position for text in spellings for position in view.by_name.get(text, ())}
    for position, (first, last) in view.by_region.get(located.path or "", ()):
        if located.lines is None or (first <= located.lines[1] and last >= located.lines[0]):
            direct.add(position)
    return direct


def _belonging(view: View, target: str, located: Located) -> set[int]:
    """Entities that cite this name although it has several owners, and those with a region below this directory."""
    found = set(view.cited_names.get(target, ()))
    if located.path is not None and located.lines is None:
        for below in view.by_region.keys() & set(view.prepared.paths_below(located.path)):
            found.update(position for position, _ in view.by_region[below])
    return found


def _about_lines(view: View, located: Located) -> set[int]:
    """Entities that name a definition around the asked lines; a name counts only for the module that exports it."""
    found: set[int] = set()
    for entry, definition in _definitions(view.prepared, located):
        name = definition.name
        if name.partition(".")[0] in entry.symbols:
            found.update(view.cited_names.get(name, ()))
        for position in view.by_symbol.get(name, ()):
            if any(link.symbol == name and link.target == entry.id for link in view.entities[position].links):
                found.add(position)
    return found


def _definitions(prepared: PreparedIndex, located: Located) -> Iterator[tuple[Entry, Definition]]:
    """The definitions that meet the asked lines."""
    if located.path is None or located.lines is None:
        return
    first, last = located.lines
    for entry in prepared.by_path.get(located.path, ()):
        for definition in entry.definitions:
            if definition.line_start <= last and definition.line_end >= first:
                yield entry, definition


def _path_keys(prepared: PreparedIndex, located: Located) -> Iterable[str]:
    """The path itself; for a directory also every path below it and the entries there."""
    if located.path is None:
        return
    below = prepared.paths_below(located.path)
    yield located.path
    yield from below
    yield from (entry.id for path in below for entry in prepared.by_path.get(path, ()))


def _reached(view: View, direct: Iterable[int]) -> Iterable[str]:
    """Step 6: paths of the regions of direct entities, and the targets of their links."""
    for position in direct:
        entity = view.entities[position]
        yield from (path for path, _ in regions(entity))
        yield from (link.target for link in entity.links if link.kind in FOLLOWED)


def _linked(view: View, target: str, keys: set[str]) -> set[int]:
    """Step 7: entities one link away from a key, or with the target as a link's symbol."""
    found = set(view.by_symbol.get(target, ()))
    return found.union(*map(view.by_link.__getitem__, view.by_link.keys() & keys))


def _ranked(view: View, matching: set[int], direct: set[int], near: set[int], kind: str | None) -> list[Entity]:
    """Step 8, and the order in which a limit keeps entities: direct ones, then by kind, then the newest commits."""

    def place(position: int) -> tuple[int, int]:
        return (0 if position in direct else 1 if position in near else 2, view.rank[position])

    ordered = (view.entities[position] for position in sorted(matching, key=place))
    return [entity for entity in ordered if kind is None or entity.kind == kind]


# --- steps 9 to 13: the answer --------------------------------------------------------------------


def _documents(prepared: PreparedIndex, keys: set[str], limit: int) -> tuple[int, list[DocumentItem]]:
    """Step 11: how many documents cover or mention an entry among the keys, and the first of them, ascending."""
    citing: set[str] = set()
    citing.update(*map(prepared.citing.__getitem__, prepared.citing.keys() & keys))
    return len(citing), [_document(prepared, document, keys) for document in sorted(citing)[:limit]]


def _document(prepared: PreparedIndex, document: str, keys: set[str]) -> DocumentItem:
    """A document with the paths that led to it, each with the first line of its mention where that is known."""
    via: dict[str, int | None] = {}
    for entry_id, line in prepared.cited[document].items():
        entry = prepared.by_id[entry_id]
        if entry_id in keys or entry.path in keys:
            path = entry.path or entry_id
            lines = [known for known in (line, via.get(path)) if known is not None]
            via[path] = min(lines, default=None)
    found = prepared.by_id[document]
    return DocumentItem(id=document, path=found.path, content_hash=found.content_hash, context=_context(via))


def _context(paths: dict[str, int | None]) -> str:
    """`via` and the paths through which a document was found, with the line of the mention where it is known."""
    return "via " + ", ".join(
        path if line is None else f"{path} (line {line})"
        for path, line in sorted(paths.items(), key=lambda item: item[0])
    )


def _coverage(records: Iterable[Coverage], restricted: bool) -> list[Coverage]:
    """Step 13: all records by scope; in the restricted profile history counts as not looked at."""
    kept = [record for record in records if not (restricted and record.scope == HISTORY_SCOPE)]
    if restricted:
        kept.append(UNREAD_HISTORY)
    return sorted(kept, key=lambda record: (record.scope, record.analyzer, record.status, record.reason or ""))


def cut(found: Found, limit: int) -> Response:
    """Steps 9, 10 and 12: the first `limit` of each list, ascending, with `truncated` if anything was left out."""
    entities = sorted(found.ranked[:limit], key=lambda entity: entity.id)
    relations = [relation for entity in entities for relation in found.relations.get(entity.id, ())]
    relations.sort(key=relation_order)
    return Response(
        type="knowledge-why",
        schema_version=1,
        source=found.source,
        target=found.request.target,
        enabled=found.enabled,
        guidance=" ".join(found.guidance) or None,
        entities=entities,
        documents=found.documents[:limit],
        memory_relations=relations[:limit] or None,
        coverage=found.coverage,
        truncated=max(len(found.ranked), found.document_count, len(relations)) > limit,
    )


# --- guidance -------------------------------------------------------------------------------------


def _guidance(view: View, found: Found, located: Located, matching: int, known: bool) -> list[str]:
    """What is worth saying beside the lists: the definition around a line, other kinds, names close to an unknown."""
    if not known:
        spellings = [found.request.target, located.spelling]
        said = _suggested(suggestions(view.askable, spellings))
        return said if found.request.profile == "service" else [*said, *_words(found.request.target)]
    said = _around(view.prepared, located)
    if found.request.kind is not None and matching and not found.ranked:
        count = f"is {matching} entity" if matching == 1 else f"are {matching} entities"
        said.append(f"No {found.request.kind} is recorded about this target; without the kind there {count}.")
    return [text for text in said if len(text) <= MAX_GUIDANCE // 2]


def _suggested(names: list[str]) -> list[str]:
    start = "Nothing here has exactly this id, name, path or symbol. Close to it, to ask for instead: "
    while names:
        text = f"{start}{', '.join(f'`{name}`' for name in names)}."
        if len(text) <= MAX_GUIDANCE // 2 or (len(names) == 1 and len(text) <= MAX_GUIDANCE):
            return [text]
        names = names[:-1]
    return []


def search_command(target: str) -> str | None:
    """The KIP command that searches the repository's graph for the words of a target; None for a single word.

    >>> search_command("why do we evict"), search_command("evict")
    ('SEARCH CONCEPT "why do we evict" LIMIT 10', None)
    """
    words = re.sub(r'["\\\\\x00-\x1f\x7f-\x9f]', " ", target).split()
    if len(words) < 2:
        return None
    text = " ".join(words)
    if len(text) > _MAX_WORDS:
        text = text[: _MAX_WORDS + 1].rpartition(" ")[0] or text[:_MAX_WORDS]
    return f'SEARCH CONCEPT "{text}" LIMIT 10'


def _words(target: str) -> list[str]:
    command = search_command(target)
    if command is None:
        return []
    return [
        "A target is a path, symbol or name, matched exactly. "
        f"To look for words, search the repository's graph: {command}"
    ]


def _around(prepared: PreparedIndex, located: Located) -> list[str]:
    """Which definition holds the asked lines: the smallest around all of them."""
    if located.lines is None:
        return []
    first, last = located.lines
    around = [
        (definition.line_end - definition.line_start, definition.line_start, definition.name)
        for _, definition in _definitions(prepared, located)
        if definition.line_start <= first and definition.line_end >= last
    ]
    if not around:
        return []
    length, start, name = min(around)
    asked = f"Line {first} of {located.path} lies" if first == last else f"Lines {first}-{last} of {located.path} lie"
    return [f"{asked} in `{name}` (lines {start}-{start + length}); links are to the whole file."]
