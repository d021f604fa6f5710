"""Change logs that are outlines, as those of GNU packages (reference 4.3)."""

from __future__ import annotations

import time

import pytest

from tests.why_documents import check_region, read
from trivium.why.changelog import is_outline_release, tells_changes
from trivium.why.documents import read_document
from trivium.why.outlines import is_outline

PARAGRAPHS = """\
GNU shop NEWS                                    -*- outline -*-

* Noteworthy changes in release ?.? (????-??-??) [?]

** Bug fixes

  buy no longer pays twice for a basket
  that is open in two windows.
  [bug introduced in shop 2.0]

  An order of nothing is refused:

    $ buy --nothing
    buy: nothing to buy

** New features

  sell `src/sell.c` is new.


* Noteworthy changes in release 2.1 (2024-05-06) [stable]

  The alpha release became this one.

** Build-related

  - A compiler is needed.
    Any will do.
  - So is make.
"""

ENTRIES = """\
Shop NEWS -- History of user-visible changes.                -*- outline -*-

* Version 3.1.0 (released 2024-05-06)

** shop: Orders above a limit are asked for again, since a
   slip of the finger is dear.

** Baskets may be shared.
Whoever has the link may fill one.

The link is told by

  shop --link

** API and ABI modifications:
shop_share: Added.

* Version 3.0.0 (released 2023-01-02)

** First release.
"""

EDITOR = """\
Editor NEWS -- history of user-visible changes.

Temporary note:
+++ indicates that the manual was changed.

\f
* Startup Changes in Editor 30.1

---
** The editor starts in the window that was used last.
Set 'start-anew' to get back the old behavior.

\f
* Changes in Editor 30.1 on Some Operating Systems

** Windows

+++
*** New command 'toggle-window'.
It is bound to 'C-x w'.

*** New hook.

----------------------------------------------------------------------
This file is part of the editor.

Local variables:
mode: outline
end:
"""

SCHEME = """\
Scheme NEWS --- history of user-visible changes.

Changes in 2.1.1 (since the 2.0 series):

* Notable changes

** Speed

It is faster.

** `map' is safe for continuations

It builds its list on the stack.

Changes in 2.0.9:

** Fixes
** Documentation
"""

OLD = """\
Shop NEWS

* Noteworthy changes in release 4.2 (2012-12-22) [stable]

* don't misbehave for long lines

* a name that
goes on here

----------------------------------------------------------------------
Shop 4.1

* now free
"""

NEXT = "Noteworthy changes in release ?.? (????-??-??) [?]"
CASES: list[tuple[str, list[tuple[str, str, int, int]]]] = [
    (
        PARAGRAPHS,
        [
            (
                "buy no longer pays twice for a basket that is open in two windows. [bug introduced in shop 2.0]",
                NEXT,
                7,
                10,
            ),
            ("An order of nothing is refused:", NEXT, 11, 15),
            ("sell `src/sell.c` is new.", NEXT, 18, 20),
            (
                "The alpha release became this one.",
                "Noteworthy changes in release 2.1 (2024-05-06) [stable]",
                23,
                24,
            ),
            (
                "A compiler is needed. Any will do.",
                "Noteworthy changes in release 2.1 (2024-05-06) [stable]",
                27,
                28,
            ),
            ("So is make.", "Noteworthy changes in release 2.1 (2024-05-06) [stable]", 29, 29),
        ],
    ),
    (
        ENTRIES,
        [
            (
                "shop: Orders above a limit are asked for again, since a slip of the finger is dear.",
                "Version 3.1.0 (released 2024-05-06)",
                5,
                7,
            ),
            ("Baskets may be shared.", "Version 3.1.0 (released 2024-05-06)", 8, 14),
            ("API and ABI modifications:", "Version 3.1.0 (released 2024-05-06)", 15, 17),
            ("First release.", "Version 3.0.0 (released 2023-01-02)", 20, 20),
        ],
    ),
    (
        EDITOR,
        [
            (
                "The editor starts in the window that was used last.",
                "Startup Changes in Editor 30.1",
                10,
                13,
            ),
            ("New command 'toggle-window'.", "Changes in Editor 30.1 on Some Operating Systems", 19, 21),
            ("New hook.", "Changes in Editor 30.1 on Some Operating Systems", 22, 23),
        ],
    ),
    (
        SCHEME,
        [
            ("Speed", "Changes in 2.1.1 (since the 2.0 series)", 7, 10),
            ("`map' is safe for continuations", "Changes in 2.1.1 (since the 2.0 series)", 11, 14),
            ("Fixes", "Changes in 2.0.9", 17, 17),
            ("Documentation", "Changes in 2.0.9", 18, 18),
        ],
    ),
    (
        OLD,
        [
            ("don't misbehave for long lines", "Noteworthy changes in release 4.2 (2012-12-22) [stable]", 5, 6),
            ("a name that goes on here", "Noteworthy changes in release 4.2 (2012-12-22) [stable]", 7, 9),
            ("now free", "Shop 4.1", 13, 13),
        ],
    ),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "expected"), CASES, ids=["paragraphs", "entries", "editor", "scheme", "old"])
