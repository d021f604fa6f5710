"""`trivium index` and `trivium why`: from a repository to an answer, and what they say when something is missing."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import trivium
from tests.cli_support import heed_interrupts, run
from tests.git_repository import GitRepository
from tests.why_examples import CHANGE_ID, CONCEPT_ID, FILES, LRU_ID
from trivium.doors.ak_docs import main as ak_docs
from trivium.why.response import validate

PROGRAM = [sys.executable, "-c", "from trivium.doors.cli import main; main()"]
SHORT = [sys.executable, "-c", "from trivium.doors.program import main; main()"]


@pytest.fixture
def repository(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """The worked example as a repository with one commit; the working folder is its root."""
    made = GitRepository(own_home / "Cache Shop")
    for path, text in FILES.items():
        made.write(path, text)
    made.commit("feat: evict by last use")
    monkeypatch.chdir(made.root)
    return made


def test_index_then_why_in_two_commands(repository: GitRepository) -> None:
    built = run("index")
    assert (built.code, built.err) == (0, "")
    assert f"Indexed {repository.root} into the new context 'cache-shop'." in built.out
    assert "2 decisions, 1 concepts, 2 changes" in built.out
    answer = run("why", "Cache")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "Why: Cache"
    assert lines[2:4] == ["decision: Evict the least recently used [accepted] 2026-02-03", f"  id: {LRU_ID}"]
    assert "which is superseded" in lines[4]


def test_json_is_the_librarys_answer(repository: GitRepository) -> None:
    run("index")
    answer = run("why", "src/cache.ts", "--json", "--limit", "3", "--budget-tokens", "90").json()
    validate(answer)
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        context = kb.repository_context(repository.root)
        assert answer == context.why("src/cache.ts", limit=3, budget_tokens=90)
    kinds = run("why", "Cache", "--json", "--kind", "concept").json()
    assert [entity["id"] for entity in kinds["entities"]] == [CONCEPT_ID]


def test_the_summary_as_json_has_path_hash_counts_and_diagnostics(repository: GitRepository) -> None:
    first = run("index", "docs", "--json").json()
    assert first["path"] == str(repository.root)
    assert (first["context"], first["enabled"], first["changed"]) == ("cache-shop", True, True)
    assert len(first["hash"]) == 64
    assert first["counts"]["decisions"] == 2
    assert first["diagnostics"] == []
    again = run("index", "--json").json()
    assert (again["hash"], again["changed"]) == (first["hash"], False)
    assert again["counts"]["read"] == 0
    cold = run("index", "--json", "--no-cache").json()
    assert (cold["hash"], cold["counts"]["read"]) == (first["hash"], first["counts"]["read"])


def test_a_subfolder_means_the_whole_repository(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository.root / "docs" / "adr")
    assert run("index").code == 0
    assert run("why", "Cache", "--json").json()["entities"]
    assert run("why", str(repository.root / "src" / "cache.ts"), "--json").json()["entities"]


def test_a_folder_without_git_is_read_as_it_is(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = GitRepository(own_home / "plain", start=False)
    for path, text in FILES.items():
        folder.write(path, text)
    assert run("index", folder.root).code == 0
    monkeypatch.chdir(folder.root / "docs")
    answer = run("why", "Cache", "--json").json()
    assert CHANGE_ID in [entity["id"] for entity in answer["entities"]]
    history = next(record for record in answer["coverage"] if record["scope"] == "git:first-parent")
    assert history["status"] == "not-analyzed"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_missing_index_names_the_command(repository: GitRepository, as_json: bool) -> None:
    for _ in range(2):  # without a database, then with one
        outcome = run("why", "Cache", *(["--json"] if as_json else []))
        assert outcome.code == 1
        message = outcome.json()["error"]["hint"] if as_json else outcome.err
        assert "Build it with: trivium index" in message
        assert run("doctor").code == 0


@pytest.mark.parametrize(
    "change",
    ["edited", "added", "removed", "committed", "configured", "noted"],
)
def test_a_stale_index_is_refused(repository: GitRepository, change: str) -> None:
    run("index")
    assert run("why", "Cache").code == 0
    if change == "edited":
        repository.write("src/cache.ts", "export class Cache { }\n")
    elif change == "added":
        repository.write("src/new.ts")
    elif change == "removed":
        (repository.root / "docs/guide.md").unlink()
    elif change == "committed":
        repository.commit("docs: nothing")
    elif change == "configured":
        (repository.root / "trivium.toml").write_text("[index.knowledgeEntities]\nmaxCommits = 3\n")
    else:
        repository.write(".agent-memory/note.md", "About `Cache`.\n")
    outcome = run("why", "Cache")
    assert (outcome.code, outcome.out) == (1, "")
    assert "no longer describes" in outcome.err
    assert "trivium index" in outcome.err
    assert run("index").code == 0
    assert run("why", "Cache").code == 0


def test_an_edit_that_keeps_size_and_time_is_found_without_the_cache(repository: GitRepository) -> None:
    file = repository.root / "src/cache.ts"
    os.utime(file, (1_700_000_000.5, 1_700_000_000.5))
    run("index")
    file.write_text("export class Cashe {}\n")
    os.utime(file, (1_700_000_000.5, 1_700_000_000.5))
    assert run("why", "Cache").code == 0
    assert run("why", "Cache", "--no-cache").code == 1


def test_files_that_only_got_new_times_are_read_once(repository: GitRepository) -> None:
    import apsw

    def known() -> int:
        connection = apsw.Connection(os.environ["TRIVIUM_DB"])
        hashes = json.loads(connection.execute("SELECT hashes FROM repository").get)
        connection.close()
        return int(hashes["entries"]["src/cache.ts"][1])

    run("index")
    os.utime(repository.root / "src/cache.ts", ns=(10**18 + 1, 10**18 + 1))
    assert run("why", "Cache").code == 0
    assert known() == 10**18 + 1


def test_a_damaged_index_is_refused(repository: GitRepository) -> None:
    import apsw

    run("index")
    connection = apsw.Connection(os.environ["TRIVIUM_DB"])
    connection.execute("UPDATE repository SET body = CAST(replace(body, 'accepted', 'rejected') AS BLOB)")
    connection.close()
    outcome = run("why", "Cache")
    assert outcome.code == 1
    assert "damaged" in outcome.err
    assert "Build it with: trivium index" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["Cache", "--limit", "0"], "--limit"),
        (["Cache", "--limit", "101"], "--limit"),
        (["Cache", "--limit", "many"], "--limit"),
        (["Cache", "--budget-tokens", "1000001"], "--budget-tokens"),
        (["Cache", "--kind", "reason"], "--kind"),
        (["Cache", "--profile", "root"], "--profile"),
        ([" "], "TARGET"),
        (["x" * 513], "TARGET"),
        ([], "TARGET"),
        (["Cache", "--colour"], "--colour"),
    ],
)
def test_a_bad_argument_is_named(own_home: Path, arguments: list[str], name: str) -> None:
    outcome = run("why", *arguments)
    assert outcome.code == 2
    assert name in outcome.err


@pytest.mark.parametrize(
    ("option", "values", "allowed"),
    [
        ("--limit", ("0", "101", "x", "-1", "2.5", ""), "a whole number from 1 to 100, for example 20"),
        ("--budget-tokens", ("0", "x", "1000001"), "a whole number from 1 to 1,000,000, for example 4,000"),
    ],
)
def test_a_number_out_of_range_is_told_the_range(
    own_home: Path, option: str, values: tuple[str, ...], allowed: str
) -> None:
    for value in values:
        outcome = run("why", "Cache", option, value)
        assert (outcome.code, outcome.out) == (2, "")
        assert f"'{option}'" in outcome.err
        assert allowed in " ".join(outcome.err.split())


def test_a_file_in_place_of_a_folder_is_a_usage_error(repository: GitRepository) -> None:
    outcome = run("index", "CHANGELOG.md")
    assert (outcome.code, outcome.out) == (2, "")
    assert "PATH" in outcome.err
    assert "'CHANGELOG.md' is a file" in outcome.err


def test_a_bad_folder_or_configuration_is_named(repository: GitRepository) -> None:
    assert run("index", "nowhere").code == 2
    (repository.root / "trivium.toml").write_text("[index.knowledgeEntities]\nenabeld = true\n")
    outcome = run("index")
    assert outcome.code == 1
    assert "index.knowledgeEntities.enabeld" in outcome.err
    assert "Did you mean enabled?" in outcome.err


def test_a_target_that_nothing_matches_is_no_failure(repository: GitRepository) -> None:
    run("index")
    outcome = run("why", "cache")
    assert outcome.code == 0
    assert "`Cache`" in outcome.out
    assert "That does not show that there was no reason" in outcome.out


def test_entities_that_are_switched_off_give_guidance(repository: GitRepository) -> None:
    (repository.root / "trivium.toml").write_text("[index.knowledgeEntities]\nenabled = false\n")
    assert "not looked for" in run("index").out
    outcome = run("why", "Cache", "--json")
    assert (outcome.code, outcome.json()["enabled"]) == (0, False)
    assert "index.knowledgeEntities.enabled" in outcome.json()["guidance"]


def test_the_restricted_profile_gives_guidance(repository: GitRepository) -> None:
    run("index")
    answer = run("why", "Cache", "--profile", "service", "--json").json()
    validate(answer)
    assert (answer["enabled"], answer["entities"]) == (False, [])
    assert [record["status"] for record in answer["coverage"]] == ["not-analyzed"]


def test_a_configuration_elsewhere_serves_build_and_question(repository: GitRepository, own_home: Path) -> None:
    config = own_home / "other.toml"
    config.write_text('[safety]\nexclude = ["docs/"]\n')
    run("index", "--config", config)
    assert run("why", "Cache", "--config", config, "--json").json()["documents"][0]["path"] == "CHANGELOG.md"
    outcome = run("why", "Cache")
    assert outcome.code == 1
    stale = run("why", "Cache", "--config", config, "--db", "elsewhere.db")
    assert f"trivium --db elsewhere.db index --config {config}" in stale.err


def test_a_context_of_ones_own_choice(repository: GitRepository, own_home: Path) -> None:
    missing = run("why", "Cache", "--context", "work", "--db", "none.db")
    assert "Build it with: trivium --db none.db index --context work" in missing.err
    refused = run("index", "--context", "No Slug")
    assert refused.code == 1
    assert "There is no context 'No Slug'." in refused.err
    made = run("index", "--context", "work", "--json").json()
    assert (made["context"], made["contextCreated"]) == ("work", True)
    assert f"Indexed {repository.root} into the context 'work'." in run("index", "--context", "work").out
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        assert [context.slug for context in kb.contexts()] == ["default", "work"]
    os.chdir(own_home)
    assert run("why", "Cache", "--context", "work", "--json").json()["entities"]
    repository.write("new.md")
    stale = run("why", "Cache", "--context", "work")
    assert f"trivium index '{repository.root}' --context work" in stale.err
    titles = 'FIND(?d.attributes.title) WHERE { ?d {type: "Decision"} FILTER(?d.attributes.status == "accepted") }'
    assert run("--context", "work", "kip", titles).json() == {"result": ["Evict the least recently used"]}


def test_two_repositories_of_one_name_have_two_contexts(own_home: Path) -> None:
    for place in ("a", "b"):
        GitRepository(own_home / place / "shop").write("README.md")
    names = [run("index", own_home / place / "shop", "--json").json()["context"] for place in ("a", "b", "a")]
    assert names == ["shop", "shop-2", "shop"]


def test_a_database_inside_the_repository_is_no_part_of_it(repository: GitRepository) -> None:
    first = run("index", "--db", "memory.db", "--json").json()
    assert run("why", "Cache", "--db", "memory.db").code == 0
    assert run("index", "--json").json()["hash"] != first["hash"]  # from another database it is a file like any other
    (repository.root / "memory.db-journal").write_text("x")
    assert run("why", "Cache", "--db", "memory.db").code == 0


def test_a_long_build_shows_its_progress_on_a_terminal(repository: GitRepository) -> None:
    for number in range(320):
        repository.write(f"src/m{number}.py", f"def f{number}(): ...\n")
    outcome = run("index", terminal=True)
    assert outcome.code == 0
    assert "Reading" in outcome.err
    assert "100%" in outcome.err
    assert run("index", "--no-cache").err == ""


def test_watching_builds_again_after_a_change_and_ends_on_interrupt(repository: GitRepository) -> None:
    with subprocess.Popen(
        [*PROGRAM, "index", "--watch", "--json", "--db", "memory.db"],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        repository.write("docs/adr/0003-next.md", "# Keep hot entries\n\nStatus: proposed\n\n`src/cache.ts`\n")
        second = json.loads(process.stdout.readline())
        assert (first["counts"]["decisions"], second["counts"]["decisions"]) == (2, 3)
        (repository.root / "trivium.toml").write_text("[broken")
        time.sleep(1.5)
        (repository.root / "trivium.toml").unlink()
        repository.write("docs/adr/0004-last.md", "# Drop cold entries\n\nStatus: proposed\n")
        assert json.loads(process.stdout.readline())["counts"]["decisions"] == 4
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert run("why", "src/cache.ts", "--kind", "decision", "--json", "--db", "memory.db").json()["entities"]


def test_repository_texts_cannot_steer_the_terminal(repository: GitRepository) -> None:
    repository.write("docs/adr/0005-red.md", "# Red \x1b[31m\x9b alert\n\nStatus: accepted\n\n`src/cache.ts`\n")
    run("index")
    for form in ([], ["--json"]):
        out = run("why", "src/cache.ts", *form).out
        assert "alert" in out
        assert not set(out) & set("\x1b\x9b")


@pytest.mark.parametrize(
    "arguments",
    [
        ["why", "Cache"],
        ["why", "--json", "Cache"],
        ["why", "src/cache.ts", "--json"],
        ["why", "nothing like it"],
        ["why", "Cache", "--limit", "1"],
        ["why", " "],
        ["why", "--help"],
        ["why"],
        ["--version"],
    ],
)
def test_the_short_way_says_what_the_whole_command_line_says(repository: GitRepository, arguments: list[str]) -> None:
    run("index")
    for _ in range(2):  # with a fresh index, then with a stale one
        done = [
            subprocess.run([*start, *arguments], capture_output=True, text=True, check=False)
            for start in (PROGRAM, SHORT)
        ]
        assert done[0].stdout == done[1].stdout
        assert done[0].stderr == done[1].stderr
        assert done[0].returncode == done[1].returncode
        repository.write("docs/guide.md", "changed\n")


def test_a_question_loads_no_command_line_no_builder_and_no_engine(repository: GitRepository) -> None:
    run("index")
    heavy = (
        "yaml markdown_it tree_sitter pathspec tomllib difflib trivium.why.build trivium.kip.nexus trivium.kip.query"
    )
    for module, more in (("cli", "rich"), ("program", "rich click dataclasses tempfile")):
        code = (
            f"import sys\nfrom trivium.doors.{module} import main\nsys.argv = ['trivium', 'why', 'Cache']\n"
            "try:\n    main()\nfinally:\n"
            f"    print('loaded:', [name for name in '{heavy} {more}'.split() if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("Why: Cache\n")
        assert done.stdout.endswith("loaded: []\n")


# --- where one stands -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "target"),
    [
        ("src", "cache.ts"),
        ("src", "./cache.ts"),
        ("src", "cache.ts:1"),
        ("docs/adr", "../../src/cache.ts"),
        ("src", "src/cache.ts"),
        ("src", "../src"),
        ("src", "."),
        ("docs", "ROOT/src/cache.ts"),
        ("docs", "ROOT/docs/../src/cache.ts:1"),
        (".", "LINK/src/cache.ts"),
    ],
)
def test_a_path_may_be_written_as_from_the_working_folder(
    repository: GitRepository, own_home: Path, monkeypatch: pytest.MonkeyPatch, folder: str, target: str
) -> None:
    (own_home / "link").symlink_to(repository.root, target_is_directory=True)
    run("index")
    monkeypatch.chdir(repository.root / folder)
    target = target.replace("ROOT", str(repository.root)).replace("LINK", str(own_home / "link"))
    answer = run("why", target, "--json").json()
    assert answer["target"] == target
    assert {LRU_ID, CHANGE_ID} <= {entity["id"] for entity in answer["entities"]}
    short = subprocess.run([*SHORT, "why", target], capture_output=True, text=True, check=True).stdout
    assert short == run("why", target).out


def test_outside_of_the_repository_paths_are_those_of_its_root(repository: GitRepository, own_home: Path) -> None:
    run("index", "--context", "work")
    (own_home / "src").mkdir()
    os.chdir(own_home / "src")
    assert run("why", "src/cache.ts", "--context", "work", "--json").json()["entities"]
    assert not run("why", "cache.ts", "--context", "work", "--json").json()["entities"]


@pytest.fixture
def plain(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """The worked example in a folder without git; the working folder is a part of it."""
    made = GitRepository(own_home / "plain", start=False)
    for path, text in FILES.items():
        made.write(path, text)
    monkeypatch.chdir(made.root / "src")
    return made


def slugs() -> list[str]:
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        return [context.slug for context in kb.contexts()]


def test_without_git_the_hint_of_a_subfolder_builds_the_index_of_the_whole(plain: GitRepository) -> None:
    run("index", plain.root)
    plain.write("docs/guide.md", "changed\n")
    stale = run("why", "cache.ts")
    hint = stale.err.partition("Build it with: ")[2].strip()
    assert shlex.split(hint) == ["trivium", "index", str(plain.root)]
    assert run(*shlex.split(hint)[1:]).code == 0
    assert run("why", "cache.ts", "--json").json()["entities"]
    assert slugs() == ["default", "plain"]
    os.chdir(plain.root)
    plain.write("docs/guide.md", "again\n")
    assert run("why", "Cache").err.rstrip().endswith("Build it with: trivium index")


@pytest.mark.parametrize("program", ["trivium", "ak-docs"])
def test_without_git_a_part_of_an_indexed_folder_gets_no_context_of_its_own(plain: GitRepository, program: str) -> None:
    run("index", plain.root)
    outcome = run("index") if program == "trivium" else run("index", program=ak_docs)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"{plain.root / 'src'} lies in {plain.root}, which the context 'plain' holds the index of." in outcome.err
    command = f"trivium index {plain.root}" if program == "trivium" else f"cd {plain.root} && ak-docs index"
    assert f"Build that one with: {command}. " in outcome.err
    assert slugs() == ["default", "plain"]
    assert not (plain.root / "src/.trivium").exists()
    assert run("index", "--context", "part").code == 0
    assert slugs() == ["default", "part", "plain"]


def test_without_git_a_part_with_git_or_a_configuration_of_its_own_is_a_repository(plain: GitRepository) -> None:
    run("index", plain.root)
    GitRepository(plain.root / "lib").write("README.md")
    plain.write("docs/trivium.toml", "")
    assert run("index", plain.root / "lib").code == 0
    assert run("index", plain.root / "docs").code == 0
    assert slugs() == ["default", "docs", "lib", "plain"]


def test_without_git_ak_docs_asks_the_index_of_the_whole(plain: GitRepository) -> None:
    os.chdir(plain.root)
    assert run("index", program=ak_docs).code == 0
    os.chdir(plain.root / "src")
    assert run("why", "cache.ts", program=ak_docs).code == 0
    plain.write("docs/guide.md", "changed\n")
    stale = run("why", "cache.ts", program=ak_docs)
    assert f"Build it with: cd {plain.root} && ak-docs index" in stale.err


# --- what an answer says --------------------------------------------------------------------------


def test_a_commit_is_asked_for_by_the_id_that_the_text_shows(repository: GitRepository) -> None:
    sha = repository.git("rev-parse", "HEAD")
    run("index")
    assert f"commit {sha[:7]}" in run("why", "src/cache.ts").out
    assert f"to ask for instead: `{sha}`" in run("why", sha[:7]).out
    assert "change: feat: evict by last use" in run("why", sha).out


def test_a_package_is_asked_for_by_its_name(repository: GitRepository) -> None:
    repository.write("pyproject.toml", '[project]\nname = "cache-shop"\n')
    repository.write("docs/adr/0003-pack.md", "# Pack it\n\nStatus: accepted\n\nSee `pyproject.toml`.\n")
    run("index")
    for target in ("cache-shop", "package:cache-shop"):
        text = run("why", target).out
        assert "decision: Pack it [accepted]" in text
        assert "This is the package of `pyproject.toml`. To ask for all that lies in it: `.`." in text


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("src/cache.ts", "export class Cache {}\n", 1),
        ("docs/guide.md", "# Guide\r\n\r\nUse `Cache`.\r\n", 3),
        ("docs/guide.md", "# Guide\rUse", 2),
    ],
)
def test_a_line_beyond_the_end_is_told(repository: GitRepository, path: str, text: str, lines: int) -> None:
    repository.write(path, text)
    run("index")
    ends = f"`{path}` ends at line {lines}"
    assert f"{ends}; this answer is about the whole file." in run("why", f"{path}:99999").out
    assert ends in run("why", f"{path}:{lines + 1}").out
    assert ends not in run("why", f"{path}:{lines}").out


def test_submodules_have_a_coverage_record(repository: GitRepository, own_home: Path) -> None:
    library = GitRepository(own_home / "library")
    library.commit("start", "inside.py")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "vendor/lib")
    repository.commit("feat: a library")
    said = "1 repository inside this one not entered: vendor/lib"
    assert f"submodules: not-analyzed ({said})" in run("index").out
    answer = run("why", "Cache", "--json").json()
    validate(answer)
    record = next(record for record in answer["coverage"] if record["scope"] == "submodules")
    assert (record["analyzer"], record["status"], record["reason"]) == ("discovery", "not-analyzed", said)
    GitRepository(repository.root / "nested").commit("start", "n.md")
    assert run("why", "Cache").code == 1  # another repository inside changes what the coverage says
    run("index")
    assert "vendor/lib" in run("why", "Cache").out


def test_the_numbers_of_the_summary_add_up(repository: GitRepository) -> None:
    repository.write("logo.svg")
    repository.write("pyproject.toml", "")
    assert "  files     8 (6 read, 2 known by path only)\n" in run("index").out
    time.sleep(0.2)
    run("index", "--no-cache")
    assert "  files     8 (6 unchanged since the last build, 2 known by path only)\n" in run("index").out


def test_the_restricted_profile_advises_nothing_that_it_forbids(repository: GitRepository) -> None:
    for _ in range(2):  # without a database, then without an index
        missing = run("why", "Cache", "--profile", "service")
        assert missing.code == 1
        assert "Build it with" not in missing.err
        assert "Give the service a database that holds one." in missing.err
        assert run("doctor").code == 0
    run("index")
    text = run("why", "Cache", "--profile", "service").out
    assert "give the service this stored index" in text
    assert "trivium index" not in text


def test_results_left_out_tell_how_more_are_had(repository: GitRepository) -> None:
    (repository.root / "trivium.toml").write_text("[index.knowledgeEntities]\nenabled = true\n")
    for number in range(25):
        repository.commit(f"Step {number}", "src/cache.ts")
    run("index", program=ak_docs)
    assert "ask with a higher one, at most 100, to see more." in run("why", "src/cache.ts").out
    assert "to see more: trivium why TARGET --limit N, at most 100." in run("why", "src/cache.ts", program=ak_docs).out


def test_a_type_of_the_repositorys_context_is_found_by_the_hint(repository: GitRepository, own_home: Path) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Decision"} }'
    assert "--context" not in run("kip", command).err
    run("index")
    said = "The repository here is another context: --context cache-shop."
    for arguments in (["kip", command], ["kip", "--explain", command], ["kip", "--readonly", command]):
        outcome = run(*arguments)
        assert (outcome.code, said in outcome.err) == (1, True), arguments
    assert said in run("kip", command, "--json").json()["error"]["hint"]
    batch = json.dumps({"commands": ["DESCRIBE PRIMER", command]})
    assert said in run("kip", "--request", "-", "--json", stdin=batch).json()["result"][1]["error"]["hint"]
    assert said in run("shell", stdin=f"{command}\n").err
    for quiet in (
        ["kip", command, "--context", "default"],
        ["kip", "FIND(", "--context", "cache-shop"],
        ["kip", "FIND("],
    ):
        assert "The repository here" not in run(*quiet).err
    assert run("kip", command, "--context", "cache-shop").code == 0
    os.chdir(own_home)
    assert said not in run("kip", command).err


def test_a_decision_about_many_files_is_found_by_each_of_them(repository: GitRepository) -> None:
    names = [f"file{number:03}" for number in range(120)]
    for name in names:
        repository.write(f"src/{name}.py", f"def {name}(): ...\n")
    cited = "".join(f"- `src/{name}.py`\n" for name in names[:60]) + "".join(f"- `{name}`\n" for name in names[60:])
    repository.write("docs/adr/0003-wide.md", f"# Type everything\n\nStatus: accepted\n\n{cited}")
    repository.commit("feat: more files")
    run("index")
    for number in (0, 40, 59, 60, 119):
        for target in (f"src/file{number:03}.py", f"file{number:03}"):
            found = run("why", target, "--kind", "decision", "--json").json()["entities"]
            assert [entity["name"] for entity in found] == ["Type everything"], target
    text = run("why", "src/file040.py", "--kind", "decision").out
    assert "beyond the 64 links" not in text
    *_, last = text.rstrip().splitlines()
    assert last == "One of the matching entries names more than 64 places; this target is beyond the first 64."
    assert "  affects: src/file040.py, src/file000.py" in text
    assert "link-limit" in text


def test_an_empty_folder_makes_no_context(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_home / "void").mkdir()
    monkeypatch.chdir(own_home / "void")
    for arguments in (["index"], ["index", "--db", "memory.db"]):  # the database is nothing to read either
        outcome = run(*arguments)
        assert (outcome.code, outcome.out) == (1, "")
        assert f"There is nothing to read in {own_home / 'void'}" in outcome.err
        assert "Ask with" not in outcome.err
    with trivium.open(os.environ["TRIVIUM_DB"]) as kb:
        assert [context.slug for context in kb.contexts()] == ["default"]
    Path("memory.db").unlink()
    GitRepository(own_home / "void").commit("Begin")
    assert "There is no file to read here." in run("index").out


def test_a_repository_that_lost_its_files_keeps_its_context(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = GitRepository(own_home / "plain", start=False)
    file = folder.write("docs/adr/0001-a.md", "# A\n\nStatus: accepted\n")
    monkeypatch.chdir(folder.root)
    assert run("index").code == 0
    file.unlink()
    assert run("index", "--json").json()["counts"]["files"] == 0


def test_words_lead_to_a_search_that_can_be_run(repository: GitRepository) -> None:
    run("index")
    outcome = run("why", 'the least "recently" used')
    assert "A target is a path, symbol or name, matched exactly." in outcome.out
    command = next(line for line in outcome.out.splitlines() if "matched exactly" in line).partition("graph: ")[2]
    words = shlex.split(command)
    assert words[:4] == ["trivium", "--context", "cache-shop", "kip"]
    assert "Evict the least recently used" in run(*words[1:]).out
    elsewhere = run("why", "some words", "--db", "elsewhere.db")
    assert elsewhere.code == 1
    run("index", "--db", "elsewhere.db")
    assert "trivium --db elsewhere.db --context cache-shop kip" in run("why", "a b", "--db", "elsewhere.db").out


def test_commits_of_one_day_stand_in_the_order_of_the_first_parent_line(repository: GitRepository) -> None:
    for number in range(9):
        repository.commit(f"Step {number}", "src/cache.ts", date="2026-01-11T12:00:00+0000")
    run("index")
    text = run("why", "src/cache.ts", "--kind", "change").out
    places = [text.index(f"change: Step {number}") for number in reversed(range(9))]
    assert places == sorted(places)
    kept = run("why", "src/cache.ts", "--kind", "change", "--limit", "4", "--json").json()["entities"]
    assert {found["name"] for found in kept} == {"Evict by last use in src/cache.ts.", "Step 8", "Step 7", "Step 6"}
    assert [found["id"] for found in kept] == sorted(found["id"] for found in kept)


def test_a_repository_below_another_is_built_again_as_it_was_built(repository: GitRepository) -> None:
    for path, text in FILES.items():
        repository.write(f"part/{path}", text)
    repository.write("part/trivium.toml", "[index.knowledgeEntities]\nenabled = true\n")
    os.chdir(repository.root / "part")
    assert run("index", program=ak_docs).code == 0
    repository.write("part/docs/guide.md", "changed\n")
    hint = run("why", "Cache").err.partition("Build it with: ")[2].strip()
    words = shlex.split(hint)
    assert words == ["ak-docs", "--config", str(repository.root / "part/trivium.toml"), "index"]
    assert run(*words[1:], program=ak_docs).code == 0
    assert run("why", "Cache").code == 0


def test_a_bare_repository_is_refused(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = own_home / "shop.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    for folder in (bare, bare / "refs"):
        monkeypatch.chdir(folder)
        refused = run("index")
        assert refused.code == 1
        assert f"{bare} is a bare repository of git" in refused.err
        assert f"git clone {bare} FOLDER" in refused.err
    assert run("contexts").out.split() == ["default"]


def test_a_decision_that_cites_a_package_is_found_by_its_name(repository: GitRepository) -> None:
    repository.write("package.json", '{"name": "rootpkg", "workspaces": ["ui"]}')
    repository.write("ui/package.json", '{"name": "@shop/ui"}')
    repository.write("docs/adr/0003-one.md", "# One package\n\nStatus: accepted\n\nIt is `rootpkg`.\n")
    repository.write("docs/adr/0004-ui.md", "# The surface apart\n\nStatus: accepted\n\nSee `@shop/ui`.\n")
    run("index")
    for target, name in (
        ("rootpkg", "One package"),
        ("package:rootpkg", "One package"),
        ("package.json", "One package"),
        ("@shop/ui", "The surface apart"),
    ):
        found = run("why", target, "--kind", "decision", "--json").json()
        assert [entity["name"] for entity in found["entities"]] == [name], target
