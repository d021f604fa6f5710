"""Public names of the other languages, one small sample each, and what happens without their grammars."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from trivium.code import parse_worker
from trivium.code.grammars import NoGrammar
from trivium.code.model import ModuleSymbols
from trivium.code.parse_worker import MAX_FAILURES, Worker
from trivium.code.symbols import Analysis, analyse
from trivium.why.symbol_coverage import symbol_coverage as coverage

pytest.importorskip("semble_grammars")


def read(path: str, source: str) -> ModuleSymbols:
    result = analyse(path, dedent(source).encode())
    assert result is not None
    assert result.parsed
    return result


def test_go_exports_capitalised_names() -> None:
    result = read(
        "store/store.go",
        """
        package store
        const Limit = 1
        const (
            A, b = 1, 2
            C
        )
        var Default, hidden int
        var (
            Grouped = 1
        )
        type Store struct{ Field int }
        type (
            Reader interface{ Read() }
            inner int
        )
        type Alias = Store
        func Open[T any](x int) { Local := 1; _ = Local }
        func close() {}
        func (s *Store) Get() {}
        func (s Store) set() {}
        func (l *List[T]) Push() {}
        """,
    )
    assert result.exports == ["A", "Alias", "C", "Default", "Grouped", "Limit", "Open", "Reader", "Store"]
    assert result.dotted == ["Reader.Read", "Store.Get"]
    assert "List.Push" in [d.name for d in result.definitions]


def test_rust_exports_what_is_pub_to_more_than_itself() -> None:
    result = read(
        "src/lib.rs",
        """
        pub fn open() {}
        pub(crate) fn near() {}
        pub(self) fn own() {}
        fn hidden() {}
        pub struct Store { field: i32 }
        pub enum Kind { A }
        pub trait Read { fn read(&self); }
        pub type Alias = i32;
        pub const LIMIT: i32 = 1;
        pub static NAME: i32 = 1;
        pub mod inline { pub fn inside() {} fn not_inside() {} }
        mod private { pub fn unreachable() {} }
        pub mod elsewhere;
        pub use crate::a::{B, c as D, e::*, self};
        pub use x::Y;
        use x::Z;
        #[macro_export]
        macro_rules! shout { () => {} }
        macro_rules! whisper { () => {} }
        impl Store { pub fn get(&self) {} fn own(&self) {} }
        impl<T> Read for Store { fn read(&self) {} }
        """,
    )
    assert result.declared == [
        "Alias", "Kind", "LIMIT", "NAME", "Read", "Store", "inline", "inside", "near", "open", "shout",
    ]  # fmt: skip
    assert result.forwarded == {"B": "crate::a::B", "D": "crate::a::c", "Y": "x::Y", "a": "crate::a"}
    assert result.dotted == ["Read.read", "Store.get", "Store.read"]


def test_java_exports_what_is_not_private() -> None:
    result = read(
        "src/A.java",
        """
        package a.b;
        @Deprecated
        public class Store<T> {
            public Store() {}
            public void get() {}
            void near() {}
            private void own() {}
            @Override public String toString() { return ""; }
            public static class Builder {}
        }
        class Near {}
        public interface Reader { void read(); private void own() {} }
        public enum Kind { A; public void act() {} }
        public record Pair(int x) { public int sum() { return x; } }
        public @interface Marker {}
        """,
    )
    assert result.exports == ["Kind", "Marker", "Near", "Pair", "Reader", "Store"]
    assert result.dotted == [
        "Kind.act", "Pair.sum", "Reader.read", "Store.Builder", "Store.get", "Store.near", "Store.toString",
    ]  # fmt: skip
    (store,) = [d for d in result.definitions if d.name == "Store"]
    assert (store.line_start, store.line_end) == (3, 11)


C = """
    #ifndef STORE_H
    #define STORE_H
    #ifdef __cplusplus
    extern "C" {
    #endif
    #define LIMIT 1
    #define TWICE(x) ((x) * 2)
    struct node { int value; };
    struct later;
    typedef struct { int x; } point;
    typedef int (*callback)(int);
    enum color { RED };
    int announced(int a);
    extern int counter;
    static inline int helper(void) { return 1; }
    int defined(int a) { return a; }
    char *text(void) { return 0; }
    #ifdef __cplusplus
    }
    #endif
    #endif
    """


def test_a_c_header_offers_functions_types_and_macros() -> None:
    result = read("include/store.h", C)
    assert result.language == "c"
    assert result.declared == [
        "LIMIT", "TWICE", "callback", "color", "defined", "helper", "node", "point", "text",
    ]  # fmt: skip
    assert sorted(set(result.exports) - set(result.declared)) == ["announced", "counter"]


def test_a_c_source_offers_types_and_functions_that_are_not_static() -> None:
    result = read("src/store.c", C)
    assert result.exports == result.declared == ["callback", "color", "defined", "node", "point", "text"]


CPP = """
    #pragma once
    namespace a::b {
    class Store : public Base {
     public:
      void get();
      int size() { return 1; }
      template <typename T> void put(T x);
     private:
      void own();
      int field;
    };
    template <typename T> class Box { T x; };
    template <typename T> T twice(T x) { return x; }
    enum class Kind { A };
    using Alias = int;
    struct Node { void walk(); };
    void announced();
    namespace { void anonymous() {} }
    }
    void a::b::Store::get() {}
    static void local() {}
    int &reference() { return x; }
    class Later;
    """


def test_a_cpp_header_offers_what_its_namespaces_hold() -> None:
    result = read("include/store.hpp", CPP)
    assert result.declared == ["Alias", "Box", "Kind", "Node", "Store", "local", "reference", "twice"]
    assert sorted(set(result.exports) - set(result.declared)) == ["announced"]
    assert result.dotted == ["Node.walk", "Store.get", "Store.put", "Store.size"]


def test_a_cpp_source_keeps_static_functions_to_itself() -> None:
    result = read("src/store.cc", CPP)
    assert result.exports == ["Alias", "Box", "Kind", "Node", "Store", "reference", "twice"]
    assert [(d.line_start, d.name) for d in result.definitions if d.name == "Store.get"] == [
        (6, "Store.get"),
        (21, "Store.get"),
    ]


def test_a_header_with_classes_is_read_as_cpp() -> None:
    result = read("include/store.h", "class Store {\n public:\n  void get();\n};\n")
    assert (result.language, result.exports) == ("cpp", ["Store"])


def test_csharp_exports_what_its_assembly_sees() -> None:
    result = read(
        "src/Store.cs",
        """
        using System;
        namespace A.B {
            public class Store<T> {
                public void Get() {}
                public int Size { get; set; }
                void Own() {}
                public class Inner {}
            }
            internal class Near {}
            class Plain {}
            file class Hidden {}
            public interface IReader { void Read(); }
            public struct Point {}
            public enum Kind { A }
            public record Pair(int X);
            public delegate void Handler(int x);
        }
        """,
    )
    assert result.exports == ["Handler", "IReader", "Kind", "Near", "Pair", "Plain", "Point", "Store"]
    assert result.dotted == ["IReader.Read", "Store.Get", "Store.Inner", "Store.Size"]
    assert read("src/F.cs", "namespace A.B;\npublic static class F { }\n").exports == ["F"]


def test_ruby_exports_classes_modules_and_constants() -> None:
    result = read(
        "lib/store.rb",
        """
        module Space
          class Store < Base
            LIMIT = 1
            def get; end
            def self.open; end
            private
            def own; end
            public
            def put; end
            class << self
              def build; end
            end
            private def hidden; end
            def late; end
            private :late
          end
          VERSION = "1"
        end
        module Tools
          def self.run; end
        end
        class Deep::Name; end
        Pair = Struct.new(:a)
        def helper; end
        """,
    )
    assert result.exports == ["Name", "Pair", "Store", "Tools", "VERSION"]
    assert result.dotted == ["Store.build", "Store.get", "Store.open", "Store.put", "Tools.run"]


def test_php_exports_types_functions_and_constants() -> None:
    result = read(
        "src/Store.php",
        """\
        <?php
        namespace A\\B;
        use X\\Y;
        function open() {}
        final class Store extends Base {
            const INNER = 1;
            public function get() {}
            function put() {}
            private function own() {}
            protected function near() {}
        }
        interface Reader { public function read(); }
        trait Logs { function log() {} }
        enum Kind: string { case A = 'a'; }
        const LIMIT = 1, OTHER = 2;
        """,
    )
    assert result.exports == ["Kind", "LIMIT", "Logs", "OTHER", "Reader", "Store", "open"]
    assert result.dotted == ["Logs.log", "Reader.read", "Store.get", "Store.put"]
    assert read("src/b.php", "<?php\nnamespace A { class Q {} }\n").exports == ["Q"]


def test_kotlin_exports_what_is_not_hidden() -> None:
    result = read(
        "src/Store.kt",
        """
        package a.b

        class Store<T>(val x: Int) {
            fun get() {}
            private fun own() {}
            internal fun near() {}
            class Inner
            companion object {
                fun open() {}
            }
        }
        private class Hidden
        internal class Near
        interface Reader {
            fun read()
        }
        object Single {
            fun act() {}
        }
        enum class Kind { A }
        data class Pair(val x: Int)
        fun top() {}
        fun String.extension(): Int = 1
        val value = 1
        private val hidden = 1
        typealias Alias = Int
        """,
    )
    assert result.exports == [
        "Alias", "Kind", "Near", "Pair", "Reader", "Single", "Store", "extension", "top", "value",
    ]  # fmt: skip
    assert result.dotted == ["Reader.read", "Single.act", "Store.Inner", "Store.get", "Store.near", "Store.open"]


def test_swift_exports_what_its_module_sees() -> None:
    result = read(
        "Sources/Store.swift",
        """
        public class Store {
          public init() {}
          public func get() {}
          func near() {}
          private func own() {}
          public static func open() {}
        }
        open class Base {}
        class Internal {}
        public struct Point {}
        public enum Kind { case a }
        public protocol Reader {
          func read()
        }
        @available(iOS 1, *)
        public func top() {}
        func plainTop() {}
        private class Hidden {}
        fileprivate func hiddenTop() {}
        public let limit = 1
        public typealias Alias = Int
        public extension Point { func move() {} }
        extension Point { public func turn() {}
          func stay() {} }
        """,
    )
    assert result.exports == [
        "Alias",
        "Base",
        "Internal",
        "Kind",
        "Point",
        "Reader",
        "Store",
        "limit",
        "plainTop",
        "top",
    ]
    assert result.dotted == [
        "Point.move", "Point.stay", "Point.turn", "Reader.read", "Store.get", "Store.near", "Store.open",
    ]  # fmt: skip


# --- hostile files --------------------------------------------------------------------------------

SAMPLES = ["a.go", "a.rs", "a.java", "a.c", "a.h", "a.cpp", "a.cs", "a.rb", "a.php", "a.kt", "a.swift"]


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\xfd broken \x80",
        b"class { fn ] def func ) namespace",
        b"{" * 20_000,
        b"class A { " * 3_000,
        b"module A\n" * 3_000,
        b"#if X\n" * 3_000,
        b'"' + b"x" * 1_000_000,
        b"\0" * 100,
    ],
    ids=["empty", "not utf-8", "broken", "braces", "classes", "modules", "conditions", "long line", "null bytes"],
)
def test_no_file_raises_an_error(path: str, data: bytes) -> None:
    start = time.monotonic()
    result = analyse(path, data)
    assert result is not None
    assert time.monotonic() - start < 15


ABORTS = b"x = <<'" + b"a" * 300 + b"'\n"
"""Longer than the Ruby grammar's own bound for the word that ends a text: it stops its process."""
ENDLESS = b'interface D"""\n@'
"""The Kotlin grammar turns for ever on this."""


