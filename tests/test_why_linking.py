"""Links, facts, supersession, union and bounds of entities, and commits (knowledge query reference 3, 4.1 to 4.5)."""

from __future__ import annotations

import random

import pytest

from tests.why_documents import Files, read
from trivium.why.linking import LinkedEntities, change_entities, link_entities
from trivium.why.model import (
    CommitChange,
    CommitEvidence,
    Conventional,
    Coverage,
    DocumentRegion,
    Entity,
    FactEvidence,
    History,
    Link,
    RawEntity,
    canonical,
    compact,
)

FILES = Files(
    {
        "src/cache.ts": ["Cache", "Shared", "evict"],
        "src/store.ts": ["Store", "Shared"],
        "src/deep/part.py": ["Part", "Part.run"],
        "docs/tool.py": ["tool"],
    },
    others=["Makefile", "db/schema.sql", "docs/guide.md", "docs/adr/0001-a.md"],
    areas=["src/deep"],
)


def link(texts: dict[str, str], files: Files = FILES) -> LinkedEntities:
    linked = link_entities([read(path, text) for path, text in texts.items()], files)
    for entity in linked.entities:
        check(entity)
    return linked


def check(entity: Entity) -> None:
    """What holds of every entity: order, bounds, and facts that links point to (3.1, 3.2, 3.5)."""
    assert entity.aliases == sorted(set(entity.aliases))
    assert [compact(item) for item in entity.evidence] == sorted({compact(item) for item in entity.evidence})
    assert [compact(item) for item in entity.links] == sorted({compact(item) for item in entity.links})
    assert len(entity.aliases) <= 32
    assert 1 <= len(entity.evidence) <= 64
    assert len(entity.links) <= 64
    targets = {item.target for item in entity.links if item.kind in ("affected-fact", "defines-symbol")}
    assert {item.fact_id for item in entity.evidence if isinstance(item, FactEvidence)} <= targets


def links_of(entity: Entity) -> list[tuple[str, str, str | None]]:
    return [(item.kind, item.target, item.symbol) for item in entity.links]


def cited(token: str, path: str = "docs/adr/0002-b.md") -> list[tuple[str, str, str | None]]:
    return links_of(link({path: f"# A\n\n{token}\n"}).entities[0])


# --- citations (3.3, 4.1) -------------------------------------------------------------------------

CACHE = [("affected-fact", "module:src/cache.ts", None), ("affected-path", "src/cache.ts", None)]


@pytest.mark.parametrize(
    "token",
    [
        "`src/cache.ts`",
        "`src/cache.ts:12`",
        "`src/cache.ts:12-20`",
        "[x](../../src/cache.ts)",
        "[x](../../src/cache.ts#L3)",
        "[x](/src/cache.ts)",
        "`../../src/cache.ts`",
    ],
)
def test_a_cited_module_is_an_affected_path_and_fact(token: str) -> None:
    assert cited(token) == CACHE


def test_other_citations() -> None:
    assert cited("`src/deep`") == [("affected-fact", "area:src/deep", None), ("affected-path", "src/deep", None)]
    assert cited("`Makefile`") == [("affected-path", "Makefile", None)]
    assert cited("[schema](../../db/schema.sql)") == [("affected-path", "db/schema.sql", None)]
    assert cited("`Cache`") == [("affected-fact", "module:src/cache.ts", "Cache")]
    assert cited("`evict()`") == [("affected-fact", "module:src/cache.ts", "evict")]
    assert cited("`Part.run`") == [("affected-fact", "module:src/deep/part.py", "Part.run")]


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ("`Cache<T>`", "Cache"),
        ("`new Cache()`", "Cache"),
        ("`new Cache<K, V>(size)`", "Cache"),
        ("`<Cache size={3} />`", "Cache"),
        ("`evict(key, 3)`", "evict"),
        ("`class Cache`", "Cache"),
        ("`&Cache{}`", "Cache"),
        ("`(*Cache)`", None),
        ("`evict!`", "evict"),
        ("`evict?()`", "evict"),
        ("`src/cache.ts::Cache`", "Cache"),
        ("`src/cache.ts::evict()`", "evict"),
        ("`src/cache.ts::Store`", None),
        ("`evict then store`", None),
        ("`evict = 3`", None),
        ("`if (Cache) { evict() }`", None),
    ],
)
def test_what_code_writes_around_a_name_is_no_part_of_it(token: str, name: str | None) -> None:
    assert cited(token) == ([] if name is None else [("affected-fact", "module:src/cache.ts", name)])


