"""Decisions: places, types, status, date, supersession, headings, what is no record (knowledge query reference 4.1)."""

from __future__ import annotations

import pytest

from tests.why_documents import lines_of, names_of, read
from trivium.why.documents import DocumentRules
from trivium.why.model import RawEntity

RECORD = "docs/adr/0007-x.md"


def record(text: str, path: str = RECORD) -> RawEntity:
    entities = read(path, text).entities
    assert len(entities) == 1
    return entities[0]


# --- what is a record -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "docs/adr/0001-a.md",
        "docs/ADRs/a.md",
        "decisions/a.mdx",
        "adr-007-x.md",
        "pkg/ADR_7.md",
        "decisions.md",
        "doc/adr/deep/er/a.md",
        "docs/decisions/0012-use-jinja-templates.md",
        "docs/architecture-decisions/adr001-x.md",
        "docs/architecture_decision_records/a.md",
        "docs/design decisions/a.md",
        "docs/decision-log/a.md",
        "_decisions/2026-02-03-a.md",
        "_adrs/a.md",
        "docs/architecture/ADR0012.md",
    ],
)
def test_records_by_place(path: str) -> None:
    assert record("# Use A\n\nText.\n", path).id == f"knowledge-decision:{path}:Use A"


@pytest.mark.parametrize(
    "path",
    [
        *("docs/adrenaline.md", "docs/decision.md", "docs/madr/x.md", "undecisions/a.md", "court-decisions/a.md"),
        *("docs/rfcs/0001-a.md", "proposals/1-a.md", "docs/decision-making/a.md", "docs/padr1.md", "adrift1.md"),
    ],
)
def test_other_places_hold_no_records(path: str) -> None:
    assert read(path, "# Use A\n\nText.\n").entities == []


def test_records_by_type_and_by_configured_place() -> None:
    assert names_of(read("docs/a.md", "---\ntype: adr\n---\n# Use A\n")) == ["Use A"]
    assert names_of(read("docs/a.md", "---\ntype: Decision\n---\n# Use A\n")) == ["Use A"]
    rules = DocumentRules(records=("rfcs/**/*.md", "why/*.md"))
    assert names_of(read("rfcs/2024/b/1.md", "# Use A\n", rules)) == ["Use A"]
    assert names_of(read("rfcs/1.md", "# Use A\n", rules)) == ["Use A"]
    assert names_of(read("why/deep/1.md", "# Use A\n", rules)) == []


def test_the_name_is_the_title_else_the_heading_else_the_file_name() -> None:
    assert record("---\ntitle: From front\n---\n# Heading\n").name == "From front"
    assert record("Text first.\n\n### `Heading` *here*\n").name == "Heading here"
    assert record("Only text.\n", "docs/adr/0007-Use.B.md").name == "0007-Use.B"


@pytest.mark.parametrize(
    "path",
    [
        "docs/adr/README.md",
        "docs/adr/index.md",
        "docs/adr/template.md",
        "docs/adr/0000-adr-template.md",
        "docs/adr/0001-template.md",
        "docs/adr/Template_long.md",
        "adr-template.md",
    ],
)
def test_folder_pages_and_templates_are_no_records(path: str) -> None:
    assert read(path, "# Use A\n\n## Decision\n\nText.\n").entities == []


def test_a_declared_type_makes_a_readme_a_record() -> None:
    assert names_of(read("docs/adr/README.md", "---\ntype: adr\n---\n# Use A\n")) == ["Use A"]


@pytest.mark.parametrize(
    "title",
    [
        "[short title of solved problem and solution]",
        "{title}",
        "{{ title }}",
        "NUMBER. TITLE",
        "ADR-{number}: {short title}",
        "ADR-XXX: [Title]",
        "Title",
    ],
)
def test_a_placeholder_title_is_no_record(title: str) -> None:
    assert read(RECORD, f"# {title}\n\nStatus: accepted\n\n## Decision Outcome\n\nText.\n").entities == []


@pytest.mark.parametrize(
    "status", ["STATUS", "{proposed | accepted}", "[proposed | rejected | accepted]", "proposed | accepted | rejected"]
)
def test_a_placeholder_status_is_no_record(status: str) -> None:
    assert read(RECORD, f"# Use A\n\nStatus: {status}\n").entities == []
    assert read(RECORD, f'---\nstatus: "{status}"\n---\n# Use A\n').entities == []


def test_a_single_word_in_brackets_is_a_status() -> None:
    assert record("# A\n\nStatus: [accepted]\n").status == "[accepted]"
    assert record("---\nstatus: [accepted]\n---\n# A\n").status == "accepted"
    assert record("---\nstatus: [accepted, implemented]\n---\n# A\n").status == "accepted, implemented"
    assert record("---\nstatus:\n  state: accepted\n---\n# A\n").status == "accepted"
    assert record("---\nstatus: {since: 2024, value: rejected}\n---\n# A\n").status == "rejected"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("docs/adr/decision-log.md", "Architecture Decision Records"),
        ("docs/decisions/0000-index.md", "What we decided"),
        ("docs/adr/toc.md", "Contents of all"),
        ("docs/adr/all.md", "Decision Log"),
    ],
)
def test_a_page_that_lists_the_records_of_its_folder_is_none(path: str, title: str) -> None:
    assert read(path, f"# {title}\n\n| ADR | Status |\n|--|--|\n| [1](0001-a.md) | accepted |\n").entities == []
    assert names_of(read(path, f"# {title}\n\nStatus: accepted\n")) == [title]


@pytest.mark.parametrize("title", ["Use /users/{id} routes", "[RFC] Use A", "3. Titles are short", "Use <T> types"])
def test_brackets_within_a_title_are_no_placeholder(title: str) -> None:
    assert len(read(RECORD, f"# {title}\n").entities) == 1


def test_a_record_without_text_states_nothing() -> None:
    assert read(RECORD, "").entities == []
    assert read(RECORD, "\n\n").entities == []


# --- status and date ------------------------------------------------------------------------------