def test_a_grammar_that_stops_its_process_harms_one_file_only() -> None:
    worker = Worker()
    assert worker.analyse("a.rb", "ruby", b"class A; end").exports == ["A"]
    assert not worker.analyse("b.rb", "ruby", ABORTS).parsed
    assert worker.analyse("c.rb", "ruby", b"class C; end").exports == ["C"]
    worker.close()


def test_a_parse_that_does_not_end_is_given_up() -> None:
    worker = Worker(seconds=0.5)
    start = time.monotonic()
    result = worker.analyse("a.kt", "kotlin", ENDLESS)
    assert time.monotonic() - start < 10
    assert (result.parsed, result.exports) == (False, [])
    assert worker.analyse("b.kt", "kotlin", b"class B").exports == ["B"]
    worker.close()


def test_of_many_texts_only_those_that_end_the_process_are_lost() -> None:
    texts = [(f"{number}.rb", "ruby", f"class A{number}; end".encode()) for number in range(40)]
    for number in (0, 7, 8, 39):
        texts[number] = (f"{number}.rb", "ruby", ABORTS)
    worker = Worker()
    found = [result for result in worker.analyse_all(texts) if result is not None]
    assert [result.exports for result in found if result.parsed] == [
        [f"A{number}"] for number in range(40) if number not in (0, 7, 8, 39)
    ]
    assert [number for number, result in enumerate(found) if not result.parsed] == [0, 7, 8, 39]
    assert worker.analyse_all([]) == []
    worker.close()


