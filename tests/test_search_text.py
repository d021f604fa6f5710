"""Segmentation, folding, and what search makes of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import trivium
from trivium import KnowledgeBase
from trivium.search.index import score, spelling
from trivium.search.segment import fold, plain, query_tokens, tokens


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("İzmir", "izmir"),
        ("İSTANBUL", "ıstanbul"),
        ("i\u0307zmir", "IZMIR"),
        ("Diyarbakır", "diyarbakir"),
        ("مُحَمَّد", "محمد"),
        ("مـحـمـد", "محمد"),
        ("أحمد", "احمد"),
        ("إبراهيم", "ابراهيم"),
        ("آمال", "امال"),
        ("مؤمن", "مومن"),
        ("مدرسة", "مدرسه"),
        ("على", "علي"),
        ("کتاب", "كتاب"),
        ("אָלֶף", "אלף"),
        ("צה״ל", 'צה"ל'),
        ("Łódź", "lodz"),
        ("Øresund", "oresund"),
        ("Ǿ", "o"),
        ("Đà Nẵng", "da nang"),
        ("Þórður", "thordur"),
        ("STRAẞE", "strasse"),
        ("Œuvre Æsop", "oeuvre aesop"),
        ("Gəncə", "gence"),
        ("क़लम", "कलम"),
        ("Пётр", "петр"),
        ("за́мок", "замок"),
        ("O’Brien", "O'Brien"),
        ("Smith–Jones", "Smith-Jones"),
        ("soft\u00adware", "software"),
        ("ΣΊΣΥΦΟΣ", "σισυφος"),
    ],
)
def test_what_folds_together(written: str, asked: str) -> None:
    assert fold(written) == fold(asked)
    assert tokens(written.lower()) == tokens(asked.lower())
    assert score(asked, query_tokens(asked), written, {}) == 1.0
    assert score(asked, query_tokens(asked), "other", {"aliases": [written]}) == 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("и", "й"),
        ("И", "Й"),
        ("і", "ї"),
        ("І", "Ї"),
        ("か", "が"),
        ("ハ", "パ"),
        ("하나", "한나"),
        ("г", "ґ"),
        ("у", "ў"),
    ],
)
def test_what_stays_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)
    assert plain(one) != plain(other)


def test_folding_twice_changes_nothing() -> None:
    for code in range(0x20, 0x2FA20):
        if not 0xD800 <= code < 0xE000:
            once = fold(chr(code))
            assert fold(once) == once, hex(code)


def test_marks_stay_inside_words() -> None:
    assert tokens("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert tokens("தமிழ் বাংলা") == ["தமிழ்", "বাংলা"]


@pytest.mark.parametrize(
    ("text", "written", "asked"),
    [
        ("C++", ["c＋＋"], ["c＋＋"]),
        ("C#, C", ["c＃", "c"], ["c＃", "c"]),
        ("C++17", ["c＋＋", "17"], ["c＋＋", "17"]),
        ("C#.NET", ["c＃", ".net", "net"], ["c＃", ".net", "net"]),
        (".NET", [".net", "net"], [".net", "net"]),
        ("Notepad++", ["notepad＋＋", "notepad"], ["notepad＋＋", "notepad"]),
        ("18+", ["18＋", "18"], ["18＋", "18"]),
        ("A*", ["a＊"], ["a＊"]),
        ("#12", ["＃12", "12"], ["＃12", "12"]),
        ("node.js", ["node.js", "node", "js"], ["node.js"]),
        ("KB-1423", ["kb-1423", "kb", "1423"], ["kb-1423"]),
        ("3.14", ["3.14", "3", "14"], ["3.14"]),
        ("snake_case", ["snake_case", "snake", "case"], ["snake_case"]),
        ("camelCase", ["camelcase", "camel", "case"], ["camelcase"]),
        ("user@host", ["user", "host", "user＠host"], ["user", "host", "user＠host"]),
        ("C/C++", ["c", "c＋＋", "c／c＋＋"], ["c", "c＋＋", "c／c＋＋"]),
        ("使用.NET框架", None, ["使用", ".net", "net", "框架"]),
    ],
)
def test_tokens_of_codes(text: str, written: list[str] | None, asked: list[str]) -> None:
    assert written is None or tokens(text) == written
    assert tokens(text, query=True) == asked


@pytest.mark.parametrize(
    "text", ["**bold**", "*slanted* word*", "a+b = 1+1", "## Title", "the end. Next", "f().x", "why?...", "x*y", ".5"]
)
def test_ordinary_signs_give_no_codes(text: str) -> None:
    assert not {"＋", "＃", "＊"} & set("".join(tokens(text)))
    assert not [token for token in tokens(text) if token.startswith(".")]


def test_tokens_never_hold_what_the_index_would_split() -> None:
    for code in range(0x20, 0x3000):
        for token in tokens(f"a{chr(code)} {chr(code)}b c{chr(code)}d"):
            assert all(not sign.isascii() or sign.isalnum() or sign in "-_." for sign in token), (hex(code), token)


def test_spelling_ranks() -> None:
    names = ["polish", "POLISH", "Polish", "Pólish"]
    assert sorted(names, key=lambda name: (spelling(" Polish ", name), name)) == [
        "Polish",
        "Pólish",
        "POLISH",
        "polish",
    ]


# --- through SEARCH -------------------------------------------------------------------------------


@pytest.fixture
def kb() -> Iterator[KnowledgeBase]:
    with trivium.open(":memory:") as opened:
        ask(opened, 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Thing"} } }')
        yield opened


def ask(kb: KnowledgeBase, command: str, **parameters: object) -> object:
    response = kb.execute_kip({"command": command, "parameters": parameters})
    return response.get("result", response.get("error"))


def add(kb: KnowledgeBase, *names: str) -> None:
    for name in names:
        ask(kb, 'UPSERT { CONCEPT { {type: "Thing", name: :name} } }', name=name)


def names(kb: KnowledgeBase, term: str, limit: str = "") -> list[str]:
    hits = ask(kb, f'SEARCH CONCEPT :term WITH TYPE "Thing" {limit}', term=term)
    assert isinstance(hits, list), hits
    return [hit["name"] for hit in hits]


def test_a_short_name_does_not_find_the_one_with_signs(kb: KnowledgeBase) -> None:
    add(kb, "C", "C#", "C++")
    assert [names(kb, name) for name in ("C", "C#", "C++", "C++ language")] == [["C"], ["C#"], ["C++"], ["C++"]]


def test_a_limit_is_served_or_refused(kb: KnowledgeBase) -> None:
    blocks = " ".join(f'CONCEPT {{ {{type: "Thing", name: "part {number}"}} }}' for number in range(180))
    ask(kb, f"UPSERT {{ {blocks} }}")
    assert len(names(kb, "part")) == 100
    assert len(names(kb, "part", "LIMIT 150")) == 150
    assert len(names(kb, "part", "LIMIT 1000")) == 180
    error = ask(kb, 'SEARCH CONCEPT "part" LIMIT 1001')
    assert isinstance(error, dict)
    assert error["code"] == "KIP_4002"
    assert "1000" in error["hint"]
    assert error["position"] == {"line": 1, "column": 29}


def test_links_come_in_the_order_of_their_spelling(kb: KnowledgeBase) -> None:
    add(kb, "a", "b")
    for predicate in ("Treats", "treats"):
        ask(kb, 'UPSERT { CONCEPT { {type: "$PropositionType", name: :p} } }', p=predicate)
        ask(
            kb,
            'UPSERT { PROPOSITION { ({type: "Thing", name: "a"}, :p, {type: "Thing", name: "b"}) } }',
            p=predicate,
        )
    for predicate, other in (("treats", "Treats"), ("Treats", "treats")):
        hits = ask(kb, "SEARCH PROPOSITION :p", p=predicate)
        assert isinstance(hits, list)
        assert [hit["predicate"] for hit in hits] == [predicate, other]
