"""Import: verbatim and hashed, only what changed, bounded, and nothing that leads out of its place."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests import ingest_files as files
from tests.encrypted_files import encrypted_zip
from trivium.ingest import importing
from trivium.ingest.importing import Importer, found_in_bytes
from trivium.ingest.names import UnsafeName, source_path


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(tmp_path / "store" / "a.db") as opened:
        yield opened


@pytest.fixture
def context(kb: trivium.KnowledgeBase) -> trivium.Context:
    return kb.create_context("contracts")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    (made / "sub").mkdir(parents=True)
    (made / "msa.md").write_bytes(files.MARKDOWN)
    (made / "sub" / "page.html").write_bytes(files.HTML)
    return made


def paths(context: trivium.Context) -> list[str]:
    return [source["path"] for source in context.sources()]


def reasons(report: dict[str, object]) -> dict[str, str]:
    skipped = report["skipped"]
    assert isinstance(skipped, list)
    return {item["path"]: item["reason"] for item in skipped}


def test_files_are_kept_verbatim_and_hashed(context: trivium.Context, folder: Path) -> None:
    report = context.add(folder)
    assert (report["added"], report["skipped"]) == (2, [])
    assert paths(context) == ["papers/msa.md", "papers/sub/page.html"]
    assert context.read_source("papers/msa.md") == files.MARKDOWN
    [source, _] = context.sources()
    assert source["hash"] == hashlib.sha256(files.MARKDOWN).hexdigest()
    assert (source["size"], source["media_type"], source["state"]) == (len(files.MARKDOWN), "text/markdown", "new")


def test_only_what_changed_is_imported_again(context: trivium.Context, folder: Path) -> None:
    context.add(folder)
    assert context.add(folder)["unchanged"] == 2
    (folder / "msa.md").write_text("# New\n")
    report = context.add(folder)
    assert (report["added"], report["changed"], report["unchanged"]) == (0, 1, 1)
    assert context.read_source("papers/msa.md") == b"# New\n"


def test_a_file_a_list_and_a_prefix_may_be_given(context: trivium.Context, folder: Path) -> None:
    context.add(str(folder / "msa.md"), prefix="2026/")
    context.add([folder / "sub" / "page.html", folder / "sub"])
    assert paths(context) == ["2026/msa.md", "page.html", "sub/page.html"]


def test_the_working_folder_is_named_by_its_files_alone(
    context: trivium.Context, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    context.add(".")
    assert paths(context) == ["msa.md", "sub/page.html"]


def test_a_path_that_does_not_exist_imports_nothing(context: trivium.Context, folder: Path) -> None:
    with pytest.raises(trivium.NotFoundError, match="nowhere"):
        context.add([folder, folder / "nowhere"])
    assert paths(context) == []


@pytest.mark.parametrize("path", ["a\0b", "", "x" * 5_000])
def test_a_path_that_cannot_exist_is_told(context: trivium.Context, path: str, tmp_path: Path) -> None:
    with pytest.raises((trivium.NotFoundError, OSError)):
        context.add([tmp_path / "papers" / path / "x"])


@pytest.mark.parametrize(("path", "data"), [(5, b"x"), (None, b"x"), ("a.md", "text"), ("a.md", None), ("a.md", 5)])
def test_arguments_of_the_wrong_kind_are_refused(context: trivium.Context, path: Any, data: Any) -> None:
    with pytest.raises(TypeError):
        context.add_bytes(path, data)
    assert paths(context) == []


def test_deep_folders_are_walked(context: trivium.Context, tmp_path: Path) -> None:
    import shutil

    top = tmp_path / "deep"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("a.md", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(file, b"# A\n")
    os.close(file)
    os.close(here)
    report = context.add(top)
    assert report["added"] == 1
    shutil.rmtree(top)


def test_files_come_in_the_order_of_their_names(context: trivium.Context, tmp_path: Path) -> None:
    from trivium.ingest.importing import found_in

    for name in ("b.md", "a/z.md", "a/b/c.md", "c.md", "a.md"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text("x")
    found = [item.path for item in found_in([tmp_path / "in"], context.knowledge_base.settings)]
    assert found == ["in/a/b/c.md", "in/a/z.md", "in/a.md", "in/b.md", "in/c.md"]


def test_sync_deletes_what_the_folder_no_longer_holds(context: trivium.Context, folder: Path) -> None:
    context.add(folder)
    context.add_bytes("other/kept.md", b"# Kept\n")
    (folder / "msa.md").unlink()
    assert context.add(folder, sync=True)["removed"] == 1
    assert paths(context) == ["other/kept.md", "papers/sub/page.html"]


def test_links_hidden_files_and_special_files_are_left_out(context: trivium.Context, folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    secret.write_text("secret")
    (folder / "link.txt").symlink_to(secret)
    (folder / "up").symlink_to(folder.parent)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    os.mkfifo(folder / "pipe.txt")
    report = context.add(folder)
    assert report["added"] == 2
    assert reasons(report) == {
        "papers/.git": "hidden",
        "papers/link.txt": "a symbolic link, which is not followed",
        "papers/up": "a symbolic link, which is not followed",
        "papers/photo.png": "files of this kind (image/png) hold no text that could be read",
        "papers/pipe.txt": "not a regular file",
    }


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is readable here")
def test_a_file_that_may_not_be_read_is_told(context: trivium.Context, folder: Path) -> None:
    (folder / "msa.md").chmod(0)
    report = context.add(folder)
    assert report["added"] == 1
    assert "Permission denied" in reasons(report)["papers/msa.md"]


@pytest.mark.parametrize(
    "name",
    [
        "two words.md",
        "neue\nzeile.md",
        "tab\tname.md",
        "合同 2026.md",
        "été.md",
        "e\u0301te\u0301.md",
        "emoji 😀.md",
        "$(rm).md",
        "-x.md",
    ],
)
def test_odd_names_are_imported(context: trivium.Context, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / name).write_bytes(b"# Words\n")
    assert context.add(folder)["added"] == 1
    [path] = paths(context)
    assert path == source_path(f"odd/{name}")
    assert context.read_source(path) == b"# Words\n"
    assert context.curate()["chunks"] == 1


def test_names_that_are_no_utf8_are_imported(context: trivium.Context, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.md")).write_bytes(b"# Words\n")
    context.add(folder)
    assert paths(context) == ["odd/caf\ufffd.md"]


def test_case_keeps_names_apart_and_spelling_of_accents_does_not(context: trivium.Context) -> None:
    data = files.zipped({"README.md": b"one", "readme.md": b"two", "\u00e9.md": b"three", "e\u0301.md": b"four"})
    report = context.add_bytes("a.zip", data)
    assert paths(context) == ["README.md", "readme.md", "\u00e9.md"]
    assert reasons(report) == {"\u00e9.md": "another file of this import has the same name"}


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../up.md", "a/../../up.md", "C:/x.md", "\\\\host\\x", "", ".", "x" * 2_000]
)
def test_unsafe_names_are_refused(context: trivium.Context, name: str) -> None:
    with pytest.raises(UnsafeName):
        source_path(name)
    report = context.add_bytes(name, b"words")
    assert len(report["skipped"]) == 1
    assert paths(context) == []


# --- archives -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.bz2", "a.tar.xz", "deep/in/a.zip"])
def test_archives_are_unpacked(context: trivium.Context, name: str) -> None:
    content = {"msa.md": files.MARKDOWN, "sub/page.html": files.HTML}
    mode = {"tar": "w", "bz2": "w:bz2", "xz": "w:xz"}.get(name.rpartition(".")[2], "w:gz")
    data = files.zipped(content) if name.endswith("zip") else files.tarred(content, mode)
    assert context.add_bytes(name, data)["skipped"] == []
    folder = name.rpartition("a.")[0]
    assert paths(context) == [f"{folder}msa.md", f"{folder}sub/page.html"]
    assert context.read_source(f"{folder}msa.md") == files.MARKDOWN


def test_archives_in_folders_are_unpacked_beside_their_neighbours(context: trivium.Context, folder: Path) -> None:
    (folder / "sub" / "more.zip").write_bytes(files.zipped({"in/a.md": b"# A\n", "b.zip": b"PK"}))
    report = context.add(folder)
    assert "papers/sub/in/a.md" in paths(context)
    assert reasons(report) == {"papers/sub/b.zip": "an archive within an archive, which is not unpacked"}


def test_hostile_names_and_members_of_a_zip_are_left_out(context: trivium.Context, tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in ("../up.md", "/abs.md", "a/../../b.md", "..\\win.md", "C:\\x.md", "ok.md", ".hidden.md"):
            archive.writestr(name, b"# Words\n")
        link = zipfile.ZipInfo("link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, b"/etc/passwd")
        device = zipfile.ZipInfo("device.md")
        device.external_attr = 0o020666 << 16
        archive.writestr(device, b"")
        archive.mkdir("folder")
    report = context.add_bytes("a.zip", out.getvalue())
    assert paths(context) == ["ok.md"]
    found = reasons(report)
    assert len(found) == 8
    assert found["link.md"] == "a symbolic link, which is not followed"
    assert found["device.md"] == "not a regular file"
    assert {found["../up.md"], found["../win.md"]} == {"the name leads out of its folder with '..'"}
    assert {found["/abs.md"], found["C:/x.md"]} == {"the name is absolute"}
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == []


def test_hostile_members_of_a_tar_are_left_out(context: trivium.Context) -> None:
    extra = []
    for number, kind in enumerate(
        [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
    ):
        info = tarfile.TarInfo(f"special{number}.md")
        info.type, info.linkname = kind, "/etc/passwd"
        extra.append(info)
    data = files.tarred({"../up.md": b"x", "/abs.md": b"x", "ok.md": b"# Words\n"}, extra=extra)
    report = context.add_bytes("a.tar.gz", data)
    assert paths(context) == ["ok.md"]
    assert sorted(set(reasons(report).values())) == [
        "a link, which is not followed",
        "not a regular file",
        "the name is absolute",
        "the name leads out of its folder with '..'",
    ]


def _zip_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.md", b"# First\n")
        for number in range(3):
            with archive.open(f"{number}.txt", "w") as member:
                for _ in range(60):
                    member.write(bytes(1 << 20))
    return out.getvalue()


def _tar_bomb() -> bytes:
    return files.tarred({"first.md": b"# First\n", "0.txt": bytes(150 << 20)})


@pytest.mark.parametrize(("name", "make"), [("a.zip", _zip_bomb), ("a.tar.gz", _tar_bomb)])
def test_a_bomb_ends_early(context: trivium.Context, name: str, make: Callable[[], bytes]) -> None:
    report = context.add_bytes(name, make())
    assert "first.md" in paths(context)
    assert "far more than its size allows" in reasons(report)[name]


def test_a_nested_quine_is_not_unpacked(context: trivium.Context) -> None:
    inner = files.zipped({"inner.zip": b"PK\x03\x04"})
    report = context.add_bytes("a.zip", files.zipped({"b.zip": inner}))
    assert reasons(report) == {"b.zip": "an archive within an archive, which is not unpacked"}


def test_encrypted_members_are_told(context: trivium.Context) -> None:
    data = bytearray(files.zipped({"a.md": b"# A\n"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert reasons(context.add_bytes("a.zip", bytes(data))) == {"a.md": "encrypted"}


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tar.bz2", "a.tar.xz"])
@pytest.mark.parametrize("data", [b"", b"garbage" * 100, b"PK\x03\x04", b"\x1f\x8b\x08" + bytes(50)])
def test_a_damaged_archive_is_told_and_harms_nothing(context: trivium.Context, name: str, data: bytes) -> None:
    context.add_bytes("kept.md", b"# Kept\n")
    report = context.add_bytes(name, data)
    assert "damaged" in reasons(report).get(name, "") or (not data and not report["added"])
    assert paths(context) == ["kept.md"]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_truncated_archive_gives_what_is_whole(context: trivium.Context, name: str) -> None:
    content = {f"{number}.md": os.urandom(4_000).hex().encode() for number in range(50)}
    data = files.zipped(content) if name == "a.zip" else files.tarred(content)
    report = context.add_bytes(name, data[: len(data) // 2])
    assert any("damaged" in reason for reason in reasons(report).values())
    for path in paths(context):
        assert context.read_source(path) == content[path]


def test_a_member_whose_bytes_are_damaged_is_left_out_alone(context: trivium.Context) -> None:
    data = bytearray(files.zipped({"a.md": b"# A\n" * 500, "b.md": b"# B\n"}))
    at = data.index(b"a.md") + 6
    data[at : at + 4] = b"\xff\xff\xff\xff"
    report = context.add_bytes("a.zip", bytes(data))
    assert paths(context) == ["b.md"]
    assert "damaged in the archive" in reasons(report)["a.md"]


def test_a_tar_with_absurd_headers_is_refused(context: trivium.Context) -> None:
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    data = files.tarred({"a.md": b"# A\n"}, "w")[:1024] + info.tobuf(tarfile.GNU_FORMAT) + bytes(2048)
    report = context.add_bytes("a.tar", data)
    assert paths(context) == ["a.md"]
    assert "damaged" in reasons(report)["a.tar"]


# --- limits ---------------------------------------------------------------------------------------


def test_limits_leave_out_what_is_too_much_and_say_which(tmp_path: Path) -> None:
    settings = {"max_file_bytes": 1_000, "max_context_bytes": 2_500, "max_context_files": 4}
    with trivium.open(tmp_path / "a.db", **settings) as kb:
        context = kb.create_context("small")
        content = {"0.md": b"x" * 1_001, **{f"{number}.md": b"x" * 900 for number in range(1, 5)}}
        report = context.add_bytes("a.zip", files.zipped(content | {"last.md": b"y"}))
        found = reasons(report)
        assert "TRIVIUM_MAX_FILE_BYTES" in found["0.md"]
        assert "TRIVIUM_MAX_CONTEXT_BYTES" in found["3.md"]
        assert paths(context) == ["1.md", "2.md", "last.md"]
        assert "TRIVIUM_MAX_FILE_BYTES" in reasons(context.add_bytes("big.md", b"x" * 1_001))["big.md"]
        context.add_bytes("fourth.md", b"y")
        assert "TRIVIUM_MAX_CONTEXT_FILES" in reasons(context.add_bytes("fifth.md", b"y"))["fifth.md"]
        assert context.add_bytes("fourth.md", b"z")["changed"] == 1


def test_large_files_go_in_piece_by_piece_and_come_out_whole(context: trivium.Context, tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    line = b"all work and no play\n"
    large.write_bytes(line * 600_000)
    assert large.stat().st_size > importing.SMALL
    assert context.add(large)["added"] == 1
    assert context.read_source("large.txt") == large.read_bytes()
    assert context.add(large)["unchanged"] == 1


def test_a_large_file_that_changes_while_it_is_read_is_left_out(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("moving")
    context.add_bytes("a.txt", b"old")
    first, second = b"a" * (importing.SMALL + 10), b"b" * (importing.SMALL + 10)
    opened = iter([first, second])
    [found] = found_in_bytes("a.txt", first, kb.settings)
    found.open = lambda: io.BytesIO(next(opened))
    report = Importer(kb._store, context._number, kb.settings, kb._clock).run([found])
    assert report.skipped == [{"path": "a.txt", "reason": "the file changed while it was read"}]
    assert (report.added, report.changed, report.bytes) == (0, 0, 0)
    assert context.read_source("a.txt") == b"old"


def test_the_room_of_a_file_that_was_not_stored_is_free_for_others(tmp_path: Path) -> None:
    size = importing.SMALL + 10
    with trivium.open(tmp_path / "a.db", max_context_bytes=size + 5, max_context_files=1) as kb:
        context = kb.create_context("small")
        opened = iter([b"a" * size, b"b" * size])
        [moving] = found_in_bytes("a.txt", b"a" * size, kb.settings)
        moving.open = lambda: io.BytesIO(next(opened))
        [still] = found_in_bytes("b.txt", b"c" * size, kb.settings)
        report = Importer(kb._store, context._number, kb.settings, kb._clock).run([moving, still])
        assert (report.added, report.bytes, paths(context)) == (1, size, ["b.txt"])


def test_what_archives_hold_besides_files_is_told(context: trivium.Context) -> None:
    kinds = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "dev": tarfile.CHRTYPE, "pipe": tarfile.FIFOTYPE}
    extra = []
    for name, kind in kinds.items():
        info = tarfile.TarInfo(f"{name}.md")
        info.type, info.linkname = kind, "/etc/passwd"
        extra.append(info)
    report = context.add_bytes("a.tgz", files.tarred({"CON.md": b"# C\n", "nul": b"words\n"}, extra=extra))
    assert paths(context) == ["CON.md", "nul"]
    found = reasons(report)
    assert found["link.md"] == found["hard.md"] == "a link, which is not followed"
    assert found["dev.md"] == found["pipe.md"] == "not a regular file"


def test_an_encrypted_zip_and_an_archive_in_an_archive_are_told(context: trivium.Context) -> None:
    inner = files.zipped({"deep.md": b"# D\n"})
    locked = encrypted_zip({"a.md": b"# A\n", "b.md": b"# B\n"}, b"secret")
    with zipfile.ZipFile(io.BytesIO(locked)) as archive:
        assert archive.read("b.md", b"secret") == b"# B\n"
    assert reasons(context.add_bytes("locked.zip", locked)) == {"a.md": "encrypted", "b.md": "encrypted"}
    assert "not unpacked" in reasons(context.add_bytes("outer.zip", files.zipped({"inner.zip": inner})))["inner.zip"]
    assert paths(context) == []


def test_twenty_thousand_tiny_files_go_in_at_once(tmp_path: Path) -> None:
    content = {f"{number % 100}/{number}.md": b"# T\n" for number in range(20_000)}
    with trivium.open(tmp_path / "a.db", max_context_files=19_999) as kb:
        context = kb.create_context("many")
        began = time.process_time()
        report = context.add_bytes("a.zip", files.zipped(content))
        assert time.process_time() - began < 30
        assert report["added"] == 19_999
        assert "TRIVIUM_MAX_CONTEXT_FILES" in report["skipped"][0]["reason"]


def test_an_open_file_may_be_imported(context: trivium.Context, tmp_path: Path) -> None:
    place = tmp_path / "x.zip"
    place.write_bytes(files.zipped({"a.md": b"# A\n"}))
    with place.open("rb") as file:
        context.add_bytes("x.zip", file)
    assert paths(context) == ["a.md"]