STATUS_FORMS = {
    "front matter": "---\nstatus: accepted\n---\n# A\n",
    "front matter, other case": "---\nStatus: accepted\n---\n# A\n",
    "line": "# A\n\nStatus: accepted\n",
    "line, other case": "# A\n\nSTATUS : accepted\n",
    "bold key": "# A\n\n**Status**: accepted\n",
    "bold key with colon": "# A\n\n**Status:** accepted\n",
    "bold line": "# A\n\n**Status: accepted**\n",
    "italic": "# A\n\n_Status:_ accepted\n",
    "among lines": "# A\n\nAuthor: b\nStatus: accepted  \nDate: 2026-02-03\n",
    "list": "# A\n\n- Author: b\n- Status: accepted\n- Date: 2026-02-03\n",
    "bold list": "# A\n\n* **Status**: accepted\n* **Date**: 2026-02-03\n",
    "loose list": "# A\n\n- Status: accepted\n\n- Date: 2026-02-03\n",
    "section": "# A\n\n## Status\n\naccepted\n\n## Context\n\nText.\n",
    "section with a list": "# A\n\n## Status:\n\n- accepted\n- reviewed\n",
    "section in bold": "# A\n\n### 1. Status\n\n**accepted**\n\nMore.\n",
    "heading": "# A\n\n## Status: accepted\n\nText.\n",
    "two-row table": "# A\n\n| Date | Status |\n| --- | --- |\n| 2026-02-03 | accepted |\n",
    "two-column table": "# A\n\n| Key | Value |\n| --- | --- |\n| Status | accepted |\n| Date | 2026-02-03 |\n",
    "headless two-column table": "# A\n\n| **Status** | accepted |\n| --- | --- |\n| **Date** | 2026-02-03 |\n",
    "comment after": "# A\n\nStatus: accepted <!-- or proposed -->\n",
    "bold value": "# A\n\nStatus: **accepted**\n",
    "bold key and value": "# A\n\n**Status:** **accepted**\n",
    "italic key": "# A\n\n*Status:* accepted\n",
    "underlines": "# A\n\n__Status__: __accepted__\n",
    "all at once": "# A\n\n***Status:*** ***accepted***\n",
    "emphasis that does not close": "# A\n\nStatus: *accepted\n",
    "emphasis without a space": "# A\n\n**Status:**accepted\n",
    "emphasised section": "# A\n\n## Status\n\n__accepted__\n",
    "code": "# A\n\nStatus: `accepted`\n",
    "struck out before": "# A\n\nStatus: ~~proposed~~ accepted\n",
    "deleted before": "# A\n\n## Status\n\n<del>proposed</del> → accepted\n",
    "struck line before": "# A\n\n## Status\n\n~~proposed~~\n\naccepted\n",
    "badge": "# A\n\n![Status: accepted](status.svg)\n",
    "bars": "# A\n\n**Status:** accepted | **Date:** 2026-02-03 | **Deciders:** b\n",
    "plain bars": "# A\n\nAuthor: b | Status: accepted | Date: 2026-02-03\n",
    "dots": "# A\n\nStatus: accepted · Date: 2026-02-03\n",
    "breaks": "# A\n\n**Status:** accepted<br>**Date:** 2026-02-03\n",
    "side by side": "# A\n\n**Status:** accepted **Date:** 2026-02-03\n",
    "comma": "# A\n\nStatus: accepted, date: 2026-02-03\n",
    "definition list": "# A\n\nStatus\n: accepted\n\nDate\n: 2026-02-03\n",
    "bold label": "# A\n\n**Status**\n\naccepted\n\n**Context**\n\nText.\n",
    "bold label in a list": "# A\n\n- **Status**\n  - accepted\n- **Date**: 2026-02-03\n",
    "label above": "# A\n\n**Status:**\naccepted\n",
    "bold label beside": "# A\n\n**Status** accepted\n",
    "dash": "# A\n\n- Status – accepted\n- Date: 2026-02-03\n",
    "row without a table": "# A\n\n| Status | accepted |\n",
    "task list": "# A\n\n## Status\n\n- [ ] proposed\n- [x] accepted\n- [ ] rejected\n",
    "task list, last ticked": "# A\n\n## Status\n\n- [x] proposed\n- [X] accepted\n- [ ] superseded\n",
    "task list below a request": "# A\n\n## Status\n\nTick one:\n\n* [ ] proposed\n* [x] **accepted**\n",
    "task list below a key": "# A\n\n- Status:\n  - [ ] proposed\n  - [x] accepted\n- Date: 2026-02-03\n",
    "task list below a line": "# A\n\n**Status:**\n\n- [ ] proposed\n- [x] accepted\n",
    "boxes on one line": "# A\n\nStatus: [ ] proposed [x] accepted [ ] rejected\n",
    "boxes as letters": "# A\n\n## Status\n\n- ☐ proposed\n- ☑ accepted\n",
    "boxes in a table": "# A\n\n| Status | Date |\n|--|--|\n| [ ] proposed [x] accepted | 2026-02-03 |\n",
    "quote": "# A\n\n> Status: accepted\n> Date: 2026-02-03\n\n## Context\n",
    "list in a quote": "# A\n\n> - **Status**: accepted\n> - **Date**: 2026-02-03\n",
    "note": "# A\n\n> [!NOTE]\n> Status: accepted\n",
    "quote above the title": "> Status: accepted\n\n# A\n",
    "section with a quote": "# A\n\n## Status\n\n> accepted\n",
    "bold HTML": "# A\n\n<b>Status</b>: accepted<br/>\n<b>Date</b>: 2026-02-03\n",
    "HTML paragraph": "# A\n\n<p><strong>Status:</strong> accepted</p>\n",
    "HTML list": "# A\n\n<ul>\n<li>Status: <em>accepted</em>\n<li>Date: 2026-02-03\n</ul>\n",
    "HTML definition list": "# A\n\n<dl>\n<dt>Status</dt><dd>accepted</dd>\n<dt>Date\n<dd>2026-02-03\n</dl>\n",
    "HTML table": "# A\n\n<table>\n<tr><th>Status</th><td>accepted</td></tr>\n"
    "<tr><td>Date</td><td><p>2026-02-03</p></td></tr>\n</table>\n",
    "HTML table with a head": "# A\n\n<table><thead><tr><th>Status</th><th>Date</th></tr></thead>\n"
    "<tr><td>accepted</td><td>2026-02-03</td></tr></table>\n",
    "section with attributes": "# A\n\n## Status {#status}\n\naccepted\n",
    "section with attributes below": "# A\n{: .title }\n\n## Status\n{: .no_toc }\n\naccepted\n{: .label }\n",
    "table above the sections": "# A\n\n| Created | Status |\n|--|--|\n| 2026-02-03 | accepted |\n\n"
    "## How to supersede\n\nStatus: superseded by ADR-1\n",
    "created": "# A\n\n| Created    | Status   |\n|--|--|\n| 2026-02-03 | accepted |\n",
    "created before a date": "# A\n\n- Start Date: 2025-01-01\n- Status: accepted\n- Decision date: 2026-02-03\n",
    "PEP": "PEP: 1\nTitle: A\nStatus: accepted\nCreated: 2026-02-03\n\nAbstract\n========\n",
    "KEP": "---\nkep-number: 1\nstatus: accepted\ncreation-date: 2026-02-03\nsuperseded-by:\n  - n/a\n---\n# A\n",
    "section with HTML": "# A\n\n## Status\n\n<!-- proposed or accepted -->\n\n<p>accepted</p>\n",
}


