"""A model of the catalogue: what it can do, what it costs, and whether it can be used here."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

EXTRAS = {"openai": "llm", "xllamacpp": "local", "any_llm": "providers"}
"""The extra that brings a package."""


class Prices(Struct, frozen=True):
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """
        >>> Prices(2.0, 8.0, 0.5).cost(1_000_000, 500_000, 400_000)
        5.4
        """
        cached = min(cached_tokens, input_tokens)
        dollars = (input_tokens - cached) * self.input + cached * self.cached + output_tokens * self.output
        return round(dollars / 1_000_000, 9)


FREE = Prices(0.0, 0.0, 0.0)


class Model(Struct, frozen=True):
    """A model of the catalogue. `name` is what its endpoint calls it; `packages` must be there for it to run.

    `context` and `output` are tokens; `most_passages` keeps the prompts of small models short, 0 is no limit.
    """

    id: str
    label: str
    provider: str
    name: str = ""
    packages: tuple[str, ...] = ()
    file: str = ""
    thinks: bool = False
    calls_tools: bool = True
    context: int = 0
    output: int = 0
    most_passages: int = 0
    prices: Prices | None = None
    host: str = ""

    @property
    def small(self) -> bool:
        """Whether it is so small that neither its answers nor its refusals can be left to it alone."""
        return self.most_passages > 0

    @property
    def missing(self) -> str | None:
        """The package that is missing."""
        return next((package for package in self.packages if find_spec(package) is None), None)

    @property
    def fault(self) -> str | None:
        """Why it cannot be used; None when it can."""
        if self.missing is not None:
            extra = EXTRAS.get(self.missing)
            return f"it needs the package {self.missing}" + (f": pip install 'trivium[{extra}]'" if extra else "")
        if self.file and not Path(self.file).is_file():
            return "TRIVIUM_LOCAL_MODEL names no file"
        return None

    @property
    def available(self) -> bool:
        return self.fault is None
