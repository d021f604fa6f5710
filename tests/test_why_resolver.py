"""Exact look-ups of paths, packages and symbols (reference 2.3, 2.4 and 4.1)."""

from __future__ import annotations

import pytest

from trivium.code.symbols import analyse
from trivium.why.entries import build_entries
from trivium.why.manifests import packages
from trivium.why.model import Resolver, sha256
from trivium.why.python_names import module_names
from trivium.why.resolver import EntryResolver, normal


def resolver(sources: dict[str, str], other: tuple[str, ...] = ()) -> EntryResolver:
    data = {path: text.encode() for path, text in sources.items()}
    results = {path: analyse(path, text) for path, text in data.items()}
    hashes = {path: sha256(text) for path, text in data.items()}
    modules = {path: result for path, result in results.items() if result is not None}
    return build_entries([*data, *other], modules, [], hashes, packages(data)).resolver


def owners(sources: dict[str, str], name: str) -> list[str]:
    return [owner.removeprefix("module:") for owner in resolver(sources).owners(name)]


# --- paths ----------------------------------------------------------------------------------------

FILES = (
    "src/x.ts",
    "docs/a.md",
    "docs/adr/0001.md",
    "docs/img/a b.png",
    "Makefile",
    "odd/a#b.ts",
    "odd/c:12",
    "odd/%41",
)


@pytest.mark.parametrize(
    ("token", "path"),
    [
        ("src/x.ts", "src/x.ts"),
        ("./src/x.ts", "src/x.ts"),
        ("/src/x.ts", "src/x.ts"),
        ("src//x.ts", "src/x.ts"),
        ("src/./x.ts", "src/x.ts"),
        ("docs/../src/x.ts", "src/x.ts"),
        ("../../src/x.ts", "src/x.ts"),
        ("../a.md", "docs/a.md"),
        ("0001.md", "docs/adr/0001.md"),
        ("./0001.md", "docs/adr/0001.md"),
        ("src\\x.ts", "src/x.ts"),
        (".\\src\\x.ts", "src/x.ts"),
        ("src/x.ts:12", "src/x.ts"),
        ("src/x.ts:3-9", "src/x.ts"),
        ("src/x.ts:12:5", "src/x.ts"),
        ("src/x.ts#L10", "src/x.ts"),
        ("src/x.ts#L10-L20", "src/x.ts"),
        ("src/x.ts#section", "src/x.ts"),
        ("src/x.ts?raw", "src/x.ts"),
        ("../img/a%20b.png", "docs/img/a b.png"),
        ("docs/img/a b.png", "docs/img/a b.png"),
        ("Makefile", "Makefile"),
        ("Makefile:3", "Makefile"),
        ("src", "src"),
        ("src/", "src"),
        ("docs/adr", "docs/adr"),
        ("../img", "docs/img"),
        ("odd/a#b.ts", "odd/a#b.ts"),
        ("odd/c:12", "odd/c:12"),
        ("odd/%41", "odd/%41"),
        ("src/y.ts", None),
        ("SRC/x.ts", None),
        ("x.ts", None),
        ("../../../src/x.ts", None),
        ("/../src/x.ts", None),
        ("/0001.md", None),
        ("https://example.org/src/x.ts", None),
        ("//src/x.ts", None),
        ("src/x.ts\n", None),
        ("src/x.ts:", None),
        ("", None),
        (".", None),
        ("./", None),
        ("..", None),
        ("%2e%2e", None),
        ("/", None),
        ("#a", None),
        ("%ff", None),
        ("a" * 5000, None),
    ],
)
def test_a_token_names_a_path(token: str, path: str | None) -> None:
    assert EntryResolver([], FILES).path(token, "docs/adr/0002.md") == path


def test_the_root_comes_before_the_folder_of_the_document() -> None:
    found = EntryResolver([], ["a.md", "docs/a.md"])
    assert found.path("a.md", "docs/b.md") == "a.md"
    assert found.linked_path("a.md", "docs/b.md") == "docs/a.md"