@pytest.mark.parametrize("form", STATUS_FORMS)
def test_each_form_of_status_is_read_as_a_clean_word(form: str) -> None:
    found = record(STATUS_FORMS[form])
    assert found.status == "accepted"
    if "2026-02-03" in STATUS_FORMS[form]:
        assert found.date == "2026-02-03"


NO_STATUS = {
    "prose": "# A\n\nWe have not accepted this.\n",
    "prose with the word": "# A\n\nThe status: accepted\n",
    "prose after a dash": "# A\n\nStatus - we have not accepted this\n",
    "prose after a bold label": "# A\n\n**Status** of the cache is unknown.\n",
    "prose below a bold label": "# A\n\n**Status**\n\nThe cache is slow.\n",
    "item beside an empty key": "# A\n\n- Status:\n- Anna and Ben\n",
    "nothing ticked": "# A\n\n## Status\n\n- [ ] proposed\n- [ ] accepted\n",
    "nothing ticked on the line": "# A\n\nStatus: [ ] proposed [ ] accepted\n",
    "all struck out": "# A\n\nStatus: ~~accepted~~\n",
    "quote below a section": "# A\n\n## Context\n\n> Status: accepted\n",
    "quote in a quote": "# A\n\n> > Status: accepted\n",
    "comment": "# A\n\n<!-- Status: accepted -->\n",
    "listing in HTML": "# A\n\n<pre>\nStatus: accepted\n</pre>\n",
    "history": "# A\n\n| Date | Status |\n|--|--|\n| 2026-01-01 | proposed |\n| 2026-02-03 | accepted |\n",
    "task list elsewhere": "# A\n\n- [ ] proposed\n- [x] accepted\n",
    "another word for state": "# A\n\n## Estado\n\nEl estado vive en la base.\n",
    "denied in Spanish": "# A\n\nEstado: no aceptado todavía\n",
    "prose in French": "# A\n\nÉtat : la valeur est active\n",
    "prose in Chinese": "# A\n\n状态：由服务器保存\n",
}


@pytest.mark.parametrize("form", NO_STATUS)
def test_prose_and_options_are_no_status(form: str) -> None:
    assert record(NO_STATUS[form]).status is None


STATUS_TEXTS = {
    "**Status: Accepted** (2024)": "Accepted (2024)",
    "**Status:** **Accepted** on 2024-01-02": "Accepted on 2024-01-02",
    "Status: _Accepted_ *today*": "Accepted today",
    "Status: ✅ Accepted": "✅ Accepted",
    "Status: Accepted, see `a_b` and __init__.py": "Accepted, see a_b and init.py",
    "Status: Accepted | https://example.org/x": "Accepted",
    "Status: Accepted; needs review": "Accepted; needs review",
    "Status: Superseded by <a href='0003-c.md'>3. C</a>": "Superseded by 3. C",
}


@pytest.mark.parametrize("line", STATUS_TEXTS)
def test_a_status_is_its_text_without_marks(line: str) -> None:
    assert record(f"# A\n\n{line}\n").status == STATUS_TEXTS[line]


LANGUAGES = {
    "Status: Angenommen\nDatum: 2026-02-03": ("Angenommen", "2026-02-03"),
    "Stand: Entwurf": ("Entwurf", None),
    "Stand: Januar 2024": (None, None),
    "Statut : Accepté": ("Accepté", None),
    "État : Acceptée\nDate : 2026-02-03": ("Acceptée", "2026-02-03"),
    "**Estado:** Aceptado\n**Fecha:** 2026-02-03": ("Aceptado", "2026-02-03"),
    "Estado: En revisión (2024)": ("En revisión (2024)", None),
    "- Situação: Aceito\n- Data: 2026-02-03": ("Aceito", "2026-02-03"),
    "Stato: Accettata": ("Accettata", None),
    "Data: the rows of a table": (None, None),
    "状态：已接受\n日期：2026-02-03": ("已接受", "2026-02-03"),
    "**狀態：**已採納": ("已採納", None),
    "ステータス: 承認済み": ("承認済み", None),
    "状態：承認済み": ("承認済み", None),
    "상태: 승인됨": ("승인됨", None),
    "Статус: Принято\nДата: 2026-02-03": ("Принято", "2026-02-03"),
    "| Статус | Принято |\n|--|--|\n| Дата | 2026-02-03 |": ("Принято", "2026-02-03"),
    "## Statut\n\nAccepté": ("Accepté", None),
    "## Estado\n\nAceptado": ("Aceptado", None),
    "## 2. Estado: Aceptado": ("Aceptado", None),
    "## 状态\n\n已被 ADR-12 取代": ("已被 ADR-12 取代", None),
    "## Estado\n\n- [ ] Propuesto\n- [x] Aceptado": ("Aceptado", None),
    "**Estado**\n\nAceptado": ("Aceptado", None),
    "Estado:\n\n- [ ] Propuesto\n- [x] Aceptado": ("Aceptado", None),
    "Estado:\nEl estado vive en la base.": (None, None),
    "## Estado\n\n- [x] probado\n\n## Status\n\nAceptado": ("Aceptado", None),
}


@pytest.mark.parametrize("text", LANGUAGES)
def test_labels_of_other_languages_and_the_status_as_written(text: str) -> None:
    found = record(f"# A\n\n{text}\n")
    assert (found.status, found.date) == LANGUAGES[text]


