"""Settings of an open knowledge base, from keyword arguments or `TRIVIUM_*` environment variables."""

from __future__ import annotations

import os

from msgspec import Struct


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
        """Read `TRIVIUM_TIMEOUT`, `TRIVIUM_MAX_ROWS`, …; keyword arguments win. ValueError on a bad value."""
        values: dict[str, object] = {}
        for name in cls.__struct_fields__:
            text = os.environ.get(f"TRIVIUM_{name.upper()}")
            if text:
                values[name] = _convert(name, text, getattr(cls(), name))
        values.update(overrides)
        settings = cls(**values)  # type: ignore[arg-type]
        for name in ("timeout", "max_rows", "max_hops", "max_search_hits"):
            if not 0 < getattr(settings, name) <= 1_000_000_000:
                raise ValueError(f"{name} must be above 0 and at most 1,000,000,000, not {getattr(settings, name)!r}")
        if settings.synchronous not in ("NORMAL", "FULL"):
            raise ValueError(f"synchronous must be NORMAL or FULL, not {settings.synchronous!r}")
        return settings


def _convert(name: str, text: str, default: object) -> object:
    try:
        if isinstance(default, bool):
            return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except (ValueError, KeyError):
        raise ValueError(f"TRIVIUM_{name.upper()}={text!r} is not a {type(default).__name__}") from None
    return text.upper()
