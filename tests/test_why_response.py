"""The answer's JSON: key order, the shipped schema, and a check that refuses what the contract does not allow."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from tests.why_examples import COVERAGE, HASH, commit, entity, index, relation, worked_example
from trivium.why.json_schema import first_fault
from trivium.why.model import Conventional, CoverageEvidence
from trivium.why.query import knowledge_why
from trivium.why.response import (
    KEY_ORDER,
    SCHEMA_FILE,
    WhyResponseError,
    response_schema,
    schema_text,
    to_json,
    validate,
)


def full() -> dict[str, Any]:
    """An answer with every member of the contract in it."""
    source = worked_example()
    change = commit(15 << 156, "src/cache.ts")
    change.conventional = Conventional(type="feat", breaking=True, scope="cache")
    assert source.entities is not None
    source.entities.append(change)
    source.memory_relations = [relation("knowledge-concept:Lookup cache", raw_path=".agent-memory/a.md")]
    noted = COVERAGE[0].__copy__()
    noted.analyzer_version, noted.evidence = "1", [CoverageEvidence(path="docs/a.md", line=3)]
    source.coverage = [noted, COVERAGE[1]]
    return knowledge_why(source, "src/cache.ts", budget_tokens=1)


def test_the_shipped_schema_is_current() -> None:
    shipped = files("trivium.why").joinpath(SCHEMA_FILE).read_text(encoding="utf-8")
    assert shipped == schema_text(), (
        'Write it again: python -c "import pathlib, trivium.why.response as r; '
        f"pathlib.Path('src/trivium/why/{SCHEMA_FILE}').write_text(r.schema_text(), encoding='utf-8')\""
    )


def test_the_schema_is_a_closed_json_schema() -> None:
    schema = response_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, definition in schema["$defs"].items():
        assert definition["additionalProperties"] is False, name
        assert set(definition["required"]) <= set(definition["properties"])
    assert list(schema["$defs"]["Response"]["properties"]) == list(KEY_ORDER)
    assert '"null"' not in schema_text()


def test_a_caller_cannot_change_the_schema() -> None:
    response_schema()["$defs"].clear()
    assert response_schema()["$defs"]


def test_members_stand_in_the_order_of_the_contract() -> None:
    answer = full()
    assert list(answer) == list(KEY_ORDER)
    assert list(knowledge_why(worked_example(), "nothing-like-it")) == [
        key for key in KEY_ORDER if key not in {"guidance", "memoryRelations", "budget"}
    ]


def test_json_is_indented_keeps_letters_and_reads_back() -> None:
    answer = knowledge_why(index(entities=[entity("concept", "Größe")]), "Größe")
    text = to_json(answer)
    assert "Größe" in text
    assert text.startswith('{\n  "type": "knowledge-why",\n  "schemaVersion": 1,')
    assert json.loads(text) == answer


def _changed(path: str, value: Any) -> dict[str, Any]:
    answer = copy.deepcopy(full())
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = answer
    for step in steps:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return answer


# Entities in order: change-log entry, commit, concept, decision.
WRONG: list[tuple[str, Any]] = [
    ("type", "knowledge"),
    ("type", ...),
    ("schemaVersion", 2),
    ("schemaVersion", True),
    ("source", HASH),
    ("source", f"index:{HASH}\n"),
    ("source", "index:" + "A" * 64),
    ("target", ""),
    ("target", "  "),
    ("target", "x" * 513),
    ("enabled", 1),
    ("guidance", ""),
    ("guidance", "x" * 513),
    ("guidance", None),
    ("entities", ...),
    ("entities", [full()["entities"][0]] * 101),
    ("entities.0.schemaVersion", 2),
    ("entities.0.id", ""),
    ("entities.0.id", "x" * 257),
    ("entities.0.kind", "symbol"),
    ("entities.0.name", ""),
    ("entities.0.aliases", ["x"] * 33),
    ("entities.0.aliases", [""]),
    ("entities.0.aliases", "x"),
    ("entities.0.evidence", []),
    ("entities.0.evidence", [{"kind": "fact", "factId": "f"}] * 65),
    ("entities.0.evidence.0.kind", "guess"),
    ("entities.0.evidence.0.path", "/etc/passwd"),
    ("entities.0.evidence.0.path", "a/../b"),
    ("entities.0.evidence.0.path", ".."),
    ("entities.0.evidence.0.path", "a\\b"),
    ("entities.0.evidence.0.path", "a\0b"),
    ("entities.0.evidence.0.path", "x" * 513),
    ("entities.0.evidence.0.lineStart", 0),
    ("entities.0.evidence.0.lineEnd", 1.5),
    ("entities.0.evidence.0.regionHash", "0" * 63),
    ("entities.0.evidence.0.note", "more"),
    ("entities.0.links", [{"kind": "affected-path", "target": "x"}] * 65),
    ("entities.0.links.0.kind", "caused-by"),
    ("entities.0.links.0.target", ""),
    ("entities.0.owner", "someone"),
    ("entities.1.evidence.0.sha", "abc"),
    ("entities.1.conventional.type", ""),
    ("entities.1.conventional.breaking", "yes"),
    ("entities.1.date", ""),
    ("entities.3.status", "x" * 129),
    ("documents", [full()["documents"][0]] * 101),
    ("documents.0.contentHash", "abc"),
    ("documents.0.context", ""),
    ("documents.0.lines", [1]),
    ("memoryRelations", []),
    ("memoryRelations.0.kind", "memory-proves"),
    ("memoryRelations.0.evidence.kind", "name"),
    ("memoryRelations.0.evidence.factHash", "0"),
    ("coverage", [full()["coverage"][0]] * 33),
    ("coverage.0.status", "done"),
    ("coverage.0.analyzer", ""),
    ("coverage.0.evidence.0.line", 0),
    ("coverage.1.reason", "x" * 1025),
    ("truncated", "no"),
    ("truncated", ...),
    ("budget.budgetTokens", 0),
    ("budget.budgetTokens", 1_000_001),
    ("budget.tokens.core", -1),
    ("budget.tokens.sections", []),
    ("budget.tokenMethod", "exact"),
    ("budget.fits", ...),
    ("more", 1),
]


def test_an_answer_with_every_member_is_valid() -> None:
    validate(full())
    assert jsonschema.Draft202012Validator(response_schema()).is_valid(full())


@pytest.mark.parametrize(("path", "value"), WRONG, ids=[f"{path}={str(value)[:12]!r}" for path, value in WRONG])
def test_what_the_contract_does_not_allow_is_refused_by_its_place(path: str, value: Any) -> None:
    answer = _changed(path, value)
    with pytest.raises(WhyResponseError) as caught:
        validate(answer)
    assert path.split(".")[0] in caught.value.message
    trailing = value == f"index:{HASH}\n"
    assert trailing or not jsonschema.Draft202012Validator(response_schema()).is_valid(answer)


@pytest.mark.parametrize("value", [None, [], "knowledge-why", 1])
def test_other_json_is_no_answer(value: Any) -> None:
    with pytest.raises(WhyResponseError):
        validate(value)


@pytest.mark.parametrize("path", ["src/a.ts", "..a/b", "a..b", "a/b..", ".github/x", "Ä/ö"])
def test_ordinary_paths_are_valid(path: str) -> None:
    validate(_changed("documents.0.path", path))


def test_a_schema_with_an_unknown_keyword_is_refused_rather_than_passed_over() -> None:
    with pytest.raises(NotImplementedError):
        first_fault(1, {"multipleOf": 2})
