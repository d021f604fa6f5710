"""Decisions: places, types, status, date, supersession, headings, what is no record (knowledge query reference 4.1)."""

from __future__ import annotations

import pytest

from tests.why_documents import lines_of, names_of, read
from trivium.why.documents import DocumentRules
from trivium.why.model import RawEntity

RECORD = "docs/adr/0007-x.md"


def record(text: str, path: str = RECORD) -> RawEntity:
    entities = read(path, text).entities
    assert len(entities) == 1
    return entities[0]


# --- what is a record -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "docs/adr/0001-a.md",
        "docs/ADRs/a.md",
        "decisions/a.mdx",
        "adr-007-x.md",
        "pkg/ADR_7.md",
        "decisions.md",
        "doc/adr/deep/er/a.md",
        "docs/decisions/0012-use-jinja-templates.md",
    ],
)
def test_records_by_place(path: str) -> None:
    assert record("# Use A\n\nText.\n", path).id == f"knowledge-decision:{path}:Use A"


@pytest.mark.parametrize("path", ["docs/adrenaline.md", "docs/decision.md", "docs/madr/x.md", "undecisions/a.md"])
def test_other_places_hold_no_records(path: str) -> None:
    assert read(path, "# Use A\n\nText.\n").entities == []


def test_records_by_type_and_by_configured_place() -> None:
    assert names_of(read("docs/a.md", "---\ntype: adr\n---\n# Use A\n")) == ["Use A"]
    assert names_of(read("docs/a.md", "---\ntype: Decision\n---\n# Use A\n")) == ["Use A"]
    rules = DocumentRules(records=("rfcs/**/*.md", "why/*.md"))
    assert names_of(read("rfcs/2024/b/1.md", "# Use A\n", rules)) == ["Use A"]
    assert names_of(read("rfcs/1.md", "# Use A\n", rules)) == ["Use A"]
    assert names_of(read("why/deep/1.md", "# Use A\n", rules)) == []


def test_the_name_is_the_title_else_the_heading_else_the_file_name() -> None:
    assert record("---\ntitle: From front\n---\n# Heading\n").name == "From front"
    assert record("Text first.\n\n### `Heading` *here*\n").name == "Heading here"
    assert record("Only text.\n", "docs/adr/0007-Use.B.md").name == "0007-Use.B"


@pytest.mark.parametrize(
    "path",
    [
        "docs/adr/README.md",
        "docs/adr/index.md",
        "docs/adr/template.md",
        "docs/adr/0000-adr-template.md",
        "docs/adr/0001-template.md",
        "docs/adr/Template_long.md",
        "adr-template.md",
    ],
)
def test_folder_pages_and_templates_are_no_records(path: str) -> None:
    assert read(path, "# Use A\n\n## Decision\n\nText.\n").entities == []


def test_a_declared_type_makes_a_readme_a_record() -> None:
    assert names_of(read("docs/adr/README.md", "---\ntype: adr\n---\n# Use A\n")) == ["Use A"]


@pytest.mark.parametrize(
    "title",
    [
        "[short title of solved problem and solution]",
        "{title}",
        "{{ title }}",
        "NUMBER. TITLE",
        "ADR-{number}: {short title}",
        "ADR-XXX: [Title]",
        "Title",
    ],
)
def test_a_placeholder_title_is_no_record(title: str) -> None:
    assert read(RECORD, f"# {title}\n\nStatus: accepted\n\n## Decision Outcome\n\nText.\n").entities == []


@pytest.mark.parametrize(
    "status", ["STATUS", "{proposed | accepted}", "[proposed | rejected | accepted]", "proposed | accepted | rejected"]
)
def test_a_placeholder_status_is_no_record(status: str) -> None:
    assert read(RECORD, f"# Use A\n\nStatus: {status}\n").entities == []
    assert read(RECORD, f'---\nstatus: "{status}"\n---\n# Use A\n').entities == []


def test_a_single_word_in_brackets_is_a_status() -> None:
    assert record("# A\n\nStatus: [accepted]\n").status == "[accepted]"
    assert record("---\nstatus: [accepted]\n---\n# A\n").status == "accepted"


