"""Contexts: made, described, changed, deleted whole, packed and restored; manifests; artifacts without a model."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

import trivium
from tests import ingest_files as files
from tests.meaning_support import WordEmbedder
from trivium.ingest.manifest import ManifestError, check_manifest, knobs_of
from trivium.ingest.pack import PackError
from trivium.ingest.tasks import BusyError
from trivium.ingest.terms import terms_of
from trivium.kip.capsule_import import import_capsules
from trivium.store import contexts, documents
from trivium.store.sqlite import Session

GRAPH = """
UPSERT {
  CONCEPT ?t { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES { description: "A medicine." } }
  CONCEPT ?p { {type: "$PropositionType", name: "treats"} SET ATTRIBUTES { description: "Helps against." } }
}
UPSERT {
  CONCEPT ?h { {type: "Drug", name: "Placebo"} }
  CONCEPT ?a {
    {type: "Drug", name: "Aspirin"}
    SET ATTRIBUTES { description: "Thins the blood.", risk: 2, aliases: ["ASA"], trade: true }
    SET PROPOSITIONS { ("treats", ?h) }
  }
}
"""


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(tmp_path / "a.db") as opened:
        yield opened


# --- lifecycle ------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["abc", "ctx_contracts", "a-b_c9", "a" * 64])
def test_good_slugs_are_taken(kb: trivium.KnowledgeBase, slug: str) -> None:
    assert kb.create_context(slug).slug == slug


@pytest.mark.parametrize("slug", ["", "ab", "Abc", "9ab", "-ab", "_ab", "a b", "a.b", "ábc", "a" * 65, "abc\n"])
def test_bad_slugs_are_refused(kb: trivium.KnowledgeBase, slug: str) -> None:
    with pytest.raises(ValueError, match="slug"):
        kb.create_context(slug)
    assert [context.slug for context in kb.contexts()] == ["default"]


def test_a_context_is_described_as_the_reference_has_it(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("contracts", name="Contracts", description="All of them", guide="Be brief.", owner="x")
    described = context.describe(stats=True)
    assert described["stats"].pop("concepts") > 0
    assert described["stats"].pop("propositions") > 0
    uuid, created = described.pop("id"), described.pop("created_at")
    assert len(uuid) == 36
    assert described == {
        "object": "context",
        "slug": "contracts",
        "name": "Contracts",
        "kind": "search",
        "description": "All of them",
        "guide": "Be brief.",
        "manifest": {},
        "queryable": False,
        "has_sources": False,
        "is_importing": False,
        "is_curating": False,
        "is_optimizing": False,
        "import_task_id": None,
        "curate_task_id": None,
        "last_source_import_at": None,
        "last_curated_at": None,
        "live_version": 0,
        "stale": False,
        "sample_queries": [],
        "updated_at": created,
        "stats": {"sources": 0, "bytes": 0, "documents": 0, "unreadable": 0, "chunks": 0, "artifacts": 0},
    }
    assert kb.context(uuid) is context
    assert kb.context(uuid.upper()) is context


def test_what_may_be_asked(kb: trivium.KnowledgeBase) -> None:
    assert not kb.create_context("empty").describe()["queryable"]
    assert kb.create_context("memory", kind="work").describe()["queryable"]
    graph = kb.create_context("graph")
    assert "result" in graph.execute_kip({"command": GRAPH})
    assert graph.describe()["queryable"]
    documented = kb.create_context("documents")
    documented.add_bytes("msa.md", files.MARKDOWN)
    assert not documented.describe()["queryable"]
    documented.curate()
    assert documented.describe()["queryable"]
    assert documented.describe()["sample_queries"] == ["What does Master services agreement say about Fees?"]


def test_fields_change_one_by_one_and_clear(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("contracts", name="Contracts", guide="Be brief.")
    changed = context.update(description="New")
    assert (changed["name"], changed["description"], changed["guide"]) == ("Contracts", "New", "Be brief.")
    assert context.update(guide="")["guide"] == ""
    manifest = {"curate": {"chunks": {"chunking": {"target_size": 128}}}}
    assert context.update(manifest=manifest)["manifest"] == manifest
    assert context.update(manifest={})["manifest"] == {}
    assert kb.context("contracts").describe()["description"] == "New"


def test_a_renamed_context_is_found_by_its_new_name_alone(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("contracts")
    kb.create_context("taken")
    context.execute_kip({"command": 'UPSERT { CONCEPT { {type: "Domain", name: "Tea"} } }'})
    assert context.update(slug="papers")["slug"] == "papers"
    assert kb.context("papers") is context
    with pytest.raises(trivium.NotFoundError):
        kb.context("contracts")
    with pytest.raises(trivium.StoreError, match="exists"):
        context.update(slug="taken")
    with pytest.raises(ValueError, match="slug"):
        context.update(slug="No Slug")
    with pytest.raises(trivium.StoreError, match="default"):
        kb.context("default").update(slug="other")
    kb.create_context("contracts")
    assert [known.slug for known in kb.contexts()] == ["contracts", "default", "papers", "taken"]


BAD_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"name": "x" * 129}, "name"),
    ({"name": 5}, "name"),
    ({"description": 5}, "description"),
    ({"guide": "x" * 32_769}, "guide"),
    ({"kind": "other"}, "kind"),
    ({"manifest": []}, "manifest"),
    ({"manifest": {"curates": {}}}, "manifest.curates"),
    ({"manifest": {"curate": {"chunks": {"enabled": 1}}}}, "manifest.curate.chunks.enabled"),
    (
        {"manifest": {"curate": {"chunks": {"chunking": {"target_size": 63}}}}},
        "manifest.curate.chunks.chunking.target_size",
    ),
    ({"manifest": {"curate": {"chunks": {"chunking": {"overlap": True}}}}}, "manifest.curate.chunks.chunking.overlap"),
    (
        {"manifest": {"curate": {"chunks": {"chunking": {"strategy": "magic"}}}}},
        "manifest.curate.chunks.chunking.strategy",
    ),
    (
        {"manifest": {"curate": {"artifacts": {"artifact_types": [{}]}}}},
        "manifest.curate.artifacts.artifact_types[0].name",
    ),
    (
        {"manifest": {"curate": {"artifacts": {"artifact_types": [{"name": "x"}] * 33}}}},
        "manifest.curate.artifacts.artifact_types",
    ),
    (
        {"manifest": {"curate": {"artifacts": {"edge_types": [{"name": "x", "from": "a"}]}}}},
        "manifest.curate.artifacts.edge_types[0].to",
    ),
    ({"manifest": {"search": {"instructions": 5}}}, "manifest.search.instructions"),
]


@pytest.mark.parametrize(("fields", "param"), BAD_FIELDS, ids=[param for _, param in BAD_FIELDS])
def test_a_field_that_is_wrong_is_named_and_nothing_is_changed(
    kb: trivium.KnowledgeBase, fields: dict[str, Any], param: str
) -> None:
    with pytest.raises(ManifestError) as caught:
        kb.create_context("wrong", **fields)
    assert caught.value.param == param
    assert caught.value.hint
    context = kb.create_context("right", description="old")
    before = context.describe()
    with pytest.raises(ManifestError):
        context.update(**fields)
    assert context.describe() == before


def test_unknown_fields_and_another_kind_are_refused(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("contracts")
    with pytest.raises(ManifestError, match="no field 'colour'"):
        context.update(colour="red")
    with pytest.raises(ManifestError, match="fixed"):
        context.update(kind="work")
    assert context.update(kind="search")["kind"] == "search"


def test_the_knobs_have_the_defaults_of_the_reference() -> None:
    knobs = knobs_of(None)
    assert (knobs.chunks, knobs.keyword, knobs.artifacts, knobs.max_artifacts_per_type) == (True, True, False, 10_000)
    chunking = knobs.chunking
    assert (chunking.strategy, chunking.target_size, chunking.overlap) == ("markdown_heading", 512, 64)
    assert chunking.respect_sections
    check_manifest({"curate": {"chunks": None, "artifacts": {"artifact_types": [{"name": "x", "kind": "entity"}]}}})
    check_manifest({"optimize": {"cron": "@hourly"}, "search": {"instructions": "Be brief."}})


def test_a_knob_that_is_null_has_its_default() -> None:
    nulls = {"chunks": {"enabled": None, "chunking": {"target_size": None, "overlap": 5}}, "artifacts": None}
    check_manifest({"curate": nulls})
    knobs = knobs_of({"curate": nulls})
    assert (knobs.chunks, knobs.chunking.target_size, knobs.chunking.overlap) == (True, 512, 5)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"curate": {"chunks": {"chunking": {"overlap": 1_025}}}}, "a whole number from 0 to 1024"),
        ({"curate": {"artifacts": {"artifact_types": [{"name": "x", "kind": "y"}]}}}, "one of .*glossary"),
        ({"curate": {"chunk": {}}}, "no knob 'chunk'; there are chunks, artifacts"),
        ({"optimize": 5}, "an object"),
    ],
)
def test_a_wrong_knob_is_told_with_what_it_may_be(manifest: dict[str, Any], words: str) -> None:
    with pytest.raises(ManifestError, match=words):
        check_manifest(manifest)


# --- deletion -------------------------------------------------------------------------------------


def rows_of(session: Session, ctx: int) -> dict[str, int]:
    """How many rows of each table belong to a context, and the tables that are named after it."""
    found = {}
    for (table,) in session.rows("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        columns = {row[0] for row in session.rows("SELECT name FROM pragma_table_info(?)", (table,))}
        if "ctx" in columns:
            count = session.value(f"SELECT count(*) FROM {table} WHERE ctx = ?", (ctx,))
            if count:
                found[table] = count
        elif table.endswith(f"_{ctx}"):
            found[table] = 1
    for table, owner, column in (("source_content", "source", "source"), ("document_text", "document", "document")):
        stray = session.value(f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM {owner})")
        if stray:
            found[table] = stray
    stray = session.value("SELECT count(*) FROM concept_text WHERE concept_text MATCH ?", (f"scope : c{ctx}",))
    if stray:
        found["concept_text"] = stray
    return found


def test_a_deleted_context_leaves_nothing_behind(kb: trivium.KnowledgeBase) -> None:
    kept = kb.create_context("kept")
    kept.add_bytes("msa.md", files.MARKDOWN)
    kept.curate()
    with kb._store.read() as session:
        before = rows_of(session, kept._number)
    context = kb.create_context("gone", manifest={"curate": {"artifacts": {"enabled": True}}})
    context.execute_kip({"command": GRAPH})
    context.add_bytes("msa.md", files.MARKDOWN)
    context.curate()
    context.add_bytes("new.md", b"# New\n")
    context.delete_source("msa.md")
    kb.delete_context("gone")
    with kb._store.read() as session:
        assert rows_of(session, context._number) == {}
        assert rows_of(session, kept._number) == before
    with pytest.raises(trivium.NotFoundError):
        kb.context("gone")
    with pytest.raises(trivium.NotFoundError):
        context.describe()
    assert "deleted" in context.execute_kip({"command": "DESCRIBE PRIMER"})["error"]["message"]
    assert kb.doctor()["ok"]
    again = kb.create_context("gone")
    assert again.describe(stats=True)["stats"]["sources"] == 0


def test_a_deletion_that_was_cut_short_is_completed_by_the_next(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = kb.create_context("gone")
    context.add_bytes("msa.md", files.MARKDOWN)
    context.curate()
    with monkeypatch.context() as patch:
        patch.setattr("trivium.store.contexts.purge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            kb.delete_context("gone")
    with pytest.raises(trivium.NotFoundError):
        kb.context("gone")
    assert kb.doctor()["ok"]
    kb.create_context("other")
    kb.delete_context("other")
    with kb._store.read() as session:
        assert rows_of(session, context._number) == {}


def cut_short(kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> int:
    """Delete a context that holds something, ending before what it holds is removed; gives its number."""
    context = kb.create_context("gone")
    context.execute_kip({"command": GRAPH})
    context.add_bytes("msa.md", files.MARKDOWN)
    context.curate()
    if kb.meaning.model is not None:
        context.embed_pending()
    with monkeypatch.context() as patch:
        patch.setattr("trivium.store.contexts.purge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            kb.delete_context("gone")
    return context._number


def told_of_deletions(kb: trivium.KnowledgeBase) -> str:
    report = kb.doctor()
    assert report["ok"]
    [detail] = [check["detail"] for check in report["checks"] if check["name"] == "deleted contexts are gone"]
    return str(detail)


def test_opening_completes_a_deletion_that_was_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.base.purging.PURGE_ROWS", 3)
    with trivium.open(tmp_path / "a.db") as kb:
        number = cut_short(kb, monkeypatch)
        assert "1 of them" in told_of_deletions(kb)
    with trivium.open(tmp_path / "a.db") as kb:
        end = time.monotonic() + 30
        while told_of_deletions(kb) != "ok":
            assert time.monotonic() < end, "it was not removed in time"
            time.sleep(0.02)
        with kb._store.read() as session:
            assert rows_of(session, number) == {}


def test_a_deletion_is_no_fault_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with trivium.open(tmp_path / "a.db", embedder=WordEmbedder()) as kb:
        kb.hold_embedding()
        number = cut_short(kb, monkeypatch)
        steps, more = 0, True
        while more:
            with kb._store.write() as session:
                more = contexts.purge(session, number, 3)
            assert told_of_deletions(kb) == ("what 1 of them held is still being removed" if more else "ok")
            steps += 1
        assert steps > 5


def test_closing_does_not_wait_until_all_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with trivium.open(tmp_path / "a.db") as kb:
        number = cut_short(kb, monkeypatch)
    steps = []
    with monkeypatch.context() as patch:
        patch.setattr("trivium.store.contexts.purge", lambda *_: steps.append(1) or True)
        with trivium.open(tmp_path / "a.db") as kb:
            kb.create_context("other")  # writers get their turn meanwhile
        done = len(steps)
        time.sleep(0.1)
        assert done == len(steps)
    with trivium.open(tmp_path / "a.db") as kb:
        kb.delete_context("other")
        with kb._store.read() as session:
            assert rows_of(session, number) == {}


def a_repository(tmp_path: Path) -> Path:
    (tmp_path / "shop/docs/adr").mkdir(parents=True)
    (tmp_path / "shop/cart.py").write_text("def total(): ...\n")
    record = "# Count in cents\n\nStatus: accepted\n\n`total` returns cents.\n"
    (tmp_path / "shop/docs/adr/0001-cents.md").write_text(record)
    return tmp_path / "shop"


def test_an_index_that_is_built_while_its_context_is_deleted_is_not_stored(
    kb: trivium.KnowledgeBase, tmp_path: Path
) -> None:
    context = kb.create_context("gone")
    root = a_repository(tmp_path)
    deleted = []

    def progress(done: int, total: int) -> None:
        if not deleted:
            deleted.append(kb.delete_context("gone"))

    with pytest.raises(trivium.NotFoundError, match="deleted"):
        context.index_repository(root, progress=progress)
    assert deleted
    with kb._store.read() as session:
        assert rows_of(session, context._number) == {}
    assert kb.repository_context(root, create=True).index_repository(root).summary.decisions == 1
    assert kb.doctor()["ok"]


def test_vectors_that_are_made_while_their_context_is_deleted_are_not_stored(tmp_path: Path) -> None:
    class Embedder(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> numpy.ndarray:
            if "gone" in [one.slug for one in kb.contexts()]:
                kb.delete_context("gone")
            return super().embed(texts)

    with trivium.open(tmp_path / "a.db", embedder=Embedder()) as kb:
        kb.hold_embedding()
        context = kb.create_context("gone")
        context.execute_kip({"command": GRAPH})
        assert context.embed_pending()["embedded"] == 0
        with kb._store.read() as session:
            assert rows_of(session, context._number) == {}
        assert kb.doctor()["ok"]


WRITERS: dict[str, Callable[[trivium.Context, Path], Any]] = {
    "KIP": lambda context, _: refused(context.execute_kip({"command": GRAPH})),
    "capsules": lambda context, _: import_capsules(context, [GRAPH]),
    "update": lambda context, _: context.update(name="Again"),
    "add": lambda context, root: context.add(root),
    "add_bytes": lambda context, _: context.add_bytes("a.md", files.MARKDOWN),
    "start_add_bytes": lambda context, _: context.start_add_bytes("a.md", files.MARKDOWN),
    "delete_source": lambda context, _: context.delete_source("msa.md"),
    "curate": lambda context, _: context.curate(),
    "start_curate": lambda context, _: context.start_curate(),
    "pack": lambda context, root: context.pack(root / "a.pack"),
    "index_repository": lambda context, root: context.index_repository(root),
    "ask": lambda context, _: context.ask("Who treats?"),
}


def refused(response: dict[str, Any]) -> None:
    """Raise the error of a response, as other calls raise theirs."""
    raise trivium.KipError(response["error"]["code"], response["error"]["message"])


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_nothing_is_written_to_a_context_that_is_gone(
    kb: trivium.KnowledgeBase, tmp_path: Path, write: Callable[[trivium.Context, Path], Any]
) -> None:
    root = a_repository(tmp_path)
    context = kb.create_context("gone")
    context.add_bytes("msa.md", files.MARKDOWN)
    with trivium.open(kb.url) as other:
        other.delete_context("gone")
    with pytest.raises(trivium.TriviumError, match=r"deleted|no context"):
        write(context, root)
    with kb._store.read() as session:
        assert rows_of(session, context._number) == {}
    assert kb.doctor()["ok"]


def test_the_default_context_and_a_busy_one_stay(kb: trivium.KnowledgeBase) -> None:
    with pytest.raises(trivium.StoreError, match="default"):
        kb.delete_context("default")
    with pytest.raises(trivium.NotFoundError):
        kb.delete_context("nowhere")
    context = kb.create_context("busy")
    context.add_bytes("a.md", b"# A\n")

    def progress(done: int, total: int) -> None:
        with pytest.raises(BusyError):
            kb.delete_context("busy")

    context.curate(progress=progress)
    kb.delete_context("busy")


def test_a_context_deleted_by_another_process_is_gone_here(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "a.db") as one, trivium.open(tmp_path / "a.db") as other:
        context = one.create_context("shared")
        other.delete_context("shared")
        with pytest.raises(trivium.NotFoundError):
            one.context("shared")
        made = other.create_context("shared", name="Second")
        assert one.context("shared").describe()["name"] == "Second"
        assert made._number != context._number


# --- artifacts ------------------------------------------------------------------------------------


def artifacts(context: trivium.Context) -> dict[str, dict[str, Any]]:
    with context.knowledge_base._store.read() as session:
        found = session.rows(
            "SELECT name, type, kind, scope, json(sources), json(edges), text FROM artifact WHERE ctx = ? AND live = 1",
            (context._number,),
        )
    names = ("type", "kind", "scope", "sources", "edges", "text")
    parsed = ((row[0], [*row[1:4], json.loads(row[4]), json.loads(row[5]), row[6]]) for row in found)
    return {name: dict(zip(names, facts, strict=True)) for name, facts in parsed}


def test_artifacts_are_built_only_when_the_manifest_says_so(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("plain")
    context.execute_kip({"command": GRAPH})
    context.add_bytes("glossary.md", b"# Glossary\n\n- **Buoy**: a float.\n")
    assert context.curate()["artifacts"] == 0
    context.update(manifest={"curate": {"artifacts": {"enabled": True}}})
    report = context.curate()
    assert report["read"] == 0
    assert report["artifacts"] == 3
    found = artifacts(context)
    assert found["Buoy"] == {
        "type": "glossary",
        "kind": "glossary",
        "scope": "corpus",
        "sources": ["glossary.md"],
        "edges": [],
        "text": "# Buoy\n\na float.",
    }
    assert found["Aspirin"]["text"] == (
        "# Aspirin\n\nType: Drug\n\nThins the blood.\n\naliases: ASA\nrisk: 2\ntrade: yes\n\ntreats: Placebo"
    )
    assert found["Aspirin"]["edges"] == [{"name": "treats", "to": "Placebo", "attributes": {}}]
    assert found["Glossary (glossary.md)"]["kind"] == "doc"
    context.update(manifest={})
    assert context.curate()["artifacts"] == 0


def test_terms_are_found_in_more_documents_than_one_page_holds(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.ingest.artifacts.PAGE", 2)
    context = kb.create_context("many", manifest={"curate": {"artifacts": {"enabled": True}}})
    other = kb.create_context("other")
    for number in range(5):
        term = chr(ord("A") + number) * 3
        text = f'"{term}" means the fee of that kind.\n'.encode()
        context.add_bytes(f"{number}.md", text)
        other.add_bytes(f"{number}.md", text)
    other.curate()
    context.curate()
    entries, _ = context.knowledge_folder("artifacts")
    names = [entry["name"] for entry in entries if entry["kind"] == "glossary"]
    assert sorted(names) == ["AAA", "BBB", "CCC", "DDD", "EEE"]


def test_types_of_the_manifest_choose_kinds_and_name_them(kb: trivium.KnowledgeBase) -> None:
    types = [{"name": "Drug", "kind": "entity"}, {"name": "words", "kind": "glossary", "min_doc_count": 2}]
    context = kb.create_context("typed", manifest={"curate": {"artifacts": {"enabled": True, "artifact_types": types}}})
    context.execute_kip({"command": GRAPH})
    context.execute_kip(
        {"command": 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { description: "Counts." } } }'}
    )
    context.add_bytes("glossary.md", b"# Glossary\n\n- **Buoy**: a float.\n- **Quay**: a wall.\n")
    context.add_bytes("terms.md", b"# Terminology\n\n| term | meaning |\n| --- | --- |\n| quay | where ships land |\n")
    context.curate()
    found = artifacts(context)
    assert {name: item["type"] for name, item in found.items()} == {"Aspirin": "Drug", "Quay": "words"}
    assert found["Quay"]["text"] == "# Quay\n\na wall.\n\nwhere ships land"
    assert found["Quay"]["sources"] == ["glossary.md", "terms.md"]


def test_artifacts_that_stay_as_they_are_keep_their_rows(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("stable", manifest={"curate": {"artifacts": {"enabled": True}}})
    context.add_bytes("glossary.md", b"# Glossary\n\n- **Buoy**: a float.\n- **Quay**: a wall.\n")
    context.curate()

    def ids() -> dict[str, int]:
        with kb._store.read() as session:
            return dict(session.rows("SELECT name, id FROM artifact WHERE ctx = ?", (context._number,)))

    before = ids()
    context.add_bytes("glossary.md", b"# Glossary\n\n- **Buoy**: a large float.\n- **Quay**: a wall.\n")
    context.curate()
    after = ids()
    assert after["Quay"] == before["Quay"]
    assert after["Buoy"] != before["Buoy"]
    context.delete_source("glossary.md")
    context.curate()
    assert ids() == {}


def test_a_repository_gives_its_decisions(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    from trivium.doors.demo_why import make_repository

    make_repository(tmp_path / "repo")
    context = kb.create_context("repo", manifest={"curate": {"artifacts": {"enabled": True}}})
    context.index_repository(tmp_path / "repo")
    context.add(tmp_path / "repo")
    context.curate()
    found = artifacts(context)
    decisions = [item for item in found.values() if item["type"] == "decision"]
    assert len(decisions) == 3
    assert any(edge["name"] == "supersedes" for item in decisions for edge in item["edges"])


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (
            "# Glossary\n\n## Buoy\n\nA float\nat sea.\n\n## Quay\n\nA wall.\n",
            {"Buoy": "A float\nat sea.", "Quay": "A wall."},
        ),
        ("# Notes\n\n- **Not**: a term\n", {}),
        (
            "# Notes\n\n## Definitions\n\n- Buoy: a float\n- Quay - a wall\n\n## Rest\n\n- Other: no term\n",
            {"Buoy": "a float", "Quay": "a wall"},
        ),
        ("| Abbreviation | Meaning |\n|---|---|\n| KIP | a protocol |\n", {"KIP": "a protocol"}),
        ("| City | Meaning |\n|---|---|\n| Rome | a protocol |\n", {}),
        ("Term | Definition\nBuoy | a float\n", {"Buoy": "a float"}),
        (
            '1.1 "Services" means the work of Annex A. It may change.\n',
            {"Services": '"Services" means the work of Annex A.'},
        ),
        ("“Fee” (the Fee) shall mean\nthe price.\n", {"Fee": "“Fee” (the Fee) shall mean\nthe price."}),
        ("# 术语\n\n- **浮标**：漂浮物。\n", {"浮标": "漂浮物。"}),
    ],
)
def test_terms_are_found_where_documents_define_them(text: str, terms: dict[str, str]) -> None:
    assert dict(terms_of(text, "notes.md", "Notes")) == terms


# --- packs ----------------------------------------------------------------------------------------


def packed(kb: trivium.KnowledgeBase, tmp_path: Path) -> Path:
    manifest = {"curate": {"chunks": {"chunking": {"target_size": 256}}}}
    context = kb.create_context("contracts", name="Contracts", guide="Be brief.", manifest=manifest)
    context.execute_kip({"command": GRAPH})
    context.add_bytes("papers/合同 1.md", files.MARKDOWN, dated="2020-01-01")
    context.add_bytes("page.html", files.HTML)
    context.curate()
    place = tmp_path / "contracts.context.zip"
    report = context.pack(place)
    assert (report["sources"], report["file"]) == (2, str(place))
    return place


def test_a_pack_restores_the_whole_context(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    place = packed(kb, tmp_path)
    with trivium.open(":memory:") as other:
        report = other.restore(place)
        assert (report["slug"], report["added"], report["skipped"]) == ("contracts", 2, [])
        context = other.context("contracts")
        before, after = kb.context("contracts").describe(stats=True), context.describe(stats=True)
        for key in ("name", "guide", "manifest", "queryable", "stats"):
            assert after[key] == before[key]
        assert context.read_source("papers/合同 1.md") == files.MARKDOWN
        dates = {source["path"]: source["dated"] for source in context.sources()}
        assert dates == {source["path"]: source["dated"] for source in kb.context("contracts").sources()}
        found = context.execute_kip({"command": 'FIND(?o.name) WHERE { ?s {name: "Aspirin"} (?s, "treats", ?o) }'})
        assert found == {"result": ["Placebo"]}
        keys = []
        for base in (kb, other):
            ctx = base.context("contracts")._number
            with base._store.read() as session:
                row = documents.find(session, ctx, "page.html")
                assert row is not None
                keys.append([key for _, key, _, _ in files.chunk_rows(session, row.id)])
        assert keys[0] == keys[1]


def test_a_pack_restores_under_another_slug_and_from_an_open_file(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    place = packed(kb, tmp_path)
    with pytest.raises(trivium.StoreError, match="exists"):
        kb.restore(place)
    report = kb.restore(io.BytesIO(place.read_bytes()), slug="copy", curate=False)
    assert report["slug"] == "copy"
    assert kb.context("copy").describe()["stale"]
    with pytest.raises(ValueError, match="slug"):
        kb.restore(place, slug="No Slug")


def test_packs_are_written_and_restored_in_the_background(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    packed(kb, tmp_path)
    task = kb.tasks.wait(kb.context("contracts").start_pack(tmp_path / "second.zip"), 30)
    assert (task["state"], task["workflow"], task["result"]["sources"]) == ("completed", "pack", 2)
    task = kb.tasks.wait(kb.start_restore(tmp_path / "second.zip", slug="copy"), 30)
    assert (task["state"], task["workflow"], task["context"]) == ("completed", "restore", None)
    assert task["result"]["slug"] == "copy"
    assert kb.context("copy").describe()["queryable"]
    task = kb.tasks.wait(kb.start_restore(io.BytesIO(b"no pack"), slug="other"), 30)
    assert (task["state"], task["error"]) == ("failed", "The pack is damaged (File is not a zip file).")


def test_a_pack_is_not_written_over_a_file(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    place = packed(kb, tmp_path)
    with pytest.raises(trivium.StoreError, match="exists"):
        kb.context("contracts").pack(place)
    with pytest.raises(trivium.StoreError, match="cannot be written"):
        kb.context("contracts").pack(tmp_path / "nowhere" / "x.zip")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".zip"] == ["contracts.context.zip"]


def changed(place: Path, changes: dict[str, bytes | None]) -> io.BytesIO:
    """A pack with other members."""
    out = io.BytesIO()
    with zipfile.ZipFile(place) as source, zipfile.ZipFile(out, "w") as target:
        for name in [*source.namelist(), *(set(changes) - set(source.namelist()))]:
            data = changes[name] if name in changes else source.read(name)
            if data is not None:
                target.writestr(name, data)
    return out


def test_a_forged_pack_restores_what_is_sound_or_nothing(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    place = packed(kb, tmp_path)
    report = kb.restore(changed(place, {"sources/page.html": b"other"}), slug="forged")
    assert report["skipped"] == [{"path": "page.html", "reason": "its bytes differ from those that were packed"}]
    with zipfile.ZipFile(place) as archive:
        head = json.loads(archive.read("pack.json"))
    item = head["sources"][0]
    listed = [item | {"path": path} for path in ("../up.md", "/abs.md", "missing.md")]
    report = kb.restore(changed(place, {"pack.json": json.dumps(head | {"sources": listed}).encode()}), slug="names")
    assert len(report["skipped"]) == 3
    before = [context.slug for context in kb.contexts()]
    for changes in (
        {"graph.kip": b'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug"} }'},
        {"graph.kip": b"\xff\xfe"},
        {"pack.json": json.dumps(head | {"fields": {"manifest": {"bad": 1}}}).encode()},
        {"pack.json": json.dumps(head | {"version": 99}).encode()},
        {"pack.json": json.dumps(head | {"slug": "No Slug"}).encode()},
        {"pack.json": json.dumps(head | {"sources": [5]}).encode()},
        {"pack.json": b"[]"},
        {"pack.json": b"{"},
        {"pack.json": None},
    ):
        with pytest.raises((trivium.TriviumError, ValueError)) as caught:
            kb.restore(
                changed(place, changes), slug=None if b"No Slug" in (changes.get("pack.json") or b"") else "broken"
            )
        assert getattr(caught.value, "hint", "slug")
    with pytest.raises(PackError):
        kb.restore(io.BytesIO(b"no zip at all"), slug="broken")
    with pytest.raises(PackError):
        kb.restore(io.BytesIO(place.read_bytes()[:-400]), slug="broken")
    with pytest.raises(trivium.NotFoundError):
        kb.restore(tmp_path / "nowhere.zip")
    assert [context.slug for context in kb.contexts()] == before
    assert kb.doctor()["ok"]
