"""A real small model, run in this process: TRIVIUM_TEST_GGUF names the file, and then it must load and answer.

Without it the scripted endpoint of the other tests stands for models. The questions ask about plumbing: answers that
cite, shapes that conform, refusals; not about eloquence.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from trivium.errors import TriviumError
from trivium.models.local import served
from trivium.settings import Settings
from trivium.shapes.shape import Validator

GGUF = os.environ.get("TRIVIUM_TEST_GGUF", "")
DOCUMENTS = Path(__file__).parent / "data" / "answers" / "documents"
NO_MODEL = "TRIVIUM_TEST_GGUF names no model file; the scripted endpoint stands for models"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[trivium.Context]:
    if not GGUF:
        pytest.skip(NO_MODEL)
    path = tmp_path_factory.mktemp("local") / "test.db"
    with trivium.open(str(path), local_model=GGUF, embedder="none") as kb:
        context = kb.create_context("papers", name="Papers")
        context.add([DOCUMENTS / name for name in ("acme-msa.md", "leave.md", "heron.md", "lighthouse.md")])
        context.curate()
        yield context


@pytest.mark.parametrize(
    ("ask", "source", "word"),
    [
        ("How long does sick pay continue?", "leave.md", "six weeks"),
        ("When was the Heron H2 introduced?", "heron.md", "2019"),
        ("Who was the last keeper of the Skerry lighthouse?", "lighthouse.md", "Strachan"),
        ("How high is the tower of the Skerry lighthouse?", "lighthouse.md", "48"),
    ],
)
def test_a_real_model_answers_with_citations_that_resolve(
    context: trivium.Context, ask: str, source: str, word: str
) -> None:
    document = context.ask(ask)
    assert document["status"] == "completed", document["error"]
    assert document["model"] == f"local/{Path(GGUF).stem}"
    assert document["usage"]["output_tokens"] > 0
    assert document["usage"]["cost_usd"] == 0
    assert word in document["output"][0]["content"][0]["text"]
    assert source in [citation["source"] for citation in document["citations"]]
    for citation in document["citations"]:
        assert citation["grounding"] in context.read_source(citation["source"]).decode()


SHAPES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("What are Acme's payment terms?", {"payment_days": {"type": "integer"}}, {"payment_days": 30}),
    (
        "Who was the last keeper of the Skerry lighthouse, and when was the light automated?",
        {"keeper": {"type": "string"}, "automated_year": {"type": "integer"}},
        {"keeper": "Ewan Strachan", "automated_year": 1988},
    ),
]


@pytest.mark.parametrize(("ask", "properties", "value"), SHAPES, ids=lambda value: str(value)[:30])
def test_a_real_model_fills_shapes(
    context: trivium.Context, ask: str, properties: dict[str, Any], value: dict[str, Any]
) -> None:
    shape = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    document = context.ask(ask, shape=shape)
    assert document["status"] == "completed", document["error"]
    assert Validator(shape).first_violation(document["output_json"]) is None
    assert document["output_json"] == value
    assert document["citations"]


def test_what_the_passages_do_not_hold_is_refused_whatever_the_model_says(context: trivium.Context) -> None:
    document = context.ask("Who is the CEO of Acme Corp?")
    assert document["citations"] == []
    assert "no_evidence" in [warning["code"] for warning in document["warnings"]]
    shape = {"type": "object", "properties": {"ceo": {"type": "string"}}, "required": ["ceo"]}
    failed = context.ask("Who is the CEO of Acme Corp?", shape=shape)
    assert failed["error"] == "output did not conform to shape: no evidence for `ceo`"


def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(TriviumError, match="There is no file"):
        served(str(tmp_path / "missing.gguf"), Settings())
    if not GGUF:
        pytest.skip(NO_MODEL)
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(TriviumError, match="cannot be loaded"):
        served(str(bad), Settings())
