"""Packages, areas, entries and what documents say about them (reference 2.1 to 2.3)."""

from __future__ import annotations

import json
import random

import pytest

from trivium.code.symbols import analyse
from trivium.why.entries import BuiltEntries, build_entries
from trivium.why.manifests import areas, is_manifest, packages
from trivium.why.model import Document, Entry, Reference, canonical, sha256


def build(
    sources: dict[str, str], documents: list[Document] | None = None, other: list[str] | None = None
) -> BuiltEntries:
    """Entries of source files, manifests and documents; `other` are paths without content."""
    data = {path: text.encode() for path, text in sources.items()}
    results = {path: analyse(path, text) for path, text in data.items()}
    files = [*data, *(other or []), *(document.path for document in documents or [])]
    return build_entries(
        files,
        {path: result for path, result in results.items() if result is not None},
        documents or [],
        {path: sha256(text) for path, text in data.items()},
        packages({path: text for path, text in data.items() if is_manifest(path)}),
    )


def document(path: str, *references: tuple[str, str], covers: list[str] | None = None) -> Document:
    """A document with references on lines 1, 2, …"""
    return Document(
        path=path,
        content_hash=sha256(path.encode()),
        title=f"About {path}",
        covers=covers or [],
        references=[
            Reference("code" if kind == "fenced" else kind, value, line, fenced=kind == "fenced")  # type: ignore[arg-type]
            for line, (kind, value) in enumerate(references, 1)
        ],
    )


def entry(built: BuiltEntries, entry_id: str) -> Entry:
    (found,) = [entry for entry in built.entries if entry.id == entry_id]
    return found


def names(manifests: dict[str, str]) -> dict[str, str]:
    """Package ids to manifest paths."""
    return {found.id: found.path for found in packages({path: text.encode() for path, text in manifests.items()})}


# --- packages (2.1) -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("package.json", '{"name": "@scope/ui"}', "@scope/ui"),
        ("package.json", '\ufeff{"name": "ui"}', "ui"),
        ("pyproject.toml", '[project]\nname = "trivium"', "trivium"),
        ("pyproject.toml", '[tool.poetry]\nname = "poem"', "poem"),
        ("setup.cfg", "[metadata]\nname = old", "old"),
        ("setup.py", "from setuptools import setup\nsetup(version='1', name='older')", "older"),
        ("setup.py", "import setuptools\nif True:\n    setuptools.setup(name='older')", "older"),
        ("Cargo.toml", '[package]\nname = "crate"', "crate"),
        ("go.mod", "// c\nmodule example.org/store/v2\n\ngo 1.22\n", "example.org/store/v2"),
    ],
)
def test_a_manifest_with_a_literal_name_is_a_package(path: str, text: str, name: str) -> None:
    assert names({path: text}) == {f"package:{name}": path}
    (found,) = packages({path: text.encode()})
    assert (found.kind, found.title) == ("package", name)
    assert found.content_hash == sha256(text.encode().removeprefix(b"\xef\xbb\xbf"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", "{}"),
        ("package.json", '{"name": 1}'),
        ("package.json", '{"name": ""}'),
        ("package.json", '{"name": "two words"}'),
        ("package.json", "[]"),
        ("package.json", "not json"),
        ("package.json", "[" * 100_000),
        ("package.json", '{"name": "' + "x" * 300 + '"}'),
        ("pyproject.toml", "[project\nname"),
        ("pyproject.toml", "project = 1"),
        ("pyproject.toml", "a = " + "[" * 50_000),
        ("setup.cfg", "[metadata]\nname = attr: pkg.name"),
        ("setup.cfg", "name = x"),
        ("setup.py", "setup(name=NAME)"),
        ("setup.py", "setup(name=f'{x}')"),
        ("setup.py", "def ("),
        ("setup.py", "setup(" * 10_000),
        ("Cargo.toml", "[workspace]\nmembers = ['a']"),
        ("go.mod", "go 1.22"),
        ("other.json", '{"name": "x"}'),
    ],
)
def test_a_manifest_without_a_literal_name_is_no_package(path: str, text: str) -> None:
    assert names({path: text}) == {}


