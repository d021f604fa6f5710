"""Killed services leave every turn with exactly one end (see `scripts.crash_ask`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import crash_ask


@pytest.mark.slow
def test_killed_services_leave_turns_with_one_end(tmp_path: Path) -> None:
    figures = crash_ask.run(tmp_path, 10, seed=7)
    assert figures.faults == []
    assert figures.accepted > 100
    assert figures.ends["interrupted"] > 0


@pytest.mark.slow
def test_killed_servers_leave_turns_with_one_end(tmp_path: Path) -> None:
    figures = crash_ask.run(tmp_path, 10, seed=7, over_http=True)
    assert figures.faults == []
    assert figures.accepted > 50
    assert figures.ends["interrupted"] > 0
