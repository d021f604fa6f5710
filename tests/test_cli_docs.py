"""The documentation: complete, up to date, and true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import trivium
from scripts import check_docs, doc_examples, gen_cli_docs

PAGES = sorted(gen_cli_docs.PAGES.glob("*.md"))


def test_every_command_and_option_is_documented_and_up_to_date() -> None:
    assert list(check_docs.undocumented()) == []


def test_links_lead_somewhere() -> None:
    assert list(check_docs.broken_links()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_command_pages_do_what_the_page_says(page: Path) -> None:
    assert doc_examples.failures(page) == []


def test_examples_of_the_search_page_do_what_it_says() -> None:
    assert doc_examples.failures(gen_cli_docs.PAGES.parent / "search.md") == []


def test_examples_of_the_readme_do_what_it_says() -> None:
    assert check_docs.failing_examples() == []


def test_the_check_finds_what_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ trivium --version\ntrivium 9\n$ trivium bogus\n$ false\n"
        "$ echo x | trivium check -\n…KIP_1001…\n```\n"
        "```python\nimport trivium_is_not_this\n```\n```sh\ntrivium bogus\n```\n"
    )
    found = doc_examples.failures(page)
    assert [text.split(": ")[0] for text in found] == ["page.md:2", "page.md:4", "page.md:10"]


def test_every_kip_block_of_the_agents_guide_runs() -> None:
    guide = (Path(trivium.__file__).parent / "docs" / "kip-guide.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```kip\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 7
    with trivium.open(":memory:") as kb:
        for block in blocks:
            response = kb.execute_kip({"command": block})
            assert "result" in response, (block, response)


def test_blocks_of_the_python_page_run_alone_and_twice(tmp_path: Path) -> None:
    page = (gen_cli_docs.PAGES.parent / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRIVIUM_")}
    assert len(blocks) > 6
    for number, block in enumerate(blocks):
        folder = tmp_path / str(number)
        folder.mkdir()
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", block], cwd=folder, env=environment, stderr=subprocess.PIPE)
            assert done.returncode == 0, (block, done.stderr)
