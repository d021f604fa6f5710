"""The history window (reference 4.4, 5 and the rows on changes and hostile input of 17)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.git_repository import GitRepository
from trivium.why import git
from trivium.why.config import Config
from trivium.why.history import conventional, read_history
from trivium.why.model import CommitChange, Conventional, History


@pytest.fixture(autouse=True)
def neutral_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "work")


def history(root: Path, **settings: Any) -> History:
    return read_history(root, Config(entities=True, **settings))


def subjects(found: History) -> list[str]:
    return [commit.subject for commit in found.commits]


def state(found: History) -> tuple[str, str]:
    assert (found.coverage.analyzer, found.coverage.scope) == ("knowledge-entities", "git:first-parent")
    return found.coverage.status, found.coverage.reason or ""


def test_commits_come_newest_first_with_the_authors_own_date(repository: GitRepository) -> None:
    first = repository.commit("Start", "a.md", "d/b.md")
    second = repository.commit("fix(cache)!: evict", "a.md", date="2026-03-04T00:30:00+1300")
    found = history(repository.root)
    assert found.commits == [
        CommitChange(second, "fix(cache)!: evict", "2026-03-04", ["a.md"], Conventional("fix", True, "cache")),
        CommitChange(first, "Start", "2026-01-10", ["a.md", "d/b.md"]),
    ]
    assert state(found) == ("complete", "All 2 commits of the first-parent line were read.")


def test_root_empty_removing_and_reverting_commits_have_the_paths_they_touched(repository: GitRepository) -> None:
    repository.commit("root", "a.md", "b.md")
    repository.commit("empty")
    (repository.root / "b.md").unlink()
    repository.commit("remove")
    repository.git("revert", "--no-edit", "HEAD")
    assert [(commit.subject, commit.paths) for commit in history(repository.root).commits] == [
        ('Revert "remove"', ["b.md"]),
        ("remove", ["b.md"]),
        ("empty", []),
        ("root", ["a.md", "b.md"]),
    ]


def test_both_sides_of_a_rename_are_touched_whatever_the_settings_say(repository: GitRepository) -> None:
    repository.commit("start", "old.md")
    repository.git("mv", "old.md", "new.md")
    repository.commit("rename")
    repository.git("config", "diff.renames", "copies")
    assert history(repository.root).commits[0].paths == ["new.md", "old.md"]


def test_a_merge_is_compared_with_its_first_parent_and_its_branch_is_not_listed(repository: GitRepository) -> None:
    repository.commit("start", "a.md")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("on the side", "side.md")
    repository.git("checkout", "-q", "main")
    repository.commit("on main", "main.md")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
    found = history(repository.root)
    assert subjects(found) == ["Merge side", "on main", "start"]
    assert found.commits[0].paths == ["side.md"]


def test_an_empty_subject_is_replaced_by_the_object_id_and_a_long_one_is_cut(repository: GitRepository) -> None:
    sha = repository.commit("")
    repository.commit("x" * 300 + "\n\nbody")
    assert subjects(history(repository.root)) == ["x" * 256, sha]


def test_odd_names_and_messages_cannot_be_mistaken_for_each_other(repository: GitRepository) -> None:
    names = sorted([":100644 000000 abc", "a b.md", "line\nend.md", "é.md", "f" * 40, '"quoted"'])
    for name in names:
        repository.write(name)
    message = f"é subject\n\n:000000 100644 {'0' * 40} {'1' * 40} A\nfake.md\n\n\n{'f' * 40}\n"
    repository.commit(message)
    repository.commit("after", "z.md")
    found = history(repository.root)
    assert [(commit.subject, commit.paths) for commit in found.commits] == [
        ("after", ["z.md"]),
        ("é subject", names),
    ]


def test_paths_that_the_index_cannot_hold_are_left_out_and_counted(repository: GitRepository) -> None:
    repository.write("good.md")
    repository.write("back\\slash.md")
    Path(os.fsdecode(os.fsencode(repository.root) + b"/\xff.md")).write_text("x")
    repository.commit("start")
    found = history(repository.root)
    assert found.commits[0].paths == ["good.md"]
    assert state(found) == ("partial", "2 touched paths cannot be index paths and were left out.")


def test_a_wide_commit_keeps_all_its_paths(repository: GitRepository) -> None:
    names = [f"d{number % 7}/f{number:03}.md" for number in range(300)]
    repository.commit("wide", *names)
    assert history(repository.root).commits[0].paths == sorted(names)


def test_messages_in_other_encodings_are_read(repository: GitRepository) -> None:
    repository.git("config", "i18n.commitEncoding", "ISO-8859-1")
    tree = repository.git("write-tree")
    data = f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\nencoding ISO-8859-1\n\nCafé\n"
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=repository.root,
        input=data.encode("latin-1"),
        capture_output=True,
        check=True,
    )
    repository.git("update-ref", "refs/heads/main", made.stdout.decode().strip())
    assert subjects(history(repository.root)) == ["Café"]


# --- conventional form ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "wanted"),
    [
        ("fix: x", Conventional("fix", False)),
        ("feat(api): x", Conventional("feat", False, "api")),
        ("feat!: x", Conventional("feat", True)),
        ("re-do2(a/b, c)!: x", Conventional("re-do2", True, "a/b, c")),
        ("Cleanup: remove", None),
        ("FIX: x", None),
        ("fix : x", None),
        ("fix:x", None),
        ("fix:", None),
        ("fix(): x", None),
        ("2fix: x", None),
        ("fix the thing: x", None),
        (f"{'t' * 200}({'s' * 200}): x", Conventional("t" * 128, False, "s" * 128)),
    ],
)
def test_the_conventional_form_is_exact_and_in_lower_case(subject: str, wanted: Conventional | None) -> None:
    assert conventional(subject, False) == wanted


def test_breaking_footers_count_anywhere_in_the_message_at_the_start_of_a_line(repository: GitRepository) -> None:
    for footer in ("BREAKING CHANGE: x", "BREAKING-CHANGE: x", "text\n\nBREAKING CHANGE: x", " BREAKING CHANGE: x"):
        repository.commit(f"fix: y\n\n{footer}")
    repository.commit("plain\n\nBREAKING CHANGE: x")
    found = [commit.conventional for commit in history(repository.root).commits]
    assert [item and item.breaking for item in found] == [None, False, True, True, True]


# --- the window -----------------------------------------------------------------------------------


def test_the_window_ends_exactly_at_its_size(repository: GitRepository) -> None:
    for number in range(4):
        repository.commit(f"c{number}", "a.md")
    found = history(repository.root, max_commits=3)
    assert subjects(found) == ["c3", "c2", "c1"]
    assert state(found) == ("partial", "The newest 3 commits were read; older ones were not.")
    assert state(history(repository.root, max_commits=4))[0] == "complete"
    assert state(history(repository.root, max_commits=1)) == (
        "partial",
        "The newest 1 commit was read; older ones were not.",
    )


@pytest.mark.parametrize("options", [[], ["-a", "-m", "annotated"]], ids=["light", "annotated"])
def test_history_starts_after_the_tag(repository: GitRepository, options: list[str]) -> None:
    repository.commit("before", "a.md")
    repository.git("tag", *options, "v1.0")
    repository.commit("after one", "a.md")
    repository.commit("after two", "a.md")
    found = history(repository.root, since_tag="v1.0")
    assert subjects(found) == ["after two", "after one"]
    assert state(found) == ("complete", "All 2 commits after v1.0 of the first-parent line were read.")
    assert state(history(repository.root, since_tag="v1.0", max_commits=1))[0] == "partial"


def test_a_tag_on_head_gives_an_empty_window(repository: GitRepository) -> None:
    repository.commit("before", "a.md")
    repository.git("tag", "v1")
    found = history(repository.root, since_tag="v1")
    assert (found.commits, state(found)[0]) == ([], "complete")


def test_a_tag_that_is_missing_or_no_ancestor_or_no_commit_is_not_usable(repository: GitRepository) -> None:
    repository.commit("start", "a.md")
    repository.git("branch", "v9")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("aside", "b.md")
    repository.git("tag", "aside")
    repository.git("tag", "tree", "HEAD^{tree}")
    repository.git("checkout", "-q", "main")
    for name, reason in (
        ("none", "There is no tag none that names a commit."),
        ("v9", "There is no tag v9 that names a commit."),
        ("tree", "There is no tag tree that names a commit."),
        ("aside", "The tag aside is not an ancestor of HEAD."),
    ):
        found = history(repository.root, since_tag=name)
        assert (found.commits, state(found)) == ([], ("not-analyzed", reason))


def test_a_folder_inside_the_work_tree_has_the_commits_that_touched_it(repository: GitRepository) -> None:
    repository.git("config", "log.follow", "true")
    repository.commit("both", "a.md", "part/b.md", "part/c/d.md")
    repository.commit("elsewhere", "a.md")
    repository.git("mv", "a.md", "part/moved.md")
    repository.commit("into")
    found = history(repository.root / "part")
    assert [(commit.subject, commit.paths) for commit in found.commits] == [
        ("into", ["moved.md"]),
        ("both", ["b.md", "c/d.md"]),
    ]
    assert state(found)[0] == "complete"


def test_detached_packed_and_linked_heads_are_found_without_a_process(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = repository.commit("first", "a.md")
    second = repository.commit("second", "a.md")
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"), first)
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "branch"), first)
    repository.git("pack-refs", "--all")
    roots = {repository.root: second, tmp_path / "tree": first, tmp_path / "branch": first}
    for root, sha in roots.items():
        assert history(root).commits[0].sha == sha
    monkeypatch.setattr(subprocess, "Popen", None)
    for root, sha in roots.items():
        place = git.locate(root)
        assert place is not None
        assert git.head(place) == sha
        assert place.common_dir == repository.root / ".git"


def test_a_shallow_clone_is_partial_and_its_border_claims_no_paths(repository: GitRepository, tmp_path: Path) -> None:
    for number in range(4):
        repository.commit(f"c{number}", "a.md", f"{number}.md")
    clone = GitRepository(tmp_path / "parent", start=False)
    clone.git("clone", "-q", "--depth", "2", f"file://{repository.root}", "clone")
    found = history(tmp_path / "parent/clone")
    assert [(commit.subject, commit.paths) for commit in found.commits] == [("c3", ["3.md", "a.md"]), ("c2", [])]
    assert state(found) == (
        "partial",
        "The repository lacks the parents of its oldest commits (shallow or grafted).",
    )


def test_a_grafted_commit_claims_no_paths_and_replacements_are_not_followed(repository: GitRepository) -> None:
    repository.commit("first", "a.md")
    second = repository.commit("second", "b.md")
    repository.git("replace", "--graft", second)
    assert subjects(history(repository.root)) == ["second", "first"]
    repository.write(".git/info/grafts", f"{second}\n")
    found = history(repository.root)
    assert [(commit.subject, commit.paths) for commit in found.commits] == [("second", [])]
    assert state(found)[0] == "partial"


# --- no history -----------------------------------------------------------------------------------


def test_without_a_repository_commits_or_git_history_is_not_analysed(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert state(history(tmp_path)) == ("not-analyzed", "This folder is not in a git work tree.")
    assert state(history(repository.root)) == ("not-analyzed", "The repository has no commits yet.")
    repository.commit("start", "a.md")
    broken = repository.root / ".git/refs/heads/main"
    commit = broken.read_text()
    broken.write_text("garbage\n")
    status, reason = state(history(repository.root))
    assert status == "not-analyzed"
    assert reason.startswith("Git could not read the history: ")
    assert "broken" in reason
    broken.write_text(commit)
    head = repository.root / ".git/HEAD"
    head.rename(head.with_name("kept"))
    told = "There is a .git, but it holds no repository that git can read."
    assert state(history(repository.root)) == ("not-analyzed", told)
    head.with_name("kept").rename(head)
    restricted = read_history(repository.root, Config(profile="service"))
    assert state(restricted) == ("not-analyzed", "The restricted profile reads no local history.")
    monkeypatch.setattr("trivium.why.git._which", lambda name: None)
    assert state(history(repository.root)) == ("not-analyzed", "No git program was found.")


def test_a_damaged_repository_is_not_analysed_and_says_what_git_said(repository: GitRepository) -> None:
    sha = repository.commit("start", "a.md")
    file = repository.root / f".git/objects/{sha[:2]}/{sha[2:]}"
    file.chmod(0o644)
    file.write_bytes(b"damaged")
    status, reason = state(history(repository.root))
    assert status == "not-analyzed"
    assert reason.startswith("Git could not read the history: ")


def test_the_bounds_keep_whole_commits_only(repository: GitRepository) -> None:
    for number in range(12):
        repository.commit(f"c{number}", *(f"{number}/{name}.md" for name in range(30)))
    found = read_history(repository.root, Config(), max_bytes=24_000)
    assert 0 < len(found.commits) < 12
    assert all(len(commit.paths) == 30 for commit in found.commits)
    assert state(found)[1].startswith("The size limit ended the reading after ")


def test_a_slow_git_is_ended_by_the_time_bound(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("start", "a.md")
    slow = repository.write("../bin/git", "#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    found = read_history(repository.root, Config(), seconds=0.05)
    assert (found.commits, state(found)) == ([], ("partial", "The time limit ended the reading after 0 commits."))


# --- safety ---------------------------------------------------------------------------------------


def test_settings_and_attributes_of_the_repository_start_no_program(repository: GitRepository, tmp_path: Path) -> None:
    trap = repository.write("../trap", f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    repository.write(".gitattributes", "*.md diff=trap filter=trap\n")
    repository.commit("start", "a.md")
    for name in """core.fsmonitor core.pager pager.log diff.external diff.trap.command diff.trap.textconv gpg.program
        filter.trap.clean filter.trap.smudge core.sshCommand core.askPass""".split():  # noqa: SIM905
        repository.git("config", name, str(trap))
    for name, value in (
        ("log.showSignature", "true"),
        ("core.hooksPath", str(tmp_path)),
        ("diff.orderFile", "no-such-file"),
        ("color.ui", "always"),
        ("log.showRoot", "false"),
        ("format.pretty", "oneline"),
        ("diff.relative", "true"),
    ):
        repository.git("config", name, value)
    (tmp_path / "post-index-change").write_bytes(trap.read_bytes())
    assert [(commit.subject, commit.paths) for commit in history(repository.root).commits] == [
        ("start", [".gitattributes", "a.md"])
    ]
    assert not (tmp_path / "sprung").exists()


def test_missing_objects_are_never_fetched(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit("start", "a.md")
    second = repository.commit("second", "b.md")
    trap = repository.write("../trap", f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "far"),
        ("remote.far.url", f"ext::{trap}"),
        ("remote.far.promisor", "true"),
        ("remote.far.uploadpack", str(trap)),
        ("protocol.ext.allow", "always"),
    ):
        repository.git("config", name, value)
    tree = repository.git("rev-parse", f"{second}^{{tree}}")
    (repository.root / f".git/objects/{tree[:2]}/{tree[2:]}").unlink()
    for url in (f"ext::{trap}", str(tmp_path / "no-such-place")):
        repository.git("config", "remote.far.url", url)
        assert state(history(repository.root))[0] == "not-analyzed"
    assert not (tmp_path / "sprung").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_owner_is_read(repository: GitRepository) -> None:
    repository.commit("start", "a.md")
    for place in (repository.root, repository.root / ".git"):
        os.chown(place, 12345, 12345)
    assert subjects(history(repository.root)) == ["start"]


def test_one_process_reads_the_whole_window(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        repository.commit(f"c{number}", "a.md")
    started: list[Any] = []
    real = subprocess.Popen

    class Counting(real):  # type: ignore[type-arg, misc, valid-type]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            started.append(arguments)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Counting)
    assert len(history(repository.root).commits) == 5
    assert len(started) == 1
