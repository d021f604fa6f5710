"""What is said beside the answers of `why`: close names, folders to ask for, what the answer is about (reference 7)."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence

from trivium.why.model import MAX_LINKS, Entity, Entry
from trivium.why.prepared import PreparedIndex, View, dotted
from trivium.why.request import Request
from trivium.why.response import MAX_GUIDANCE
from trivium.why.suggest import MAX_SUGGESTIONS, rewritten, suggestions
from trivium.why.target import CHANGE, COMMIT, Located, locate

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
_ANY_COMMIT = re.compile(r"[0-9A-Fa-f]{4,64}")
_ABBREVIATED = re.compile(r"(?=.*[0-9])(?:[0-9A-Fa-f]{7,64})")
_NUMBERED = re.compile(r"(?:(?i:adrs?|decision|rfc|dr|madr|pep|record)[-_ #]*|#)?0*([1-9][0-9]{0,5})")
_PACKAGE_SIGNS = re.compile(r"\.|::|\\")
_MAX_FOLDERS = _MAX_GONE = 3
_MAX_LOOKED = 200
"""Names with the words of a target that are looked at."""


def unknown(view: View, request: Request, spelling: str, spellings: Sequence[str]) -> list[str]:
    """For a target that nothing has: names close to it, commits that begin so, how to search for words."""
    names = view.askable
    read = dict.fromkeys((spelling, request.target))
    written = next(filter(None, (rewritten(names, text) for text in read)), [])
    meant = [*_commits(view, request.target), *_records(view, request.target), *_inner(view, request.target), *written]
    folders = dict.fromkeys((spelling, _PACKAGE_SIGNS.sub("/", request.target)))
    meant += next(filter(None, (_folders(view, folder) for folder in folders)), [])
    close = [*meant, *suggestions(names, spellings)] or _about(view, request.target)
    shown = list(dict.fromkeys(close))[:MAX_SUGGESTIONS]
    said = _gone_folder(view, spelling) or _suggested(shown) or _wrong_lines(view, request)
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
    start = f"{CHANGE}{target.lower()}"
    ids = (view.ids[place] for place in range(bisect_left(view.ids, start), len(view.ids)))
    alike = (found.removeprefix(CHANGE) for found in itertools.takewhile(lambda found: found.startswith(start), ids))
    return [sha for sha in alike if COMMIT.fullmatch(sha)][:MAX_SUGGESTIONS]


def _records(view: View, target: str) -> list[str]:
    """The records of decisions that have the number which a target such as `ADR-12` names."""
    asked = _NUMBERED.fullmatch(target)
    if asked is None:
        return []
    named = re.compile(rf"(?:.*/)?(?:[A-Za-z]+[-_]?)?0*{asked[1]}(?:[-_. ].*)?\.[a-z]+")
    decided = (path for path, at in view.by_region.items() if any(view.kinds[place] == "decision" for place, _ in at))
    return sorted(path for path in decided if named.fullmatch(path))


def as_far_as_fits(said: Iterable[str]) -> list[str]:
    """Sentences as far as guidance has room for them."""
    kept: list[str] = []
    for text in said:
        if sum(map(len, kept)) + len(kept) + len(text) <= MAX_GUIDANCE - _ROOM_FOR_BUDGET:
            kept.append(text)
    return kept


def kind_missing(kind: str | None, matching: int, shown: int) -> list[str]:
    """That there are entities of other kinds; nothing is denied but what was looked for."""
    if kind is None or not matching or shown:
        return []
    count = f"is {matching} entity" if matching == 1 else f"are {matching} entities"
    return [f"{KIND_MISSING} {kind} is linked to this target; without the kind there {count}."]


def about_folders(
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


def beyond(full: Iterable[Entity], keys: set[str], target: str) -> list[str]:
    """How many of the entities that have no room for more links lead here by links for which they had none."""
    count = 0
    for entity in full:
        count += not any(link.target in keys or link.symbol == target for link in entity.links)
    if not count:
        return []
    one = "One entity names" if count == 1 else f"{count} entities name"
    return [f"{one} this target beyond the {MAX_LINKS} links that an entity holds."]


def of_package(entries: list[Entry], target: str) -> list[str]:
    """Of a package asked by its name or id: its manifest, and how to ask for all of its files."""
    for entry in entries:
        if entry.kind == "package" and target in (entry.id, entry.title):
            folder = entry.path.rpartition("/")[0] or "."
            return [f"This is the package of `{entry.path}`. To ask for all that lies in it: `{folder}`."]
    return []


def of_method(entries: Iterable[Entry], target: str) -> list[str]:
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


def around(prepared: PreparedIndex, located: Located) -> list[str]:
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
        for _, definition in prepared.definitions_at(located.path, located.lines)
        if definition.line_start <= first and definition.line_end >= last
    ]
    if not around:
        return []
    length, start, name = min(around)
    asked = f"Line {first} of {located.path} lies" if first == last else f"Lines {first}-{last} of {located.path} lie"
    return [f"{asked} in `{name}` (lines {start}-{start + length}); links are to the whole file."]
