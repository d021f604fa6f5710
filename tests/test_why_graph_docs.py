"""The page about index and graph: its queries give what it says, and its tables name what the projection makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from scripts.check_docs import ROOT
from trivium.code.languages import ANALYSED
from trivium.doors.demo_why import make_repository
from trivium.why.config import LEAVES
from trivium.why.projection import MARK, OWN_KEYS, PREDICATES, TYPES

PAGE = (ROOT / "docs" / "why-graph.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```kip\n(.*?)^```$\n\n((?:^\|[^\n]*\n)+)", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[trivium.Context]:
    root = tmp_path_factory.mktemp("demo") / "harbour"
    assert make_repository(root)
    with trivium.open() as kb:
        found = kb.repository_context(root, create=True)
        found.index_repository(root)
        yield found


def rows(table: str) -> tuple[str, list[list[str]]]:
    head, _, *lines = [
        [cell.strip() for cell in line.replace("\\", "").strip("|\n").split("|")] for line in table.splitlines()
    ]
    return ", ".join(head), sorted(lines)


def test_there_are_five_queries() -> None:
    assert len(EXAMPLES) == PAGE.count("```kip") == 5


@pytest.mark.parametrize(("query", "table"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_a_query_gives_what_the_page_says(context: trivium.Context, query: str, table: str) -> None:
    columns, expected = rows(table)
    assert f"FIND({columns})" in query
    result: Any = context.execute_kip({"command": query})["result"]
    found = [*zip(*result, strict=True)] if ", " in columns else [(value,) for value in result]
    assert sorted(["" if value is None else str(value) for value in row] for row in found) == expected


def test_the_search_of_the_page_finds_the_decision(context: trivium.Context) -> None:
    command = re.findall(r"`(SEARCH CONCEPT [^`]*)`", PAGE)[0]
    first = context.execute_kip({"command": command})["result"][0]
    assert first["attributes"]["title"] == "The deepest ship that fits goes first"


def test_the_tables_name_every_type_predicate_attribute_and_key() -> None:
    for name in (*TYPES, *PREDICATES, *OWN_KEYS, MARK, "belongs_to_domain"):
        assert f"`{name}`" in PAGE


def test_nodes_have_the_metadata_that_the_page_lists(context: trivium.Context) -> None:
    found = context.execute_kip({"command": 'FIND(?d.metadata) WHERE { ?d {type: "Decision"} }'})["result"]
    for metadata in found:
        listed = {key for key in metadata if not key.startswith("_")}
        assert listed == {"source", "author", "status", "index_hash", "evidence"}


def test_the_page_of_why_names_every_setting_and_language() -> None:
    page = Path(ROOT / "docs" / "why.md").read_text(encoding="utf-8")
    names = {"csharp": "C#", "cpp": "C++", "php": "PHP", "javascript": "JavaScript", "typescript": "TypeScript"}
    for language in ANALYSED:
        assert names.get(language, language.capitalize()) in page
    for key in LEAVES:
        assert key == "schemaVersion" or f"`{key}`" in page or f"`{key.rpartition('.')[2]}`" in page
