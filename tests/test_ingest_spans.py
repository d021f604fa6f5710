"""Tables of pages with cells over several columns or rows, and numbers above and below the line."""

from __future__ import annotations

import io

import pytest

import trivium


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
