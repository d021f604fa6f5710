"""Memory notes and their relations (knowledge query reference 6)."""

from __future__ import annotations

import hashlib

import pytest

from trivium.errors import TriviumError
from trivium.why.memory import read_note, read_notes, relate
from trivium.why.model import DocumentRegion, Entity, MemoryNote, MemoryRelation

PATH = ".agent-memory/cache.md"


def note(text: str, path: str = PATH) -> MemoryNote:
    found = read_note(path, text.encode())
    assert found is not None
    return found


def entity(entity_id: str, name: str, aliases: list[str] | None = None, path: str = "docs/a.md") -> Entity:
    return Entity(1, entity_id, "concept", name, aliases or [], [DocumentRegion(path, 1, 2, "0" * 64)], [])


def found(text: str, *entities: Entity) -> list[tuple[str, str, str]]:
    return [(item.target, item.evidence.kind, item.evidence.value) for item in relate([note(text)], entities)]


# --- candidates -----------------------------------------------------------------------------------


def test_a_candidate_is_its_path_and_its_first_paragraph() -> None:
    first = note(
        "---\nname: x\n---\n# Title\n\n[a](b.md)\n\n| a |\n|---|\n| b |\n\n- item\n\nThe **fact**\nhere.\n\nMore.\n"
    )
    assert (first.candidate_id, first.raw_path, first.fact) == (PATH, PATH, "The fact here.")


def test_without_a_paragraph_the_heading_else_the_path() -> None:
    assert note("# The `heading`\n\n- item\n").fact == "The heading"
    assert note("- item\n").fact == PATH
    assert note("").fact == PATH


def test_two_files_of_one_name_stay_apart() -> None:
    assert note("x", "a/n.md").candidate_id != note("x", "b/n.md").candidate_id


def test_a_long_fact_is_cut_at_a_sentence_else_at_a_word() -> None:
    assert note("First one. " + "word " * 100).fact == "First one."
    assert note("word " * 100).fact == ("word " * 80).strip()
    assert len(note("x" * 500).fact) == 400


@pytest.mark.parametrize("word", ["noise", "Scratch", "ignore", "DISCARD"])
def test_noise_is_left_out(word: str) -> None:
    assert read_note(PATH, f"This is {word}, really.".encode()) is None
    assert read_note(PATH, f"This is {word}d, really.".encode()) is not None


@pytest.mark.parametrize(
    "text",
    [
        "password: hunter22",
        "The API_KEY=abc123def456",
        "token = 'a1b2c3d4e5'",
        "use AKIAABCDEFGHIJKLMNOP",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "sk-proj-abcdefghijklmnop1234",
        "-----BEGIN RSA PRIVATE KEY-----",
        "Authorization: Bearer abcdefghijklmnopqrst",
        "postgres://user:secret@host/db",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc",
        "key aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d",
        "ask jane.doe@company.io",
        "ask `jane@home.net`",
    ],
)
def test_secrets_and_private_addresses_are_left_out(text: str) -> None:
    assert read_note(PATH, f"{text}\n".encode()) is None


@pytest.mark.parametrize(
    "text",
    [
        "mail a@example.org",
        "1+x@users.noreply.github.com",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "Tokens: counted by words",
        "pass the word on",
    ],
)
def test_ordinary_facts_stay(text: str) -> None:
    assert read_note(PATH, f"{text}\n".encode()) is not None


def test_passages_of_instruction_files_are_candidates_of_their_own() -> None:
    notes = read_notes("AGENTS.md", b"# A\n\nOne `x`.\n\n- two\n  - three\n- password: hunter22\n\n[only](link.md)\n")
    assert [(item.candidate_id, item.fact, item.raw_path) for item in notes] == [
        ("AGENTS.md:3", "One x.", "AGENTS.md"),
        ("AGENTS.md:5", "two", "AGENTS.md"),
        ("AGENTS.md:6", "three", "AGENTS.md"),
    ]


# --- relations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("See knowledge-concept:C for it.", "id", "knowledge-concept:C"),
        ("The Cache, it evicts.", "alias", "Cache"),
        ('Use ("Cache") now', "alias", "Cache"),
        ("It is about Cache.", "alias", "Cache"),
        ("Use `two words` here", "alias", "two words"),
        ("two words", "alias", "two words"),
        ("Read docs/a.md first", "path", "docs/a.md"),
        ("Read [this](docs/a.md) first", "path", "docs/a.md"),
        ("Read [this](./docs/a.md) first", "path", "docs/a.md"),
        ("---\nreferences: [Cache]\n---\nFact.\n", "alias", "Cache"),
        ("---\nreferences: Long name\n---\nFact.\n", "alias", "Long name"),
        ("`Long name` holds", "alias", "Long name"),
    ],
)
def test_a_token_that_equals_a_reference_value_relates(text: str, kind: str, value: str) -> None:
    concept = entity("knowledge-concept:C", "Long name", ["Cache", "two words"])
    assert found(text, concept) == [("knowledge-concept:C", kind, value)]


@pytest.mark.parametrize("text", ["the cache", "Caches", "two", "docs/a", "knowledge-concept", "nothing at all"])
def test_other_tokens_relate_nothing(text: str) -> None:
    assert found(text, entity("knowledge-concept:C", "Long name", ["Cache", "two words"])) == []


def test_a_value_of_two_entities_names_neither() -> None:
    first, second = entity("a", "A", ["Cache"]), entity("b", "B", ["Cache"])
    assert found("Cache and docs/a.md and A", first, second) == [("a", "alias", "A")]


def test_the_relation_has_the_contracts_form() -> None:
    (relation,) = relate([note("The `Cache` evicts.")], [entity("c", "Cache")])
    assert isinstance(relation, MemoryRelation)
    assert (relation.kind, relation.candidate_id, relation.target) == ("memory-supports", PATH, "c")
    assert relation.evidence.raw_path == PATH
    assert relation.evidence.fact_hash == hashlib.sha256(b"The Cache evicts.").hexdigest()


def test_relations_are_in_order_whatever_the_order_of_notes() -> None:
    notes = [note("A B", "z.md"), note("B A", "a.md")]
    entities = [entity("2", "A", path="x"), entity("1", "B", path="y")]
    relations = relate(notes, entities)
    assert [(item.target, item.candidate_id) for item in relations] == [
        ("1", "a.md"),
        ("1", "z.md"),
        ("2", "a.md"),
        ("2", "z.md"),
    ]
    assert relate(notes[::-1], entities[::-1]) == relations


def test_too_many_relations_fail() -> None:
    notes = [MemoryNote(f"n{n}", "f", "p", ["A"]) for n in range(10_001)]
    assert len(relate(notes[:-1], [entity("a", "A")])) == 10_000
    with pytest.raises(TriviumError, match="10000"):
        relate(notes, [entity("a", "A")])
