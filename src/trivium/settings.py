"""Settings of an open knowledge base, from keyword arguments or `TRIVIUM_*` environment variables."""

from __future__ import annotations

import os
from typing import Any

from msgspec import Struct

LARGEST = 1_000_000_000
"""What no number among the settings may exceed."""


class Settings(Struct, frozen=True):
    """Limits and durability. Times are seconds.

    `synchronous` is NORMAL (an acknowledged write survives a killed process) or FULL (also a power cut).
    """

    timeout: float = 30.0
    max_rows: int = 100_000
    max_hops: int = 64
    max_search_hits: int = 100
    synchronous: str = "NORMAL"
    strict_schema: bool = False
    protect_used_types: bool = False

    @classmethod
    def from_environment(cls, **overrides: object) -> Settings:
        """Read `TRIVIUM_TIMEOUT`, `TRIVIUM_MAX_ROWS`, …; keyword arguments win.

        Raises: TypeError for a keyword that is no setting or has a value of the wrong kind, ValueError for a value out
        of range; the message names the argument or the variable.
        """
        defaults = cls()
        for name in overrides:
            if name not in cls.__struct_fields__:
                known = ", ".join(cls.__struct_fields__)
                raise TypeError(f"There is no setting {name!r}; there are {known}, and clock.")
        values: dict[str, Any] = {}
        for name in cls.__struct_fields__:
            variable = f"TRIVIUM_{name.upper()}"
            if name in overrides:
                values[name] = _checked(name, overrides[name], getattr(defaults, name))
            elif text := os.environ.get(variable):
                values[name] = _checked(variable, _convert(variable, text, getattr(defaults, name)), None)
        return cls(**values)


def _checked(name: str, value: Any, default: object) -> Any:
    """A value of a setting; `default` tells its kind, None when the kind is right already."""
    if default is not None and not _of_kind(value, default):
        kind = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}[type(default)]
        raise TypeError(f"{name} must be {kind}, not {value!r}; leave it out for the default, {default!r}.")
    if isinstance(value, str) and value not in ("NORMAL", "FULL"):
        raise ValueError(f"{name} must be NORMAL or FULL, not {value!r}")
    if not isinstance(value, (str, bool)) and not 0 < value <= LARGEST:
        raise ValueError(f"{name} must be above 0 and at most {LARGEST:,}, not {value!r}")
    return value


def _of_kind(value: object, default: object) -> bool:
    if isinstance(value, bool) or isinstance(default, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))


def _convert(variable: str, text: str, default: object) -> object:
    try:
        if isinstance(default, bool):
            return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except (ValueError, KeyError):
        kind = {bool: "1, true, 0 or false", int: "a whole number", float: "a number"}[type(default)]
        raise ValueError(f"{variable} must be {kind}, not {text!r}") from None
    return text.upper()