def test_workspaces_decide_which_package_json_files_count() -> None:
    member, other = '{"name": "member"}', '{"name": "other"}'
    root = {"name": "root", "workspaces": ["packages/*", "./apps/**", "!packages/skipped"]}
    manifests = {
        "package.json": json.dumps(root),
        "packages/a/package.json": member,
        "packages/a/fixtures/b/package.json": other,
        "packages/skipped/package.json": '{"name": "skipped"}',
        "apps/deep/er/package.json": '{"name": "deep"}',
        "examples/c/package.json": '{"name": "example"}',
        "examples/c/pyproject.toml": '[project]\nname = "python-example"',
    }
    assert names(manifests) == {
        "package:deep": "apps/deep/er/package.json",
        "package:member": "packages/a/package.json",
        "package:python-example": "examples/c/pyproject.toml",
        "package:root": "package.json",
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"name": "root", "workspaces": {"packages": ["packages/*"]}}'),
        ("pnpm-workspace.yaml", "# c\npackages:\n  - 'packages/*'  # all\n  - \"apps/*\"\ncatalog:\n  - tests/*\n"),
        ("lerna.json", '{"packages": ["packages/*"]}'),
    ],
)
def test_each_way_to_declare_workspaces(path: str, text: str) -> None:
    found = names(
        {
            "package.json": '{"name": "root"}',
            path: text,
            "packages/a/package.json": '{"name": "a"}',
            "tests/b/package.json": '{"name": "b"}',
        }
    )
    assert set(found) == {"package:a", "package:root"}


def test_without_workspaces_every_package_json_counts() -> None:
    found = names({"package.json": '{"name": "a"}', "tools/package.json": '{"name": "b"}'})
    assert set(found) == {"package:a", "package:b"}


def test_of_several_manifests_with_one_name_the_nearest_to_the_root_counts() -> None:
    project, setup = '[project]\nname = "x"', "setup(name='x')"
    assert names({"setup.py": setup, "pyproject.toml": project}) == {"package:x": "pyproject.toml"}
    assert names({"a/pyproject.toml": project, "setup.py": setup}) == {"package:x": "setup.py"}
    assert names({"b/pyproject.toml": project, "a/pyproject.toml": project}) == {"package:x": "a/pyproject.toml"}


# --- areas (2.1) ----------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["src", "lib", "app", "source", "server", "client", "packages", "apps"])
def test_each_source_root_has_areas(root: str) -> None:
    assert areas([f"{root}/query/plan.ts", f"{root}/query/deep/er.ts"]) == {
        f"{root}/query": [f"{root}/query/deep/er.ts", f"{root}/query/plan.ts"]
    }


def test_files_directly_below_a_source_root_and_other_folders_have_no_area() -> None:
    assert areas(["src/main.ts", "main.ts", "tools/x/y.ts", "deep/src/x/y.ts"]) == {}


def test_a_module_belongs_to_its_most_specific_area() -> None:
    found = areas(["packages/ui/src/form/a.ts", "packages/ui/index.ts"], ["packages/ui/package.json", "package.json"])
    assert found == {"packages/ui": ["packages/ui/index.ts"], "packages/ui/src/form": ["packages/ui/src/form/a.ts"]}


def test_areas_are_entries_whose_hash_follows_their_modules() -> None:
    first = build({"src/query/a.py": "x = 1", "src/query/b.py": "y = 1"})
    again = build({"src/query/b.py": "y = 1", "src/query/a.py": "x = 1"})
    changed = build({"src/query/a.py": "x = 2", "src/query/b.py": "y = 1"})
    area = entry(first, "area:src/query")
    assert (area.kind, area.path) == ("area", "src/query")
    assert area.content_hash == entry(again, "area:src/query").content_hash
    assert area.content_hash != entry(changed, "area:src/query").content_hash


# --- entries (2.2) --------------------------------------------------------------------------------


def test_entries_have_ids_kinds_hashes_and_symbols() -> None:
    built = build(
        {"src/cache.ts": "export class Cache {}\nexport * from './x'", "pyproject.toml": '[project]\nname = "p"'},
        [document("docs/a.md")],
        other=["Makefile"],
    )
    assert [(found.id, found.kind, found.path) for found in built.entries] == [
        ("document:docs/a.md", "document", "docs/a.md"),
        ("module:src/cache.ts", "module", "src/cache.ts"),
        ("package:p", "package", "pyproject.toml"),
    ]
    module = entry(built, "module:src/cache.ts")
    assert (module.symbols, module.language) == (["Cache"], "typescript")
    assert module.content_hash == sha256(b"export class Cache {}\nexport * from './x'")
    assert [definition.name for definition in module.definitions] == ["Cache"]
    assert entry(built, "document:docs/a.md").title == "About docs/a.md"


def test_long_ids_are_cut_with_a_hash() -> None:
    path = f"src/{'x' * 300}.py"
    (found,) = build({path: "a = 1"}).entries
    assert len(found.id) == 256
    assert found.id == f"module:{path}"[:223] + ":" + sha256(f"module:{path}".encode())[:32]
    assert found.path == path


