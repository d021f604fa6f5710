"""From what documents and commits state to entities with links and evidence (reference 3.2 to 3.5, 4.1 to 4.4).

Links are exact: a cited token names a path or a symbol with one owner, or it links to nothing. What cannot be linked
but can be asked for (paths that exist no more, names with several owners, what is beyond the bounds of links and
aliases) is kept beside the entities.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from trivium.why.citations import Citations, Resolution, is_path
from trivium.why.model import (
    CHANGE,
    CONCEPT,
    DECISION,
    MAX_ALIASES,
    MAX_ENTITIES,
    MAX_EVIDENCE,
    MAX_LINKS,
    MAX_METADATA,
    MAX_NAME,
    Cite,
    CommitChange,
    CommitEvidence,
    Conventional,
    Document,
    DocumentRegion,
    Entity,
    Evidence,
    FactEvidence,
    History,
    Link,
    LinkKind,
    RawEntity,
    Resolver,
    compact,
)
from trivium.why.prepared import FOLLOWED
from trivium.why.reasons import Places
from trivium.why.records import Records

_KIND_ORDER = {DECISION: 0, CONCEPT: 1, CHANGE: 2}
_FACT_LINKS = ("affected-fact", "defines-symbol")


class LinkedEntities(Struct):
    """Entities ascending by id; `reasons` belong to the coverage scope `documents` (5), `places` tell where."""

    entities: list[Entity] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    places: Places = field(default_factory=Places)
    entities_by_path: dict[str, list[str]] = field(default_factory=dict)
    entities_by_name: dict[str, list[str]] = field(default_factory=dict)

    def keep(
        self, entity_id: str, links: Iterable[Link], names: Iterable[str], regions: Iterable[DocumentRegion]
    ) -> None:
        """Let an entity be found by links, names and documents that it has no room for (4.5)."""
        for link in links:
            if link.kind in FOLLOWED:
                self.entities_by_path.setdefault(link.target, []).append(entity_id)
                if link.symbol is not None:
                    self.entities_by_name.setdefault(link.symbol, []).append(entity_id)
        for name in names:
            self.entities_by_name.setdefault(name, []).append(entity_id)
        for region in regions:
            self.entities_by_path.setdefault(region.path, []).append(entity_id)


def link_entities(documents: Iterable[Document], resolver: Resolver) -> LinkedEntities:
    """Unites what documents state by id, resolves citations, symbols and supersessions, and bounds the result.

    The order of `documents` does not count: they are taken in path order. Where there are more than 10,000 entities
    decisions stay first, then concepts, then changes (`entity-limit`).
    """
    ordered = sorted(documents, key=lambda document: document.path)
    reasons = Places()
    for document in ordered:
        reasons.add_all(document.path, {code: document.reason_lines.get(code, 1) for code in document.reasons})
        reasons.add_all(document.beside or document.path, document.beside_reasons)
    drafts = _unite(ordered, reasons)
    _supersede(ordered, drafts, reasons)
    linked = LinkedEntities()
    citations = Citations(resolver)
    for draft in drafts.values():
        if draft.defines:
            _define(draft, resolver, reasons)
        for path, cite in draft.cites:
            _cite(draft, citations.resolve(cite, path), linked, reasons, (path, cite.line))
            if cite.kind == "code" and (package := resolver.package(cite.value.strip())) is not None:
                linked.entities_by_path.setdefault(package, []).append(draft.id)  # it leads there without a link
        linked.entities.append(draft.finish(linked, reasons))
    linked.entities.sort(key=lambda entity: entity.id)
    linked.reasons = sorted(reasons)
    linked.places = reasons
    linked.entities_by_path = _settled(linked.entities_by_path)
    linked.entities_by_name = _settled(linked.entities_by_name)
    return linked


class _Draft:
    """An entity under construction; links keep the order in which they were found until it is finished."""

    def __init__(self, raw: RawEntity) -> None:
        self.kind = raw.kind
        self.id = raw.id
        self.name = raw.name
        self.status = raw.status
        self.date = raw.date
        self.defines = raw.defines
        self.aliases: dict[str, None] = {}
        self.regions: dict[tuple[str, int, int], DocumentRegion] = {}
        self.cites: list[tuple[str, Cite]] = []
        self.links: dict[tuple[LinkKind, str, str | None], Link] = {}

    def add(self, raw: RawEntity) -> None:
        """One more observation: lists are united, the first status and date stay (3.4)."""
        self.status = self.status or raw.status
        self.date = self.date or raw.date
        self.defines = self.defines or raw.defines
        self.aliases.update(dict.fromkeys(raw.aliases))
        for region in (raw.region, raw.beside):
            if region is not None:
                self.regions.setdefault((region.path, region.line_start, region.line_end), region)
        self.cites.extend((raw.region.path, cite) for cite in raw.cites)

    def link(self, kind: LinkKind, target: str, symbol: str | None = None) -> None:
        key = (kind, target, symbol)
        if key not in self.links:
            self.links[key] = Link(kind, target, symbol)

    @property
    def place(self) -> tuple[str, int]:
        """Where it was stated first."""
        path, line, _ = next(iter(self.regions))
        return path, line

    def usable_aliases(self) -> list[str]:
        return [alias for alias in self.aliases if 0 < len(alias) <= MAX_NAME]

    def finish(self, linked: LinkedEntities, reasons: Places) -> Entity:
        """The entity within its bounds and in its order; `linked` keeps what is beyond them (3.5, 4.5)."""
        aliases = self.usable_aliases()
        if len(aliases) > MAX_ALIASES or len(aliases) < len(self.aliases):
            reasons.add("alias-limit", *self.place)
        links = list(self.links.values())
        if len(links) > MAX_LINKS:
            reasons.add("link-limit", *self.place)
        regions = list(self.regions.values())
        linked.keep(self.id, links[MAX_LINKS:], aliases[MAX_ALIASES:], regions[MAX_EVIDENCE:])
        evidence, links = _bounded(regions, links[:MAX_LINKS], reasons, *self.place)
        return Entity(
            schema_version=1,
            id=self.id,
            kind=self.kind,
            name=self.name,
            aliases=sorted(aliases[:MAX_ALIASES]),
            evidence=evidence,
            links=links,
            status=self.status,
            date=self.date,
        )


def _bounded(
    observed: list[DocumentRegion] | list[CommitEvidence],
    links: list[Link],
    reasons: Places,
    path: str | None = None,
    line: int = 1,
) -> tuple[list[Evidence], list[Link]]:
    """Evidence within its bound, observations before facts, and links; both in order (3.5)."""
    facts = dict.fromkeys(link.target for link in links if link.kind in _FACT_LINKS)
    evidence: list[Evidence] = [*observed, *map(FactEvidence, facts)]
    if len(evidence) > MAX_EVIDENCE:
        reasons.add("evidence-limit", path, line)
    return sorted(evidence[:MAX_EVIDENCE], key=compact), sorted(links, key=compact)


def _unite(documents: list[Document], reasons: Places) -> dict[str, _Draft]:
    drafts: dict[str, _Draft] = {}
    for document in documents:
        for raw in document.entities:
            drafts.setdefault(raw.id, _Draft(raw)).add(raw)
    if len(drafts) > MAX_ENTITIES:
        reasons.add("entity-limit")
        kept = sorted(drafts.values(), key=lambda draft: _KIND_ORDER[draft.kind])[:MAX_ENTITIES]
        drafts = {draft.id: draft for draft in kept}
    return drafts


def _supersede(documents: list[Document], drafts: dict[str, _Draft], reasons: Places) -> None:
    """Links both records whichever of them states the supersession; a target that is no record is reported (4.1)."""
    records = Records(documents)
    for document in documents:
        for raw in document.entities:
            for targets, forward in ((raw.supersedes, True), (raw.superseded_by, False)):
                for target in targets:
                    found = records.find(target, document.path)
                    if found is None or found == raw.id or found not in drafts or raw.id not in drafts:
                        reasons.add("unresolved-supersession", *_stating(raw, target))
                    else:
                        newer, older = (raw.id, found) if forward else (found, raw.id)
                        drafts[newer].link("supersedes", older)
                        drafts[older].link("superseded-by", newer)


def _stating(raw: RawEntity, target: str) -> tuple[str, int]:
    """The file and the line that state the target of a supersession."""
    if raw.beside is not None and target in raw.stated_beside:
        return raw.beside.path, raw.stated_beside[target]
    return raw.region.path, raw.stated.get(target, raw.region.line_start)


def _define(draft: _Draft, resolver: Resolver, reasons: Places) -> None:
    """A concept defines the symbol of its name or alias if these have exactly one owner together (4.2)."""
    owned = {name: resolver.owners(name) for name in dict.fromkeys((draft.name, *draft.usable_aliases()))}
    owners = {owner for found in owned.values() for owner in found}
    if len(owners) > 1:
        reasons.add("ambiguous-symbol", *draft.place)
    elif owners:
        for name, found in owned.items():
            if found:
                draft.link("defines-symbol", found[0], name)


def _cite(draft: _Draft, cited: Resolution, linked: LinkedEntities, reasons: Places, place: tuple[str, int]) -> None:
    for kind, target, symbol in cited.links:
        draft.link(kind, target, symbol)
    if cited.ambiguous is not None:
        reasons.add("ambiguous-symbol", *place)
        linked.entities_by_name.setdefault(cited.ambiguous, []).append(draft.id)
    if cited.gone is not None and draft.kind in (DECISION, CHANGE):
        linked.entities_by_path.setdefault(cited.gone, []).append(draft.id)


def _settled(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {key: sorted(set(found[key])) for key in sorted(found)}


# --- commits (reference 4.4) ----------------------------------------------------------------------


def change_entities(
    history: History, resolver: Resolver, room: int = MAX_ENTITIES
) -> tuple[list[Entity], dict[str, list[str]], list[str]]:
    """The window's commits as entities, the paths beyond their link bound to change ids, and reasons (scope `links`).

    `room` is how many entities the bound of 10,000 leaves; older commits give way (`entity-limit`).
    """
    reasons = Places()
    beyond: dict[str, list[str]] = {}
    commits = history.commits
    if len(commits) > room:
        reasons.add("entity-limit")
    entities = [_change(commit, resolver, beyond, reasons) for commit in commits[: max(room, 0)]]
    return sorted(entities, key=lambda entity: entity.id), _settled(beyond), sorted(reasons)


def change_id(sha: str) -> str:
    """The id of the change that a commit is."""
    return f"knowledge-change:{sha}"


def _change(commit: CommitChange, resolver: Resolver, beyond: dict[str, list[str]], reasons: Places) -> Entity:
    entity_id = change_id(commit.sha)
    links: list[Link] = []
    for path in sorted({path for path in commit.paths if is_path(path)}):
        entry = resolver.entry_at(path)
        found = [Link("affected-path", path)]
        if entry is not None and entry.kind != "document":
            found.append(Link("affected-fact", entry.id))
        kept = found[: MAX_LINKS - len(links)]
        links += kept
        if len(kept) < len(found):
            reasons.add("link-limit")
            beyond.setdefault(path, []).append(entity_id)
    evidence, links = _bounded([CommitEvidence(commit.sha)], links, reasons)
    return Entity(
        schema_version=1,
        id=entity_id,
        kind="change",
        name=commit.subject.strip()[:MAX_NAME].strip() or entity_id,
        aliases=[],
        evidence=evidence,
        links=links,
        date=commit.date or None,
        conventional=_conventional(commit.conventional),
    )


def _conventional(stated: Conventional | None) -> Conventional | None:
    if stated is None or len(stated.type) > MAX_METADATA or len(stated.scope or "") > MAX_METADATA:
        return None
    return stated
