"""Names of files are UTF-8, whatever the locale says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from trivium.doors.streams import _escaped

pytestmark = pytest.mark.skipif(os.name == "nt", reason="where names are UTF-16 no locale reads them")

PLAIN = {"LC_ALL": "C", "LANG": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""An environment in which Python takes the names of files for ASCII."""
UTF8 = {"LC_ALL": "C.UTF-8"}
MODULE, RECORD = "src/gerät/größe.py", "docs/adr/0001-größe-索引.md"


@pytest.fixture
def place(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "Größe" / "索引")
    made.write(MODULE, "class Größe: ...\n")
    made.write(RECORD, f"# Maß\n\nStatus: accepted\n\n`{MODULE}` and [it](../../src/ger%C3%A4t/größe.py)\n")
    made.write("docs/ändern/.gitignore", "*.tmp\n")
    made.write("docs/ändern/é.tmp", "ignored")
    made.write(".agent-memory/größe.md", "Maß is measured\n")
    made.commit("feat: größe")
    made.git("checkout", "-q", "-b", "zweig/ä")
    return made


def run(place: Path, database: Path, environment: dict[str, str], *arguments: str) -> str:
    code = "from trivium.doors.program import main; main()"
    settings = {"TRIVIUM_DB": str(database), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **settings, **environment},
        cwd=place,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_the_environment_of_these_tests_reads_ascii() -> None:
    code = "import sys; print(sys.getfilesystemencoding(), sys.stdout.encoding)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **PLAIN}, capture_output=True, check=True)
    assert done.stdout.split() == [b"ascii", b"ascii"]


@pytest.mark.parametrize("kind", ["git", "walked"])
def test_an_index_made_in_another_locale_is_the_same_and_fresh_in_both(
    place: GitRepository, tmp_path: Path, kind: str
) -> None:
    if kind == "walked":
        (place.root / ".git").rename(tmp_path / "moved")
    made = {}
    for name, environment in (("plain", PLAIN), ("utf-8", UTF8)):
        made[name] = json.loads(run(place.root, tmp_path / f"{name}.db", environment, "index", "--json"))
        for other in (PLAIN, UTF8):
            answer = json.loads(run(place.root, tmp_path / f"{name}.db", other, "why", MODULE, "--json"))
            assert answer["target"] == MODULE
            assert f"knowledge-decision:{RECORD}:Maß" in [entity["id"] for entity in answer["entities"]]
            assert [document["path"] for document in answer["documents"]] == [RECORD]
            assert answer["memoryRelations"][0]["evidence"]["rawPath"] == ".agent-memory/größe.md"
    assert made["plain"]["hash"] == made["utf-8"]["hash"]
    assert made["plain"]["path"] == made["utf-8"]["path"] == str(place.root)
    assert made["plain"]["counts"]["files"] == 4
    again = json.loads(run(place.root, tmp_path / "plain.db", UTF8, "index", "--json"))
    assert (again["changed"], again["counts"]["files"]) == (False, made["plain"]["counts"]["files"])


def test_symbols_lines_folders_and_absolute_paths_are_understood(place: GitRepository, tmp_path: Path) -> None:
    database = tmp_path / "k.db"
    run(place.root, database, PLAIN, "index")
    for folder, target in (
        (".", "Größe"),
        (".", f"{MODULE}:1"),
        (".", "src/gerät"),
        (".", str(place.root / MODULE)),
        ("src/gerät", "größe.py"),
        ("docs", "../src/gerät"),
    ):
        for more in ([], ["--limit", "5"]):
            answer = json.loads(run(place.root / folder, database, PLAIN, "why", target, "--json", *more))
            assert answer["entities"], target
    text = run(place.root, database, PLAIN, "why", MODULE)
    assert text.startswith("Why: src/ger\\u00e4t/gr\\u00f6\\u00dfe.py\n")


def test_work_trees_and_folders_below_are_found(place: GitRepository, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", "-b", "neben/ö", str(tmp_path / "zweit-größe"))
    database = tmp_path / "k.db"
    run(tmp_path / "zweit-größe", database, PLAIN, "index")
    answer = json.loads(run(tmp_path / "zweit-größe", database, PLAIN, "why", MODULE, "--json"))
    assert {"decision", "change"} <= {entity["kind"] for entity in answer["entities"]}


def test_what_a_stream_cannot_encode_is_an_escape_of_json() -> None:
    text = "a ä 索 \U0001f600 \ud800"
    error = UnicodeEncodeError("ascii", text, 2, len(text), "")
    escaped, end = _escaped(error)
    assert isinstance(escaped, str)
    assert (json.loads(f'"{escaped}"'), end) == (text[2:], len(text))
    with pytest.raises(UnicodeDecodeError):
        _escaped(UnicodeDecodeError("ascii", b"\xff", 0, 1, ""))
