"""`trivium check` and `trivium format`: KIP texts without a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_support import run
from trivium.kip.lexer import MAX_BYTES

pytestmark = pytest.mark.usefixtures("own_home")

UGLY = 'FIND(?d.name)WHERE{?d{type:"Domain"}}LIMIT 5 // five\n'
WARNED = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "lower_case"} } }\n'


def test_check_is_silent_about_good_texts() -> None:
    Path("good.kip").write_text(UGLY)
    outcome = run("check", "good.kip", "-", stdin=UGLY)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_check_names_file_line_and_column_and_fails_on_errors() -> None:
    Path("bad.kip").write_text('FIND(?d.name)\nWHERE { ?d {type = "Domain"} }')
    outcome = run("check", "bad.kip")
    assert outcome.code == 1
    first, hint = outcome.out.splitlines()[:2]
    assert first.startswith("bad.kip:2:18: error KIP_1001 Unexpected")
    assert hint.startswith("    hint: ")
    document = run("check", "bad.kip", "--json").json()
    assert document[0]["file"] == "bad.kip"
    assert (document[0]["line"], document[0]["column"], document[0]["severity"]) == (2, 18, "error")


def test_check_takes_warnings_for_success() -> None:
    outcome = run("check", "-", stdin=WARNED)
    assert outcome.code == 0
    assert outcome.out.startswith("<stdin>:1:")
    assert " warning " in outcome.out


def test_check_reads_files_above_the_command_limit() -> None:
    node = 'UPSERT { CONCEPT { {type: "Domain", name: "n"} SET ATTRIBUTES { a: 1 } } }\n'
    count = 2 * MAX_BYTES // len(node)
    Path("large.kip").write_text(node * count + "UPSERT { CONCEPT }\n")
    outcome = run("check", "large.kip")
    assert outcome.code == 1
    assert outcome.out.startswith(f"large.kip:{count + 1}:18: error KIP_1001 ")


def test_format_prints_changes_in_place_or_only_checks() -> None:
    path = Path("ugly.kip")
    path.write_text(UGLY)
    printed = run("format", "ugly.kip").out
    assert "// five" in printed
    assert printed != UGLY
    assert path.read_text() == UGLY
    checked = run("format", "ugly.kip", "--check")
    assert (checked.code, checked.out) == (1, "would change ugly.kip\n")
    written = run("format", "ugly.kip", "--write")
    assert (written.code, written.out) == (0, "changed ugly.kip\n")
    assert path.read_text() == printed
    assert run("format", "ugly.kip", "--check").code == 0
    assert run("format", "-", stdin=UGLY).out == printed


def test_format_leaves_a_broken_text_alone() -> None:
    path = Path("bad.kip")
    path.write_text("FIND(?d")
    outcome = run("format", "bad.kip", "--write")
    assert outcome.code == 1
    assert "bad.kip" in outcome.err
    assert path.read_text() == "FIND(?d"


def test_format_refuses_contradictions() -> None:
    assert run("format", "a.kip", "--write", "--check").code == 2
    assert run("format", "-", "--write").code == 2


def test_format_reports_as_json() -> None:
    Path("ugly.kip").write_text(UGLY)
    document = run("format", "ugly.kip", "--json").json()
    assert document[0]["changed"] is True
    assert "// five" in document[0]["text"]
    assert run("format", "ugly.kip", "--check", "--json").json() == [{"file": "ugly.kip", "changed": True}]


def test_shipped_capsules_are_without_findings_and_formatted() -> None:
    import trivium

    capsules = sorted((Path(trivium.__file__).parent / "capsules").glob("*.kip"))
    assert len(capsules) > 8
    outcome = run("check", *capsules)
    assert (outcome.code, outcome.out) == (0, "")
