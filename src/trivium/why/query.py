"""`knowledge_why`: what is recorded about a target, exactly and with its evidence (Knowledge query v1, reference 7).

The steps, each one function: check the request → locate the target → direct entities → keys → matching entities →
documents → cut to the limit → budget. Nothing is inferred, and no file, process or socket is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trivium.why.budget import with_budget
from trivium.why.guidance import (
    DISABLED,
    DISABLED_SERVICE,
    about_folders,
    around,
    as_far_as_fits,
    beyond,
    kind_missing,
    of_method,
    of_package,
    unknown,
)
from trivium.why.model import (
    Coverage,
    DocumentItem,
    Entity,
    Entry,
    Index,
    MemoryRelation,
    Response,
)
from trivium.why.prepared import FOLLOWED, Chosen, PreparedIndex, Profile, View, regions, relation_order
from trivium.why.request import DEFAULT_LIMIT, Request, check_request
from trivium.why.response import to_dict
from trivium.why.target import CHANGE, COMMIT, Located, is_relative, locate

HISTORY_SCOPE = "git:first-parent"
UNREAD_HISTORY = Coverage(
    analyzer="knowledge-query",
    scope=HISTORY_SCOPE,
    status="not-analyzed",
    reason="The restricted profile reads no history and leaves out entities that rest on commits.",
)


class Found(msgspec.Struct):
    """Everything that matches, before the limit unless said otherwise."""

    request: Request
    source: str
    enabled: bool
    coverage: list[Coverage]
    ranked: Sequence[Entity] = ()
    documents: list[DocumentItem] = []
    """The first ones, as many as the request's limit."""
    document_count: int = 0
    relations: Mapping[str, Sequence[MemoryRelation]] = {}
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
    folder: str = "",
) -> dict[str, Any]:
    """The decisions, concepts and changes recorded about a path, symbol, name or id (Knowledge query v1).

    `limit` (1 to 100) bounds each of the three lists; `root` is the repository's absolute path, needed only to
    understand absolute targets; `folder` is the working folder below it (`src/app`), from which a target is read that
    names nothing from the root. Prepare an index (`PreparedIndex`) to ask it more than once. Raises `WhyRequestError`;
    a target that nothing matches is an answer with empty lists, never an error.
    """
    request = check_request(target, kind, limit, budget_tokens, profile, root)._replace(folder=folder)
    prepared = index if isinstance(index, PreparedIndex) else PreparedIndex(index)
    found = _find(prepared, request)
    answer = cut(found, request.limit)
    if request.budget_tokens is not None:
        answer = with_budget(answer, request.budget_tokens, request.limit, lambda lower: cut(found, lower))
    return to_dict(answer)


def asked_paths(
    prepared: PreparedIndex, target: str, *, profile: Profile = "local", root: str | None = None, folder: str = ""
) -> list[str]:
    """The paths that a target stands for: its own, and those of the modules that export it; for showing them first."""
    request = Request(target.strip(), None, DEFAULT_LIMIT, None, profile, root, folder)
    located = _locate(prepared.view(profile), request).located
    found = {entry.path for entry in _entries(prepared, request.target, located)}
    return sorted(found if located.path is None else found | {located.path})


# --- steps 2 to 7: what matches -------------------------------------------------------------------


def _find(prepared: PreparedIndex, request: Request) -> Found:
    """Steps 2 to 8, 10, 11 and 13, without any limit."""
    head = prepared.head
    restricted = request.profile == "service"
    source = f"index:{head.index_hash}"
    if not head.enabled:
        why = DISABLED_SERVICE if restricted else DISABLED
        return Found(request, source, False, [UNREAD_HISTORY] if restricted else [], guidance=[why])
    view = prepared.view(request.profile)
    found = Found(request, source, True, _coverage(head.coverage, restricted), relations=view.relations)
    read = _locate(view, request)
    located = read.located
    entries = _entries(prepared, request.target, located)
    direct = _direct(view, request.target, located)
    near = _about_lines(view, located)
    keys = {request.target, *_path_keys(view, located), *(entry.id for entry in entries)}
    keys.update(entry.path for entry in entries if entry.kind == "package")
    keys.update(_reached(view, direct))
    matching = direct | near | _belonging(view, request.target, located) | _linked(view, request.target, keys)
    found.ranked = ranked = Chosen(view, _ranked(view, matching, direct, near, request.kind))
    found.document_count, found.documents = _documents(prepared, keys, request.limit)
    if not (matching or entries or located.path is not None or read.is_id):
        found.guidance = unknown(view, request, read.spelling, read.spellings)
        return found
    said = [*read.said, *of_package(entries, request.target), *of_method(entries, request.target)]
    said += around(prepared, located)
    said += kind_missing(request.kind, len(matching), len(ranked))
    said += about_folders(view, located, entries, matching, request.kind)
    said += beyond(ranked.full(direct | near), keys, request.target)
    found.guidance = as_far_as_fits(said)
    return found


class _Read(NamedTuple):
    """How a target was read: as which path, whether as the id of an entry, what is to be said about it."""

    located: Located
    is_id: bool = False
    said: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()

    @property
    def spelling(self) -> str:
        """The form of the target to compare with names."""
        return self.located.spelling


