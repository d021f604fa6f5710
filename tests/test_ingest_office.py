"""Word, PowerPoint and Excel files: what a reader of the document sees is read; what is not is told or left out."""

from __future__ import annotations

import io
import re
import time
import zipfile
from datetime import date, datetime
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pptx
import pytest

from tests import ingest_files as files
from tests.encrypted_files import encrypted_office
from trivium.ingest.manifest import Knobs
from trivium.ingest.parse import parse
from trivium.ingest.parsed import Parsed, Unreadable
from trivium.ingest.reading_apart import Reader

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def word(body: str, **notes: str) -> bytes:
    """A Word file with this body, and with `footnotes` and `endnotes` if given."""
    parts = members(files.docx())
    document = parts["word/document.xml"].decode()
    start, stop = document.index("<w:body>") + 8, document.index("</w:body>")
    parts["word/document.xml"] = (document[:start] + body + document[stop:]).encode()
    for kind, content in notes.items():
        parts[f"word/{kind}.xml"] = f"<w:{kind} {_MAIN}>{content}</w:{kind}>".encode()
        relation = f'<Relationship Id="r{kind}" Type="{_RELATIONS}/{kind}" Target="{kind}.xml"/></Relationships>'
        name = "word/_rels/document.xml.rels"
        parts[name] = parts[name].replace(b"</Relationships>", relation.encode())
        content_type = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml"
        override = f'<Override PartName="/word/{kind}.xml" ContentType="{content_type}"/></Types>'
        parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", override.encode())
    return files.zipped(parts)


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space='preserve'>{text}</w:t></w:r></w:p>"


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


RESTART = '<w:vMerge w:val="restart"/>'


def lines(parsed: Parsed) -> list[str]:
    return [line for line in parsed.text.splitlines() if line]


# --- Word -----------------------------------------------------------------------------------------


def test_content_controls_are_read_and_placeholders_are_not() -> None:
    def control(content: str, properties: str = "") -> str:
        return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    contents = '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'
    name = control("<w:r><w:t>Acme</w:t></w:r>")
    body = (
        control(p("In a block.") + control(p("In two.")))
        + f"<w:p><w:r><w:t xml:space='preserve'>Name: </w:t></w:r>{name}<w:r><w:t>!</w:t></w:r></w:p>"
        + control(p("Click here"), "<w:showingPlcHdr/>")
        + control(p("Shown"), '<w:showingPlcHdr w:val="0"/>')
        + control(p("Fees 4"), contents)
        + "<w:tbl>"
        + control("<w:tr>" + cell(p("A")) + control(cell(p("B"))) + "</w:tr>")
        + "</w:tbl>"
    )
    assert lines(parse("a.docx", word(body))) == ["In a block.", "In two.", "Name: Acme!", "Shown", "A | B"]


def test_notes_follow_what_refers_to_them() -> None:
    def refer(kind: str, number: int) -> str:
        return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'

    first = f"<w:p><w:r><w:t>Net 30</w:t></w:r>{refer('footnote', 7)}{refer('endnote', 2)}{refer('footnote', 99)}</w:p>"
    table = "<w:tbl><w:tr>" + cell("<w:p>" + refer("footnote", 8) + "</w:p>") + cell(p("x")) + "</w:tr></w:tbl>"
    data = word(
        first + p("Next.") + table + f"<w:p><w:r><w:t>Again</w:t></w:r>{refer('footnote', 7)}</w:p>",
        footnotes=f'<w:footnote w:id="7">{p(" From receipt.")}{p("Not posting.")}</w:footnote>'
        f'<w:footnote w:id="8">{p("Per day.")}</w:footnote>',
        endnotes=f'<w:endnote w:id="2">{p("Since 2020.")}</w:endnote>',
    )
    assert lines(parse("a.docx", data)) == [
        "Net 30[1][note 1]",
        "[1] From receipt.",
        "Not posting.",
        "[note 1] Since 2020.",
        "Next.",
        "[2] | x",
        "[2] Per day.",
        "Again[1]",
    ]


def test_text_boxes_are_read_once_and_insertions_but_not_deletions() -> None:
    box = f"<w:txbxContent>{p('In a box')}</w:txbxContent>"
    drawn = (
        f"<mc:AlternateContent {_MC}><mc:Choice Requires='wps'><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    changed = (
        "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
        "<w:hyperlink><w:r><w:t> link</w:t></w:r></w:hyperlink>"
    )
    body = f"<w:p><w:r><w:t>Anchor </w:t></w:r><w:r>{drawn}</w:r>{changed}</w:p>"
    assert lines(parse("a.docx", word(body))) == ["Anchor new link", "In a box"]


