"""Curate: incremental, from version to version in one step, and safe against whatever ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests import ingest_files as files
from trivium.ingest import curate as module
from trivium.ingest import reading, staging
from trivium.ingest.curate import NoSourcesError
from trivium.ingest.tasks import BusyError, TaskCancelled
from trivium.search.words import passage_tokens
from trivium.store import chunks as index
from trivium.store import documents
from trivium.store.schema import VERSION
from trivium.store.sqlite import Session


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(tmp_path / "a.db") as opened:
        yield opened


@pytest.fixture
def context(kb: trivium.KnowledgeBase) -> trivium.Context:
    made = kb.create_context("contracts")
    made.add_bytes("msa.md", files.MARKDOWN)
    made.add_bytes("page.html", files.HTML)
    return made


def matches(session: Session, ctx: int, tokens: list[str], limit: int) -> list[tuple[int, float]]:
    """Live chunks that hold any of the tokens, as (id, bm25), best first."""
    reach = index.chunk_reach(ctx)
    found = index.ranked(session, reach, tokens, limit)
    alive = index.live(session, ctx, reach, [row.id for row in found])
    return [(row.id, row.bm25) for row in found if row.id in alive]


def hits(context: trivium.Context, word: str) -> list[str]:
    """The paths of live chunks that hold a word, by the text index."""
    with context.knowledge_base._store.read() as session:
        found = matches(session, context._number, list(passage_tokens(word)), 500)
        rows = index.chunks(session, context._number, [id_ for id_, _ in found])
    return sorted({row.path for row in rows.values()})


def keys(context: trivium.Context) -> dict[str, list[str]]:
    """The chunks of each live document."""
    with context.knowledge_base._store.read() as session:
        return {
            row.path: [key for _, key, _, _ in files.chunk_rows(session, row.id)]
            for row in documents.rows(session, context._number)
        }


def sound(context: trivium.Context) -> None:
    """What holds after every curate."""
    with context.knowledge_base._store.read() as session:
        ctx = context._number
        live = 0
        for row in documents.rows(session, ctx):
            text = documents.text_of(session, row.id)
            assert row.chars == len(text)
            for number, _, start, stop in files.chunk_rows(session, row.id):
                [chunk] = index.chunks(session, ctx, [number]).values()
                assert chunk.text == text[start:stop]
                live += 1
        assert index.indexed(session, index.chunk_reach(ctx)) == live
        for table in (
            "staged_text",
            "document WHERE live <> 1",
            "chunk WHERE document NOT IN (SELECT id FROM document)",
        ):
            assert session.value(f"SELECT count(*) FROM {table}") == 0, table
        assert session.value("SELECT count(*) FROM document") == session.value("SELECT count(*) FROM document_text")
        assert session.value("SELECT count(*) FROM source") == session.value("SELECT count(*) FROM source_content")


def test_what_was_imported_is_found_once_it_is_curated(context: trivium.Context) -> None:
    assert not context.describe()["queryable"]
    report = context.curate()
    assert (report["live_version"], report["documents"], report["read"], report["failed"]) == (1, 2, 2, [])
    assert context.describe()["queryable"]
    assert hits(context, "receipt") == ["msa.md"]
    assert hits(context, "trains") == ["page.html"]
    assert [source["state"] for source in context.sources()] == ["live", "live"]
    assert context.read_document("msa.md")["text"] == files.MARKDOWN.decode()
    sound(context)


def test_only_what_changed_is_read_again(context: trivium.Context) -> None:
    context.curate()
    before = keys(context)
    context.add_bytes("msa.md", files.MARKDOWN.replace(b"30 days", b"45 days"))
    assert context.describe()["stale"]
    assert [source["state"] for source in context.sources()] == ["changed", "live"]
    report = context.curate()
    assert (report["live_version"], report["read"], report["reused"]) == (2, 1, 1)
    after = keys(context)
    assert after["page.html"] == before["page.html"]
    assert len(set(after["msa.md"]) ^ set(before["msa.md"])) == 2
    assert hits(context, "45") == ["msa.md"]
    assert not context.describe()["stale"]
    sound(context)


def test_a_curate_without_changes_keeps_the_version(context: trivium.Context) -> None:
    context.curate()
    assert context.curate()["live_version"] == 1
    assert context.curate(force=True)["live_version"] == 2
    assert context.curate(force=True)["read"] == 2
    sound(context)


def test_a_deleted_source_is_hidden_at_once_and_gone_after_the_next_curate(context: trivium.Context) -> None:
    context.curate()
    context.delete_source("msa.md")
    assert hits(context, "receipt") == []
    assert [source["path"] for source in context.sources()] == ["page.html"]
    with pytest.raises(trivium.NotFoundError):
        context.read_document("msa.md")
    assert context.describe()["stale"]
    assert context.curate()["removed"] == 1
    sound(context)
    with pytest.raises(trivium.NotFoundError):
        context.delete_source("msa.md")


def test_a_source_that_comes_back_unchanged_is_not_read_again(context: trivium.Context) -> None:
    context.curate()
    context.delete_source("msa.md")
    context.add_bytes("msa.md", files.MARKDOWN)
    assert hits(context, "receipt") == []
    report = context.curate()
    assert (report["read"], report["reused"]) == (0, 2)
    assert hits(context, "receipt") == ["msa.md"]
    sound(context)


def test_a_source_that_comes_back_changed_is_read(context: trivium.Context) -> None:
    context.curate()
    context.delete_source("msa.md")
    context.add_bytes("msa.md", b"# Other words\n")
    assert context.curate()["read"] == 1
    assert hits(context, "receipt") == []
    assert hits(context, "other") == ["msa.md"]
    sound(context)


def test_a_file_that_cannot_be_read_is_told_and_harms_nothing(context: trivium.Context) -> None:
    context.add_bytes("broken.pdf", b"%PDF-1.4 broken")
    context.add_bytes("empty.txt", b"")
    context.add_bytes("odd.txt", "Grüße aus Köln, schöne Straßen überall. ".encode("cp1252") * 20)
    report = context.curate()
    assert {item["path"]: item["reason"] for item in report["failed"]} == {
        "broken.pdf": "the PDF is damaged (Failed to load document (PDFium: Data format error).)",
        "empty.txt": "the file is empty",
    }
    assert [item["path"] for item in report["notes"]] == ["odd.txt"]
    assert report["documents"] == 5
    states = {source["path"]: source["state"] for source in context.sources()}
    assert states["broken.pdf"] == "unreadable"
    assert hits(context, "receipt") == ["msa.md"]
    again = context.curate()
    assert (again["read"], len(again["failed"])) == (0, 2)
    sound(context)


def test_an_empty_context_cannot_be_curated_but_an_emptied_one_can(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("empty")
    with pytest.raises(NoSourcesError, match="no sources"):
        context.curate()
    with pytest.raises(NoSourcesError):
        context.start_curate()
    context.add_bytes("a.md", b"# A\n\nwords\n")
    context.curate()
    context.delete_source("a.md")
    report = context.curate()
    assert (report["documents"], report["live_version"]) == (0, 2)
    sound(context)


def test_knobs_of_chunking_read_everything_again(context: trivium.Context) -> None:
    context.curate()
    before = context.describe(stats=True)["stats"]["chunks"]
    context.update(manifest={"curate": {"chunks": {"chunking": {"respect_sections": False, "target_size": 1000}}}})
    assert context.describe()["stale"]
    assert context.curate()["read"] == 2
    assert context.describe(stats=True)["stats"]["chunks"] < before
    assert not context.describe()["stale"]
    sound(context)


def test_the_knob_of_the_keyword_index_reads_nothing_again(context: trivium.Context) -> None:
    context.curate()
    context.update(manifest={"curate": {"chunks": {"keyword": {"enabled": False}}}})
    report = context.curate()
    assert (report["read"], report["live_version"]) == (0, 2)
    assert hits(context, "receipt") == []
    context.add_bytes("new.md", b"# New receipt\n")
    context.curate()
    assert hits(context, "receipt") == []
    assert context.knowledge_base.doctor()["ok"]
    context.update(manifest={})
    assert context.curate()["read"] == 0
    assert hits(context, "receipt") == ["msa.md", "new.md"]
    sound(context)


def test_without_chunks_there_are_documents_alone(context: trivium.Context) -> None:
    context.update(manifest={"curate": {"chunks": {"enabled": False}}})
    report = context.curate()
    assert (report["documents"], report["chunks"]) == (2, 0)
    assert [item["title"] for item in context.read_document("msa.md")["headings"]][:2] == ["Agreement", "Fees"]


def test_dates_come_from_the_file_itself_else_from_when_it_was_changed(
    kb: trivium.KnowledgeBase, tmp_path: Path
) -> None:
    import os

    plain = tmp_path / "plain.txt"
    plain.write_text("words")
    os.utime(plain, (1_700_000_000, 1_700_000_000))
    context = kb.create_context("dated")
    context.add([plain])
    context.add_bytes("msa.md", files.MARKDOWN, dated="2020-01-01")
    context.add_bytes("none.txt", b"words")
    context.curate()
    dates = {item["path"]: item["dated"] for item in context.documents()}
    assert dates == {"plain.txt": "2023-11-14T22:13:20Z", "msa.md": "2026-02-03", "none.txt": None}


def test_a_source_that_changes_while_curate_runs_leaves_the_context_stale(context: trivium.Context) -> None:
    changed = False

    def progress(done: int, total: int) -> None:
        nonlocal changed
        if not changed:
            changed = True
            context.add_bytes("page.html", b"<p>newer words</p>")
            context.delete_source("msa.md")

    context.curate(progress=progress)
    assert context.describe()["stale"]
    assert hits(context, "receipt") == []
    context.curate()
    assert hits(context, "newer") == ["page.html"]
    assert not context.describe()["stale"]
    sound(context)


def test_readers_see_one_version_or_the_other(kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BATCH_DOCUMENTS", 5)
    context = kb.create_context("busy")

    def fill(word: str) -> None:
        context.add_bytes("a.zip", files.zipped({f"{n}.md": f"# {word}\n\nwords {n}\n".encode() for n in range(60)}))

    fill("first")
    context.curate()
    seen: set[tuple[int, int]] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            with kb._store.read() as session:
                seen.add(
                    (
                        len(matches(session, context._number, ["first"], 100)),
                        len(matches(session, context._number, ["second"], 100)),
                    )
                )

    thread = threading.Thread(target=look)
    thread.start()
    fill("second")
    context.curate()
    time.sleep(0.05)
    stop.set()
    thread.join()
    assert seen == {(60, 0), (0, 60)}
    sound(context)


def test_statistics_of_the_index_are_those_of_the_live_version(
    context: trivium.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    context.curate()

    def scores() -> list[float]:
        with context.knowledge_base._store.read() as session:
            found = matches(session, context._number, [*passage_tokens("receipt trains")], 10)
            return [score for _, score in found]

    before = scores()
    context.add_bytes("b.zip", files.zipped({f"{n}.md": b"# Receipt\n\ntrains and receipts\n" for n in range(30)}))
    monkeypatch.setattr(module.Curator, "_flip", lambda *_: (_ for _ in ()).throw(RuntimeError("stopped")))
    with pytest.raises(RuntimeError, match="stopped"):
        context.curate()
    assert scores() == before
    assert context.knowledge_base.doctor()["ok"]


def test_a_curate_that_was_stopped_goes_on_where_it_stood(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "BATCH_DOCUMENTS", 10)
    context = kb.create_context("stopped")
    context.add_bytes("a.zip", files.zipped({f"{n:02}.md": f"# T{n}\n\nwords\n".encode() for n in range(60)}))

    def stop(done: int, total: int) -> None:
        if done >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        context.curate(progress=stop)
    assert not context.describe()["queryable"]
    [task] = kb.tasks.list(workflow="curate")
    assert (task["state"], task["error"]) == ("failed", "interrupted")
    report = context.curate()
    assert (report["read"], report["reused"]) == (30, 30)
    assert hits(context, "words") == sorted(f"{n:02}.md" for n in range(60))
    sound(context)


def test_a_long_document_that_was_cut_short_is_read_again_from_its_start(
    kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_CHARS", 1_000)
    monkeypatch.setattr(module, "LONG", 1_000)
    context = kb.create_context("long")
    context.add_bytes("long.md", b"".join(b"# H%d\n\nwords and more words\n\n" % n for n in range(300)))
    real = documents.add_chunks
    calls = 0

    def failing(*arguments: Any) -> list[int]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(documents, "add_chunks", failing)
    with pytest.raises(KeyboardInterrupt):
        context.curate()
    assert context.curate()["read"] == 1
    assert len(keys(context)["long.md"]) == 300
    sound(context)


CHILD = """
import sys, trivium
from trivium.ingest import staging
staging.BATCH_DOCUMENTS = 5
kb = trivium.open(sys.argv[1])
def progress(done, total):
    print(done, flush=True)
