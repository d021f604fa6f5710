"""Facts of the graph as passages: which concepts a question is told about, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import trivium
from trivium.search.facts import MOST_FACTS, MOST_LINKS, fact, facts
from trivium.search.passage import CHUNK, Passage

KNOWN = """
UPSERT {
  CONCEPT ?l { {type: "$ConceptType", name: "Language"} SET ATTRIBUTES { description: "A programming language." } }
  CONCEPT ?p { {type: "$ConceptType", name: "Maker"} SET ATTRIBUTES { description: "Who makes languages." } }
  CONCEPT ?d { {type: "$PropositionType", name: "designed"} SET ATTRIBUTES { description: "Made the first version." } }
}
UPSERT {
  CONCEPT ?rust { {type: "Language", name: "Rust"}
    SET ATTRIBUTES { description: "Memory safety without a collector.", first_appeared: 2012, aliases: ["rust-lang"] } }
  CONCEPT ?elixir { {type: "Language", name: "Elixir"} SET ATTRIBUTES { first_appeared: 2012, parts: {a: 1} } }
  CONCEPT ?c { {type: "Language", name: "C"} SET ATTRIBUTES { first_appeared: 1972 } }
  CONCEPT ?zh { {type: "Language", name: "木兰"} SET ATTRIBUTES { first_appeared: 2020 } }
  CONCEPT ?g { {type: "Maker", name: "Graydon Hoare"} SET PROPOSITIONS { ("designed", ?rust) } }
}
"""


@pytest.fixture
def kb() -> Iterator[trivium.KnowledgeBase]:
    with trivium.open() as kb:
        for text in KNOWN.split("UPSERT")[1:]:
            response = kb.execute_kip({"command": f"UPSERT{text}"})
            assert "error" not in response, response
        yield kb


def told(kb: trivium.KnowledgeBase, question: str, *texts: str) -> list[Passage]:
    found = [Passage(f"chk_{i}", CHUNK, "default", 1, "a.md", text, 0.8) for i, text in enumerate(texts)]
    number = kb.context("default")._number
    with kb._store.read() as session:
        return facts(session, number, "default", [question], found)


CASES = [
    # question, texts found, names told first, a sentence that is told
    ("Who designed Rust?", (), ["Rust"], "Graydon Hoare designed Rust."),
    ("when did rust-lang first appear", (), ["Rust"], "Rust, first appeared: 2012."),
    ("木兰是哪一年的？", (), ["木兰"], "木兰, first appeared: 2020."),
    ("Who designed the language of the billing service?", ("Billing is written in Rust.",), ["Rust"], "designed Rust"),
    ("What does Graydon Hoare do?", (), ["Graydon Hoare"], "Graydon Hoare (Maker)."),
]


@pytest.mark.parametrize(("question", "texts", "names", "sentence"), CASES)
def test_what_a_question_names_is_told(
    kb: trivium.KnowledgeBase, question: str, texts: tuple[str, ...], names: list[str], sentence: str
) -> None:
    found = told(kb, question, *texts)
    assert [passage.name for passage in found][: len(names)] == names
    assert sentence in found[0].text
    assert found[0].score >= 0.3


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What are the payment terms?", ()),
        ("When is the billing service restarted?", ("Billing is written in Rust.",)),
        ("can you see it", ("C is one letter of see.",)),
        ("", ()),
        ("¿?!", ("",)),
        ("$self $system Domain", ()),
    ],
)
def test_what_bears_on_nothing_is_not_told(kb: trivium.KnowledgeBase, question: str, texts: tuple[str, ...]) -> None:
    assert [passage.name for passage in told(kb, question, *texts) if passage.score >= 0.3] == []


def test_a_fact_is_told_again_as_it_is_now(kb: trivium.KnowledgeBase) -> None:
    number = kb.context("default")._number
    id_ = told(kb, "Who designed Rust?")[0].id
    kb.execute_kip({"command": 'UPDATE ?r SET ATTRIBUTES { first_appeared: 2015 } WHERE { ?r {name: "Rust"} }'})
    with kb._store.read() as session:
        again = fact(session, number, "default", id_)
        assert again is not None
        assert "2015" in again.text
        assert "2012" not in again.text
        assert fact(session, number + 1, "other", id_) is None
        assert fact(session, number, "default", "C:999999") is None
        assert fact(session, number, "default", "art_x") is None


def test_only_the_best_are_told_and_always_the_same(kb: trivium.KnowledgeBase) -> None:
    for number in range(20):
        command = 'UPSERT { CONCEPT ?l { {type: "Language", name: :n} SET ATTRIBUTES { kind: "brick" } } }'
        assert "error" not in kb.execute_kip({"command": command, "parameters": {"n": f"Brick {number}"}})
    first = told(kb, "Which brick languages are there?")
    assert len(first) == MOST_FACTS
    assert first == told(kb, "Which brick languages are there?")


def test_of_many_links_some_are_told_and_the_others_counted(kb: trivium.KnowledgeBase) -> None:
    command = 'UPSERT { CONCEPT ?m { {type: "Maker", name: :name} SET PROPOSITIONS { ("designed", {id: :rust}) } } }'
    rust = told(kb, "Who designed Rust?")[0].id
    for number in range(MOST_LINKS + 9):
        parameters = {"name": f"Maker {number:02}", "rust": rust}
        response = kb.execute_kip({"command": command, "parameters": parameters})
        assert "error" not in response, response
    kb.execute_kip(
        {"command": 'UPSERT { PROPOSITION ?p { ({id: :r}, "designed", {id: :r}) } }', "parameters": {"r": rust}}
    )
    lines = told(kb, "Who designed Rust?")[0].text.split("\n\n")
    assert "Rust designed Rust." in lines
    [makers] = [line for line in lines if line.endswith("designed Rust.") and line != "Rust designed Rust."]
    assert makers.startswith("Graydon Hoare, Maker 00, Maker 01, ")
    assert makers.endswith(f"Maker {MOST_LINKS - 2:02} and 10 more designed Rust.")


def test_an_attribute_of_many_texts_is_told_in_part(kb: trivium.KnowledgeBase) -> None:
    command = (
        'UPSERT { CONCEPT ?l { {type: "Language", name: "Elixir"} SET ATTRIBUTES { tags: :tags, aliases: :tags } } }'
    )
    assert "error" not in kb.execute_kip(
        {"command": command, "parameters": {"tags": [f"tag{n}" for n in range(5_000)]}}
    )
    text = told(kb, "What is Elixir?")[0].text
    assert "tag0, tag1" in text
    assert len(text) < 2_000


def test_an_answer_joins_a_document_with_a_fact(kb: trivium.KnowledgeBase) -> None:
    context = kb.context("default")
    context.add_bytes("services.md", b"# Services\n\n## Billing\n\nThe billing service is written in Rust.\n")
    context.curate()
    answer = kb.ask("Who designed the language that the billing service is written in?")
    assert answer["status"] == "completed"
    assert [(one["kind"], one["grounding"]) for one in answer["citations"]] == [
        ("chunk", "The billing service is written in Rust."),
        ("artifact", "Graydon Hoare designed Rust."),
    ]