def test_links_are_relative_to_their_document() -> None:
    found = EntryResolver([], FILES)
    assert found.linked_path("../src/x.ts#L3", "docs/a.md") == "src/x.ts"
    assert found.linked_path("/src/x.ts", "docs/a.md") == "src/x.ts"
    assert found.linked_path("src/x.ts", "docs/a.md") is None
    assert found.linked_path("src/x.ts", "README.md") == "src/x.ts"
    assert found.linked_path("../../src/x.ts", "docs/a.md") is None


def test_paths_stay_inside_the_repository() -> None:
    assert normal("a/b", "../c") == "a/c"
    assert normal("", "..") is None
    assert normal("a", "../../a") is None
    assert normal("a", "") == "a"


def test_entries_at_a_path() -> None:
    found = resolver({"src/q/a.py": "x = 1", "pyproject.toml": '[project]\nname = "p"'}, other=("Makefile",))
    assert found.entry_at("src/q/a.py") is found.by_id["module:src/q/a.py"]
    assert found.entry_at("src/q") is found.by_id["area:src/q"]
    assert found.entry_at("src") is found.entry_at("Makefile") is found.entry_at("pyproject.toml") is None


def test_it_is_a_resolver() -> None:
    found: Resolver = EntryResolver([], [])
    assert found.owners("x") == []
    assert found.package("x") is None


# --- packages -------------------------------------------------------------------------------------


def test_packages_by_name_and_unique_last_part() -> None:
    found = resolver(
        {
            "a/package.json": '{"name": "@scope/ui"}',
            "b/package.json": '{"name": "@scope/form"}',
            "c/package.json": '{"name": "@other/form"}',
            "d/package.json": '{"name": "plain"}',
            "e/package.json": '{"name": "@scope/plain"}',
            "f/go.mod": "module example.org/store",
        }
    )
    assert found.package("@scope/ui") == found.package("ui") == "package:@scope/ui"
    assert found.package("form") is None
    assert found.package("plain") == "package:plain"
    assert found.package("example.org/store") == "package:example.org/store"
    assert found.package("store") is found.package("UI") is None


# --- symbols (section 17) -------------------------------------------------------------------------


def test_the_declaring_module_owns_a_name_before_those_that_forward_it() -> None:
    sources = {
        "src/store.ts": "export class Store {}",
        "src/index.ts": "export { Store } from './store'\nexport { z } from 'zod'",
        "src/other.ts": "import { Store } from './store'\nexport { Store }",
    }
    assert owners(sources, "Store") == ["src/store.ts"]
    assert owners(sources, "z") == ["src/index.ts"]
    del sources["src/store.ts"]
    assert owners(sources, "Store") == ["src/index.ts", "src/other.ts"]


def test_a_name_that_two_modules_declare_has_two_owners() -> None:
    sources = {"b.ts": "export const x = 1", "a.py": "x = 1", "c.ts": "export { x } from './b'"}
    assert owners(sources, "x") == ["a.py", "b.ts"]


def test_default_and_star_are_never_looked_up() -> None:
    sources = {"a.ts": "export default class A {}\nexport * from './b'"}
    assert owners(sources, "default") == owners(sources, "*") == owners(sources, "A") == []


def test_case_counts_and_nothing_is_guessed() -> None:
    sources = {"a.py": "class Store: ..."}
    assert owners(sources, "store") == owners(sources, "Stores") == owners(sources, "Store()") == []