HEADED = {
    "## Status :white_check_mark:\n\nAccepted": ("Accepted", None),
    "## ✅ Status\n\nAccepted": ("Accepted", None),
    "## Status: :tada: Accepted": ("Accepted", None),
    "## Date\n\n2026-01-01": (None, "2026-01-01"),
    "## Status\n\nAccepted\n\n## Date\n\n2026-01-01": ("Accepted", "2026-01-01"),
    "## Date\n\n- 2026-01-01": (None, "2026-01-01"),
    "## Date: 2026-01-01": (None, "2026-01-01"),
    "## Created\n\nMarch 2026": (None, "March 2026"),
    "## Datum\n\n1. Januar 2026": (None, "1. Januar 2026"),
    "## 日期\n\n2026年1月2日": (None, "2026年1月2日"),
    "## 日付\n\n2026-01-01": (None, "2026-01-01"),
    "## Дата\n\n2 января 2026 г.": (None, "2 января 2026 г."),
    "## Data\n\n12 de março de 2026": (None, "12 de março de 2026"),
    "## Data\n\nWe store 2024 rows": (None, None),
    "## Date\n\nUnknown, before 2024": (None, None),
    "Status - Accepted\nDate - 2026-01-01": ("Accepted", "2026-01-01"),
    "Date - we met in 2024": (None, None),
    "**Date** 2026-01-01": (None, "2026-01-01"),
    "**Date**\n\n2026-01-01": (None, "2026-01-01"),
    "Date:\n2026-01-01": (None, "2026-01-01"),
    "Date:\n\n## Context\n\n2026-01-01": (None, None),
}


@pytest.mark.parametrize("text", HEADED)
def test_status_and_date_below_their_labels_and_after_dashes(text: str) -> None:
    found = record(f"# A\n\n{text}\n")
    assert (found.status, found.date) == HEADED[text]


def test_front_matter_in_other_languages() -> None:
    found = record("---\nestado: aceptado\nfecha: 2026-02-03\nreemplaza: 0001-a.md\n---\n# A\n")
    assert (found.status, found.date, found.supersedes) == ("aceptado", "2026-02-03", ["0001-a.md"])


CHOICES = [
    "What is the status, such as proposed, accepted, rejected, deprecated, superseded, etc.?",
    "proposed / accepted / rejected",
    "Proposed, Accepted, Rejected, Deprecated",
    "提议 / 采纳 / 废弃 / 替代",
    "Aceito | Proposto | Rejeitado",
    "propuesto, aceptado o rechazado",
]


@pytest.mark.parametrize("status", CHOICES)
def test_a_status_that_lists_all_options_was_never_filled_in(status: str) -> None:
    assert read(RECORD, f"# Use A\n\n## Status\n\n{status}\n").entities == []


PLAIN_RECORDS = {
    "docs/adr/0003-a.rst": "1. Use A\n========\n\nStatus\n------\n\n**accepted**\n\n:Date: 2026-02-03\n",
    "docs/adr/0004-a.rst": "=======\n1) Use A\n=======\n\n:Status: accepted\n:Date: 2026-02-03\n",
    "docs/adr/0003-a.adoc": '= Use A\n\n[cols="1,6"]\n|===\n|Status |accepted\n|Date |2026-02-03\n|===\n',
    "docs/adr/0004-a.adoc": "= Use A\n\n|===\n|Date |Status\n\n|2026-02-03 |accepted\n|===\n",
    "docs/adr/0005-a.adoc": "= Use A\n\n== Status\n\n* [ ] proposed\n* [*] accepted\n\nDate: 2026-02-03\n",
    "docs/adr/0001-a.rst": "Use A\n=====\n\n:Status: accepted\n:Date: 2026-02-03\n\nSee ``src/a.py`` and :func:`b`.\n",
    "docs/adr/0002-a.rst": "=====\nUse A\n=====\n\nDate: 2026-02-03\n\n"
    "Status\n------\n\naccepted\n\nContext\n-------\n\n`l <x.rst>`_\n",
    "docs/adr/0001-a.adoc": "= Use A\n:status: accepted\n:date: 2026-02-03\n\nSee `src/a.py`, link:x.adoc[x].\n",
    "docs/adr/0002-a.adoc": "= Use A\n\nDate:: 2026-02-03\n\n== Status\n\naccepted\n\n----\nStatus: no\n----\n",
    "adr/3.txt": "Use A\n=====\n\nStatus: accepted\nDate: 2026-02-03\n",
    "adr/4.txt": "# Use A\n\nStatus: accepted\nDate: 2026-02-03\n",
}


@pytest.mark.parametrize("path", PLAIN_RECORDS)
def test_records_in_other_formats(path: str) -> None:
    found = record(PLAIN_RECORDS[path], path)
    assert (found.name[-5:], found.status, found.date) == ("Use A", "accepted", "2026-02-03")


def test_citations_in_other_formats() -> None:
    document = read("docs/adr/0001-a.rst", PLAIN_RECORDS["docs/adr/0001-a.rst"])
    assert [(cite.value, cite.line) for cite in document.entities[0].cites] == [("src/a.py", 7), ("b", 7)]
    linked = read("docs/adr/0002-a.rst", PLAIN_RECORDS["docs/adr/0002-a.rst"])
    assert [(cite.kind, cite.value) for cite in linked.entities[0].cites] == [("link", "x.rst")]


ROLES = {
    ":func:`load`": ("load", [("code", "load")]),
    ":py:meth:`~app.Cache.get`": ("app.Cache.get", [("code", "app.Cache.get")]),
    ":class:`the cache <app.Cache>`": ("app.Cache", [("code", "app.Cache")]),
    ":doc:`Use B <0002-b>`": ("Use B", [("link", "0002-b")]),
    ":ref:`the part <part>`": ("the part", []),
    ":prop_tgt:`CXX_STANDARD`": ("CXX_STANDARD", [("code", "CXX_STANDARD")]),
    "`text <src/a.py>`__": ("text", [("link", "src/a.py")]),
}


@pytest.mark.parametrize("role", ROLES)
def test_roles_of_restructuredtext_are_read_as_what_they_lead_to(role: str) -> None:
    name, cites = ROLES[role]
    (found,) = read("CHANGES.rst", f"1.0\n---\n\n* {role}\n").entities
    assert (found.name, [(cite.kind, cite.value) for cite in found.cites]) == (name, cites)


