"""Concepts: concept documents, glossaries, definitions, and what is none (knowledge query reference 4.2)."""

from __future__ import annotations

import pytest

from tests.why_documents import lines_of, names_of, read
from trivium.why.documents import DocumentRules


def test_a_concept_document_is_one_concept_with_its_aliases() -> None:
    document = read("docs/cache.md", "---\ntype: concept\naliases: [Cache, LRU]\n---\n# Lookup cache\n\nText `a`.\n")
    (concept,) = document.entities
    assert (concept.id, concept.kind, concept.defines) == ("knowledge-concept:Lookup cache", "concept", True)
    assert concept.aliases == ["Cache", "LRU"]
    assert (concept.region.line_start, concept.region.line_end) == (1, 7)
    assert [cite.value for cite in concept.cites] == ["a"]


def test_aliases_make_a_concept_of_a_plain_document_only() -> None:
    text = "---\naliases: x\n---\n# A\n"
    assert names_of(read("docs/a.md", text), "concept") == ["A"]
    assert names_of(read("docs/adr/1.md", text), "concept") == []
    assert names_of(read("docs/adr/README.md", text), "concept") == []
    assert names_of(read("CHANGELOG.md", text), "concept") == []
    glossary = read("docs/glossary.md", text)
    assert names_of(glossary) == ["A"]
    assert glossary.entities[0].aliases == []
    assert glossary.reasons == ["unbound-glossary-aliases"]


@pytest.mark.parametrize(
    ("path", "front"),
    [
        ("docs/glossary.md", ""),
        ("Glossary/terms.md", ""),
        ("docs/domain-glossary.md", ""),
        ("definitions/a.md", ""),
        ("docs/definitions.md", ""),
        ("docs/a.md", "---\ntype: glossary\n---\n"),
        ("docs/a.md", "---\ntype: definitions\n---\n"),
    ],
)
def test_what_is_a_glossary(path: str, front: str) -> None:
    assert names_of(read(path, f"{front}# Glossary\n\n## Term\n\nText.\n")) == ["Term"]


def test_other_documents_are_no_glossary_unless_configured() -> None:
    text = "# Glossary\n\n## Term\n\nText.\n"
    assert names_of(read("type-definitions/a.md", text)) == []
    assert names_of(read("docs/terms.md", text)) == []
    assert names_of(read("docs/terms.md", text, DocumentRules(glossaries=("docs/terms.md",)))) == ["Term"]


def test_headings_of_a_glossary_with_their_regions() -> None:
    text = "# Our glossary\n\n## A\n\n### Area\n\nx\n\n### Axis\n\ny\n\n## Box\n\nz\n\n# Definitions\n\n# Cell\n\nend\n"
    assert lines_of(read("glossary.md", text)) == [("Area", 5, 8), ("Axis", 9, 12), ("Box", 13, 16), ("Cell", 19, 21)]


def test_a_first_heading_that_is_no_title_is_a_term() -> None:
    assert names_of(read("glossary.md", "## Area\n\nx\n\n## Box\n\ny\n")) == ["Area", "Box"]


GLOSSARY_FORMS = {
    "**Term**: text": True,
    "**Term:** text": True,
    "__Term__: text": True,
    "**`Term`**: text": True,
    "**Term** — text": True,
    "Term — text": True,
    "Term – text": True,
    "Term\n: text": True,
    "- **Term**: text": True,
    "- Term: text": True,
    "- Term — text": True,
    "* `Term`: text\n  more": True,
    "1. **Term**: text": True,
    "| Term | Meaning |\n|---|---|\n| Term | text |": True,
    "**Term**": False,
    "**Term** text": False,
    "Term - text": False,
    "Term: text": False,
    "**Status**: accepted": False,
    "**Note**: text": False,
    "- Example: text": False,
    "**one two three four five six seven**: text": False,
    "A sentence that goes on and on — and then turns": False,
    "> **Term**: text": False,
    "```\n**Term**: text\n```": False,
    "<!-- trivium:generated -->\n\n**Term**: text": False,
}


@pytest.mark.parametrize("form", GLOSSARY_FORMS)
def test_definitions_of_a_glossary(form: str) -> None:
    assert names_of(read("glossary.md", f"# Glossary\n\n{form}\n")) == (["Term"] if GLOSSARY_FORMS[form] else [])


@pytest.mark.parametrize("form", GLOSSARY_FORMS)
def test_definitions_of_other_documents(form: str) -> None:
    expected = ["Term"] if form == "Term\n: text" else []
    assert names_of(read("docs/guide.md", f"# Guide\n\n{form}\n")) == expected
    assert names_of(read("docs/adr/1.md", f"# Use A\n\n{form}\n"), "concept") == []


def test_a_concept_document_has_bold_definitions_too() -> None:
    text = "---\ntype: concept\n---\n# Whole\n\n**Part**: text\nSome — dash\n\n- **Item**: text\n"
    assert names_of(read("docs/a.md", text)) == ["Whole", "Part"]


def test_regions_of_definitions() -> None:
    text = "# Glossary\n\n**A**: x\n**B**: y\n\nC\n: one\n: two\n\n- **D**: z\n\n- **E**: z\n\n"
    text += "| T | M |\n|---|---|\n| F | m |\n"
    assert lines_of(read("glossary.md", text)) == [
        ("A", 3, 3),
        ("B", 4, 4),
        ("C", 6, 8),
        ("D", 10, 11),
        ("E", 12, 13),
        ("F", 16, 16),
    ]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_definitions_with_other_line_ends(end: str) -> None:
    lines = ["# Glossary", "", "**Store**: Holds values.", "**Queue**: Ordered.", "", "<!-- doc-bridge:generated -->"]
    document = read("docs/glossary.md", end.join([*lines, "**Hidden**: Generated.", ""]))
    assert lines_of(document) == [("Store", 3, 3), ("Queue", 4, 4)]


def test_a_term_that_holds_generated_text_is_left_out_with_a_reason() -> None:
    text = "# Glossary\n\n## A\n\n<!-- trivium:generated -->\nx\n<!-- /trivium:generated -->\n\n## B\n\ny\n"
    document = read("glossary.md", text)
    assert names_of(document) == ["B"]
    assert document.reasons == ["generated-region"]


def test_long_terms_are_left_out_with_a_reason() -> None:
    document = read("glossary.md", f"# Glossary\n\n## {'x' * 257}\n\ny\n")
    assert (document.entities, document.reasons) == ([], ["name-limit"])


PROSE = """# Guide

This is a sentence — with a dash in it – and another.

**Important:** read this. **Fast**: it is.

- **Install**: run it
- Usage: see below

| Option | Meaning |
| --- | --- |
| `x` | y |
"""


def test_ordinary_prose_defines_nothing() -> None:
    assert read("README.md", PROSE).entities == []
