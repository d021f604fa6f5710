"""Changes of change logs: files, releases, entries, ids (knowledge query reference 4.3)."""

from __future__ import annotations

import pytest

from tests.why_documents import lines_of, names_of, read
from trivium.why.changelog import is_release
from trivium.why.documents import DocumentRules

LOG = "# Changelog\n\n## 1.1.0\n\n- Evict by last use in `src/cache.ts`.\n"


@pytest.mark.parametrize(
    "path",
    [
        "CHANGELOG.md",
        "packages/a/changelog.mdx",
        "Changelog",
        "CHANGELOG.txt",
        "CHANGES.md",
        "HISTORY.md",
        "docs/news.md",
        "RELEASES.md",
        "RELEASE_NOTES.md",
        "release-notes.md",
        "CHANGELOG.en.md",
    ],
)
def test_files_that_are_change_logs(path: str) -> None:
    (change,) = read(path, LOG).entities
    assert change.id == f"knowledge-change:{path}:Evict by last use in src/cache.ts.:1.1.0"
    assert (change.kind, change.region.line_start, change.region.line_end) == ("change", 5, 5)
    assert [cite.value for cite in change.cites] == ["src/cache.ts"]


def test_link_definitions_are_no_part_of_the_last_entry() -> None:
    text = "# Changelog\n\n## 1.1.0\n\n- One.\n- Two\n  goes on.\n\n[1.1.0]: https://a.example/1\n[1.0.0]: https://a.example/0\n"
    found = [(change.region.line_start, change.region.line_end) for change in read("CHANGELOG.md", text).entities]
    assert found == [(5, 5), (6, 8)]


def test_other_files_are_none_unless_configured() -> None:
    assert read("docs/changelog-guide.md", LOG).entities == []
    assert names_of(read("docs/log.md", LOG, DocumentRules(changelogs=("**/log.md",)))) != []


@pytest.mark.parametrize(
    "heading",
    [
        "1.2.3",
        "v1.2",
        "[1.2.0] - 2024-01-01",
        "[1.2.0](https://example.org) (2024-01-01)",
        "Version 3",
        "Release 1.0.0-beta.1",
        "Unreleased",
        "[Unreleased]",
        "pkg@2.0.0",
        "@scope/pkg 2.0.0",
        "flask 2.0 (2021-05-11)",
        "2024-01-10",
        "January 5, 2024",
        "5 Jan 2024",
        "2.0.0 / 2024-01-01",
        "v3",
        "42",
        "🚀 1.2.3",
        "main",
        "master (unreleased)",
        "Next",
        "HEAD",
        "In development",
        "Not yet released",
        "What's New in Tool 3.10",
        "What’s new in 1.2.0 (2024-01-01)",
        "Changes in 1.2",
        "Changes since v1.0",
        "Noteworthy changes in release 9.4 (2024-01-01) [stable]",
        "tool (1.2-1) unstable; urgency=low",
    ],
)
def test_headings_of_releases(heading: str) -> None:
    assert is_release(heading)


@pytest.mark.parametrize(
    "heading",
    [
        *("Added", "Bug Fixes", "Changelog", "Python 3.12 support", "Support for Python 3.12", "3 fixes", "Notes", ""),
        *("Next steps", "Main changes", "Masterful", "Headers", "What's new", "What's new in the API"),
        *("Changes in behaviour", "Changes", "Support (2.0) for more", "Development"),
    ],
)
def test_other_headings(heading: str) -> None:
    assert not is_release(heading)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_releases_at_any_level_with_sections_between(level: int) -> None:
    mark = "#" * level
    text = f"{mark} 2.0.0\n\n{mark}# Added\n\n- a\n\n{mark} 1.0.0\n\n- b\n\n{mark}# Fixed\n\n* c\n"
    document = read("CHANGELOG.md", text)
    assert [entity.id.split(":", 2)[2] for entity in document.entities] == ["a:2.0.0", "b:1.0.0", "c:1.0.0"]


def test_attributes_of_a_heading_are_no_part_of_a_release() -> None:
    (change,) = read("CHANGELOG.md", "# Changelog {#log}\n\n## 1.2.0 {#v1-2-0 .release}\n\n- a\n").entities
    assert change.id == "knowledge-change:CHANGELOG.md:a:1.2.0"


def test_entries_before_the_first_release_are_not_read() -> None:
    assert names_of(read("CHANGELOG.md", "# Changelog\n\n- legend\n\n## 1.0\n\n- a\n")) == ["a"]
    assert read("CHANGELOG.md", "# Changelog\n\n- a\n").entities == []


def test_nested_items_are_entries_of_their_own() -> None:
    text = "## 1.0\n\n- outer `x`\n  goes on\n  - inner `y`\n\n    more `z`\n  - last\n- next\n\nText after.\n"
    document = read("CHANGELOG.md", text)
    assert lines_of(document) == [("outer x goes on", 3, 4), ("inner y more z", 5, 7), ("last", 8, 8), ("next", 9, 10)]
    assert [[cite.value for cite in entity.cites] for entity in document.entities] == [["x"], ["y", "z"], [], []]


