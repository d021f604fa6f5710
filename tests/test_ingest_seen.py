"""Pages and messages as people see them: spans, raised numbers, closed elements, encodings, parts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import trivium
from trivium.errors import NotFoundError


def text_of(name: str, data: bytes) -> str:
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("pages")
        context.add_bytes(name, data)
        context.curate()
        return str(context.read_document(name)["text"])


def page(body: str) -> str:
    return text_of("page.html", f"<html><body>{body}</body></html>".encode())


def row(*cells: str) -> str:
    return f"<tr>{''.join(cells)}</tr>"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            row("<th>City<th>Year<th>Guests")
            + row("<td rowspan=2>Graz</td><td>2023</td><td>40</td>")
            + row("<td>2024</td><td>55</td>"),
            ["City | Year | Guests", "Graz | 2023 | 40", "Graz | 2024 | 55"],
        ),
        (
            row("<th>Room", "<th colspan='2'>Price") + row("<td>Elm</td><td>40</td><td>70</td>"),
            ["Room | Price | Price", "Elm | 40 | 70"],
        ),
        (
            row("<td>a</td>", "<td rowspan=2 colspan=2>b</td>", "<td>c</td>")
            + row("<td>d</td>", "<td>e</td>")
            + row("<td>f</td><td>g</td><td>h</td><td>i</td>"),
            ["a | b | b | c", "d | b | b | e", "f | g | h | i"],
        ),
        (
            row("<td>a</td>", "<td rowspan=3>b</td>") + row("<td>c</td>") + row("<td>d</td>"),
            ["a | b", "c | b", "d | b"],
        ),
        (
            row("<td colspan=0>a</td>", "<td colspan=x rowspan=-1>b</td>") + row("<td>c</td><td>d</td>"),
            ["a | b", "c | d"],
        ),
    ],
)
def test_a_cell_over_several_columns_or_rows_stands_in_each(rows: str, expected: list[str]) -> None:
    assert page(f"<table>{rows}</table>").split("\n")[: len(expected)] == expected


def test_a_span_without_bounds_is_bounded() -> None:
    text = page("<table><tr><td colspan=99999999 rowspan=99999999>a</td></tr><tr><td>b</td></tr></table>")
    assert len(text) < 2_000


def test_a_table_in_a_cell_does_not_disturb_the_spans() -> None:
    inner = "<table><tr><td rowspan=2>x</td></tr></table>"
    text = page(f"<table><tr><td rowspan=2>{inner}</td><td>1</td></tr><tr><td>2</td></tr></table>")
    assert [line.strip(" |") for line in text.split("\n") if line.strip(" |")] == ["x", "1", "2"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>About 10<sup>6</sup> cells in H<sub>2</sub>O.</p>", "About 10⁶ cells in H₂O."),
        ("<p>An area of 40 m<sup>2</sup>, 10<sup>-3</sup> less.</p>", "An area of 40 m², 10⁻³ less."),
        ("<p>The 25<sup>th</sup> of May, x<sub>max</sub>.</p>", "The 25th of May, xmax."),
    ],
)
def test_numbers_above_and_below_the_line_keep_their_place(body: str, expected: str) -> None:
    assert page(body).strip() == expected


def test_numbers_above_the_line_in_word() -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    paragraph = document.add_paragraph("A dose of 10")
    paragraph.add_run("-6").font.superscript = True
    paragraph.add_run(" mol of CO")
    paragraph.add_run("2").font.subscript = True
    file = io.BytesIO()
    document.save(file)
    assert text_of("dose.docx", file.getvalue()).strip() == "A dose of 10⁻⁶ mol of CO₂"


# --- what was lost --------------------------------------------------------------------------------


XHTML = """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head>
<body><h1>Chapter 1</h1><a id="x"/><p>The fee is five.</p></body></html>"""


@pytest.mark.parametrize(
    "head", ['<title>Ch 1</title><script type="text/javascript" src="a.js"/>', "<title/>", "<style />"]
)
def test_what_xhtml_closes_at_once_does_not_swallow_the_page(head: str) -> None:
    assert text_of("page.xhtml", XHTML.format(head=head).encode()).strip() == "Chapter 1\n\nThe fee is five."


def test_what_a_page_marks_as_deleted_is_left_out() -> None:
    assert page("<p>The fee is <del>$500</del><ins>$400</ins>.</p>").strip() == "The fee is $400."


@pytest.mark.parametrize(
    ("charset", "data", "expected"),
    [
        ("iso-8859-1", b"It\x92s \x80 50 \x96 \x93ok\x94, caf\xe9", "It’s € 50 – “ok”, café"),
        ("iso-8859-9", b"\x93\xdeahin\x94", "“Şahin”"),
        ("us-ascii", b"It\x92s", "It’s"),
    ],
)
def test_an_encoding_means_what_browsers_take_it_for(charset: str, data: bytes, expected: str) -> None:
    html = b"<html><head><meta charset=" + charset.encode() + b"></head><body><p>" + data + b"</p></body></html>"
    assert text_of("page.html", html).strip() == expected


PLAIN = b"Content-Type: text/plain; charset=utf-8\n\n____\nUsers mailing list\n"
HTML = b"Content-Type: text/html; charset=utf-8\n\n<p>Our offer is EUR 9,400.</p>\n"


def mail(kind: bytes, *parts: bytes) -> str:
    head = (
        b"From: a@b.example\nSubject: Offer\nMIME-Version: 1.0\nContent-Type: multipart/" + kind + b"; boundary=X\n\n"
    )
    return text_of("offer.eml", head + b"".join(b"--X\n" + part for part in parts) + b"--X--\n")


@pytest.mark.parametrize("kind", [b"mixed", b"related"])
def test_a_footer_in_plain_text_does_not_hide_the_message(kind: bytes) -> None:
    text = mail(kind, HTML, PLAIN)
    assert "Our offer is EUR 9,400." in text
    assert text.index("9,400") < text.index("Users mailing list")


def test_of_alternatives_the_plain_one_is_taken_unless_it_says_nothing() -> None:
    assert "9,400" not in mail(b"alternative", PLAIN, HTML)
    assert "9,400" in mail(b"alternative", b"Content-Type: text/plain\n\n \n", HTML)


def test_a_forwarded_message_says_whose_words_it_is() -> None:
    inner = b"Content-Type: message/rfc822\n\nFrom: cfo@z.example\nSubject: Budget\n\nWe cut it by half.\n"
    text = mail(b"mixed", b"Content-Type: text/plain\n\nsee below\n", inner)
    assert text.index("see below") < text.index("From: cfo@z.example") < text.index("We cut it by half.")


def test_an_empty_path_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.md").write_text("other")
    monkeypatch.chdir(tmp_path)
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("pages")
        context.add_bytes("kept.md", b"kept")
        for sync in (False, True):
            with pytest.raises(NotFoundError, match="empty path"):
                context.add("", sync=sync)
        assert [source["path"] for source in context.sources()] == ["kept.md"]