def test_one_endless_text_among_many_is_given_up() -> None:
    worker = Worker(seconds=0.5)
    texts = [("a.kt", "kotlin", b"class A"), ("b.kt", "kotlin", ENDLESS), ("c.kt", "kotlin", b"class C")]
    start = time.monotonic()
    found = worker.analyse_all(texts)
    assert time.monotonic() - start < 10
    assert [(result.parsed, result.exports) for result in found if result is not None] == [
        (True, ["A"]),
        (False, []),
        (True, ["C"]),
    ]
    worker.close()


def test_texts_beyond_the_failures_are_none() -> None:
    worker = Worker()
    texts = [("a.rb", "ruby", ABORTS)] * (MAX_FAILURES + 3)
    assert [result is None for result in worker.analyse_all(texts)] == [False] * MAX_FAILURES + [True] * 3
    worker.close()


def test_files_of_many_languages_analysed_together_come_out_as_one_by_one() -> None:
    files = {f"src/{number}{path[1:]}": source for number in range(30) for path, source in TOGETHER.items()}
    files["src/large.ts"] = b"export const a = 1;\n" * 70_000
    together = Analysis()
    for path, source in files.items():
        together.add(path, source)
    found = together.results()
    for path in [*files][::7]:
        assert found.get(path) == analyse(path, files[path]), path
    assert set(files) - set(found) == {path for path in files if path.endswith(".lua")}


