"""Every example in a docstring is true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import trivium

SOURCE = Path(trivium.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_examples_in_docstrings_are_true(path: Path) -> None:
    parts = ["trivium", *path.relative_to(SOURCE).with_suffix("").parts]
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    result = doctest.testmod(module)
    assert result.attempted
    assert result.failed == 0