def test_an_outline_is_read_as_its_readers_do(text: str, expected: list[tuple[str, str, int, int]], end: str) -> None:
    document = read("NEWS", text.replace("\n", end))
    found = [
        (entity.name, entity.id.removeprefix(f"knowledge-change:NEWS:{entity.name}:"))
        for entity in document.entities
        if entity.kind == "change"
    ]
    assert found == [(name, release) for name, release, _, _ in expected]
    assert [(entity.region.line_start, entity.region.line_end) for entity in document.entities] == [
        (first, last) for _, _, first, last in expected
    ]
    assert document.reasons == []


@pytest.mark.parametrize("path", ["NEWS", "etc/NEWS.30", "doc/NEWS.txt", "CHANGES", "ChangeLog-2020"])
def test_every_change_log_of_plain_text_may_be_one(path: str) -> None:
    assert len(read(path, PARAGRAPHS).entities) == 6


@pytest.mark.parametrize("path", ["notes.txt", "docs/adr/0001-a.txt", "NEWS.rst", "NEWS.adoc"])
def test_other_texts_are_none(path: str) -> None:
    assert [entity.name for entity in read(path, PARAGRAPHS).entities if entity.kind == "change"] != [
        name for name, *_ in CASES[0][1]
    ]


def test_what_an_entry_cites_is_a_link_also_where_its_body_does() -> None:
    (found,) = read("NEWS", "* Changes in shop 2.0\n\n** Faster.\nSee `src/a.c`.\n").entities
    assert [(cite.kind, cite.value, cite.line) for cite in found.cites] == [("code", "src/a.c", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "2.0\n\n* Django 3.2\n\n* Python 3.9 changes\n",
        "* No changes since 1.2\n\n* Faster.\n",
        "Release Notes - Shop - Version 2.0\n\n* a\n** b\n** c\n",
        "*** Changes in Debugger 13\n\n* Faster.\n\n* Changes in readers 2.0\n",
        "2020-01-02  A Person  <a@example.org>\n\n\t* src/a.c (f): Changes in 2.0.\n",
        "# 2.0\n\n** bold ** text\n",
        "## 2.0\n\n** not a list\n",
        "Version 2.0\n===========\n\n**bold** text\n",
        "",
    ],
)
def test_other_change_logs_are_no_outlines(text: str) -> None:
    assert not is_outline(text)


def test_releases_of_an_outline() -> None:
    told = ["Noteworthy changes in release 2.0", "Lisp Changes in Emacs 30.1", "New Modes and Packages in Emacs 30.1"]
    assert all(map(tells_changes, told))
    told += ["Version 3.8.0 (released 2023-02-09)", "Changes since 1.0:", "Major changes in release 5.2.1, 2004-03-02"]
    assert all(map(is_outline_release, told))
    for text in ("Changes in behavior", "New option -z", "No changes since 2.0", "Bug fixes since 2.0", ""):
        assert not is_outline_release(text)


def test_sections_of_a_tracker_keep_their_items() -> None:
    """They were read before, as lists."""
    text = "Shop 2.0\n\n** Bug\n    * [S-1] - Pays twice\n    * [S-2] - Crash\n\n** Task\n    * [S-3] - x\n"
    assert [entity.name for entity in read("CHANGES.txt", text).entities] == [
        "[S-1] - Pays twice",
        "[S-2] - Crash",
        "[S-3] - x",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "** " + "x" * 3_000_000,
        "** a\n" * 200_000,
        "** a" + "\n" * 500_000,
        "** a\n---\n" * 100_000,
        "** " + "y" * 50 + "\n" + "  z\n" * 300_000,
        "  para\n\n" * 100_000,
        "* " * 500_000,
        "*" * 500_000 + " x",
        "* Changes " + "in in " * 100_000 + "\n",
        "** a\n\n" + "\t" * 500_000 + "b\n",
    ],
    ids=["long", "many", "blank", "rules", "wrapped", "paragraphs", "stars", "deep", "words", "tabs"],
)
def test_hostile_outlines_take_no_time(body: str) -> None:
    began = time.process_time()
    document = read("NEWS", f"* Changes in shop 2.0\n\n{body}")
    assert time.process_time() - began < 10
    assert len(document.entities) <= 8_192


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_make_no_difference(encoding: str) -> None:
    text = PARAGRAPHS.replace("basket", "Körbchen")
    document = read_document("NEWS", text.encode(encoding))
    assert [entity.name for entity in document.entities] == [entity.name for entity in read("NEWS", text).entities]


def test_bytes_that_are_no_text_are_told() -> None:
    document = read("NEWS", PARAGRAPHS.replace("basket", "b\xe4sket").encode("latin-1"))
    assert (document.reasons, len(document.entities)) == (["encoding"], 6)


def test_regions_are_the_lines_of_the_file() -> None:
    lines = [f"{line}\n".encode() for line in EDITOR.split("\n")[:-1]]
    for entity in read("NEWS", EDITOR).entities:
        check_region(entity, "NEWS", lines)