def test_a_form_around_a_name_with_several_owners_is_told() -> None:
    assert cited("`new Shared()`") == []


@pytest.mark.parametrize(
    "token",
    [
        "`cache`",
        "`Cach`",
        "`docs/guide.md`",
        "[g](../guide.md)",
        "`src/none.ts`",
        "[x](https://example.org/src/cache.ts)",
        "[x](../../../../etc/passwd)",
        "`../../../../etc/passwd`",
        "[Cache](#cache)",
        "Cache",
        "```\n`Cache`\n```",
    ],
)
def test_what_is_not_linked(token: str) -> None:
    assert cited(token) == []


GNU_FILES = Files(
    {"lib/a.c": ["f", "main"], "src/a.c": ["g"], "cmd/main.c": ["main"], "a.c": ["f"]},
    others=["lib/Makefile", "Makefile", "lib/README.md"],
)
GNU_LINKS = {
    "a.c (f, none): x": [
        ("affected-fact", "module:lib/a.c", "f"),
        ("affected-fact", "module:lib/a.c", None),
        ("affected-path", "lib/a.c", None),
    ],
    "a.c (main): x": [
        ("affected-fact", "module:lib/a.c", "main"),
        ("affected-fact", "module:lib/a.c", None),
        ("affected-path", "lib/a.c", None),
    ],
    "src/a.c (f): x": [("affected-fact", "module:src/a.c", None), ("affected-path", "src/a.c", None)],
    "Makefile: x": [("affected-path", "lib/Makefile", None)],
    "README.md: x": [],
    "gone.c (f): x": [],
    "main.c: x": [],
}


@pytest.mark.parametrize("entry", GNU_LINKS)
def test_entries_of_a_gnu_change_log_link_to_the_file_beside_it_and_to_what_it_defines(entry: str) -> None:
    linked = link({"lib/ChangeLog": f"2024-01-02  A Person  <a@example.org>\n\n\t* {entry}\n"}, GNU_FILES)
    (change,) = linked.entities
    assert links_of(change) == GNU_LINKS[entry]
    gone = {"lib/gone.c": [change.id]} if entry.startswith("gone") else {}
    gone |= {"lib/main.c": [change.id]} if entry.startswith("main") else {}
    assert (linked.entities_by_path, linked.entities_by_name) == (gone, {})


def test_a_path_is_tried_from_the_root_before_the_document() -> None:
    files = Files({"src/a.py": [], "docs/src/a.py": []})
    (entity,) = link({"docs/adr.md": "## Decision\n\n`src/a.py`\n"}, files).entities
    assert ("affected-path", "src/a.py", None) in links_of(entity)
    (relative,) = link({"docs/b.md": "## Decision\n\n`tool.py`\n"}).entities
    assert ("affected-path", "docs/tool.py", None) in links_of(relative)


def test_a_name_with_several_owners_links_nothing_but_is_kept_by_name() -> None:
    linked = link({"docs/adr/1.md": "# A\n\n`Shared`\n", "CHANGELOG.md": "## 1.0\n\n- b `Shared`\n"})
    assert [entity.links for entity in linked.entities] == [[], []]
    assert linked.reasons == ["ambiguous-symbol"]
    assert linked.entities_by_name == {
        "Shared": ["knowledge-change:CHANGELOG.md:b Shared:1.0", "knowledge-decision:docs/adr/1.md:A"]
    }


def test_paths_that_are_gone_are_kept_by_path() -> None:
    linked = link(
        {
            "docs/adr/1.md": "# A\n\n`src/old.ts` `src/old.ts:3`\n"
            "[x](../../lib/gone.py#L2) `./near.py` `x y/z` `Cache`\n",
            "CHANGELOG.md": "## 1.0\n\n- Drop `old.cfg`\n",
            "docs/c.md": "---\ntype: concept\n---\n# C\n\n`src/other.ts`\n",
        }
    )
    assert linked.entities_by_path == {
        "docs/adr/near.py": ["knowledge-decision:docs/adr/1.md:A"],
        "lib/gone.py": ["knowledge-decision:docs/adr/1.md:A"],
        "old.cfg": ["knowledge-change:CHANGELOG.md:Drop old.cfg:1.0"],
        "src/old.ts": ["knowledge-decision:docs/adr/1.md:A"],
    }


# --- symbols of concepts (4.2) --------------------------------------------------------------------


