"""The benchmark runs, and both of its sides give equal results."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import why
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


def test_the_benchmark_of_why_runs_and_its_command_answers_like_the_library(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ["--scale", "small", "--dir", str(tmp_path), "--rounds", "1", "--runs", "1", "--json", str(report)]
    assert why.main(arguments) == 0
    figures = json.loads(report.read_text())
    assert len(figures) == 8
    assert all(figure["ours"] > 0 for figure in figures)
