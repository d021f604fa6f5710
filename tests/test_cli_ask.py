"""`trivium ask` and `trivium sessions`: answers with their sources, for people and for programs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.cli_support import run
from trivium.answers.composer import NEAREST_TOLD
from trivium.doors.ask_text import answer_text, sources_text
from trivium.doors.ask_text import notes as untold

TEA = """# Tea

## Green tea

The steeping temperature of green tea is 70 degrees.

## Black tea

The steeping temperature of black tea is 95 degrees.
"""
QUESTION = "What is the steeping temperature of green tea?"
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def notes(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`test.db` with a context `notes` that can be asked, and one `empty` that cannot."""
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
    with trivium.open("test.db") as kb:
        kb.create_context("empty")
        context = kb.create_context("notes")
        context.add_bytes("drinks/tea.md", TEA.encode())
        context.curate()


def test_an_answer_is_printed_with_its_sources() -> None:
    outcome = run("ask", QUESTION, "--scope", "notes")
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out == (
        '"The steeping temperature of green tea is 70 degrees." [1]\n\n[1] notes/drinks/tea.md:5, Tea > Green tea\n'
    )


def test_the_whole_document_is_printed_as_json() -> None:
    found = run("ask", *QUESTION.split(), "--scope", "notes", "--json").json()
    assert found["status"] == "completed"
    assert found["citations"][0]["lines"] == [5, 5]
    with trivium.open("test.db") as kb:
        assert kb.turns.response(found["id"]) == found


def test_a_question_can_come_from_standard_input_and_the_context_from_the_global_option() -> None:
    outcome = run("--context", "notes", "ask", "-", stdin=QUESTION)
    assert "70 degrees" in outcome.out


def test_sessions_are_continued_by_id_and_as_the_newest() -> None:
    first = run("ask", QUESTION, "--scope", "notes", "--json").json()
    second = run("ask", "And black tea?", "--continue", "--json").json()
    assert (second["session_id"], second["previous_query_id"]) == (first["session_id"], first["id"])
    third = run("ask", "And white tea?", "--session", first["session_id"], "--json").json()
    assert third["previous_query_id"] == second["id"]
    assert run("ask", "x", "--session", "ses_none").code == 1


def test_without_a_session_there_is_none_to_continue() -> None:
    outcome = run("ask", "x", "--continue")
    assert outcome.code == 1
    assert "Ask without --continue" in outcome.err


def test_passages_are_listed_without_an_answer() -> None:
    outcome = run("ask", "black tea", "--scope", "notes", "--retrieval-only", "--max", "1")
    assert re.fullmatch(
        r"1\. notes/drinks/tea\.md:\d+-\d+, Tea > \w+ tea  \(\d\.\d\d\)\n   .*black tea.*\n", outcome.out
    ), outcome.out
    outcome = run("ask", "zebra", "--scope", "notes", "--retrieval-only")
    assert (outcome.code, outcome.out) == (0, "Nothing was found.\n")


def test_what_is_not_known_is_said_once() -> None:
    outcome = run("ask", "Who won the zebra race?", "--scope", "notes")
    assert (outcome.code, outcome.err) == (0, "")
    assert "does not hold an answer" in outcome.out


def test_notes_leave_out_what_the_text_says() -> None:
    def warned(*codes: str, text: str = "said") -> dict[str, Any]:
        warnings = [{"code": code, "message": code} for code in codes]
        return _document(output=[{"content": [{"text": text}]}] if text else [], warnings=warnings)

    assert untold(warned("no_evidence", "source_conflict", "weak_support", "model_skipped")) == [
        "weak_support",
        "model_skipped",
    ]
    nearest = {"code": "weak_support", "message": NEAREST_TOLD}
    assert untold({**warned(), "warnings": [nearest]}) == []
    assert untold(warned("source_conflict", text="")) == ["source_conflict"]


def test_a_shape_gives_json(tmp_path: Path) -> None:
    shape = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    Path("shape.json").write_text(json.dumps(shape))
    outcome = run("ask", QUESTION, "--scope", "notes", "--shape", "shape.json")
    if outcome.code == 0:
        assert "70 degrees" in json.loads(outcome.out.partition("\n\n[1]")[0])["answer"]
    else:
        assert "error failed: output did not conform to shape" in outcome.err
    assert run("ask", QUESTION, "--scope", "notes", "--shape", json.dumps(shape)).out == outcome.out
    Path("shape.json").write_text("{")
    for wrong in ("shape.json", "{", "absent.json"):
        refused = run("ask", QUESTION, "--scope", "notes", "--shape", wrong)
        assert refused.code == 2
        assert "Give a file, or a JSON Schema that begins with {" in " ".join(refused.err.split())


