"""Blocks, regions, front matter, references and bounds of documents (knowledge query reference 2.3, 3.2, 4, 4.5)."""

from __future__ import annotations

import doctest
import gc
import importlib
import time
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.why_documents import names_of, read
from trivium.code.front_matter import read_front_matter
from trivium.why.documents import DocumentRules, is_document, read_document
from trivium.why.inline import cut_text, plain_text, scan_inline
from trivium.why.markdown import _parser, decode, parse_markdown
from trivium.why.model import DocumentRegion, sha256
from trivium.why.regions import SourceLines, line_count, region

MODULES = [
    *("regions", "inline", "markdown", "generated", "places", "supersession", "changelog"),
    *("documents", "plain_documents", "memory", "metadata", "html_text", "wording", "terms", "gnu_changes", "reasons"),
    *("change_places", "plain_tables", "records", "dates"),
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"trivium.why.{module}")).failed == 0


# --- lines and regions (3.2) ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"", 0),
        (b"a", 1),
        (b"a\n", 1),
        (b"a\nb", 2),
        (b"a\r\nb\r\n", 2),
        (b"a\rb\r", 2),
        (b"a\n\rb", 3),
        (b"\n", 1),
        (b"\xef\xbb\xbfa\n", 1),
        ("a\u2028b\x0bc\x85d\n".encode(), 1),
    ],
)
def test_each_line_end_ends_a_line_and_the_last_line_is_the_last_real_one(data: bytes, count: int) -> None:
    assert SourceLines(data).count == count


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("final", [True, False])
def test_regions_recompute_for_every_line_end_with_mark_and_without_final_end(
    end: str, mark: bytes, final: bool
) -> None:
    text = end.join(["# Größe 数", "", "Status: accepted", "", "Text"]) + (end if final else "")
    document = read("adr/0001-a.md", mark + text.encode())
    assert names_of(document) == ["Größe 数"]
    assert document.entities[0].status == "accepted"
    assert (document.entities[0].region.line_start, document.entities[0].region.line_end) == (1, 5)


def test_a_region_takes_exact_bytes_that_are_not_utf8() -> None:
    data = b"# A \xff\xfe\n\nDecision\xe2\n"
    document = read("adr/1.md", data)
    assert document.entities[0].region.region_hash == sha256(data)
    assert "�" in document.entities[0].name


def test_a_long_region_is_cut_at_the_last_line_that_fits() -> None:
    document = read("adr/1.md", "# A\n" + ("x" * 1023 + "\n") * 40)
    assert document.reasons == ["region-limit"]
    assert document.entities[0].region.line_end == 16
    first = read("adr/1.md", "x" * 20_000 + "\n# A\n")
    assert first.reasons == ["region-limit"]
    assert (first.entities[0].region.line_start, first.entities[0].region.line_end) == (1, 1)


UTF16 = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@pytest.mark.parametrize("encoding", UTF16)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("final", [True, False])
def test_utf16_with_its_mark_is_read_and_its_lines_are_those_of_the_text(encoding: str, end: str, final: bool) -> None:
    text = end.join(["# Größe \u0a0a\u0d0d\u010a 数", "", "Status: accepted", "", "Text"]) + (end if final else "")
    data = UTF16[encoding] + text.encode(encoding)
    document = read_document("adr/0001-a.md", data)
    (record,) = document.entities
    assert (record.name, record.status, document.reasons) == ("Größe \u0a0a\u0d0d\u010a 数", "accepted", [])
    assert record.region == DocumentRegion("adr/0001-a.md", 1, 5, sha256(data))
    assert document.content_hash == sha256(data[2:])
    second = region("a.md", data, 3, 3).region_hash
    assert second == sha256(f"Status: accepted{end}".encode(encoding))


