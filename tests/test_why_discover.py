"""Which files a repository has, and reading them (reference 2.1, 17 hostile input)."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.git_repository import GitRepository
from trivium.why import discover as module
from trivium.why import reading
from trivium.why.config import Config
from trivium.why.discover import Discovery, discover
from trivium.why.model import CoverageEvidence, File
from trivium.why.note_files import discover_memory
from trivium.why.reading import Read, read_bytes

pytestmark = pytest.mark.usefixtures("neutral_git")


@pytest.fixture
def neutral_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "work")


@pytest.fixture
def folder(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "plain", start=False)


def paths(root: Path, **settings: Any) -> list[str]:
    return [file.path for file in discover(root, Config(**settings)).files]


def without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.why.git._which", lambda name: None)


# --- git work trees -------------------------------------------------------------------------------


def test_git_lists_tracked_files_and_untracked_ones_that_nothing_ignores(repository: GitRepository) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("kept.log")
    repository.git("add", "-f", "kept.log")
    repository.write("lost.log")
    repository.write("sub/.gitignore", "local.*\n!local.md\n")
    for path in ("sub/local.txt", "sub/local.md", "src/a.py", "info.tmp", "global.bak"):
        repository.write(path)
    repository.write(".git/info/exclude", "*.tmp\n")
    assert paths(repository.root) == [
        ".gitignore",
        "global.bak",
        "kept.log",
        "src/a.py",
        "sub/.gitignore",
        "sub/local.md",
    ]
    found = discover(repository.root, Config())
    assert (found.source, found.reasons, found.coverage()) == ("git", [], [])


def test_the_users_global_excludes_apply(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("a.bak")
    repository.write("a.md")
    excludes = repository.write("../excludes", "*.bak\n")
    settings = repository.write("../settings", f"[core]\nexcludesFile = {excludes}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert paths(repository.root) == ["a.md"]


def test_sizes_and_times_are_those_of_the_files_and_paths_ascend_by_code_point(repository: GitRepository) -> None:
    for path in ("b.md", "a/z.md", "a.md", "B.md", "é.md", "😀.md"):
        repository.write(path, "four")
    found = discover(repository.root, Config()).files
    assert [file.path for file in found] == ["B.md", "a.md", "a/z.md", "b.md", "é.md", "😀.md"]
    for file in found:
        assert (file.size, file.mtime_ns) == (4, (repository.root / file.path).stat().st_mtime_ns)


def test_names_with_spaces_quotes_line_ends_and_dashes_are_plain_names(repository: GitRepository) -> None:
    names = sorted(["-n", "a b.md", "q\"u'o.md", "line\nend.md", "tab\t.md", "$(id).md", ":(top)x", "é/ü.md"])
    for name in names:
        repository.write(name)
    assert paths(repository.root) == names
    repository.git("add", "-A")
    assert paths(repository.root) == names


def test_names_that_cannot_be_paths_of_the_index_are_left_out_with_a_reason(repository: GitRepository) -> None:
    repository.write("good.md")
    repository.write("back\\slash.md")
    repository.write("/".join(["d" * 100] * 5 + ["e" * 20]))
    Path(os.fsdecode(os.fsencode(repository.root) + b"/\xff.md")).write_text("x")
    found = discover(repository.root, Config())
    assert [file.path for file in found.files] == ["good.md"]
    assert found.reasons == ["path-characters", "path-encoding", "path-limit"]
    (coverage,) = found.coverage()
    assert (coverage.scope, coverage.status, coverage.reason) == (
        "files",
        "partial",
        "path-characters, path-encoding, path-limit",
    )


def test_a_file_removed_from_the_work_tree_is_gone_and_one_that_vanishes_is_no_failure(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("start", "a.md", "b.md", "d/c.md")
    (repository.root / "a.md").unlink()
    (repository.root / "d/c.md").unlink()
    (repository.root / "d").rmdir()
    real = os.lstat

    def vanishing(path: Any, **options: Any) -> os.stat_result:
        if str(path).endswith("b.md"):
            Path(path).unlink(missing_ok=True)
        return real(path, **options)

    monkeypatch.setattr(os, "lstat", vanishing)
    assert discover(repository.root, Config()) == Discovery([], [], "git")


def test_a_rename_of_case_alone_gives_the_new_name(repository: GitRepository) -> None:
    repository.commit("start", "Readme.md")
    repository.git("mv", "Readme.md", "README.md")
    assert paths(repository.root) == ["README.md"]


def test_the_stale_spelling_is_dropped_where_the_disk_ignores_case(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("start", "Docs/Readme.md", "Docs/x.md", "X.md")
    repository.write("x.md")
    (repository.root / "Docs/Readme.md").rename(repository.root / "Docs/README.md")
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path, **o: real(str(path).replace("Readme.md", "README.md"), **o))
    assert paths(repository.root) == ["Docs/README.md", "Docs/x.md", "X.md", "x.md"]


def test_links_are_left_out_and_never_followed(repository: GitRepository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.md").write_text("outside")
    repository.commit("start", "real/a.md", "swap/file.md")
    (repository.root / "link.md").symlink_to(outside / "file.md")
    (repository.root / "inner.md").symlink_to("real/a.md")
    (repository.root / "folder").symlink_to(outside)
    (repository.root / "swap/file.md").unlink()
    (repository.root / "swap").rmdir()
    (repository.root / "swap").symlink_to(outside)
    os.mkfifo(repository.root / "pipe.md")
    assert paths(repository.root) == ["real/a.md"]
    repository.git("add", "link.md", "inner.md", "folder")
    assert paths(repository.root) == ["real/a.md"]


def test_submodules_and_nested_repositories_are_not_entered(repository: GitRepository, tmp_path: Path) -> None:
    library = GitRepository(tmp_path / "library")
    library.commit("start", "inside.md")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "lib")
    GitRepository(repository.root / "nested").commit("start", "n.md")
    repository.write("own.md")
    assert paths(repository.root) == [".gitmodules", "own.md"]
    assert paths(repository.root / "lib") == ["inside.md"]
    found = discover(repository.root, Config())
    assert found.repositories == ["lib", "nested"]
    (record,) = found.coverage()
    assert (record.scope, record.status) == ("submodules", "not-analyzed")
    assert record.reason == "2 repositories inside this one not entered: lib, nested"
    assert discover(repository.root, Config(exclude=("nested/",))).repositories == ["lib"]


def test_a_submodule_that_is_not_checked_out_is_told_and_a_folder_in_place_of_a_file_is_none(
    repository: GitRepository, tmp_path: Path
) -> None:
    library = GitRepository(tmp_path / "library")
    library.commit("start", "inside.md")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "lib")
    repository.commit("start", "plain")
    repository.git("submodule", "deinit", "-q", "lib")
    (repository.root / "plain").unlink()
    repository.write("plain/a.md")
    found = discover(repository.root, Config())
    assert found.repositories == ["lib"]
    assert "plain/a.md" in [file.path for file in found.files]


def test_a_reason_holds_as_many_folders_as_it_has_room_for() -> None:
    names = [f"vendor/{number:03}-{'x' * 40}" for number in range(90)]
    (record,) = Discovery([], [], "git", names).coverage()
    assert record.reason is not None
    assert record.reason.startswith("90 repositories inside this one not entered: vendor/000-")
    assert len(record.reason) <= 1024
    assert record.reason.endswith("…")


def test_a_linked_work_tree_has_its_own_files(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit("start", "a.md")
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree/new.md").write_text("x")
    assert paths(tmp_path / "tree") == ["a.md", "new.md"]
    assert discover(tmp_path / "tree", Config()).source == "git"


def test_a_folder_inside_a_work_tree_is_listed_from_itself(repository: GitRepository) -> None:
    repository.write(".gitignore", "*.tmp\nignored/\n")
    for path in ("a.md", "part/b.md", "part/c.tmp", "ignored/d.md"):
        repository.write(path)
    assert paths(repository.root / "part") == ["b.md"]
    found = discover(repository.root / "ignored", Config())
    assert ([file.path for file in found.files], found.source) == (["d.md"], "walk")


def test_variables_left_by_a_git_hook_have_no_effect(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GitRepository(tmp_path / "other")
    other.commit("start", "other.md")
    repository.write("a.md")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git/index"))
    assert paths(repository.root) == ["a.md"]


def test_settings_of_the_repository_start_no_program_and_move_no_root(
    repository: GitRepository, tmp_path: Path
) -> None:
    trap = repository.write("../trap", f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor"):
        repository.git("config", name, str(trap))
    repository.git("config", "core.hooksPath", str(tmp_path))
    repository.git("config", "core.worktree", "/")
    repository.write("a.md")
    assert paths(repository.root) == ["a.md"]
    assert not (tmp_path / "sprung").exists()


def test_nothing_is_written_into_the_repository(repository: GitRepository) -> None:
    repository.commit("start", "a.md")
    os.utime(repository.root / "a.md", ns=(1, 1))
    before = (repository.root / ".git/index").read_bytes()
    assert paths(repository.root) == ["a.md"]
    assert (repository.root / ".git/index").read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_owner_is_read(repository: GitRepository) -> None:
    repository.commit("start", "a.md")
    for place in (repository.root, repository.root / ".git"):
        os.chown(place, 12345, 12345)
    assert discover(repository.root, Config()).source == "git"


def test_a_git_program_inside_the_repository_is_not_run(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("bin/git", "#!/bin/sh\ntouch sprung\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(repository.root / "bin"))
    found = discover(repository.root, Config())
    assert (found.source, found.reasons) == ("walk", ["git-missing"])
    assert not (repository.root / "sprung").exists()


def test_a_damaged_repository_is_walked_and_says_so(repository: GitRepository) -> None:
    repository.commit("start", "a.md")
    (repository.root / ".git/index").write_bytes(b"not an index")
    found = discover(repository.root, Config())
    assert ([file.path for file in found.files], found.reasons) == (["a.md"], ["git-failed"])


# --- exclusions and bounds ------------------------------------------------------------------------

EXCLUDED = """.env .env.local a/.env/x node_modules/p/i.js dist/a.js x/build/y coverage/z .doc-bridge/index.json
.trivium/index.json .turbo/a .next/a out/a .svelte-kit/a my-secrets.md Credential.txt a/SECRET/b.md server.pem tls.key
.venv/a.py venv/a.py x/__pycache__/a.pyc .tox/a .mypy_cache/a p.egg-info/PKG-INFO lib/site-packages/a.py""".split()  # noqa: SIM905
KEPT = [".environment", "build", "builder/a.md", "distance/a.md", "env.md", "keys.md", "outer/a.md", "x/dist.md"]


@pytest.mark.parametrize("start", [True, False], ids=["git", "walk"])
def test_what_no_index_may_hold_is_excluded_even_when_tracked(tmp_path: Path, start: bool) -> None:
    place = GitRepository(tmp_path / "work", start=start)
    for path in (*EXCLUDED, *KEPT):
        place.write(path)
    if start:
        place.git("add", "-A", "-f")
    assert paths(place.root) == sorted(KEPT)


def test_configuration_adds_exclusions_and_the_index_file_is_one(repository: GitRepository) -> None:
    for path in ("vendor/a.py", "b.min.js", "c.js", "docs/why.json", "docs/why.json.x1", "docs/d.md"):
        repository.write(path)
    assert paths(repository.root, exclude=("vendor/", "*.min.js"), out_file="docs/why.json") == ["c.js", "docs/d.md"]


@pytest.mark.parametrize("start", [True, False], ids=["git", "walk"])
def test_a_bound_keeps_the_first_paths_and_says_so(tmp_path: Path, start: bool) -> None:
    place = GitRepository(tmp_path / "work", start=start)
    for number in random.Random(1).sample(range(20), 20):
        place.write(f"d{number % 3}/f{number:02}.md", "0123456789")
    every = paths(place.root)
    for settings, reason in (({"max_files": 7}, "file-limit"), ({"max_bytes": 79}, "byte-limit")):
        found = discover(place.root, Config(**settings))  # type: ignore[arg-type]
        assert ([file.path for file in found.files], found.reasons) == (every[:7], [reason])
    assert discover(place.root, Config(max_files=20, max_bytes=200)).reasons == []
    assert discover(place.root, Config(max_memory_mb=1)).reasons == []


BOUNDS: list[tuple[dict[str, int], str, str]] = [
    ({"max_files": 7}, "file-limit: 14 files left out by safety.maxFiles (7)", "d1/f01.md"),
    ({"max_files": 20}, "file-limit: 1 file left out by safety.maxFiles (20)", "z/large.bin"),
    ({"max_bytes": 79}, "byte-limit: 14 files left out by safety.maxBytes (79)", "d1/f01.md"),
    ({"max_memory_mb": 1}, "byte-limit: 1 file left out by safety.maxMemoryMb (1)", "z/large.bin"),
]


@pytest.mark.parametrize("start", [True, False], ids=["git", "walk"])
@pytest.mark.parametrize(("settings", "told", "first"), BOUNDS, ids=[told.partition(" l")[0] for _, told, _ in BOUNDS])
def test_a_bound_tells_how_many_files_it_left_out_and_which_setting_it_is(
    tmp_path: Path, start: bool, settings: dict[str, int], told: str, first: str
) -> None:
    """Neither what is excluded nor links and folders count, wherever in the list they come."""
    place = GitRepository(tmp_path / "work", start=start)
    for number in range(20):
        place.write(f"d{number % 3}/f{number:02}.md", "0123456789")
    place.write("z/large.bin", b"0" * (1 << 20))
    place.write("z/.env", "")
    place.write("node_modules/x.js", "")
    (place.root / "y").symlink_to("z")
    (record,) = discover(place.root, Config(**settings)).coverage()  # type: ignore[arg-type]
    assert (record.scope, record.status, record.reason) == ("files", "partial", told)
    assert record.evidence == [CoverageEvidence(first, 1)]


@pytest.mark.parametrize("start", [True, False], ids=["git", "walk"])
def test_counting_ends_at_its_own_bound_and_says_so(
    tmp_path: Path, start: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = GitRepository(tmp_path / "work", start=start)
    for number in range(9):
        place.write(f"{number}.md")
    monkeypatch.setattr(module, "_COUNTED", {"git": 5, "walk": 5})
    (record,) = discover(place.root, Config(max_files=2)).coverage()
    assert record.reason == "file-limit: at least 5 files left out by safety.maxFiles (2)"


def test_a_list_of_names_that_is_too_long_blames_no_setting(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        repository.write(f"{number:03}-{'x' * 200}.md")
    monkeypatch.setattr(module, "MAX_LISTING_BYTES", 1_000)
    assert discover(repository.root, Config()).told() == ["listing-limit"]


@pytest.mark.parametrize("start", [True, False], ids=["git", "walk"])
def test_the_time_bound_ends_the_listing(tmp_path: Path, start: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    place = GitRepository(tmp_path / "work", start=start)
    for number in range(600):
        place.write(f"{number:03}.md")
    clock = iter(range(1000))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock) / 10)
    found = discover(place.root, Config(max_time_ms=150))
    assert found.reasons == ["time-limit"]
    assert len(found.files) < 600


# --- folders without git --------------------------------------------------------------------------


def test_a_plain_folder_is_walked_with_the_ignore_files_found_on_disk(folder: GitRepository) -> None:
    folder.write(".gitignore", "# comment\n*.log\n/only-top.md\nwhole/\n**/deep/*.md\nsp\\ ace.md\n!kept.log\n")
    folder.write("sub/.gitignore", "!again.log\n*.txt\r\n/here.md\n")
    folder.write("whole/.gitignore", "!*\n")
    kept = [".gitignore", "kept.log", "sub/.gitignore", "sub/again.log", "sub/only-top.md", "sub/x/here.md", "z.md"]
    lost = """a.log only-top.md whole/a.md x/deep/a.md sub/a.txt sub/x/b.log sub/here.md""".split()  # noqa: SIM905
    for path in (*kept[1:2], *kept[3:], *lost):
        folder.write(path)
    folder.write("sp ace.md")
    found = discover(folder.root, Config())
    assert ([file.path for file in found.files], found.source, found.reasons) == (kept, "walk", [])


def test_walking_agrees_with_git_on_the_same_rules(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    names = ["a", "b.md", "c.txt", "lib", "x.py"]
    rules = ["*.md", "/a", "lib/", "!b.md", "a/*", "!a/b.md", "**/x.py", "lib/**/c.txt", "[ab].*", "!/lib/a/"]
    for _ in range(60):
        parts = [chance.choice(["a", "lib", "d"]) for _ in range(chance.randrange(3))]
        target = repository.root.joinpath(*parts, chance.choice(names))
        if not target.exists() and not any(parent.is_file() for parent in target.parents):
            repository.write(str(target.relative_to(repository.root)))
    for place in ("", "a/", "lib/", "d/"):
        if not (repository.root / place.rstrip("/")).is_file():
            repository.write(f"{place}.gitignore", "\n".join(chance.sample(rules, 4)) + "\n")
    listed = paths(repository.root)
    without_git(monkeypatch)
    found = discover(repository.root, Config())
    assert (found.source, found.reasons) == ("walk", ["git-missing"])
    assert [file.path for file in found.files] == listed
    assert 5 < len(listed) < 60


def test_without_git_nested_repositories_are_not_entered_and_the_exclude_file_applies(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    GitRepository(repository.root / "nested").write("n.md")
    repository.write(".git/info/exclude", "*.tmp\n")
    repository.write("a.tmp")
    repository.write("a.md")
    without_git(monkeypatch)
    assert paths(repository.root) == ["a.md"]
    assert discover(repository.root, Config()).repositories == ["nested"]


def test_walking_follows_no_links_and_survives_odd_names_and_closed_folders(
    folder: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a/line\nend.md")
    (folder.root / "loop").symlink_to(folder.root)
    (folder.root / ".gitignore").symlink_to("/etc/hostname")
    Path(os.fsdecode(os.fsencode(folder.root) + b"/\xff.md")).write_text("x")
    folder.write("closed/b.md")
    real = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "closed")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = discover(folder.root, Config())
    assert [file.path for file in found.files] == ["a/line\nend.md"]
    assert found.reasons == ["path-encoding", "unreadable"]


def test_a_hostile_ignore_file_is_obeyed_without_trying_every_way_to_match(folder: GitRepository) -> None:
    """Each star could begin anywhere: one way after the other, these names would take years."""
    folder.write(".gitignore", "*a" * 100 + "b\n[\n" + "**/" * 100 + "x\n")
    for path in ("a" * 200, "a" * 200 + "b", "c/x", "c/" + "a" * 199 + "c", "c/d/e/f/x/y"):
        folder.write(path)
    found = discover(folder.root, Config())
    assert [file.path for file in found.files] == [".gitignore", "a" * 200, "c/" + "a" * 199 + "c"]
    assert found.reasons == []


def test_a_missing_root_is_an_empty_list_with_a_reason(tmp_path: Path) -> None:
    assert discover(tmp_path / "gone", Config()) == Discovery([], ["unreadable"], "walk")


# --- memory notes ---------------------------------------------------------------------------------


def test_memory_notes_are_listed_by_source_even_when_ignored(repository: GitRepository) -> None:
    repository.write(".gitignore", ".agent-memory/\n.cursor/\n")
    for path in (".agent-memory/b.md", ".agent-memory/x/a.md", ".agent-memory/c.txt", ".cursor/rules/r.mdc"):
        repository.write(path)
    repository.write("AGENTS.md")
    repository.write("notes/n.md")
    (repository.root / ".agent-memory/link.md").symlink_to("/etc/hostname")

    def listed(**settings: Any) -> dict[str, list[str]]:
        found = discover_memory(repository.root, Config(**settings))
        return {source: [file.path for file in files] for source, files in found.items()}

    assert listed() == {
        "agent-memory": [".agent-memory/b.md", ".agent-memory/x/a.md"],
        "cursor": [".cursor/rules/r.mdc"],
    }
    assert listed(memory=False) == {}
    assert listed(memory_adapters=()) == {}
    assert listed(memory_adapters=("instructions",)) == {"instructions": ["AGENTS.md"]}
    assert listed(memory_adapters=("playbook-memory",), memory_dirs=("notes", "gone")) == {
        "agent-memory": ["notes/n.md"]
    }


# --- reading --------------------------------------------------------------------------------------


def test_a_file_is_read_with_the_size_and_time_that_belong_to_its_bytes(folder: GitRepository) -> None:
    place = folder.write("d/a.md", b"\xef\xbb\xbfraw\r\n")
    time = place.stat().st_mtime_ns
    assert read_bytes(folder.root, File("d/a.md", 1, 1)) == Read(b"\xef\xbb\xbfraw\r\n", File("d/a.md", 8, time))
    assert read_bytes(folder.root, File("d/a.md", 8, time), 8).data is not None
    assert read_bytes(folder.root, File("d/a.md", 8, time), 7).reason == "document-limit"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../out.md", "outside"),
        ("d/../../out.md", "outside"),
        ("/etc/hostname", "outside"),
        ("", "outside"),
        ("a\0b", "outside"),
        ("link.md", "outside"),
        ("linked/a.md", "outside"),
        ("pipe", "outside"),
        ("d", "outside"),
        ("gone.md", "missing"),
        ("gone/a.md", "missing"),
    ],
)
def test_what_is_not_a_plain_file_below_the_root_is_refused(folder: GitRepository, path: str, reason: str) -> None:
    folder.write("d/a.md")
    folder.write("../out.md")
    (folder.root / "link.md").symlink_to("d/a.md")
    (folder.root / "linked").symlink_to("d")
    os.mkfifo(folder.root / "pipe")
    assert read_bytes(folder.root, File(path, 1, 1)).reason == reason


def test_without_opening_by_folder_links_are_refused_too(
    folder: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_BY_FOLDER", False)
    folder.write("d/a.md", "x")
    (folder.root / "linked").symlink_to("d")
    (folder.root / "link.md").symlink_to("d/a.md")
    assert read_bytes(folder.root, File("d/a.md", 1, 1)).data == b"x"
    assert read_bytes(folder.root, File("linked/a.md", 1, 1)).reason == "outside"
    assert read_bytes(folder.root, File("link.md", 1, 1)).reason == "outside"


@pytest.mark.parametrize(("changes", "data"), [(1, b"new text"), (2, None)])
def test_a_file_that_changes_while_it_is_read_is_read_once_more(
    folder: GitRepository, monkeypatch: pytest.MonkeyPatch, changes: int, data: bytes | None
) -> None:
    place = folder.write("a.md", "old")
    real, calls = os.fstat, 0

    def fstat(handle: int) -> os.stat_result:
        nonlocal calls
        calls += 1
        found = real(handle)
        if calls % 2 and calls <= 2 * changes:
            place.write_text("new text" if calls == 1 else "newer text")
        return found

    monkeypatch.setattr(module.os, "fstat", fstat)
    read = read_bytes(folder.root, File("a.md", 3, 1))
    assert (read.data, read.reason) == (data, None if data else "changed")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_rights_is_unreadable(folder: GitRepository) -> None:
    folder.write("a.md").chmod(0)
    assert read_bytes(folder.root, File("a.md", 1, 1)).reason == "unreadable"