def test_max_needs_retrieval_only() -> None:
    outcome = run("ask", "x", "--scope", "notes", "--max", "3")
    assert (outcome.code, "--max has no effect without --retrieval-only" in outcome.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("x", "--scope", "nots"), "Did you mean 'notes'? `trivium contexts` lists the contexts there are."),
        (("x", "--scope", "notes", "--session", "ses_x"), "`trivium sessions list` lists the sessions there are."),
        (("x", "--scope", "notes", "--model", "nobody"), "`trivium models` lists the ids and tiers there are."),
        (("", "--scope", "notes"), 'Ask with words: trivium ask "What is …?"'),
        (("x", "--scope", "empty"), "`trivium add PATH --context empty` gives it some."),
    ],
)
def test_hints_speak_of_commands(arguments: tuple[str, ...], hint: str) -> None:
    assert run("ask", *arguments).err.splitlines()[-1] == f"hint: {hint}"


def test_an_endpoint_that_cannot_be_reached_is_named_without_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_LLM_BASE_URL", "http://user:secret-of-mine@127.0.0.1:9/v1")
    monkeypatch.setenv("TRIVIUM_LLM_API_KEY", "another-secret")
    monkeypatch.setenv("TRIVIUM_LLM_MODELS", "m")
    monkeypatch.setenv("TRIVIUM_LLM_ATTEMPTS", "1")
    outcome = run("ask", QUESTION, "--scope", "notes")
    assert outcome.code == 1
    assert "the model's endpoint 127.0.0.1:9 cannot be reached" in outcome.err
    assert "hint: Check TRIVIUM_LLM_BASE_URL, or ask with --model builtin/extractive." in outcome.err
    assert "secret" not in outcome.err


def test_a_local_model_without_its_file_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_LOCAL_MODEL", "missing.gguf")
    told = "TRIVIUM_LOCAL_MODEL names no file"
    monkeypatch.setattr("trivium.models.model.find_spec", lambda name: object())
    assert told in run("ask", QUESTION, "--scope", "notes").err
    assert told in run("ask", QUESTION, "--scope", "notes", "--model", "local/missing").err
    assert f"local/missing: not available: {told}\n" in run("models").out
    assert run("models", "--json").json()["models"][0]["available"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x", "--scope", "nope"), "error not_found: There is no context 'nope'."),
        (("x", "--scope", "empty"), "trivium add"),
        (("   ", "--scope", "notes"), "error bad_request: The question is empty."),
        (("x", "--scope", "notes", "--model", "nobody/none"), "nobody/none"),
        (("x", "--scope", "notes", "--timeout", "-1"), "--timeout must be"),
        (("x", "--scope", "notes", "--retrieval-only", "--max", "-1"), "--max must be"),
        (("x", "--scope", ",".join(["notes"] * 11)), "scope"),
    ],
)
def test_what_is_refused_is_told_with_a_hint(arguments: tuple[str, ...], words: str) -> None:
    outcome = run("ask", *arguments)
    assert outcome.code == 1
    assert words in outcome.err
    assert "hint:" in outcome.err
    assert run("ask", *arguments, "--json").json()["error"]["code"] in ("bad_request", "not_found", "conflict")
    assert run("sessions", "list", "--json").json()["sessions"] == []


def test_without_a_database_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run("--db", "other.db", "ask", "x")
    assert outcome.code == 1
    assert re.search(r"make one: trivium --db \S*other\.db add FOLDER\n", outcome.err)
    assert not Path("other.db").exists()


def test_a_turn_that_fails_is_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.knowql_models import ScriptedModels

    monkeypatch.setattr(trivium.KnowledgeBase, "models", ScriptedModels())
    with trivium.open("test.db") as kb:
        script = {"error": "the provider \x1b[31m said no"}
        session = kb.ask("x", scope=["notes"], vars={"script": script}, retrieval_only=True)["session_id"]
    outcome = run("ask", "green tea", "--session", session)
    assert outcome.code == 1
    assert outcome.err == "error failed: the provider \\x1b[31m said no\n"