CODINGS = {
    "UTF-8": lambda text: text.encode(),
    "UTF-8 with its mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 LE": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "UTF-16 BE": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "Latin-1": lambda text: text.encode("latin-1", "replace"),
}
UNMARKED = {
    "UTF-16 LE without a mark": lambda text: text.encode("utf-16-le"),
    "UTF-16 BE without a mark": lambda text: text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
}
NO_LINE_ENDS = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\u0a0a\u0d0d"


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("final", [True, False])
def test_every_count_of_lines_is_that_of_the_text(coding: str, end: str, final: bool) -> None:
    """What ends a line for Unicode only, as U+2028, is part of one."""
    lines = ["# A", "", NO_LINE_ENDS, "", "Status: accepted"]
    data = CODINGS[coding](end.join(lines) + (end if final else ""))
    assert parse_markdown(data).line_count == SourceLines(data).count == line_count(data) == 5
    for path in ("adr/1.md", "adr/1.txt"):
        (found,) = read_document(path, data).entities
        assert (found.status, found.region) == ("accepted", DocumentRegion(path, 1, 5, sha256(data)))


@pytest.mark.parametrize("coding", UNMARKED)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_counts_of_lines_agree_where_the_encoding_is_not_known(coding: str, end: str) -> None:
    data = UNMARKED[coding](end.join(["# A", "", NO_LINE_ENDS, "Text", ""]))
    assert parse_markdown(data).line_count == SourceLines(data).count == line_count(data)


