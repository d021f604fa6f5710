"""Every format to text, with its headings, pages, tables and date; and files that are not what they say."""

from __future__ import annotations

import io
import re
import sys
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from tests import ingest_files as files
from tests.encrypted_files import encrypted_pdf
from trivium.errors import MissingExtraError
from trivium.ingest import reading_apart
from trivium.ingest.chunking import Chunking, chunks
from trivium.ingest.manifest import Knobs
from trivium.ingest.parse import parse
from trivium.ingest.parsed import Parsed, Unreadable
from trivium.ingest.reading import read_source
from trivium.ingest.reading_apart import Reader, Readers


def headings(parsed: Parsed) -> list[tuple[int, str]]:
    parsed.blocks = list(parsed.blocks)
    return [(heading.level, heading.title) for heading in parsed.headings]


def places(name: str, data: bytes, target: int = 512) -> list[tuple[str, dict[str, Any]]]:
    parsed = parse(name, data)
    return [(chunk.text, chunk.place) for chunk in chunks(name, parsed, Chunking(target_size=target))]


def test_markdown_stays_as_it_is_and_gives_title_date_and_sections() -> None:
    parsed = parse("msa.md", files.MARKDOWN)
    assert parsed.text == files.MARKDOWN.decode()
    assert (parsed.title, parsed.dated) == ("Master services agreement", "2026-02-03")
    assert headings(parsed) == [(1, "Agreement"), (2, "Fees"), (3, "Payment terms"), (2, "Term")]
    found = {tuple(map(tuple, place["sections"])): text for text, place in places("msa.md", files.MARKDOWN)}
    assert "net 30 days" in found[(("Agreement", "Fees", "Payment terms"),)]
    assert found[(("Agreement", "Fees", "Payment terms"),)].startswith("## Fees")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_front_matter_in_toml_gives_title_and_date_and_is_no_prose(end: str) -> None:
    lines = [
        "+++",
        'title = "The harbour plan"',
        "date = 2026-02-03",
        "[extra]",
        "weight = 3",
        "+++",
        "# Quays",
        "Two.",
    ]
    parsed = parse("a.md", end.join(lines).encode())
    assert (parsed.title, parsed.dated) == ("The harbour plan", "2026-02-03")
    assert [(block.kind, block.sections) for block in parsed.blocks][:2] == [("code", ()), ("heading", ("Quays",))]
    assert [(item.title, item.line) for item in parsed.headings] == [("Quays", 7)]


@pytest.mark.parametrize("matter", ["title = ", 'a.b.c = "x"\na.b = 1', "x = 1\n" * 20_000])
def test_front_matter_that_is_no_toml_harms_nothing(matter: str) -> None:
    parsed = parse("plan.md", f"+++\n{matter}\n+++\n# Quays\n".encode())
    list(parsed.blocks)
    assert [item.title for item in parsed.headings] == ["Quays"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end: str) -> None:
    text = f"# One{end}{end}first{end}{end}## Two{end}{end}second{end}"
    for name in ("a.md", "a.txt"):
        parsed = parse(name, text.encode())
        last = list(chunks(name, parsed, Chunking()))[-1]
        assert last.last_line == 7
        assert parsed.text == text


def test_html_gives_what_a_reader_sees() -> None:
    parsed = parse("page.html", files.HTML)
    assert (parsed.title, parsed.dated) == ("Handbook", "2025-11-05T10:00:00Z")
    assert headings(parsed) == [(1, "Travel"), (2, "Hotels")]
    assert "Book trains first." in parsed.text
    assert "  - 150 in Paris" in parsed.text
    assert "Paris | 150" in parsed.text
    assert "code  here" in parsed.text
    for unseen in ("script", "color", "hidden", "machines", "commented"):
        assert unseen not in parsed.text


def test_pdf_gives_pages_headings_and_date() -> None:
    parsed = parse("report.pdf", files.pdf(files.REPORT, "Annual report 2024"))
    assert (parsed.title, parsed.dated) == ("Annual report 2024", "2025-03-14")
    assert headings(parsed) == [(1, "Annual report"), (2, "Risks")]
    found = places("report.pdf", files.pdf(files.REPORT))
    assert [place["pages"] for _, place in found] == [[1], [2]]
    assert found[1][1]["sections"] == [["Annual report", "Risks"]]
    assert "price of copper" in found[1][0]