@pytest.mark.parametrize("how", ["interrupt", "closed pipe"])
def test_pieces_are_printed_as_they_come_and_a_turn_that_nobody_reads_is_cancelled(how: str) -> None:
    pieces = ["Green ", "tea ", *(["and "] * 500 if how == "closed pipe" else [])]
    script = {"pieces": pieces, "between": 0.02, "text": "".join(pieces), "hang": True, "cite": []}
    with trivium.open("test.db") as kb:
        session = kb.ask("x", scope=["notes"], vars={"script": script}, retrieval_only=True)["session_id"]
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "import trivium; from tests.knowql_models import ScriptedModels;"
        "trivium.KnowledgeBase.models = ScriptedModels();"
        "from trivium.doors.cli import main; main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", code, "ask", "green tea", "--session", session],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    seen = b""
    end = time.monotonic() + 60
    while b"Green tea" not in seen and time.monotonic() < end:
        seen += process.stdout.read1(100)
    begun = time.monotonic()
    if how == "interrupt":
        process.send_signal(signal.SIGINT)
    else:
        process.stdout.close()
    assert process.wait(30) == (130 if how == "interrupt" else 1)
    assert time.monotonic() - begun < 4
    assert process.stderr is not None
    process.stdout.close()
    process.stderr.close()
    with trivium.open("test.db") as kb:
        last = kb.turns.session(session)["queries"][-1]
    assert (last["status"], last["error"]) == ("cancelled", "cancelled by caller")


# --- hostile command lines and texts --------------------------------------------------------------

WRONG: list[tuple[list[str], bytes, int, str]] = [
    (["What is \udcff?"], b"", 2, "QUESTION holds bytes that are no UTF-8."),
    (["x", "--scope", "\udcff"], b"", 2, "--scope holds bytes that are no UTF-8."),
    (["x", "--session", "\udcff"], b"", 2, "--session holds bytes that are no UTF-8."),
    (["x", "--model", "\udcff"], b"", 2, "--model holds bytes that are no UTF-8."),
    (["-"], b"What is \xff?", 1, "Standard input is not UTF-8 text."),
    (["-"], b"x" * 3_000_000, 1, "The question is longer than 32,768 characters."),
    (["-"], b"x" * 40_000, 1, "at most 32,768 are allowed"),
    (["-"], b"", 1, "The question is empty."),
    (["x", "--scope", ""], b"", 2, "--scope names no context."),
    (["x", "--scope", " , "], b"", 2, "--scope names no context."),
    (["x", "--scope", ",".join(f"c{number}" for number in range(11))], b"", 1, "scope has 11 entries"),
    (["x", "--shape", ""], b"", 2, "it is empty"),
    (["x", "--shape", "."], b"", 2, "Is a directory"),
    (["x", "--shape", "\x1b[31m.json"], b"", 2, "\\x1b[31m.json: No such file"),
    (["x", "--shape", '{"maximum": NaN}'], b"", 2, "NaN is no number of JSON"),
    (["x", "--shape", '{"not":' * 100_000], b"", 2, "it is nested too deep"),
    (["x", "--shape", "/dev/zero"], b"", 2, "/dev/zero is no JSON"),
]


@pytest.mark.parametrize(("arguments", "stdin", "code", "told"), WRONG, ids=lambda value: str(value)[:40])
def test_what_cannot_be_asked_is_refused_in_words(arguments: list[str], stdin: bytes, code: int, told: str) -> None:
    scoped = [] if "--scope" in arguments else ["--context", "notes"]
    outcome = run("ask", *arguments, *scoped, stdin=stdin)
    assert (outcome.code, outcome.out) == (code, "")
    assert told in outcome.err
    assert len(outcome.err) < 1_000


def test_contexts_may_stand_behind_a_comma_and_a_space() -> None:
    assert run("ask", QUESTION, "--scope", "notes , notes").out == run("ask", QUESTION, "--scope", "notes").out


