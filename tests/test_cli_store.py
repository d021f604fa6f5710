"""Commands about the whole store: import, export, backup, doctor, contexts; where the database is."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

import trivium
from tests.cli_support import run
from trivium.location import data_folder

TEA = 'UPSERT { CONCEPT { {type: "Domain", name: "Tea"} SET ATTRIBUTES { description: "Leaves." } } }\n'
COUNT = 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }'


pytestmark = pytest.mark.usefixtures("own_home")


# --- where the database is ------------------------------------------------------------------------


def test_the_default_database_is_in_the_private_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIVIUM_DB")
    assert run("kip", "DESCRIBE PRIMER").code == 0
    assert (tmp_path / "data" / "trivium" / "trivium.db").exists()
    assert (tmp_path / "data" / "trivium").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/trivium"),
        ("linux", {}, "{home}/.local/share/trivium"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "{home}/.local/share/trivium"),
        ("darwin", {}, "{home}/Library/Application Support/trivium"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/trivium"),
        ("win32", {}, "{home}/AppData/Local/trivium"),
    ],
)
def test_the_data_folder_follows_the_platform(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert data_folder() == Path(expected.format(home=tmp_path))


@pytest.mark.parametrize("command", [["kip", "DESCRIBE PRIMER"], ["models"], ["demo"], ["export"]])
def test_a_wrong_setting_is_told_by_every_command(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run("kip", "DESCRIBE PRIMER")
    monkeypatch.setenv("TRIVIUM_TIMEOUT", "abc")
    outcome = run(*command)
    assert outcome.code == 1
    assert "A setting is wrong: TRIVIUM_TIMEOUT must be a number" in outcome.err


@pytest.mark.parametrize("command", [["export"], ["backup", "b.db"], ["contexts"]])
def test_commands_that_read_a_database_do_not_make_one(command: list[str], tmp_path: Path) -> None:
    outcome = run(*command, "--db", "typo.db")
    assert outcome.code == 1
    assert "There is no database at typo.db" in outcome.err
    assert not (tmp_path / "typo.db").exists()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, and no database of any kind\n" * 50)
    outcome = run("--db", "notes.txt", "kip", "DESCRIBE PRIMER")
    assert outcome.code == 1
    assert outcome.err.startswith("error: ")
    assert "hint: " in outcome.err
    outcome = run("--db", "notes.txt", "kip", "DESCRIBE PRIMER", "--json")
    assert outcome.json()["error"]["hint"]


@pytest.mark.parametrize(
    "url", ["sqlite:///x.db", "http://example.org/x/y.db", "file:x.db", ":Memory:", "", "/dev/null", "."]
)
@pytest.mark.parametrize("command", [["kip", COUNT], ["export"], ["contexts"], ["doctor"], ["import", "a.kip"]])
def test_a_database_that_can_be_none_is_refused_and_nothing_is_made(
    url: str, command: list[str], tmp_path: Path
) -> None:
    (tmp_path / "a.kip").write_text(TEA)
    for arguments in (["--db", url, *command], [*command, "--db", url]):
        outcome = run(*arguments)
        assert outcome.code == 1
        assert outcome.err.startswith("error: ")
        assert "unexpected fault" not in outcome.err
        assert "hint: " in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.kip"]


def test_the_home_folder_may_stand_for_itself(tmp_path: Path) -> None:
    assert run("--db", "~/mine.db", "kip", COUNT).code == 0
    assert (tmp_path / "mine.db").exists()
    assert run("--db", "~/mine.db", "contexts").out == "default\n"


def test_a_hint_can_be_followed_as_it_stands(tmp_path: Path) -> None:
    outcome = run("export", "--db", "my own.db")
    assert "trivium --db 'my own.db' add FOLDER" in outcome.err
    for place in (["--context", "", "kip", COUNT], ["kip", COUNT, "--context", ""], ["kip", COUNT, "--context", "A b"]):
        outcome = run(*place)
        assert outcome.code == 1
        assert "There is no context" in outcome.err
        assert "context create" not in outcome.err
    assert "`trivium context create work`" in run("kip", COUNT, "--context", "work").err


def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_TIMEOUT", "soon")
    outcome = run("kip", "DESCRIBE PRIMER")
    assert outcome.code == 1
    assert "TRIVIUM_TIMEOUT" in outcome.err
    assert "Traceback" not in outcome.err


# --- import and export ----------------------------------------------------------------------------


def test_import_takes_files_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a.kip").write_text(TEA)
    outcome = run("import", "a.kip", "-", stdin=TEA.replace("Tea", "Coffee"))
    assert outcome.code == 0
    assert outcome.out == "Imported 2 statements from 2 files: 2 concept and 0 proposition blocks.\n"
    report = run("import", "a.kip", "--json").json()
    assert report == {"sources": 1, "commands": 1, "statements": 1, "concepts": 1, "propositions": 0, "empty": 0}


@pytest.mark.parametrize("text", ["", "\n", "// only a comment\n"])
def test_an_import_of_nothing_fails_and_says_so(text: str, tmp_path: Path) -> None:
    outcome = run("import", "-", stdin=text)
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith("error: Nothing was imported: the input holds no statement.")
    assert "before the pipe" in outcome.err
    (tmp_path / "empty.kip").write_text(text)
    outcome = run("import", "empty.kip", "--json")
    assert outcome.code == 1
    assert "empty.kip" in outcome.json()["error"]["message"]


def test_an_empty_file_among_others_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.kip").write_text(TEA)
    outcome = run("import", "a.kip", "-", stdin="")
    assert outcome.code == 0
    assert outcome.err == "note: 1 of 2 files held no statement.\n"
    assert run("import", "a.kip", "-", "--json", stdin="").json()["empty"] == 1


def test_an_import_fault_points_into_the_file(tmp_path: Path) -> None:
    (tmp_path / "bad.kip").write_text(TEA + '\nUPSERT {\n  CONCEPT { {type = "Domain", name: "x"} }\n}\n')
    outcome = run("import", "bad.kip")
    assert outcome.code == 1
    lines = outcome.err.splitlines()
    assert lines[0].startswith("error KIP_1001 (InvalidSyntax): bad.kip: Line 4, column 19:")
    assert lines[1] == '    CONCEPT { {type = "Domain", name: "x"} }'
    assert lines[2].index("^") == lines[1].index("=")


def test_a_late_fault_keeps_what_was_written_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "good.kip").write_text(TEA)
    (tmp_path / "bad.kip").write_text('UPSERT { CONCEPT { {type: "Nope", name: "x"} } }')
    outcome = run("import", "good.kip", "bad.kip")
    assert outcome.code == 1
    assert "bad.kip" in outcome.err
    assert "The commands before it were written" in outcome.err
    assert run("kip", 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain", name: "Tea"} }').json() == {"result": 1}


def test_a_long_import_shows_progress_on_a_terminal_only(tmp_path: Path) -> None:
    text = "".join(TEA.replace("Tea", f"Tea {number}").replace("Leaves.", "x" * 900) for number in range(1_200))
    (tmp_path / "long.kip").write_text(text)
    outcome = run("import", "long.kip", terminal=True)
    assert outcome.code == 0
    assert "Importing" in outcome.err
    assert "100%" in outcome.err
    assert run("import", "long.kip").err == ""


def test_export_and_import_make_the_same_store_and_the_same_text(tmp_path: Path) -> None:
    capsules = sorted((Path(trivium.__file__).parent / "capsules").glob("demo-languages*.kip"))
    assert run("import", *capsules).code == 0
    assert run("export", "-o", "one.kip").code == 0
    assert run("import", "one.kip", "--db", "copy.db").code == 0
    assert run("export", "-o", "two.kip", "--db", "copy.db").code == 0
    one, two = Path("one.kip").read_text(), Path("two.kip").read_text()
    assert one == two
    assert run("export", "--db", "copy.db").out == one
    for database in ("test.db", "copy.db"):
        assert run("kip", "FIND(COUNT(?x)) WHERE { ?x (?s, ?p, ?o) }", "--db", database).json()["result"] > 1_500


def test_export_takes_a_pattern_and_replaces_the_file_as_a_whole(tmp_path: Path) -> None:
    run("import", "-", stdin=TEA)
    assert 'name: "Tea"' in run("export", "--where", '{ ?x {type: "Domain", name: "Tea"} }').out
    assert "CoreSchema" not in run("export", "--where", '?x {type: "Domain", name: "Tea"}').out
    (tmp_path / "kept.kip").write_text("old")
    outcome = run("export", "-o", "kept.kip", "--where", '{ ?x {type: "domain"} }')
    assert outcome.code == 1
    assert "KIP_2001" in outcome.err
    assert (tmp_path / "kept.kip").read_text() == "old"
    assert run("export", "-o", "kept.kip", "--json").json()["bytes"] == len((tmp_path / "kept.kip").read_bytes())
    assert sorted(path.name for path in tmp_path.glob("*kept*")) == ["kept.kip"]


@pytest.mark.parametrize("pattern", ['{ ?x {type = "Domain"} }', '  ?x {type = "Domain"}', '{\n?x {type = "Domain"}}'])
def test_a_fault_in_a_pattern_has_its_place_in_the_pattern(pattern: str) -> None:
    run("import", "-", stdin=TEA)
    outcome = run("export", "--where", pattern)
    source, caret = outcome.err.splitlines()[1:3]
    assert source[caret.index("^")] == "="
    line, column = pattern[: pattern.index("=")].count("\n") + 1, source.index("=") - 1
    assert f"Line {line}, column {column}: " in outcome.err


@pytest.mark.parametrize(
    "pattern",
    [
        '{ ?x {type: "Domain"} } LIMIT 1 // ',
        '?x {type: "Domain"} } LIMIT 1 //',
        '{ ?x {type: "Domain"} } CURSOR "x"',
        '{ ?x {type: "Domain"} } { }',
        "",
        "}",
        "{ ?y (?a, ?b, ?c) ",
    ],
)
def test_a_pattern_is_one_group_and_nothing_more(pattern: str) -> None:
    run("import", "-", stdin=TEA)
    outcome = run("export", "--where", pattern)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error KIP_")
    assert "hint: " in outcome.err


@pytest.mark.parametrize(
    "pattern", ['{ ?x {type: "Domain"} } // all', '?x {type: "Domain"} // all', '// all\n{ ?x {type: "Domain"} }']
)
def test_a_comment_in_a_pattern_hides_nothing(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.kip.capsule_export.PAGE", 2)
    run("import", "-", stdin=TEA)
    exported = run("export", "--where", pattern)
    assert exported.out.count('type: "Domain"') == 5


def test_an_export_of_nothing_is_noted() -> None:
    run("import", "-", stdin=TEA)
    outcome = run("export", "--where", '{ ?x {type: "Domain", name: "Coffee"} }')
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "note: nothing matches the pattern; the capsule is empty.\n"


def test_an_export_from_a_pipe_comes_back() -> None:
    run("import", "-", stdin=TEA)
    outcome = run("import", "-", "--db", "copy.db", stdin=run("export").out)
    assert outcome.code == 0
    assert run("export", "--db", "copy.db").out == run("export").out


# --- backup, doctor -------------------------------------------------------------------------------


def test_backup_copies_and_refuses_to_overwrite(tmp_path: Path) -> None:
    run("import", "-", stdin=TEA)
    assert run("backup", "copy.db").code == 0
    assert run("kip", COUNT, "--db", "copy.db").json() == run("kip", COUNT).json()
    outcome = run("backup", "copy.db")
    assert outcome.code == 1
    assert "hint:" in outcome.err


def test_doctor_reports_checks_versions_and_capabilities(tmp_path: Path) -> None:
    fresh = run("doctor")
    assert fresh.code == 0
    assert "none yet" in fresh.out
    assert not (tmp_path / "test.db").exists()
    run("import", "-", stdin=TEA)
    report = run("doctor", "--json").json()
    assert report["ok"] is True
    assert report["checks"]
    assert run("doctor").out.count("ok  ") >= len(report["checks"])


# --- contexts -------------------------------------------------------------------------------------


def test_contexts_are_separate_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("context", "create", "work").code == 0
    assert run("contexts").out.split() == ["default", "work"]
    assert {"slug": "work"} in run("contexts", "--json").json()
    run("--context", "work", "import", "-", stdin=TEA)
    query = 'FIND(COUNT(?d)) WHERE { ?d {type: "Domain", name: "Tea"} }'
    assert run("kip", query).json() == {"result": 0}
    assert run("kip", query, "--context", "work").json() == {"result": 1}
    monkeypatch.setenv("TRIVIUM_CONTEXT", "work")
    assert run("kip", query).json() == {"result": 1}
    assert 'name: "Tea"' in run("export").out


def test_a_missing_or_repeated_context_is_a_clear_error() -> None:
    run("import", "-", stdin=TEA)
    for arguments in (["--context", "none", "kip", COUNT], ["context", "create", "default"]):
        outcome = run(*arguments)
        assert outcome.code == 1
        assert outcome.err.startswith("error: ")
        assert "hint: " in outcome.err


def test_failures_outside_kip_are_json_when_asked_for() -> None:
    outcome = run("--json", "--context", "none", "kip", COUNT)
    error = json.loads(outcome.out)["error"]
    assert error["name"] == "NotFoundError"
    assert error["message"]


def test_doctor_lists_every_extra() -> None:
    assert run("kip", "DESCRIBE PRIMER").code == 0
    extras = run("doctor", "--json").json()["capabilities"]["extras"]
    pyproject = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert sorted(extras) == sorted(pyproject["project"]["optional-dependencies"].keys() - {"all", "dev"})


# --- progress -------------------------------------------------------------------------------------


def test_long_work_shows_a_bar_on_a_terminal_alone(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.md").write_text("# T\n\nwords\n")
    assert "Importing" in run("add", folder, "--no-embed", terminal=True).err
    assert "Importing" not in run("add", folder, "--no-embed").err
    for path in list(folder.iterdir())[:20]:
        path.unlink()
    assert "Importing" not in run("add", folder, "--no-embed", terminal=True).err
