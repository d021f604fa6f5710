"""`knowledge_why`: what is recorded about a target, exactly and with its evidence (Knowledge query v1, reference 7).

The steps, each one function: check the request → locate the target → direct entities → keys → matching entities →
documents → cut to the limit → budget. Nothing is inferred, and no file, process or socket is used.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import msgspec

from trivium.code.model import Definition
from trivium.errors import TriviumError
from trivium.why.budget import with_budget
from trivium.why.model import (
    MAX_LINKS,
    Coverage,
    DocumentItem,
    Entity,
    Entry,
    Index,
    MemoryRelation,
    Response,
)
from trivium.why.prepared import FOLLOWED, Chosen, PreparedIndex, Profile, View, dotted, regions, relation_order
from trivium.why.response import MAX_BUDGET, MAX_GUIDANCE, MAX_RESULTS, MAX_TARGET, to_dict
from trivium.why.suggest import MAX_SUGGESTIONS, rewritten, suggestions
from trivium.why.target import Located, is_relative, locate

KINDS = ("decision", "concept", "change")
DEFAULT_LIMIT = 20
HISTORY_SCOPE = "git:first-parent"
DISABLED = (
    "This index was built without knowledge entities. Set index.knowledgeEntities.enabled to true and build the index "
    "again (`trivium index`, or `ak-docs index`). A restricted service cannot do this itself: give it a stored index "
    "that holds entities."
)
DISABLED_SERVICE = (
    "The restricted profile has no knowledge entities here: it switches them off and builds no index of its own. Where "
    "the repository may be read, set index.knowledgeEntities.enabled to true and build the index again; then give the "
    "service this stored index."
)
NOT_FOUND = "Nothing here has exactly this id, name, path or symbol."
"""How guidance begins that tells close names."""
KIND_MISSING = "Among what was read no"
"""How guidance begins that tells that there are entities of other kinds only."""
_MAX_WORDS = 96
"""Characters of a target that are searched for as words."""
_ROOM_FOR_BUDGET = 96
"""Characters of guidance that are left for what the budget has to say."""
_CHANGE = "knowledge-change:"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ANY_COMMIT = re.compile(r"[0-9A-Fa-f]{4,64}")
_ABBREVIATED = re.compile(r"(?=.*[0-9])(?:[0-9A-Fa-f]{7,64})")
_NUMBERED = re.compile(r"(?:(?i:adrs?|decision|rfc|dr|madr|pep|record)[-_ #]*|#)?0*([1-9][0-9]{0,5})")
_PACKAGE_SIGNS = re.compile(r"\.|::|\\")
_MAX_FOLDERS = _MAX_GONE = 3
_MAX_LOOKED = 200
"""Names with the words of a target that are looked at."""
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
    folder: str = ""


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
            argument,
            f"must be a whole number from 1 to {most:,}",
            f"For example {DEFAULT_LIMIT if most == MAX_RESULTS else 4_000}; or leave it out.",
        )
    return value


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
        found.guidance = _unknown(view, request, read)
        return found
    said = [*read.said, *_package(entries, request.target), *_method(entries, request.target)]
    said += _around(prepared, located)
    said += _kind_missing(found, len(matching))
    said += _about_folders(view, located, entries, matching, request.kind)
    said += _beyond(ranked.full(direct | near), keys, request.target)
    found.guidance = _within(said)
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
    if _COMMIT.fullmatch(target):
        spellings.add(f"{_CHANGE}{target}")
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


# --- guidance -------------------------------------------------------------------------------------


def _unknown(view: View, request: Request, read: _Read) -> list[str]:
    """For a target that nothing has: names close to it, commits that begin so, how to search for words."""
    names = view.askable
    written = rewritten(names, read.spelling) or rewritten(names, request.target)
    meant = [*_commits(view, request.target), *_records(view, request.target), *_inner(view, request.target), *written]
    meant += _folders(view, read.spelling) or _folders(view, _PACKAGE_SIGNS.sub("/", request.target))
    close = [*meant, *suggestions(names, read.spellings)] or _about(view, request.target)
    shown = list(dict.fromkeys(close))[:MAX_SUGGESTIONS]
    said = _gone_folder(view, read.spelling) or _suggested(shown) or _wrong_lines(view, request)
    if request.profile == "service":
        return said
    if not said and _ABBREVIATED.fullmatch(request.target):
        said = ["No commit that was read has an id that is or begins so."]
    return [*said, *_words(request.target)]


def _inner(view: View, target: str) -> list[str]:
    """The places of a name that files define and do not export by it, as `src/x.tsx:3`; none when they are too many."""
    entries = view.prepared.by_inner.get(target, ())
    if len(entries) > MAX_SUGGESTIONS:
        return []
    end = f".{target}"
    lines = ((e.path, min(d.line_start for d in e.definitions if f".{d.name}".endswith(end))) for e in entries)
    return [f"{path}:{line}" for path, line in sorted(lines)]


def _folders(view: View, end: str) -> list[str]:
    """The folders whose last parts are these, as those of a package are (`org/acme`); none when they are too many."""
    inside = f"/{end.strip('/')}/"
    if len(inside) <= len("/./"):
        return []
    ends = {path[: at + len(inside) - 1] for path in view.prepared.paths if (at := path.find(inside)) > 0}
    return sorted(ends) if len(ends) <= MAX_SUGGESTIONS else []


def _about(view: View, target: str) -> list[str]:
    """The names that hold the words of a target: of decisions, else of concepts, else of a few changes."""
    found = view.askable.holding(target)
    by_kind: dict[str, list[str]] = {}
    for name in found[:_MAX_LOOKED]:
        for kind in {view.kinds[place] for place in view.by_name.get(name, ())}:
            by_kind.setdefault(kind, []).append(name)
    changes = by_kind.get("change", [])
    few = changes if len(changes) <= MAX_SUGGESTIONS else []
    return by_kind.get("decision") or by_kind.get("concept") or few


def _gone_folder(view: View, path: str) -> list[str]:
    """That commits touched what lay below a folder which is no more, and what to ask for."""
    touched = list(view.touched_below(path)) if path else []
    if not touched:
        return []
    rest = len(touched) - _MAX_GONE
    shown = ", ".join(f"`{name}`" for name in touched[:_MAX_GONE]) + (f" and {rest:,} more" if rest > 0 else "")
    told = f"{NOT_FOUND} Commits touched what lay in a folder `{path}`, to ask for instead: {shown}."
    return [told] if len(told) <= MAX_GUIDANCE else []


def _wrong_lines(view: View, request: Request) -> list[str]:
    """How lines are written, when what stands before the last colon is a path."""
    start, colon, _ = request.target.rpartition(":")
    path = locate(start, view.knows, request.root).path if colon else None
    return [f"There is `{path}`; its lines are written `{path}:12` or `{path}:3-9`."] if path else []


def _commits(view: View, target: str) -> list[str]:
    """The ids of the commits that begin with an abbreviated one."""
    if not _ANY_COMMIT.fullmatch(target):
        return []
    start = f"{_CHANGE}{target.lower()}"
    ids = (view.ids[place] for place in range(bisect_left(view.ids, start), len(view.ids)))
    alike = (found.removeprefix(_CHANGE) for found in itertools.takewhile(lambda found: found.startswith(start), ids))
    return [sha for sha in alike if _COMMIT.fullmatch(sha)][:MAX_SUGGESTIONS]


def _records(view: View, target: str) -> list[str]:
    """The records of decisions that have the number which a target such as `ADR-12` names."""
    asked = _NUMBERED.fullmatch(target)
    if asked is None:
        return []
    named = re.compile(rf"(?:.*/)?(?:[A-Za-z]+[-_]?)?0*{asked[1]}(?:[-_. ].*)?\.[a-z]+")
    decided = (path for path, at in view.by_region.items() if any(view.kinds[place] == "decision" for place, _ in at))
    return sorted(path for path in decided if named.fullmatch(path))


def _within(said: Iterable[str]) -> list[str]:
    """Sentences as far as guidance has room for them."""
    kept: list[str] = []
    for text in said:
        if sum(map(len, kept)) + len(kept) + len(text) <= MAX_GUIDANCE - _ROOM_FOR_BUDGET:
            kept.append(text)
    return kept


def _kind_missing(found: Found, matching: int) -> list[str]:
    """That there are entities of other kinds; nothing is denied but what was looked for."""
    kind = found.request.kind
    if kind is None or not matching or found.ranked:
        return []
    count = f"is {matching} entity" if matching == 1 else f"are {matching} entities"
    return [f"{KIND_MISSING} {kind} is linked to this target; without the kind there {count}."]


def _about_folders(
    view: View, located: Located, entries: Iterable[Entry], matching: Collection[int], kind: str | None
) -> list[str]:
    """The folders around what was asked for about which decisions are recorded that are not in this answer."""
    if kind not in (None, "decision"):
        return []
    asked = {entry.path for entry in entries if entry.kind != "package"} | ({located.path} if located.path else set())
    folders = {"/".join(parts[:end]) for parts in (path.split("/") for path in asked) for end in range(1, len(parts))}
    about = [
        folder
        for folder in sorted(folders - asked, key=lambda folder: (-folder.count("/"), folder))
        if any(view.kinds[at] == "decision" and at not in matching for at in view.by_link.get(folder, ()))
    ][:_MAX_FOLDERS]
    if not about:
        return []
    return [f"Decisions are recorded about {' and '.join(f'`{folder}`' for folder in about)}, to ask for by that name."]


def _beyond(full: Iterable[Entity], keys: set[str], target: str) -> list[str]:
    """How many of the entities that have no room for more links lead here by links for which they had none."""
    count = 0
    for entity in full:
        count += not any(link.target in keys or link.symbol == target for link in entity.links)
    if not count:
        return []
    one = "One entity names" if count == 1 else f"{count} entities name"
    return [f"{one} this target beyond the {MAX_LINKS} links that an entity holds."]


def _package(entries: list[Entry], target: str) -> list[str]:
    """Of a package asked by its name or id: its manifest, and how to ask for all of its files."""
    for entry in entries:
        if entry.kind == "package" and target in (entry.id, entry.title):
            folder = entry.path.rpartition("/")[0] or "."
            return [f"This is the package of `{entry.path}`. To ask for all that lies in it: `{folder}`."]
    return []


def _method(entries: Iterable[Entry], target: str) -> list[str]:
    """Of a method, where it is: what is recorded is linked to files, so the answer is about more than the method."""
    name = dotted(target)
    places: dict[str, str] = {}
    for entry in entries if "." in name else ():
        for found in entry.definitions:
            if "." in found.name and f".{name}".endswith(f".{found.name}"):
                name = found.name
                places.setdefault(f"`{entry.path}`", f"`{entry.path}` (line {found.line_start})")
    if not places:
        return []
    shown = list(places.values())[:_MAX_FOLDERS]
    more = f" and {len(places) - len(shown)} more" if len(places) > len(shown) else ""
    whole = "the whole file" if len(places) == 1 else "these whole files"
    return [f"`{name}` is in {', '.join(shown)}{more}; this answer is about {whole}."]


def _suggested(names: list[str]) -> list[str]:
    start = f"{NOT_FOUND} Close to it, to ask for instead: "
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
    """Which definition holds the asked lines, the smallest around all of them; or that the file has no such line."""
    if located.lines is None:
        return []
    first, last = located.lines
    length = max((entry.line_count or 0 for entry in prepared.by_path.get(located.path or "", ())), default=0)
    if 0 < length < last:
        ends = f"`{located.path}` ends at line {length:,}"
        return [f"{ends}." if first <= length else f"{ends}; this answer is about the whole file."]
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