def test_word_gives_headings_lists_and_tables_and_no_hidden_text() -> None:
    parsed = parse("lease.docx", files.docx())
    assert parsed.title == "Lease"
    assert headings(parsed) == [(1, "Lease agreement"), (2, "Deposit")]
    assert "- kept in a separate account\n- paid back within six months" in parsed.text
    assert "Room | Area\nKitchen | 14 m2" in parsed.text
    assert "Visible." in parsed.text
    assert "Ignore" not in parsed.text


def test_powerpoint_gives_slides_with_notes() -> None:
    found = places("show.pptx", files.pptx())
    assert [(place["pages"], place["sections"]) for _, place in found] == [([1], [["Roadmap"]]), ([2], [["Budget"]])]
    assert "Notes: Say it slowly." in found[1][0]


def test_powerpoint_keeps_numbers_above_and_below_the_line() -> None:
    from pptx import Presentation  # type: ignore[import-untyped]

    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    for text, baseline in (("10", "0"), ("6", "30000"), (" units of H", None), ("2", "-25000"), ("O", None)):
        run = paragraph.add_run()
        run.text = text
        if baseline is not None:
            run.font._element.set("baseline", baseline)
    file = io.BytesIO()
    show.save(file)
    assert "10⁶ units of H₂O" in parse("a.pptx", file.getvalue()).text


def test_what_is_filled_in_on_a_pdf_form_is_read() -> None:
    fields = [
        "/FT /Tx /T (applicant) /TU (Name of applicant) /V (Jane Wexford)",
        "/FT /Tx /T (empty) /V ()",
        "/FT /Tx /Ff 8192 /T (secret) /V (hunter2)",
        "/FT /Btn /T (Agreed) /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>",
        "/FT /Btn /T (Refused) /V /Off /AS /Off /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>",
        "/FT /Ch /Ff 131072 /T (Colour) /Opt [(red) (blue)] /V (blue)",
    ]
    numbers = range(6, 6 + len(fields))
    named = " ".join(f"{number} 0 R" for number in numbers)
    said = b"BT /F1 12 Tf 60 700 Td (Application form) Tj ET"
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{named}] >> >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 << /Type /Font"
        f" /Subtype /Type1 /BaseFont /Helvetica >> >> >> /Annots [{named}] >>",
        f"<< /Length {len(said)} >>\nstream\n{said.decode()}\nendstream",
        "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0 >>\nstream\n\nendstream",
        *(f"<< /Type /Annot /Subtype /Widget /Rect [60 600 200 620] {field} >>" for field in fields),
    ]
    data = "%PDF-1.4\n" + "".join(f"{at} 0 obj\n{one}\nendobj\n" for at, one in enumerate(objects, 1))
    data += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n%%EOF\n"
    lines = parse("form.pdf", data.encode()).text.split("\n")
    told = [line for line in lines if line.strip()]
    assert told == ["Application form", "Name of applicant: Jane Wexford", "Agreed: ☑", "Colour: blue"]


def test_excel_gives_visible_sheets_with_their_names() -> None:
    [(text, place)] = places("prices.xlsx", files.xlsx())
    assert place["sections"] == [["Prices"]]
    assert "Product | Price\nAnchor | 12.5\nBuoy | 7" in text
    assert parse("prices.xlsx", files.xlsx()).title == "prices"


def test_mail_gives_headers_body_and_the_names_of_attachments() -> None:
    parsed = parse("a.eml", files.mail())
    assert (parsed.title, parsed.dated) == ("Renewal of the Acme contract", "2026-02-03T11:00:00Z")
    assert "From: Ada <ada@example.com>" in parsed.text
    assert "Attachments: offer.pdf" in parsed.text
    assert "a discount of 8%" in parsed.text


