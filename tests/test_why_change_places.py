"""Which files hold changes, by their path alone (knowledge query reference 4.3)."""

from __future__ import annotations

import pytest

from tests.why_documents import names_of, read
from trivium.why.documents import DocumentRules, is_document
from trivium.why.places import place_of

RULES = DocumentRules()

LOGS = [
    *("CHANGELOG", "Changes", "HISTORY", "NEWS", "RELEASES.md", "ReleaseNotes.md", "WHATSNEW.rst", "debian/changelog"),
    *("ChangeLog-2020", "ChangeLog.2020", "ChangeLog-1999", "ChangeLog.1", "NEWS.1-8", "NEWS-2010", "NEWS.old"),
    *("ChangeLog.old", "CHANGES.old.md", "CHANGES-1.x.md", "CHANGELOG-1.20.md", "CHANGELOG_V18.md", "CHANGES_v2.md"),
    *("RELEASE-NOTES-1.0.md", "release_notes_1.2.rst", "changelog.1.2.txt", "CHANGES.current", "HISTORY-archive.md"),
    *("CHANGELOG.zh-CN.md", "CHANGELOG-de.md", "CHANGELOG/CHANGELOG-1.20.md", "whats_new_3.1.0.rst", "changes.next.md"),
]
RELEASES = {
    "docs/changes/1.2.rst": "1.2",
    "docs/releases/4.2.1.txt": "4.2.1",
    "docs/release-notes/v1.0.md": "v1.0",
    "doc/whatsnew/3.10.rst": "3.10",
    "doc/source/release/1.20.0-notes.rst": "1.20.0",
    "Changelogs/2024-01-10.md": "2024-01-10",
    "news/version-2.0rc1.adoc": "2.0rc1",
    "release_notes/v3.md": "v3",
    "docs/releases/1.x.md": "1.x",
}
FRAGMENTS = [
    *("changelog.d/123.feature.rst", "changelog.d/+orphan.fix.md", "changelog.d/20240110_someone_work.md"),
    *("newsfragments/123.bugfix", "newsfragments/123.bugfix.1.rst", "news/456.removal.rst", "changes/789.misc.md"),
    *("NEWS.d/next/Library/2024-01-10.gh-issue-1.ab.rst", "CHANGES.d/one.md", ".changeset/brave-cats-run.md"),
]
NONE = [
    *("changelog.py", "src/history.js", "news.html", "changelog.config.js", "changelog.json", "NEWS.d/next.yml"),
    *("changelog-guide.md", "changelog-template.md", "changes-to-api.md", "history-of-time.md", "news-api.md"),
    *("UPGRADING.md", "exchanges.md", "docs/releasing.md", "src/changes.rs", "release.md", "renews-1.md"),
    *("docs/changes/guide.md", "docs/changes/index.rst", "docs/releases/process.md", "news/2024-01-10-hello.md"),
    *("history/1999.md", "docs/1.2.md", "migrations/1.2.md", "changes/1.2.sql", "releases/1.2.tar"),
    *("news/2024-01.md", "history/2024-01-10.md"),
    *("changelog.d/README.md", "changelog.d/_template.md", "changelog.d/.gitkeep", ".changeset/README.md"),
    *(".changeset/config.json", "docs/123.feature.md", "docs/adr/0001.doc", "changes/a.fixture", "src/a.fix"),
]


@pytest.mark.parametrize("path", [*LOGS, *RELEASES, *FRAGMENTS])
def test_places_of_changes_are_read(path: str) -> None:
    assert is_document(path, RULES)
    assert place_of(path, RULES).changelog


@pytest.mark.parametrize("path", NONE)
def test_other_places_hold_no_changes(path: str) -> None:
    assert not (is_document(path, RULES) and place_of(path, RULES).changelog)
    assert names_of(read(path, "# Guide\n\n## 1.2.0\n\n- Not a change\n"), "change") == []


@pytest.mark.parametrize("path", LOGS)
def test_a_log_has_no_release_of_its_own(path: str) -> None:
    assert (place_of(path, RULES).change_place.release, place_of(path, RULES).change_place.fragment) == ("", False)
    assert read(path, "- Before the first release\n").entities == []


@pytest.mark.parametrize("path", RELEASES)
def test_entries_without_a_heading_of_a_release_belong_to_that_of_the_file(path: str) -> None:
    mark = "==" if path.endswith(".adoc") else "##"
    title = "Fixes\n=====" if path.endswith(".rst") else f"{mark} Fixes"
    document = read(path, f"{title}\n\n* one\n* two\n")
    assert [entity.id for entity in document.entities] == [
        f"knowledge-change:{path}:{text}:{RELEASES[path]}" for text in ("one", "two")
    ]


def test_a_heading_of_a_release_comes_before_the_name_of_the_file() -> None:
    text = "Tool 4.2 release notes\n======================\n\nFixes\n-----\n\n* one\n"
    (change,) = read("docs/releases/4.2.txt", text).entities
    assert change.id == "knowledge-change:docs/releases/4.2.txt:one:Tool 4.2 release notes"


@pytest.mark.parametrize("path", FRAGMENTS)
def test_a_fragment_that_begins_with_a_text_is_one_change(path: str) -> None:
    front = '---\n"pkg": minor\n---\n\n' if path.startswith(".changeset") else ""
    (change,) = read(path, f"{front}Evict by last use\nin ``src/cache.py``.\n\nFor all of them.\n").entities
    assert change.id == f"knowledge-change:{path}:Evict by last use in src/cache.py.:Unreleased"
    assert (change.region.line_start, change.region.line_end) == (1, 4 + front.count("\n"))
    assert [cite.value for cite in change.cites] == ["src/cache.py"]


def test_a_fragment_of_lists_has_a_change_for_each_item() -> None:
    text = "<!--\nA fragment.\n-->\n\n### Added\n\n- one\n\n### Fixed\n\n- two\n  - three\n"
    document = read("changelog.d/20240110_work.md", text)
    assert names_of(document) == ["one", "two", "three"]
    assert all(entity.id.endswith(":Unreleased") for entity in document.entities)


def test_a_fragment_without_text_states_nothing() -> None:
    assert read("changelog.d/1.misc.rst", "").entities == []
    assert read("changelog.d/1.misc.md", "<!-- nothing yet -->\n").entities == []


def test_a_configured_log_may_be_a_folder_of_releases() -> None:
    rules = DocumentRules(changelogs=("relnotes/*.md",))
    assert [entity.id for entity in read("relnotes/2.0.md", "# Fixes\n\n- one\n", rules).entities] == [
        "knowledge-change:relnotes/2.0.md:one:2.0"
    ]
    assert read("relnotes/intro.md", "# Fixes\n\n- one\n", rules).entities == []
