"""One question reads only the pages it needs of a stored index, and answers as the whole index does."""

from __future__ import annotations

import builtins
import io
import os
import random
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import trivium
from tests.why_examples import commit, entity, entry, index, module, worked_example
from tests.why_lookups import Whole, looked_up
from tests.why_repositories import Editor, make
from trivium import Context
from trivium.doors import answering
from trivium.why.model import Definition, Entry, Index
from trivium.why.prepared import PreparedIndex
from trivium.why.query import knowledge_why
from trivium.why.render import render_text
from trivium.why.response import to_json
from trivium.why.stored import IndexDamagedError, IndexMissingError


@pytest.fixture(autouse=True)
def neutral_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(str(tmp_path / "k.db")) as base:
        yield base


@pytest.fixture
def context(kb: trivium.KnowledgeBase, tmp_path: Path) -> Context:
    place = make(tmp_path / "work")
    editor = Editor(place, 5)
    for _ in range(40):
        editor.edit()
    made = kb.repository_context(place.root, create=True)
    made.index_repository(place.root)
    return made


def targets_of(source: Index) -> list[str]:
    """Everything that can be asked for, and much that cannot."""
    names = {""}
    for found in source.entries:
        names |= {found.id, found.path, *found.symbols, f"{found.path}:1", f"{found.path}:2-9", f"./{found.path}"}
        names |= {definition.name for definition in found.definitions}
        names.add(found.title or "")
        dotted = found.path.removesuffix(".py").replace("/", ".")
        names |= {dotted, *(f"{dotted}.{name}" for name in found.symbols)}
    for one in source.entities or []:
        names |= {one.id, one.name, *one.aliases, *(link.target for link in one.links)}
        names |= {proof.sha[:9] for proof in one.evidence if hasattr(proof, "sha")}
    for path in source.paths:
        names |= {path, *(folder.as_posix() for folder in Path(path).parents)}
    names |= {*source.entities_by_name, *source.entities_by_path, *source.changes_by_path}
    names |= {name.swapcase() for name in names} | {name[1:] for name in names}
    return sorted(name for name in names if name.strip() and len(name) <= 512)


def text(prepared: PreparedIndex, answer: dict[str, Any]) -> str:
    view = prepared.local
    return render_text(answer, view.entity, beyond=view.beyond, commits=prepared.head.commits)


def test_pages_answer_as_the_whole_index_does(context: Context) -> None:
    whole = PreparedIndex(context.repository_index().prepared.index)
    targets = targets_of(whole.index)
    assert len(targets) > 300
    chance = random.Random(1)
    for target in targets:
        request: dict[str, Any] = chance.choice(
            [{}, {}, {"kind": "change"}, {"limit": 1}, {"budget_tokens": 500}, {"kind": "decision", "limit": 100}]
        )
        expected = knowledge_why(whole, target, **request)
        with context.opened_index() as loaded:
            answer = knowledge_why(loaded.prepared, target, **request)
            assert to_json(answer) == to_json(expected), (target, request)
            assert text(loaded.prepared, answer) == text(whole, expected)


def test_many_questions_in_one_go_are_answered_as_well(context: Context) -> None:
    whole = PreparedIndex(context.repository_index().prepared.index)
    with context.opened_index() as loaded:
        for target in targets_of(whole.index)[::3]:
            assert knowledge_why(loaded.prepared, target) == knowledge_why(whole, target)


def test_a_question_does_not_want_the_whole_index() -> None:
    source = worked_example()
    for target in (
        "Cache",
        "src/cache.ts",
        "src",
        ".",
        "docs/guide.md:1",
        "cache",
        "a b c",
        "0123456",
        source.entries[0].id,
    ):
        whole = Whole(source)
        knowledge_why(looked_up(source, whole), target)
        assert whole.wanted == 0, target
    whole = Whole(source)
    assert knowledge_why(looked_up(source, whole), "Cache", profile="service") == knowledge_why(
        source, "Cache", profile="service"
    )
    assert whole.wanted == 1