kb.context("crashing").curate(progress=progress)
"""


@pytest.mark.parametrize("after", [0, 40, 195])
def test_kill_9_leaves_the_old_version_live_and_the_next_curate_goes_on(tmp_path: Path, after: int) -> None:
    place = tmp_path / "a.db"
    with trivium.open(place) as kb:
        context = kb.create_context("crashing")
        context.add_bytes("old.md", b"# Old\n\nold words\n")
        context.curate()
        content = {f"{n:03}.md": f"# T{n}\n\nnew words {n}\n".encode() * 20 for n in range(200)}
        context.add_bytes("a.zip", files.zipped(content))
    with subprocess.Popen([sys.executable, "-c", CHILD, str(place)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if int(line) >= after:
                child.send_signal(signal.SIGKILL)
                break
    with trivium.open(place) as kb:
        context = kb.context("crashing")
        described = context.describe()
        assert (described["live_version"], described["is_curating"]) == (1, False)
        assert hits(context, "old") == ["old.md"]
        assert hits(context, "new") == []
        [task] = kb.tasks.list(workflow="curate", limit=1)
        assert (task["state"], task["error"]) == ("failed", "interrupted: the process that ran it has ended")
        report = context.curate()
        assert report["live_version"] == 2
        assert report["reused"] >= max(1, after - 5)
        assert len(hits(context, "new")) == 200
        assert report["documents"] == 201
        sound(context)
        assert kb.doctor()["ok"]


def test_one_curate_runs_at_a_time(context: trivium.Context) -> None:
    def progress(done: int, total: int) -> None:
        with pytest.raises(BusyError, match="running") as caught:
            context.curate()
        assert caught.value.task_id
        assert context.describe()["is_curating"]

    context.curate(progress=progress)
    assert not context.describe()["is_curating"]


def test_a_curate_in_the_background_is_a_task_with_progress_and_a_result(
    kb: trivium.KnowledgeBase, context: trivium.Context
) -> None:
    task = kb.tasks.wait(context.start_curate(), 30)
    assert (task["state"], task["workflow"], task["context"], task["error"]) == (
        "completed",
        "curate",
        "contracts",
        None,
    )
    assert (task["done"], task["total"]) == (2, 2)
    assert task["result"]["live_version"] == 1
    assert context.describe()["curate_task_id"] == task["id"]


def test_a_task_may_be_cancelled(kb: trivium.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BATCH_DOCUMENTS", 1)
    context = kb.create_context("slow")
    context.add_bytes("a.zip", files.zipped({f"{n}.md": b"# T\n\nwords\n" for n in range(500)}))
    id_ = context.start_curate()
    while kb.tasks.get(id_)["state"] == "scheduled":
        time.sleep(0.005)
    assert kb.tasks.cancel(id_)["state"] in ("stopping", "cancelled")
    task = kb.tasks.wait(id_, 30)
    assert (task["state"], task["error"]) == ("cancelled", "cancelled by caller")
    assert kb.tasks.cancel(id_) == task
    assert context.describe()["live_version"] == 0
    assert context.curate()["documents"] == 500
    sound(context)


def test_a_task_is_cancelled_from_another_process_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.ingest.tasks.NOTE_SECONDS", 0.0)
    monkeypatch.setattr(staging, "BATCH_DOCUMENTS", 1)
    with trivium.open(tmp_path / "a.db") as kb, trivium.open(tmp_path / "a.db") as other:
        context = kb.create_context("slow")
        context.add_bytes("a.zip", files.zipped({f"{n}.md": b"# T\n\nwords\n" for n in range(300)}))

        def progress(done: int, total: int) -> None:
            if done == 5:
                [task] = other.tasks.list(workflow="curate")
                other.tasks.cancel(task["id"])

        with pytest.raises(TaskCancelled):
            context.curate(progress=progress)
        [task] = kb.tasks.list(workflow="curate")
        assert task["state"] == "cancelled"


def test_a_task_that_another_process_cancels_while_it_waits_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with trivium.open(tmp_path / "a.db") as kb, trivium.open(tmp_path / "a.db") as other:
        context = kb.create_context("slow")
        monkeypatch.setattr(kb.tasks, "_slots", threading.Semaphore(0))
        id_ = context.start_add_bytes("a.md", b"# T\n")
        assert other.tasks.cancel(id_)["state"] == "stopping"
        kb.tasks._slots.release()
        task = kb.tasks.wait(id_, 30)
        assert (task["state"], task["error"], task["result"]) == ("cancelled", "cancelled by caller", None)
        assert context.sources() == []


def test_a_task_that_waits_when_the_base_is_closed_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with trivium.open(tmp_path / "a.db") as kb:
        context = kb.create_context("slow")
        monkeypatch.setattr(kb.tasks, "_slots", threading.Semaphore(0))
        id_ = context.start_add_bytes("a.md", b"# T\n")
    with trivium.open(tmp_path / "a.db") as kb:
        task = kb.tasks.get(id_)
        assert (task["state"], task["error"]) == ("cancelled", "the knowledge base was closed")


def test_closing_ends_tasks_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BATCH_DOCUMENTS", 1)
    with trivium.open(tmp_path / "a.db") as kb:
        context = kb.create_context("slow")
        context.add_bytes("a.zip", files.zipped({f"{n}.md": b"# T\n\nwords\n" for n in range(500)}))
        id_ = context.start_curate()
        while kb.tasks.get(id_)["state"] == "scheduled":
            time.sleep(0.005)
    with trivium.open(tmp_path / "a.db") as kb:
        task = kb.tasks.get(id_)
        assert task["state"] == "cancelled"
        assert task["error"] == "the knowledge base was closed"
        assert kb.context("slow").curate()["documents"] == 500


def test_tasks_are_listed_newest_first_and_filtered(kb: trivium.KnowledgeBase, context: trivium.Context) -> None:
    context.curate()
    other = kb.create_context("other")
    with pytest.raises(NoSourcesError):
        other.curate()
    listed = kb.tasks.list()
    assert [(task["workflow"], task["context"]) for task in listed] == [
        ("curate", "other"),
        ("curate", "contracts"),
        ("import", "contracts"),
        ("import", "contracts"),
    ]
    assert len(kb.tasks.list(limit=1)) == 1
    assert [task["id"] for task in kb.tasks.list(before=listed[1]["id"])] == [listed[2]["id"], listed[3]["id"]]
    assert [task["context"] for task in kb.tasks.list(state="failed")] == ["other"]
    assert len(kb.tasks.list(workflow="import")) == 2
    assert len(kb.tasks.list(context=other)) == 1
    assert len(kb.tasks.list(text="no sources")) == 1
    with pytest.raises(trivium.NotFoundError):
        kb.tasks.get("tsk_nowhere")


def test_the_store_in_memory_curates_too() -> None:
    with trivium.open() as kb:
        context = kb.create_context("memory")
        context.add_bytes("msa.md", files.MARKDOWN)
        assert kb.tasks.wait(context.start_curate(), 30)["state"] == "completed"
        assert hits(context, "receipt") == ["msa.md"]
        sound(context)
    assert VERSION >= 3


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_a_text_of_100_megabytes_is_read_within_bounds(tmp_path: Path) -> None:
    """In a process of its own, whose peak is looked at when it ends. `ru_maxrss` would count its parent's as well."""
    place = tmp_path / "large.txt"
    line = "Sentence number {0} tells of the harbour, of ships and of rope. It ends here.\n"
    with place.open("w") as file:
        for number in range(1_300_000):
            file.write(line.format(number))
            if number % 7 == 0:
                file.write("\n")
    assert place.stat().st_size > 100_000_000
    code = (
        "import re, sys, trivium\nfrom pathlib import Path\n"
        "kb = trivium.open(sys.argv[1]); c = kb.create_context('large'); c.add(sys.argv[2])\n"
        "report = c.curate(); print(report['chunks'], report['failed'])\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.db"), str(place)], capture_output=True, text=True, check=True
    )
    first, peak = done.stdout.splitlines()
    assert first.endswith("[]")
    assert int(first.split()[0]) > 50_000
    assert int(peak) < 800_000