NO_TEXT = {
    "Latin-1": ("# A\n\nGröße\n".encode("latin-1"), 3),
    "a cut character": (b"# A\r\n\xe2\x82\r\n", 2),
    "zero bytes": (b"# A\nx\n\0\n", 3),
    "UTF-16 without a mark": ("# A\n\nText\n".encode("utf-16-le"), 1),
    "UTF-16 with half a character": (b"\xff\xfe" + "# A\n".encode("utf-16-le") + b"x", 2),
    "UTF-32": ("# A\n".encode("utf-32"), 1),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_bytes_that_are_no_text_are_reported_with_their_line(name: str) -> None:
    data, line = NO_TEXT[name]
    for path in ("adr/1.md", "adr/1.rst"):
        document = read_document(path, data)
        assert document.reasons == ["encoding"]
        assert document.reason_lines == {"encoding": line}


@pytest.mark.parametrize("text", ["# A\n\nTe\ufffdxt\n", "\ufeff# A\n", ""])
def test_other_text_is_no_fault_of_encoding(text: str) -> None:
    assert read_document("adr/1.md", text.encode()).reasons == []


def test_utf16_that_is_cut_in_regions_is_cut_at_its_lines() -> None:
    data = b"\xff\xfe" + ("# A\n" + ("x" * 1023 + "\n") * 40).encode("utf-16-le")
    document = read_document("adr/1.md", data)
    assert document.reasons == ["region-limit"]
    assert document.entities[0].region.line_end == 8


@given(st.lists(st.sampled_from(["a", "", "é", "  b", "\u2028", "\x0c"]), max_size=8), st.data())
def test_any_lines_give_the_hash_of_their_bytes(texts: list[str], data: st.DataObject) -> None:
    lines = [text.encode() + data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"])) for text in texts]
    drawn, lines = lines, []
    for line in drawn:  # a lone \r before \n would be one end of a line
        if not (line == b"\n" and lines and lines[-1][-1:] == b"\r"):
            lines.append(line)
    whole = b"".join(lines)
    if not lines:
        return
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    assert region("a.md", whole, start, end).region_hash == sha256(b"".join(lines[start - 1 : end]))


# --- front matter (4) -----------------------------------------------------------------------------


def test_front_matter_keeps_scalars_as_written() -> None:
    front = read_front_matter("---\ndate: 2026-02-03\nnumber: 0012\nyes: on\nnone:\nlist: [a, 'b']\n---\nrest")
    assert front.values == {"date": "2026-02-03", "number": "0012", "yes": "on", "none": None, "list": ["a", "b"]}
    assert front.lines == 7


@pytest.mark.parametrize(
    "block",
    [
        "a: &x 1\nb: *x",
        "a: &x [1]",
        "a: [1",
        "a: b: c",
        "\tx: 1",
        "a: 1\na: 2",
        "a: !!python/object/apply:os.system [x]",
        "a: " + "[" * 40 + "]" * 40,
        "a: " + "x" * 10_000,
        "a: [" + "x," * 5_000 + "]",
        "x: " + "y\n  " * 40_000,
        "? [a]\n: b",
        "*.ts",
    ],
    ids=str,
)
def test_unreadable_or_dangerous_yaml_counts_as_none(block: str) -> None:
    document = read("adr/0001-x.md", f"---\n{block}\n---\n# Title\n\nText\n")
    assert "invalid-frontmatter" in document.reasons
    assert document.title == "Title"


@pytest.mark.parametrize(
    "text",
    [
        "---\nJust a sentence\n---\n",
        "----\na: 1\n---\n",
        "---\na: 1\n",
        "x\n---\na: 1\n---\n",
        "++++\na = 1\n+++\n",
        "+++\na = 1\n",
    ],
)
def test_what_is_no_front_matter(text: str) -> None:
    front = read_front_matter(text)
    assert (front.values, front.lines, front.invalid) == ({}, 0, False)


def test_front_matter_in_toml() -> None:
    front = read_front_matter(
        '+++\ntitle = "Use A"\ndate = 2026-02-03\nnumber = 12\nratio = 1.50\ndraft = false\n'
        'at = 2026-02-03T04:05:06Z\nlist = ["a", "b"]\n\n[extra]\nowner.name = "B"\n+++\nrest'
    )
    assert front.values == {
        "title": "Use A",
        "date": "2026-02-03",
        "number": "12",
        "ratio": "1.50",
        "draft": "false",
        "at": "2026-02-03T04:05:06+00:00",
        "list": ["a", "b"],
        "extra": {"owner": {"name": "B"}},
    }
    assert (front.lines, front.key_lines["date"], front.key_lines["extra"]) == (12, 3, 10)
    (found,) = read(
        "adr/1-a.md", '+++\ntitle = "Use A"\nstatus = "accepted"\ndate = 2026-02-03\n+++\n\nText\n'
    ).entities
    assert (found.name, found.status, found.date) == ("Use A", "accepted", "2026-02-03")


TOML = {
    "no TOML": "status: accepted",
    "a key twice": "a = 1\na = 2",
    "deep lists": "a = " + "[" * 20_000 + "]" * 20_000,
    "deep tables": "a = " + "{a = " * 10_000,
    "a list of lists": "a = " + "[" * 40 + "]" * 40,
    "a long value": "a = '" + "x" * 10_000 + "'",
    "many values": "a = [" + "1," * 5_000 + "]",
    "a long block": "a = 1\n" + "# x\n" * 20_000,
    "a long key": "a" + ".a" * 20_000 + " = 1",
    "a long table": "[a" + ".a" * 20_000 + "]",
    "a long key in a table": "x = {a" + ".a" * 20_000 + " = 1}",
}


@pytest.mark.parametrize("form", TOML)
def test_unreadable_or_dangerous_toml_counts_as_none(form: str) -> None:
    start = time.perf_counter()
    document = read("adr/0001-x.md", f"+++\n{TOML[form]}\n+++\n# Title\n\nText\n")
    assert time.perf_counter() - start < 2
    assert "invalid-frontmatter" in document.reasons
    assert document.title == "Title"


@pytest.mark.parametrize(
    "text", ["---\n---\n# A\n", "+++\n+++\n# A\n", "---\n# only a comment\n---\n# A\n", "---\nx: 1\n...\n# A\n"]
)
def test_empty_front_matter_is_taken_off(text: str) -> None:
    assert [heading.text for heading in parse_markdown(text.encode()).headings] == ["A"]


# --- references (2.3) -----------------------------------------------------------------------------


def references(text: str) -> list[tuple[str, str, int]]:
    found = read("docs/a.md", text).references
    assert not any(item.fenced for item in found if item.kind != "code")
    return [(item.kind, item.value, item.line) for item in found if not item.fenced]


def test_code_links_and_link_texts_have_their_lines() -> None:
    text = "# `a`\n\none `b.py`\ntwo [the `c`\nd](../x.md#y 'title')\n\n- item `e`\n  - nested `f`\n\n> quote `g`\n"
    text += "\n| `h` | x |\n| --- | --- |\n| y | [i](j.ts) |\n"
    assert references(text) == [
        ("code", "a", 1),
        ("code", "b.py", 3),
        ("link", "../x.md#y", 4),
        ("text", "the `c` d", 4),
        ("code", "c", 4),
        ("code", "e", 7),
        ("code", "f", 8),
        ("code", "g", 10),
        ("code", "h", 12),
        ("link", "j.ts", 14),
        ("text", "i", 14),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://example.org/x.md)",
        "[a](//host/x)",
        "[a](#part)",
        "[a](mailto:x@example.org)",
        "\\[a](x.md)",
        "\\`a`",
        "<!-- `a` -->",
        "x <!-- [a](b.md) --> y",
        "<a title='`b`'>",
    ],
)
def test_what_names_nothing_here(text: str) -> None:
    assert [kind for kind, _, _ in references(text) if kind != "text"] == []


def test_a_target_is_unescaped_and_reference_links_resolve() -> None:
    found = references(
        "[a](<b c.md>) [d](e%20f.md) [g](h\\_i.md) [j][k] [k] ![img](z.png) [x][undefined]\n\n[K]: l.md\n"
    )
    assert [value for kind, value, _ in found if kind == "link"] == ["b c.md", "e f.md", "h_i.md", "l.md", "l.md"]


def test_tokens_in_fences_are_recorded_apart() -> None:
    document = read("docs/a.md", "`a`\n\n```text\n`b` and [c](d.md)\n```\n")
    assert [(item.value, item.line, item.fenced) for item in document.references if item.kind == "code"] == [
        ("a", 1, False),
        ("b", 4, True),
    ]


@pytest.mark.parametrize("marker", ["trivium:generated", "doc-bridge:generated"])
def test_generated_text_is_ignored_and_an_unclosed_marker_owns_the_rest(marker: str) -> None:
    text = f"`a`\n\n<!-- {marker} hash=1 -->\n`b`\n<!-- /{marker} -->\n\n`c`\n\n<!-- {marker} -->\n\n`d`\n\n## E\n"
    document = read("docs/a.md", text)
    assert [item.value for item in document.references] == ["a", "c"]
    assert document.title is None


def test_a_marker_shown_in_a_fence_or_in_code_is_an_example() -> None:
    text = "```html\n<!-- trivium:generated -->\n```\n\nUse `<!-- trivium:generated -->` and `a`.\n"
    assert [item.value for item in read("docs/a.md", text).references if not item.fenced][-1] == "a"


def test_the_marker_is_configurable() -> None:
    rules = DocumentRules(markers=("mine",))
    text = "<!-- mine -->\n`a`\n<!-- /mine -->\n\n<!-- trivium:generated -->\n\n`b`\n"
    assert [item.value for item in read("docs/a.md", text, rules).references] == ["b"]


def test_a_record_that_holds_generated_text_is_not_emitted() -> None:
    document = read("adr/1.md", "# A\n\nText\n\n<!-- trivium:generated -->\nx\n<!-- /trivium:generated -->\n")
    assert document.entities == []
    assert document.reasons == ["generated-region"]


PIECES = ["`", "``", "`a`", "[", "]", "(", ")", "![", "](x.md)", "[a](b)", "\\", " ", "a", "\n", "*", "_", '"', "'"]


@given(st.lists(st.sampled_from(PIECES), max_size=16))
def test_the_scanner_agrees_with_markdown_it(pieces: list[str]) -> None:
    text = "".join(pieces).strip()
    expected = []
    for token in MarkdownIt("commonmark").parseInline(text)[0].children or []:
        if token.type == "code_inline":
            expected.append(("code", token.content))
        elif token.type == "link_open":
            expected.append(("link", unquote(str(token.attrs["href"]))))
    assert [(item.kind, item.value) for item in scan_inline(text, {}) if item.kind != "text"] == expected


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("**Use** the `a_b` *now*", "Use the a_b now"),
        ("a [link](x) and ![alt](y)", "a link and alt"),
        ("one\n  two", "one two"),
        ("&amp; \\* snake_case_name", "& * snake_case_name"),
        ("a <!-- hidden --> b <br> c", "a b c"),
    ],
)
def test_plain_text_is_what_a_reader_sees(raw: str, text: str) -> None:
    assert plain_text(raw) == text