MAILBOX = (
    b"From a@b.c Mon Jan  1 10:00:00 2024\nFrom: a@b.c\nSubject: Pump\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"
    b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nRsO8ciA5LDQwMCBFVVIu\n\n"
    b"From d@e.f Tue Jan  2 11:00:00 2024\nFrom: d@e.f\nSubject: =?utf-8?Q?Stra=C3=9Fe?=\n\nFirst line.\n"
    b"\n>From here on it is ours.\n"
)


def test_a_mailbox_gives_its_messages_as_mail_is_read() -> None:
    parsed = parse("in.mbox", MAILBOX)
    blocks = list(parsed.blocks)
    assert headings(parsed) == [(1, "Pump"), (1, "Straße")]
    assert (parsed.text.count("From: "), parsed.dated) == (2, "2024-01-01T10:00:00Z")
    assert "Für 9,400 EUR." in parsed.text
    assert "\nFrom here on it is ours." in parsed.text
    assert [parsed.text[parsed.headings[at].start :][:4] for at in (0, 1)] == ["From", "From"]
    assert parsed.text.split("\n")[parsed.headings[1].line - 1] == "From: d@e.f"
    assert "First line." in [parsed.text[block.start : block.stop].strip() for block in blocks]


def test_a_page_that_a_browser_saved_is_read_as_mail_is() -> None:
    saved = (
        b"From: <Saved by a browser>\nSubject: Fees\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n"
        b"--x\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"<p>Geb=C3=BChr f=C3=BCr alle: 5 Euro</p>\n--x\nContent-Type: text/css\n\np { color: red }\n--x--\n"
    )
    text = parse("a.mht", saved).text
    assert "Gebühr für alle: 5 Euro" in text
    assert "color" not in text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ol><li>one<li>two</ol>", "1. one\n2. two"),
        ("<ol start=5><li>five<li value=9>nine<li>ten</ol>", "5. five\n9. nine\n10. ten"),
        ("<ol type=a><li>x<li>y</ol><ol type=I><li>z</ol>", "a) x\nb) y\n\nI) z"),
        ("<ol reversed><li>x<li>y</ol>", "2. x\n1. y"),
        ("<ol><li>x<ul><li>in</ul><li>y</ol>", "1. x\n  - in\n2. y"),
        ("<ol start=99999999999><li value=z>x</ol>", "1. x"),
        ("<table><tr><td>Setup<td><ul><li>unplug<li>drain</ul></table>", "Setup | unplug drain"),
        ("<table><tr><td>Setup<td><ol><li>unplug<li>drain</ol></table>", "Setup | 1. unplug 2. drain"),
        ("<p>Area <math><mfrac><mn>1</mn><mn>4</mn></mfrac></math> of it", "Area 1/4 of it"),
        ("<p><math alttext='E = mc^2'><mi>E</mi></math>", "E = mc^2"),
        ("<p><math><msup><mi>c</mi><mn>2</mn></msup><mo>+</mo><msqrt><mi>a</mi><mi>b</mi></msqrt></math>", "c^2+√(ab)"),
        ("<p><math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>", "(a+b)/2"),
    ],
)
def test_html_keeps_the_numbers_of_items_and_what_formulas_say(page: str, text: str) -> None:
    assert parse("a.html", page.encode()).text.strip() == text


def test_a_page_that_shows_nothing_is_told() -> None:
    assert parse("a.html", b"<div id=root></div><script>app()</script>").notes == [
        "the page shows no text: it may be written by a script"
    ]


@pytest.mark.parametrize("name", ["server.key", "graph.dot", "messages.pot", "a.pages"])
def test_plain_text_with_the_extension_of_a_document_is_read(name: str) -> None:
    assert parse(name, b"plain text\n").text == "plain text\n"


def test_mail_with_html_alone_gives_what_is_seen_of_it() -> None:
    data = b"From: a@b.c\nSubject: x\nContent-Type: text/html; charset=latin-1\n\n<p>caf\xe9<script>bad()</script></p>"
    text = parse("a.eml", data).text
    assert "café" in text
    assert "bad" not in text