PYTHON = {
    "src/pkg/__init__.py": "from .store import Store\nfrom . import tools\nfrom .other import gone\n",
    "src/pkg/store.py": "class Store:\n    def get(self): ...\n    def _own(self): ...\ndef _hidden(): ...\n",
    "src/pkg/tools.py": "def run(): ...\n",
    "src/pkg/sub/__init__.py": "from ..store import Store as Store\nfrom pkg.tools import run\n",
    "src/else/store.py": "class Store:\n    def put(self): ...\n",
}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("pkg.store.Store", ["src/pkg/store.py"]),
        ("src.pkg.store.Store", ["src/pkg/store.py"]),
        ("pkg.store.Store.get", ["src/pkg/store.py"]),
        ("pkg.Store", ["src/pkg/store.py"]),
        ("pkg.Store.get", ["src/pkg/store.py"]),
        ("pkg.sub.Store", ["src/pkg/store.py"]),
        ("pkg.sub.run", ["src/pkg/tools.py"]),
        ("pkg.store._hidden", ["src/pkg/store.py"]),
        ("pkg.store", ["src/pkg/store.py"]),
        ("pkg.tools", ["src/pkg/tools.py"]),
        ("pkg.tools.run", ["src/pkg/tools.py"]),
        ("pkg.gone", ["src/pkg/__init__.py"]),
        ("else.store.Store", ["src/else/store.py"]),
        ("Store.get", ["src/pkg/store.py"]),
        ("Store.put", ["src/else/store.py"]),
        ("Store", ["src/else/store.py", "src/pkg/store.py"]),
        ("Store._own", []),
        ("Store.nothing", []),
        ("pkg.store.Store.nothing", []),
        ("pkg.store.Nothing", []),
        ("pkg.nothing.Store", []),
        ("store.Store", []),
        ("pkg", []),
        ("pkg.", []),
        (".pkg", []),
        ("..", []),
    ],
)
def test_dotted_names_of_python(name: str, found: list[str]) -> None:
    assert owners(PYTHON, name) == found


def test_modules_that_pass_a_name_round_in_a_circle_end() -> None:
    sources = {
        "pkg/__init__.py": "from .a import X as X\n",
        "pkg/a.py": "from .b import X as X\n",
        "pkg/b.py": "from .a import X as X\n",
    }
    assert owners(sources, "pkg.X") in ([], ["pkg/a.py"], ["pkg/b.py"])


def test_dotted_names_start_at_packages_and_manifests() -> None:
    sources = {
        "services/api/pyproject.toml": '[project]\nname = "api"',
        "services/api/core/models.py": "class User: ...",
        "tools/deep/kit/__init__.py": "",
        "tools/deep/kit/run.py": "def go(): ...",
    }
    assert owners(sources, "core.models.User") == ["services/api/core/models.py"]
    assert owners(sources, "kit.run.go") == ["tools/deep/kit/run.py"]
    assert owners(sources, "services.api.core.models.User") == ["services/api/core/models.py"]
    assert owners(sources, "models.User") == []


def test_module_names() -> None:
    assert module_names("src/a/b.py") == {"src.a.b", "a.b"}
    assert module_names("a/__init__.pyi") == {"a"}
    assert module_names("__init__.py") == set()
    assert module_names("x/y/z.py", {"x"}, {"x/y"}) == {"x.y.z", "y.z"}


def test_a_stub_is_no_second_owner() -> None:
    assert owners({"a.py": "def f(): ...", "a.pyi": "def f() -> int: ..."}, "f") == ["a.py"]
    assert owners({"a.pyi": "def f() -> int: ..."}, "f") == ["a.pyi"]
    assert owners({"a.js": "export const x = 1", "a.d.ts": "export declare const x: 1"}, "x") == ["a.js"]
    assert owners({"a.py": "def f(): ...", "b.pyi": "def f(): ..."}, "f") == ["a.py", "b.pyi"]


def test_a_header_leaves_a_function_to_the_file_that_defines_it() -> None:
    header, source = "int open_store(int a);", "int open_store(int a) { return a; }"
    assert owners({"s.h": header, "s.c": source}, "open_store") == ["s.c"]
    assert owners({"s.h": header}, "open_store") == ["s.h"]


def test_methods_defined_apart_from_their_type_lead_to_the_type() -> None:
    sources = {
        "store/type.go": "package store\ntype Store struct{}\n",
        "store/get.go": "package store\nfunc (s *Store) Get() {}\n",
        "s.hpp": "class Box {\n public:\n  void put();\n};\n",
        "s.cpp": "void Box::put() {}\n",
    }
    assert owners(sources, "Store.Get") == ["store/type.go"]
    assert owners(sources, "Box::put") == owners(sources, "Box#put") == ["s.hpp"]


