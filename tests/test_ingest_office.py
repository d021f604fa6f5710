"""Word, PowerPoint and Excel files: what a reader of the document sees is read; what is not is told or left out."""

from __future__ import annotations

import io
import re
import time
import zipfile
from datetime import date, datetime, timedelta
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pptx
import pytest

from tests import ingest_files as files
from tests.encrypted_files import encrypted_office
from trivium.ingest.manifest import Knobs
from trivium.ingest.parse import parse
from trivium.ingest.parsed import Parsed, Unreadable
from trivium.ingest.read_xlsx import read_xlsx
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


def numbered(text: str, list_: int, depth: int = 0, properties: str = "") -> str:
    number = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_}"/></w:numPr>'
    return p(text, properties + number)


def lists(definitions: str, body: str, styles: str = "") -> bytes:
    """A Word file with these lists and styles besides those of an empty one."""
    parts = members(word(body))
    parts["word/numbering.xml"] = f"<w:numbering {_MAIN}>{definitions}</w:numbering>".encode()
    parts["word/styles.xml"] = parts["word/styles.xml"].replace(b"</w:styles>", f"{styles}</w:styles>".encode())
    return files.zipped(parts)


def level(depth: int, form: str, text: str, more: str = "") -> str:
    shown = f'<w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{depth}">{more}<w:start w:val="1"/>{shown}</w:lvl>'


CLAUSES = (
    '<w:abstractNum w:abstractNumId="7">'
    + level(0, "decimal", "%1.")
    + level(1, "decimal", "%1.%2")
    + level(2, "lowerLetter", "(%3)")
    + level(3, "upperRoman", "%4)")
    + '</w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num>'
)


def test_numbers_of_clauses_stand_before_them_as_a_reader_sees_them() -> None:
    heading = '<w:pStyle w:val="Heading1"/>'
    body = (
        numbered("Parties", 3, 0, heading)
        + numbered("Acme sells.", 3, 1)
        + numbered("Fees", 3, 0, heading)
        + numbered("Invoices are due in 30 days.", 3, 1)
        + p("That is a month.")
        + numbered("Late payments bear interest", 3, 1)
        + numbered("of 1% a month,", 3, 2)
        + numbered("at most 8%,", 3, 2)
        + numbered("before tax", 3, 3)
        + numbered("Taxes are extra.", 3, 1)
        + numbered("for all states", 3, 2)
    )
    parsed = parse("a.docx", lists(CLAUSES, body))
    assert lines(parsed) == [
        "1. Parties",
        "1.1 Acme sells.",
        "2. Fees",
        "2.1 Invoices are due in 30 days.",
        "That is a month.",
        "2.2 Late payments bear interest",
        "(a) of 1% a month,",
        "(b) at most 8%,",
        "I) before tax",
        "2.3 Taxes are extra.",
        "(a) for all states",
    ]
    assert [heading.title for heading in parsed.headings] == ["1. Parties", "2. Fees"]


def test_lists_count_on_or_begin_anew_as_they_say() -> None:
    restarting = (
        '<w:num w:numId="4"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="5"><w:abstractNumId w:val="7"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num>'
        '<w:abstractNum w:abstractNumId="8">'
        + level(0, "decimal", "%1")
        + level(1, "decimal", "%1/%2", '<w:lvlRestart w:val="0"/>')
        + '</w:abstractNum><w:num w:numId="6"><w:abstractNumId w:val="8"/></w:num>'
    )
    body = "".join(
        numbered("x", *place) for place in ((3,), (4,), (5,), (5,), (3,), (6,), (6, 1), (6, 1), (6,), (6, 1), (3, 2))
    )
    found = lines(parse("a.docx", lists(CLAUSES + restarting, body)))
    marks = ["1.", "2.", "9.", "10.", "11.", "1", "1/1", "1/2", "2", "2/3", "(a)"]
    assert found == [f"{mark} x" for mark in marks]