def test_a_table_is_never_cut_inside_a_row_and_its_header_is_found() -> None:
    rows = "".join(f'{number},"name\nof {number}",{number * 7}\n' for number in range(400))
    found = places("big.csv", f"id,name,price\n{rows}".encode(), target=64)
    assert len(found) > 20
    for text, place in found[1:]:
        assert place["header"] == "id,name,price"
        assert text.count('"') % 2 == 0
        assert text[0].isdigit()
        assert text.splitlines()[-1].startswith("of ")


def test_a_table_without_a_header_has_none() -> None:
    assert all("header" not in place for _, place in places("n.csv", b"1,2\n3,4\n" * 500, target=64))


def test_json_is_cut_at_members_and_told_by_their_keys() -> None:
    item = '{"name": "Office %d", "address": "' + "x" * 900 + '", "staff": 12}'
    data = '{"company": "Vantage", "offices": [' + ",".join(item % number for number in range(5)) + "]}"
    found = places("a.json", data.encode())
    assert ["offices"] in [section for _, place in found for section in place["sections"]]
    assert "".join(text for text, _ in found).replace(" ", "") == data.replace(" ", "")


def test_json_lines_and_broken_json_are_read() -> None:
    lines = b'{"a": 1}\n{"a": 2}\n'
    assert parse("a.jsonl", lines).text == lines.decode()
    broken = parse("a.json", b'{"a": 1, oops}')
    assert "not valid JSON" in broken.notes[0]
    deep = parse("a.json", b"[" * 100_000)
    assert "not valid JSON" in deep.notes[0]
    assert list(chunks("a.json", deep, Chunking()))


def test_a_notebook_gives_its_cells() -> None:
    data = b'{"cells": [{"cell_type": "markdown", "source": ["# Title\\n", "words"]},' + (
        b'{"cell_type": "code", "source": "x = 1", "outputs": [{"data": {"image/png": "iVBOR"}}]}]}'
    )
    parsed = parse("a.ipynb", data)
    assert parsed.text == "# Title\nwords\n\n```\nx = 1\n```\n"


def test_code_is_told_by_its_definitions() -> None:
    body = "\n".join(f'        line{number} = "value {number}"' for number in range(60))
    source = (
        files.PYTHON.decode()
        + f"\n\n# Large.\nclass Large:\n    def first(self):\n{body}\n\n    def second(self):\n{body}\n"
    )
    found = places("cache.py", source.encode(), target=256)
    sections = [section for _, place in found for section in place["sections"]]
    assert ["Large", "first"] in sections
    assert ["Large", "second"] in sections
    assert any(text.startswith("# Large.\nclass Large") for text, _ in found)


def test_plain_text_gives_headings_that_look_like_ones() -> None:
    text = "AGREEMENT\n\n1. Scope\n\nThis is it.\n\n4.2 Payment terms\n\nNet 30 days.\n\nAnnexes\n=======\nNone.\n\n"
    parsed = parse("a.txt", (text + "3 men came.\n").encode())
    assert headings(parsed) == [(1, "AGREEMENT"), (2, "1. Scope"), (3, "4.2 Payment terms"), (1, "Annexes")]