def test_front_matter_comes_before_lines_and_sections() -> None:
    text = "---\nstatus: one\n---\n# A\n\nStatus: two\nDate: d\n\n## Status\n\nthree\n"
    assert (record(text).status, record(text).date) == ("one", "d")
    assert record("# A\n\nStatus: two\n\n## Status\n\nthree\n").status == "two"


def test_lines_count_only_near_the_top_and_only_at_top_level() -> None:
    assert record("# A\n" + "\n" * 38 + "Status: accepted\n").status == "accepted"
    assert record("# A\n" + "\n" * 39 + "Status: accepted\n").status is None
    assert record("# A\n\n```\nStatus: accepted\n```\n").status is None
    assert record("# A\n\nThe status: open\n").status is None


def test_long_metadata_is_cut() -> None:
    document = read(RECORD, f"# A\n\nStatus: {'x' * 200}\nDate: {'y' * 129}\n")
    assert document.reasons == ["metadata-limit"]
    assert (len(document.entities[0].status or ""), len(document.entities[0].date or "")) == (128, 128)
    titled = read(RECORD, f"---\ntitle: {'t' * 300}\n---\n")
    assert titled.reasons == ["metadata-limit"]
    assert len(titled.entities[0].name) == 256


LONG_TITLES = {
    "heading": f"# {'x' * 300}\n\nText.\n",
    "heading that would part a letter": f"# {'x' * 255}e\u0301{'y' * 40}\n",
    "front matter": f"---\ntitle: {'x' * 300}\n---\n# A\n",
    "field": f"Title: {'x' * 300}\n\n# Summary\n",
}


@pytest.mark.parametrize("form", LONG_TITLES)
def test_a_long_title_is_cut_and_the_record_stays(form: str) -> None:
    document = read(RECORD, LONG_TITLES[form])
    (found,) = document.entities
    assert found.name.strip("x") == ""
    assert len(found.name) == (255 if "part" in form else 256)
    assert document.title == found.name
    assert document.reasons == ["metadata-limit"]


def test_a_long_decision_heading_is_no_name() -> None:
    document = read("docs/a.md", f"# A\n\n## Decision {'x' * 257}\n")
    assert (document.entities, document.reason_lines) == ([], {"name-limit": 3})


def test_a_long_id_ends_in_its_hash() -> None:
    found = record(f"# {'x' * 256}\n")
    assert len(found.id) == 256
    assert found.id[-33] == ":"


# --- supersession ---------------------------------------------------------------------------------

SUPERSESSION = {
    "---\nsupersedes: 0001-a.md\n---\n# A\n": (["0001-a.md"], []),
    "---\nsupersedes: [0001-a.md, ADR-2]\nsuperseded-by: 0009-b.md\n---\n# A\n": (
        ["0001-a.md", "ADR-2"],
        ["0009-b.md"],
    ),
    "---\nsupersededBy: 12\nreplaces: 0003\n---\n# A\n": (["0003"], ["12"]),
    "---\nsupersedes:\n  adrs: [0001-a.md, ADR-2]\n  rfcs: []\nsuperseded-by: n/a\n---\n# A\n": (
        ["0001-a.md", "ADR-2"],
        [],
    ),
    "# A\n\n## Status\n\nAccepted\n\nAmends [2. B](0002-b.md)\n\nAmended by [4. D](0004-d.md)\n": ([], []),
    "---\nsuperceded_by: '[B](0009-b.md)'\n---\n# A\n": ([], ["0009-b.md"]),
    "---\nsupersedes: [[0001-a]]\n---\n# A\n": (["0001-a"], []),
    "---\nsupersedes: none\nsuperseded-by:\n---\n# A\n": ([], []),
    "---\nstatus: superseded by ADR-0012\n---\n# A\n": ([], ["ADR-0012"]),
    "---\nstatus: superseded by [ADR-5](0005-e.md)\n---\n# A\n": ([], ["0005-e.md"]),
    "# A\n\nSupersedes: 0001-a.md, 0002-b.md\n": (["0001-a.md", "0002-b.md"], []),
    "# A\n\nSuperseded-by: [3. C](0003-c.md)\n": ([], ["0003-c.md"]),
    "# A\n\n**Superseded by:** ADR 12\n": ([], ["ADR 12"]),
    "# A\n\n- Supercedes: `0001-a.md`\n- Replaced by: ADR-9\n": (["0001-a.md"], ["ADR-9"]),
    "# A\n\nStatus: Superseded by [3. C](0003-c.md)\n": ([], ["0003-c.md"]),
    "# A\n\nStatus: superceded by 0012\n": ([], ["0012"]),
    "# A\n\nStatus: Replaced by ADR-12 on 2024-01-10\n": ([], ["ADR-12"]),
    "# A\n\nStatus: accepted, supersedes ADR-3 and ADR-4\n": (["ADR-3", "ADR-4"], []),
    "# A\n\nStatus: accepted, supercedes [1](0001-a.md). See [2](0002-b.md).\n": (["0001-a.md"], []),
    "# A\n\nStatus: replaces [a](a.md), superseded by [b](b.md)\n": (["a.md"], ["b.md"]),
    "# A\n\n## Status\n\nAccepted\n\nSupersedes [3. C](0003-c.md)\n\nSuperseded by [4. D](0004-d.md)\n": (
        ["0003-c.md"],
        ["0004-d.md"],
    ),
    "# A\n\n## Status\n\nSuperseded by [ADR-12](https://example.org/12)\n": ([], ["ADR-12"]),
    "# A\n\n| Status | Supersedes |\n|---|---|\n| accepted | [a](a.md) |\n": (["a.md"], []),
    "# A\n\nStatus: superseded\n": ([], []),
    "# A\n\nStatus: superseded by a later decision\n": ([], []),
    "# A\n\nText that supersedes [a](a.md).\n": ([], []),
    "# A\n\n## Status\n\nAccepted. This decision is not superseded by ADR-1.\n": ([], []),
    "# A\n\n## Status\n\nProposed; would be superseded by [1](0001-one.md) if accepted.\n": ([], []),
    "# A\n\n## Status\n\nThis may not hold. Superseded by ADR-4.\n": ([], ["ADR-4"]),
    "# A\n\nSupersedes: 4, 5\n": (["4", "5"], []),
    "# A\n\nSuperseded by: [B](b.md), 5 and ADR 6\n": ([], ["b.md", "5", "ADR 6"]),
    "# A\n\n<b>Superseded by:</b> 12\n": ([], ["12"]),
    "# A\n\n> **Superseded by [B](b.md)**\n\n## Status\n\nAccepted\n": ([], ["b.md"]),
    "# A\n\n## Context\n\n> Superseded by [B](b.md)\n": ([], []),
    "# A\n\n<table><tr><td>Superseded by</td><td><a href='b.md'>B</a></td></tr></table>\n": ([], ["b.md"]),
    "# A\n\nStatus: accepted, supersedes: ADR-3\n": (["ADR-3"], []),
    "# A\n\n## Status\n\n- [ ] Superseded by ADR-3\n- [x] Accepted\n": ([], []),
    "# A\n\nStatus: ~~superseded by ADR-3~~ accepted\n": ([], []),
    "# A\n\n## Status\n\n- [ ] Accepted\n- [x] Superseded by ADR-3\n": ([], ["ADR-3"]),
    "---\nsupersedes: 4, 5\nsuperseded-by: [6, 7]\n---\n# A\n": (["4", "5"], ["6", "7"]),
    "# A\n\nStatus: Superseded by\n[2. A long title](0002-b.md)\n": ([], ["0002-b.md"]),
    "# A\n\nStatus: Superseded by\nDate: 2026-01-01\n": ([], []),
    "# A\n\n状态：已取代：[1](0001-new.md)\n": ([], ["0001-new.md"]),
    "# A\n\nErsetzt durch: [B](b.md)\nErsetzt: ADR-3\n": (["ADR-3"], ["b.md"]),
}


