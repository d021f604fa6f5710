"""Targets as people write them by habit: what they lead to, and what is said of those that are nothing here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli_support import run
from tests.git_repository import GitRepository
from tests.test_ak_docs import ak_docs
from tests.why_examples import commit, defined, entity, entry, index, module, region
from tests.why_lookups import looked_up
from trivium.why.model import Index, Link
from trivium.why.prepared import PreparedIndex
from trivium.why.query import asked_paths, knowledge_why
from trivium.why.render import render_text
from trivium.why.suggest import Askable, rewritten


def ask(source: Index, target: str, **request: Any) -> dict[str, Any]:
    """The answer, which is the same from stored pages."""
    answer = knowledge_why(source, target, **request)
    assert knowledge_why(looked_up(source), target, **request) == answer
    return answer


def names(answer: dict[str, Any]) -> list[str]:
    return [found["name"] for found in answer["entities"]]


def shop() -> Index:
    return index(
        module("src/app/cache.py", "Cache"),
        module("src/app/__init__.py"),
        module("src/app/box.ts", "Box"),
        entry("document", "docs/adr/0012-boxes.md"),
        entry("document", "docs/adr/0112-more.md"),
        entry("document", "docs/x.md"),
        entities=[
            entity("decision", "Boxes", region("docs/adr/0012-boxes.md"), paths=("src/app",)),
            entity("decision", "More", region("docs/adr/0112-more.md"), paths=("src/app/box.ts",)),
        ],
    )


# --- other ways to write a name -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("cache.py", "`src/app/cache.py`"),
        ("adr/0012-boxes.md", "`docs/adr/0012-boxes.md`"),
        ("ADR-12", "`docs/adr/0012-boxes.md`"),
        ("adr-0112", "`docs/adr/0112-more.md`"),
        ("src.app.box", None),
        ("src.app", "`src/app/__init__.py`"),
        ("src/app/cache.py::Cache", "`Cache`, `src/app/cache.py`"),
        ("Cache()", "`Cache`"),
        ("Cache(size=3)", "`Cache`"),
        ("Box<T>", "`Box`"),
        ("Cache[int]()", "`Cache`"),
        ("docs/x.md#status", "`docs/x.md`"),
        ("ADR-13", None),
        ("::", None),
        ("#", None),
        ("()", None),
    ],
)
def test_what_is_written_another_way_is_suggested_and_never_answered(target: str, meant: str | None) -> None:
    answer = ask(shop(), target)
    assert answer["entities"] == answer["documents"] == []
    if meant is None:
        assert "guidance" not in answer
    else:
        told = f"Nothing here has exactly this id, name, path or symbol. Close to it, to ask for instead: {meant}."
        assert answer["guidance"] == told


def test_a_method_is_answered_by_its_file_and_the_answer_says_so() -> None:
    source = index(
        module("src/box.ts", "Box", definitions=[defined("Box", 1, 9), defined("Box.put", 3, 5)]),
        module("src/crate.ts", "Crate", definitions=[defined("Crate", 1, 9), defined("Crate.put", 2, 2)]),
        entities=[entity("decision", "Boxes", facts=("module:src/box.ts",))],
    )
    for target in ("Box.put", "Box::put", "Box#put"):
        answer = ask(source, target)
        assert names(answer) == ["Boxes"]
        assert answer["guidance"] == "`Box.put` is in `src/box.ts` (line 3); this answer is about the whole file."
    for target in ("Box.get", "Crate::Box::put", "Box:put"):
        assert names(ask(source, target)) == []
    assert "guidance" not in ask(source, "Box")


@pytest.mark.parametrize("target", ["org.acme.pay", "Org.acme.pay", "acme/pay", "acme::pay", "acme\\pay", "pay", "a"])
def test_a_package_leads_to_its_folder(target: str) -> None:
    source = index(
        module("lib/src/main/java/org/acme/pay/Till.java", "Till"),
        module("lib/src/main/java/org/acme/pay/deep/Coin.java", "Coin"),
        *(module(f"{place}/a/x.go") for place in "bcdefg"),
    )
    told = ask(source, target).get("guidance", "")
    assert ("`lib/src/main/java/org/acme/pay`" in told) == (target not in ("Org.acme.pay", "a"))


def test_a_name_that_is_not_exported_leads_to_its_line() -> None:
    badge = [defined("Badge", 4, 9), defined("Badge.draw", 5, 6)]
    source = index(
        module("src/badge.tsx", "default", definitions=badge),
        *(module(f"src/{name}.go", definitions=[defined("main", 1, 2)]) for name in "abcdef"),
        entities=[entity("decision", "Signs", facts=("module:src/badge.tsx",))],
    )
    assert "to ask for instead: `src/badge.tsx:4`." in ask(source, "Badge")["guidance"]
    for target in ("draw", "Badge.draw"):
        assert "to ask for instead: `src/badge.tsx:5`" in ask(source, target)["guidance"]
    assert names(ask(source, "src/badge.tsx:4")) == ["Signs"]
    assert "guidance" not in ask(source, "main")


def test_a_method_of_several_files_names_them() -> None:
    found = [defined("Box", 1, 9), defined("Box.put", 3, 5)]
    source = index(*(module(f"src/{name}.ts", "Box", definitions=found) for name in "abcd"))
    told = ask(source, "Box.put")["guidance"]
    places = ", ".join(f"`src/{name}.ts` (line 3)" for name in "abc")
    assert told == f"`Box.put` is in {places} and 1 more; this answer is about these whole files."


def test_a_dotted_module_leads_to_its_file() -> None:
    assert rewritten(Askable(["lib/a.py"]), "lib.a") == ["lib/a.py"]
    assert rewritten(Askable(["src/lib/a.py"]), "lib.a") == ["src/lib/a.py"]


def test_a_file_name_that_very_many_have_is_not_suggested() -> None:
    assert len(rewritten(Askable([f"{place}/index.ts" for place in "abcde"]), "index.ts")) == 5
    assert rewritten(Askable([f"{place}/index.ts" for place in "abcdef"]), "index.ts") == []


@pytest.mark.parametrize(
    ("target", "folder", "found"),
    [
        ("../shop/src/app/box.ts", "", ["More"]),
        ("../../shop/src/app/box.ts", "src", ["More"]),
        ("../../shop/src/app/box.ts:3", "src", ["More"]),
        ("../shop/src/app/box.ts", "src", ["More"]),
        ("../stop/src/app/box.ts", "", []),
        ("../shop/../../src/app/box.ts", "", []),
    ],
)
def test_a_path_may_leave_the_root_and_come_back(target: str, folder: str, found: list[str]) -> None:
    assert names(ask(shop(), target, root="/home/ada/shop", folder=folder)) == found
    assert names(ask(shop(), target, folder=folder)) == []


# --- folders --------------------------------------------------------------------------------------


def test_a_decision_about_a_folder_is_told_of_at_its_files() -> None:
    told = "Decisions are recorded about `src/app`, to ask for by that name."
    for target in ("src/app/cache.py", "Cache", "src/app/cache.py:1"):
        answer = ask(shop(), target)
        assert names(answer) == []
        assert told in answer["guidance"]
        assert told in ask(shop(), target, kind="decision")["guidance"]
        assert "guidance" not in ask(shop(), target, kind="concept")
    assert names(ask(shop(), "src/app")) == ["Boxes", "More"]
    assert "guidance" not in ask(shop(), "src/app")
    assert "guidance" not in ask(shop(), "docs/x.md")


def gone() -> Index:
    return index(
        module("src/a.py"),
        entities=[
            commit(1, "old/sub/o.py", facts=("module:old/sub/o.py",)),
            commit(2, "old/p.py", "src/a.py"),
            entity("decision", "Protocols", paths=()),
        ],
        entities_by_path={"TCP/IP": ["knowledge-decision:Protocols"]},
    )


def test_files_that_were_removed_from_a_folder_are_found_by_it() -> None:
    assert names(ask(gone(), ".")) == ["Commit 1", "Commit 2"]
    source = index(
        module("src/a.py"), entities=[commit(1, "src/old.py"), commit(2, "src/a.py"), commit(3, "srcs/b.py")]
    )
    assert names(ask(source, "src")) == ["Commit 1", "Commit 2"]


def test_a_removed_folder_leads_to_what_lay_in_it() -> None:
    told = "Commits touched what lay in a folder `old`, to ask for instead: `old/p.py`, `old/sub/o.py`."
    for target in ("old", "old/", "./old"):
        answer = ask(gone(), target)
        assert names(answer) == []
        assert told in answer["guidance"]
    assert "`old/sub`, to ask for instead: `old/sub/o.py`." in ask(gone(), "old/sub")["guidance"]
    for target in ("ol", "module:old", "TCP", "old/su"):
        assert "Commits touched" not in ask(gone(), target).get("guidance", ""), target
    assert "guidance" not in ask(gone(), "old", profile="service")
    many = index(entities=[commit(1, *(f"old/{number}.py" for number in range(5)))])
    assert "`old/0.py`, `old/1.py`, `old/2.py` and 2 more." in ask(many, "old")["guidance"]


# --- the text -------------------------------------------------------------------------------------


def titles(source: Index, target: str) -> list[str]:
    prepared = PreparedIndex(source)
    text = render_text(knowledge_why(prepared, target), prepared.local.entity, asked=asked_paths(prepared, target))
    return [line.partition(": ")[2] for line in text.splitlines() if line.startswith(("decision: ", "concept: "))]


def test_what_was_asked_for_stands_first_among_its_kind() -> None:
    source = index(
        module("src/a.py", "Store"),
        entities=[
            entity("concept", "API", region("docs/glossary.md", 1, 1), paths=("src/a.py",)),
            entity("concept", "Queue", region("docs/glossary.md", 3, 3), aliases=("Wait list",), paths=("src/a.py",)),
            entity("decision", "Ant", region("docs/adr/0001-a.md"), paths=("src/a.py",)),
            entity(
                "decision",
                "Trav",
                region("docs/adr/0016-t.md"),
                paths=("src/a.py",),
                links=(Link("superseded-by", "knowledge-decision:Ant"),),
            ),
        ],
    )
    assert titles(source, "src/a.py") == ["Ant", "Trav", "API", "Queue"]
    assert titles(source, "Wait list") == ["Ant", "Trav", "Queue", "API"]
    assert titles(source, "docs/adr/0016-t.md") == ["Trav", "Ant", "API", "Queue"]
    assert titles(source, "docs/glossary.md:3")[-2:] == ["Queue", "API"]
    assert names(ask(source, "Wait list")) == ["API", "Queue", "Ant", "Trav"]


# --- a dash in front ------------------------------------------------------------------------------


def test_a_target_with_a_dash_in_front_is_told_how_to_write(repository: GitRepository) -> None:
    for program in (run, ak_docs):
        refused = program("why", "-rf.md")
        assert refused.code == 2
        assert "write: -- -rf.md (or ./-rf.md, for a file)" in refused.err
    assert "write:" not in run("why", "x", "--jso").err
    run("index")
    for written in (["--", "-rf.md"], ["./-rf.md"]):
        assert "commit" in run("why", *written).out


@pytest.fixture
def repository(own_home: Any, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    made = GitRepository(own_home / "shop")
    made.commit("feat: begin", "-rf.md", "src/a.py")
    monkeypatch.chdir(made.root)
    return made


# --- codes are explained --------------------------------------------------------------------------


def test_codes_are_explained_where_they_appear(repository: GitRepository) -> None:
    repository.write("trivium.toml", "[safety]\nmaxFiles = 1\n")
    built = run("index")
    told = "file-limit: 2 files left out by safety.maxFiles (1)"
    assert f"files: partial ({told})" in built.out
    assert "  file-limit: the list of files ends there; later paths are unknown here" in built.out
    meant = f"files: partial — {told} (the list of files ends there; later paths are unknown here) (src/a.py:1)"
    assert meant in run("why", "-rf.md".removeprefix("-")).out
    assert {told} == {
        record["reason"] for record in run("why", "x", "--json").json()["coverage"] if record["scope"] == "files"
    }


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("com.acme.pay.Payments", ["Payments"]),
        ("Acme::Pay::Payments", ["Payments"]),
        ("App\\Http\\Payments", ["Payments"]),
        ("acme.Payments.charge", ["Payments.charge"]),
        ("new Payments()", ["Payments"]),
        ("charge", ["Payments.charge"]),
        ("Payments.nothing", ["Payments"]),
        ("Payments.charge(Order)", ["Payments.charge"]),
        ("pay.java", ["src/pay.java"]),
        ("Use PostgreSQL", ["2. Use PostgreSQL"]),
        ("use kafka", ["ADR-0003: Use Kafka"]),
        ("kafka", ["ADR-0003: Use Kafka"]),
        ("0003", ["docs/adr/0003-kafka.md"]),
        ("#3", ["docs/adr/0003-kafka.md"]),
        ("3", ["docs/adr/0003-kafka.md"]),
        ("4", []),
        ("old Kafka", []),
        ("src/kafka", []),
        ("ka", []),
    ],
)
def test_what_people_call_things_leads_to_their_names(target: str, meant: list[str]) -> None:
    source = index(
        module(
            "src/acme/Payments.java",
            "Payments",
            definitions=[defined("Payments", 1, 9), defined("Payments.charge", 2, 3)],
        ),
        entry("document", "docs/adr/0002-postgres.md"),
        entry("document", "docs/adr/0003-kafka.md"),
        entities=[
            entity("decision", "2. Use PostgreSQL", region("docs/adr/0002-postgres.md"), paths=("src/pay.java",)),
            entity("decision", "ADR-0003: Use Kafka", region("docs/adr/0003-kafka.md")),
        ],
    )
    answer = ask(source, target)
    assert answer["entities"] == []
    shown = ", ".join(f"`{name}`" for name in meant)
    told = f"Nothing here has exactly this id, name, path or symbol. Close to it, to ask for instead: {shown}."
    assert answer.get("guidance", "").startswith(told if meant else "")
    assert ("Close to it" in answer.get("guidance", "")) == bool(meant)
