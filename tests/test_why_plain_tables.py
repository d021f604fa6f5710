"""Tables and term lists of reStructuredText and AsciiDoc: what they say, and on which lines (reference 4.1, 4.2)."""

from __future__ import annotations

import time

import pytest

from tests.why_documents import lines_of, names_of, read
from trivium.why.documents import DocumentRules
from trivium.why.plain_tables import grid_table, simple_table

STATUS_TABLES = {
    "grid": """\
+--------+------------+
| Status | accepted   |
+--------+------------+
| Date   | 2026-02-03 |
+--------+------------+
""",
    "grid with a head": """\
+------------+----------+
| Date       | Status   |
+============+==========+
| 2026-02-03 | accepted |
+------------+----------+
""",
    "grid with cells of two lines": """\
+------------+------------+
| **Status** | accepted   |
|            |            |
+------------+------------+
| **Date**   | 2026-02-03 |
+------------+------------+
""",
    "grid with wide characters": """\
+--------+----------+------------+
| 標題   | Status   | Date       |
+========+==========+============+
| 一|二  | accepted | 2026-02-03 |
+--------+----------+------------+
""",
    "simple": "======  ==========\nStatus  accepted\nDate    2026-02-03\n======  ==========\n",
    "simple with a head": "==========  ========\nDate        Status\n==========  ========\n2026-02-03  accepted\n"
    "==========  ========\n",
    "list table": ".. list-table::\n   :widths: 1 3\n\n   * - Status\n     - accepted\n   * - Date\n"
    "     - 2026-02-03\n",
    "list table with a head": ".. list-table:: The record\n   :header-rows: 1\n\n   * - Status\n     - Date\n"
    "   * - accepted\n     - 2026-02-03\n",
    "csv table": ".. csv-table::\n\n   Status, accepted\n   Date, 2026-02-03\n",
    "csv table with a head": '.. csv-table:: The record\n   :header: "Status", "Date"\n\n   accepted, 2026-02-03\n',
    "csv table with semicolons": ".. csv-table::\n   :delim: ;\n\n   Status; accepted\n   Date; 2026-02-03\n",
    "captioned": ".. table:: The record\n   :widths: auto\n\n   ======  ==========\n   Status  accepted\n"
    "   Date    2026-02-03\n   ======  ==========\n",
    "captioned grid": ".. table::\n\n   +--------+------------+\n   | Status | accepted   |\n"
    "   +--------+------------+\n"
    "   | Date   | 2026-02-03 |\n   +--------+------------+\n",
    "definition list": "Status\n    accepted\nDate\n    2026-02-03\n",
    "loose definition list": "Status\n  accepted\n\nDate\n  2026-02-03\n",
}
ADOC_TABLES = {
    "cells": '[cols="1,6"]\n|===\n|Status |accepted\n|Date |2026-02-03\n|===\n',
    "with a title between": '[cols="1,6"]\n.The record\n|===\n|Status |accepted\n|Date |2026-02-03\n|===\n',
    "a cell a line": "[cols=2*]\n|===\n|Status\n|accepted\n\n|Date\n|2026-02-03\n|===\n",
    "with a head": "[%header,cols=2*]\n|===\n|Status |Date\n\n|accepted\n|2026-02-03\n|===\n",
    "a cell over all columns": "[cols=2*]\n|===\n2+|*The record*\n\n|Status |accepted\n|Date\n|2026-02-03\n|===\n",
    "format csv": "[%header,format=csv]\n|===\nStatus,Date\naccepted,2026-02-03\n|===\n",
    "fence of commas": ",===\nStatus,accepted\nDate,2026-02-03\n,===\n",
    "fence of colons": ":===\nStatus:accepted\nDate:2026-02-03\n:===\n",
    "title of a block": ".Status\naccepted\n\n.Date\n2026-02-03\n\nDate: 2026-02-03\n",
    "attributes of blocks": "[#status]\n== Status [[state]]\n\n// said in May\n[.lead]\naccepted\n\n"
    ":revdate: 2026-02-03\n",
    "attributes of pages": ":page-status: accepted\n:page-date: 2026-02-03\n",
}