def test_merged_cells_are_repeated_and_nested_tables_are_read() -> None:
    nested = f"<w:tbl><w:tr>{cell(p('n1'))}{cell(p('n2'))}</w:tr></w:tbl>"
    wide = '<w:gridSpan w:val="2"/>'
    body = (
        "<w:tbl>"
        f"<w:tr>{cell(p('North'), RESTART)}{cell(p('a'))}{cell(p('b'))}</w:tr>"
        f"<w:tr>{cell(p(''), '<w:vMerge/>')}{cell(p('c') + nested, wide)}</w:tr>"
        f"<w:tr><w:trPr><w:del/></w:trPr>{cell(p('gone'))}</w:tr></w:tbl>"
    )
    assert lines(parse("a.docx", word(body))) == ["North | a | b", "North | c n1 | n2"]


def test_a_table_with_a_thousand_merged_rows_is_read() -> None:
    first = f"<w:tr>{cell(p('North'), RESTART)}{cell(p('x'))}</w:tr>"
    more = f"<w:tr>{cell(p(''), '<w:vMerge/>')}{cell(p('x'))}</w:tr>" * 1_999
    assert lines(parse("a.docx", word(f"<w:tbl>{first}{more}</w:tbl>"))) == ["North | x"] * 2_000


def test_headings_are_known_by_style_by_outline_level_and_by_what_a_style_is_based_on() -> None:
    parts = members(
        word(
            p("One", '<w:pStyle w:val="Heading1"/>')
            + p("Two", '<w:pStyle w:val="Own"/>')
            + p("Three", '<w:outlineLvl w:val="2"/>')
            + p("Text", '<w:outlineLvl w:val="9"/>')
        )
    )
    own = '<w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="Base"/></w:style>'
    base = '<w:style w:styleId="Base"><w:name w:val="B"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    parts["word/styles.xml"] = parts["word/styles.xml"].replace(b"</w:styles>", f"{own}{base}</w:styles>".encode())
    parsed = parse("a.docx", files.zipped(parts))
    assert [(item.level, item.title) for item in parsed.headings] == [(1, "One"), (2, "Two"), (3, "Three")]


def test_a_word_file_with_macros_is_read() -> None:
    parts = members(files.docx())
    plain = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    macros = b"application/vnd.ms-word.document.macroEnabled.main+xml"
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(plain, macros)
    assert "900 a month" in parse("a.docm", files.zipped(parts)).text


# --- PowerPoint -----------------------------------------------------------------------------------


def saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_slides_give_grouped_shapes_tables_line_breaks_and_notes() -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Plan"
    frame = slide.shapes.add_textbox(0, 0, 1, 1).text_frame
    frame.text = "one"
    frame.paragraphs[0].add_line_break()
    frame.paragraphs[0].add_run().text = "two"
    outer = slide.shapes.add_group_shape()
    outer.shapes.add_group_shape().shapes.add_textbox(0, 0, 1, 1).text_frame.text = "grouped"
    table = slide.shapes.add_table(2, 2, 0, 0, 100, 100).table
    for row, column, text in ((0, 0, "North"), (0, 1, "a"), (1, 1, "b")):
        table.cell(row, column).text = text
    table.cell(0, 0).merge(table.cell(1, 0))
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    parsed = parse("a.pptx", saved(show))
    assert lines(parsed) == ["Plan", "one", "two", "grouped", "North | a", "North | b", "Notes: Say it slowly."]


def test_shapes_of_newer_programs_are_read_once_and_slide_numbers_are_not() -> None:
    parts = members(files.pptx())
    name = "ppt/slides/slide1.xml"
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="90" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p>'
        '<a:r><a:t>Inside </a:t></a:r><a:fld id="{1}" type="slidenum"><a:t>7</a:t></a:fld>'
        '<a:fld id="{2}" type="custom"><a:t>field</a:t></a:fld></a:p></p:txBody></p:sp>'
    )
    both = (
        f"<mc:AlternateContent {_MC}><mc:Choice Requires='a14'>{shape}</mc:Choice>"
        f"<mc:Fallback>{shape}</mc:Fallback></mc:AlternateContent></p:spTree>"
    )
    parts[name] = parts[name].replace(b"</p:spTree>", both.encode())
    assert lines(parse("a.pptx", files.zipped(parts)))[:3] == ["Roadmap", "Sonar ships in May.", "Inside field"]


# --- Excel ----------------------------------------------------------------------------------------


