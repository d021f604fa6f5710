"""From files to answers: the worked example, equal bytes however built, freshness, failures, hostile repositories."""

from __future__ import annotations

import builtins
import io
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.git_repository import GitRepository
from tests.why_examples import CHANGE_ID, CONCEPT_ID, FIFO_ID, FILES, LRU_ID, MODULE
from tests.why_repositories import Editor, check_order, entity_named, make, recompute_regions
from trivium import Context
from trivium.errors import TriviumError
from trivium.store.graph_writer import GraphWriter
from trivium.why import build as module
from trivium.why.build import Build, Parts, build
from trivium.why.config import Config, load_config
from trivium.why.fingerprint import FileHashes
from trivium.why.model import sha256
from trivium.why.query import knowledge_why
from trivium.why.response import validate
from trivium.why.stored import IndexDamagedError, IndexMissingError, IndexStaleError
from trivium.why.tools import call_tool

ENTITIES = Config(entities=True)


@pytest.fixture(autouse=True)
def neutral_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(str(tmp_path / "k.db")) as base:
        yield base


@pytest.fixture
def example(kb: trivium.KnowledgeBase, tmp_path: Path) -> Context:
    """The worked example of reference 15, indexed from its six files."""
    files = GitRepository(tmp_path / "example", start=False)
    for path, text in FILES.items():
        files.write(path, text)
    context = kb.repository_context(files.root, create=True)
    context.index_repository(files.root)
    return context


def checked(root: Path, config: Config = ENTITIES, **options: Any) -> Build:
    """A build whose order, evidence and hash were checked."""
    built = build(root, config, **options)
    recompute_regions(root, built.index)
    check_order(built.index)
    assert sha256(built.body) == built.index.index_hash
    return built


# --- the worked example (15) ----------------------------------------------------------------------


def _entities() -> list[dict[str, Any]]:
    def whole(path: str) -> dict[str, Any]:
        text = FILES[path]
        found = {"kind": "document-region", "path": path, "lineStart": 1, "lineEnd": text.count("\n")}
        return {**found, "regionHash": sha256(text.encode())}

    fact = {"kind": "fact", "factId": MODULE}
    at_path, path = {"kind": "affected-fact", "target": MODULE}, {"kind": "affected-path", "target": "src/cache.ts"}
    line = {"kind": "document-region", "path": "CHANGELOG.md", "lineStart": 5, "lineEnd": 5}
    line["regionHash"] = sha256(b"- Evict by last use in `src/cache.ts`.\n")
    return [
        {
            "schemaVersion": 1,
            "id": CHANGE_ID,
            "kind": "change",
            "name": "Evict by last use in src/cache.ts.",
            "aliases": [],
            "evidence": [line, fact],
            "links": [at_path, path],
        },
        {
            "schemaVersion": 1,
            "id": CONCEPT_ID,
            "kind": "concept",
            "name": "Lookup cache",
            "aliases": ["Cache"],
            "evidence": [whole("docs/cache.md"), fact],
            "links": [{"kind": "defines-symbol", "target": MODULE, "symbol": "Cache"}],
        },
        {
            "schemaVersion": 1,
            "id": LRU_ID,
            "kind": "decision",
            "name": "Evict the least recently used",
            "aliases": [],
            "evidence": [whole("docs/adr/0002-lru.md"), fact],
            "links": [{**at_path, "symbol": "Cache"}, at_path, path, {"kind": "supersedes", "target": FIFO_ID}],
            "status": "accepted",
            "date": "2026-02-03",
        },
    ]