TOGETHER = {
    "a.ts": b"export class A {}",
    "a.py": b"class A: ...",
    "a.go": b"package a\nfunc F() {}",
    "a.h": b"class A { public: int f(); };",
    "a.lua": b"x = 1",
    "a.rb": b"class A; end",
    "b.ts": b"\xff\xfea\x00",
    "c.ts": b"export const a = [",
}


def test_after_many_failures_the_rest_is_left_unread() -> None:
    worker = Worker()
    for _ in range(MAX_FAILURES):
        assert not worker.analyse("a.rb", "ruby", ABORTS).parsed
    with pytest.raises(NoGrammar):
        worker.analyse("b.rb", "ruby", b"class B; end")
    worker.close()


def test_where_no_process_can_be_started_there_is_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    for _ in range(2):
        with pytest.raises(NoGrammar):
            Worker().analyse("a.go", "go", b"package a")


def test_an_interrupted_request_leaves_no_answer_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker()
    receive = parse_worker.receive

    def interrupt(_stream: object) -> bytes:
        raise KeyboardInterrupt

    worker.analyse("a.go", "go", b"package a\nfunc A() {}")
    monkeypatch.setattr(parse_worker, "receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        worker.analyse("b.go", "go", b"package a\nfunc B() {}")
    monkeypatch.setattr(parse_worker, "receive", receive)
    assert worker.analyse("c.go", "go", b"package a\nfunc C() {}").exports == ["C"]
    worker.close()


def test_a_closed_worker_starts_again() -> None:
    worker = Worker()
    for _ in range(2):
        assert worker.analyse("a.go", "go", b"package a\nfunc F() {}").exports == ["F"]
        worker.close()


# --- grammars -------------------------------------------------------------------------------------


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


READ_GO = "from trivium.code.symbols import analyse; print(analyse('a.go', b'package a\\nfunc F() {}\\n'))"


def test_a_cache_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    output = run(READ_GO, SEMBLE_GRAMMARS_CACHE_DIR=str(blocked / "cache"), TMPDIR=str(temporary))
    assert "exports=['F']" in output
    assert list(temporary.iterdir()) == []


def test_a_damaged_grammar_in_the_cache_is_no_obstacle(tmp_path: Path) -> None:
    assert "exports=['F']" in run(READ_GO, SEMBLE_GRAMMARS_CACHE_DIR=str(tmp_path))
    (library,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    library.write_bytes(b"damaged")
    assert "exports=['F']" in run(READ_GO, SEMBLE_GRAMMARS_CACHE_DIR=str(tmp_path))


@pytest.mark.parametrize("text", ["raise ImportError", "class GrammarLoadError(Exception): ...\nimport nothing_here"])
def test_without_grammars_a_language_is_reported_as_not_analysed(tmp_path: Path, text: str) -> None:
    (tmp_path / "semble_grammars.py").write_text(text)
    assert run(READ_GO, PYTHONPATH=str(tmp_path)) == "None"
    (record,) = coverage(["a.go"], {})
    assert record.status == "not-analyzed"


def test_modules_of_the_working_folder_are_not_run(tmp_path: Path) -> None:
    for name in ("semble_grammars", "tree_sitter", "ctypes", "tarfile", "msgspec", "trivium"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    done = subprocess.run(
        [sys.executable, "-P", "-c", READ_GO], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "exports=['F']" in done.stdout
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(os.name != "posix", reason="asks for a process by its number")
def test_the_process_ends_with_the_one_that_started_it() -> None:
    code = READ_GO + "; from trivium.code import parse_worker as p; print(p._worker(p.os.getpid())._process.pid)"
    number = int(run(code).splitlines()[-1])
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_the_environment_is_left_as_it_was(tmp_path: Path) -> None:
    code = "import os; before = dict(os.environ); " + READ_GO + "; assert dict(os.environ) == before"
    run(code, SEMBLE_GRAMMARS_CACHE_DIR=str(tmp_path / "x"))