def concept(front: str, title: str = "Lookup cache") -> LinkedEntities:
    return link({"docs/c.md": f"---\ntype: concept\n{front}\n---\n# {title}\n"})


def test_a_concept_defines_the_symbol_with_one_owner() -> None:
    (entity,) = concept("aliases: [Cache]").entities
    assert links_of(entity) == [("defines-symbol", "module:src/cache.ts", "Cache")]
    assert FactEvidence("module:src/cache.ts") in entity.evidence
    assert links_of(concept("", "Store").entities[0]) == [("defines-symbol", "module:src/store.ts", "Store")]


@pytest.mark.parametrize("aliases", ["[Shared]", "[Cache, Store]"])
def test_several_owners_together_define_nothing(aliases: str) -> None:
    linked = concept(f"aliases: {aliases}")
    assert (linked.entities[0].links, linked.reasons) == ([], ["ambiguous-symbol"])


def test_one_name_in_two_documents_is_one_concept() -> None:
    linked = link(
        {
            "docs/a.md": "---\ntype: concept\naliases: [b]\n---\n# Term\n\n`Cache`\n",
            "glossary.md": "# Glossary\n\n## Term\n\n`Store`\n",
        }
    )
    (entity,) = linked.entities
    assert [item.path for item in entity.evidence if isinstance(item, DocumentRegion)] == ["docs/a.md", "glossary.md"]
    assert {item.target for item in entity.links} == {"module:src/cache.ts", "module:src/store.ts"}
    assert entity.aliases == ["b"]


def test_the_first_status_stays_when_observations_unite() -> None:
    documents = [read("docs/adr/1.md", "# A\n\nStatus: one\n")]
    second = read("docs/adr/2.md", "# A\n\nStatus: two\nDate: d\n")
    second.entities[0].id = documents[0].entities[0].id
    (entity,) = link_entities([second, *documents], FILES).entities
    assert (entity.status, entity.date, len(entity.evidence)) == ("one", "d", 2)


# --- supersession (4.1) ---------------------------------------------------------------------------


