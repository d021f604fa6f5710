"""The benchmark of asking runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import ask


@pytest.mark.slow
def test_turns_and_curate_are_measured_on_a_small_store(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = [
        "--scale",
        "small",
        "--dir",
        str(tmp_path),
        "--seconds",
        "0.01",
        "--rounds",
        "1",
        "--json",
        str(report),
    ]
    assert ask.main(arguments) == 0
    figures = json.loads(report.read_text())
    names = [figure["name"] for figure in figures]
    assert any(name.startswith("turn / all words, all questions") for name in names)
    assert any(name.startswith("curate") for name in names)
    assert all(figure["ours"] > 0 for figure in figures)