@pytest.mark.parametrize("title", ["Use /users/{id} routes", "[RFC] Use A", "3. Titles are short", "Use <T> types"])
def test_brackets_within_a_title_are_no_placeholder(title: str) -> None:
    assert len(read(RECORD, f"# {title}\n").entities) == 1


def test_a_record_without_text_states_nothing() -> None:
    assert read(RECORD, "").entities == []
    assert read(RECORD, "\n\n").entities == []


# --- status and date ------------------------------------------------------------------------------

STATUS_FORMS = {
    "front matter": "---\nstatus: accepted\n---\n# A\n",
    "front matter, other case": "---\nStatus: accepted\n---\n# A\n",
    "line": "# A\n\nStatus: accepted\n",
    "line, other case": "# A\n\nSTATUS : accepted\n",
    "bold key": "# A\n\n**Status**: accepted\n",
    "bold key with colon": "# A\n\n**Status:** accepted\n",
    "bold line": "# A\n\n**Status: accepted**\n",
    "italic": "# A\n\n_Status:_ accepted\n",
    "among lines": "# A\n\nAuthor: b\nStatus: accepted  \nDate: 2026-02-03\n",
    "list": "# A\n\n- Author: b\n- Status: accepted\n- Date: 2026-02-03\n",
    "bold list": "# A\n\n* **Status**: accepted\n* **Date**: 2026-02-03\n",
    "loose list": "# A\n\n- Status: accepted\n\n- Date: 2026-02-03\n",
    "section": "# A\n\n## Status\n\naccepted\n\n## Context\n\nText.\n",
    "section with a list": "# A\n\n## Status:\n\n- accepted\n- reviewed\n",
    "section in bold": "# A\n\n### 1. Status\n\n**accepted**\n\nMore.\n",
    "heading": "# A\n\n## Status: accepted\n\nText.\n",
    "two-row table": "# A\n\n| Date | Status |\n| --- | --- |\n| 2026-02-03 | accepted |\n",
    "two-column table": "# A\n\n| Key | Value |\n| --- | --- |\n| Status | accepted |\n| Date | 2026-02-03 |\n",
    "headless two-column table": "# A\n\n| **Status** | accepted |\n| --- | --- |\n| **Date** | 2026-02-03 |\n",
    "comment after": "# A\n\nStatus: accepted <!-- or proposed -->\n",
}


@pytest.mark.parametrize("form", STATUS_FORMS)
def test_each_form_of_status_is_read_as_a_clean_word(form: str) -> None:
    found = record(STATUS_FORMS[form])
    assert found.status == "accepted"
    if "2026-02-03" in STATUS_FORMS[form]:
        assert found.date == "2026-02-03"


PLAIN_RECORDS = {
    "docs/adr/0001-a.rst": "Use A\n=====\n\n:Status: accepted\n:Date: 2026-02-03\n\nSee ``src/a.py`` and :func:`b`.\n",
    "docs/adr/0002-a.rst": "=====\nUse A\n=====\n\nDate: 2026-02-03\n\n"
    "Status\n------\n\naccepted\n\nContext\n-------\n\n`l <x.rst>`_\n",
    "docs/adr/0001-a.adoc": "= Use A\n:status: accepted\n:date: 2026-02-03\n\nSee `src/a.py`, link:x.adoc[x].\n",
    "docs/adr/0002-a.adoc": "= Use A\n\nDate:: 2026-02-03\n\n== Status\n\naccepted\n\n----\nStatus: no\n----\n",
    "adr/3.txt": "Use A\n=====\n\nStatus: accepted\nDate: 2026-02-03\n",
    "adr/4.txt": "# Use A\n\nStatus: accepted\nDate: 2026-02-03\n",
}


@pytest.mark.parametrize("path", PLAIN_RECORDS)
def test_records_in_other_formats(path: str) -> None:
    found = record(PLAIN_RECORDS[path], path)
    assert (found.name, found.status, found.date) == ("Use A", "accepted", "2026-02-03")


