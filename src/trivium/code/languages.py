"""Which files are source code, in which language, and which languages have an analyser (reference 2.1, 2.4 and 5)."""

from __future__ import annotations

from functools import lru_cache

PYTHON, JAVASCRIPT, TYPESCRIPT = "python", "javascript", "typescript"

GRAMMARS = {
    "javascript": "javascript",
    "typescript": "typescript",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "c": "c",
    "cpp": "cpp",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
    "kotlin": "kotlin",
    "swift": "swift",
}
"""Languages read through a tree-sitter grammar, with the grammar's name."""

ANALYSED = frozenset({PYTHON, *GRAMMARS})
"""Languages whose exported names are read; files of any other language are entries without symbols."""

_EXTENSIONS = {
    "python": "py pyi",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp ixx cppm",
    "csharp": "cs",
    "ruby": "rb rake gemspec",
    "php": "php phtml",
    "kotlin": "kt kts",
    "swift": "swift",
    # Counted only: the coverage records say that these files were not analysed.
    "ada": "adb ads",
    "assembly": "asm s",
    "astro": "astro",
    "clojure": "clj cljc cljs",
    "coffeescript": "coffee",
    "crystal": "cr",
    "cuda": "cu cuh",
    "cython": "pyx pxd pxi",
    "d": "d",
    "dart": "dart",
    "elixir": "ex exs",
    "elm": "elm",
    "erlang": "erl hrl",
    "fortran": "f f90 f95 f03 f08 for",
    "fsharp": "fs fsi fsx",
    "gleam": "gleam",
    "groovy": "groovy gradle",
    "haskell": "hs lhs",
    "julia": "jl",
    "lisp": "lisp el scm rkt",
    "lua": "lua luau",
    "nim": "nim",
    "objective-c": "m mm",
    "ocaml": "ml mli",
    "pascal": "pas pp",
    "perl": "pl pm",
    "powershell": "ps1 psm1",
    "purescript": "purs",
    "r": "r",
    "scala": "scala sc",
    "shell": "sh bash zsh fish ksh",
    "solidity": "sol",
    "svelte": "svelte",
    "tcl": "tcl",
    "verilog": "v sv svh",
    "vhdl": "vhd vhdl",
    "visual-basic": "vb",
    "vue": "vue",
    "zig": "zig",
}

EXTENSIONS = {extension: language for language, words in _EXTENSIONS.items() for extension in words.split()}
"""File name extension in lower case, without its dot, to language."""

HEADERS = frozenset({"h", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tpp"})
"""Extensions of C and C++ files that others include: what they define is seen there."""


@lru_cache(maxsize=65_536)
def extension_of(path: str) -> str:
    """The extension of a path's last part, in lower case and without its dot; empty when there is none."""
    name = path.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def language_of(path: str) -> str | None:
    """The language of a source file by its extension, None for any other file.

    >>> language_of("src/query/Cache.TS"), language_of("Makefile")
    ('typescript', None)
    """
    return EXTENSIONS.get(extension_of(path))


def is_source(path: str) -> bool:
    """Whether a file becomes a `module` entry (reference 2.1)."""
    return extension_of(path) in EXTENSIONS


def is_analysed(path: str) -> bool:
    """Whether the content of a file is worth reading for its exported names."""
    return EXTENSIONS.get(extension_of(path)) in ANALYSED
