"""The calls of an agent loop: they read inside the scope, and what they find can be cited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import trivium
from tests.knowql_models import ScriptedModels
from trivium.knowql import tools
from trivium.knowql.citations import Handed
from trivium.models.composer import Tool, ToolError
from trivium.search.retrieval import ScopedContext

LINES = "# Acme\n\n## Terms\n\nInvoices are payable net 30 days.\n\n## Term\n\nAcme runs for 24 months.\n"


@pytest.fixture
def kb() -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(":memory:", embedder="none") as kb:
        kb.models = ScriptedModels()
        for slug in ("contracts", "policies", "secrets"):
            context = kb.create_context(slug)
            context.add_bytes(f"{slug}.md", LINES.replace("Acme", slug.title()).encode())
            context.curate()
        yield kb


def built(kb: trivium.KnowledgeBase, *slugs: str) -> tuple[dict[str, Tool], Handed]:
    handed = Handed()
    scope = [ScopedContext(kb.context(slug)._number, slug) for slug in slugs]
    return {tool.name: tool for tool in tools.build(kb._turn_parts(), scope, handed, [])}, handed


def run(tool: Tool, **arguments: Any) -> Any:
    return tool.run(arguments).value


def test_a_search_gives_passages_that_can_be_cited(kb: trivium.KnowledgeBase) -> None:
    found, handed = built(kb, "contracts")
    result = found["search_chunks"].run({"query": "contracts invoices"})
    assert result.value["hits"] == len(result.passages) > 0
    assert all(handed.find(passage) is not None for passage in result.passages)
    assert {passage.context for passage in result.passages} == {"contracts"}


def test_lines_of_a_document_are_read_with_the_passages_on_them(kb: trivium.KnowledgeBase) -> None:
    found, handed = built(kb, "contracts")
    result = found["read_document"].run({"source": "contracts.md", "first_line": 7, "last_line": 9})
    assert result.value["text"] == "## Term\n\nContracts runs for 24 months."
    assert [passage.text for passage in result.passages] == ["## Term\n\nContracts runs for 24 months."]
    assert handed.find(result.passages[0]) is not None
    assert run(found["read_document"], source="contracts.md", first_line=900)["text"] == ""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_document", {"source": "nowhere.md"}),
        ("read_document", {"source": "secrets.md"}),
        ("read_artifact", {"name": "nothing"}),
        ("search_chunks", {"query": "x", "context": "secrets"}),
        ("execute_kip_readonly", {"command": "FIND(?x", "context": "contracts"}),
        ("execute_kip_readonly", {"command": "DESCRIBE PRIMER"}),
        ("why", {"target": "x", "context": "contracts"}),
    ],
)
def test_a_call_that_finds_nothing_or_leaves_the_scope_says_so(
    kb: trivium.KnowledgeBase, name: str, arguments: dict[str, Any]
) -> None:
    found, handed = built(kb, "contracts", "policies")
    with pytest.raises(ToolError) as caught:
        found[name].run(arguments)
    assert str(caught.value).strip()
    assert handed.is_empty


def test_the_graph_is_read_and_never_written(kb: trivium.KnowledgeBase) -> None:
    found, handed = built(kb, "contracts")
    run(found["execute_kip_readonly"], command='FIND(?d) WHERE { ?d {type: "Domain", name: "Nothing"} }')
    assert handed.is_empty
    assert "result" in run(found["execute_kip_readonly"], command='FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }')
    assert not handed.is_empty
    with pytest.raises(ToolError):
        found["execute_kip_readonly"].run({"command": 'UPSERT { CONCEPT { {type: "Domain", name: "Tea"} } }'})


def test_one_context_needs_no_name_and_several_are_offered(kb: trivium.KnowledgeBase) -> None:
    one, _ = built(kb, "contracts")
    assert all("context" not in tool.parameters["properties"] for tool in one.values())
    two, _ = built(kb, "contracts", "policies")
    assert all(tool.parameters["properties"]["context"]["enum"] == ["contracts", "policies"] for tool in two.values())


def test_a_large_result_is_cut(kb: trivium.KnowledgeBase) -> None:
    context = kb.create_context("large")
    context.add_bytes("large.txt", ("word " * 30 + "\n").encode() * 2_000)
    context.curate()
    found, _ = built(kb, "large")
    assert len(str(run(found["read_document"], source="large.txt"))) < tools.LONGEST_RESULT + 5_000