CUTS = {
    ("abcdef", 4): "abcd",
    ("abc", 4): "abc",
    ("abc def", 4): "abc",
    ("abce\u0301f", 4): "abc",
    ("ab\U0001f469\u200d\U0001f4bb!", 4): "ab",
    ("abc\u2764\ufe0f", 4): "abc",
    ("abc\U0001f44d\U0001f3fd", 4): "abc",
    ("\u0301" * 6, 4): "\u0301" * 4,
}


@pytest.mark.parametrize(("text", "bound"), CUTS)
def test_a_text_is_cut_between_characters(text: str, bound: int) -> None:
    assert cut_text(text, bound) == CUTS[text, bound]


# --- titles, cover, which documents (2.1, 2.2) ----------------------------------------------------


def test_title_cover_and_hash_of_a_document() -> None:
    text = "---\ntitle: T\ndocbridge:\n  covers: [src/a.ts, pkg]\ntrivium.covers: src/b.py\n---\n# H\n"
    document = read("docs/a.md", b"\xef\xbb\xbf" + text.encode())
    assert (document.title, document.covers) == ("T", ["src/b.py", "src/a.ts", "pkg"])
    assert document.content_hash == sha256(text.encode())
    assert read("docs/a.md", "Title\n=====\n").title == "Title"
    assert read("docs/a.md", "text").title is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", True),
        ("docs/a.MDX", True),
        ("docs/a.rst", False),
        ("docs/adr/0001-a.rst", True),
        ("docs/adr/README.rst", False),
        ("adr-001.adoc", True),
        ("notes.txt", False),
        ("CHANGELOG.txt", True),
        ("CHANGELOG", True),
        ("pkg/NEWS.rst", True),
        ("LICENSE", False),
        ("history.py", False),
    ],
)
def test_which_documents_are_read(path: str, expected: bool) -> None:
    assert is_document(path, DocumentRules()) is expected


