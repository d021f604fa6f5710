"""Other names of terms: acronyms, lists, columns and lines (knowledge query reference 4.2)."""

from __future__ import annotations

import pytest

from tests.why_documents import names_of, read
from trivium.why.terms import listed_names, other_names
from trivium.why.wording import LANGUAGES, Language, begins_with_status, words

OTHER_NAMES = {
    "API (Application Programming Interface)": ["API", "Application Programming Interface"],
    "Application Programming Interface (API)": ["Application Programming Interface", "API"],
    "XML (Extensible Markup Language)": ["XML", "Extensible Markup Language"],
    "HTTP (Hypertext Transfer Protocol)": ["HTTP", "Hypertext Transfer Protocol"],
    "GUID (globally unique identifier)": ["GUID", "globally unique identifier"],
    "SaaS (Software as a Service)": ["SaaS", "Software as a Service"],
    "CI/CD (Continuous Integration / Continuous Delivery)": [
        "CI/CD",
        "Continuous Integration / Continuous Delivery",
    ],
    "VMs (virtual machines)": ["VMs", "virtual machines"],
    "LIFO (last in, first out)": ["LIFO", "last in, first out"],
    "Command-line interface (CLI)": ["Command-line interface", "CLI"],
    "DB (database)": ["DB", "database"],
    "БД (база данных)": ["БД", "база данных"],
    "应用程序接口（API）": ["应用程序接口", "API"],
    "Cache (aka Lookup cache, LRU)": ["Cache", "Lookup cache", "LRU"],
    "Store (also known as: shop)": ["Store", "shop"],
    "Store (deprecated)": [],
    "Port (networking)": [],
    "Level (of a building)": [],
    "run() (method)": [],
    "Queue (FIFO)": [],
    "Session (HTTP)": [],
    "TLS (see SSL)": [],
    "API (deprecated)": [],
    "ID (in database)": [],
    "ADR (a decision record)": [],
    "API（已弃用）": [],
    "A (B)": [],
    "plain": [],
    "(API)": [],
}


@pytest.mark.parametrize("term", OTHER_NAMES)
def test_parentheses_hold_another_name_only_when_the_letters_agree(term: str) -> None:
    assert other_names(term) == OTHER_NAMES[term]


LISTS = {
    "LRU cache, evictor": ["LRU cache", "evictor"],
    "a; b / c or d": ["a", "b", "c", "d"],
    "CI/CD": ["CI/CD"],
    "缓冲、缓存，存储": ["缓冲", "缓存", "存储"],
    "—": [],
    "n/a": [],
    "keine": [],
    "": [],
    "x, x": ["x"],
    "`a`, **b**.": ["a", "b"],
    "a sentence that goes on for more than eight words": [],
}


@pytest.mark.parametrize("value", LISTS)
def test_the_names_that_a_cell_lists(value: str) -> None:
    assert listed_names(value) == LISTS[value]


