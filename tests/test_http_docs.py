"""The examples of docs/http.md do what the page says, against a real server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts import doc_examples
from tests.test_cli_serve import serving

PAGE = Path(__file__).resolve().parents[1] / "docs" / "http.md"


def steps(page: str) -> list[tuple[str, str]]:
    """Commands of the console blocks, with the output that the page shows."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.usefixtures("own_home")
def test_the_examples_of_the_page_run() -> None:
    commands = steps(PAGE.read_text(encoding="utf-8"))
    assert len(commands) > 12
    with serving() as server:
        for command, expected in commands:
            line = command.replace("localhost:8321", f"localhost:{server.port}")
            end = time.monotonic() + 15
            while True:  # tasks run in the background
                done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, encoding="utf-8", timeout=60)
                if doc_examples.matches(expected, done.stdout.replace("\r", "")) or time.monotonic() > end:
                    break
                time.sleep(0.1)
            assert doc_examples.matches(expected, done.stdout.replace("\r", "")), (command, done.stdout, done.stderr)


def test_the_python_example_runs(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    environment = {**os.environ, "TRIVIUM_EMBEDDER": "none"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=tmp_path, env=environment)
    assert done.returncode == 0


def test_every_route_is_on_the_page() -> None:
    import trivium
    from trivium.doors.http.app import create_app

    page = PAGE.read_text(encoding="utf-8")
    with trivium.open(":memory:", embedder="none") as kb:
        paths = create_app(kb).openapi()["paths"]
    for path, operations in paths.items():
        parts = [part for part in path.removeprefix("/api/v0").split("/") if part and not part.startswith("{")]
        assert all(f"/{part}" in page for part in parts), path
        assert all(f"`{method.upper()} /" in page or f"`{method.upper()}`" in page for method in operations), path