def test_numbers_come_by_styles_and_what_these_are_based_on() -> None:
    definitions = (
        '<w:abstractNum w:abstractNumId="1">'
        + level(0, "upperRoman", "Article %1", '<w:pStyle w:val="Article"/>')
        + level(1, "decimal", "%1.%2", '<w:pStyle w:val="Clause"/><w:isLgl/>')
        + '</w:abstractNum><w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="Linked"/></w:abstractNum>'
        + '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
        + '<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>'
    )
    plain = '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    styles = (
        f'<w:style w:styleId="Article"><w:name w:val="Article"/><w:basedOn w:val="Heading1"/>{plain}</w:style>'
        f'<w:style w:styleId="Clause"><w:name w:val="Clause"/>{plain}</w:style>'
        '<w:style w:styleId="Small"><w:name w:val="Small"/><w:basedOn w:val="Clause"/></w:style>'
        f'<w:style w:styleId="Linked" w:type="numbering"><w:name w:val="Linked"/>{plain}</w:style>'
    )
    body = (
        p("Scope", '<w:pStyle w:val="Article"/>')
        + p("All goods.", '<w:pStyle w:val="Clause"/>')
        + p("All services.", '<w:pStyle w:val="Small"/>')
        + p("Without a number.", '<w:pStyle w:val="Clause"/><w:numPr><w:numId w:val="0"/></w:numPr>')
        + numbered("Price", 2)
    )
    parsed = parse("a.docx", lists(definitions, body, styles))
    assert lines(parsed) == [
        "Article I Scope",
        "1.1 All goods.",
        "1.2 All services.",
        "Without a number.",
        "Article II Price",
    ]
    assert [heading.title for heading in parsed.headings] == ["Article I Scope"]


def test_bullets_stay_bullets_and_numbers_stand_in_cells_too() -> None:
    bullets = (
        '<w:abstractNum w:abstractNumId="1">'
        + level(0, "bullet", "\uf0b7")
        + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    )
    row = f"<w:tr>{cell(numbered('', 3))}{cell(p('rope'))}</w:tr>"
    gone = "<w:p><w:pPr><w:numPr><w:numId w:val='3'/></w:numPr><w:rPr><w:del/></w:rPr></w:pPr></w:p>"
    empty = numbered("", 3)
    body = numbered("a point", 1) + numbered("of no list", 99) + f"<w:tbl>{row}{row}</w:tbl>" + gone + empty
    assert lines(parse("a.docx", lists(CLAUSES + bullets, body + numbered("end", 3)))) == [
        "- a point",
        "- of no list",
        "1. | rope",
        "2. | rope",
        "4. end",
    ]


def test_the_lists_of_a_saved_file_are_numbered() -> None:
    import docx as library

    document = library.Document()
    for style, text in (("List Number", "first"), ("List Number", "second"), ("List Bullet", "point")):
        document.add_paragraph(text, style=style)
    assert lines(parse("a.docx", saved(document))) == ["1. first", "2. second", "- point"]


def test_comments_follow_what_they_are_on_with_their_author() -> None:
    import docx as library

    document = library.Document()
    run = document.add_paragraph("Fees are due in ").add_run("30 days")
    document.add_comment(run, text="Should this be 45?", author="Ada Lovelace", initials="AL")
    document.add_comment(run, text="", author="Nobody")
    document.add_paragraph("Next.")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "rope", "12.50"
    priced = document.add_comment(table.cell(0, 1).paragraphs[0].runs[0], text="Net?", author="", initials="")
    priced.add_paragraph("Ask sales.")
    assert lines(parse("a.docx", saved(document))) == [
        "Fees are due in 30 days",
        "[Comment by Ada Lovelace] Should this be 45?",
        "Next.",
        "rope | 12.50",
        "[Comment] Net?",
        "Ask sales.",
    ]


def field(told: str, shown: str) -> str:
    signs = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")]
    told = f"<w:r><w:instrText> {told} </w:instrText></w:r>"
    return f"{signs[0]}{told}{signs[1]}<w:r><w:t>{shown}</w:t></w:r>{signs[2]}"


