"""The calls of an agent loop: they read inside the scope, and what they find can be cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.knowql_models import ScriptedModels
from tests.openai_server import OpenAIServer, calls, text
from trivium.answers.composer import Cited, Tool, ToolError
from trivium.knowql import tools
from trivium.knowql.citations import Handed, citation, stands
from trivium.models.catalogue import Catalogue
from trivium.search.passage import Passage
from trivium.search.retrieval import ScopedContext
from trivium.settings import Settings

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


@pytest.mark.parametrize("typed", ["Übung.md", "U\u0308bung.md", "./Übung.md"])
def test_a_document_is_read_however_its_accents_are_typed(kb: trivium.KnowledgeBase, typed: str) -> None:
    context = kb.create_context("accents")
    context.add_bytes("U\u0308bung.md", b"Ten lengths.\n")
    context.curate()
    found, handed = built(kb, "accents")
    result = found["read_document"].run({"source": typed})
    assert (result.value["source"], result.value["text"]) == ("Übung.md", "Ten lengths.\n")
    assert handed.find(result.passages[0]) is not None


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


# --- what `why` says ------------------------------------------------------------------------------

DECISION = (
    "# 1. Queries wait in one line\n\n- Status: accepted\n- Date: 2026-02-03\n\n## Context\n\nTwo lines starved each"
    " other.\n\n## Decision\n\nAll queries wait in one line, kept by `src/line.py`.\n"
)


def indexed(kb: trivium.KnowledgeBase, root: Path, stored: str | None, *, in_: str = "repository") -> None:
    """A repository with one decision in the context `repository`; its document is stored in a context, if it is."""
    (root / "docs" / "adr").mkdir(parents=True)
    (root / "src").mkdir()
    (root / "docs" / "adr" / "0001-one-line.md").write_text(DECISION, encoding="utf-8", newline="")
    (root / "src" / "line.py").write_text("def wait() -> None: ...\n", encoding="utf-8")
    kb.create_context("repository").index_repository(root)
    if stored is not None:
        context = kb.context(in_)
        context.add_bytes("docs/adr/0001-one-line.md", stored.encode())
        context.curate()


def why_passages(kb: trivium.KnowledgeBase, *slugs: str) -> list[Passage]:
    found, handed = built(kb, *slugs)
    more = {"context": "repository"} if len(slugs) > 1 else {}
    result = found["why"].run({"target": "src/line.py", **more})
    assert [entity["kind"] for entity in result.value["entities"]] == ["decision"]
    assert all(handed.find(passage) is passage for passage in result.passages)
    return result.passages


@pytest.mark.parametrize("in_", ["repository", "policies"])
def test_lines_that_why_names_are_cited_verbatim_where_they_are_stored(
    kb: trivium.KnowledgeBase, tmp_path: Path, in_: str
) -> None:
    indexed(kb, tmp_path, DECISION, in_=in_)
    slugs = list(dict.fromkeys(["repository", in_]))
    passages = why_passages(kb, *slugs)
    assert passages[0].type == "Decision"
    assert {(one.context, one.source) for one in passages[1:]} == {(in_, "docs/adr/0001-one-line.md")}
    handed = Handed()
    handed.add(passages)
    numbers = [kb.context(slug)._number for slug in slugs]
    quote = "All queries wait in one line, kept by `src/line.py`."
    holding = next(one for one in passages[1:] if quote in one.text)
    with kb._store.read() as session:
        assert stands(session, Cited(holding, quote), handed, numbers)
        assert stands(session, Cited(passages[0], "status: accepted"), handed, numbers)
        assert not stands(session, Cited(holding, "All queries wait in two lines"), handed, numbers)
    assert citation(holding, quote)["lines"] == [12, 12]


@pytest.mark.parametrize("stored", [None, DECISION.replace("one line", "two lines")])
def test_lines_that_are_not_stored_as_they_were_indexed_are_not_handed_out(
    kb: trivium.KnowledgeBase, tmp_path: Path, stored: str | None
) -> None:
    indexed(kb, tmp_path, stored)
    assert [one.type for one in why_passages(kb, "repository")] == ["Decision"]


def test_lines_stored_outside_of_the_scope_are_not_handed_out(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    indexed(kb, tmp_path, DECISION, in_="secrets")
    assert [one.type for one in why_passages(kb, "repository", "policies")] == ["Decision"]


def test_stored_lines_with_other_line_ends_are_those_that_were_indexed_only_if_they_are(
    kb: trivium.KnowledgeBase, tmp_path: Path
) -> None:
    indexed(kb, tmp_path, DECISION.replace("\n", "\r\n"))
    assert [one.type for one in why_passages(kb, "repository")] == ["Decision"]


def test_an_answer_cites_what_why_told(kb: trivium.KnowledgeBase, tmp_path: Path) -> None:
    indexed(kb, tmp_path, DECISION)
    script = [calls(("why", {"target": "src/line.py"})), cites("All queries wait in one line")]
    with OpenAIServer(script) as server:
        kb.models = Catalogue.from_settings(Settings(llm_base_url=server.base_url, llm_models="test-model"))
        document = kb.context("repository").ask("Where do callers stand?", tools=["why"])
    assert document["status"] == "completed"
    cited = document["citations"]
    assert [(one["source"], one["lines"]) for one in cited] == [("docs/adr/0001-one-line.md", [12, 12])]
    assert document["steps"][-2]["tool_calls"][0]["fn"] == "why"


def cites(words: str) -> Any:
    """An answer in the words of a passage that the request holds, citing the number it has there."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        told = "".join(str(message["content"]) for message in body["messages"])
        before = told[: told.rindex(words)]
        number = re.findall(r'<passage-\w+ n="(\d+)"', before)[-1]
        return text(f"{words} [{number}].")

    return answer