ELSEWHERE = {
    "src/main/java/com/acme/pay/PaymentService.java": "public class PaymentService { public void charge() {} }",
    "internal/store/pg.go": "package store\ntype PgStore struct{}\nfunc (s *PgStore) Get() {}\n",
    "crates/acme-core/src/ledger.rs": "pub struct Ledger;\nimpl Ledger { pub fn post(&self) {} }\n",
    "lib/acme/mailer.rb": "module Acme\n  class Mailer\n    def send_all; end\n  end\nend\n",
    "include/acme/queue.hpp": "namespace acme { class Queue { public: void push(); }; }\n",
    "app/Http/OrderController.php": "<?php namespace App\\Http; class OrderController { public function index() {} }",
    "src/Acme.Orders/OrderAggregate.cs": "namespace Acme.Orders; public class OrderAggregate {}",
    "web/cart.ts": "export class Cart { total(): number { return 1 } }",
    "py/cart.py": "class Basket: ...",
    "a/letters.rb": "module Post\n  class Letter\n    def seal!; end\n  end\nend\n",
    "a/ring.cpp": "namespace post::ring {\nclass Ring { public: void turn(); };\n}\n",
    "a/Orders.php": "<?php\nnamespace Post\\Http;\nclass Orders { public function index() {} }",
    "a/Stamp.cs": "namespace Post.Paper;\nclass Stamp { public void Lick() {} }",
    "a/Parcel.java": "package org.post;\nclass Parcel { void weigh() {} }",
    "a/Van.kt": "package org.post.vans\n\nclass Van { fun drive() = 1 }\n",
    "a/cat.go": "package animals\n\ntype Cat struct{}\nfunc (c *Cat) Purr() {}\n",
}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("com.acme.pay.PaymentService", "src/main/java/com/acme/pay/PaymentService.java"),
        ("com.acme.pay.PaymentService.charge", "src/main/java/com/acme/pay/PaymentService.java"),
        ("pay.PaymentService", "src/main/java/com/acme/pay/PaymentService.java"),
        ("store.PgStore", "internal/store/pg.go"),
        ("store.PgStore.Get", "internal/store/pg.go"),
        ("acme_core::Ledger", "crates/acme-core/src/ledger.rs"),
        ("crate::ledger::Ledger", "crates/acme-core/src/ledger.rs"),
        ("crate::Ledger::post", "crates/acme-core/src/ledger.rs"),
        ("Acme::Mailer", "lib/acme/mailer.rb"),
        ("Acme::Mailer#send_all", "lib/acme/mailer.rb"),
        ("acme::Queue", "include/acme/queue.hpp"),
        ("acme::Queue::push", "include/acme/queue.hpp"),
        ("App\\Http\\OrderController", "app/Http/OrderController.php"),
        ("App\\Http\\OrderController::index", "app/Http/OrderController.php"),
        ("Acme.Orders.OrderAggregate", "src/Acme.Orders/OrderAggregate.cs"),
        ("cart.Cart.total", "web/cart.ts"),
        ("Post::Letter", "a/letters.rb"),
        ("Post::Letter#seal!", "a/letters.rb"),
        ("post::ring::Ring::turn", "a/ring.cpp"),
        ("Post\\Http\\Orders", "a/Orders.php"),
        ("Post.Paper.Stamp.Lick", "a/Stamp.cs"),
        ("org.post.Parcel.weigh", "a/Parcel.java"),
        ("org.post.vans.Van", "a/Van.kt"),
        ("animals.Cat.Purr", "a/cat.go"),
        ("Other::Letter", None),
        ("java.util.Parcel", None),
        ("std::Ring", None),
        ("redis.PgStore", None),
        ("com.other.PaymentService", None),
        ("store.PgStore.Nothing", None),
        ("crate::Nothing", None),
        ("cart.Basket", None),
    ],
)
def test_qualified_names_of_other_languages(name: str, found: str | None) -> None:
    assert owners(ELSEWHERE, name) == ([] if found is None else [found])


def test_a_stored_index_answers_the_same() -> None:
    built = resolver(PYTHON)
    stored = EntryResolver(built.by_id.values(), PYTHON)
    for name in ("Store", "Store.get", "run", "gone", "pkg.store.Store.get", "pkg.tools.run", "tools"):
        assert stored.owners(name) == built.owners(name)


def test_hostile_names_are_only_looked_up() -> None:
    found = resolver(PYTHON)
    for name in (".".join(["pkg"] * 5000), "a" * (1 << 20), "\0", "." * 900, "::" * 400):
        assert found.owners(name) == []
