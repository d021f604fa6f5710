"""The repository index as graph elements: what is there, what is left alone, and what goes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.git_repository import GitRepository
from tests.why_examples import FIFO_ID, FILES, LRU_ID
from trivium import Context
from trivium.store.graph import Graph
from trivium.why.projection import DOMAIN, PREDICATES, SOURCE, TYPES

LRU = LRU_ID.removeprefix("knowledge-decision:")
FIFO = FIFO_ID.removeprefix("knowledge-decision:")


class Place:
    """A repository with a context for it."""

    def __init__(self, kb: trivium.KnowledgeBase, root: Path) -> None:
        self.kb = kb
        self.files = GitRepository(root, start=False)
        self.context: Context = kb.repository_context(root, create=True)

    def index(self) -> Any:
        return self.context.index_repository(self.files.root).projection

    def find(self, command: str) -> Any:
        response = self.context.execute_kip({"command": command})
        assert "result" in response, response
        return response["result"]

    def write(self, command: str) -> None:
        self.find(command)

    def node(self, type_: str, name: str) -> dict[str, Any] | None:
        found = self.find(f'FIND(?n) WHERE {{ ?n {{type: "{type_}", name: "{name}"}} }}')
        return found[0] if found else None

    def links(self, subject: str, predicate: str) -> list[str]:
        name = f'{{name: "{subject}"}}'
        return self.find(f'FIND(?o.name) WHERE {{ ?s {name} (?s, "{predicate}", ?o) }} ORDER BY ?o.name')

    def elements(self) -> list[tuple[Any, ...]]:
        """Every row of the context, with its version."""
        with self.kb._store.read() as session:
            number = self.context._nexus.ctx
            sql = "SELECT id, {}, version, updated_at, json(attrs), json(meta) FROM {} WHERE ctx = ? ORDER BY id"
            nodes = session.rows(sql.format("type, name", "concept"), (number,))
            return nodes + session.rows(sql.format("s, p, o", "link"), (number,))


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(str(tmp_path / "k.db")) as base:
        yield base


@pytest.fixture(autouse=True)
def neutral_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def place(kb: trivium.KnowledgeBase, tmp_path: Path) -> Place:
    found = Place(kb, tmp_path / "work")
    for path, text in FILES.items():
        found.files.write(path, text)
    found.index()
    return found


# --- what is there --------------------------------------------------------------------------------


def test_decisions_have_their_status_title_lines_and_source(place: Place) -> None:
    node = place.node("Decision", LRU)
    assert node is not None
    assert node["attributes"] == {
        "entity_id": LRU_ID,
        "title": "Evict the least recently used",
        "status": "accepted",
        "date": "2026-02-03",
        "path": "docs/adr/0002-lru.md",
        "line_start": 1,
        "line_end": 9,
        "aliases": ["Evict the least recently used"],
    }
    metadata = {key: value for key, value in node["metadata"].items() if not key.startswith("_")}
    index_hash = metadata.pop("index_hash")
    assert metadata == {
        "source": SOURCE,
        "author": "$system",
        "status": "active",
        "evidence": ["docs/adr/0002-lru.md:1-9"],
    }
    assert place.context.why("Cache")["source"] == f"index:{index_hash}"


def test_files_documents_concepts_and_changes_are_nodes(place: Place) -> None:
    source = place.node("SourceFile", "src/cache.ts")
    assert source is not None
    assert source["attributes"] == {"path": "src/cache.ts", "language": "typescript", "symbols": ["Cache"]}
    document = place.node("Document", "docs/guide.md")
    assert document is not None
    assert document["attributes"] == {"title": "Guide", "path": "docs/guide.md"}
    concept = place.node("Concept", "Lookup cache")
    assert concept is not None
    assert concept["attributes"]["aliases"] == ["Cache"]
    change = place.find('FIND(?c.attributes.title) WHERE { ?c {type: "Change"} }')
    assert change == ["Evict by last use in src/cache.ts."]


def test_links_lead_from_records_to_files_and_between_records(place: Place) -> None:
    assert place.links(LRU, "affects") == ["src/cache.ts"]
    assert place.links(LRU, "supersedes") == [FIFO]
    assert place.links(LRU, "belongs_to_domain") == [DOMAIN]
    assert place.links("Lookup cache", "defines") == ["src/cache.ts"]
    assert place.links("docs/guide.md", "mentions") == ["src/cache.ts"]
    lines = place.find('FIND(?m.attributes.line) WHERE { ?d {name: "docs/guide.md"} ?m (?d, "mentions", ?f) }')
    assert lines == [3]


def test_commits_are_changes_with_type_scope_and_paths(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    files = GitRepository(tmp_path / "work")
    sha = files.commit("feat(cache)!: evict by last use", "src/cache.py", "docs/guide.md")
    place = Place(kb, files.root)
    place.index()
    node = place.node("Change", sha)
    assert node is not None
    assert node["attributes"] == {
        "entity_id": f"knowledge-change:{sha}",
        "title": "feat(cache)!: evict by last use",
        "date": "2026-01-10",
        "change_type": "feat",
        "change_scope": "cache",
        "breaking": True,
        "sha": sha,
        "aliases": ["feat(cache)!: evict by last use"],
    }
    assert node["metadata"]["evidence"] == [f"commit {sha}"]
    assert place.links(sha, "affects") == ["docs/guide.md", "src/cache.py"]


def test_a_removed_path_is_a_source_file_that_commits_lead_to(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    files = GitRepository(tmp_path / "work")
    files.commit("add", "src/old.py")
    (files.root / "src/old.py").unlink()
    files.commit("remove")
    place = Place(kb, files.root)
    place.index()
    assert place.node("SourceFile", "src/old.py")["attributes"] == {"path": "src/old.py"}  # type: ignore[index]


def test_documents_that_declare_what_they_cover_are_linked_to_it(place: Place) -> None:
    place.files.write("docs/design.md", "---\ntrivium:\n  covers: [src/cache.ts, docs/guide.md]\n---\n\n# Design\n")
    place.index()
    assert place.links("docs/design.md", "covers") == ["docs/guide.md", "src/cache.ts"]


def test_the_schema_is_described(place: Place) -> None:
    for name in (*TYPES, *PREDICATES):
        type_ = "$ConceptType" if name in TYPES else "$PropositionType"
        node = place.node(type_, name)
        assert node is not None
        assert node["attributes"]["description"]
    assert place.node("Domain", DOMAIN) is not None


def test_the_graph_is_within_its_own_schema(place: Place) -> None:
    """What the predicates say about their ends holds for every link that the projection makes."""
    place.files.write("docs/design.md", "---\ntrivium:\n  covers: [docs/guide.md]\n---\n\n# Design\n\n`src/cache.ts`\n")
    place.index()
    with place.kb._store.read() as session:
        graph = Graph(session, place.context._nexus.ctx)
        for predicate in ("supersedes", "affects", "defines", "covers"):
            declared = graph.concept_named("$PropositionType", predicate)
            assert declared is not None
            for link in graph.links(graph.links_of_predicate(predicate, 1_000)):
                ends = graph.concept(link.subject), graph.concept(link.object)
                assert ends[0] is not None
                assert ends[1] is not None
                assert ends[0].type in declared.attributes["subject_types"]
                assert ends[1].type in declared.attributes["object_types"]


# --- questions ------------------------------------------------------------------------------------


def test_accepted_decisions_that_affect_a_file_and_what_superseded_them(place: Place) -> None:
    record = "---\nstatus: accepted\nsupersedes: 0002-lru.md\n---\n\n# Evict by cost\n\nIn `src/cache.ts`.\n"
    place.files.write("docs/adr/0003-cost.md", record)
    place.index()
    rows = place.find(
        "FIND(?d.attributes.title, ?newer.attributes.title) WHERE {"
        ' ?f {type: "SourceFile", name: "src/cache.ts"}'
        ' ?d {type: "Decision"} (?d, "affects", ?f)'
        ' FILTER(?d.attributes.status == "accepted")'
        ' OPTIONAL { ?newer {type: "Decision"} (?newer, "supersedes", ?d) } }'
        " ORDER BY ?d.name"
    )
    assert rows == [["Evict the least recently used", "Evict by cost"], ["Evict by cost", None]]


def test_search_finds_a_decision_by_its_title(place: Place) -> None:
    found = place.find('SEARCH CONCEPT "evict the least recently used" WITH TYPE "Decision" LIMIT 3')
    assert found[0]["name"] == LRU
    found = place.find('SEARCH CONCEPT "recently used" WITH TYPE "Decision"')
    assert [node["name"] for node in found] == [LRU]


# --- again ----------------------------------------------------------------------------------------


def test_indexing_again_changes_nothing(place: Place) -> None:
    before = place.elements()
    report = place.index()
    assert (report.created, report.updated, report.removed) == (0, 0, 0)
    assert place.elements() == before


def test_what_people_changed_of_the_index_is_renewed_though_the_index_is_as_it_was(place: Place) -> None:
    before = place.node("Decision", LRU)
    assert before is not None
    place.write(f'UPDATE ?d SET ATTRIBUTES {{ status: "hacked" }} WHERE {{ ?d {{type: "Decision", name: "{LRU}"}} }}')
    place.write(f'DELETE CONCEPT ?d DETACH WHERE {{ ?d {{type: "Decision", name: "{FIFO}"}} }}')
    place.index()
    after = place.node("Decision", LRU)
    assert after is not None
    assert after["attributes"] == before["attributes"]
    assert place.links(LRU, "supersedes") == [FIFO]


def test_an_edit_elsewhere_leaves_all_other_elements_untouched(place: Place) -> None:
    before = {row[:3]: row for row in place.elements()}
    place.files.write("docs/more.md", "# More\n")
    report = place.index()
    assert (report.created, report.updated, report.removed) == (1, 0, 0)
    after = {row[:3]: row for row in place.elements()}
    assert all(after[key] == row for key, row in before.items())


def test_a_new_status_raises_one_version(place: Place) -> None:
    path = "docs/adr/0002-lru.md"
    place.files.write(path, FILES[path].replace("status: accepted", "status: deprecated"))
    report = place.index()
    assert (report.created, report.updated, report.removed) == (0, 1, 0)
    node = place.node("Decision", LRU)
    assert node is not None
    assert (node["attributes"]["status"], node["metadata"]["_version"]) == ("deprecated", 2)


def test_a_key_that_the_index_no_longer_has_goes(place: Place) -> None:
    path = "docs/adr/0002-lru.md"
    place.files.write(path, FILES[path].replace("date: 2026-02-03\n", ""))
    place.index()
    assert "date" not in place.node("Decision", LRU)["attributes"]  # type: ignore[index]


def test_a_moved_mention_updates_its_line(place: Place) -> None:
    place.files.write("docs/guide.md", "# Guide\n\nMore.\n\nUse `Cache`.\n")
    report = place.index()
    assert (report.created, report.updated, report.removed) == (0, 1, 0)
    lines = place.find('FIND(?m.attributes.line) WHERE { ?d {name: "docs/guide.md"} ?m (?d, "mentions", ?f) }')
    assert lines == [5]


def test_the_graph_after_edits_is_the_graph_of_a_new_context(place: Place, tmp_path: Path) -> None:
    """But for ids, versions and times, nothing tells that there were edits in between."""
    place.files.write("docs/adr/0003-x.md", "# Third\n\nStatus: proposed\n\nSee `src/cache.ts` and `src/new.ts`.\n")
    place.files.write("src/new.ts", "export const a = 1;\n")
    place.index()
    (place.files.root / "docs/adr/0001-fifo.md").unlink()
    (place.files.root / "src/new.ts").rename(place.files.root / "src/newer.ts")
    place.files.write("CHANGELOG.md", "# Changes\n\n## 1.1.0\n\n- Something else.\n")
    place.index()
    with trivium.open(str(tmp_path / "other.db")) as kb:
        fresh = Place(kb, place.files.root)
        fresh.index()
        assert _contents(place) == _contents(fresh)


def _contents(place: Place) -> tuple[list[Any], list[Any]]:
    """Nodes and links by name, without ids, versions, times and the hash that names when an element last changed."""
    with place.kb._store.read() as session:
        graph = Graph(session, place.context._nexus.ctx)
        nodes = [node for type_ in TYPES for node in graph.nodes_of_type(type_)]
        names = {node.id: (node.type, node.name) for node in nodes}
        links = [link for predicate in PREDICATES for link in graph.links(graph.links_of_predicate(predicate, 1_000))]
    for element in (*nodes, *links):
        element.metadata.pop("index_hash")
    ends = [(names[link.subject], link.predicate, names[link.object]) for link in links]
    return (
        sorted(((node.type, node.name, node.attributes, node.metadata) for node in nodes), key=lambda row: row[:2]),
        sorted(
            ((*end, link.attributes, link.metadata) for end, link in zip(ends, links, strict=True)),
            key=lambda row: row[:3],
        ),
    )


# --- what people add ------------------------------------------------------------------------------


def test_keys_and_links_that_people_added_survive(place: Place) -> None:
    place.write(
        "UPSERT {"
        f' CONCEPT ?d {{ {{type: "Decision", name: "{LRU}"}} SET ATTRIBUTES {{ owner: "Ada" }}'
        ' SET PROPOSITIONS { ("belongs_to_domain", {type: "Domain", name: "CoreSchema"}) } } }'
        ' WITH METADATA { source: "people", author: "Ada", confidence: 0.9 }'
    )
    place.files.write("docs/more.md", "# More\n")
    place.index()
    node = place.node("Decision", LRU)
    assert node is not None
    assert node["attributes"]["owner"] == "Ada"
    assert place.links(LRU, "belongs_to_domain") == ["CoreSchema", DOMAIN]
    path = "docs/adr/0002-lru.md"
    place.files.write(path, FILES[path].replace("accepted", "deprecated"))
    place.index()
    node = place.node("Decision", LRU)
    assert node is not None
    assert node["attributes"]["owner"] == "Ada"
    assert node["attributes"]["status"] == "deprecated"
    assert (node["metadata"]["source"], node["metadata"]["confidence"]) == ("people", 0.9)
    (place.files.root / path).unlink()
    place.index()
    assert place.node("Decision", LRU)["metadata"]["status"] == "retracted"  # type: ignore[index]


def test_metadata_that_people_added_does_not_raise_versions_again_and_again(place: Place) -> None:
    place.write(
        'UPSERT { CONCEPT ?f { {type: "SourceFile", name: "src/cache.ts"} } }'
        f' WITH METADATA {{ source: "{SOURCE}", author: "$system", status: "active", evidence: ["seen"] }}'
    )
    before = place.node("SourceFile", "src/cache.ts")
    place.files.write("docs/more.md", "# More\n")
    place.index()
    assert place.node("SourceFile", "src/cache.ts") == before


def test_a_node_that_people_made_first_stays_theirs(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    place = Place(kb, tmp_path / "work")
    place.files.write("readme.md", "# Read me\n")
    place.index()
    place.write(
        'UPSERT { CONCEPT ?f { {type: "SourceFile", name: "src/a.py"} SET ATTRIBUTES { owner: "Ada", path: "mine" } } }'
        ' WITH METADATA { source: "people", author: "Ada" }'
    )
    place.files.write("src/a.py", "def a(): ...\n")
    place.index()
    node = place.node("SourceFile", "src/a.py")
    assert node is not None
    assert node["metadata"]["source"] == "people"
    assert node["attributes"] == {"owner": "Ada", "path": "src/a.py", "language": "python", "symbols": ["a"]}
    before = place.elements()
    place.files.write("docs/more.md", "# More\n")
    place.index()
    assert set(before) < set(place.elements())
    (place.files.root / "src/a.py").unlink()
    place.index()
    node = place.node("SourceFile", "src/a.py")
    assert node is not None
    assert node["metadata"]["source"] == "people"


# --- what is gone ---------------------------------------------------------------------------------


def test_what_is_gone_is_removed_with_its_links(place: Place) -> None:
    (place.files.root / "docs/guide.md").unlink()
    (place.files.root / "docs/adr/0001-fifo.md").unlink()
    report = place.index()
    assert place.node("Document", "docs/guide.md") is None
    assert place.node("Decision", FIFO) is None
    assert place.links(LRU, "supersedes") == []
    # two documents, one decision; one mention, one supersession, one membership
    assert (report.created, report.updated, report.removed) == (0, 0, 6)
    counted = place.find('FIND(COUNT(?d)) WHERE { ?d {type: "Decision"} }')
    assert counted == 1


def test_a_gone_node_that_people_linked_is_retracted_and_comes_back(place: Place) -> None:
    place.write(
        'UPSERT { CONCEPT ?p { {type: "Person", name: "Ada"}'
        f' SET PROPOSITIONS {{ ("mentions", {{type: "Decision", name: "{FIFO}"}}) }} }} }}'
        ' WITH METADATA { source: "people", author: "Ada" }'
    )
    path = "docs/adr/0001-fifo.md"
    (place.files.root / path).unlink()
    place.index()
    node = place.node("Decision", FIFO)
    assert node is not None
    assert node["metadata"]["status"] == "retracted"
    assert place.links("Ada", "mentions") == [FIFO]
    before = place.elements()
    place.files.write("docs/more.md", "# More\n")
    place.index()
    assert set(before) < set(place.elements())
    place.files.write(path, FILES[path])
    place.index()
    node = place.node("Decision", FIFO)
    assert node is not None
    assert node["metadata"]["status"] == "active"
    assert place.links(LRU, "supersedes") == [FIFO]


def test_a_gone_node_that_people_wrote_on_is_retracted(place: Place) -> None:
    place.write(
        f'UPSERT {{ CONCEPT ?d {{ {{type: "Decision", name: "{FIFO}"}} SET ATTRIBUTES {{ lesson: "measure" }} }} }}'
    )
    (place.files.root / "docs/adr/0001-fifo.md").unlink()
    place.index()
    node = place.node("Decision", FIFO)
    assert node is not None
    assert (node["attributes"]["lesson"], node["metadata"]["status"]) == ("measure", "retracted")


def test_a_gone_link_that_people_spoke_about_is_retracted(place: Place) -> None:
    link = place.find(f'FIND(?l.id) WHERE {{ ?d {{name: "{LRU}"}} ?l (?d, "supersedes", ?o) }}')[0]
    place.write(
        'UPSERT { CONCEPT ?p { {type: "Person", name: "Ada"}'
        f' SET PROPOSITIONS {{ ("mentions", (id: "{link}")) }} }} }}'
        ' WITH METADATA { source: "people", author: "Ada" }'
    )
    first, second = "docs/adr/0001-fifo.md", "docs/adr/0002-lru.md"
    place.files.write(first, FILES[first].replace("superseded-by: 0002-lru.md\n", ""))
    place.files.write(second, FILES[second].replace("supersedes: 0001-fifo.md\n", ""))
    place.index()
    status = place.find(f'FIND(?l.metadata.status) WHERE {{ ?d {{name: "{LRU}"}} ?l (?d, "supersedes", ?o) }}')
    assert status == ["retracted"]


def test_other_contexts_and_other_knowledge_are_left_alone(place: Place) -> None:
    other = place.kb.create_context("other")
    other.execute_kip({"command": 'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Decision"} } }'})
    other.execute_kip({"command": 'UPSERT { CONCEPT ?d { {type: "Decision", name: "Mine"} } }'})
    place.write('UPSERT { CONCEPT ?d { {type: "Decision", name: "Lunch at noon"} } }')
    for path in FILES:
        (place.files.root / path).unlink()
    place.index()
    names = 'FIND(?d.name) WHERE { ?d {type: "Decision"} }'
    assert place.find(names) == ["Lunch at noon"]
    assert other.execute_kip({"command": names})["result"] == ["Mine"]
    for type_ in ("SourceFile", "Document", "Change", "Concept"):
        assert place.find(f'FIND(COUNT(?n)) WHERE {{ ?n {{type: "{type_}"}} }}') == 0


def test_counts_of_types_and_predicates_stay_true(place: Place) -> None:
    place.files.write("docs/more.md", "# More\n\n`src/cache.ts`\n")
    place.index()
    (place.files.root / "docs/more.md").unlink()
    place.index()
    with place.kb._store.read() as session:
        number = place.context._nexus.ctx
        stored = session.rows("SELECT kind, key, n FROM counter WHERE ctx = ? AND kind IN ('t', 'p') AND n", (number,))
        counted = session.rows("SELECT 't', type, count(*) FROM concept WHERE ctx = ? GROUP BY type", (number,))
        counted += session.rows("SELECT 'p', p, count(*) FROM link WHERE ctx = ? GROUP BY p", (number,))
    assert sorted(stored) == sorted(counted)
