"""Conformance cases through the command line: one child process per nexus.

Every third case runs by default; ``TRIVIUM_CLI_ALL=1`` in the environment runs them all.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.doors import CliNexus, CliPool, cli_command
from tests.conformance.runner import Case, load_cases, load_setup, run_case

STRIDE = 1 if os.environ.get("TRIVIUM_CLI_ALL") == "1" else 3
QUERY = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name'
NAMES = ["Brevix", "Lumanol", "Nocturin", "Placidol"]


@pytest.fixture(scope="module")
def pool() -> Iterator[CliPool]:
    with CliPool() as ready:
        yield ready


@pytest.mark.slow
@pytest.mark.parametrize("case", load_cases()[::STRIDE], ids=lambda case: case.id)
def test_case(case: Case, pool: CliPool) -> None:
    run_case(case, pool.take)


def _run(arguments: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*cli_command(), *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_lines_end_with_success_in_spite_of_kip_errors() -> None:
    nexus = CliNexus()
    try:
        assert nexus.execute({"command": "FIND("}, False)["error"]["code"] == "KIP_1001"
        assert nexus.finish() == 0
    finally:
        nexus.close()


def test_one_request_from_the_input_and_from_a_file(tmp_path: Path) -> None:
    database = str(tmp_path / "nexus.db")
    setup = json.dumps({"command": load_setup("apothecary")})
    loaded = _run(["--db", database, "kip", "--request", "-"], setup)
    assert loaded.returncode == 0, loaded.stderr
    assert json.loads(loaded.stdout)["result"]["blocks"] == 3

    file = tmp_path / "request.json"
    file.write_text(json.dumps({"command": QUERY}), encoding="utf-8")
    asked = _run(["--db", database, "kip", "--request", str(file)])
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout) == {"result": NAMES}


def test_a_file_keeps_what_one_process_wrote_for_the_next(tmp_path: Path) -> None:
    database = str(tmp_path / "nexus.db")
    lines = [
        json.dumps({"command": load_setup("apothecary")}),
        json.dumps({"command": QUERY}),
    ]
    first = _run(["--db", database, "kip", "--request", "-", "--jsonl"], "\n".join(lines) + "\n")
    assert first.returncode == 0, first.stderr
    assert [json.loads(line) for line in first.stdout.splitlines()][1] == {"result": NAMES}

    again = json.dumps({"request": {"command": QUERY}, "readonly": True}) + "\n"
    second = _run(["--db", database, "kip", "--request", "-", "--jsonl"], again)
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout) == {"result": NAMES}