# --- bounds and hostile input (4.5, 17) -----------------------------------------------------------


def test_bounds_have_their_reason_codes() -> None:
    assert "node-limit" in read("docs/a.md", "a\n\n" * 9_000).reasons
    assert "heading-limit" in read("docs/a.md", "# a\n\n" * 129).reasons
    assert read("docs/a.md", "# a\n\n" * 128).reasons == []
    many = read("docs/a.md", "`a` " * 5_000)
    assert "reference-limit" in many.reasons
    assert len(many.references) == 4_096
    assert read("docs/a.md", b"x" * ((4 << 20) + 1)).reasons == ["document-limit"]


def test_what_follows_the_last_heading_read_states_nothing() -> None:
    text = "".join(f"## Term {n}\n\n- **Word {n}**: entry\n\n" for n in range(140))
    document = read("glossary.md", text)
    assert len(document.entities) == 2 * 128
    assert document.entities[-1].region.line_end == 128 * 4


SIZE = 1 << 18
HOSTILE = {
    "one line": b"a " * SIZE,
    "open brackets": b"[" * SIZE,
    "nested brackets": b"[" * 10_000 + b"]" * 10_000 + b"(x)",
    "nested quotes": b"> " * 10_000 + b"a\n",
    "nested lists": b"- " * 10_000 + b"a\n",
    "deep indent": b"".join(b"  " * depth + b"- a\n" for depth in range(1_000)),
    "open links": b"[](a " * (SIZE // 5),
    "backticks": b"` `` ``` " * (SIZE // 9),
    "tags": b'<a b="' * (SIZE // 6),
    "comments": b"<!-- " * (SIZE // 5),
    "references": b"[a]: b\n" * (SIZE // 7),
    "wide table": b"|a" * 100_000 + b"\n" + b"|-" * 100_000 + b"\n",
    "long table": b"|a|b|\n|-|-|\n" + b"|x|y|\n" * (SIZE // 6),
    "empty items": b"-\n" * (SIZE // 2),
    "emphasis": b"# " + b"*a_" * (SIZE // 3),
    "not UTF-8": b"\xff\xc3" * (SIZE // 2),
    "zero bytes": b"\0" * SIZE,
    "markers": b"<!-- trivium:generated -->\n" * (SIZE // 27),
    "line ends": b"\r" * SIZE,
}


@pytest.mark.parametrize("path", ["docs/adr/0001-a.md", "glossary.md", "CHANGELOG.md", "docs/adr/0001-a.rst"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_end_soon(name: str, path: str) -> None:
    started = time.process_time()
    read(path, HOSTILE[name])
    assert time.process_time() - started < 5


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    for path in ("docs/adr/0001-a.md", "glossary.md", "CHANGELOG.md", "adr/2.rst", "adr/2.adoc", "NEWS"):
        read(path, data)


BLOCKS = [
    "# A",
    "## 1.0",
    "Status: x",
    "- a `b`",
    "  - c",
    "**T**: u",
    "T",
    ": d",
    "> q",
    "```",
    "| a | b |",
    "|-|-|",
    "",
]


@given(st.lists(st.sampled_from([*BLOCKS, "<!-- trivium:generated -->", "Decision: x", "===", "a — b"]), max_size=20))
def test_any_blocks_give_regions_that_recompute(lines: list[str]) -> None:
    text = "\n".join(lines)
    for path in ("docs/adr/0001-a.md", "glossary.md", "CHANGELOG.md", "docs/a.md", "adr/2.rst", "NEWS"):
        read(path, text)


LINES = ["# h", "#h", "a", "- x", "  - y", "+", "1. z", "12) q", "> q", "```", "~~~", "***", "---", "===", "_ _ _", ""]
LINES += ["| a |", "|---|", ":-:", "[r]: /u", "[r]:", "<div>", "<!-- x", "-->", "    code", "\ttab", "  ", "\\# e", "é"]


@given(st.lists(st.tuples(st.sampled_from(["", " ", "    ", "> ", "- ", "1. "]), st.sampled_from(LINES)), max_size=12))
def test_a_rule_that_is_not_asked_would_have_said_no(lines: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{before}{line}" for before, line in lines)
    ours: list[Token] = []
    plain: list[Token] = []
    asked, all_asked = _parser(), MarkdownIt("commonmark").enable("table")
    asked.block.parse(text, asked, {}, ours)
    all_asked.block.parse(text, all_asked, {}, plain)
    assert [token.as_dict() for token in ours] == [token.as_dict() for token in plain]


def test_what_is_read_of_a_document_is_gone_with_it() -> None:
    """Not only when the garbage collector comes, which is seldom while an index is built."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(50):
            parse_markdown(b"# A\n\n- `a`\n\n| a |\n|---|\n| b |\n\n> q\n\n## B")
        assert gc.collect() < 50
    finally:
        gc.enable()


def test_decode_drops_the_mark_and_unites_line_ends() -> None:
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\0") == "a\nb\nc\ufffd"
