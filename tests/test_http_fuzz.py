"""What `/openapi.json` says holds: requests made from it, and bent against it, get the answers that it names.

`schemathesis` goes through the parameters of every operation, makes up further requests, and follows ids from answer to
request. It checks that no answer is a server's fault, that status, headers, type and body are as documented, that what
violates the contract is refused, and that nothing is there after its deletion. What is valid by the contract may still
be refused (a cursor that no list has given, a shape that is no schema), so that is not checked.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.http_server import running, scripted
from tests.knowql_doors import prepare
from tests.knowql_runner import load_setup

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = int(os.environ.get("TRIVIUM_FUZZ_EXAMPLES", "12"))
SECONDS = 200 + 10 * EXAMPLES
CONFIG = """
[[operations]]
include-path = "/api/v0/tasks/{id}"
checks.use_after_free.enabled = false

[[operations]]
include-path = "/api/v0/contexts/restore"
checks.allow_header_conformance.enabled = false
"""
# DELETE cancels a task, which stays to be looked at. A context may be named `restore`: that path has its methods, too.


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_answers_are_those_of_the_contract(seed: int, tmp_path: Path) -> None:
    with running() as server, scripted() as kb:
        prepare(kb, load_setup("contracts"))
        server.hold(kb)
        turn = kb.ask("payment terms", scope=["contracts"])
        known = {
            "slug": "contracts",
            "turn": turn["id"],
            "session": turn["session_id"],
            "task": kb.tasks.list()[0]["id"],
            "source": "globex.md",
            "chunk": turn["citations"][0]["chunk_id"],
        }
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"]
        options = ["--phases", "examples,coverage,fuzzing,stateful", "--max-examples", EXAMPLES, "--seed", seed]
        further = ["--exclude-checks", "positive_data_acceptance", "--request-timeout", 30, "--no-color"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SCHEMATHESIS_HOOKS": "tests.http_fuzz_hooks",
            "TRIVIUM_FUZZ_KNOWN": json.dumps(known),
        }
        (tmp_path / "schemathesis.toml").write_text(CONFIG)
        done = subprocess.run(
            list(map(str, [*command, *options, *further])),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=tmp_path,
            env=environment,
        )
    found = re.search(r"(\d+) selected.*?(\d+) generated", done.stdout, re.DOTALL)
    assert found is not None, done.stdout + done.stderr
    click.echo(f"{found[1]} operations, {found[2]} requests")
    assert done.returncode == 0, done.stdout[-12_000:] + done.stderr[-2_000:]
