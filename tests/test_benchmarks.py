"""The benchmark runs, and both of its sides give equal results."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.kip import PARTS, main
from benchmarks.shapes import SHAPES


def test_both_sides_agree_on_a_small_graph(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ["--scale", "small", "--dir", str(tmp_path), "--seconds", "0.001", "--runs", "1"]
    assert main([*arguments, "--json", str(report)]) == 0
    lines = json.loads(report.read_text())
    assert {line["part"] for line in lines} == set(PARTS)
    assert {line["name"] for line in lines if line["part"] == "query"} == {shape.name for shape in SHAPES}
    assert all(line["ratio"] > 0 for line in lines)