def test_citations_in_other_formats() -> None:
    document = read("docs/adr/0001-a.rst", PLAIN_RECORDS["docs/adr/0001-a.rst"])
    assert [(cite.value, cite.line) for cite in document.entities[0].cites] == [("src/a.py", 7), ("b", 7)]
    linked = read("docs/adr/0002-a.rst", PLAIN_RECORDS["docs/adr/0002-a.rst"])
    assert [(cite.kind, cite.value) for cite in linked.entities[0].cites] == [("link", "x.rst")]


def test_front_matter_comes_before_lines_and_sections() -> None:
    text = "---\nstatus: one\n---\n# A\n\nStatus: two\nDate: d\n\n## Status\n\nthree\n"
    assert (record(text).status, record(text).date) == ("one", "d")
    assert record("# A\n\nStatus: two\n\n## Status\n\nthree\n").status == "two"


def test_lines_count_only_near_the_top_and_only_at_top_level() -> None:
    assert record("# A\n" + "\n" * 38 + "Status: accepted\n").status == "accepted"
    assert record("# A\n" + "\n" * 39 + "Status: accepted\n").status is None
    assert record("# A\n\n> Status: accepted\n").status is None
    assert record("# A\n\n```\nStatus: accepted\n```\n").status is None
    assert record("# A\n\nThe status: open\n").status is None


def test_long_metadata_is_cut() -> None:
    document = read(RECORD, f"# A\n\nStatus: {'x' * 200}\nDate: {'y' * 129}\n")
    assert document.reasons == ["metadata-limit"]
    assert (len(document.entities[0].status or ""), len(document.entities[0].date or "")) == (128, 128)
    titled = read(RECORD, f"---\ntitle: {'t' * 300}\n---\n")
    assert titled.reasons == ["metadata-limit"]
    assert len(titled.entities[0].name) == 256


def test_a_long_heading_is_no_name() -> None:
    assert read(RECORD, f"# {'x' * 257}\n").reasons == ["name-limit"]
    assert read(RECORD, f"# {'x' * 257}\n").entities == []


def test_a_long_id_ends_in_its_hash() -> None:
    found = record(f"# {'x' * 256}\n")
    assert len(found.id) == 256
    assert found.id[-33] == ":"


# --- supersession ---------------------------------------------------------------------------------

SUPERSESSION = {
    "---\nsupersedes: 0001-a.md\n---\n# A\n": (["0001-a.md"], []),
    "---\nsupersedes: [0001-a.md, ADR-2]\nsuperseded-by: 0009-b.md\n---\n# A\n": (
        ["0001-a.md", "ADR-2"],
        ["0009-b.md"],
    ),
    "---\nsupersededBy: 12\nreplaces: 0003\n---\n# A\n": (["0003"], ["12"]),
    "---\nsuperceded_by: '[B](0009-b.md)'\n---\n# A\n": ([], ["0009-b.md"]),
    "---\nsupersedes: [[0001-a]]\n---\n# A\n": (["0001-a"], []),
    "---\nsupersedes: none\nsuperseded-by:\n---\n# A\n": ([], []),
    "---\nstatus: superseded by ADR-0012\n---\n# A\n": ([], ["ADR-0012"]),
    "---\nstatus: superseded by [ADR-5](0005-e.md)\n---\n# A\n": ([], ["0005-e.md"]),
    "# A\n\nSupersedes: 0001-a.md, 0002-b.md\n": (["0001-a.md", "0002-b.md"], []),
    "# A\n\nSuperseded-by: [3. C](0003-c.md)\n": ([], ["0003-c.md"]),
    "# A\n\n**Superseded by:** ADR 12\n": ([], ["ADR 12"]),
    "# A\n\n- Supercedes: `0001-a.md`\n- Replaced by: ADR-9\n": (["0001-a.md"], ["ADR-9"]),
    "# A\n\nStatus: Superseded by [3. C](0003-c.md)\n": ([], ["0003-c.md"]),
    "# A\n\nStatus: superceded by 0012\n": ([], ["0012"]),
    "# A\n\nStatus: Replaced by ADR-12 on 2024-01-10\n": ([], ["ADR-12"]),
    "# A\n\nStatus: accepted, supersedes ADR-3 and ADR-4\n": (["ADR-3", "ADR-4"], []),
    "# A\n\nStatus: accepted, supercedes [1](0001-a.md). See [2](0002-b.md).\n": (["0001-a.md"], []),
    "# A\n\nStatus: replaces [a](a.md), superseded by [b](b.md)\n": (["a.md"], ["b.md"]),
    "# A\n\n## Status\n\nAccepted\n\nSupersedes [3. C](0003-c.md)\n\nSuperseded by [4. D](0004-d.md)\n": (
        ["0003-c.md"],
        ["0004-d.md"],
    ),
    "# A\n\n## Status\n\nSuperseded by [ADR-12](https://example.org/12)\n": ([], ["ADR-12"]),
    "# A\n\n| Status | Supersedes |\n|---|---|\n| accepted | [a](a.md) |\n": (["a.md"], []),
    "# A\n\nStatus: superseded\n": ([], []),
    "# A\n\nStatus: superseded by a later decision\n": ([], []),
    "# A\n\nText that supersedes [a](a.md).\n": ([], []),
    "# A\n\n## Status\n\nAccepted. This decision is not superseded by ADR-1.\n": ([], []),
    "# A\n\n## Status\n\nProposed; would be superseded by [1](0001-one.md) if accepted.\n": ([], []),
    "# A\n\n## Status\n\nThis may not hold. Superseded by ADR-4.\n": ([], ["ADR-4"]),
}