def test_text_of_an_item_after_its_nested_items_stays_out_of_them() -> None:
    document = read("CHANGELOG.md", "## 1.0\n\n- outer\n\n  - inner\n\n  rest `x`\n\n- next\n")
    assert lines_of(document) == [("outer", 3, 4), ("inner", 5, 6), ("next", 9, 9)]


def test_the_same_text_in_two_releases_is_two_changes() -> None:
    document = read("CHANGELOG.md", "## 2.0\n\n- Fix\n\n## 1.0\n\n- Fix\n- Fix\n")
    ids = [entity.id for entity in document.entities]
    assert ids == [
        "knowledge-change:CHANGELOG.md:Fix:2.0",
        "knowledge-change:CHANGELOG.md:Fix:1.0",
        "knowledge-change:CHANGELOG.md:Fix:1.0",
    ]


def test_long_entries_are_cut_but_stay_apart() -> None:
    document = read("CHANGELOG.md", f"## 1.0\n\n- {'x' * 300}a\n- {'x' * 300}b\n")
    assert [len(entity.name) for entity in document.entities] == [256, 256]
    assert len({entity.id for entity in document.entities}) == 2
    assert all(len(entity.id) == 256 for entity in document.entities)


def test_quotes_fences_and_generated_text_hold_no_entries() -> None:
    text = "## 1.0\n\n> - a\n\n```\n- b\n```\n\n- c\n\n<!-- trivium:generated -->\n\n- d\n"
    assert names_of(read("CHANGELOG.md", text)) == ["c"]


PLAIN_LOGS = {
    "CHANGES.rst": "Changes\n=======\n\n2.0 (2024-01-01)\n----------------\n\n"
    "* one ``x``\n  goes on\n\n  * inner\n\n* two\n",
    "CHANGES": "Version 2.0\n\n  * one `x`\n    goes on\n\n      * inner\n\n  * two\n",
    "NEWS.txt": "Version 2.0\n-----------\n\n- one `x`\n  goes on\n  - inner\n- two\n",
    "CHANGELOG.adoc": "= Changes\n\n== 2.0\n\n* one `x`\ngoes on\n** inner\n* two\n",
    "HISTORY.txt": "# History\n\n## 2.0\n\n- one `x`\n  goes on\n  - inner\n- two\n",
}


@pytest.mark.parametrize("path", PLAIN_LOGS)
def test_change_logs_in_other_formats(path: str) -> None:
    document = read(path, PLAIN_LOGS[path])
    assert names_of(document, "change") == ["one x goes on", "inner", "two"]
    assert [cite.value for cite in document.entities[0].cites] == ["x"]
    assert "2.0" in document.entities[0].id


def test_a_log_with_dated_paragraphs_of_indented_items() -> None:
    text = "2024-01-02  A Person  <a@example.org>\n\n\t* file.c (main): Change it.\n\n\t* other.c: Too.\n"
    assert names_of(read("ChangeLog", text)) == ["file.c (main): Change it.", "other.c: Too."]


def test_a_log_of_debians_form() -> None:
    text = (
        "tool (1.2-1) unstable; urgency=low\n\n  * One\n    goes on.\n  * Two\n\n"
        " -- A Person <a@example.org>  Wed, 10 Jan 2024 00:00:00 +0000\n\n"
        "tool (1.1-1) unstable; urgency=low\n\n  [ A Person ]\n  * Three\n\n"
        " -- A Person <a@example.org>  Tue, 10 Jan 2023 00:00:00 +0000\n"
    )
    document = read("debian/changelog", text)
    assert lines_of(document) == [("One goes on.", 3, 4), ("Two", 5, 6), ("Three", 12, 13)]
    assert document.entities[2].id.endswith(":Three:tool (1.1-1) unstable; urgency=low")


def test_an_item_of_asciidoc_goes_on_after_a_plus() -> None:
    text = "= Changes\n\n== 2.0\n\n* one\n+\ngoes on\n* two\n\nText.\n"
    assert lines_of(read("CHANGELOG.adoc", text)) == [("one goes on", 5, 7), ("two", 8, 9)]


GNU_ENTRIES = {
    "* file.c (main): Change it.": [("file.c", None, 3), ("file.c", "main", 3)],
    "* dir/file (f, g): Change.": [("dir/file", None, 3), ("dir/file", "f", 3), ("dir/file", "g", 3)],
    "* a.c, lib/b.c: New files.": [("a.c", None, 3), ("lib/b.c", None, 3)],
    "* Makefile: Build.": [("Makefile", None, 3)],
    "* a.c (f)\n\t(g): Check.\n\t(h): Likewise.": [("a.c", None, 3), ("a.c", "f", 3), ("a.c", "g", 3), ("a.c", "h", 5)],
    "* a.c (f,\n\tg): Check.": [("a.c", None, 3), ("a.c", "f", 3), ("a.c", "g", 3)],
    "* a.c [HAVE_X] (f): Check.": [("a.c", None, 3), ("a.c", "f", 3)],
    "* a.c (struct s, Foo::bar): Check.": [("a.c", None, 3), ("a.c", "s", 3), ("a.c", "Foo::bar", 3)],
    "* doc/a.texi (Some Node): Tell.": [("doc/a.texi", None, 3)],
    "* a.c (f): Check (g): not here.": [("a.c", None, 3), ("a.c", "f", 3)],
    "* Check a.c (f): it is wrong.": [],
    "* https://example.org/a.c: Read.": [],
    "* ../../a.c (f): Leave.": [],
    "* Nothing here.": [],
}