def test_a_question_of_pages_opens_no_file_no_process_and_no_socket(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = ["Cache", "src/app/cache.py:1", "docs", "cache", "why do we evict"]
    expected = [context.why(target) for target in targets]
    with context.opened_index() as loaded:
        for owner, name in (
            (socket, "socket"),
            (subprocess, "Popen"),
            (builtins, "open"),
            (io, "open"),
            (os, "open"),
            (os, "scandir"),
            (os, "listdir"),
            (os, "stat"),
            (os, "lstat"),
        ):
            monkeypatch.setattr(owner, name, None)
        found = [knowledge_why(loaded.prepared, target) for target in targets]
        monkeypatch.undo()
    assert found == expected


@pytest.mark.parametrize("size", [0, 1, 5, 6, 7, 63, 64, 65, 129, 400])
def test_tables_of_any_size_hold_all_their_keys(size: int) -> None:
    modules = [module(f"src/m{number:03}.ts", f"Name{number}", "Same") for number in range(size)]
    changes = [commit(number, f"src/m{number:03}.ts") for number in range(size)]
    source = index(*modules, entities=changes)
    for target in (
        "src",
        "Same",
        "Name0",
        f"Name{size - 1}",
        "src/m006.ts",
        f"src/m{size:03}.ts",
        "A",
        "zz",
        changes[-1].id if changes else "x",
    ):
        assert knowledge_why(looked_up(source), target, limit=100) == knowledge_why(source, target, limit=100)
    tables = looked_up(source)
    whole = PreparedIndex(source)
    assert dict(tables.by_id) == dict(whole.by_id)
    assert {name: list(found) for name, found in tables.by_symbol.items()} == dict(whole.by_symbol)
    assert (len(tables.by_path), list(tables.by_path)) == (len(whole.by_path), sorted(whole.by_path))
    assert list(tables.local.entities) == whole.local.entities
    assert list(tables.local.entities[1:4]) == list(whole.local.entities)[1:4]
    some = {"src/m001.ts", "src/m005.ts", "", "\U0010ffff", *(f"src/m{number:03}.ts" for number in range(0, size, 7))}
    assert tables.local.by_link.keys() & some == whole.local.by_link.keys() & some


def dotted(name: str, path: str, **facts: Any) -> Entry:
    return Entry(
        f"module:{path}",
        "module",
        path,
        "0" * 64,
        symbols=[name],
        language="python",
        definitions=[Definition(name, 1, 9), Definition(f"{name}.run", 2, 3), Definition(f"{name}._own", 4, 5)],
        **facts,
    )


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("Engine.run", True),
        ("app.core.Engine", True),
        ("app.core.Engine.run", True),
        ("services.back.app.core.Engine.run", True),
        ("core.Engine", False),  # `app` is a package, so this is not how it is imported
        ("app.core.Engine._own", False),
        ("back.app.core.Engine", False),
    ],
)
def test_a_dotted_name_may_start_where_a_manifest_lies(target: str, found: bool) -> None:
    engine = dotted("Engine", "services/back/app/core.py")
    init = Entry(
        "module:services/back/app/__init__.py", "module", "services/back/app/__init__.py", "0" * 64, language="python"
    )
    package = entry("package", "services/back/pyproject.toml", id="package:back", title="back")
    about = entity("decision", "D", facts=(engine.id,))
    source = index(engine, init, package, entities=[about])
    for prepared in (PreparedIndex(source), looked_up(source)):
        assert [one["name"] for one in knowledge_why(prepared, target)["entities"]] == (["D"] if found else [])


# --- damage ---------------------------------------------------------------------------------------


def pages(file: str) -> list[tuple[int, str, int, bytes]]:
    with apsw.Connection(file) as connection:
        return connection.execute("SELECT id, part, number, value FROM repository_page").fetchall()


def set_page(file: str, number: int, value: bytes | None) -> None:
    connection = apsw.Connection(file)
    if value is None:
        connection.execute("DELETE FROM repository_page WHERE id = ?", (number,))
    else:
        connection.execute("UPDATE repository_page SET value = ? WHERE id = ?", (value, number))
    connection.close()


def ask(context: Context, target: str) -> dict[str, Any]:
    with context.opened_index() as loaded:
        return knowledge_why(loaded.prepared, target)


