"""Files are written whole or not at all, with the rights that new files have here."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from trivium.files import whole_file


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_fault_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_text("old")

    def fail() -> None:
        with whole_file(place) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "no" / "a.txt"):
        pass


def test_a_name_may_be_as_long_as_the_system_takes(tmp_path: Path) -> None:
    place = tmp_path / ("a" * 255)
    with whole_file(place) as file:
        file.write(b"new")
    assert place.read_bytes() == b"new"


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of POSIX")
def test_rights_are_those_of_the_old_file_or_of_any_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", None)  # of the whole process: other threads make files meanwhile
        with whole_file(tmp_path / "new") as file:
            file.write(b"x")
        assert rights(tmp_path / "new") == 0o640
        (tmp_path / "new").chmod(0o604)
        with whole_file(tmp_path / "new") as file:
            file.write(b"y")
        assert rights(tmp_path / "new") == 0o604
    finally:
        monkeypatch.undo()
        os.umask(old)
