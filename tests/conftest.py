"""What tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Search by keyword alone, whatever is installed: tests of meaning name their embedder themselves.
os.environ["TRIVIUM_EMBEDDER"] = "none"


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and working folder, with `test.db` there as the database of the command line."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TRIVIUM_DB", str(tmp_path / "test.db"))
    monkeypatch.delenv("TRIVIUM_CONTEXT", raising=False)
    monkeypatch.delenv("TRIVIUM_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