def sheet(rows: str, before: str = "", after: str = "") -> bytes:
    """A workbook whose first sheet has these rows."""
    parts = members(files.xlsx())
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    content = f'<worksheet xmlns="{space}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'
    return files.zipped(parts | {"xl/worksheets/sheet1.xml": content.encode()})


def test_sheets_give_dates_as_dates_and_repeat_merged_cells() -> None:
    book = openpyxl.Workbook()
    first = book.active
    first.title = "Sales"
    for row in (
        ["Region", None, "Sales", None],
        [None, None, "Q1", "Since"],
        ["North", None, 1.5, date(2026, 3, 4)],
        [None, None, 2, datetime(2026, 3, 4, 10, 30)],
    ):
        first.append(row)
    for area in ("A1:A2", "C1:D1", "A3:A4"):
        first.merge_cells(area)
    book.create_sheet("Notes")["B2"] = "see above"
    parsed = parse("a.xlsx", saved(book))
    assert lines(parsed) == [
        "Sales",
        "Region |  | Sales",
        "Region |  | Q1 | Since",
        "North |  | 1.5 | 2026-03-04",
        "North |  | 2 | 2026-03-04 10:30:00",
        "Notes",
        " | see above",
    ]
    assert [number for _, number in parsed.pages] == [1, 2]


def test_formulas_give_their_stored_results_and_those_without_are_told() -> None:
    data = sheet(
        '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f>A1*3</f></c>'
        '<c r="C1" t="str"><f>x</f><v>six</v></c></row>'
    )
    parsed = parse("a.xlsx", data)
    assert lines(parsed) == ["Prices", "2 |  | six"]
    assert parsed.notes == ["formulas without a stored result: 1; a spreadsheet program saves it with the file"]


@pytest.mark.parametrize("size", ["A1", "A1:XFD1048576"])
def test_a_wrong_size_of_a_sheet_loses_nothing_and_costs_nothing(size: str) -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="B{n}"><v>{n}</v></c></row>' for n in range(1, 50))
    parsed = parse("a.xlsx", sheet(rows, f'<dimension ref="{size}"/>'))
    assert lines(parsed)[1:] == [f"1 | {n}" for n in range(1, 50)]


def test_cells_that_lie_far_apart_are_read_in_bounded_space() -> None:
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>77</v></c></row>'
    assert lines(parse("a.xlsx", sheet(far)))[2].endswith("77")
    wide = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 20_000))
    began = time.process_time()
    assert len(parse("a.xlsx", sheet(wide)).text) < 3_000_000
    merged = "".join(f'<mergeCell ref="{column}1:{column}20000"/>' for column in ("A", "B", "C"))
    rows = "".join(f'<row r="{n}"><c r="D{n}"><v>{n}</v></c></row>' for n in range(2, 1_000))
    top = '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c><c r="C1"><v>3</v></c></row>'
    found = lines(parse("a.xlsx", sheet(top + rows, after=f"<mergeCells>{merged}</mergeCells>")))
    assert found[-1] == "1 | 2 | 3 | 999"
    assert time.process_time() - began < 20


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
def test_an_encrypted_office_file_says_so(name: str) -> None:
    with pytest.raises(Unreadable, match="encrypted; save it without its password"):
        parse(name, encrypted_office(files.docx()))


def test_the_strict_variant_is_told_by_its_name() -> None:
    parts = members(files.docx())
    parts["_rels/.rels"] = parts["_rels/.rels"].replace(
        b"http://schemas.openxmlformats.org/officeDocument/2006", b"http://purl.oclc.org/ooxml/officeDocument"
    )
    with pytest.raises(Unreadable, match="strict variant"):
        parse("a.docx", files.zipped(parts))


def test_hostile_office_files_cost_bounded_time() -> None:
    reader = Reader(seconds=4.0)
    rows = f"<w:tr>{cell(p('x')) * 10}</w:tr>"
    hostile = {
        "deep.docx": word("<w:tbl><w:tr><w:tc>" * 300 + p("x") + "</w:tc></w:tr></w:tbl>" * 300),
        "wide.docx": word("<w:tbl><w:tr>" + cell(p("x"), '<w:gridSpan w:val="999999999"/>') + "</w:tr></w:tbl>"),
        "long.docx": word(f"<w:tbl>{rows * 100_000}</w:tbl>"),
    }
    try:
        problems = {name: reader.read(name, "", data, Knobs()).problem for name, data in hostile.items()}
    finally:
        reader.close()
    assert problems["deep.docx"] == "its elements are nested too deep"
    assert problems["wide.docx"] is None
    assert problems["long.docx"] is None or re.search("seconds to read|memory", problems["long.docx"])