ALIASES = {
    "## API (Application Programming Interface)\n\nText.": ["API", "Application Programming Interface"],
    "**API (Application Programming Interface)**: text": ["API", "Application Programming Interface"],
    "**API** (Application Programming Interface): text": ["API", "Application Programming Interface"],
    "- **API** (Application Programming Interface) — text": ["API", "Application Programming Interface"],
    "- Service Level Agreement (SLA): text": ["Service Level Agreement", "SLA"],
    "SLA (service level agreement) — text": ["SLA", "service level agreement"],
    "API (Application Programming Interface)\n: text": ["API", "Application Programming Interface"],
    "| Term | Meaning |\n|--|--|\n| API (Application Programming Interface) | text |": [
        "API",
        "Application Programming Interface",
    ],
    "| Term | Aliases | Meaning |\n|--|--|--|\n| Cache | LRU cache, `lru`<br>evictor | text |": [
        "LRU cache",
        "lru",
        "evictor",
    ],
    "| Term | Meaning | **Also known as** |\n|--|--|--|\n| Cache | text, more | buffer |": ["buffer"],
    "| Term | Synonyms |\n|--|--|\n| Cache | — |": [],
    "| Term | Abbreviation | Acronym |\n|--|--|--|\n| Service Level Agreement | SLA | S.L.A |": ["SLA", "S.L.A"],
    "| Abbreviation | Stands for | Meaning |\n|--|--|--|\n| API | Application Programming Interface | text |": [
        "Application Programming Interface"
    ],
    "| Acronym | Term | Meaning |\n|--|--|--|\n| API | Application Programming Interface | text |": [
        "Application Programming Interface"
    ],
    "| Term | Meaning | Owner |\n|--|--|--|\n| Cache | a, b | c |": [],
    "| Begriff | Auch bekannt als |\n|--|--|\n| Speicher | Ablage |": ["Ablage"],
    "| 术语 | 别名 |\n|--|--|\n| 缓存 | 缓冲、存储 |": ["缓冲", "存储"],
    "## Cache\n\nText.\n\n*Also known as:* lookup cache, LRU": ["lookup cache", "LRU"],
    "## Cache\n\n- Synonyms: buffer\n- Size: large": ["buffer"],
    "- **Cache**: text\n  - Aliases: LRU\n  - Synonym: buffer": ["LRU", "buffer"],
    "## Cache\n\nAliases are names: they are many.": [],
    "## Cache\n\n### See also\n\nAliases: x": [],
}


@pytest.mark.parametrize("text", ALIASES)
def test_other_names_of_a_glossary_are_aliases(text: str) -> None:
    first = read("docs/glossary.md", f"# Glossary\n\n{text}\n").entities[0]
    assert first.aliases == ALIASES[text]
    assert first.id == f"knowledge-concept:{first.name}"


def test_a_list_that_defines_the_word_alias_has_it_as_a_term() -> None:
    assert names_of(read("glossary.md", "# Glossary\n\n- **Alias**: another name\n- **Cache**: text\n")) == [
        "Alias",
        "Cache",
    ]


def test_a_concept_document_with_an_acronym_has_both_names() -> None:
    (found,) = read(
        "docs/api.md", "---\ntype: concept\naliases: [x]\n---\n# API (Application Programming Interface)\n"
    ).entities
    assert found.aliases == ["x", "API", "Application Programming Interface"]


# --- the table of words ---------------------------------------------------------------------------


def test_no_word_of_the_table_stands_twice_in_a_field_or_is_padded() -> None:
    for code, language in LANGUAGES.items():
        for name in Language._fields:
            if not name.endswith(("_back", "_around")):
                held = [word.strip() for word in getattr(language, name).split(",")]
                assert len(held) == len(set(held)), (code, name)
                assert "" not in held or held == [""], (code, name)


def test_every_language_has_words_for_status_accepted_superseded_and_replaces() -> None:
    assert set(LANGUAGES) >= {"en", "de", "fr", "es", "pt", "it", "zh", "ja", "ko", "ru"}
    for code, language in LANGUAGES.items():
        assert language.statuses, code
        assert language.status or language.state, code
        assert language.by or language.by_back, code
        assert language.of or language.of_next or language.of_back, code


def test_words_for_what_a_record_is_and_is_not_stay_apart() -> None:
    labels = words("status") | words("state") | words("date") | words("title")
    directions = words("by") | words("of") | words("by_next") | words("of_next") | words("by_keys") | words("of_keys")
    assert not labels & directions
    assert not (words("by") | words("by_next")) & (words("of") | words("of_next"))


STATUS_BEGINNINGS = {
    "Accepted": True,
    "accepted (2024)": True,
    "Accepted on Monday": True,
    "✅ Accepted": True,
    "已接受": True,
    "승인됨 (2024)": True,
    "Active users are counted": False,
    "Open connections are kept": False,
    "Not accepted": False,
    "通过网络传输": False,
    "": False,
}


@pytest.mark.parametrize("text", STATUS_BEGINNINGS)
def test_a_status_word_at_the_beginning_is_told_from_a_sentence(text: str) -> None:
    assert begins_with_status(text) is STATUS_BEGINNINGS[text]