def test_a_scope_that_has_no_effect_on_a_session_is_told() -> None:
    run("ask", QUESTION, "--scope", "notes")
    outcome = run("ask", QUESTION, "--continue", "--scope", "empty")
    assert outcome.code == 0
    assert "scope is fixed by the turn that began the session" in outcome.err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The \u202egate\u202c costs 8 euros.", "The \\u202egate\\u202c costs"),
        ("The \u2067gate costs 8 euros.", "The \\u2067gate costs"),
        ("The gate\u202c costs 8 euros.", "The gate\\u202c costs"),
        ("The \u2067gate\u2069 costs 8 euros.", "The \u2067gate\u2069 costs"),
        ("The \u2067\u202agate\u202c\u2069 costs 8 euros.", "The \u2067\u202agate\u202c\u2069 costs"),
        ("The gate\u200f costs 8 euros.", "The gate\u200f costs"),
        ("The gate costs 8 euros.\x07\x1b]0;x\x07", "The gate costs 8 euros.\\x07"),
        ("The gate\x9b costs 8 euros.\x1b", "The gate\\x9b costs"),
    ],
)
def test_a_document_cannot_steer_the_terminal_that_shows_it(text: str, shown: str) -> None:
    with trivium.open("test.db") as kb:
        context = kb.create_context("gates")
        context.add_bytes("gate.md", text.encode())
        context.curate()
    assert shown in run("ask", "What does the gate cost?", "--scope", "gates").out
    assert "\u202e" not in run("ask", "What does the gate cost?", "--scope", "gates", "--json").out
    assert shown in run("ask", "gate", "--scope", "gates", "--retrieval-only").out


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("question", ["green tea", "-"])
def test_a_program_without_some_of_its_streams_ends_well(closed: str, question: str) -> None:
    code = "from trivium.doors.program import main; main()"
    command = f"{sys.executable} -c '{code}' --db test.db ask '{question}' --context notes {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, input=b"green tea", check=False)
    assert b"unexpected fault" not in done.stderr
    assert done.returncode == (1 if question == "-" and "<&-" in closed else 0)


# --- sessions -------------------------------------------------------------------------------------


def test_sessions_are_listed_shown_renamed_and_deleted() -> None:
    first = run("ask", QUESTION, "--scope", "notes", "--json").json()["session_id"]
    second = run("ask", "Which tea is black?", "--scope", "notes", "--json").json()["session_id"]
    listed = run("sessions", "list")
    assert [line.split()[0] for line in listed.out.splitlines()] == [second, first]
    assert listed.out.splitlines()[1].endswith(f"notes: {QUESTION}")
    page = run("sessions", "list", "--limit", "1", "--json").json()
    assert [item["id"] for item in page["sessions"]] == [second]
    page = run("sessions", "list", "--cursor", page["next_cursor"], "--json").json()
    assert [item["id"] for item in page["sessions"]] == [first]
    assert "--cursor" in run("sessions", "list", "--limit", "1").err

    shown = run("sessions", "show", first)
    assert shown.out.startswith(f"{QUESTION}\n{first}  ")
    assert f"> {QUESTION}\n" in shown.out
    assert "[1] notes/drinks/tea.md:5" in shown.out
    assert run("sessions", "show", first, "--json").json()["queries"][0]["status"] == "completed"

    assert run("sessions", "rename", first, "Tea \x1b[1m time").code == 0
    assert "Tea \\x1b[1m time" in run("sessions", "list").out
    assert run("sessions", "rename", first, "Tea time", "--json").json()["title"] == "Tea time"
    assert run("sessions", "rename", first, " ").code == 1

    assert run("sessions", "delete", first).out == f"Deleted {first}.\n"
    outcome = run("sessions", "delete", first)
    assert outcome.code == 1
    assert "There is no session" in outcome.err
    assert run("sessions", "show", first).code == 1
    assert run("sessions", "delete", second, "--json").json() == {"deleted": True, "id": second}
    assert run("sessions", "list").err == "There are no sessions.\n"


def test_sessions_can_be_listed_by_context() -> None:
    run("ask", QUESTION, "--scope", "notes")
    assert len(run("sessions", "list", "--context", "notes", "--json").json()["sessions"]) == 1
    assert run("sessions", "list", "--context", "empty", "--json").json()["sessions"] == []
    assert run("sessions", "list", "--context", "nope").code == 1


# --- text -----------------------------------------------------------------------------------------


def _document(**fields: Any) -> dict[str, Any]:
    return {"output": [], "output_json": None, "citations": [], **fields}


def test_places_are_told_as_far_as_they_are_known() -> None:
    citation = {
        "source": "a.pdf",
        "artifact_name": None,
        "context": "docs",
        "pages": [3, 4],
        "section_path": None,
        "lines": [7, 9],
    }
    artifact = {
        **citation,
        "source": "",
        "artifact_name": "Terms",
        "pages": [],
        "lines": None,
        "section_path": "Fees > Late",
    }
    text = sources_text(_document(citations=[citation, artifact]))
    assert text == "\n[1] docs/a.pdf:7-9, pages 3-4\n[2] docs/Terms, Fees > Late\n"
    text = sources_text(_document(citations=[citation, artifact, citation]))
    assert text == "\n[1] [3] docs/a.pdf:7-9, pages 3-4\n[2] docs/Terms, Fees > Late\n"
    assert answer_text(_document(output_json={"days": 30})) == '{\n  "days": 30\n}\n'