@pytest.mark.parametrize("entry", GNU_ENTRIES)
def test_entries_of_gnus_form_cite_their_files_and_functions(entry: str) -> None:
    (change,) = read("lib/ChangeLog", f"2024-01-02  A Person  <a@example.org>\n\n\t{entry}\n").entities
    assert [(cite.value, cite.symbol, cite.line) for cite in change.cites if cite.kind == "file"] == GNU_ENTRIES[entry]


FILE_ENTRIES = {
    "- src/cache.ts: Evict.": ["src/cache.ts"],
    "- `src/cache.ts` (`evict`): Evict.": ["src/cache.ts", "src/cache.ts"],
    "- cache.ts (evict): Evict.": ["cache.ts", "cache.ts"],
    "- node.js: Raise it.": [],
    "- core/api: Raise it.": [],
    "- v1.2: Raise it.": [],
    "- Fix: it": [],
    "- **core:** it": [],
}


@pytest.mark.parametrize("entry", FILE_ENTRIES)
def test_entries_of_other_logs_cite_a_file_only_where_it_is_plain(entry: str) -> None:
    (change,) = read("CHANGELOG.md", f"## 1.0\n\n{entry}\n").entities
    assert [cite.value for cite in change.cites if cite.kind == "file"] == FILE_ENTRIES[entry]


@pytest.mark.parametrize("path", ["ChangeLog", "ChangeLog.2020", "lib/ChangeLog", "NEWS"])
def test_text_of_gnus_form_is_no_markdown(path: str) -> None:
    text = "2024-01-02  A Person  <a@example.org>\n\n\t* a/__init__.py (f): Take *args, `x' and <y>.\n"
    assert names_of(read(path, text)) == ["a/__init__.py (f): Take *args, `x' and <y>."]


def test_old_dates_of_gnus_form_are_releases() -> None:
    text = (
        "Sat Feb  3 10:04:19 1996  A Person  (a@example.org)\n\n\t* a.c (f): One.\n\nMon, Jan 1 1996\n\n\t* b.c: Two.\n"
    )
    document = read("ChangeLog", text)
    assert names_of(document) == ["a.c (f): One.", "b.c: Two."]


def test_a_log_of_many_dates_is_read_whole() -> None:
    text = "".join(f"2024-01-02  A Person  <a@example.org>\n\n\t* a.c (f{number}): x\n\n" for number in range(500))
    document = read("ChangeLog", text)
    assert (len(document.entities), document.reasons) == (500, [])


def test_a_log_of_many_releases_with_sections_is_read_whole() -> None:
    parts = (f"## [{n}.0.0]\n\n### Added\n\n- Added {n}\n\n### Fixed\n\n- Fixed {n}\n\n" for n in range(200))
    document = read("CHANGELOG.md", "# Changelog\n\n" + "".join(parts))
    assert (len(document.entities), document.reasons) == (400, [])
    assert document.entities[-1].id == "knowledge-change:CHANGELOG.md:Fixed 199:[199.0.0]"
    titled = "".join(f"{n}.0.0\n=====\n\nFixed\n-----\n\n- Fixed {n}\n\n" for n in range(10, 210))
    plain = read("CHANGES.rst", titled)
    assert (len(plain.entities), plain.reasons) == (200, [])


@pytest.mark.parametrize("path", ["CHANGELOG.md", "CHANGES.rst"])
def test_no_entry_stands_under_another_release_where_a_log_is_too_long(path: str) -> None:
    text = "".join(f"{n}.0.0\n-----\n\n" + f"- Entry {n}\n" * 40 + "\n" for n in range(100, 400))
    document = read(path, text)
    assert "node-limit" in document.reasons
    assert {entity.name == f"Entry {entity.id.rpartition(':')[2].split('.')[0]}" for entity in document.entities} == {
        True
    }


def test_entries_of_a_record_that_is_a_log_end_where_its_headings_do() -> None:
    text = "".join(f"## {n}.0.0\n\n" + f"- Entry {n}\n" * 60 + "\n" for n in range(200))
    document = read("docs/adr/CHANGELOG.md", text)
    assert {"heading-limit", "node-limit"} <= set(document.reasons)
    changes = [entity for entity in document.entities if entity.kind == "change"]
    assert {entity.name for entity in changes} == {f"Entry {n}" for n in range(128)}
    assert {entity.id.endswith(f":{entity.name[6:]}.0.0") for entity in changes} == {True}


def test_literal_blocks_of_plain_logs_hold_no_entries() -> None:
    text = "2.0\n---\n\n- one::\n\n      - code\n\n- two\n\n.. note::\n\n   - hidden\n\n- three\n"
    assert names_of(read("CHANGES.rst", text)) == ["one::", "two", "three"]