def test_a_file_that_does_not_parse_is_an_entry_without_symbols() -> None:
    built = build({"src/a.py": "def ("})
    assert entry(built, "module:src/a.py").symbols == []


def test_a_language_without_analyser_gives_entries_by_path() -> None:
    built = build({"lib/a.lua": "x = 1"}, [document("docs/a.md", ("code", "lib/a.lua"))])
    module = entry(built, "module:lib/a.lua")
    assert (module.symbols, module.language) == ([], "lua")
    assert module.mentioned_by == ["document:docs/a.md"]


def test_a_source_file_that_was_not_read_is_no_entry() -> None:
    assert build_entries(["a.py"], {}, [], {}, []).entries == []


def test_the_order_of_arguments_changes_nothing() -> None:
    sources = {f"src/m{number}/a.py": f"def f{number}(): ..." for number in range(20)}
    documents = [document(f"d{number}.md", ("code", f"f{number}"), ("code", "f1")) for number in range(20)]
    first = build(sources, documents)
    items = list(sources.items())
    for seed in range(3):
        random.Random(seed).shuffle(items)
        random.Random(seed).shuffle(documents)
        again = build(dict(items), documents)
        assert canonical([again.entries, again.mentions]) == canonical([first.entries, first.mentions])


def test_packages_given_are_left_as_they_are() -> None:
    given = packages({"package.json": b'{"name": "x"}'})
    about = [document("a.md", ("code", "x"))]
    for _ in range(2):
        built = build_entries(["package.json", "a.md"], {}, about, {}, given)
        assert entry(built, "package:x").mentioned_by == ["document:a.md"]
    assert given[0].mentioned_by == []


# --- covers (2.2) ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "target"),
    [
        ("module:src/query/plan.py", "module:src/query/plan.py"),
        ("src/query/plan.py", "module:src/query/plan.py"),
        ("../src/query/plan.py", "module:src/query/plan.py"),
        ("src/query", "area:src/query"),
        ("src/query/", "area:src/query"),
        ("area:src/query", "area:src/query"),
        ("@scope/ui", "package:@scope/ui"),
        ("ui", "package:@scope/ui"),
        ("docs/b.md", "document:docs/b.md"),
    ],
)
def test_a_document_covers_entries_by_id_name_or_path(token: str, target: str) -> None:
    built = build(
        {"src/query/plan.py": "x = 1", "ui/package.json": '{"name": "@scope/ui"}'},
        [document("docs/a.md", covers=[token, "nothing", "src/nowhere.py"]), document("docs/b.md")],
    )
    assert {found.id for found in built.entries if found.covered_by} == {target}
    assert entry(built, target).covered_by == ["document:docs/a.md"]
    assert entry(built, target).mentioned_by == []
    assert built.mentions == []


# --- mentions (2.3) -------------------------------------------------------------------------------

SOURCES = {
    "src/query/plan.py": "class Plan:\n    def run(self): ...\ndef shared(): ...\n",
    "src/query/__init__.py": "from .plan import Plan\n",
    "src/store.ts": "export class Store {}\nexport default Store\nexport const shared = 1\n",
    "packages/a/package.json": '{"name": "@scope/ui"}',
    "packages/b/package.json": '{"name": "@other/ui"}',
    "packages/c/package.json": '{"name": "@scope/form"}',
}


@pytest.mark.parametrize(
    ("kind", "value", "targets"),
    [
        ("link", "../src/store.ts", ["module:src/store.ts"]),
        ("link", "../src/store.ts#L3", ["module:src/store.ts"]),
        ("link", "../src/store.ts?plain=1", ["module:src/store.ts"]),
        ("link", "/src/store.ts", ["module:src/store.ts"]),
        ("link", "./../src/./store.ts", ["module:src/store.ts"]),
        ("link", "../src/query/", ["area:src/query"]),
        ("link", "src/store.ts", []),
        ("link", "b.md", []),
        ("link", "../../src/store.ts", []),
        ("link", "https://example.org/src/store.ts", []),
        ("link", "#section", []),
        ("text", "Store", ["module:src/store.ts"]),
        ("text", "src/store.ts", ["module:src/store.ts"]),
        ("code", "src/store.ts", ["module:src/store.ts"]),
        ("code", "./src/store.ts", ["module:src/store.ts"]),
        ("code", "src/query", ["area:src/query"]),
        ("code", "docs/b.md", ["document:docs/b.md"]),
        ("code", "b.md", ["document:docs/b.md"]),
        ("code", "Makefile", []),
        ("code", "@scope/form", ["package:@scope/form"]),
        ("code", "form", ["package:@scope/form"]),
        ("code", "ui", []),
        ("code", "Store", ["module:src/store.ts"]),
        ("code", "store", []),
        ("code", "Stores", []),
        ("code", "src/stor.ts", []),
        ("code", "default", []),
        ("code", "*", []),
        ("code", "Plan", ["module:src/query/plan.py"]),
        ("code", "Plan.run", ["module:src/query/plan.py"]),
        ("code", "query.plan.Plan", ["module:src/query/plan.py"]),
        ("code", "query.Plan.run", ["module:src/query/plan.py"]),
        ("code", "shared", []),
        ("fenced", "Store", []),
        ("fenced", "src/store.ts", []),
    ],
)
def test_what_a_reference_mentions(kind: str, value: str, targets: list[str]) -> None:
    built = build(SOURCES, [document("docs/a.md", (kind, value)), document("docs/b.md")], other=["Makefile"])
    assert [found.id for found in built.entries if found.mentioned_by] == targets
    assert [(mention.entry, mention.document, mention.line) for mention in built.mentions] == [
        (target, "document:docs/a.md", 1) for target in targets
    ]


