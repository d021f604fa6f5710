"""Index objects built by hand for the tests of `why`: small builders, and the worked example of the reference (15)."""

from __future__ import annotations

from typing import Any

from trivium.why.model import (
    CommitEvidence,
    Coverage,
    Definition,
    DocumentRegion,
    Entity,
    Entry,
    Evidence,
    FactEvidence,
    Index,
    Link,
    MemoryEvidence,
    MemoryRelation,
    Mention,
    sha256,
)

HASH = "0" * 64


def region(path: str, first: int = 1, last: int = 9, text: str = "") -> DocumentRegion:
    return DocumentRegion(path=path, line_start=first, line_end=last, region_hash=sha256(text.encode()))


def entity(
    kind: Any,
    name: str,
    *evidence: Evidence,
    id: str | None = None,
    aliases: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    facts: tuple[str, ...] = (),
    links: tuple[Link, ...] = (),
    **rest: Any,
) -> Entity:
    found = [Link(kind="affected-path", target=path) for path in paths]
    found += [Link(kind="affected-fact", target=fact) for fact in facts]
    return Entity(
        schema_version=1,
        id=id or f"knowledge-{kind}:{name}",
        kind=kind,
        name=name,
        aliases=list(aliases),
        evidence=list(evidence) or [region(f"docs/{kind}.md")],
        links=[*found, *links],
        **rest,
    )


def commit(number: int, *paths: str, date: str = "2026-01-01", facts: tuple[str, ...] = ()) -> Entity:
    sha = f"{number:040x}"
    name = f"Commit {number}"
    return entity(
        "change", name, CommitEvidence(sha=sha), id=f"knowledge-change:{sha}", paths=paths, facts=facts, date=date
    )


def entry(kind: Any, path: str, *symbols: str, id: str | None = None, **rest: Any) -> Entry:
    return Entry(id=id or f"{kind}:{path}", kind=kind, path=path, content_hash=HASH, symbols=list(symbols), **rest)


def module(path: str, *symbols: str, **rest: Any) -> Entry:
    return entry("module", path, *symbols, **rest)


def defined(name: str, first: int, last: int) -> Definition:
    return Definition(name=name, line_start=first, line_end=last)


def relation(target: str, candidate: str = "note", value: str = "Cache", **rest: Any) -> MemoryRelation:
    proof = MemoryEvidence(kind="alias", value=value, fact_hash=HASH, **rest)
    return MemoryRelation(kind="memory-supports", candidate_id=candidate, target=target, evidence=proof)


COVERAGE = [
    Coverage(analyzer="knowledge-entities", scope="documents", status="complete"),
    Coverage(
        analyzer="knowledge-entities", scope="git:first-parent", status="not-analyzed", reason="There is no repository."
    ),
]


def index(*entries: Entry, entities: list[Entity] | None = None, paths: tuple[str, ...] = (), **rest: Any) -> Index:
    return Index(
        format_version=1,
        index_hash=HASH,
        entries=list(entries),
        paths=sorted({*paths, *(e.path for e in entries if e.kind in {"module", "document"})}),
        entities=[] if entities is None else entities,
        coverage=list(rest.pop("coverage", COVERAGE)),
        **rest,
    )


# --- the worked example ---------------------------------------------------------------------------

FILES = {
    "src/cache.ts": "export class Cache {}\n",
    "docs/adr/0001-fifo.md": (
        "---\nstatus: superseded\nsuperseded-by: 0002-lru.md\n---\n\n# Evict in order of arrival\n\nOld rule.\n"
    ),
    "docs/adr/0002-lru.md": (
        "---\nstatus: accepted\ndate: 2026-02-03\nsupersedes: 0001-fifo.md\n---\n\n# Evict the least recently used\n\n"
        "`Cache` in `src/cache.ts` drops what was not asked for longest.\n"
    ),
    "docs/cache.md": "---\ntype: concept\naliases: [Cache]\n---\n\n# Lookup cache\n\nKeeps answers near.\n",
    "docs/guide.md": "# Guide\n\nUse `Cache`.\n",
    "CHANGELOG.md": "# Changes\n\n## 1.1.0\n\n- Evict by last use in `src/cache.ts`.\n",
}
MODULE = "module:src/cache.ts"
CHANGE_ID = "knowledge-change:CHANGELOG.md:Evict by last use in src/cache.ts.:1.1.0"
CONCEPT_ID = "knowledge-concept:Lookup cache"
FIFO_ID = "knowledge-decision:docs/adr/0001-fifo.md:Evict in order of arrival"
LRU_ID = "knowledge-decision:docs/adr/0002-lru.md:Evict the least recently used"


def _whole(path: str) -> DocumentRegion:
    text = FILES[path]
    return region(path, 1, text.count("\n"), text)


def worked_example(mentions: bool = False) -> Index:
    """The six files of reference 15 as an index; with `mentions` it also knows the lines of mentions."""
    fact = FactEvidence(fact_id=MODULE)
    path, at_path = Link(kind="affected-path", target="src/cache.ts"), Link(kind="affected-fact", target=MODULE)
    lines = FILES["CHANGELOG.md"].splitlines(keepends=True)
    entities = [
        entity(
            "decision",
            "Evict the least recently used",
            _whole("docs/adr/0002-lru.md"),
            fact,
            id=LRU_ID,
            links=(
                at_path,
                Link(kind="affected-fact", target=MODULE, symbol="Cache"),
                path,
                Link(kind="supersedes", target=FIFO_ID),
            ),
            status="accepted",
            date="2026-02-03",
        ),
        entity(
            "decision",
            "Evict in order of arrival",
            _whole("docs/adr/0001-fifo.md"),
            id=FIFO_ID,
            links=(Link(kind="superseded-by", target=LRU_ID),),
            status="superseded",
        ),
        entity(
            "concept",
            "Lookup cache",
            _whole("docs/cache.md"),
            fact,
            aliases=("Cache",),
            links=(Link(kind="defines-symbol", target=MODULE, symbol="Cache"),),
        ),
        entity(
            "change",
            "Evict by last use in src/cache.ts.",
            region("CHANGELOG.md", 5, 5, lines[4]),
            fact,
            id=CHANGE_ID,
            links=(at_path, path),
        ),
    ]
    citing = {"CHANGELOG.md": 5, "docs/adr/0002-lru.md": 9, "docs/guide.md": 3}
    entries = [entry("document", path) for path in FILES if path.endswith(".md")]
    entries.append(module("src/cache.ts", "Cache", mentioned_by=[f"document:{path}" for path in citing]))
    for one in entries:
        one.content_hash = sha256(FILES[one.path].encode())
    found = [Mention(entry=MODULE, document=f"document:{path}", line=line) for path, line in citing.items()]
    return index(*entries, entities=entities, mentions=found if mentions else [])