def test_headers_and_footers_are_read_once_and_only_those_that_are_shown() -> None:
    import docx as library

    document = library.Document()
    document.add_heading("Lease", 1)
    document.add_paragraph("The rent is 900.")
    first = document.sections[0]
    first.header.paragraphs[0].text = "Acme Ltd\tContract 4711"
    first.first_page_header.paragraphs[0].text = "never shown"
    first.different_first_page_header_footer = False
    first.even_page_header.paragraphs[0].text = "never shown either"
    first.footer.paragraphs[0].text = "Confidential"
    second = document.add_section()
    second.header.is_linked_to_previous = False
    second.header.paragraphs[0].text = "Acme Ltd\tContract 4711"
    second.footer.is_linked_to_previous = False
    second.footer.paragraphs[0].text = "Schedule A"
    parsed = parse("a.docx", saved(document))
    assert lines(parsed) == [
        "Header: Acme Ltd | Contract 4711",
        "Lease",
        "The rent is 900.",
        "Footer: Confidential",
        "Footer: Schedule A",
    ]
    assert [block.sections for block in parsed.blocks] == [(), ("Lease",), ("Lease",), (), ()]
    assert parsed.title == "Lease"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"<w:r><w:t>Page </w:t></w:r>{field('PAGE', '1')}<w:r><w:t> of </w:t></w:r>{field('NUMPAGES', '7')}", []),
        (f"<w:r><w:t>Acme - </w:t></w:r>{field('page', '1')}", ["Footer: Acme"]),
        ("<w:r><w:t>- </w:t></w:r><w:fldSimple w:instr='PAGE'><w:r><w:t>1</w:t></w:r></w:fldSimple>", []),
        (f"<w:r><w:t>Acme</w:t><w:tab/></w:r>{field('PAGE', '1')}", ["Footer: Acme"]),
        (f"<w:r><w:t>Version of </w:t></w:r>{field('DATE', '2026-03-01')}", ["Footer: Version of 2026-03-01"]),
        ("<w:r><w:t>Page 12 of the atlas</w:t></w:r>", ["Footer: Page 12 of the atlas"]),
    ],
)
def test_numbers_of_pages_are_no_text_of_a_footer(content: str, expected: list[str]) -> None:
    import docx as library

    document = library.Document()
    document.add_paragraph("Words.")
    document.sections[0].footer.paragraphs[0].text = "here"
    parts = members(saved(document))
    [name] = [name for name, data in parts.items() if b"here" in data]
    start, stop = parts[name].index(b"<w:r>"), parts[name].index(b"</w:r>") + 6
    parts[name] = parts[name][:start] + content.encode() + parts[name][stop:]
    assert lines(parse("a.docx", files.zipped(parts))) == ["Words.", *expected]


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


# --- charts ---------------------------------------------------------------------------------------


def test_charts_of_slides_give_their_titles_names_and_numbers() -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("North", (19.2, 0.1 + 0.2))
    data.add_series("South", (7, None))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 1, 1, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Ropes sold"
    chart.value_axis.has_title = True
    chart.value_axis.axis_title.text_frame.text = "tonnes"
    found = lines(parse("a.pptx", saved(show)))
    assert found == ["Sales", "Chart: Ropes sold (tonnes)", " | North | South", "Q1 | 19.2 | 7", "Q2 | 0.3"]


def test_charts_of_visible_sheets_give_their_titles_and_names() -> None:
    from openpyxl.chart import BarChart, Reference  # type: ignore[import-untyped]

    book = openpyxl.Workbook()
    for name in ("Sales", "Secret"):
        sheet = book.active if name == "Sales" else book.create_sheet(name)
        sheet.title = name
        sheet.append(["Quarter", "North"])
        sheet.append(["Q1", 3])
        chart = BarChart()
        chart.title = f"{name} of ropes"
        chart.y_axis.title = "tonnes"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=2), titles_from_data=True)
        sheet.add_chart(chart, "D2")
    book["Secret"].sheet_state = "hidden"
    found = lines(parse("a.xlsx", saved(book)))
    assert found == ["Sales", "Quarter | North", "Q1 | 3", "Chart: Sales of ropes (tonnes)"]
    for name in ("xl/charts/chart1.xml", "xl/drawings/_rels/drawing1.xml.rels"):
        parsed = parse("a.xlsx", files.zipped(members(saved(book)) | {name: b"<broken"}))
        assert lines(parsed) == ["Sales", "Quarter | North", "Q1 | 3"]
        assert "could not be read" in parsed.notes[0]