def test_a_damaged_page_is_refused_never_answered_from(context: Context) -> None:
    file = context.knowledge_base.url
    targets = ["Cache", "src/app/cache.py", "docs", "src/web/view.ts:1", "cache", "nothing like it at all"]
    expected = {target: ask(context, target) for target in targets}
    refused = 0
    chance = random.Random(2)
    for identity, part, _, value in pages(file):
        if part == "glance":
            continue
        place = chance.randrange(len(value))
        bad = bytearray(value)
        bad[place] ^= 1 << chance.randrange(8)
        for damaged in (bytes(bad), None, b"", value[:-1]):
            set_page(file, identity, damaged)
            for target in targets:
                try:
                    assert ask(context, target) == expected[target], (part, damaged)
                except IndexDamagedError:
                    refused += 1
        set_page(file, identity, value)
    assert refused > 50
    assert ask(context, "Cache") == expected["Cache"]


def test_a_new_build_mends_pages(context: Context) -> None:
    file, expected = context.knowledge_base.url, ask(context, "Cache")
    for identity, _, _, value in pages(file):
        set_page(file, identity, value[::-1])
    with pytest.raises(IndexDamagedError):
        ask(context, "Cache")
    context.index_repository(context.repository_root or "")
    assert ask(context, "Cache") == expected


def test_pages_of_another_index_are_refused(context: Context) -> None:
    file = context.knowledge_base.url
    before = {(part, number): value for _, part, number, value in pages(file)}
    root = context.repository_root
    assert root is not None
    (root / "docs/more.md").write_text("# More\n\n`Cache`\n")
    context.index_repository(root)
    for identity, part, number, _ in pages(file):
        if part.endswith("/citing") and (part, number) in before:
            set_page(file, identity, before[part, number])
    with pytest.raises(IndexDamagedError):
        ask(context, "Cache")


def test_an_index_without_pages_is_read_as_a_whole(context: Context) -> None:
    expected = ask(context, "Cache")
    with context.knowledge_base._store.write() as session:
        session.execute("DELETE FROM repository_page")
    assert ask(context, "Cache") == expected
    context.check_index()  # which may keep a page again, but none of a table
    assert ask(context, "Cache") == expected


def test_pages_go_with_their_index(kb: trivium.KnowledgeBase, context: Context) -> None:
    with kb._store.write() as session:
        session.execute("DELETE FROM repository")
    assert pages(kb.url) == []
    with pytest.raises(IndexMissingError), context.opened_index():
        pass


def test_another_process_may_replace_the_index_while_one_is_open(context: Context) -> None:
    root = context.repository_root
    assert root is not None
    with context.opened_index() as loaded, trivium.open(context.knowledge_base.url) as other:
        expected = knowledge_why(loaded.prepared, "src")
        (root / "src/app/more.py").write_text("class More: ...\n")
        other.repository_context(root).index_repository(root)
        assert knowledge_why(loaded.prepared, "Cache")["source"] == expected["source"]
        assert knowledge_why(loaded.prepared, "More")["entities"] == []


def test_the_door_asks_pages(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.why.stored.load_index", None)
    monkeypatch.chdir(context.repository_root or "")
    with answering.asked_index(context, "trivium index", "local") as loaded:
        found = answering.answer(loaded, "Cache", kind=None, limit=20, budget_tokens=None, profile="local")
    assert found.found["entities"]


def test_a_database_of_before_pages_is_migrated_with_a_backup(context: Context) -> None:
    base = context.knowledge_base
    file, root, expected = base.url, context.repository_root, ask(context, "Cache")
    assert root is not None
    base.close()
    connection = apsw.Connection(file)
    connection.execute(
        "DROP TRIGGER repository_leaves_no_page; DROP TABLE repository_page; PRAGMA user_version = 3"
    ).fetchall()
    connection.close()
    with trivium.open(file) as kb:
        assert Path(f"{file}.v3.backup").exists()
        renewed = kb.repository_context(root)
        assert ask(renewed, "Cache") == renewed.why("Cache") == expected
        renewed.check_index()
        assert not renewed.index_repository(root).changed
        assert len(pages(file)) > 20
        assert ask(renewed, "Cache") == expected