def test_numbered_lines_that_follow_each_other_are_a_list() -> None:
    parsed = parse("a.txt", b"To do\n\n1. Buy rope\n\n2. Sell fish\n\n3. Go home\n\nThat was all.\n")
    assert headings(parsed) == []


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.adoc", b"= Guide\n\nwords\n\n== Install\n\nwords\n", [(1, "Guide"), (2, "Install")]),
        ("a.org", b"* Guide\n\nwords\n\n** Install\nwords\n", [(1, "Guide"), (2, "Install")]),
        ("a.rst", b"Guide\n=====\n\nwords\n\nInstall\n-------\nwords\n", [(1, "Guide"), (2, "Install")]),
    ],
)
def test_headings_of_other_markups_are_found(name: str, data: bytes, expected: list[tuple[int, str]]) -> None:
    assert headings(parse(name, data)) == expected


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("naïve".encode("utf-8-sig"), "naïve", None),
        ("naïve 数据".encode("utf-16"), "naïve 数据", None),
        ("naïve".encode("utf-32"), "naïve", None),
        ("plain words, no mark".encode("utf-16-le"), "plain words, no mark", "UTF-16"),
        (("Grüße aus Köln, schöne Straßen und Plätze. " * 20).encode("cp1252"), "Grüße", "guessed"),
        (("人人生而自由，在尊严和权利上一律平等。" * 10).encode("gb18030"), "人人生而自由", "guessed"),
        (("это русский текст, который написан давно. " * 10).encode("cp1251"), "русский текст", "guessed"),
        (("数据库" * 100).encode() + b"\xff", "数据库数据库", "not UTF-8"),
        (b"one\0two" + b" words" * 2_000, "one\ufffdtwo", "zero bytes"),
    ],
    ids=["bom", "utf-16", "utf-32", "utf-16 without a mark", "cp1252", "gb18030", "cp1251", "damaged utf-8", "zeros"],
)
def test_encodings_are_understood_and_guesses_are_told(data: bytes, text: str, note: str | None) -> None:
    parsed = parse("a.txt", data)
    assert text in parsed.text
    assert note in " ".join(parsed.notes) if note else parsed.notes == []