def test_a_chart_of_a_word_file_follows_its_paragraph() -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    show = pptx.Presentation()
    data = CategoryChartData()
    data.categories = ["Q1"]
    data.add_series("North", (19.2,))
    slide = show.slides.add_slide(show.slide_layouts[6])
    chart = slide.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 1, 1, data).chart.part.blob
    space = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    drawn = f'<w:r><w:drawing><c:chart {space} xmlns:r="{_RELATIONS}" r:id="rchart"/></w:drawing></w:r>'
    parts = members(
        word(f"<w:p><w:r><w:t>See below.</w:t></w:r>{drawn}{drawn.replace('rchart', 'rnone')}</w:p>{p('End.')}")
    )
    parts["word/charts/chart1.xml"] = chart
    relation = f'<Relationship Id="rchart" Type="{_RELATIONS}/chart" Target="charts/chart1.xml"/></Relationships>'
    name = "word/_rels/document.xml.rels"
    parts[name] = parts[name].replace(b"</Relationships>", relation.encode())
    assert lines(parse("a.docx", files.zipped(parts))) == ["See below.", "Chart", " | North", "Q1 | 19.2", "End."]
    parsed = parse("a.docx", files.zipped(parts | {"word/charts/chart1.xml": chart[:-20]}))
    assert (lines(parsed), parsed.notes) == (["See below.", "End."], ["a chart could not be read"])


def test_a_chart_with_absurdly_many_cells_gives_its_names() -> None:
    from trivium.ingest.read_chart import write_chart
    from trivium.ingest.writing import Writer

    space = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    point = "<c:val><c:pt idx='{}'><c:v>1</c:v></c:pt></c:val>"
    every = "".join(f"<c:ser><c:tx><c:v>s{n}</c:v></c:tx>{point.format(n * 1_000)}</c:ser>" for n in range(999))
    writer = Writer()
    write_chart(writer, f'<c:chartSpace xmlns:c="{space}"><c:chart>{every}</c:chart></c:chartSpace>'.encode())
    assert writer.result().text.startswith("Chart\n\ns0, s1, ")
    assert writer.size < 10_000


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
        "numbers.docx": lists(
            '<w:abstractNum w:abstractNumId="7">'
            + level(0, "upperRoman", "%1" * 100_000, '<w:start w:val="999999999"/>')
            + '<w:numStyleLink w:val="Own"/></w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num>',
            numbered("x", 3) * 20_000,
            '<w:style w:styleId="Own"><w:basedOn w:val="Own"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>'
            "</w:style>",
        ),
        "notes.docx": word(
            "<w:p>" + "".join(f'<w:r><w:footnoteReference w:id="{n}"/></w:r>' for n in range(20_000)) + "</w:p>",
            footnotes="".join(f'<w:footnote w:id="{n}">{p("x")}</w:footnote>' for n in range(20_000)),
        ),
    }
    try:
        problems = {name: reader.read(name, "", data, Knobs()).problem for name, data in hostile.items()}
    finally:
        reader.close()
    assert problems["deep.docx"] == "its elements are nested too deep"
    assert [problems[name] for name in ("wide.docx", "numbers.docx", "notes.docx")] == [None] * 3
    assert problems["long.docx"] is None or re.search("seconds to read|memory", problems["long.docx"])


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (1234, "00000", "01234"),
        (123456789, "000-00-0000", "123-45-6789"),
        (0.155, "0.0%", "15.5%"),
        (1.2, "0%", "120%"),
        (-0.5, "0%", "-50%"),
        (50000, "[$€-407]#,##0", "€50000"),
        (50000, '#,##0.00\\ "€"', "50000 €"),
        (-3, '"$"#,##0_);("$"#,##0)', "-$3"),
        (12, '0" kg"', "12 kg"),
        (timedelta(hours=26), "[h]:mm", "26:00"),
        (timedelta(minutes=90, seconds=5), "[h]:mm:ss", "1:30:05"),
        (5000000, '0.0,,"M"', "5000000"),
        (1500, '[<1000]0" m";0.0," km"', "1500"),
        (1.5, "0", "1.5"),
        (2.25, "General", "2.25"),
        (3, "# ?/?", "3"),
        (True, "0%", "TRUE"),
        ("007", "00000", "007"),
    ],
)
def test_cells_say_what_a_reader_sees_and_keep_all_digits(value: Any, form: str, shown: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Name", value])
    book.active["B1"].number_format = form
    file = io.BytesIO()
    book.save(file)
    assert read_xlsx(file.getvalue()).text.splitlines()[-1] == f"Name | {shown}"
