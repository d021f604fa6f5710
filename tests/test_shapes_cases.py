"""Single shapes over small files, as data: what each property is filled with without a model, or why it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.answer_questions import DATA
from tests.models_support import asked_of

GROUPS: list[dict[str, Any]] = json.loads((DATA / "shapes.json").read_text(encoding="utf-8"))
CASES = [pytest.param(case, id=f"{group['about']}: {case['ask']}") for group in GROUPS for case in group["cases"]]


@pytest.mark.parametrize("case", CASES)
def test_a_shape_is_filled_with_what_is_said_or_fails_by_name(case: dict[str, Any]) -> None:
    answer = asked_of(case["files"], case["ask"], shape=case["shape"])
    if "fault" in case:
        assert answer["error"] == f"output did not conform to shape: {case['fault']}"
        return
    assert answer["status"] == "completed", answer["error"]
    assert answer["output_json"] == case["json"]
    assert [warning["code"] for warning in answer["warnings"]] == case.get("warns", [])
    assert answer["citations"] or case["json"] == {}