def _locate(view: View, request: Request) -> _Read:
    """The target as a path, from the root or from the working folder; the id of an entry stands for its path.

    What the root has under exactly this name comes first; a target that begins with a dot is read from the folder.
    """
    target = request.target
    entry = view.prepared.by_id.get(target)
    if entry is not None:
        return _Read(Located(None if entry.kind == "package" else entry.path, None, target), is_id=True)
    found = locate(target, view.knows, request.root)
    spellings: tuple[str, ...] = (target, found.spelling)
    if not request.folder:
        return _Read(found, spellings=spellings)
    here = locate(target, view.knows, request.root, request.folder)
    spellings = (*spellings, here.spelling)
    if here.path is None and found.path is not None and is_relative(target):
        return _Read(found, said=(f"Read from the root: `{found.path or '.'}`.",), spellings=spellings)
    if here.path is None or here.path == found.path:
        return _Read(found, spellings=spellings)
    if is_relative(target) or (found.path is None and not _is_named(view, target)):
        return _Read(here, said=(f"Read from the working folder: `{here.path or '.'}`.",), spellings=spellings)
    if found.path is None:
        return _Read(found, spellings=spellings)
    other = f"Read from the root. The one in the working folder is `{here.path}`."
    return _Read(found, said=(other,), spellings=spellings)


def _is_named(view: View, target: str) -> bool:
    """Whether something has exactly this name."""
    prepared = view.prepared
    if target in view.by_name or target in view.by_symbol or target in view.cited_names:
        return True
    return prepared.package(target) is not None or bool(list(prepared.exporting(target)))


def _entries(prepared: PreparedIndex, target: str, located: Located) -> list[Entry]:
    """Step 5: entries with this id, this path, this exported name or, as packages, this name."""
    found = [*prepared.exporting(target), *prepared.by_path.get(target, ())]
    if target in prepared.by_id:
        found.append(prepared.by_id[target])
    elif (package := prepared.package(target)) is not None:
        found.append(package)
    if located.path is not None and located.path != target:
        found.extend(prepared.by_path.get(located.path, ()))
    return found


def _direct(view: View, target: str, located: Located) -> set[int]:
    """Step 4: entities of this id, name or alias, of this whole commit id, or with a region there (at these lines)."""
    spellings = {target, located.path or target}
    if COMMIT.fullmatch(target):
        spellings.add(f"{CHANGE}{target}")
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
    for entry, definition in view.prepared.definitions_at(located.path, located.lines):
        name = definition.name
        if name.partition(".")[0] in entry.symbols:
            found.update(view.cited_names.get(name, ()))
        for position in view.by_symbol.get(name, ()):
            if any(link.symbol == name and link.target == entry.id for link in view.entities[position].links):
                found.add(position)
    return found


def _path_keys(view: View, located: Located) -> Iterable[str]:
    """The path itself; for a directory also every path below it, of removed files too, and the entries there."""
    if located.path is None:
        return
    prepared = view.prepared
    below = prepared.paths_below(located.path)
    yield located.path
    yield from below
    if below:
        yield from view.touched_below(located.path)
    yield from (entry_id for path in below for entry_id in prepared.ids_at(path))


def _reached(view: View, direct: Iterable[int]) -> Iterable[str]:
    """Step 6: paths of the regions of direct entities, and the targets of their links, be they beyond the bound."""
    entities = [view.entities[position] for position in direct]
    for entity in entities:
        yield from (path for path, _ in regions(entity))
        yield from (link.target for link in entity.links if link.kind in FOLLOWED)
    for targets in view.beyond(entity.id for entity in entities).values():
        yield from targets
        at = (entry for target in targets for entry in view.prepared.by_path.get(target, ()))
        yield from (entry.id for entry in at if entry.kind != "document")


def _linked(view: View, target: str, keys: set[str]) -> set[int]:
    """Step 7: entities one link away from a key, or with the target as a link's symbol."""
    found = set(view.by_symbol.get(target, ()))
    return found.union(*map(view.by_link.__getitem__, view.by_link.keys() & keys))


def _ranked(view: View, matching: set[int], direct: set[int], near: set[int], kind: str | None) -> list[int]:
    """Step 8, and the order in which a limit keeps entities: direct ones, then by kind, then the newest commits."""

    def place(position: int) -> tuple[int, int]:
        return (0 if position in direct else 1 if position in near else 2, view.rank[position])

    return [position for position in sorted(matching, key=place) if kind is None or view.kinds[position] == kind]


# --- steps 9 to 13: the answer --------------------------------------------------------------------


def _documents(prepared: PreparedIndex, keys: set[str], limit: int) -> tuple[int, list[DocumentItem]]:
    """Step 11: how many documents cover or mention an entry among the keys, and the first of them, ascending."""
    citing: set[str] = set()
    citing.update(*map(prepared.citing.__getitem__, prepared.citing.keys() & keys))
    return len(citing), [_document(prepared, document, keys) for document in sorted(citing)[:limit]]


def _document(prepared: PreparedIndex, document: str, keys: set[str]) -> DocumentItem:
    """A document with the paths that led to it, each with the first line of its mention where that is known."""
    via: dict[str, int | None] = {}
    for entry_id, (place, line) in prepared.cited[document].items():
        if entry_id in keys or place in keys:
            path = place or entry_id
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
