"""Concepts: concept documents, glossaries, definitions, and what is none (knowledge query reference 4.2)."""

from __future__ import annotations

import unicodedata

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
    glossary = read("docs/glossary.md", f"{text}\n## B\n\nText.\n")
    assert names_of(glossary) == ["B"]
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
        ("docs/Glossar.md", ""),
        ("docs/projekt-glossar.md", ""),
        ("docs/glossaire.md", ""),
        ("lexique/termes.md", ""),
        ("docs/glosario.md", ""),
        ("docs/glossário.md", ""),
        ("docs/glossario.md", ""),
        ("docs/глоссарий.md", ""),
        (unicodedata.normalize("NFD", "docs/глоссарий.md"), ""),
        ("docs/术语表.md", ""),
        ("docs/项目術語表.md", ""),
        ("docs/用語集.md", ""),
        ("docs/용어집.md", ""),
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
    assert names_of(read("docs/glossarium.md", text)) == []
    assert names_of(read("docs/用語集について.md", text)) == []
    assert names_of(read("docs/terms.md", text, DocumentRules(glossaries=("docs/terms.md",)))) == ["Term"]


def test_headings_of_a_glossary_with_their_regions() -> None:
    text = "# Our glossary\n\n## A\n\n### Area\n\nx\n\n### Axis\n\ny\n\n## Box\n\nz\n\n# Definitions\n\n# Cell\n\nend\n"
    assert lines_of(read("glossary.md", text)) == [("Area", 5, 8), ("Axis", 9, 12), ("Box", 13, 16), ("Cell", 19, 21)]


@pytest.mark.parametrize("after", ["{#cache}", "{: #cache .term}", "{:.term}", "{.term lang=en}", "{/* #cache */}"])
def test_attributes_of_a_heading_are_no_part_of_the_term(after: str) -> None:
    text = f"# Glossary {after}\n\n## API (Application Programming Interface) {after}\n\nText.\n\n## See also {after}\n"
    (found,) = read("glossary.md", text).entities
    assert (found.name, found.aliases[0]) == ("API (Application Programming Interface)", "API")


def test_a_first_heading_that_is_no_title_is_a_term() -> None:
    assert names_of(read("glossary.md", "## Area\n\nx\n\n## Box\n\ny\n")) == ["Area", "Box"]


TERMS = {
    "a title of any wording": ("# Words we use\n\nText.\n\n## Cache\n\nx\n", ["Cache"]),
    "a title below the top level": ("## Words\n\n### Cache\n\nx\n\n### Queue\n\ny\n", ["Cache", "Queue"]),
    "a title and no term": ("# Our words\n\nText only.\n", []),
    "a title over definitions": ("# Words\n\n**Cache**: x\n", ["Cache"]),
    "a title in front matter": ("---\ntitle: Words\n---\n## Cache\n\nx\n", ["Cache"]),
    "a term below a title in front matter": ("---\ntitle: Words\n---\n# Cache\n\nx\n", ["Cache"]),
    "titles of parts": (
        "# Glossary\n\n## Acronyms\n\n### API\n\nx\n\n## Key terms\n\n### Cache\n\ny\n",
        ["API", "Cache"],
    ),
    "see also": ("# Glossary\n\n## Cache\n\nx\n\n## See also\n\n- [Store](s.md): y\n- **Queue**: z\n", ["Cache"]),
    "references": ("# Glossary\n\n# Cache\n\nx\n\n# References\n\n**RFC**: y\n\n## Deep\n\nz\n", ["Cache"]),
    "further reading": (
        "# Glossary\n\n## Cache\n\nx\n\n## Further reading\n\n| A | B |\n|--|--|\n| c | d |\n",
        ["Cache"],
    ),
    "see also of a term": (
        "# Glossary\n\n## Cache\n\n### See also\n\n- **Store**: y\n\n## Queue\n\nz\n",
        ["Cache", "Queue"],
    ),
    "a list below a line": ("# Glossary\n\n**Cache**: x\n\n**See also:**\n\n- **Store**: y\n", ["Cache"]),
    "a line": ("# Glossary\n\n## Cache\n\nx\n\n**See also**: [Store](s.md)\n\n**References:** y\n", ["Cache"]),
    "other languages": (
        "# Glossar\n\n## Speicher\n\nx\n\n## Siehe auch\n\n- **Y**: z\n\n## Abkürzungen\n",
        ["Speicher"],
    ),
    "Russian": ("# Глоссарий\n\n## Кэш\n\nx\n\n## См. также\n\n- **Y**: z\n", ["Кэш"]),
    "Chinese": ("# 术语表\n\n## 缓存\n\nx\n\n## 参考资料\n\n- **Y**: z\n", ["缓存"]),
    "letters of an index": ("# Glossary\n\n## A\n\n- **Apple**: x\n\n## B–D\n\n### Cell\n\ny\n", ["Cell", "Apple"]),
    "letters over definitions": (
        "# Glossary\n\n## A\n\n**Apple**: x\n\n## B\n\nBox — y\n\n## R\n\nA language — for figures.\n",
        ["R", "Apple", "Box"],
    ),
    "a term of one letter": ("# Glossary\n\n## C\n\n- compiled\n- old\n\n## Go\n\nx\n", ["C", "Go"]),
    "a term that sounds like a section": (
        "# Glossary\n\n## Reference\n\nx\n\n## Source\n\ny\n",
        ["Reference", "Source"],
    ),
}


@pytest.mark.parametrize("name", TERMS)
def test_titles_and_sections_that_follow_the_terms_are_none(name: str) -> None:
    text, terms = TERMS[name]
    assert names_of(read("docs/glossary.md", text)) == terms


PAGES = {
    ("glossary/cache.md", "# Cache\n\nx\n\n## Details\n\n- **Size**: 3\n\nAlso known as: LRU\n"): [("Cache", ["LRU"])],
    ("glossary/api.md", "---\naliases: [x]\n---\n# API (Application Programming Interface)\n"): [
        ("API (Application Programming Interface)", ["x", "API", "Application Programming Interface"])
    ],
    ("glossary/01-open-source.md", "# Open source\n\nx\n"): [("Open source", [])],
    ("glossary/lru.md", "# Least recently used\n\nx\n"): [("Least recently used", [])],
    ("glossary/README.md", "# Our words\n\nx\n"): [],
    ("glossary/all.md", "# Our words\n\n## Cache\n\nx\n"): [("Cache", [])],
    ("words/cache.md", "# Cache\n\nx\n"): [("Cache", [])],
    ("vocab.md", "# Vocab\n\n## Cache\n\nx\n"): [("Cache", [])],
}


@pytest.mark.parametrize(("path", "text"), PAGES)
def test_a_file_of_a_glossarys_folder_may_be_one_term(path: str, text: str) -> None:
    document = read(path, text, DocumentRules(glossaries=("words/*.md", "vocab.md")))
    assert [(entity.name, entity.aliases) for entity in document.entities] == PAGES[path, text]
    assert document.reasons == []


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
    "**Term**{#term}: text": True,
    "- **Term** {: #term .x}: text": True,
    "- Term {#term}: text": True,
    "Term {#term}\n: text": True,
    "| Term | Meaning |\n|---|---|\n| Term {#term} | text |": True,
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
    expected = ["Term"] if form in ("Term\n: text", "Term {#term}\n: text") else []
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