@pytest.mark.parametrize("text", SUPERSESSION)
def test_supersession_in_every_form_with_its_direction(text: str) -> None:
    found = record(text)
    assert (found.supersedes, found.superseded_by) == SUPERSESSION[text]


PHRASES = {
    "Superseded by 1, 2 and ADR 3": ([], ["1", "2", "ADR 3"]),
    "Superseded by #4, #5 & #6.": ([], ["4", "5", "6"]),
    "Superseded by: ADR-3": ([], ["ADR-3"]),
    "Superseded by ADRs 4 and 5": ([], ["ADRs 4", "5"]),
    "Superseded by ADR no. 4": ([], ["ADR no. 4"]),
    "Superseded by ADR-4/ADR-5": ([], ["ADR-4", "ADR-5"]),
    "Supersedes ADR-3 (storage) and ADR-4 (queue)": (["ADR-3", "ADR-4"], []),
    "Superseded by 1, 2 and [ADR 3](0003-x.md)": ([], ["1", "2", "0003-x.md"]),
    "Superseded by ADR-3 ([storage](0003-x.md))": ([], ["0003-x.md"]),
    "Superseded by `0003-x.md` and `0004-y.md`": ([], ["0003-x.md", "0004-y.md"]),
    "Superseded by 0003-use-x": ([], ["0003-use-x"]),
    "Superseded by [[0003-use-x]]": ([], ["0003-use-x"]),
    "Superseded by the new storage decision, ADR-3": ([], ["ADR-3"]),
    "Superseded by ADR-3 which extends ADR-2": ([], ["ADR-3"]),
    "Superseded by 12 on 05 March 2024": ([], ["12"]),
    "Superseded by 12, 2024-01-10": ([], ["12"]),
    "Superseded by 12, 2024": ([], ["12"]),
    "Superseded by 12. Then came 13.": ([], ["12"]),
    "Superseded by 3 newer services": ([], []),
    "Superseded by 12 March 2024": ([], []),
    "No longer used, superseded by ADR-3": ([], ["ADR-3"]),
    "Ersetzt durch ADR-12": ([], ["ADR-12"]),
    "Wurde durch ADR-12 und ADR-13 ersetzt": ([], ["ADR-12", "ADR-13"]),
    "Ersetzt ADR-3": (["ADR-3"], []),
    "Ersetzt (siehe ADR-12)": ([], []),
    "Wurde nicht ersetzt durch ADR-3": ([], []),
    "Remplacé par l'ADR 12": ([], ["ADR 12"]),
    "Remplace ADR-3 et ADR-4": (["ADR-3", "ADR-4"], []),
    "N'est pas remplacé par ADR-3": ([], []),
    "Reemplazada por ADR-12": ([], ["ADR-12"]),
    "Sustituido por 4, 5 y 6": ([], ["4", "5", "6"]),
    "Sustituye a ADR-3": (["ADR-3"], []),
    "Substituído por ADR-12": ([], ["ADR-12"]),
    "Substitui ADR-3": (["ADR-3"], []),
    "Sostituito dall'ADR-12": ([], ["ADR-12"]),
    "Sostituisce ADR-3": (["ADR-3"], []),
    "已被 ADR-12 取代": ([], ["ADR-12"]),
    "已被ADR-12取代": ([], ["ADR-12"]),
    "被取代：ADR-12": ([], ["ADR-12"]),
    "取代 ADR-3": (["ADR-3"], []),
    "未被 ADR-12 取代": ([], []),
    "已取代（见 ADR-12）": ([], []),
    "ADR-12に置き換えられた": ([], ["ADR-12"]),
    "ADR-3を置き換える": (["ADR-3"], []),
    "ADR-12 に置き換えられていない": ([], []),
    "ADR-12(으)로 대체됨": ([], ["ADR-12"]),
    "ADR-3을 대체함": (["ADR-3"], []),
    "Заменено на ADR-12": ([], ["ADR-12"]),
    "Заменено решением ADR-12": ([], ["ADR-12"]),
    "已被 [1. 新的](0001-new.md) 取代": ([], ["0001-new.md"]),
    "被 [1](0001-new.md) 取代": ([], ["0001-new.md"]),
    "已废弃,由 [1](0001-new.md) 取代": ([], ["0001-new.md"]),
    "已被 0001-new.md 取代": ([], ["0001-new.md"]),
    "Wurde durch [1. Neu](0001-neu.md) ersetzt": ([], ["0001-neu.md"]),
    "已取代:[1](0001-new.md)": ([], ["0001-new.md"]),
    "已替代：ADR-1": ([], ["ADR-1"]),
    "已取代 ADR-1": ([], []),
    "已取代了 ADR-1": (["ADR-1"], []),
    "**Superseded** by **[2](0002-p.md)**": ([], ["0002-p.md"]),
    "Superseded (by [2](0002-p.md))": ([], ["0002-p.md"]),
    "<b>Superseded</b> by [2](0002-p.md)": ([], ["0002-p.md"]),
    "[Superseded by 2](0002-p.md)": ([], ["0002-p.md"]),
    "Superseded by [3. Loaders, replaced by one](0003-p.md)": ([], ["0003-p.md"]),
    "Superseded, see [2](0002-p.md)": ([], []),
    "Superseded by\n[2](0002-p.md)": ([], ["0002-p.md"]),
    "Superseded\nby [2](0002-p.md)": ([], ["0002-p.md"]),
    "Superseded by:\n\n- [2](0002-p.md)\n- [3](0003-q.md)": ([], ["0002-p.md", "0003-q.md"]),
    "Superseded by:\n\n[2](0002-p.md)\n\nSee [3](0003-q.md)": ([], ["0002-p.md"]),
    "Ersetzt\n\n[2](0002-p.md)": ([], []),
    "Заменяет 3 и 4": (["3", "4"], []),
    "Не заменено на ADR-3": ([], []),
}


