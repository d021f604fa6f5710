"""Names in zips whose encoding is not told."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

import trivium


def named(names: list[bytes]) -> bytes:
    """A zip whose members have these bytes for names and say nothing of their encoding."""
    file = io.BytesIO()
    stand_ins = [f"{at:02}".encode() + b"x" * (len(name) - 2) for at, name in enumerate(names)]
    with zipfile.ZipFile(file, "w") as archive:
        for stand_in in stand_ins:
            archive.writestr(stand_in.decode(), "hello\n")
    data = file.getvalue()
    for stand_in, name in zip(stand_ins, names, strict=True):
        data = data.replace(stand_in, name)
    return data


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (["契約表.md", "資料/見積書.md", "plain.md"], "cp932"),
        (["合同.md", "文件/报价单.md"], "gb2312"),
        (["Verträge.md", "契約.md"], "utf-8"),
        (["Verträge.md", "résumé.md", "château.md", "âge.md", "été.md"], "cp437"),
    ],
)
def test_names_in_a_zip_are_read_in_the_encoding_that_makes_words_of_them(
    tmp_path: Path, names: list[str], encoding: str
) -> None:
    (tmp_path / "a.zip").write_bytes(named([name.encode(encoding) for name in names]))
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("papers")
        context.add(tmp_path / "a.zip")
        paths = [source["path"] for source in context.sources()]
    assert len(paths) == len(names)
    assert all(any(path.endswith(name) for path in paths) for name in names), paths
