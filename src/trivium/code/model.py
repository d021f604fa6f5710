"""What is known of a source file (reference 2.4); in the index it is closed JSON like all of `why.model`."""

from __future__ import annotations

import msgspec


class Definition(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, rename="camel", gc=False):
    """A declared name of a module with its lines, for `path:line`."""

    name: str
    line_start: int
    line_end: int


class ModuleSymbols(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, rename="camel", gc=False):
    """What a source file exports. `forwarded` maps a re-exported name to the module specifier it comes from."""

    language: str
    exports: list[str]
    """All exported names, sorted, without `*`; at most 256 of at most 128 characters."""
    declared: list[str]
    """The exported names that this file declares itself."""
    forwarded: dict[str, str] = {}
    dotted: list[str] = []
    """`Name.method` for public methods of exported classes."""
    definitions: list[Definition] = []
    parsed: bool = True
    namespaces: list[str] = []
    """The packages, namespaces and modules that the file says it belongs to."""
