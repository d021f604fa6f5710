"""Settings of an open knowledge base, from keyword arguments or `TRIVIUM_*` environment variables."""

from __future__ import annotations

import os
from typing import Any

from msgspec import Struct

LARGEST = 1_000_000_000
"""What no number among the settings may exceed, the bytes of a context aside."""
LARGEST_CONTEXT = 1_000_000_000_000_000


class Secret(str):
    """A text that no message shows."""

    def __repr__(self) -> str:
        return "'…'" if self else "''"


class Settings(Struct, frozen=True):
    """Limits, durability, the embedder and the language models (`llm_…`, docs/models.md). Times are seconds.

    `synchronous` is NORMAL (an acknowledged write survives a killed process) or FULL (also a power cut). `embedder` is
    builtin, none, or the URL of an endpoint that speaks OpenAI's protocol; empty means builtin where the extra
    `semantic` is installed, else none.
    """

    timeout: float = 30.0
    max_rows: int = 100_000
    max_hops: int = 64
    max_search_hits: int = 100
    synchronous: str = "NORMAL"
    strict_schema: bool = False
    protect_used_types: bool = False
    workers: int = 4
    max_file_bytes: int = 250_000_000
    max_context_bytes: int = 10_000_000_000
    max_context_files: int = 100_000
    embedder: str = ""
    embedding_model: str = ""
    embedding_api_key: str = ""
    vector_memory: int = 1024
    llm_base_url: str = ""
    llm_api_key: str = ""
    llm_models: str = ""
    llm_provider: str = ""
    llm_tiers: str = ""
    llm_prices: str = ""
    llm_thinking: str = ""
    llm_context: int = 16_000
    llm_output: int = 2_000
    llm_timeout: float = 120.0
    llm_attempts: int = 4
    local_model: str = ""

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
    if isinstance(value, str):
        return _checked_text(name, value)
    largest = LARGEST_CONTEXT if name.lower().endswith("max_context_bytes") else LARGEST
    if not isinstance(value, bool) and not 0 < value <= largest:
        raise ValueError(f"{name} must be above 0 and at most {largest:,}, not {value!r}")
    return value


def _checked_text(name: str, value: str) -> str:
    """A value of a setting that is a text, by the last word of its name."""
    kind = name.lower().rpartition("_")[2]
    if kind == "synchronous" and value not in ("NORMAL", "FULL"):
        raise ValueError(f"{name} must be NORMAL or FULL, not {value!r}")
    if kind == "embedder" and value not in ("", "builtin", "none") and not value.startswith(("http://", "https://")):
        raise ValueError(f"{name} must be builtin, none or the http(s) URL of an endpoint, not {value!r}")
    if kind == "url" and value and not value.startswith(("http://", "https://")):
        raise ValueError(f"{name} must be the http(s) URL of an endpoint, not {value!r}")
    return Secret(value) if kind == "key" else value


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
    return text.upper() if variable == "TRIVIUM_SYNCHRONOUS" else text
