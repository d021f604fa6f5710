"""Guarded increments by many writers at once: none is lost, no caller sees a lock (see `scripts.counters`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import counters


def test_processes_raise_a_counter_without_losing_a_step(tmp_path: Path) -> None:
    figures = counters.with_processes(tmp_path / "shared.db", processes=4, steps=60, readers=1)
    assert not figures.faults
    assert figures.log == {f"w{index}": 60 for index in range(4)}
    assert figures.counter == 240


@pytest.mark.parametrize("where", ["file", "memory"])
def test_threads_raise_a_counter_without_losing_a_step(tmp_path: Path, where: str) -> None:
    path = str(tmp_path / "shared.db") if where == "file" else ":memory:"
    figures = counters.with_threads(path, threads=8, steps=30, readers=2)
    assert not figures.faults
    assert figures.log == {f"w{index}": 30 for index in range(8)}
    assert figures.counter == 240
    assert figures.reads > 0
