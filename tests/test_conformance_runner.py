"""The conformance runner itself, against an engine that only repeats what it is told."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.conformance import doors
from tests.conformance.doors import CliNexus, CliPool, request_line
from tests.conformance.runner import (
    Case,
    CaseFailure,
    DataError,
    Mismatch,
    match,
    parse_suite,
    resolve,
    run_case,
)

Json = Any


class Script:
    """A fake engine: answers from a table, and keeps what it was asked."""

    def __init__(self, answers: list[Json], log: list[tuple[Json, bool]]) -> None:
        self.answers = answers
        self.log = log
        self.closed = False

    def execute(self, request: Json, readonly: bool) -> Json:
        self.log.append((request, readonly))
        return self.answers.pop(0)

    def close(self) -> None:
        self.closed = True


def case_of(*steps: Json, **more: Json) -> Case:
    data = {"id": "c", "clause": "§1", "title": "t", "steps": list(steps), **more}
    return parse_suite({"suite": "s", "cases": [data]}, "f.json")[0]


def play(case: Case, *answers: Json) -> list[tuple[Json, bool]]:
    log: list[tuple[Json, bool]] = []
    remaining = list(answers)
    run_case(case, lambda: Script(remaining, log))
    assert not remaining
    return log


GOOD: list[tuple[Json, Json]] = [
    (1, 1.0),
    ({"a": 1, "b": [None, True]}, {"b": [None, True], "a": 1.0}),
    ({"$any": "string"}, ""),
    ({"$any": "number"}, 0),
    ({"$any": "boolean"}, False),
    ({"$any": "array"}, []),
    ({"$any": "object"}, {}),
    ({"$any": "any"}, None),
    ({"$unordered": [1, 2, 2]}, [2, 1, 2]),
    ({"$unordered": [{"$any": "number"}, 1]}, [1, 7]),
    ({"$rows": [["a", "b"], [1, 2]]}, [["b", "a"], [2, 1]]),
    ({"$rows": [[], []]}, [[], []]),
    ({"$contains": {"a": {"$contains": {"b": 1}}}}, {"a": {"b": 1, "c": 2}, "d": 3}),
    ({"$length": 2}, [1, 2]),
    ({"$length": 0}, []),
    ({"$between": [0, 1]}, 0.5),
    ({"$between": [0, 1]}, 1),
    ({"$includes": [2, 3]}, [3, 1, 2]),
    ({"$includes": []}, []),
    ([{"$bind": "x"}, {"$ref": "x"}], ["t", "t"]),
    ([{"$bind": "x"}, {"$unordered": [{"$ref": "x"}, 2]}], [1, [2, 1.0]]),
    ({"error": {"code": "K"}}, {"error": {"code": "K", "message": "m", "hint": "h"}}),
    (
        {"error": {"code": "K", "message_contains": ["me", "ss"], "hint_contains": []}},
        {"error": {"code": "K", "message": "message", "hint": "h"}},
    ),
    ({"error": {"hint": {"$any": "string"}}}, {"error": {"message": "m", "hint": "h"}}),
    ({"error": "an attribute"}, {"error": "an attribute"}),
    (9007199254740993, 9007199254740993),
]

BAD: list[tuple[Json, Json, str]] = [
    (1, True, "$"),
    (True, 1, "$"),
    (0, False, "$"),
    ("1", 1, "$"),
    (None, 0, "$"),
    (9007199254740993, 9007199254740992.0, "$"),
    ({"a": 1}, {"a": 1, "b": 2}, "$"),
    ({"a": 1}, {}, "$"),
    ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "$.a[1].b"),
    ({"a b": 1}, {"a b": 2}, '$["a b"]'),
    ([1, 2], [1], "$"),
    ([1, 2], [2, 1], "$[0]"),
    ({"$any": "string"}, None, "$"),
    ({"$any": "number"}, True, "$"),
    ({"$unordered": [1, 2]}, [1, 2, 2], "$"),
    ({"$unordered": [1, 1]}, [1, 2], "$"),
    ({"$unordered": [1]}, {"a": 1}, "$"),
    ({"$rows": [["a", "b"], [1, 2]]}, [["a", "b"], [2, 1]], "$ (as rows)"),
    ({"$rows": [["a"], [1]]}, [["a"]], "$"),
    ({"$rows": [["a"], [1]]}, [["a"], 1], "$[1]"),
    ({"$rows": [["a"], [1]]}, [["a"], []], "$[1]"),
    ({"$contains": {"a": 1}}, {"b": 1}, "$"),
    ({"$contains": {"a": 1}}, [], "$"),
    ({"$contains": {"a": 1}}, {"a": 2}, "$.a"),
    ({"$length": 2}, [1], "$"),
    ({"$length": 1}, "x", "$"),
    ({"$between": [0, 1]}, 1.5, "$"),
    ({"$between": [0, 1]}, True, "$"),
    ({"$includes": [1, 1]}, [1, 2], "$"),
    ([{"$bind": "x"}, {"$ref": "x"}], [1, 2], "$[1]"),
    ({"error": {"code": "K"}}, {"error": {"code": "K"}}, "$.error.message"),
    ({"error": {"code": "K"}}, {"error": {"code": "K", "message": " "}}, "$.error.message"),
    ({"error": {"code": "K"}}, {"error": {"code": "L", "message": "m"}}, "$.error.code"),
    ({"error": {"code": "K"}}, {"result": 1}, "$"),
    ({"error": {"code": "K"}}, {"error": {"code": "K", "message": "m"}, "result": 1}, "$"),
    ({"error": {"hint_contains": []}}, {"error": {"message": "m"}}, "$.error.hint"),
    (
        {"error": {"message_contains": ["x"]}},
        {"error": {"message": "m"}},
        "$.error.message",
    ),
    ({"error": {"name": "N"}}, {"error": {"message": "m"}}, "$.error.name"),
    ({"error": {"code": "K"}}, {"error": "K"}, "$.error"),
]


@pytest.mark.parametrize(("expected", "actual"), GOOD)
def test_fits(expected: Json, actual: Json) -> None:
    match(expected, actual, {})


@pytest.mark.parametrize(("expected", "actual", "path"), BAD)
def test_differs(expected: Json, actual: Json, path: str) -> None:
    with pytest.raises(Mismatch) as caught:
        match(expected, actual, {})
    assert caught.value.path == path
    assert path in str(caught.value)


def test_bindings_of_an_unordered_list_survive() -> None:
    bindings: dict[str, Json] = {}
    match({"$unordered": [{"a": {"$bind": "x"}, "b": 1}, 2]}, [2, {"a": "t", "b": 1}], bindings)
    assert bindings == {"x": "t"}


@pytest.mark.parametrize("expected", [{"$no": 1}, {"$ref": "free"}])
def test_unknown_matchers_and_free_references_are_data_errors(expected: Json) -> None:
    with pytest.raises(DataError):
        match(expected, 1, {})


def test_generators() -> None:
    value = {"a": {"$repeat": ["ab", 3]}, "b": [{"$concat": ["x", {"$ref": "r"}]}], "$c": 1}
    assert resolve(value, {"r": "y"}) == {"a": "ababab", "b": ["xy"], "$c": 1}
    assert resolve({"$repeat": [["p", "q"], 2]}, {}) == ["p", "q", "p", "q"]
    assert resolve({"$concat": [["p"], {"$repeat": [["q"], 2]}]}, {}) == ["p", "q", "q"]
    assert resolve({"$concat": []}, {}) == ""


@pytest.mark.parametrize(
    "value",
    [{"$repeat": "x"}, {"$repeat": [1, 2]}, {"$repeat": ["x", "2"]}, {"$concat": ["x", ["y"]]}],
)
def test_broken_generators(value: Json) -> None:
    with pytest.raises(DataError):
        resolve(value, {})


def test_steps_pass_bindings_on() -> None:
    case = case_of(
        {"request": {"command": "one"}, "response": {"result": [], "next_cursor": {"$bind": "t"}}},
        {
            "request": {"command": "two", "parameters": {"c": {"$ref": "t"}}},
            "readonly": True,
            "response": {"result": [1]},
        },
    )
    log = play(case, {"result": [], "next_cursor": "tok"}, {"result": [1]})
    assert log == [
        ({"command": "one"}, False),
        ({"command": "two", "parameters": {"c": "tok"}}, True),
    ]


def test_a_failure_names_case_step_and_path() -> None:
    case = case_of(
        {"request": {"command": "a"}, "response": {"result": 1}},
        {"request": {"command": "b"}, "response": {"result": [1, 2]}},
    )
    with pytest.raises(CaseFailure) as caught:
        play(case, {"result": 1}, {"result": [1, 3]})
    text = str(caught.value)
    for part in ("c (§1, f.json)", "step 2 of 2", '"command": "b"', "$.result[1]"):
        assert part in text


def test_a_fresh_nexus_in_the_middle() -> None:
    opened: list[Script] = []
    log: list[tuple[Json, bool]] = []

    def open_nexus() -> Script:
        opened.append(Script([{"result": 1}, {"result": 1}], log))
        return opened[-1]

    case = case_of(
        {"request": {"command": "a"}, "response": {"result": 1}},
        {"request": {"command": "b"}, "response": {"result": 1}, "fresh": []},
    )
    run_case(case, open_nexus)
    assert len(opened) == 2
    assert all(nexus.closed for nexus in opened)


def test_a_setup_that_fails_fails_the_case() -> None:
    case = case_of({"request": {}, "response": {}}, setup=["apothecary"])
    with pytest.raises(CaseFailure, match="setup apothecary failed"):
        play(case, {"error": {"code": "K", "message": "m"}})


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"clause": None},
        {"steps": []},
        {"setup": "apothecary"},
        {"choice": 1},
        {"steps": [{"request": {}}]},
        {"steps": [{"request": {}, "response": {}, "read_only": True}]},
        {"extra": 1},
    ],
)
def test_malformed_cases(change: dict[str, Json]) -> None:
    data = {
        "id": "c",
        "clause": "§1",
        "title": "t",
        "steps": [{"request": {}, "response": {}}],
        **change,
    }
    with pytest.raises(DataError):
        parse_suite({"suite": "s", "cases": [data]}, "f.json")


def test_request_lines() -> None:
    assert request_line({"command": "a"}, False) == '{"command": "a"}'
    assert request_line({"command": "a"}, True) == '{"request": {"command": "a"}, "readonly": true}'
    assert request_line([1], False) == '{"request": [1]}'
    assert "\n" not in request_line({"command": "a\nb"}, False)


#: A stand-in for the command line program: answers each line with its own number and text.
ECHO = """
import json, sys
for number, line in enumerate(sys.stdin):
    request = json.loads(line)
    if request.get("command") == "die":
        sys.exit("no more")
    print(json.dumps({"result": [number, request]}), flush=True)
"""


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "cli_command", lambda: [sys.executable, "-c", ECHO])


@pytest.mark.usefixtures("echo")
def test_a_child_process_answers_line_by_line() -> None:
    nexus = CliNexus()
    try:
        assert nexus.execute({"command": "深\n"}, False) == {"result": [0, {"command": "深\n"}]}
        wrapped = {"request": {"command": "b"}, "readonly": True}
        assert nexus.execute({"command": "b"}, True) == {"result": [1, wrapped]}
        assert nexus.finish() == 0
    finally:
        nexus.close()


@pytest.mark.usefixtures("echo")
def test_a_child_process_that_ends_is_reported() -> None:
    nexus = CliNexus()
    try:
        with pytest.raises(AssertionError, match="no more"):
            nexus.execute({"command": "die"}, False)
    finally:
        nexus.close()


@pytest.mark.usefixtures("echo")
def test_a_pool_gives_every_case_its_own_process() -> None:
    with CliPool() as pool:
        for _ in range(3):
            nexus = pool.take()
            assert nexus.execute({"command": "a"}, False)["result"][0] == 0
            nexus.close()