def superseding(texts: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """Per file name, the supersession links with the file names of their targets."""
    linked = link({f"docs/adr/{name}.md": f"# {name}\n\n{text}\n" for name, text in texts.items()})
    return {
        entity.name: [(item.kind, item.target.rsplit(":", 1)[1]) for item in entity.links if "supersede" in item.kind]
        for entity in linked.entities
    } | ({"reasons": [(reason, "") for reason in linked.reasons]} if linked.reasons else {})


BOTH = {"0001-a": [("superseded-by", "0002-b")], "0002-b": [("supersedes", "0001-a")]}


@pytest.mark.parametrize(
    "texts",
    [
        {"0001-a": "Old.", "0002-b": "Supersedes: 0001-a.md"},
        {"0001-a": "Superseded-by: 0002-b.md", "0002-b": "New."},
        {"0001-a": "Superseded-by: 0002-b.md", "0002-b": "Supersedes: 0001-a.md"},
        {"0001-a": "Status: superseded by ADR-2", "0002-b": "New."},
        {"0001-a": "Status: superseded by [2. B](0002-b.md#status)", "0002-b": "New."},
        {"0001-a": "Superseded-by: 0002", "0002-b": "New."},
        {"0001-a": "Superseded-by: docs/adr/0002-b.md", "0002-b": "New."},
        {"0001-a": "Superseded-by: /docs/adr/0002-b.md", "0002-b": "New."},
        {"0001-a": "Superseded-by: ./0002-b", "0002-b": "New."},
        {"0001-a": "Old.", "0002-b": "## Status\n\nAccepted, replaces ADR 0001."},
        {"0001-a": "## 状态\n\n已被 [2. B](0002-b.md) 取代", "0002-b": "New."},
        {"0001-a": "## 状态\n\n已取代:[2](0002-b.md)", "0002-b": "New."},
        {"0001-a": "## Status\n\n**Superseded** by **[2](0002-b.md)**", "0002-b": "New."},
    ],
)
def test_both_records_are_linked_whichever_states_it(texts: dict[str, str]) -> None:
    assert superseding(texts) == BOTH


@pytest.mark.parametrize(
    "target", ["0009-none.md", "ADR-9", "../../../etc/passwd", "../guide.md", "some text", "README.md"]
)
def test_a_target_that_is_no_record_is_reported(target: str) -> None:
    assert superseding({"0001-a": f"Supersedes: {target}", "README": "x"}) == {
        "0001-a": [],
        "reasons": [("unresolved-supersession", "")],
    }


@pytest.mark.parametrize("status", ["Superseded, see ADR-2", "Superseded: [2](0002-b.md)", "已取代（见 ADR-2）"])
def test_a_record_that_is_superseded_in_unknown_words_is_reported(status: str) -> None:
    found = superseding({"0001-a": f"## Status\n\n{status}", "0002-b": "New."})
    assert found == {"0001-a": [], "0002-b": [], "reasons": [("unresolved-supersession", "")]}


@pytest.mark.parametrize("status", ["Superseded", "Superseded in 2026", "Superseded by a later decision", "See ADR-2"])
def test_a_status_that_names_no_newer_record_is_not_reported(status: str) -> None:
    assert superseding({"0001-a": f"## Status\n\n{status}", "0002-b": "New."}) == {"0001-a": [], "0002-b": []}


def test_a_number_that_two_records_have_names_none() -> None:
    found = superseding({"0001-a": "x", "0001-b": "y", "0002-c": "Supersedes: ADR-1"})
    assert found["0002-c"] == []
    assert found["reasons"] == [("unresolved-supersession", "")]


def test_numbers_count_within_a_folder_only() -> None:
    linked = link({"a/adr/0001-x.md": "# X\n", "b/adr/0002-y.md": "# Y\n\nSupersedes: ADR-1\n"})
    assert linked.reasons == ["unresolved-supersession"]


def test_numbers_in_titles_serve_where_names_have_none() -> None:
    linked = link({"adr/x.md": "# 1. X\n", "adr/y.md": "# ADR-2: Y\n\nSupersedes: ADR-1\n"})
    assert [links_of(entity)[0][0] for entity in linked.entities] == ["superseded-by", "supersedes"]


@pytest.mark.parametrize(
    "text",
    [
        "## ADR-1: Old\n\nStatus: superseded by ADR-2\n\n## ADR-2: New\n\nStatus: accepted\n",
        "## Decision 1: Old\n\n**Status:** Superseded by Decision 2\n\n## Decision 2\n\n- Status: accepted\n",
        "## 9.1 ADR 1: Old\n\nStatus: accepted\n\n## 9.2 ADR 2: New\n\nStatus: accepted, supersedes ADR 001\n",
    ],
)
def test_numbers_of_a_log_of_decisions_count_within_it(text: str) -> None:
    linked = link({"docs/log.md": f"# 9. Architecture Decisions\n\n{text}", "docs/adr/0001-x.md": "# X\n"})
    old, new = (entity for entity in linked.entities if "log.md" in entity.id)
    assert [links_of(entity)[0][:2] for entity in (old, new)] == [("superseded-by", new.id), ("supersedes", old.id)]
    assert linked.reasons == []


def test_a_record_of_antora_is_named_from_its_pages() -> None:
    pages = "modules/ROOT/pages"
    linked = link(
        {
            f"{pages}/adr/1-a.adoc": "= A\n:superseded-by: xref:adr/2-b.adoc[B]\n",
            f"{pages}/adr/2-b.adoc": "= B\n\n== Status\n\nAccepted, supersedes xref:1-a.adoc#status[A]\n",
        }
    )
    assert [links_of(entity)[0][0] for entity in linked.entities] == ["superseded-by", "supersedes"]
    assert linked.reasons == []


def test_a_cycle_and_a_self_reference() -> None:
    found = superseding({"0001-a": "Supersedes: 0002-b.md", "0002-b": "Supersedes: 0001-a.md"})
    assert found["0001-a"] == [("superseded-by", "0002-b"), ("supersedes", "0002-b")]
    alone = superseding({"0001-a": "Supersedes: 0001-a.md"})
    assert alone == {"0001-a": [], "reasons": [("unresolved-supersession", "")]}


def test_a_decision_heading_is_no_target() -> None:
    linked = link({"docs/g.md": "## Decision\n\nx\n", "docs/adr/1-a.md": "# A\n\nSupersedes: ../g.md\n"})
    assert linked.reasons == ["unresolved-supersession"]


# --- bounds and order (3.5, 4.5) ------------------------------------------------------------------


def test_links_evidence_and_aliases_have_bounds() -> None:
    many = Files({f"src/m{n}.py": [] for n in range(100)})
    tokens = " ".join(f"`src/m{n}.py`" for n in range(100))
    aliases = ", ".join(f"a{n:03}" for n in range(40))
    linked = link({"docs/adr/1.md": f"---\naliases: [{aliases}]\n---\n# A\n\n{tokens}\n"}, many)
    assert linked.reasons == ["alias-limit", "link-limit"]
    assert linked.entities[0].aliases == [f"a{n:03}" for n in range(32)]
    assert len(linked.entities[0].links) == 64
    glossaries = {f"g{n:03}/glossary.md": "# Glossary\n\n**T**: x\n" for n in range(70)}
    assert link(glossaries).reasons == ["evidence-limit"]
    assert link({"a.md": f"---\ntype: concept\naliases: [{'x' * 257}]\n---\n# A\n"}).reasons == ["alias-limit"]


def test_what_is_beyond_the_bounds_is_kept_beside_the_entity() -> None:
    many = Files({f"src/m{n:02}.py": [f"S{n:02}"] for n in range(70)})
    by_path = " ".join(f"`src/m{n:02}.py`" for n in range(40))
    by_symbol = " ".join(f"`S{n}`" for n in range(40, 70))
    aliases = ", ".join(f"a{n:03}" for n in range(40))
    linked = link({"docs/adr/1.md": f"---\naliases: [{aliases}]\n---\n# A\n\n{by_path} {by_symbol}\n"}, many)
    (record,) = linked.entities
    linked_to = {item.target for item in record.links}
    kept = set(linked.entities_by_path)
    for number in range(40):
        assert f"src/m{number:02}.py" in linked_to | kept
    for number in range(70):
        assert f"module:src/m{number:02}.py" in linked_to | kept
    assert set(linked.entities_by_name) == {f"S{n}" for n in range(40, 70)} | {f"a{n:03}" for n in range(32, 40)}
    assert all(ids == [record.id] for ids in (*linked.entities_by_path.values(), *linked.entities_by_name.values()))
    glossaries = {f"g{n:03}/glossary.md": "# Glossary\n\n**T**: x\n" for n in range(70)}
    assert sorted(link(glossaries).entities_by_path) == [f"g{n:03}/glossary.md" for n in range(64, 70)]


def test_supersession_survives_the_link_bound() -> None:
    many = Files({f"src/m{n}.py": [] for n in range(100)})
    tokens = " ".join(f"`src/m{n}.py`" for n in range(100))
    linked = link({"adr/1-a.md": f"# A\n\n{tokens}\n", "adr/2-b.md": "# B\n\nSupersedes: 1-a.md\n"}, many)
    assert "superseded-by" in {item.kind for item in linked.entities[0].links}


def test_decisions_stay_where_entities_are_too_many() -> None:
    log = "## 1.0\n\n" + "".join(f"- e{n}\n" for n in range(6_000))
    linked = link({"a/CHANGELOG.md": log, "b/CHANGELOG.md": log, "z/adr/1.md": "# A\n"})
    assert len(linked.entities) == 10_000
    assert linked.reasons == ["entity-limit"]
    assert linked.entities[-1].kind == "decision"


def test_the_order_of_documents_does_not_count() -> None:
    texts = {
        "docs/adr/0001-a.md": "# A\n\nStatus: superseded by ADR-2\n\n`Shared` `src/old.ts`\n",
        "docs/adr/0002-b.md": "# B\n\n`Cache`\n",
        "glossary.md": "# Glossary\n\n**Store**: x\n**store**: y\n",
        "docs/c.md": "---\ntype: concept\n---\n# Store\n",
        "CHANGELOG.md": "## 1.0\n\n- `src/cache.ts`\n- `evict`\n",
    }
    documents = [read(path, text) for path, text in texts.items()]
    expected = canonical(link_entities(documents, FILES))
    for seed in range(5):
        random.Random(seed).shuffle(documents)
        assert canonical(link_entities(documents, FILES)) == expected
    ids = [entity.id for entity in link_entities(documents, FILES).entities]
    assert ids == sorted(ids)


def test_reasons_of_documents_are_kept() -> None:
    assert link({"docs/a.md": "---\na: [\n---\n"}).reasons == ["invalid-frontmatter"]
    assert link({}) == LinkedEntities()


def test_the_worked_example() -> None:
    linked = link(
        {
            "docs/adr/0001-fifo.md": "---\nstatus: superseded\nsuperseded-by: 0002-lru.md\n---\n"
            "# Evict in order of arrival\n\nOld rule.\n",
            "docs/adr/0002-lru.md": "---\nstatus: accepted\ndate: 2026-02-03\nsupersedes: 0001-fifo.md\n---\n"
            "# Evict the least recently used\n\n`Cache` in `src/cache.ts` keeps what was used last.\n",
            "docs/cache.md": "---\ntype: concept\naliases: [Cache]\n---\n# Lookup cache\n\nKeeps answers.\n",
            "docs/guide.md": "# Guide\n\nUse `Cache`.\n",
            "CHANGELOG.md": "# Changelog\n\n## 1.1.0\n\n- Evict by last use in `src/cache.ts`.\n",
        },
        Files({"src/cache.ts": ["Cache"]}),
    )
    by_name = {entity.name: entity for entity in linked.entities}
    change = by_name["Evict by last use in src/cache.ts."]
    assert links_of(change) == CACHE
    assert isinstance(change.evidence[0], DocumentRegion)
    assert change.evidence[0].line_start == 5
    assert change.evidence[1] == FactEvidence("module:src/cache.ts")
    assert links_of(by_name["Lookup cache"]) == [("defines-symbol", "module:src/cache.ts", "Cache")]
    old, new = by_name["Evict in order of arrival"], by_name["Evict the least recently used"]
    assert links_of(old) == [("superseded-by", new.id, None)]
    assert links_of(new) == [
        ("affected-fact", "module:src/cache.ts", "Cache"),
        *CACHE,
        ("supersedes", old.id, None),
    ]
    assert (new.status, new.date, linked.reasons) == ("accepted", "2026-02-03", [])


# --- commits (4.4) --------------------------------------------------------------------------------


def history(*commits: CommitChange) -> History:
    return History(list(commits), Coverage("knowledge-entities", "git:first-parent", "complete"))


def commit(number: int, subject: str, paths: list[str], conventional: Conventional | None = None) -> CommitChange:
    return CommitChange(f"{number:040x}", subject, "2026-01-10", paths, conventional)


def test_a_commit_is_a_change_with_its_paths_and_facts() -> None:
    conventional = Conventional("feat", True, "cache")
    paths = ["src/gone.ts", "src/cache.ts", "Makefile", "docs/guide.md"]
    entities, beyond, reasons = change_entities(history(commit(1, " feat(cache)!: x ", paths, conventional)), FILES)
    (entity,) = entities
    check(entity)
    assert (entity.id, entity.kind, entity.name) == (f"knowledge-change:{1:040x}", "change", "feat(cache)!: x")
    assert (entity.date, entity.conventional, beyond, reasons) == ("2026-01-10", conventional, {}, [])
    assert links_of(entity) == [
        ("affected-fact", "module:src/cache.ts", None),
        ("affected-path", "Makefile", None),
        ("affected-path", "docs/guide.md", None),
        ("affected-path", "src/cache.ts", None),
        ("affected-path", "src/gone.ts", None),
    ]
    assert entity.evidence == [CommitEvidence(f"{1:040x}"), FactEvidence("module:src/cache.ts")]


def test_an_empty_subject_gives_the_id_and_a_long_one_is_cut() -> None:
    entities, _, _ = change_entities(history(commit(1, " ", []), commit(2, "x" * 300, [])), FILES)
    assert [entity.name for entity in entities] == [f"knowledge-change:{1:040x}", "x" * 256]


def test_a_wide_commit_keeps_its_other_paths_in_the_path_index() -> None:
    paths = [f"p/{n:03}" for n in range(70)]
    entities, beyond, reasons = change_entities(history(commit(1, "wide", paths), commit(2, "wide", paths)), FILES)
    assert [len(entity.links) for entity in entities] == [64, 64]
    assert reasons == ["link-limit"]
    assert sorted(beyond) == paths[64:]
    assert beyond["p/064"] == [entity.id for entity in entities]


def test_unusable_paths_are_left_out() -> None:
    paths = ["/abs", "a/../b", "a\\b", "x" * 513, ""]
    assert change_entities(history(commit(1, "x", paths)), FILES)[0][0].links == []


def test_older_commits_give_way_where_there_is_no_room() -> None:
    commits = [commit(9, "new", []), commit(1, "old", [])]
    entities, _, reasons = change_entities(history(*commits), FILES, room=1)
    assert ([entity.name for entity in entities], reasons) == (["new"], ["entity-limit"])


def test_equal_regions_of_one_entity_count_once() -> None:
    document = read("docs/adr/1.md", "# A\n")
    document.entities.append(RawEntity("decision", document.entities[0].id, "A", document.entities[0].region))
    (entity,) = link_entities([document], FILES).entities
    assert len(entity.evidence) == 1
    assert Link("affected-path", "x") not in entity.links