@pytest.mark.parametrize("status", PHRASES)
def test_the_records_that_a_status_names(status: str) -> None:
    found = record(f"# A\n\n## Status\n\n{status}\n")
    assert (found.supersedes, found.superseded_by) == PHRASES[status]
    assert found.status is not None


def test_each_supersession_has_the_line_that_states_it() -> None:
    text = "---\nsupersedes: 1\n---\n# A\n\nStatus: superseded by ADR-3\n\n| Replaces | x |\n|--|--|\n| ADR-4 | y |\n"
    assert record(text).stated == {"1": 2, "ADR-3": 6, "ADR-4": 8}


NAMES = {
    ("1. Use A\n========\n\nStatus\n------\n\naccepted\n", "docs/adr/0001-a.rst"): "1. Use A",
    ("- Feature Name: `box_patterns`\n- Start Date: 2014-01-01\n\n# Summary\n\nText.\n", RECORD): "box_patterns",
    ("- Feature Name: (fill me in)\n\n# Summary\n\nText.\n", RECORD): "0007-x",
    ("# Summary\n\nText.\n", RECORD): "0007-x",
    ("# Summary\n\nText.\n", "docs/adr/0007-boxes/README.md"): "0007-boxes",
    ("# Status\n\naccepted\n", RECORD): "0007-x",
    ("## 1. Context\n\nText.\n\n## 2. Decision\n", RECORD): "0007-x",
    ("## Contexto y problema\n\nText.\n", RECORD): "0007-x",
    ("## 背景\n\nText.\n", RECORD): "0007-x",
    ("Title: Use B\nStatus: Draft\n\nAbstract\n========\n", "docs/adr/pep-0008.rst"): "Use B",
    ("**Title:** Use B\n\n## Status\n\nDraft\n", RECORD): "Use B",
    ("PEP: 8\nTitle: Use B\nStatus: Draft\n\nWhat it is\n==========\n", "docs/adr/pep-0008.rst"): "Use B",
    ("# Use A\n\nTitle: Use B\n", RECORD): "Use A",
    ("# Use A {#use-a}\n", RECORD): "Use A",
    ("# Use A {: #use-a .title}\n", RECORD): "Use A",
    ("Use A {.unnumbered}\n===\n", RECORD): "Use A",
    ("# Use A {-} #\n", RECORD): "Use A",
    ("# Use A {/* #use-a */}\n", RECORD): "Use A",
    ("# Use A \\{#use-a}\n", RECORD): "Use A",
    ('# Use `A` {#use-a data-x="a b" k=v}\n', RECORD): "Use A",
    ("# {#use-a} Use A\n", RECORD): "{#use-a} Use A",
    ("# Use {{ .Values.a }}\n", RECORD): "Use {{ .Values.a }}",
    ("# Use {a: b}\n", RECORD): "Use {a: b}",
    ("# Use {x=1}\n", RECORD): "Use {x=1}",
    ("# Use /users/{id}\n", RECORD): "Use /users/{id}",
    ("[[adr-1]]\n= Use A [[use-a]]\n", "docs/adr/1.adoc"): "Use A",
    ("Titre : Utiliser B\n\n## Statut\n\nDraft\n", RECORD): "Utiliser B",
    ("---\ntitle: From front\n---\n- Feature Name: b\n\n# Summary\n", RECORD): "From front",
    ("- Feature Name: b\n\n# Use A\n", RECORD): "Use A",
    ("# Context of requests\n", RECORD): "Context of requests",
    ("# Decisions\n\nText.\n", "decisions.md"): "Decisions",
}


@pytest.mark.parametrize(("text", "path"), NAMES)
def test_a_section_of_every_record_is_no_name(text: str, path: str) -> None:
    rules = DocumentRules(records=("**/README.md",))
    (found,) = read(path, text, rules).entities
    assert found.name == NAMES[text, path]
    assert read(path, text, rules).title == found.name


def test_a_status_with_a_link_is_its_text() -> None:
    assert record("# A\n\n## Status\n\nSuperseded by [3. C](0003-c.md)\n").status == "Superseded by 3. C"


# --- headings in other documents ------------------------------------------------------------------


def test_decision_headings_of_other_documents() -> None:
    text = "# Guide\n\n## Decision\n\nUse `a`.\n\n### Detail\n\n`b`\n\n"
    text += "## Decisions: more\n\nx\n\n## Decision\n\ny\n\n# End\n"
    document = read("docs/a.md", text)
    assert lines_of(document) == [("Decision", 3, 10), ("Decisions: more", 11, 14), ("Decision", 15, 18)]
    assert [entity.id for entity in document.entities] == [
        "knowledge-decision:docs/a.md:Decision:0",
        "knowledge-decision:docs/a.md:Decisions: more:0",
        "knowledge-decision:docs/a.md:Decision:1",
    ]
    assert [cite.value for cite in document.entities[0].cites] == ["a", "b"]


