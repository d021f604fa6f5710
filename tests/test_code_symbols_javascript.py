"""Exported names of JavaScript and TypeScript files (reference 2.4)."""

from __future__ import annotations

import time

import pytest

from trivium.code.model import ModuleSymbols
from trivium.code.symbols import analyse

pytest.importorskip("semble_grammars")


def read(source: str, path: str = "src/a.ts") -> ModuleSymbols:
    result = analyse(path, source.encode())
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("export class A {}", ["A"]),
        ("export abstract class A {}", ["A"]),
        ("@dec()\nexport class A {}", ["A"]),
        ("export @dec class A {}", ["A"]),
        ("export function f() {}", ["f"]),
        ("export async function f() {}", ["f"]),
        ("export function* f() {}", ["f"]),
        ("export function f(a: string): void;\nexport function f() {}", ["f"]),
        ("export interface I { a: string }", ["I"]),
        ("export type T = string", ["T"]),
        ("export type T<K> = { [k in keyof K]: 1 }", ["T"]),
        ("export enum E { A }", ["E"]),
        ("export const enum E { A }", ["E"]),
        ("export namespace N { export const inner = 1 }", ["N"]),
        ("export module M {}", ["M"]),
        ("export declare const c: number;", ["c"]),
        ("export declare function f(): void;", ["f"]),
        ("export declare class C {}", ["C"]),
        ("export const a = 1, b = 2", ["a", "b"]),
        ("export let a; export var b;", ["a", "b"]),
        ("export const { a, b: c } = x, [d] = y, e = 1", ["e"]),
        ("export import q = N.M;", ["q"]),
        ("const a = 1; export { a }", ["a"]),
        ("const a = 1; export { a as b }", ["b"]),
        ("type T = 1; export type { T }", ["T"]),
        ("type T = 1; export { type T as U }", ["U"]),
        ("const a = 1; export { a as default }", ["default"]),
        ("export default class Foo {}", ["default"]),
        ("export default function foo() {}", ["default"]),
        ("export default () => 1", ["default"]),
        ("export default 5", ["default"]),
        ("export * from './s'", []),
        ("export type * from './s'", []),
        ("export = foo", []),
        ("export as namespace G", []),
        ("export {}", []),
        ("declare module 'x' { export const inner: number }", []),
        ("module.exports = { a: 1 }; exports.b = 2", []),
        ("const a = `export const b = 1`; // export const c = 1\n/* export const d = 1 */ 'export const e = 1'", []),
        ("function f() { return 1 }", []),
    ],
)
def test_export_forms(source: str, names: list[str]) -> None:
    result = read(source)
    assert result.exports == names
    assert result.declared == names
    assert result.forwarded == {}
    assert result.parsed


@pytest.mark.parametrize(
    ("source", "forwarded"),
    [
        ("export { a, b as c } from './m'", {"a": "./m", "c": "./m"}),
        ("export { default } from './m'", {"default": "./m"}),
        ("export { default as d } from './m'", {"d": "./m"}),
        ("export type { T, U as V } from './m'", {"T": "./m", "V": "./m"}),
        ("export { type T } from './m'", {"T": "./m"}),
        ("export * as ns from './m'", {"ns": "./m"}),
        ("export type * as ns from './m'", {"ns": "./m"}),
        ("import { a } from './m'; export { a }", {"a": "./m"}),
        ("import { a as b } from './m'; export { b as c }", {"c": "./m"}),
        ("import d from './m'; export { d }", {"d": "./m"}),
        ("import * as n from './m'; export { n }", {"n": "./m"}),
        ("import r = require('./m'); export { r }", {"r": "./m"}),
        ("export { x as 'a-b' } from './m'", {"a-b": "./m"}),
    ],
)
def test_names_from_another_module_are_re_exports(source: str, forwarded: dict[str, str]) -> None:
    result = read(source)
    assert result.forwarded == forwarded
    assert result.exports == sorted(forwarded)
    assert result.declared == []
    assert result.parsed


