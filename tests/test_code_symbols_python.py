"""Exported names of Python files (reference 2.4 and section 17, symbols)."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

from trivium.code.model import ModuleSymbols
from trivium.code.symbols import ANALYSER_VERSIONS, analyse, analyser_versions
from trivium.why.symbol_coverage import symbol_coverage as coverage


def read(source: str, path: str = "src/pkg/mod.py") -> ModuleSymbols:
    result = analyse(path, dedent(source).encode())
    assert result is not None
    return result


# --- without __all__ ------------------------------------------------------------------------------


def test_public_classes_functions_and_assigned_names_are_exported() -> None:
    result = read(
        """
        import os
        from typing import Any
        LIMIT = 3
        _private = 4
        annotated: int
        first, (second, *rest) = 1, (2, 3)
        def function(): local = 1
        async def coroutine(): ...
        class Store: inner = 1
        def _hidden(): ...
        """
    )
    assert result.exports == [
        "LIMIT", "Store", "annotated", "coroutine", "first", "function", "rest", "second",
    ]  # fmt: skip
    assert result.declared == result.exports
    assert result.forwarded == {}


def test_names_bound_inside_module_level_blocks_count() -> None:
    result = read(
        """
        if True:
            def a(): ...
        elif False:
            b = 1
        else:
            c = 1
        try:
            d = 1
        except ImportError:
            e = 1
        finally:
            f = 1
        with open("x") as handle:
            g = 1
        for i in ():
            h = 1
        while False:
            k = 1
        match 1:
            case 1:
                m = 1
        """
    )
    assert result.exports == list("abcdefghkm")


def test_deleted_names_are_not_exported() -> None:
    assert read("a = 1\nb = 2\ndel a\n").exports == ["b"]


def test_assignments_to_attributes_and_items_bind_no_name() -> None:
    assert read("import x\nx.y = 1\nx['z'] = 2\nx.y += 1\n").exports == []


# --- with __all__ ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "__all__ = ['a', '_b']",
        "__all__ = ('a', '_b')",
        "__all__: list[str] = ['a', '_b']",
        "__all__ = ['a']\n__all__ += ['_b']",
        "__all__ = ['a']\n__all__ += ('_b',)",
        "__all__ = ['a']\n__all__.extend(['_b'])",
        "__all__ = ['a']\n__all__.extend(('_b',))",
        "__all__ = ['a']\n__all__.append('_b')",
        "__all__ = ['a', 'c', '_b']\n__all__.remove('c')",
        "__all__ = ['a'] + ['_b']",
        "__all__ = ['a']\n__all__ = __all__ + ['_b']",
        "__all__ = ['zzz']\n__all__ = ['a', '_b']",
        "if True:\n    __all__ = ['a', '_b']",
    ],
)
def test_a_literal_all_is_exactly_what_is_exported(source: str) -> None:
    result = read(f"{source}\na = 1\n_b = 2\nother = 3\n")
    assert result.exports == ["_b", "a"]
    assert result.declared == ["_b", "a"]


def test_an_empty_all_exports_nothing() -> None:
    assert read("__all__ = []\na = 1\n").exports == []


@pytest.mark.parametrize(
    "source",
    ["__all__ = make()", "__all__ = [n for n in dir()]", "__all__ = ['_b', *more]", "__all__ = ['_b'] + sub.__all__"],
)
def test_an_all_that_is_not_literal_adds_to_the_public_names(source: str) -> None:
    result = read(f"{source}\na = 1\n_b = 2\n")
    assert result.exports == (["_b", "a"] if "_b" in source else ["a"])


def test_a_name_of_all_that_is_bound_nowhere_is_exported_and_not_declared() -> None:
    result = read("from .sub import *\n__all__ = ['Name', 'here']\nhere = 1\n")
    assert result.exports == ["Name", "here"]
    assert result.declared == ["here"]


# --- re-exports -----------------------------------------------------------------------------------


def test_an_imported_name_in_all_is_a_re_export() -> None:
    result = read("from .store import Store\nfrom x.y import z as w\n__all__ = ['Store', 'w']\n")
    assert result.exports == ["Store", "w"]
    assert result.declared == []
    assert result.forwarded == {"Store": ".store", "w": "x.y"}


def test_a_package_passes_on_what_it_imports_from_itself() -> None:
    source = """
        from __future__ import annotations
        from typing import Any
        from .store import Store, _private
        from pkg.other import Other
        from . import sub
        from .star import *
        """
    result = read(source, "src/pkg/__init__.py")
    assert result.exports == ["Other", "Store", "sub"]
    assert result.forwarded == {"Other": "pkg.other", "Store": ".store", "sub": "."}
    assert read(source, "src/pkg/mod.py").exports == []


def test_import_as_the_same_name_is_a_re_export() -> None:
    result = read("import json as json\nfrom a import b as b, c as d, e\nimport os\n")
    assert result.exports == ["b", "json"]
    assert result.forwarded == {"b": "a", "json": "json"}


def test_a_definition_wins_over_an_import_of_its_name() -> None:
    result = read(
        """
        __all__ = ["fast"]
        try:
            from ._speedups import fast
        except ImportError:
            def fast(): ...
        """
    )
    assert result.declared == ["fast"]
    assert result.forwarded == {}


def test_the_fallback_of_an_optional_import_is_no_declaration() -> None:
    source = "try:\n    from .fast import Fast\nexcept ImportError:\n    Fast = None\n"
    assert read(source).exports == []
    assert read(source + "__all__ = ['Fast']\n").forwarded == {"Fast": ".fast"}


# --- methods and lines ----------------------------------------------------------------------------


def test_public_methods_of_exported_classes_get_dotted_names() -> None:
    result = read(
        """
        class Store:
            field = 1
            def get(self): ...
            @property
            def size(self): ...
            @size.setter
            def size(self, value): ...
            async def wait(self): ...
            def _own(self): ...
            def __init__(self): ...
            class Options:
                def apply(self): ...
            class _Inner:
                def apply(self): ...
        class _Hidden:
            def get(self): ...
        """
    )
    assert result.dotted == ["Store.Options", "Store.Options.apply", "Store.get", "Store.size", "Store.wait"]


def test_definitions_have_their_lines_with_decorators() -> None:
    result = read(
        "import x\n\n@x.a\n@x.b\ndef f():\n    pass\n\n"
        "class C:\n    @x\n    def m(self):\n        pass\nN = (\n 1,\n)\n"
    )
    assert [(d.name, d.line_start, d.line_end) for d in result.definitions] == [
        ("f", 3, 6),
        ("C", 8, 11),
        ("C.m", 9, 11),
        ("N", 12, 14),
    ]


def test_every_definition_of_a_name_is_kept() -> None:
    result = read("if x:\n    def f(): ...\nelse:\n    def f(): ...\ny = 1\ny = 2\n")
    assert [(d.name, d.line_start) for d in result.definitions] == [("f", 2), ("f", 4), ("y", 5)]


# --- bounds ---------------------------------------------------------------------------------------


def test_at_most_256_names_of_at_most_128_characters() -> None:
    names = [f"name_{number:04}" for number in range(300)]
    result = read("".join(f"{name} = 1\n" for name in names) + f"{'a' * 129} = 1\n{'a' * 128} = 1\n")
    assert result.exports == ["a" * 128, *names[:255]]
    assert result.declared == result.exports


def test_definitions_of_exported_names_come_first_when_there_are_too_many() -> None:
    source = "".join(f"def _p{number}(): ...\n" for number in range(2000)) + "def last(): ...\n"
    result = read(source)
    assert len(result.definitions) == 1024
    assert result.definitions[-1].name == "last"


# --- bytes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfname = 1\n",
        b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
        b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nname = '\x80'\n",
        b"name = 1\r\n",
        b"name = '\\d'\n",
        "name = 'é'\n".encode(),
    ],
    ids=["byte-order mark", "latin-1", "cp1252", "line endings", "bad escape", "utf-8"],
)
def test_encodings_are_read(data: bytes) -> None:
    result = analyse("a.py", data)
    assert result is not None
    assert result.parsed
    assert result.exports == ["name"]


@pytest.mark.parametrize(
    "data",
    [
        b"def f(:\n",
        b"name = 1\0\n",
        b"name = '\xe9'\n",
        b"# coding: no-such-codec\nname = 1\n",
        b"# coding: rot13\nname = 1\n",
        b"# coding: punycode\n" + b"a" * 100_000 + b"-" + b"b9c8" * 50_000,
        "name = 1".encode("utf-16"),
        b"(" * 200_000,
        b"[" * 50_000 + b"]" * 50_000,
        b"-" * 500_000 + b"1",
        b"a" + b".b" * 200_000,
        b"if a: pass\n" + b"elif a: pass\n" * 20_000,
        b"x = " + b"1" * 10_000,
        b"print 'two'\n",
        bytes(range(256)) * 100,
        b"name = '" + b"x" * (4 << 20) + b"'\n",
    ],
    ids=[
        "syntax error", "null byte", "not utf-8", "unknown codec", "no text codec", "slow codec", "utf-16",
        "parentheses", "brackets", "signs", "attributes", "elif", "long number", "python 2", "binary", "4 MiB line",
    ],
)  # fmt: skip
def test_a_file_that_does_not_parse_has_no_symbols(data: bytes) -> None:
    result = analyse("a.py", data)
    assert result is not None
    assert not result.parsed
    assert result.exports == result.declared == result.definitions == []


def test_a_long_line_below_the_bound_is_read() -> None:
    result = analyse("a.py", b"name = '" + b"x" * 1_000_000 + b"'\n")
    assert result is not None
    assert result.exports == ["name"]


def test_stubs_are_read_like_modules() -> None:
    assert read("def f() -> int: ...\nfrom a import B as B\n", "pkg/mod.pyi").exports == ["B", "f"]


def test_other_files_have_no_analyser() -> None:
    assert analyse("README.md", b"# x") is None
    assert analyse("a.lua", b"x = 1") is None


# --- imports and coverage -------------------------------------------------------------------------


def test_python_files_load_no_grammar() -> None:
    code = (
        "import sys; from trivium.code import symbols; "
        "from trivium.why import entries, resolver, manifests, symbol_coverage; "
        "r = symbols.analyse('a.py', b'x = 1'); symbol_coverage.symbol_coverage(['a.py'], {'a.py': r}); "
        "symbols.analyser_versions(['python']); "
        "assert not {'tree_sitter', 'semble_grammars', 'trivium.code.grammars'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_coverage_is_complete_when_every_file_parsed() -> None:
    result = read("a = 1")
    (record,) = coverage(["a.py", "README.md", "Makefile"], {"a.py": result})
    assert (record.scope, record.status, record.reason) == ("symbols:python", "complete", None)
    assert record.analyzer_version == ANALYSER_VERSIONS["python"]


def test_coverage_is_partial_when_a_file_did_not_parse() -> None:
    results = {"a.py": read("a = 1"), "b.py": read("def f(:")}
    (record,) = coverage(["b.py", "a.py"], results)
    assert record.status == "partial"
    assert record.reason == "1 of 2 files did not parse as a whole"
    assert [place.path for place in record.evidence] == ["b.py"]


def test_coverage_counts_languages_without_analyser() -> None:
    records = coverage(["b.lua", "a.sh", "c.bash", "d.sh", "x.sql"], {})
    assert [(record.scope, record.status) for record in records] == [
        ("symbols:lua", "not-analyzed"),
        ("symbols:shell", "not-analyzed"),
    ]
    assert records[1].reason == "3 files (.bash 1, .sh 2) found by path only: no analyser for this language"


def test_coverage_says_when_a_language_could_not_be_read() -> None:
    (record,) = coverage(["a.go"], {})
    assert record.status == "not-analyzed"
    assert record.reason == "1 file (.go 1) found by path only: their parser is not available or they were not read"


def test_coverage_has_few_records_in_a_repository_of_all_languages() -> None:
    from trivium.code.languages import EXTENSIONS

    records = coverage([f"x.{extension}" for extension in EXTENSIONS], {})
    assert len(records) == 25
    assert "symbols:other" in [record.scope for record in records]
    assert [record.scope for record in records] == sorted(record.scope for record in records)


def test_versions_name_the_parsers_that_are_used() -> None:
    assert set(analyser_versions(["python", "lua"])) == {"python"}
    assert set(analyser_versions(["go"])) == {"go", "grammars"}