LOGS = {
    "arc42": """\
# Shop

## 8. Concepts

### Logging

Status: accepted

## 9. Architecture Decisions {#decisions}

### ADR-1: Keep orders in one table

**Status:** superseded by ADR-2
**Date:** 2026-01-10

See `src/orders.py`.

#### Consequences

Status: none

### ADR-2: Split orders

| Status | accepted |
|--|--|
| Date | 2026-02-03 |

### How we decide

In meetings.

## 10. Quality

### Speed

Status: accepted
""",
    "arc42 in AsciiDoc": """\
= Shop

== 9. Architecture Decisions [[decisions]]

.Contents
What was decided.

=== ADR-1: Keep orders in one table

Status:: superseded by ADR-2
Date:: 2026-01-10

See `src/orders.py`.

==== Consequences

None.

=== ADR-2: Split orders

==== Status

accepted

Date: 2026-02-03

=== How we decide

In meetings.
""",
    "a log": """\
# Architecture Decision Log

## ADR-1: Keep orders in one table

- Status: superseded by ADR-2
- Date: 2026-01-10

See `src/orders.py`.

## ADR-2: Split orders

> Status: accepted
> Date: 2026-02-03

## Open

Nothing.
""",
}


@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("arc42", "docs/architecture.md"),
        ("arc42 in AsciiDoc", "docs/arc42/09_architecture_decisions.adoc"),
        ("a log", "docs/log.md"),
    ],
)
def test_the_sections_of_a_log_of_decisions_that_state_a_status(form: str, path: str) -> None:
    first, second = read(path, LOGS[form]).entities
    assert first.id == f"knowledge-decision:{path}:ADR-1: Keep orders in one table:0"
    assert (first.status, first.date, first.superseded_by) == ("superseded by ADR-2", "2026-01-10", ["ADR-2"])
    assert [cite.value for cite in first.cites] == ["src/orders.py"]
    assert first.region.line_end == second.region.line_start - 1
    assert (second.name, second.status, second.date) == ("ADR-2: Split orders", "accepted", "2026-02-03")


DECIDED = "## Decision 1: use K\n\n**Status:** Superseded by Decision 2\n\n`K`\n\n## Decision 2\n\n{second}"


@pytest.mark.parametrize("title", ["Design", "Decision Log", "Decisions"])
def test_a_decision_heading_has_what_stands_below_it(title: str) -> None:
    text = DECIDED.format(second="- Status: accepted\n- Date: 2026-01-01\n")
    first, second = read("docs/design.md", f"# {title}\n\n{text}").entities
    assert (first.name, first.status, first.superseded_by) == ("Decision 1: use K", "Superseded by Decision 2", ["2"])
    assert (second.name, second.status, second.date) == ("Decision 2", "accepted", "2026-01-01")


def test_a_decision_heading_has_nothing_of_the_decisions_below_it() -> None:
    text = DECIDED.format(second="Status: proposed | accepted | rejected\n")
    whole, first, second = read("docs/design.md", f"# Decision: the design\n\n{text}").entities
    assert (whole.name, whole.status, whole.date) == ("Decision: the design", None, None)
    assert (first.status, second.status) == ("Superseded by Decision 2", None)


def test_a_record_that_is_a_log_has_the_decisions_of_its_sections_too() -> None:
    whole, first, second = read("docs/decisions.md", LOGS["a log"]).entities
    assert (whole.name, whole.status, whole.date) == ("Architecture Decision Log", None, None)
    assert (first.status, second.status) == ("superseded by ADR-2", "accepted")


@pytest.mark.parametrize(
    "text",
    [
        "# Guide\n\n## Architecture Decisions\n\n### Use A\n\nText.\n",
        "# Guide\n\n## Design decisions\n\nStatus: accepted\n",
        "# Guide\n\n## Architecture\n\n### Use A\n\nStatus: accepted\n",
        "# Guide\n\n## Architecture Decisions\n\n### Use A\n\nStatus: it depends on what others say\n",
        "# Guide\n\n## Architecture Decisions\n\n### Template\n\nStatus: proposed | accepted | rejected\n",
        "# Guide\n\n## Confirmed bookings\n\nStatus: published\n",
        "# Guide\n\n## Our architecture decisions today\n\n### Use A\n\nStatus: accepted\n",
    ],
)
def test_sections_of_other_documents_are_no_decisions(text: str) -> None:
    assert read("docs/guide.md", text).entities == []


@pytest.mark.parametrize("heading", ["Decisive", "Our decision", "Decision-making", "Undecided"])
def test_other_headings_are_no_decisions(heading: str) -> None:
    assert read("docs/a.md", f"# A\n\n## {heading}\n\nText.\n").entities == []


def test_headings_in_quotes_and_fences_are_no_decisions() -> None:
    assert read("docs/a.md", "> ## Decision\n\n```\n## Decision\n```\n").entities == []


def test_citations_of_a_record_are_those_of_its_region_each_once() -> None:
    found = record("# A\n\n`a` `a` [b](../b.py) \n\n> `c`\n\n```\n`fenced`\n```\n\n- [text `d`](https://example.org)\n")
    assert [(cite.kind, cite.value, cite.line) for cite in found.cites] == [
        ("code", "a", 3),
        ("link", "../b.py", 3),
        ("code", "c", 5),
        ("code", "d", 11),
    ]


def test_aliases_of_a_record_are_its_own() -> None:
    assert record("---\naliases: [ADR-7, x]\n---\n# A\n").aliases == ["ADR-7", "x"]


def test_a_section_headed_by_supersession_names_the_records() -> None:
    head = "# A\n\n## Status\n\nSuperseded\n\n"
    end = "\n\n## Context\n\nUnlike ADR-9 it was slow.\n"
    found = record(f"{head}## Superseded by\n\n[New](0009-new.md), see also ADR-8{end}")
    assert (found.supersedes, found.superseded_by) == ([], ["0009-new.md"])
    found = record(f"{head}## Supersedes\n\n- ADR-2\n- [Three](0003-three.md){end}")
    assert (found.supersedes, found.superseded_by) == (["ADR-2", "0003-three.md"], [])
    found = record(f"{head}## Supersedes\n\nNothing.{end}")
    assert (found.supersedes, found.superseded_by) == ([], [])