@pytest.mark.parametrize("extension", ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"])
def test_every_extension_is_read(extension: str) -> None:
    result = read("export const a = 1\nexport default a\n", f"src/a.{extension}")
    assert result.exports == ["a", "default"]
    assert result.language == ("typescript" if "t" in extension else "javascript")


@pytest.mark.parametrize("path", ["a.jsx", "a.js", "a.tsx"])
def test_jsx_is_read(path: str) -> None:
    result = read("export const C = () => <div a={1}>text</div>\nexport function D() { return <C/> }\n", path)
    assert result.exports == ["C", "D"]
    assert result.parsed


def test_flow_types_are_read_where_the_file_says_so() -> None:
    result = read("/* @flow */\nexport type T = { a: string };\nexport const f = (a: T): string => a.a;\n", "a.js")
    assert result.exports == ["T", "f"]
    assert result.parsed


def test_methods_of_exported_classes_get_dotted_names() -> None:
    result = read(
        """export class A<T> extends B {
  constructor() { super() }
  m(): void {}
  static async s() {}
  get g() { return 1 }
  arrow = () => 1;
  field = 1;
  private hidden() {}
  protected kept() {}
  #own() {}
  abstract later(): void;
  'quoted'() {}
  ['computed']() {}
}
export interface I { call(): void; value: string }
class Local { m() {} }
export const K = class { n() {} }
"""
    )
    assert result.dotted == ["A.arrow", "A.g", "A.later", "A.m", "A.s", "I.call", "K.n"]


def test_definitions_have_the_lines_of_their_statements() -> None:
    result = read(
        "// c\n@dec\nexport class A {\n  m() {\n  }\n}\nfunction local() {\n}\nconst x = 1,\n  f = () => {\n}\n"
    )
    assert [(d.name, d.line_start, d.line_end) for d in result.definitions] == [
        ("A", 2, 6),
        ("A.m", 4, 5),
        ("local", 7, 8),
        ("f", 10, 11),
    ]


def test_a_name_exported_by_a_clause_has_the_lines_of_its_declaration() -> None:
    result = read("const a = 1\nfunction f() {\n}\nconst { c } = a\nexport { a, f as g, c }\n")
    assert result.declared == ["a", "c", "g"]
    lines = {d.name: (d.line_start, d.line_end) for d in result.definitions}
    assert lines == {"a": (1, 1), "f": (2, 3), "g": (2, 3), "c": (5, 5)}


def test_default_exports_keep_the_name_of_their_declaration_for_its_lines() -> None:
    assert [d.name for d in read("export default class Foo { m() {} }").definitions] == ["Foo", "Foo.m"]
    assert [d.name for d in read("export default () => 1").definitions] == ["default"]


def test_readable_statements_of_a_broken_file_count() -> None:
    result = read("export const a = 1\nexport const = = ;\nexport const b = 2\n")
    assert not result.parsed
    assert {"a", "b"} <= set(result.exports)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_definitions_have_the_lines_of_the_text_whatever_ends_them(end: str, encoding: str) -> None:
    text = end.join(["// a \u2028 b", "export function f() {", "  return 1", "}", ""])
    result = analyse("a.ts", text.encode(encoding))
    assert result is not None
    assert [(found.name, found.line_start, found.line_end) for found in result.definitions] == [("f", 2, 4)]


def test_a_byte_order_mark_and_utf_16_are_read() -> None:
    for data in (b"\xef\xbb\xbfexport const a = 1", "export const a = 1".encode("utf-16")):
        result = analyse("a.ts", data)
        assert result is not None
        assert (result.exports, result.parsed) == (["a"], True)


def test_line_endings_do_not_move_lines() -> None:
    (definition,) = read("\r\n\r\nexport const a = 1\r\n").definitions
    assert (definition.line_start, definition.line_end) == (3, 3)


@pytest.mark.parametrize(
    "data",
    [
        b"G@\x11\x10\0\0\xb0\r" * 1000,
        b"export const a = '" + b"x" * (4 << 20) + b"'",
        b"\xff\xfe\x00",
    ],
    ids=["video", "4 MiB line", "broken utf-16"],
)
def test_what_is_no_source_code_has_no_symbols(data: bytes) -> None:
    result = analyse("a.ts", data)
    assert result is not None
    assert (result.exports, result.parsed) == ([], False)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"export const a = '" + b"x" * 1_900_000 + b"';export const b = 1", ["a", "b"]),
        (b"var q=1;" * 40_000 + b"export const a=1;", ["a"]),
        (b"export const a = 1; // caf\xe9 \xff\n", ["a"]),
        (b"export const a = " + b"[" * 900 + b"]" * 900, ["a"]),
        (b"export const a = " + b"[" * 20_000 + b"]" * 20_000, []),
        (b"(" * 50_000, None),
        (b"a<" * 10_000, None),
        (b"`${" * 20_000, None),
        (b"{" * 50_000, None),
        (bytes(range(1, 256)) * 200, None),
    ],
    ids=[
        "long line",
        "minified",
        "not utf-8",
        "nested",
        "too deep",
        "parentheses",
        "angles",
        "templates",
        "braces",
        "binary",
    ],
)
def test_hostile_files_are_read_in_time(data: bytes, names: list[str] | None) -> None:
    start = time.monotonic()
    result = analyse("a.ts", data)
    assert time.monotonic() - start < 10
    assert result is not None
    if names is not None:
        assert result.exports == names


def test_many_exports_are_bounded() -> None:
    result = read("".join(f"export const name{number:04} = 1;\n" for number in range(3000)))
    assert result.exports == [f"name{number:04}" for number in range(256)]
    assert len(result.definitions) == 1024