@pytest.mark.parametrize("text", SUPERSESSION)
def test_supersession_in_every_form_with_its_direction(text: str) -> None:
    found = record(text)
    assert (found.supersedes, found.superseded_by) == SUPERSESSION[text]


def test_a_status_with_a_link_is_its_text() -> None:
    assert record("# A\n\n## Status\n\nSuperseded by [3. C](0003-c.md)\n").status == "Superseded by 3. C"


# --- headings in other documents ------------------------------------------------------------------


def test_decision_headings_of_other_documents() -> None:
    text = "# Guide\n\n## Decision\n\nUse `a`.\n\n### Detail\n\n`b`\n\n"
    text += "## Decisions: more\n\nx\n\n## Decision\n\ny\n\n# End\n"
    document = read("docs/a.md", text)
    assert lines_of(document) == [("Decision", 3, 10), ("Decisions: more", 11, 14), ("Decision", 15, 18)]
    assert [entity.id for entity in document.entities] == [
        "knowledge-decision:docs/a.md:Decision:0",
        "knowledge-decision:docs/a.md:Decisions: more:0",
        "knowledge-decision:docs/a.md:Decision:1",
    ]
    assert [cite.value for cite in document.entities[0].cites] == ["a", "b"]


@pytest.mark.parametrize("heading", ["Decisive", "Our decision", "Decision-making", "Undecided"])
def test_other_headings_are_no_decisions(heading: str) -> None:
    assert read("docs/a.md", f"# A\n\n## {heading}\n\nText.\n").entities == []


def test_headings_in_quotes_and_fences_are_no_decisions() -> None:
    assert read("docs/a.md", "> ## Decision\n\n```\n## Decision\n```\n").entities == []


def test_citations_of_a_record_are_those_of_its_region_each_once() -> None:
    found = record("# A\n\n`a` `a` [b](../b.py) \n\n> `c`\n\n```\n`fenced`\n```\n\n- [text `d`](https://example.org)\n")
    assert [(cite.kind, cite.value, cite.line) for cite in found.cites] == [
        ("code", "a", 3),
        ("link", "../b.py", 3),
        ("code", "c", 5),
        ("code", "d", 11),
    ]


def test_aliases_of_a_record_are_its_own() -> None:
    assert record("---\naliases: [ADR-7, x]\n---\n# A\n").aliases == ["ADR-7", "x"]
