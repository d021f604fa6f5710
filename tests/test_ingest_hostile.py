"""Files, archives and packs made to do harm: each is told or read, none stops the rest, and none takes long."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests import ingest_files as files
from trivium.errors import NotFoundError, StoreError
from trivium.ingest import curate
from trivium.ingest.manifest import Knobs
from trivium.ingest.names import source_path
from trivium.ingest.pack import PackError
from trivium.ingest.read_html import read_html
from trivium.ingest.reading import Read, read_source
from trivium.ingest.terms import terms_of

TEXT = b"# Fees\n\nInvoices are payable in 30 days.\n"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(tmp_path / "store" / "a.db") as opened:
        yield opened


@pytest.fixture
def context(kb: trivium.KnowledgeBase) -> trivium.Context:
    return kb.create_context("contracts")


def paths(context: trivium.Context) -> list[str]:
    return [source["path"] for source in context.sources()]


def tar(*names: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(TEXT)
            archive.addfile(info, io.BytesIO(TEXT))
    return made.getvalue()


def read(path: str, data: bytes) -> Read:
    """Read a file, and compare all offsets and lines with those counted here."""
    found = read_source(path, "text/plain", data, Knobs())
    text = found.text
    text.encode()
    json.dumps(found.outline).encode()
    ends = [at + 1 for at, sign in enumerate(text) if sign == "\n" or (sign == "\r" and text[at + 1 : at + 2] != "\n")]
    covered = bytearray(len(text))
    for chunk in found.chunks:
        assert text[chunk.start : chunk.stop] == chunk.text
        lines = (bisect_right(ends, chunk.start) + 1, bisect_right(ends, chunk.stop - 1) + 1)
        assert (chunk.first_line, chunk.last_line) == lines
        json.dumps(chunk.place, ensure_ascii=False).encode()
        covered[chunk.start : chunk.stop] = bytes([1]) * (chunk.stop - chunk.start)
    assert all(covered[at] or sign.isspace() for at, sign in enumerate(text))
    for heading in found.outline["headings"]:
        assert heading["line"] == bisect_right(ends, heading["start"]) + 1
    return found


# --- names ----------------------------------------------------------------------------------------


def test_an_archive_made_of_the_current_folder_is_unpacked(context: trivium.Context) -> None:
    """`tar czf papers.tgz .` begins every name with `./`, which hides nothing."""
    report = context.add_bytes("papers.tar", tar("./msa.md", "./sub/b.md", "./.git/config"))
    assert paths(context) == ["msa.md", "sub/b.md"]
    assert [item["reason"] for item in report["skipped"]] == ["hidden"]


@pytest.mark.parametrize("name", ["/etc/a.md", "C:/a.md", "C:\\a.md", "\\\\host\\a.md", "../a.md", "x\\..\\..\\a.md"])
def test_the_folder_of_an_archive_does_not_excuse_its_names(context: trivium.Context, name: str) -> None:
    report = context.add_bytes("in/box/papers.tar", tar(name, "good.md"))
    assert paths(context) == ["in/box/good.md"]
    [skipped] = report["skipped"]
    assert "absolute" in skipped["reason"] or "leads out" in skipped["reason"]


def test_names_cannot_steer_a_terminal_or_turn_its_direction() -> None:
    assert source_path("a\x9b31m\u202efdp.md") == "a\ufffd31m\ufffdfdp.md"
    assert source_path("می\u200cشود 👩\u200d💻.md") == "می\u200cشود 👩\u200d💻.md"


def test_a_source_is_found_however_its_accents_are_typed(context: trivium.Context) -> None:
    context.add_bytes("u\u0308/e\u0301.md", TEXT)
    context.curate()
    assert context.read_source("u\u0308/e\u0301.md") == TEXT
    assert context.read_document("u\u0308/e\u0301.md")["chars"] == len(TEXT)
    assert len(context.sources("u\u0308/")) == len(context.documents("u\u0308/")) == 1
    context.delete_source("u\u0308/e\u0301.md")
    assert paths(context) == []


# --- folders --------------------------------------------------------------------------------------


def test_the_database_is_not_imported_into_itself(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "box" / "memory.kb") as kb:
        (tmp_path / "box" / "a.md").write_bytes(TEXT)
        report = kb.context("default").add(tmp_path / "box")
        assert paths(kb.context("default")) == ["box/a.md"]
        assert {item["reason"] for item in report["skipped"]} == {"the database itself"}


def test_sync_keeps_what_could_not_be_looked_at(
    context: trivium.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "papers"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.md", "sub/b.md", "gone.md"):
        (folder / name).write_bytes(TEXT)
    (folder / "box.tar").write_bytes(tar("c.md"))
    assert context.add(folder, sync=True)["added"] == 4
    real = os.scandir

    def refusing(place: Any) -> Any:
        if str(place).endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return real(place)

    (folder / "gone.md").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", refusing)
        assert context.add(folder, sync=True)["removed"] == 1
    assert paths(context) == ["papers/a.md", "papers/c.md", "papers/sub/b.md"]
    (folder / "box.tar").write_bytes(b"no archive" * 100)
    (folder / "a.md").unlink()
    (folder / "a.md").mkdir()
    assert context.add(folder, sync=True)["removed"] == 0  # the archive may hold any of them
    (folder / "box.tar").unlink()
    assert context.add(folder, sync=True)["removed"] == 2
    assert paths(context) == ["papers/sub/b.md"]


def test_sync_knows_folders_by_the_names_that_sources_have(context: trivium.Context, tmp_path: Path) -> None:
    folder = tmp_path / "cafe\u0301"
    folder.mkdir()
    (folder / "a.md").write_bytes(TEXT)
    context.add(folder, prefix="./x//", sync=True)
    assert paths(context) == ["x/caf\u00e9/a.md"]
    (folder / "a.md").unlink()
    assert context.add(folder, prefix="./x//", sync=True)["removed"] == 1


def test_a_file_that_grows_counts_too(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "a.db", max_context_bytes=1_000) as kb:
        context = kb.create_context("small")
        context.add_bytes("a.txt", b"x" * 600)
        report = context.add_bytes("a.txt", b"x" * 1_001)
        assert "more than 1,000 bytes" in report["skipped"][0]["reason"]
        assert context.add_bytes("a.txt", b"y" * 1_000)["changed"] == 1
        assert context.add_bytes("a.txt", b"y" * 10)["changed"] == 1
        assert context.add_bytes("b.txt", b"y" * 990)["added"] == 1


# --- contexts -------------------------------------------------------------------------------------


def test_nothing_is_written_to_a_context_that_another_process_deleted(
    kb: trivium.KnowledgeBase, context: trivium.Context, tmp_path: Path
) -> None:
    with trivium.open(tmp_path / "store" / "a.db") as other:
        other.delete_context("contracts")
    for act in (
        lambda: context.add_bytes("a.md", TEXT),
        lambda: context.start_add_bytes("a.md", TEXT),
        context.curate,
        context.start_curate,
        context.sources,
        context.documents,
        lambda: context.read_source("a.md"),
        lambda: context.delete_source("a.md"),
        lambda: context.pack(tmp_path / "p.zip"),
    ):
        with pytest.raises(NotFoundError, match="deleted"):
            act()
    with kb._store.read() as session:
        assert session.value("SELECT count(*) FROM source") == 0


def test_fields_that_no_database_holds_are_refused_when_they_are_changed(context: trivium.Context) -> None:
    with pytest.raises(TypeError, match="JSON values"):
        context.update(guide="\ud800")


# --- readers --------------------------------------------------------------------------------------

LONE = [
    ("a.json", json.dumps({"key\ud800": ["word " * 200] * 10}).encode()),
    ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": ["# a \ud800\n\ntext \udfff"]}]}).encode()),
    ("a.eml", b"Subject: a\nContent-Type: text/plain; charset=utf-7\n\nhello +2AA- there\n"),
    ("b.eml", b"Subject: a\nContent-Type: text/plain; charset=unicode_escape\n\nhello \\ud800 there\n"),
]


def test_lone_surrogates_do_not_stop_a_curate(context: trivium.Context) -> None:
    for path, data in [("good.md", TEXT), *LONE]:
        read(path, data)
        context.add_bytes(path, data)
    report = context.curate()
    assert (report["documents"], report["failed"]) == (5, [])
    assert "\ufffd" in context.read_document("a.ipynb")["text"]


@pytest.mark.parametrize("charset", ["punycode", "idna", "undefined", "raw_unicode_escape", "no-such", "rot13", "hex"])
def test_codecs_that_are_no_encodings_are_passed_over(charset: str) -> None:
    mail = f"Subject: a\nContent-Type: text/plain; charset={charset}\n\nhello-there {'a' * 40_000}-{'9a' * 20_000}\n"
    assert "hello-there" in read("a.eml", mail.encode()).text
    assert "hello-there" in read("a.html", f"<meta charset={charset}><p>hello-there".encode()).text


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.eml", b"To: " + b"a@b.c, " * 140_000 + b"\nSubject: a\n\nhello"),
        ("a.eml", b"To: " + b"a." * 200_000 + b"\nSubject: a\n\nhello"),
        ("a.eml", b"Subject: " + b"=?utf-8?q?a?= " * 40_000 + b"\n\nhello"),
        ("a.js", b"var a=1;" * 1_000_000),
        ("a.json", b'{"a":"' + b"x" * 8_000_000 + b'"}'),
        ("a.csv", b",\"'" * 100_000),
        ("a.txt", b"a" + b" " * 3_000_000 + b"b"),
        ("a.html", b"<div></x>" * 7_000),
    ],
    ids=["recipients", "dots", "words", "one-line-code", "one-line-json", "quotes", "spaces", "false-ends"],
)
def test_hostile_files_are_read_in_bounded_time(path: str, data: bytes) -> None:
    began = time.process_time()
    read_source(path, "text/plain", data, Knobs())
    assert time.process_time() - began < 10


def test_end_tags_of_nothing_do_not_hide_how_deep_a_page_is() -> None:
    from trivium.ingest.parsed import Unreadable

    with pytest.raises(Unreadable, match="nested"):
        read_html(b"<div></x>" * 20_000)


def test_parsers_whose_time_may_grow_as_the_square_run_elsewhere() -> None:
    for format_ in ("html", "mail", "code"):
        assert not curate._is_apart(format_, 64 << 10)
        assert curate._is_apart(format_, (64 << 10) + 1)
    assert curate._is_apart("pdf", 1)
    assert not curate._is_apart("code", curate.LONG + 1)
    assert not curate._is_apart("markdown", 1 << 20)


def test_a_message_nested_without_end_is_told() -> None:
    found = read("a.eml", b"Content-Type: message/rfc822\n\n" * 5_000 + b"Subject: in\n\nhello")
    assert found.problem is not None
    assert "nested too deep" in found.problem


def test_white_space_and_headings_make_no_endless_chunk() -> None:
    for path, data in (
        ("a.txt", b"a" + b" " * 50_000 + b"b"),
        ("a.md", b"a\n" * 20_000 + b"===\n"),
        ("a.py", b"".join(b" " * depth + b"if 1:\n" for depth in range(400))),
    ):
        assert max(len(chunk.text) for chunk in read(path, data).chunks) < 20_000


def test_lines_are_counted_right_whatever_ends_them() -> None:
    text = (
        "# T\r\n\r\none\r\ntwo\r\r## U\rlone\n\n\x0cform\x0cfeed\n\n\u2028sep\u2029 x\x85 nel\x0b\n\n### e\u0301 中文\n"
        "\n\ttab. 句子。另一句！\n\n| a | b |\r\n|--|--|\r\n| 1 | 2 |\r| 3 | 4 |\n"
        "\nCAPITALS HERE\r\r4.2 Fees\r\n\r\nbody 😀\n"
    )
    for path in ("a.md", "a.txt", "a.csv", "a.rst", "a.json", "a.py", "a.yaml"):
        assert read(path, (text * 30).encode()).problem is None


def test_a_hidden_run_that_is_switched_off_is_read() -> None:
    def with_run(value: str) -> str:
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(files.docx())) as old, zipfile.ZipFile(made, "w") as new:
            for name in old.namelist():
                part = old.read(name)
                if name == "word/document.xml":
                    run = f"<w:body><w:p><w:r><w:rPr><w:vanish{value}/></w:rPr><w:t>perhaps</w:t></w:r></w:p>"
                    part = part.replace(b"<w:body>", run.encode())
                new.writestr(name, part)
        return read("a.docx", made.getvalue()).text

    assert "perhaps" in with_run(' w:val="0"')
    assert "perhaps" in with_run(' w:val="false"')
    assert "perhaps" not in with_run("")
    assert "perhaps" not in with_run(' w:val="true"')


def test_words_are_hidden_whatever_the_spelling() -> None:
    page = b"<p>seen<p style='display:/* x */none'>hidden<p aria-hidden=TRUE>hidden<p style='DISPLAY : none'>hidden"
    assert read("a.html", page).text == "seen\n"


def test_terms_are_looked_for_in_bounded_time() -> None:
    began = time.process_time()
    terms_of("# a" + " " * 1_000_000 + "x\n" + (" " * 3_999 + "\n") * 250, "glossary.md", "Glossary")
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("module", "path", "what"),
    [
        ("pypdfium2", "a.pdf", "PDF"),
        ("selectolax.lexbor", "a.html", "HTML"),
        ("docx", "a.docx", "Word"),
        ("pptx", "a.pptx", "PowerPoint"),
        ("openpyxl", "a.xlsx", "Excel"),
    ],
)
def test_a_missing_extra_is_told_with_its_line(
    monkeypatch: pytest.MonkeyPatch, module: str, path: str, what: str
) -> None:
    data = {
        "a.pdf": files.pdf([[(12.0, "words")]]),
        "a.html": files.HTML,
        "a.docx": files.docx(),
        "a.pptx": files.pptx(),
        "a.xlsx": files.xlsx(),
    }[path]
    monkeypatch.setitem(sys.modules, module, None)
    problem = read(path, data).problem
    assert problem is not None
    assert what in problem
    assert "pip install 'trivium[docs]'" in problem


# --- packs ----------------------------------------------------------------------------------------


@pytest.fixture
def members(context: trivium.Context, tmp_path: Path) -> dict[str, bytes]:
    context.add_bytes("a.md", TEXT)
    context.pack(tmp_path / "p.zip")
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize("name", ["pack.json", "graph.kip"])
def test_an_encrypted_pack_is_told(kb: trivium.KnowledgeBase, members: dict[str, bytes], name: str) -> None:
    data = bytearray(zipped(members))
    at = data.find(b"PK\1\2")
    while data[at + 46 : at + 46 + len(name)] != name.encode():
        at = data.find(b"PK\1\2", at + 4)
    data[at + 8] |= 1
    with pytest.raises(PackError):
        kb.restore(io.BytesIO(bytes(data)), slug="copy")
    assert [found.slug for found in kb.contexts()] == ["contracts", "default"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_pack_is_told_whatever_is_damaged(
    kb: trivium.KnowledgeBase, members: dict[str, bytes], method: int
) -> None:
    whole = zipped(members, method)
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        broken = bytearray(whole)
        broken[at] ^= 0xFF
        try:
            kb.restore(io.BytesIO(bytes(broken)), slug="copy", curate=False)
        except trivium.TriviumError:
            continue
        kb.delete_context("copy")
    assert [found.slug for found in kb.contexts()] == ["contracts", "default"]


def test_lists_of_packs_that_are_bombs_or_hold_no_text_are_refused(
    kb: trivium.KnowledgeBase, members: dict[str, bytes]
) -> None:
    head = json.loads(members["pack.json"])
    for bad in (b"[" + b"[]," * 8_000_000 + b"[]]", json.dumps({**head, "fields": {"name": "\ud800"}}).encode()):
        with pytest.raises(PackError):
            kb.restore(io.BytesIO(zipped({**members, "pack.json": bad})), slug="copy")
    odd = {**head, "sources": [{**head["sources"][0], "dated": "x\ny" * 100}]}
    kb.restore(io.BytesIO(zipped({**members, "pack.json": json.dumps(odd).encode()})), slug="copy", curate=False)
    assert kb.context("copy").sources()[0]["dated"] is None


@pytest.mark.parametrize("name", ["x\0y.zip", "a" * 300, "no/such/folder.zip"])
def test_a_pack_that_cannot_be_written_is_told(context: trivium.Context, tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        context.pack(tmp_path / name)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are of POSIX")
def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    for number in range(300):
        (tmp_path / "papers" / f"{number}.md").write_bytes(TEXT + b"word " * 1_000)
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20));"
        "from trivium.doors.program import main; main()"
    )
    args = ["--db", str(tmp_path / "a.db"), "add", "--no-embed", str(tmp_path / "papers")]
    ended = subprocess.run([sys.executable, "-c", limited, *args], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    with trivium.open(tmp_path / "a.db") as kb:
        assert kb.context("default").add(tmp_path / "papers")["skipped"] == []
        assert kb.context("default").curate()["documents"] == 300