def _sorted(entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    return [
        {**one, "evidence": sorted(one["evidence"], key=compact), "links": sorted(one["links"], key=compact)}
        for one in entities
    ]


def test_the_worked_example_from_its_files(example: Context) -> None:
    answer = example.why("Cache")
    validate(answer)
    documents = [
        {
            "id": f"document:{path}",
            "path": path,
            "contentHash": sha256(FILES[path].encode()),
            "context": f"via src/cache.ts (line {line})",
        }
        for path, line in (("CHANGELOG.md", 5), ("docs/adr/0002-lru.md", 9), ("docs/guide.md", 3))
    ]
    coverage = answer.pop("coverage")
    assert answer == {
        "type": "knowledge-why",
        "schemaVersion": 1,
        "source": f"index:{example.repository_index().index_hash}",
        "target": "Cache",
        "enabled": True,
        "entities": _sorted(_entities()),
        "documents": documents,
        "truncated": False,
    }
    assert {record["scope"]: record["status"] for record in coverage} == {
        "documents": "complete",
        "git:first-parent": "not-analyzed",
        "symbols:typescript": "complete",
    }


def test_every_call_of_the_worked_example(example: Context) -> None:
    whole = example.why("Cache")
    assert example.why("cache") == {**whole, "target": "cache", "entities": [], "documents": []} | _guidance(example)
    for target in ("src/cache.ts", "Lookup cache"):
        assert example.why(target) == {**whole, "target": target}
    one = example.why("Cache", limit=1)
    assert one == {**whole, "entities": one["entities"], "documents": whole["documents"][:1], "truncated": True}
    assert [found["id"] for found in one["entities"]] == [CONCEPT_ID]
    decision = example.why("Cache", kind="decision")
    assert decision == {**whole, "entities": whole["entities"][2:]}
    loaded = example.repository_index().prepared
    result = call_tool("knowledge.decision", {"target": "Cache"}, lambda: loaded)
    assert json.loads(result.text) == decision
    small = example.why("Cache", budget_tokens=1)
    assert small["budget"]["fits"] is False
    assert {key: value for key, value in small.items() if key not in ("budget", "guidance")} == whole
    older = example.why(FIFO_ID)
    assert [(found["id"], found["status"]) for found in older["entities"]] == [(FIFO_ID, "superseded")]


def _guidance(example: Context) -> dict[str, Any]:
    return {"guidance": example.why("cache")["guidance"]}


def test_without_entities_the_answer_says_how_to_switch_them_on(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    files = GitRepository(tmp_path / "work")
    files.write("trivium.toml", "[index.knowledgeEntities]\nenabled = false\n")
    files.commit("start", "src/a.py")
    context = kb.repository_context(files.root, create=True)
    summary = context.index_repository(files.root).summary
    assert (summary.modules, summary.changes) == (1, 0)
    answer = context.why("src/a.py")
    assert (answer["enabled"], answer["entities"], answer["coverage"]) == (False, [], [])
    assert "index.knowledgeEntities.enabled" in answer["guidance"]
    before = context.repository_index().index_hash
    (files.root / "trivium.toml").unlink()
    context.index_repository(files.root, config=Config())
    assert context.repository_index().index_hash != before  # a file fewer, otherwise as with the switch off
    assert context.why("src/a.py")["enabled"] is False


# --- equal bytes ----------------------------------------------------------------------------------


def test_two_cold_builds_give_the_same_bytes(tmp_path: Path) -> None:
    place = make(tmp_path / "work")
    first, second = checked(place.root), checked(place.root)
    assert (first.body, first.fingerprint) == (second.body, second.fingerprint)
    assert first.summary.read == second.summary.read > 5
    assert first.index.memory_relations


@pytest.mark.parametrize("seed", range(5))
def test_a_shuffled_discovery_gives_the_same_bytes(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "work")
    expected = checked(place.root)
    plain = module.discover

    def shuffled(root: Path, config: Config) -> Any:
        found = plain(root, config)
        random.Random(seed).shuffle(found.files)
        return found

    monkeypatch.setattr(module, "discover", shuffled)
    built = checked(place.root)
    assert (built.body, built.fingerprint) == (expected.body, expected.fingerprint)


def test_another_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    place = make(tmp_path / "work")
    expected = checked(place.root)
    GitRepository(tmp_path, start=False).git("clone", "-q", str(place.root), "ein anderer Ort")
    clone = checked(tmp_path / "ein anderer Ort")
    assert (clone.body, clone.fingerprint) == (expected.body, expected.fingerprint)
    shutil.copytree(place.root, tmp_path / "copy")
    assert checked(tmp_path / "copy").body == expected.body


@pytest.mark.parametrize(
    "settings",
    [
        {"LC_ALL": "C", "PYTHONHASHSEED": "1"},
        {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"},
        {"LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "3", "TZ": "America/Los_Angeles"},
        {"LC_ALL": "sv_SE.UTF-8", "LANGUAGE": "sv", "PYTHONHASHSEED": "4"},
    ],
    ids=lambda settings: settings["LC_ALL"],
)
def test_another_locale_gives_the_same_bytes(tmp_path: Path, settings: dict[str, str]) -> None:
    place = make(tmp_path / "work")
    for name in ("Zebra", "ärger", "Ärger", "apfel", "ı", "I", "i"):
        place.write(f"docs/adr/{name}-x.md", f"# {name}\n\nStatus: accepted\n")
    expected = checked(place.root)
    code = (
        "import sys\nfrom trivium.why.build import build\nfrom trivium.why.config import Config\n"
        "built = build(sys.argv[1], Config(entities=True))\nprint(built.index.index_hash, built.fingerprint)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(place.root)],
        env=os.environ | settings,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert out.split() == [expected.index.index_hash, expected.fingerprint]


def warm_equals_cold(root: Path, seed: int, edits: int) -> None:
    """After each edit a build from the last build's parts and hashes gives what a cold build gives."""
    place = make(root)
    editor = Editor(place, seed)
    built = build(place.root, load_config(place.root, entities=True))
    reused = 0
    for _ in range(edits):
        editor.edit()
        config = load_config(place.root, entities=True)
        parts, hashes = Parts.from_bytes(built.parts.to_bytes()), FileHashes.from_json(built.hashes.to_json())
        built = build(place.root, config, parts=parts, hashes=hashes)
        cold = checked(place.root, config)
        assert built.body == cold.body, editor.log
        assert built.fingerprint == cold.fingerprint, editor.log
        assert built.parts == cold.parts, editor.log
        reused += built.summary.reused
    assert reused > 4 * edits


def test_after_each_of_two_hundred_edits_a_warm_build_is_a_cold_one(tmp_path: Path) -> None:
    warm_equals_cold(tmp_path / "work", seed=1, edits=200)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_after_many_more_edits_a_warm_build_is_a_cold_one(tmp_path: Path, seed: int) -> None:
    warm_equals_cold(tmp_path / "work", seed=seed, edits=250)


def test_an_unchanged_repository_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "work")
    for file in place.root.rglob("*.*"):
        if file.is_file() and ".git" not in file.parts:
            os.utime(file, ns=(1_700_000_000_000_000_001, 1_700_000_000_000_000_001))
    first = checked(place.root)
    monkeypatch.setattr(module.documents, "read_document", None)
    monkeypatch.setattr(module.symbols.Analysis, "add", None)
    second = checked(place.root, parts=first.parts, hashes=first.hashes)
    assert second.body == first.body
    assert (second.summary.read, second.summary.reused) == (0, first.summary.read)


def test_other_rules_are_not_answered_from_kept_parts(tmp_path: Path) -> None:
    place = make(tmp_path / "work")
    first = checked(place.root)
    config = Config(entities=True, records=("docs/guide.md",))
    warm = checked(place.root, config, parts=first.parts, hashes=first.hashes)
    assert warm.body == checked(place.root, config).body != first.body
    assert warm.summary.reused == 0


def test_patterns_of_the_configuration_take_linear_time(tmp_path: Path) -> None:
    place = GitRepository(tmp_path / "work", start=False)
    place.write("docs/" + "a" * 200 + ".md", "# A\n")
    place.write("notes/new\nline/b.md", "# B\n\nStatus: accepted\n")
    hard = "*a" * 30 + "b"
    config = Config(entities=True, records=(hard, f"docs/{hard}", "notes/**"), glossaries=(hard,), changelogs=(hard,))
    start = time.process_time()
    built = checked(place.root, config)
    assert time.process_time() - start < 5
    assert [entity.name for entity in built.index.entities or []] == ["B"]


def test_damaged_parts_are_none(tmp_path: Path) -> None:
    place = make(tmp_path / "work")
    first = checked(place.root)
    data = first.parts.to_bytes()
    for damaged in (b"", data[: len(data) // 2], b"\xc1" + data, b"{}", b"\x90"):
        assert Parts.from_bytes(damaged) == Parts()
        assert checked(place.root, parts=Parts.from_bytes(damaged)).body == first.body


def test_a_flipped_bit_in_kept_parts_is_never_believed(tmp_path: Path) -> None:
    place = make(tmp_path / "work")
    settle(place.root)
    first = checked(place.root)
    data = first.parts.to_bytes()
    assert checked(place.root, parts=Parts.from_bytes(data), hashes=first.hashes).summary.read == 0
    chance = random.Random(4)
    again = 0
    for _ in range(150):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        built = build(place.root, ENTITIES, parts=Parts.from_bytes(bytes(damaged)), hashes=first.hashes)
        assert built.body == first.body
        again += built.summary.read == 1
    assert again > 75  # mostly one file alone is parsed again


def test_a_damaged_cache_of_parts_gives_the_index_of_a_cold_build(example: Context) -> None:
    root = Path(example.repository_index().root)
    settle(root)
    example.index_repository(root)
    expected = example.repository_index().index_hash
    with example.knowledge_base._store.write() as session:
        (parts,) = session.row("SELECT parts FROM repository WHERE ctx = ?", (example._nexus.ctx,)) or (b"",)
        assert parts.count(b"Cache") > 1
        session.execute("UPDATE repository SET parts = ?", (parts.replace(b"Cache", b"Cachf"),))
    assert not example.index_repository(root).changed
    assert example.repository_index().index_hash == expected


def settle(root: Path) -> None:
    """Let files be old enough for their hashes to be kept."""
    for file in root.rglob("*"):
        if file.is_file() and ".git" not in file.parts:
            os.utime(file, ns=(1_700_000_000_000_000_001, 1_700_000_000_000_000_001))


def test_another_python_reads_python_files_again_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "work")
    place.write("src/app/later.py", "type Later = int\n")
    settle(place.root)
    first = checked(place.root)
    monkeypatch.setattr(module, "PYTHON_GRAMMAR", "9.9")
    parts = Parts.from_bytes(first.parts.to_bytes())
    second = checked(place.root, parts=parts, hashes=first.hashes)
    assert second.summary.read == 3
    assert second.body == first.body
    assert checked(place.root, parts=second.parts, hashes=first.hashes).summary.read == 0


def test_history_is_read_again_only_when_the_repository_has_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make(tmp_path / "work")
    first = checked(place.root)
    assert first.index.commits
    parts = Parts.from_bytes(first.parts.to_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(module, "read_history", _fail)
        assert checked(place.root, parts=parts).body == first.body
        with pytest.raises(Planned):
            checked(place.root, Config(entities=True, max_commits=9), parts=parts)
        place.commit("one more")
        with pytest.raises(Planned):
            checked(place.root, parts=parts)
    assert checked(place.root, parts=parts).body == checked(place.root).body != first.body


def test_history_that_a_bound_cut_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "work")
    monkeypatch.setattr(
        "trivium.why.history.read_history.__kwdefaults__", {"head": None, "seconds": 30, "max_bytes": 9}
    )
    cut = checked(place.root)
    assert cut.parts.history is None
    monkeypatch.undo()
    assert checked(place.root, parts=cut.parts).index.commits


# --- evidence -------------------------------------------------------------------------------------


def test_every_region_recomputes_for_all_kinds_of_line_ends(tmp_path: Path) -> None:
    files = GitRepository(tmp_path / "work", start=False)
    record = "# Größe {}\n\n## Status\n\naccepted\n\nIn `src/a.py` — 索引.\n"
    glossary = "# Glossary\n\n## Eins\n\nText\n\n- **Zwei**: text\n\n| Term | Meaning |\n|---|---|\n| Drei | x |\n"
    changes = "# Changes\n\n## 1.0\n\n- one\n  - nested\n- two\n  over lines\n"
    for number, end in enumerate(("\n", "\r\n", "\r")):
        for mark in ("", "\ufeff"):
            for last in ("", end):
                folder = f"v{number}{'b' if mark else ''}{'e' if last else ''}"
                for name, text in ((f"adr/{folder}.md", record), (f"{folder}/glossary.md", glossary)):
                    text = text.format(folder).strip("\n").replace("\n", end)
                    files.write(name, (mark + text + last).encode())
                text = changes.strip("\n").replace("\n", end)
                files.write(f"{folder}/CHANGELOG.md", (mark + text + last).encode())
    files.write("src/a.py", "a = 1\n")
    built = checked(files.root)
    assert built.summary.decisions == 12
    assert built.summary.concepts == 3
    assert built.summary.changes == 36
    assert recompute_regions(files.root, built.index) == 12 + 36 + 36


# --- failure --------------------------------------------------------------------------------------


class Planned(Exception):
    """A failure that a test planned."""


def _fail(*_: Any, **__: Any) -> Any:
    raise Planned


def _contents(context: Context) -> list[Any]:
    with context.knowledge_base._store.read() as session:
        number = (context._nexus.ctx,)
        return [
            session.rows("SELECT * FROM concept WHERE ctx = ? ORDER BY id", number),
            session.rows("SELECT * FROM link WHERE ctx = ? ORDER BY id", number),
            session.rows("SELECT * FROM repository WHERE ctx = ?", number),
            session.rows("SELECT kind, key, n FROM counter WHERE ctx = ? ORDER BY 1, 2", number),
            session.rows("SELECT * FROM sequence ORDER BY 1"),
        ]


@pytest.mark.parametrize("place", ["reading", "links", "nodes", "finish", "save", "progress"])
def test_after_a_failure_the_old_index_and_graph_are_there(
    example: Context, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    root = Path(example.repository_index().root)
    before, answer = _contents(example), example.why("Cache")
    (root / "src/more.ts").write_text("export class More {}\n")
    (root / "docs/adr/0003-more.md").write_text("# More\n\nStatus: accepted\n\n`More` and `src/cache.ts`\n")
    (root / "docs/adr/0001-fifo.md").unlink()
    with monkeypatch.context() as patch:
        if place == "reading":
            patch.setattr(module.documents, "read_document", _fail)
        elif place == "links":
            patch.setattr(GraphWriter, "insert_links", _fail)
        elif place == "nodes":
            patch.setattr(GraphWriter, "delete_concept", _fail)
        elif place == "finish":
            patch.setattr(GraphWriter, "finish", _fail)
        elif place == "save":
            patch.setattr("trivium.store.repository.save", _fail)
        with pytest.raises(Planned):
            example.index_repository(root, progress=_fail if place == "progress" else None)
    assert _contents(example) == before
    assert example.why("Cache") == answer
    with pytest.raises(IndexStaleError):
        example.check_index()
    report = example.index_repository(root)
    assert report.changed
    assert report.projection.removed
    example.check_index()
    assert len(example.why("src/cache.ts")["entities"]) == 4


def test_a_process_that_dies_while_it_indexes_leaves_the_old_index(example: Context) -> None:
    root = Path(example.repository_index().root)
    answer = example.why("Cache")
    (root / "docs/more.md").write_text("# More\n")
    code = (
        "import os, sys, trivium\nfrom trivium.store.graph_writer import GraphWriter\n"
        "GraphWriter.finish = lambda self: os._exit(9)\n"
        "kb = trivium.open(sys.argv[1])\nkb.repository_context(sys.argv[2]).index_repository(sys.argv[2])\n"
    )
    url = example.knowledge_base.url
    assert subprocess.run([sys.executable, "-c", code, url, str(root)], check=False).returncode == 9
    assert example.why("Cache") == answer
    assert example.index_repository(root).changed


def test_another_connection_sees_the_new_index(example: Context) -> None:
    root = Path(example.repository_index().root)
    with trivium.open(example.knowledge_base.url) as other:
        context = other.repository_context(root)
        before = context.why("Cache")
        (root / "docs/more.md").write_text("# More\n\n`Cache`\n")
        example.index_repository(root)
        after = context.why("Cache")
        assert len(after["documents"]) == len(before["documents"]) + 1
        assert after == example.why("Cache")


# --- the query has no side effects ----------------------------------------------------------------


def test_a_query_runs_without_files_processes_and_sockets(example: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = ("Cache", "src/cache.ts", "cache", "docs", "src/cache.ts:1", FIFO_ID)
    expected = [example.why(target) for target in targets]
    example._repository._loaded = None
    for owner, name in (
        (socket, "socket"),
        (subprocess, "Popen"),
        (builtins, "open"),
        (io, "open"),
        (os, "open"),
        (os, "scandir"),
        (os, "listdir"),
        (os, "stat"),
        (os, "lstat"),
    ):
        monkeypatch.setattr(owner, name, _fail)
    found = [example.why(target) for target in targets]
    monkeypatch.undo()
    assert found == expected


# --- freshness (17) -------------------------------------------------------------------------------


@pytest.fixture
def indexed(kb: trivium.KnowledgeBase, tmp_path: Path) -> Context:
    place = make(tmp_path / "work")
    place.git("tag", "v0")
    place.commit("docs: more", "docs/more.md")
    place.write("trivium.toml", '[index.knowledgeEntities]\nsinceTag = "v0"\n')
    context = kb.repository_context(place.root, create=True)
    context.index_repository(place.root)
    context.check_index()
    context.check_index(cache=False)
    return context


STALE: dict[str, Callable[[GitRepository], object]] = {
    "edited file": lambda place: place.write("docs/guide.md", "# Other\n"),
    "edited module": lambda place: place.write("src/web/view.ts", "export class Other {}\n"),
    "added file": lambda place: place.write("docs/new.md", "# New\n"),
    "added file that nothing reads": lambda place: place.write("LICENSE", "free\n"),
    "removed file": lambda place: (place.root / "docs/guide.md").unlink(),
    "renamed file": lambda place: (place.root / "docs/guide.md").rename(place.root / "docs/guides.md"),
    "new commit only": lambda place: place.commit("only history"),
    "moved tag": lambda place: place.git("tag", "-f", "v0", "HEAD"),
    "edited configuration": lambda place: place.write("trivium.toml", "[index.knowledgeEntities]\nmaxCommits = 9\n"),
    "edited memory note": lambda place: place.write(".agent-memory/note.md", "Cache, again\n"),
    "added memory note": lambda place: place.write(".agent-memory/more.md", "Cache\n"),
    "added ignore rule": lambda place: place.write(".git/info/exclude", "docs/more.md\ntrivium.toml\n"),
}


@pytest.mark.parametrize("name", STALE)
def test_what_makes_an_index_stale(indexed: Context, name: str) -> None:
    root = Path(indexed.repository_index().root)
    before = indexed.why("Cache")
    STALE[name](GitRepository(root, start=False))
    for cache in (True, False):
        with pytest.raises(IndexStaleError, match="no longer describes") as caught:
            indexed.check_index(cache=cache)
        assert "trivium index" in (caught.value.hint or "")
    assert indexed.why("Cache") == before
    indexed.index_repository(root)
    indexed.check_index()
    indexed.check_index(cache=False)


def test_a_new_time_alone_keeps_an_index_fresh(indexed: Context) -> None:
    root = Path(indexed.repository_index().root)
    os.utime(root / "docs/guide.md")
    indexed.check_index()
    assert not indexed.index_repository(root).changed


def test_a_damaged_index_is_refused(indexed: Context) -> None:
    with indexed.knowledge_base._store.write() as session:
        session.execute("UPDATE repository SET body = CAST(replace(CAST(body AS TEXT), 'Cache', 'Cachf') AS BLOB)")
    fresh = trivium.open(indexed.knowledge_base.url)
    context = fresh.context(indexed.slug)
    for call in (context.check_index, lambda: context.why("Cache")):
        with pytest.raises(IndexDamagedError, match="damaged") as caught:
            call()
        assert "trivium index" in (caught.value.hint or "")
    context.index_repository(context_root(context))
    context.check_index()
    assert context.why("Cache")["entities"]
    fresh.close()


def context_root(context: Context) -> str:
    with context.knowledge_base._store.read() as session:
        return str(session.value("SELECT root FROM repository WHERE ctx = ?", (context._nexus.ctx,)))


def test_a_missing_index_is_named(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("empty")
    for call in (context.check_index, lambda: context.why("x"), context.repository_index):
        with pytest.raises(IndexMissingError, match="no repository index") as caught:
            call()
        assert "trivium index" in (caught.value.hint or "")


def test_a_file_that_changes_after_it_was_read_makes_the_index_stale(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    place = make(tmp_path / "work")
    context = kb.repository_context(place.root, create=True)

    def change(number: int, total: int) -> None:
        if number == total:
            place.write("docs/adr/0002-lru.md", "# Other\n\nStatus: rejected\n")

    context.index_repository(place.root, progress=change)
    assert context.why("Last used")["entities"]
    with pytest.raises(IndexStaleError):
        context.check_index()


def test_a_commit_during_the_build_makes_the_index_stale(
    kb: trivium.KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make(tmp_path / "work")
    context = kb.repository_context(place.root, create=True)
    plain = module.read_history

    def late(root: Path, config: Config) -> Any:
        found = plain(root, config)
        place.commit("too late")
        return found

    monkeypatch.setattr(module, "read_history", late)
    context.index_repository(place.root)
    with pytest.raises(IndexStaleError):
        context.check_index()
    monkeypatch.undo()
    context.index_repository(place.root)
    context.check_index()


# --- hostile repositories -------------------------------------------------------------------------


def yaml_bomb(place: GitRepository) -> None:
    rows = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    place.write("docs/adr/1.md", "---\n" + "\n".join(rows) + "\n---\n# Bomb\n\nStatus: accepted\n")
    place.write("docs/adr/2.md", "---\nstatus: !!python/object/apply:os.system ['true']\n---\n# Tag\n")
    place.write("docs/adr/3.md", "---\n" + "[" * 20_000 + "\n---\n# Deep\n")
    place.write("docs/adr/4.md", "---\n" + "- " * 5_000 + "x\n---\n# Deeper\n")
    place.write("docs/adr/5.md", "---\n? " + "{a: " * 5_000 + "\n---\n# Deepest\n")


def deep_nesting(place: GitRepository) -> None:
    place.write("docs/a.md", "> " * 5_000 + "x\n")
    place.write("docs/b.md", "\n".join("  " * depth + "- x" for depth in range(600)))
    place.write("docs/c.md", "[" * 50_000 + "](x)" * 5_000)
    place.write("docs/d.md", "*_" * 50_000)
    place.write("src/a.py", "x = " + "(" * 50_000 + ")" * 50_000)
    place.write("src/b.py", "x = " + "-" * 100_000 + "1")
    place.write("src/c.ts", "export const a = " + "[" * 50_000)
    place.write("src/d.js", "{" * 50_000)
    place.write("CHANGES.rst", "\n".join(" " * depth + "- x" for depth in range(600)))


def long_lines(place: GitRepository) -> None:
    size = (4 << 20) - 16
    place.write("docs/adr/0001-a.md", "x" * size)
    place.write("docs/b.md", "`a` " * (size // 4))
    place.write("docs/c.md", "|a" * (size // 2))
    place.write("docs/adr/0002-d.md", "Status: " + "[x](" * (size // 5))
    place.write("src/a.py", "a = '" + "x" * size + "'\n")
    place.write("src/b.ts", "export const a = 1;" * (size // 20))
    place.write("docs/adr/0003-huge.md", "# Huge\n" + "x\n" * (3 << 20))


def traversal(place: GitRepository) -> None:
    outside = place.root.parent / "outside.md"
    outside.write_text("# Outside\n\nStatus: accepted\n")
    place.write(
        "docs/adr/0001-a.md",
        "---\nsupersedes: [../../../outside.md, /etc/passwd, ../../../../../../../etc/passwd]\n"
        "superseded-by: ../../..\ntrivium:\n  covers: [../../../outside.md, /etc/passwd, '..']\n---\n# A\n\n"
        "`../../../outside.md` [x](../../../../etc/passwd) [y](%2e%2e/%2e%2e/%2e%2e/outside.md) `/etc/passwd`\n"
        "[z](..\\..\\..\\outside.md) `docs/../../outside.md` [n](a\x00b)\n",
    )
    place.write("package.json", '{"name": "x", "workspaces": ["../*", "/etc/*", "../../**"]}')


def links_out(place: GitRepository) -> None:
    outside = GitRepository(place.root.parent / "outside", start=False)
    outside.write("0001-secret.md", "# Hidden\n\nStatus: accepted\n")
    (place.root / "docs/adr").mkdir(parents=True)
    (place.root / "docs/adr/0001-a.md").symlink_to(outside.root / "0001-secret.md")
    (place.root / "docs/decisions").symlink_to(outside.root)
    (place.root / "docs/loop").symlink_to(place.root / "docs")
    (place.root / "docs/adr/self.md").symlink_to("self.md")
    (place.root / ".agent-memory").symlink_to(outside.root)
    place.write("CHANGELOG.md", "# Changes\n\n## 1.0\n\n- x\n")


def other_encodings(place: GitRepository) -> None:
    place.write("docs/adr/0001-latin.md", "# Größe\n\nStatus: angenommen für immer\n".encode("latin-1"))
    place.write("docs/adr/0002-utf16.md", "# Wide\n\nStatus: accepted\n".encode("utf-16"))
    place.write("docs/adr/0003-zero.md", b"# Zero\0\n\nStatus: acc\0epted\n")
    place.write("docs/adr/0004-surrogate.md", b"# S \xed\xa0\x80\n\nStatus: accepted\n")
    place.write("src/a.py", "größe = 1\n".encode("latin-1"))
    place.write("src/b.ts", "export class Größe {}\n".encode("utf-16"))
    place.write("src/c.py", b"\0\1\2")
    place.write("CHANGES", b"1.0\n---\n\n- \xff\xfe\n")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_entries_count_the_lines_of_the_text_and_hash_it_without_its_mark(
    tmp_path: Path, mark: bytes, end: str
) -> None:
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(mark, "utf-8")
    texts = {
        "docs/adr/0001-a.md": ["# A", "", "Größe \u0a0a \u2028 b", "", "Status: accepted", ""],
        "src/b.ts": ["// \u0d0a", "export class B {", "}"],
    }
    place = GitRepository(tmp_path / "here", start=False)
    for path, lines in texts.items():
        place.write(path, mark + end.join(lines).encode(encoding))
    found = {entry.path: entry for entry in build(place.root, ENTITIES).index.entries if entry.path in texts}
    assert {path: entry.line_count for path, entry in found.items()} == {"docs/adr/0001-a.md": 5, "src/b.ts": 3}
    for path, lines in texts.items():
        assert found[path].content_hash == sha256(end.join(lines).encode(encoding))


def odd_names(place: GitRepository) -> None:
    names = (
        "a b",
        'quo"te',
        "new\nline",
        "tab\there",
        "ümläut",
        "索引",
        "\U0001f600",
        "-dash",
        "*",
        "[x]",
        "~",
        "$(x)",
    )
    for name in names:
        place.write(f"docs/adr/{name}.md", f"# {name.strip()}\n\nStatus: accepted\n\n`src/{name}.py`\n")
        place.write(f"src/{name}.py", "def f(): ...\n")
    raw = os.fsencode(place.root) + b"/docs/adr/\xff\xfe.md"
    with Path(os.fsdecode(raw)).open("wb") as file:
        file.write(b"# Raw\n")
    place.commit("odd names")


def case_renames(place: GitRepository) -> None:
    place.commit("start", "docs/adr/one.md", "src/a.py")
    place.git("mv", "docs/adr/one.md", "docs/adr/ONE.md")
    place.git("mv", "src/a.py", "src/A.py")
    place.commit("louder")
    place.write("docs/adr/One.md", "# One\n\nStatus: accepted\n")


def no_commits(place: GitRepository) -> None:
    place.write("docs/adr/0001-a.md", "# A\n\nStatus: accepted\n")


def broken_git(place: GitRepository) -> None:
    place.commit("start", "docs/adr/0001-a.md", "src/a.py")
    shutil.rmtree(place.root / ".git/objects")
    (place.root / ".git/objects").mkdir()
    (place.root / ".git/index").write_bytes(b"DIRC broken")


def hostile_settings(place: GitRepository) -> None:
    place.commit("start", "docs/adr/0001-a.md", "src/a.py")
    place.write("hook", '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n').chmod(0o755)
    hook = str(place.root / "hook")
    for key in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor"):
        place.git("config", key, hook)
    place.write(".gitattributes", "*.py diff=x\n")
    place.git("config", "diff.x.textconv", hook)


HOSTILE: dict[Callable[[GitRepository], None], str | None] = {
    yaml_bomb: "invalid-frontmatter",
    deep_nesting: "did not parse",
    long_lines: "region-limit",
    traversal: "unresolved-supersession",
    links_out: None,
    other_encodings: "did not parse",
    odd_names: "path-encoding",
    case_renames: None,
    no_commits: "no commits yet",
    broken_git: "git-failed",
    hostile_settings: None,
}


@pytest.mark.parametrize("make_hostile", HOSTILE, ids=lambda one: one.__name__)
def test_a_hostile_repository_gives_a_whole_index_with_notes(
    kb: trivium.KnowledgeBase, tmp_path: Path, make_hostile: Callable[[GitRepository], None]
) -> None:
    place = GitRepository(tmp_path / "work")
    make_hostile(place)
    context = kb.repository_context(place.root, create=True)
    start = time.process_time()
    context.index_repository(place.root)
    assert time.process_time() - start < 60
    index = context.repository_index().prepared.index
    recompute_regions(place.root, index)
    check_order(index)
    expected = HOSTILE[make_hostile]
    reasons = [record.reason or "" for record in index.coverage]
    assert expected is None or any(expected in reason for reason in reasons), reasons
    context.check_index()
    assert not context.index_repository(place.root).changed
    for entity in (index.entities or [])[:50]:
        validate(context.why(entity.id))
    text = str(_contents(context))
    assert "Hidden" not in text
    assert not (place.root / "ran").exists()


def test_hostile_records_keep_what_can_be_read(tmp_path: Path) -> None:
    place = GitRepository(tmp_path / "work", start=False)
    yaml_bomb(place)
    index = checked(place.root).index
    assert entity_named(index, "Bomb").status == "accepted"
    assert sorted(entity.name for entity in index.entities or []) == ["Bomb", "Deep", "Deeper", "Deepest", "Tag"]


def test_names_that_git_would_quote_are_paths_as_they_are(tmp_path: Path) -> None:
    place = GitRepository(tmp_path / "work")
    odd_names(place)
    built = checked(place.root)
    for name in ('docs/adr/quo"te.md', "docs/adr/new\nline.md", "docs/adr/索引.md", "docs/adr/a b.md"):
        assert name in built.index.paths
        answer = knowledge_why(built.index, name)
        assert answer["entities"], name
    found = knowledge_why(built.index, "src/索引.py")["entities"]
    assert {entity["kind"] for entity in found} == {"decision", "change"}


def test_links_out_of_the_tree_lead_nowhere(tmp_path: Path) -> None:
    place = GitRepository(tmp_path / "work")
    links_out(place)
    assert checked(place.root).index.paths == ["CHANGELOG.md"]
    traversal(place)
    built = checked(place.root)
    assert all("outside" not in link.target for entity in built.index.entities or [] for link in entity.links)
    assert b"passwd" not in json.dumps([entry.path for entry in built.index.entries]).encode()


@pytest.mark.parametrize("kind", ["shallow", "worktree", "submodule", "subfolder", "detached"])
def test_unusual_work_trees_are_indexed(kb: trivium.KnowledgeBase, tmp_path: Path, kind: str) -> None:
    origin = make(tmp_path / "origin")
    origin.commit("second", "docs/adr/0009-more.md")
    root = tmp_path / "work"
    outer = GitRepository(tmp_path, start=False)
    commits = 2
    if kind == "shallow":
        outer.git("clone", "-q", "--depth", "1", f"file://{origin.root}", "work")
        commits = 1
    elif kind == "worktree":
        origin.git("worktree", "add", "-q", str(root))
    elif kind == "submodule":
        whole = GitRepository(root)
        whole.commit("own", "docs/adr/0001-own.md")
        whole.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(origin.root), "sub")
        whole.commit("with a module")
    elif kind == "subfolder":
        root = origin.root / "docs"
    else:
        outer.git("clone", "-q", str(origin.root), "work")
        GitRepository(root, start=False).git("checkout", "-q", "HEAD~1")
        commits = 1
    context = kb.repository_context(root, create=True)
    context.index_repository(root)
    context.check_index()
    index = context.repository_index().prepared.index
    recompute_regions(root, index)
    history = next(record for record in index.coverage if record.scope == "git:first-parent")
    assert history.status == ("partial" if kind == "shallow" else "complete")
    shas = [entity.id for entity in index.entities or [] if entity.date and entity.kind == "change"]
    assert len(shas) == commits
    if kind == "submodule":
        assert not any(path.startswith("sub/") for path in index.paths)
    else:
        assert any(path.endswith("adr/0002-lru.md") for path in index.paths)


@pytest.mark.parametrize("moment", [1, 4])
def test_files_that_change_or_go_while_they_are_read(kb: trivium.KnowledgeBase, tmp_path: Path, moment: int) -> None:
    place = make(tmp_path / "work")
    context = kb.repository_context(place.root, create=True)

    def disturb(number: int, total: int) -> None:
        if number == moment:
            (place.root / "docs/guide.md").unlink()
            place.write("docs/glossary.md", "# Glossary\n\n## Other\n\nText.\n")
            place.write("docs/late.md", "# Late\n")

    context.index_repository(place.root, progress=disturb)
    index = context.repository_index().prepared.index
    recompute_regions(place.root, index)
    assert entity_named(index, "Other").kind == "concept"
    documents = next(record for record in index.coverage if record.scope == "documents")
    assert documents.status == "partial"
    assert "missing" in (documents.reason or "")
    with pytest.raises(IndexStaleError):
        context.check_index()


def test_a_file_that_never_stands_still_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make(tmp_path / "work")
    plain = module.Reader.read

    def restless(reader: Any, file: Any, limit: int | None = None) -> Any:
        found = plain(reader, file, limit)
        return found._replace(data=None, reason="changed") if file.path == "docs/guide.md" else found

    monkeypatch.setattr(module.Reader, "read", restless)
    built = checked(place.root)
    assert any("changed" in (record.reason or "") for record in built.index.coverage)
    assert "document:docs/guide.md" not in {entry.id for entry in built.index.entries}


def test_too_many_memory_relations_are_one_clear_error(
    kb: trivium.KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make(tmp_path / "work")
    context = kb.repository_context(place.root, create=True)
    context.index_repository(place.root)
    before = context.why("Cache")
    monkeypatch.setattr(module.memory, "MAX_RELATIONS", 5)
    for number in range(6):
        place.write(f".agent-memory/{number}.md", "View it\n")
    with pytest.raises(TriviumError, match="more than 5 times") as caught:
        context.index_repository(place.root)
    assert caught.value.hint
    assert context.why("Cache") == before


def test_a_folder_that_is_no_folder_is_one_clear_error(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    context = kb.create_context("xyz")
    with pytest.raises(TriviumError, match="is no folder") as caught:
        context.index_repository(tmp_path / "nowhere")
    assert caught.value.hint
    empty = tmp_path / "empty"
    empty.mkdir()
    context.index_repository(empty)
    assert context.why("x")["entities"] == []
