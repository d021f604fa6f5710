"""The conformance data is well-formed and covers the protocol text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.runner import (
    SETUP_DIR,
    SUITE_DIR,
    Case,
    load_blocks,
    load_cases,
    suite_files,
)

CASES = load_cases()
CLAUSE = re.compile(r"§(\d+(?:\.\d+){0,3})|A[1-4](?:\.\d+)*")

#: The sections of the parts 2 to 6 that state something a request can show.
SECTIONS = [
    *(f"2.{n}" for n in range(1, 12)),
    *(f"2.8.{n}" for n in (1, 2)),
    *(f"2.9.{n}" for n in (1, 2, 3)),
    *(f"2.11.{n}" for n in (1, 2)),
    *(f"3.{n}" for n in range(2, 6)),
    *(f"3.4.{n}" for n in range(1, 8)),
    *(f"4.{n}" for n in range(1, 5)),
    *(f"4.2.{n}" for n in range(1, 5)),
    *(f"5.{n}" for n in range(1, 4)),
    *(f"5.1.{n}" for n in range(1, 7)),
    *(f"5.2.{n}" for n in (1, 2)),
    "6.1",
    *(f"6.2.{n}" for n in range(1, 4)),
]

#: Codes of Appendix 4 that a conforming engine need not answer in any situation that data
#: can set up: a strict mode that is off by default, time-outs and internal failures.
CODES = [
    *("KIP_1001", "KIP_1002", "KIP_2001", "KIP_2002"),
    *("KIP_3001", "KIP_3002", "KIP_3003", "KIP_3004", "KIP_3005", "KIP_4002"),
]


def _sections(case: Case) -> set[str]:
    return {match.group(1) for match in CLAUSE.finditer(case.clause) if match.group(1)}


def _codes(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        code = value.get("code")
        if isinstance(code, str):
            yield code
        for item in value.values():
            yield from _codes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _codes(item)


def test_enough_cases() -> None:
    assert len(CASES) >= 400


def test_ids_are_unique() -> None:
    repeated = [key for key, count in Counter(case.id for case in CASES).items() if count > 1]
    assert not repeated


def test_ids_are_plain() -> None:
    odd = [case.id for case in CASES if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", case.id)]
    assert not odd


def test_clauses() -> None:
    odd = [(case.id, case.clause) for case in CASES if not CLAUSE.search(case.clause)]
    assert not odd


def test_setups_exist() -> None:
    missing = {
        (case.id, name) for case in CASES for name in case.setups_used() if not (SETUP_DIR / f"{name}.kip").is_file()
    }
    assert not missing


def test_steps_answer_with_a_response() -> None:
    """A response expectation has a result or an error, or is a matcher."""
    odd = [
        case.id
        for case in CASES
        for step in case.steps
        if not isinstance(step.response, dict)
        or not (
            ("result" in step.response) != ("error" in step.response)
            or any(key.startswith("$") for key in step.response)
        )
    ]
    assert not odd


@pytest.mark.parametrize("section", SECTIONS)
def test_section_has_a_case(section: str) -> None:
    assert any(found == section or found.startswith(f"{section}.") for case in CASES for found in _sections(case))


@pytest.mark.parametrize("code", CODES)
def test_code_has_a_case(code: str) -> None:
    assert any(code in _codes(step.response) for case in CASES for step in case.steps)


def test_all_worked_examples_are_there() -> None:
    ids = {case.id for case in CASES}
    assert {f"E{number:02}" for number in range(1, 31)} <= ids


@pytest.mark.parametrize("path", [*suite_files(), SUITE_DIR / "spec-blocks.json"], ids=str)
def test_files_are_pretty_printed(path: Any) -> None:
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    assert any(text == json.dumps(data, indent=width, ensure_ascii=False) + "\n" for width in (1, 2))


def test_blocks() -> None:
    blocks = load_blocks()
    assert len({block["id"] for block in blocks}) == len(blocks)
    for block in blocks:
        assert {"id", "clause", "text", "parses", "reason"} <= block.keys()
        assert block.keys() <= {
            *("id", "clause", "text", "parses", "reason", "wrap", "parameters"),
        }
        assert isinstance(block["parses"], bool)
        assert "%s" in block.get("wrap", "%s")
        names = set(re.findall(r"[^A-Za-z0-9_\"]:([a-z_]+)", block["text"]))
        if block["parses"] and not block["id"].startswith("genesis"):
            assert names == set(block.get("parameters", {}))
