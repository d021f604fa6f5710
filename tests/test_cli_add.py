"""`trivium context`, `add`, `curate` and `sources` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import ingest_files as files
from tests.cli_support import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRIVIUM_DB", str(tmp_path / "a.db"))
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
    made = tmp_path / "papers"
    made.mkdir()
    (made / "msa.md").write_bytes(files.MARKDOWN)
    (made / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (made / ".hidden").write_text("x")
    return made


def test_add_imports_and_curates_and_tells_what_it_could_not_read(folder: Path) -> None:
    run("context", "create", "contracts", "--name", "Contracts")
    done = run("add", folder, "--context", "contracts")
    assert done.code == 0
    assert done.out.splitlines()[0].startswith("Imported into contracts: 2 added (")
    assert done.out.splitlines()[1].startswith("Version 1 of contracts is live: 2 documents in 4 chunks (2 read")
    assert done.err.startswith("could not be read: papers/broken.pdf: the PDF is damaged")
    assert "hidden" not in done.err
    again = run("add", folder, "--context", "contracts")
    assert again.out.startswith("Imported into contracts: 2 unchanged")
    assert "(0 read, 2 unchanged)" in again.out


def test_add_without_curate_says_how_to_go_on(folder: Path) -> None:
    done = run("add", folder / "msa.md", "--no-curate", "--prefix", "2026")
    assert done.out.endswith("Make them answer questions with: trivium curate --context default\n")
    assert run("sources").out.split() == ["new", str(len(files.MARKDOWN)), "B", "2026/msa.md"]
    assert run("curate").out.startswith("Version 1 of default is live: 1 document in 4 chunks")


def test_add_as_json_tells_both_reports(folder: Path) -> None:
    found = run("add", folder, "--json").json()
    assert (found["context"], found["import"]["added"], found["curate"]["live_version"]) == ("default", 2, 1)
    assert found["import"]["skipped"] == [{"path": "papers/.hidden", "reason": "hidden"}]
    assert [item["path"] for item in found["curate"]["failed"]] == ["papers/broken.pdf"]
    assert run("add", folder, "--no-curate", "--json").json()["curate"] is None


def test_add_makes_vectors_where_there_is_an_embedder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("add", folder, "--json").json()["embed"] is None
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "builtin")
    assert run("add", folder, "--json", "--no-embed").json()["embed"] is None
    monkeypatch.setattr("trivium.doors.cli_add.EMBEDDED_AT_ONCE", 1)
    found = run("add", folder, "--json").json()["embed"]
    assert found["embedded"] + found["backlog"] == 29
    monkeypatch.setattr("trivium.doors.cli_add.EMBEDDED_AT_ONCE", 1_000)
    assert run("curate").code == 0
    assert run("add", folder, "--json").json()["embed"] == {"embedded": 0, "backlog": 0}


def test_add_fails_when_nothing_can_be_imported(folder: Path) -> None:
    missing = run("add", folder / "nowhere")
    assert (missing.code, "There is no file or folder" in missing.err) == (1, True)
    (folder / "photo.png").write_bytes(b"\x89PNG")
    picture = run("add", folder / "photo.png")
    assert (picture.code, "image/png" in picture.err) == (1, True)
    (folder / "empty").mkdir()
    assert "there are no files in it" in run("add", folder / "empty").err
    unknown = run("add", folder, "--context", "nowhere")
    assert (unknown.code, "trivium context create nowhere" in unknown.err) == (1, True)
    assert run("add").code == 2


def test_add_with_sync_removes_what_is_gone(folder: Path) -> None:
    run("add", folder)
    (folder / "broken.pdf").unlink()
    assert "1 removed" in run("add", folder, "--sync").out
    assert "broken" not in run("sources").out


def test_sources_are_listed_read_and_deleted(folder: Path) -> None:
    run("add", folder)
    listed = run("sources", "papers/b")
    assert listed.out.startswith("unreadable")
    assert "the PDF is damaged" in listed.out
    assert run("sources", "--read", "papers/msa.md").out == files.MARKDOWN.decode()
    assert run("sources", "--delete", "papers/msa.md", "--delete", "papers/broken.pdf").code == 0
    assert run("sources", "--json").json() == []
    assert "has no sources" in run("sources").err
    assert run("sources", "--delete", "papers/msa.md").code == 1
    assert run("sources", "--read", "papers/msa.md").code == 1


def test_names_that_would_steer_a_terminal_are_shown_as_escapes(folder: Path) -> None:
    (folder / "red\x1b[31m\nline.md").write_text("# A\n")
    done = run("add", folder)
    assert done.code == 0
    listed = run("sources")
    assert "\x1b" not in listed.out
    assert len(listed.out.splitlines()) == 3


def test_curate_needs_sources(folder: Path) -> None:
    run("context", "create", "empty")
    done = run("curate", "--context", "empty")
    assert (done.code, "trivium add PATH --context empty" in done.err) == (1, True)


def test_contexts_are_made_shown_changed_and_deleted(folder: Path, tmp_path: Path) -> None:
    guide = tmp_path / "guide.txt"
    guide.write_text("Be brief.")
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"curate": {"chunks": {"chunking": {"target_size": 256}}}}')
    made = run("context", "create", "contracts", "--guide", f"@{guide}", "--manifest", manifest, "--json").json()
    assert (made["guide"], made["manifest"]["curate"]["chunks"]["chunking"]["target_size"]) == ("Be brief.", 256)
    run("add", folder, "--context", "contracts")
    shown = run("context", "show", "contracts").out
    assert "can be asked yes" in shown
    assert "unreadable   1 (trivium sources --context contracts)" in shown
    assert "contracts  25 concepts; 2 sources" in run("context", "list").out
    changed = run(
        "context",
        "update",
        "contracts",
        "--slug",
        "papers",
        "--description",
        "Signed ones",
        "--manifest",
        "-",
        stdin="{}",
    )
    assert changed.out.startswith("Changed description, manifest, slug of the context papers.")
    assert "trivium curate --context papers" in changed.out
    assert run("context", "show", "papers", "--json").json()["description"] == "Signed ones"
    assert run("context", "update", "papers").code == 2
    refused = run("context", "delete", "papers")
    assert (refused.code, "--yes" in refused.err) == (1, True)
    assert run("context", "delete", "papers", "--yes").out == "Deleted the context papers.\n"
    assert run("contexts").out.split() == ["default"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("create", "No"), "c-no"),
        (("create", "My Notes"), "my-notes"),
        (("create", "default"), "--context default"),
        (("create", "good", "--kind", "odd"), "docs/ingest.md"),
        (("show", "nowhere"), "trivium context create nowhere"),
        (("update", "default", "--slug", "other"), "another one"),
        (("delete", "default", "--yes"), "KIP"),
        (("restore", "nowhere.zip"), "Check the path"),
    ],
)
def test_what_is_wrong_with_a_context_is_told_with_a_hint(folder: Path, arguments: tuple[str, ...], hint: str) -> None:
    run("context", "create", "first")
    done = run("context", *arguments)
    assert done.code == 1
    assert hint in done.err.partition("hint:")[2]


def test_a_wrong_manifest_is_told_and_makes_no_context(folder: Path) -> None:
    broken = run("context", "create", "contracts", "--manifest", "-", stdin="{")
    assert "is not JSON" in broken.err
    wrong = run("context", "create", "contracts", "--manifest", "-", stdin='{"curate": 5}')
    assert "manifest.curate must be an object" in wrong.err
    assert run("contexts").out.split() == ["default"]


def test_a_context_is_packed_and_restored(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("context", "create", "contracts")
    run("add", folder, "--context", "contracts")
    assert run("context", "pack", "contracts").out.startswith("Packed contracts into contracts.context.zip (")
    assert run("context", "pack", "contracts").code == 1
    assert run("context", "pack", "contracts", "-o", "other.zip", "--json").json()["sources"] == 2
    restored = run("context", "restore", "contracts.context.zip", "--as", "copy")
    assert restored.out == "Restored the context copy: 2 sources.\n"
    assert run("context", "restore", "contracts.context.zip").code == 1
    assert json.loads(run("context", "show", "copy", "--json").out)["stats"]["chunks"] == 4


@pytest.mark.parametrize("address", ["http://a.example/b//c", "https://a.example"])
def test_addresses_are_not_fetched(address: str) -> None:
    outcome = run("add", address)
    assert outcome.code == 1
    assert f"error: {address} is an address; addresses are not fetched." in outcome.err
    assert "Web addresses are not fetched." in " ".join(run("add", "--help").out.split())