@pytest.mark.parametrize("form", STATUS_TABLES)
def test_tables_of_restructuredtext_tell_the_status(form: str) -> None:
    text = f"Use A\n=====\n\n{STATUS_TABLES[form]}\nContext\n-------\n\nText.\n"
    (found,) = read("docs/adr/0001-a.rst", text).entities
    assert (found.name, found.status, found.date) == ("Use A", "accepted", "2026-02-03")


@pytest.mark.parametrize("form", ADOC_TABLES)
def test_tables_and_labels_of_asciidoc_tell_the_status(form: str) -> None:
    (found,) = read("docs/adr/0001-a.adoc", f"= Use A\n\n{ADOC_TABLES[form]}\n== Context\n\nText.\n").entities
    assert (found.name, found.status, found.date) == ("Use A", "accepted", "2026-02-03")


def test_a_table_states_supersession_and_what_a_cell_cites() -> None:
    text = "Use A\n=====\n\n" + (
        "+------------+---------------------------+\n"
        "| Supersedes | `1. Old <0001-old.rst>`_  |\n"
        "+------------+---------------------------+\n"
        "| Affects    | ``src/a.py`` and          |\n"
        "|            | ``src/b.py``              |\n"
        "+------------+---------------------------+\n"
    )
    (found,) = read("docs/adr/0002-a.rst", text).entities
    assert found.supersedes == ["0001-old.rst"]
    assert [(cite.value, cite.line) for cite in found.cites] == [("0001-old.rst", 5), ("src/a.py", 7), ("src/b.py", 7)]


NO_STATUS = {
    "history": "==========  ========\nDate        Status\n==========  ========\n2026-01-01  proposed\n"
    "2026-02-03  accepted\n"
    "==========  ========\n",
    "other directive": ".. note::\n\n   Status: accepted\n",
    "comment": "..\n   +--------+----------+\n   | Status | accepted |\n   +--------+----------+\n",
    "literal": "As in::\n\n   ======  ========\n   Status  accepted\n   ======  ========\n",
}


@pytest.mark.parametrize("form", NO_STATUS)
def test_what_is_no_table_of_the_record_tells_no_status(form: str) -> None:
    (found,) = read("docs/adr/0001-a.rst", f"Use A\n=====\n\n{NO_STATUS[form]}").entities
    assert found.status is None


RST_GLOSSARY = """\
Glossary
========

.. glossary::
   :sorted:

   Cache
      Holds ``src/cache.py``.

      In two paragraphs.

   Store
   Repository
      Keeps values.

   Queue : ordered
      In order.

Terms in a list
---------------

Topic
   What is sent.
API (Application Programming Interface)
   How it is called.

.. list-table::
   :header-rows: 1

   * - Term
     - Meaning
   * - Lease
     - A time.

.. csv-table::

   Token, A text
   Ticket, A number
"""


def test_terms_of_restructuredtext() -> None:
    document = read("docs/glossary.rst", RST_GLOSSARY)
    assert sorted(lines_of(document), key=lambda one: one[1]) == [
        ("Cache", 7, 10),
        ("Store", 12, 14),
        ("Queue", 16, 17),
        ("Topic", 22, 23),
        ("API (Application Programming Interface)", 24, 25),
        ("Lease", 32, 32),
        ("Token", 37, 37),
        ("Ticket", 38, 38),
    ]
    aliases = {entity.name: entity.aliases for entity in document.entities}
    assert aliases["Store"] == ["Repository"]
    assert [cite.value for entity in document.entities if entity.name == "Cache" for cite in entity.cites] == [
        "src/cache.py"
    ]


def test_terms_of_asciidoc() -> None:
    text = (
        "= Glossary\n\n[glossary]\n[[c]]Cache:: Holds values.\n[#s]#Store#::\nKeeps `src/store.py`.\n\n"
        '[cols="1,2",options="header"]\n|===\n|Term |Meaning\n|Lease |A time\nthat ends\n|===\n'
    )
    document = read("docs/glossary.adoc", text)
    assert lines_of(document) == [("Cache", 4, 4), ("Store", 5, 6), ("Lease", 11, 11)]
    assert [cite.value for cite in document.entities[1].cites] == ["src/store.py"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("glossary.rst", ":Aliases: Store, LRU"),
        ("glossary.adoc", "Also known as:: Store, LRU"),
        ("glossary.adoc", "*Aliases:* Store, LRU"),
    ],
)
def test_other_names_below_a_term(path: str, line: str) -> None:
    heading = "Cache\n-----" if path.endswith(".rst") else "== Cache"
    title = "Glossary\n========" if path.endswith(".rst") else "= Glossary"
    (found,) = read(path, f"{title}\n\n{heading}\n\nHolds values.\n\n{line}\n").entities
    assert (found.name, found.aliases) == ("Cache", ["Store", "LRU"])