def test_a_name_with_several_owners_is_a_note_and_no_edge() -> None:
    built = build(SOURCES, [document("docs/a.md", ("text", "x"), ("code", "shared"), ("code", "shared"))])
    owners = ["module:src/query/plan.py", "module:src/store.ts"]
    assert built.ambiguous == {"shared": owners}
    assert built.reasons == ["ambiguous-symbol"]
    (record,) = built.coverage()
    assert (record.scope, record.status) == ("mentions", "partial")
    assert record.reason == f"ambiguous-symbol: shared ({', '.join(owners)})"
    assert [(place.path, place.line) for place in record.evidence] == [("docs/a.md", 2)]
    assert build(SOURCES).coverage() == []


def test_the_note_about_ambiguous_names_is_bounded() -> None:
    sources = {f"src/{side}.py": "".join(f"name{n} = 1\n" for n in range(200)) for side in ("a", "b")}
    built = build(sources, [document("a.md", *(("code", f"name{n}") for n in range(200)))])
    (record,) = built.coverage()
    assert record.reason is not None
    assert len(record.reason) <= 1024
    assert len(record.evidence) == 32


def test_a_mention_has_the_line_of_the_first_reference() -> None:
    built = build(SOURCES, [document("a.md", ("code", "x"), ("fenced", "Store"), ("code", "Store"), ("code", "Store"))])
    (mention,) = built.mentions
    assert mention.line == 3


def test_a_document_does_not_mention_itself() -> None:
    assert build({}, [document("docs/a.md", ("code", "docs/a.md"))]).mentions == []


def test_at_most_64_observed_references_a_document() -> None:
    sources = {f"src/m{number:03}.py": f"def f{number:03}(): ..." for number in range(100)}
    built = build(sources, [document("a.md", *(("code", f"f{number:03}") for number in range(100)))])
    assert len(built.mentions) == 64
    assert built.mentions[-1].entry == "module:src/m063.py"


def test_at_most_64_inbound_edges_an_entry_covers_first() -> None:
    documents = [document(f"d{number:03}.md", ("code", "src/a.py")) for number in range(100)]
    documents += [document(f"z{number}.md", covers=["src/a.py"]) for number in range(4)]
    found = entry(build({"src/a.py": "x = 1"}, documents), "module:src/a.py")
    assert found.covered_by == [f"document:z{number}.md" for number in range(4)]
    assert found.mentioned_by == [f"document:d{number:03}.md" for number in range(60)]


def test_the_worked_example() -> None:
    built = build(
        {"src/cache.ts": "export class Cache {}\n"},
        [
            document("CHANGELOG.md", ("code", "src/cache.ts")),
            document("docs/adr/0001-fifo.md"),
            document("docs/adr/0002-lru.md", ("code", "Cache"), ("code", "src/cache.ts")),
            document("docs/cache.md"),
            document("docs/guide.md", ("code", "Cache")),
        ],
    )
    assert entry(built, "module:src/cache.ts").mentioned_by == [
        "document:CHANGELOG.md",
        "document:docs/adr/0002-lru.md",
        "document:docs/guide.md",
    ]


def test_hostile_references_are_only_looked_up() -> None:
    values = [
        "../" * 5000 + "etc/passwd",
        "x" * (1 << 20),
        "a\0b",
        "%00%2e%2e/",
        "%ff",
        "\\" * 1000,
        "." * 5000,
        "",
        " ",
    ]
    about = document("docs/a.md", *((kind, value) for value in values for kind in ("code", "link", "text")))
    assert build(SOURCES, [about]).mentions == []
