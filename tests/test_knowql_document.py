"""Query documents by themselves: any JSON is either read or refused with a reason that is in the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.knowql import document
from trivium.knowql.creation import title_of
from trivium.knowql.document import FIELDS, Request, read_document
from trivium.knowql.errors import REASONS, QueryError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from([field.name for field in FIELDS] + [*document.ANSWER_CHANGING, *document.ADVISORY, "x"])
DOCUMENTS = st.dictionaries(NAMES, JSON, max_size=8) | JSON
_CONTROLS = ("stream", "vars", "max_steps", "tools", "models", "thinking_level", "retrieval_only", "max_retrieved")
NEARLY_GOOD = st.fixed_dictionaries(
    {"ask": st.just("x"), "scope": st.just(["c"])}, optional=dict.fromkeys(_CONTROLS, JSON)
)


@given(DOCUMENTS | NEARLY_GOOD, st.booleans())
@settings(max_examples=400, deadline=None)
def test_any_document_is_read_or_refused(value: Any, strict: bool) -> None:
    read = _read(value, strict)
    if isinstance(read, Request):
        assert read.ask.strip()
        assert not strict or not {w.code for w in read.warnings} & document.REFUSED_WHEN_STRICT.keys()
        return
    assert read.reason in REASONS
    assert read.status == REASONS[read.reason]
    body = read.to_dict()["error"]
    assert body["message"].strip()
    assert (body["hint"] or "").strip()
    json.dumps(read.to_dict(), ensure_ascii=False).encode()


def _read(value: Any, strict: bool) -> Request | QueryError:
    try:
        return read_document(value, strict=strict)
    except QueryError as error:
        return error


@given(st.text(max_size=300))
@settings(deadline=None)
def test_titles_fit_on_one_line(ask: str) -> None:
    title = title_of(ask)
    assert len(title) <= 80
    assert "\n" not in title
    assert title == " ".join(ask.split()) or title.endswith("…")


def test_a_name_close_to_a_field_is_told() -> None:
    warnings = read_document({"ask": "x", "scop": ["a"]}).warnings
    assert [(warning.param, "scope?" in warning.message) for warning in warnings] == [("scop", True)]


def test_many_unknown_fields_share_a_warning() -> None:
    warnings = read_document({"ask": "x", **{f"field_{number}": 1 for number in range(500)}}).warnings
    assert len(warnings) == document.WARNINGS_EACH + 1
    assert "468" in warnings[-1].message


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_field_is_documented(field: document.Field) -> None:
    text = (Path(__file__).parents[1] / "docs" / "ask.md").read_text(encoding="utf-8")
    assert f"`{field.name}`" in text


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_documented(reason: str) -> None:
    text = (Path(__file__).parents[1] / "docs" / "ask.md").read_text(encoding="utf-8")
    assert f"`{reason}`" in text