@pytest.mark.parametrize("path", ["docs/guide.rst", "glossary.txt", "glossary/terms", "src/glossary.py"])
def test_other_texts_are_no_glossary(path: str) -> None:
    assert read(path, RST_GLOSSARY).entities == []


def test_a_pattern_makes_any_text_a_glossary() -> None:
    rules = DocumentRules(glossaries=("terms/*.txt",))
    assert names_of(read("terms/all.txt", "# Terms\n\n- Cache: Holds values.\n", rules)) == ["Cache"]


def test_definitions_in_a_change_log_are_no_concepts() -> None:
    text = "Changes\n=======\n\n1.0\n---\n\nAdded\n  Something new.\n\n* one\n"
    assert names_of(read("CHANGES.rst", text)) == ["one"]


def test_entries_below_a_table_of_a_change_log_are_read() -> None:
    text = "1.0\n---\n\n* one\n\n====  ====\na     b\n====  ====\n\n* two\n"
    assert lines_of(read("CHANGES.rst", text)) == [("one", 4, 5), ("two", 10, 10)]


SHAPES = {
    "cells that span columns": (["+--+--+", "| ab  |", "+--+--+", "|c |d |", "+--+--+"], [["ab", ""], ["c", "d"]]),
    "cells that span rows": (["+--+--+", "|a |b |", "|  +--+", "|  |c |", "+--+--+"], [["a", "b"], ["", "c"]]),
    "a border alone": (["+--+--+"], []),
    "no end": (["+--+--+", "|a |b |"], [["a", "b"]]),
    "short lines": (["+--+--+", "|a", "|", "+--+--+"], [["a", ""]]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_grid_tables_of_any_shape(shape: str) -> None:
    lines, rows = SHAPES[shape]
    assert grid_table(lines).rows == rows


def test_simple_tables_join_what_goes_on_and_end_at_their_border() -> None:
    table = simple_table(["===  ===", "a    b", "     c", "", "d    e", "===  ==="])
    assert (table.rows, table.lines, table.header) == ([["a", "b c"], ["d", "e"]], [1, 4], False)
    document = read("docs/adr/1.rst", "Use A\n=====\n\n===  ===\na    b\n\nStatus: accepted\n\nText.\n")
    assert document.entities[0].status == "accepted"


HOSTILE = {
    "open simple tables": ("a.rst", "=== ===\na\n" * 20_000),
    "simple tables": ("a.rst", "=== ===\na b\n=== ===\n\n" * 10_000),
    "grid tables": ("a.rst", "+-+-+\n|a|b|\n+-+-+\n\n" * 10_000),
    "one long cell": ("a.rst", "+---+\n" + "| a |\n" * 60_000),
    "one long cell of a list": ("a.rst", ".. list-table::\n\n   * - a\n" + "       b\n" * 60_000),
    "directives": ("a.rst", ".. csv-table::\n   :header: a\n\n   b\n\n" * 10_000),
    "quotes": ("a.rst", ".. csv-table::\n\n" + '   "a,b\n' * 60_000),
    "terms": ("a.adoc", "a:: b\nc\n" * 30_000),
    "open fences": ("a.adoc", "|===\n|a\n" * 30_000),
    "attributes": ("a.adoc", "[" + "cols=," * 200 + "]\n|===\n|a\n|===\n" * 2_000),
    "columns": ("a.adoc", '[cols="' + "9*," * 60 + '"]\n|===\n' + "|a" * 60_000 + "\n|==="),
    "braces": ("a.md", "# a " + "{#b " * 60_000),
    "many braces": ("a.md", "# a " + "{#b}" * 60_000 + "c}"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tables_take_time_in_proportion(name: str) -> None:
    path, text = HOSTILE[name]
    started = time.process_time()
    read(f"docs/adr/{path}", text)
    assert time.process_time() - started < 10