def test_without_charset_detection_other_encodings_are_western(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    parsed = parse("a.txt", "Grüße aus Köln".encode("latin-1"))
    assert parsed.text == "Grüße aus Köln"
    assert "CP1252" in parsed.notes[0]


BAD: list[tuple[str, bytes, str]] = [
    ("a.txt", b"", "empty"),
    ("a.md", b" \n\t ", "empty"),
    ("a.pdf", b"%PDF-1.4 nothing more", "damaged"),
    ("a.pdf", b"not a pdf at all", "damaged"),
    ("a.pdf", files.pdf([[]]), "pictures only"),
    ("a.docx", b"PK\x03\x04 broken", "damaged"),
    ("a.docx", files.zipped({"word/other.xml": b"<x/>"}), "damaged"),
    ("a.xlsx", b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted"),
    ("a.doc", b"\xd0\xcf\x11\xe0" + bytes(600), "old Word format"),
    ("a.msg", b"\xd0\xcf\x11\xe0" + bytes(600), ".eml"),
    ("a.dat", bytes(range(256)) * 50, "no text file"),
    ("a.txt", bytes(range(1, 256)) * 50, "no text file"),
    ("a.eml", b"\n\n", "empty"),
    ("a.png", b"\x89PNG", "image/png"),
    ("a.rtf", b"{\\rtf1\\ansi hello}", "save it as .docx"),
    ("a.txt", b"{\\rtf1\\ansi hello}", "save it as .docx"),
    ("a.odt", files.zipped({"content.xml": b"<x/>"}), "save it as .docx"),
    ("a.ods", files.zipped({"content.xml": b"<x/>"}), "save it as .xlsx"),
    ("a.ppsx", files.zipped({"ppt/presentation.xml": b"<x/>"}), "save it as .pptx"),
    ("a.epub", files.zipped({"chapter.xhtml": b"<x/>"}), "save it as .html or .pdf"),
    ("report.docx.bak", files.zipped({"word/document.xml": b"<x/>"}), "name it .docx"),
    ("download", files.zipped({"notes.md": b"x"}), "unpack it"),
    ("a.mbox", b"no message at all", "holds no message"),
]


@pytest.mark.parametrize(("name", "data", "reason"), BAD, ids=[f"{name} {reason}" for name, _, reason in BAD])
def test_what_cannot_be_read_says_why(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        list(parse(name, data).blocks)


def test_an_encrypted_pdf_says_so() -> None:
    data = files.pdf(files.REPORT)
    keys = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O <%s> /U <%s> >> /ID [<00> <00>] " % (
        b"41" * 32,
        b"42" * 32,
    )
    with pytest.raises(Unreadable, match="encrypted"):
        parse("a.pdf", data.replace(b"trailer\n<< ", b"trailer\n<< " + keys))


def test_a_pdf_that_needs_a_password_says_so_and_one_that_does_not_is_read() -> None:
    plain = files.pdf(files.REPORT)
    assert "copper" in parse("a.pdf", encrypted_pdf(plain, "")).text
    with pytest.raises(Unreadable, match="encrypted; save it without its password"):
        parse("a.pdf", encrypted_pdf(plain, "secret"))


def test_an_office_file_that_unpacks_to_gigabytes_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as part:
        for _ in range(300):
            part.write(bytes(1 << 20))
    with pytest.raises(Unreadable, match="unpacks to far more"):
        parse("bomb.docx", out.getvalue())


def test_entities_of_hostile_xml_are_not_expanded() -> None:
    entities = "".join('<!ENTITY a{} "{}">'.format(n, f"&a{n - 1};" * 10) for n in range(1, 12))
    document = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{entities}]><x>&a11;</x>'
    good = io.BytesIO(files.docx())
    out = io.BytesIO()
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            target.writestr(name, document if name == "word/document.xml" else source.read(name))
    with pytest.raises(Unreadable):
        parse("lol.docx", out.getvalue())


@pytest.mark.parametrize(
    "make",
    [
        lambda: "<div>" * 9_000 + "deep words",
        lambda: "<p>" * 200_000 + "deep words",
        lambda: "<table><tr><td>" * 4_000 + "deep words",
        lambda: "<ul><li>" * 4_000 + "deep words",
        lambda: "<p>deep words<" + "b " * 500_000,
        lambda: "deep words <!--" + "-" * 1_000_000,
    ],
)
def test_hostile_html_is_read_in_bounded_time(make: Callable[[], str]) -> None:
    assert "deep words" in parse("a.html", make().encode()).text


@pytest.mark.parametrize(
    "text",
    [
        ">" * 100_000,
        "[" * 100_000,
        "- " * 50_000,
        "|" * 50_000 + "\n" + "|-" * 50_000,
        "`" * 100_000,
        "# x\n" * 50_000,
        "***" * 50_000,
        "<" * 100_000,
        "[a]: <" * 20_000,
        "* a\n" * 30_000,
        "\n" * 200_000 + "x",
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_markdown_is_read_whole(text: str) -> None:
    parsed = parse("a.md", text.encode())
    found = list(chunks("a.md", parsed, Chunking()))
    assert "".join(chunk.text for chunk in found).replace("\n", "")[:1] == text.strip()[:1]


@pytest.mark.parametrize(
    "text",
    [
        "[a]: b '" + "x\n" * 250_000,
        "[a]: b\n" * 70_000,
        ("# " + "[" * 1_900 + "\n") * 260,
        ("# " + "*a_" * 600 + "\n") * 270,
        ("- a\n" + "b\n" * 50) * 4_800,
        "a\n#b\n" * 100_000,
        "\u00a0\n" * 250_000 + "x",
    ],
    ids=["open title", "definitions", "brackets", "emphasis", "lazy lines", "no headings", "no-break spaces"],
)
def test_hostile_markdown_takes_no_longer_than_plain_markdown(text: str) -> None:
    prose = "Invoices are payable net 30 days.\n\n# Head\n\n- item one\n- item two\n\n" * 7_500

    def cost(text: str) -> float:
        began = time.process_time()
        for _ in parse("a.md", text.encode()).blocks:
            pass
        return time.process_time() - began

    cost("# warm\n")
    assert cost(text) < 3 * cost(prose) + 0.2


def test_markdown_with_too_much_structure_is_read_as_plain_text_and_says_so_once() -> None:
    parsed = parse("a.md", ("# Head\n\n" + "a\n" * 400_000).encode())
    list(parsed.blocks)
    assert parsed.notes == ["a part with too much structure was read as plain text"]


def test_a_tag_with_a_hundred_thousand_attributes_costs_little() -> None:
    many = b" ".join(b"a%d=1" % number for number in range(100_000))
    script = b"<script>for(i=0;i<n;i++){" + b"a b c d = e; " * 3_000 + b"}</script>"
    image = b"<img src='data:image/png;base64," + b"ab/d " * 5_000 + b"' alt='a picture'>"
    began = time.process_time()
    text = parse("a.html", script + b"<p " + many + b">one<p hidden>two<p>three" + image).text
    assert time.process_time() - began < 5
    assert text.split() == ["one", "three", "a", "picture"]


def test_absurdly_nested_html_is_refused() -> None:
    with pytest.raises(Unreadable, match="nested"):
        parse("a.html", b"<div>" * 200_000 + b"deep words")


@pytest.mark.parametrize("name", ["a.html", "a.pdf", "a.docx", "a.pptx", "a.xlsx"])
def test_a_missing_extra_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for library in ("selectolax", "selectolax.lexbor", "pypdfium2", "docx", "docx.table", "pptx", "openpyxl"):
        monkeypatch.setitem(sys.modules, library, None)
    data = files.zipped({"x.xml": b"<x/>"}) if name[2:] in ("docx", "pptx", "xlsx") else b"words"
    with pytest.raises(MissingExtraError) as caught:
        parse(name, data)
    assert caught.value.hint == "pip install 'trivium[docs]'"
    read = read_source(name, "", data, Knobs())
    assert read.problem is not None
    assert read.problem.endswith("Install it with: pip install 'trivium[docs]'")


def test_a_reader_that_crashes_or_never_ends_harms_its_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_apart, "SECONDS_FOR_MB", 0.0)
    reader = Reader(seconds=0.01)
    try:
        slow = reader.read("a.pdf", "", files.pdf([files.REPORT[0]] * 2_000), Knobs())
        assert "more than" in str(slow.problem)
        reader._seconds = 60.0
        assert "copper" in reader.read("a.pdf", "", files.pdf(files.REPORT), Knobs()).text
        assert reader._process is not None
        reader._process.kill()
        assert "crash" in str(reader.read("a.pdf", "", files.pdf(files.REPORT), Knobs()).problem)
        assert "Kitchen" in reader.read("a.docx", "", files.docx(), Knobs()).text
    finally:
        reader.close()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux")
def test_a_reader_that_takes_too_much_memory_harms_its_file_only() -> None:
    reader = Reader(memory=400 << 20)
    try:
        read = reader.read("a.html", "", b"<p>word</p>" * 3_000_000, Knobs())
        assert re.search(r"memory|crash|parsed", str(read.problem))
        assert "Paris" in reader.read("a.html", "", files.HTML, Knobs()).text
    finally:
        reader.close()


def test_a_file_that_took_much_memory_leaves_the_next_ones_theirs() -> None:
    reader = Reader()
    try:
        for _ in range(2):
            assert reader.read("a.html", "", b"<p>word</p>" * 1_000_000, Knobs()).problem is None
            assert "Kitchen" in reader.read("a.docx", "", files.docx(), Knobs()).text
        assert reader._process is not None
    finally:
        reader.close()


def test_a_reader_that_fails_in_an_unforeseen_way_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr("trivium.ingest.read_markdown.read_markdown", fail)
    assert read_source("a.md", "", b"# A", Knobs()).problem == "reading it failed (ZeroDivisionError: odd)"


def test_several_processes_read_in_order_and_end_with_their_owner() -> None:
    names = [f"{number}.md" for number in range(50)]
    with Readers(2) as readers:
        found = list(
            readers.each(names, lambda _: 10, lambda name: readers.read(name, "", f"# {name}\n".encode(), Knobs()))
        )
        assert [(name, read.title) for name, read in found if read] == [(name, name) for name in names]
        processes = [reader._process for reader in readers._readers]
        assert all(process is not None and process.poll() is None for process in processes)
    assert all(process is not None and process.poll() is not None for process in processes)


def test_readers_that_are_stopped_early_leave_no_process_behind() -> None:
    readers = Readers(2)

    def stop_at_third() -> None:
        with readers:
            data = files.pdf(files.REPORT)
            results = readers.each(range(100), lambda _: 10, lambda _: readers.read("a.pdf", "", data, Knobs()))
            for number, _ in enumerate(results):
                if number == 3:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_at_third()
    assert all(reader._process is None for reader in readers._readers)
