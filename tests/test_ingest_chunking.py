"""Chunks are pieces of the text: exact, complete, of bounded size, and told by the place they stand at."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.ingest.chunking import LONGEST_ROW, Chunk, Chunking, chunks
from trivium.ingest.parse import parse
from trivium.ingest.parsed import Parsed, Unreadable
from trivium.ingest.read_data import read_csv, read_json
from trivium.ingest.read_markdown import read_markdown
from trivium.ingest.read_text import read_text
from trivium.ingest.tokens import estimate

SENTENCE = "The quick brown fox jumps over the lazy dog and runs away. "


def cut(text: str, path: str = "a.md", **knobs: Any) -> list[Chunk]:
    parsed = parse(path, text.encode(), knobs.get("strategy", "markdown_heading"))
    return list(chunks(path, parsed, Chunking(**knobs)))


def sections(found: list[Chunk]) -> list[list[list[str]]]:
    return [chunk.place["sections"] for chunk in found]


def check(text: str, found: list[Chunk]) -> None:
    """What holds for all chunks of all texts."""
    covered = 0
    last = -1
    for chunk in found:
        assert chunk.text == text[chunk.start : chunk.stop]
        assert chunk.text == chunk.text.strip() != ""
        assert chunk.start > last
        assert not text[covered : chunk.start].strip()
        lines = text[: chunk.start].replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        assert chunk.first_line == lines
        within = chunk.text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
        assert chunk.last_line == lines + within
        covered = max(covered, chunk.stop)
        last = chunk.start
    assert not text[covered:].strip()
    assert len({chunk.key for chunk in found}) == len(found)


PIECES = st.sampled_from(
    [
        "# One\n",
        "## Two\n",
        "### Three\n\n",
        "words here. ",
        "More words\n",
        "\n\n",
        "- item\n",
        "1. first\n",
        "| a | b |\n",
        "| --- | --- |\n",
        "| 1 | 2 |\n",
        "```\n",
        "    code\n",
        "> quoted\n",
        "---\n",
        "Title\n=====\n",
        "\r\n",
        "\r",
        "\t",
        " ",
        "句子。",
        "数据库查询",
        "Dr. Who? ",
        "x" * 300,
        "\f",
        "\u2028",
        '{"a": [1, 2]}',
        "<b>",
        "a,b\n",
        '"q\nr",',
        "\ufeff",
        "😀",
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)
KNOBS = st.builds(
    Chunking,
    strategy=st.sampled_from(["markdown_heading", "sliding_window"]),
    target_size=st.sampled_from([64, 100, 512]),
    overlap=st.sampled_from([0, 16, 64, 1024]),
    respect_sections=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, knobs=KNOBS, reader=st.sampled_from(["md", "txt", "csv", "json", "adoc"]))
def test_chunks_are_exact_and_cover_all_that_is_no_white_space(text: str, knobs: Chunking, reader: str) -> None:
    parsed: Parsed
    if reader == "md":
        parsed = read_markdown(text)
    elif reader == "csv":
        parsed = read_csv("a.csv", text)
    elif reader == "json":
        parsed = read_json("a.json", text)
    else:
        parsed = read_text(text, reader)
    assert parsed.text == text
    check(text, list(chunks("a", parsed, knobs)))


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, name=st.sampled_from(["a.html", "a.py", "a.js", "a.eml", "a.yaml", "a", "a.ipynb"]))
def test_files_of_any_name_are_cut_exactly(text: str, name: str) -> None:
    try:
        parsed = parse(name, text.encode())
    except Unreadable:
        return
    check(parsed.text, list(chunks(name, parsed, Chunking(target_size=64))))


@settings(max_examples=100, deadline=None)
@given(
    data=st.binary(max_size=300), name=st.sampled_from(["a.txt", "a.md", "a.html", "a.csv", "a.json", "a.eml", "a.rs"])
)
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    try:
        parsed = parse(name, data)
    except Unreadable:
        return
    found = list(chunks(name, parsed, Chunking()))
    check(parsed.text, found)
    "".join(chunk.text for chunk in found).encode()


def test_a_chunk_holds_one_section_and_a_heading_stays_with_what_it_heads() -> None:
    found = cut("# Guide\n\n## Install\n\nRun it.\n\n## Use\n\nAsk it.\n")
    assert [chunk.text for chunk in found] == ["# Guide\n\n## Install\n\nRun it.", "## Use\n\nAsk it."]
    assert sections(found) == [[["Guide", "Install"]], [["Guide", "Use"]]]


def test_sections_may_be_joined_when_the_manifest_says_so() -> None:
    [chunk] = cut("# Guide\n\n## Install\n\nRun it.\n\n## Use\n\nAsk it.\n", respect_sections=False)
    assert chunk.place["sections"] == [["Guide"], ["Guide", "Install"], ["Guide", "Use"]]


@pytest.mark.parametrize("target", [64, 128, 512, 1000])
def test_chunks_of_prose_end_at_sentences_and_are_at_most_the_target(target: int) -> None:
    found = cut(SENTENCE * 200, target_size=target, overlap=0)
    assert len(found) > 1
    for chunk in found:
        assert chunk.text.endswith("runs away.")
        assert estimate(chunk.text) <= target
    for chunk in found[:-1]:
        assert estimate(chunk.text) > target / 2 - 20


def test_by_default_a_chunk_has_one_or_two_hundred_words() -> None:
    text = "\n\n".join(SENTENCE * 4 for _ in range(40))
    words = [len(chunk.text.split()) for chunk in cut(text)]
    assert all(100 <= count <= 300 for count in words[:-1])


def test_what_follows_repeats_the_last_sentences() -> None:
    text = " ".join(f"Sentence number {number} stands here." for number in range(300))
    found = cut(text, target_size=128, overlap=32)
    for before, after in pairwise(found):
        shared = text[after.start : before.stop]
        assert shared
        assert shared.startswith("Sentence")
        assert estimate(shared) <= 32


def test_tables_and_code_repeat_nothing() -> None:
    table = "| id | name |\n| --- | --- |\n" + "".join(f"| {number} | name of {number} |\n" for number in range(300))
    code = "```\n" + "".join(f"line {number}\n\n" for number in range(300)) + "```\n"
    for text in (table, code):
        found = cut(text, target_size=64, overlap=64)
        assert len(found) > 10
        assert all(before.stop <= after.start for before, after in pairwise(found))


def test_rows_of_a_markdown_table_stay_whole_and_name_their_header() -> None:
    text = "# Prices\n\n| id | name |\n| --- | --- |\n" + "".join(f"| {n} | name of {n} |\n" for n in range(300))
    found = cut(text, target_size=64)
    assert all(line.startswith("| ") and line.endswith(" |") for chunk in found[1:] for line in chunk.text.splitlines())
    assert {chunk.place.get("header") for chunk in found[1:]} == {"| id | name |"}
    assert "header" not in found[0].place
    assert sections(found)[-1] == [["Prices"]]


def test_a_row_longer_than_any_chunk_is_kept_whole_up_to_a_bound() -> None:
    wide = "a," + "word " * 2_000 + "\n"
    assert len(wide) < LONGEST_ROW
    found = cut("k,v\n" + wide * 3, "a.csv", target_size=64)
    assert [chunk.text.count("a,") for chunk in found if "word" in chunk.text] == [1, 1, 1]
    huge = "a," + "word " * 40_000 + "\n"
    assert len(cut("k,v\n" + huge, "a.csv", target_size=64)) > 100


def test_a_long_line_without_spaces_is_cut_all_the_same() -> None:
    text = "x" * 10_000
    check(text, found := cut(text, "a.txt", target_size=64))
    assert all(estimate(chunk.text) <= 64 for chunk in found)


def test_chinese_is_measured_and_cut_as_chinese() -> None:
    text = "根据合同约定，付款期限为三十天。" * 300
    found = cut(text, "a.txt", overlap=0)
    assert all(chunk.text.endswith("。") for chunk in found)
    assert all(estimate(chunk.text) <= 512 for chunk in found)
    assert max(len(chunk.text) for chunk in found) < 700


def test_a_sliding_window_goes_over_sections() -> None:
    text = "".join(f"# H{number}\n\n{SENTENCE * 3}\n\n" for number in range(30))
    found = cut(text, strategy="sliding_window", target_size=256, overlap=32)
    assert len(found) < 15
    assert len(found[0].place["sections"]) > 2
    check(text, found)


def test_strategies_decide_how_files_without_a_known_format_are_read() -> None:
    data = "id,name\n" + "".join(f'{number},"a\nb"\n' for number in range(200))
    found = cut(data, "export", strategy="csv", target_size=64)
    assert all(chunk.text.count('"') % 2 == 0 for chunk in found)
    assert found[-1].place["header"] == "id,name"
    assert parse("page", b"<p>words</p>", "html").text == "words\n"


def test_keys_are_stable_and_tell_repeats_apart() -> None:
    text = "# A\n\nsame words\n\n# B\n\nsame words\n\n# A\n\nsame words\n"
    first = cut(text)
    assert first[0].text == first[2].text
    assert len({chunk.key for chunk in first}) == 3
    assert all(chunk.key.startswith("chk_") and len(chunk.key) == 30 for chunk in first)
    assert [chunk.key for chunk in cut(text + "\n# C\n\nmore\n")][:3] == [chunk.key for chunk in first]
    other = list(chunks("b.md", read_markdown(text), Chunking()))
    assert not {chunk.key for chunk in other} & {chunk.key for chunk in first}


def test_a_small_remainder_joins_the_chunk_before_it() -> None:
    text = "# A\n\n" + "\n\n".join([SENTENCE * 8, SENTENCE * 8, "The end."])
    found = cut(text)
    assert found[-1].text.endswith("The end.")
    assert len(found[-1].text) > 200
