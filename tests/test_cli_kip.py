"""`trivium kip`: sources of commands, parameters, forms of output, errors, requests, streams."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli_support import Outcome, run

WRITE = 'UPSERT { CONCEPT { {type: "Domain", name: "Tea"} SET ATTRIBUTES { description: "Leaves.", grade: 3 } } }'
READ = 'FIND(?d.name, ?d.attributes.grade) WHERE { ?d {type: "Domain", name: "Tea"} }'


pytestmark = pytest.mark.usefixtures("own_home")


def kip(*arguments: object, **how: object) -> Outcome:
    return run("kip", *arguments, **how)


# --- sources --------------------------------------------------------------------------------------


def test_a_command_is_taken_from_the_line_a_file_or_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "write.kip"
    file.write_text(WRITE)
    assert kip("-f", file).code == 0
    assert kip(READ).json() == {"result": [["Tea"], [3]]}
    assert kip("-", stdin=READ).json() == {"result": [["Tea"], [3]]}
    assert kip("-f", "-", stdin=READ).json() == {"result": [["Tea"], [3]]}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [READ, "-f", "x"],
        [READ, "--jsonl"],
        ["--request", "x", "--param", "a=1"],
        ["--jsonl", "--dry-run"],
        [READ, "--explain", "--dry-run"],
        [READ, "--param", "novalue"],
        [READ, "--param", "1st=2"],
        [READ, "--bogus"],
    ],
)
def test_a_wrong_command_line_ends_with_2(arguments: list[str]) -> None:
    outcome = kip(*arguments)
    assert outcome.code == 2
    assert "Usage: trivium kip" in outcome.err


def test_missing_and_foreign_files_are_named(tmp_path: Path) -> None:
    outcome = kip("-f", "none.kip")
    assert outcome.code == 1
    assert "none.kip: No such file" in outcome.err
    (tmp_path / "latin.kip").write_bytes(b"FIND(\xe9)")
    outcome = kip("-f", "latin.kip")
    assert outcome.code == 1
    assert "latin.kip is not UTF-8 text" in outcome.err


# --- parameters -----------------------------------------------------------------------------------


def test_parameters_are_json_where_they_parse_and_text_elsewhere(tmp_path: Path) -> None:
    kip(WRITE)
    query = "FIND(?d.name) WHERE { ?d {type: :type} FILTER(IN(?d.name, :names) && ?d.attributes.grade >= :grade) }"
    (tmp_path / "p.json").write_text(json.dumps({"names": ["Tea", "Coffee"], "grade": 9, "type": "Domain"}))
    outcome = kip(query, "--params", "p.json", "--param", "grade=3")
    assert outcome.json() == {"result": ["Tea"]}
    outcome = kip('FIND(?d.name) WHERE { ?d {type: "Domain", name: :n} }', "--param", "n=Tea")
    assert outcome.json() == {"result": ["Tea"]}


@pytest.mark.parametrize("text", ["[1]", "nonsense", '{"a": NaN}'])
def test_a_parameter_file_that_is_no_object_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(text)
    outcome = kip(READ, "--params", "p.json")
    assert outcome.code in (1, 2)
    assert "JSON" in outcome.err


# --- switches -------------------------------------------------------------------------------------


def test_readonly_refuses_writes_and_dry_run_writes_nothing() -> None:
    assert kip(WRITE, "--readonly").code == 1
    assert kip(WRITE, "--dry-run").code == 0
    assert kip(READ).json() == {"result": [[], []]}


def test_explain_shows_every_stage_and_the_result() -> None:
    kip(WRITE)
    outcome = kip(READ, "--explain", "--table")
    assert outcome.code == 0
    for part in ("tokens", "tree", "plan", "sql", "timing", "SELECT", "Tea"):
        assert part in outcome.out
    document = kip(READ, "--explain", "--json").json()
    assert document["tokens"][0] == "FIND"
    assert document["response"] == {"result": [["Tea"], [3]]}


def test_explain_refuses_writes_when_readonly_and_reports_faults() -> None:
    outcome = kip(WRITE, "--explain", "--readonly")
    assert outcome.code == 1
    assert "KIP_1001" in outcome.err
    outcome = kip("FIND(?x", "--explain")
    assert outcome.code == 1
    assert "KIP_1001" in outcome.err


# --- output ---------------------------------------------------------------------------------------


def test_output_is_a_table_on_a_terminal_and_json_elsewhere() -> None:
    kip(WRITE)
    assert kip(READ).out.startswith("{")
    assert kip(READ, "--json", terminal=True).out.startswith("{")
    for outcome in (kip(READ, "--table"), kip(READ, terminal=True)):
        assert outcome.code == 0
        assert "?d.attributes.grade" in outcome.out
        assert "1 row" in outcome.out
        assert "{" not in outcome.out


def test_global_options_stand_before_or_after_the_command(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    assert run("--db", other, "--json", "kip", WRITE, "--readonly").json()["error"]["code"] == "KIP_1001"
    assert run("--db", tmp_path / "wrong.db", "kip", WRITE, "--db", other).code == 0
    assert run("--db", other, "kip", READ).json() == {"result": [["Tea"], [3]]}
    assert not (tmp_path / "wrong.db").exists()


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ('FIND(?d) WHERE { ?d {type: "Domain", name: "Tea"} }', ["id", "type", "Tea", "grade: 3", "1 element"]),
        ('FIND(COUNT(?d)) WHERE { ?d {type: "Domain", name: "Tea"} }', ["COUNT(?d)", "1 row"]),
        ('FIND(?l) WHERE { ?l (?s, "belongs_to_domain", ?o) } LIMIT 2', ["subject", "predicate", "more: add CURSOR"]),
        ('SEARCH CONCEPT "Tea" LIMIT 3', ["score", "1.000", "Tea"]),
        ("DESCRIBE CONCEPT TYPES", ["Domain", "names"]),
        ("DESCRIBE PRIMER", ["domain_map"]),
        ('DESCRIBE CONCEPT TYPE "Domain"', ["instance_schema"]),
        ('EXPORT ?d WHERE { ?d {type: "Domain", name: "Tea"} }', ["UPSERT", "1 concepts, 0 propositions"]),
        ('DELETE CONCEPT ?d DETACH WHERE { ?d {name: "Tea"} }', ["deleted_concepts: 1"]),
    ],
)
def test_every_kind_of_result_has_a_table(command: str, texts: list[str]) -> None:
    kip(WRITE)
    outcome = kip(command, "--table")
    assert outcome.code == 0, outcome.err
    for text in texts:
        assert text in outcome.out


def test_knowledge_cannot_steer_the_terminal() -> None:
    text = "bell \x07 colour \x1b[31m csi \x9b31m"
    write = 'UPSERT { CONCEPT { {type: "Domain", name: "Trap"} SET ATTRIBUTES { description: :text } } }'
    assert kip(write, "--param", f"text={text}").code == 0
    query = 'FIND(?d.attributes.description, ?d) WHERE { ?d {type: "Domain", name: "Trap"} }'
    for how in (["--table"], ["--json"]):
        out = kip(query, *how).out
        assert "bell" in out
        assert not any(char in out for char in "\x07\x1b\x9b")
    assert kip(query).json()["result"][0] == [text]


# --- errors ---------------------------------------------------------------------------------------


def test_an_error_shows_code_message_line_caret_and_hint() -> None:
    outcome = kip('FIND(?d.name)\nWHERE {\n  ?d {type = "Domain"}\n}')
    assert outcome.code == 1
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    assert lines[0].startswith("error KIP_1001 (InvalidSyntax): Line 3, column 12:")
    assert lines[1] == '    ?d {type = "Domain"}'
    assert lines[2].index("^") == lines[1].index("=")
    assert lines[3].startswith("hint: ")


def test_the_caret_stands_under_the_place_also_after_wide_letters_and_in_long_lines() -> None:
    outcome = kip('FIND(?d) WHERE { ?d {name: "深色"} FILTER(?d.name = 1) }')
    source, caret = outcome.err.splitlines()[1:3]
    before = source[: source.index("= 1")]
    assert caret.index("^") == len(before) + 2  # two letters are two columns wide
    outcome = kip("FIND(?d) WHERE { " + '?d {name: "x"} ' * 40 + "% }")
    source, caret = outcome.err.splitlines()[1:3]
    assert len(source) < 120
    assert source[caret.index("^")] == "%"


def test_errors_are_json_when_json_is_asked_for() -> None:
    outcome = kip('FIND(?d) WHERE { ?d {type: "domain"} }', "--json")
    assert outcome.code == 1
    assert outcome.err == ""
    assert outcome.json()["error"]["code"] == "KIP_2001"


# --- requests and streams -------------------------------------------------------------------------


def test_a_request_object_is_executed(tmp_path: Path) -> None:
    request = {"commands": [WRITE, READ, "BROKEN"], "parameters": {}}
    (tmp_path / "r.json").write_text(json.dumps(request))
    answers = kip("--request", "r.json").json()["result"]
    assert answers[1] == {"result": [["Tea"], [3]]}
    assert answers[2]["error"]["code"] == "KIP_1001"
    outcome = kip("--request", "-", "--table", stdin=json.dumps(request))
    assert "?d.attributes.grade" in outcome.out
    assert "KIP_1001" in outcome.err
    outcome = kip(
        "--request", "-", "--dry-run", stdin='{"command": "DELETE CONCEPT ?d DETACH WHERE { ?d {name: \\"Tea\\"} }"}'
    )
    assert outcome.json() == {"result": {"deleted_concepts": 0, "deleted_propositions": 0}}


@pytest.mark.parametrize("text", ["[]", "{", '{"command": "X", "commands": []}', '{"comand": "X"}'])
def test_a_broken_request_is_an_error(text: str) -> None:
    outcome = kip("--request", "-", stdin=text)
    assert outcome.code == 1
    assert "hint:" in outcome.err


def test_a_stream_gets_one_line_for_each_line() -> None:
    lines = [
        json.dumps({"command": WRITE}),
        "",
        json.dumps({"request": {"command": WRITE}, "readonly": True}),
        json.dumps({"request": {"command": READ}, "readonly": True}),
        json.dumps({"request": {"command": READ}, "reaonly": True}),
        "{ broken",
        "[1]",
        "7",
        "[" * 100_000,
        '{"command": "\\ud800"}',
        "1" * 10_000,
        json.dumps({"command": 'FIND(?x.name) WHERE { ?x {name: "深色"} }'}),
    ]
    outcome = kip("--jsonl", stdin="\n".join(lines).encode() + b"\n\xff\n")
    assert outcome.code == 0
    answers = [json.loads(line) for line in outcome.out.splitlines()]
    assert len(answers) == len(lines)
    assert "result" in answers[0]
    assert answers[1]["error"]["code"] == "KIP_1001"
    assert answers[2] == {"result": [["Tea"], [3]]}
    assert all(answer["error"]["code"] == "KIP_1001" for answer in answers[3:10])
    assert answers[10] == {"result": []}
    assert answers[11]["error"]["code"] == "KIP_1001"


def test_a_readonly_stream_stays_readonly() -> None:
    outcome = kip("--jsonl", "--readonly", stdin=json.dumps({"request": {"command": WRITE}, "readonly": False}))
    assert "error" in outcome.json()


TWICE = ['{"command": "a", "command": "b"}', '{"command": "a", "parameters": {"x": {"y": 1, "y": 1}}}']


@pytest.mark.parametrize("request_", TWICE)
def test_a_member_that_is_there_twice_is_refused(request_: str, tmp_path: Path) -> None:
    [line] = kip("--jsonl", stdin=request_).out.splitlines()
    error = json.loads(line)["error"]
    assert error["code"] == "KIP_1001"
    assert "twice" in error["message"]
    outcome = kip("--request", "-", stdin=request_)
    assert outcome.code == 1
    assert outcome.err.startswith("error KIP_1001")
    assert kip("--request", "-", "--json", stdin=request_).json()["error"] == error
    (tmp_path / "p.json").write_text('{"a": 1, "a": 2}')
    for arguments in (["--params", "p.json"], ["--param", 'a={"b": 1, "b": 2}']):
        outcome = kip(READ, *arguments)
        assert outcome.code == 1
        assert outcome.err.startswith("error KIP_1001")
