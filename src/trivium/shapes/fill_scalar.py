"""Single values of a shape from quoted evidence, by the types that the shape takes (KnowQL reference 8, D14)."""

from __future__ import annotations

from typing import Any

from trivium.shapes.fill_evidence import Filled, Finder, NoEvidence
from trivium.shapes.fill_number import fill_number
from trivium.shapes.fill_text import fill_choice, fill_text
from trivium.shapes.fill_yes_no import fill_yes_no, yes_no_choice
from trivium.shapes.property import Property


def fill_scalar(finder: Finder, wanted: Property) -> Filled:
    """A value for a property that is neither object nor array. Raises: NoEvidence."""
    schema = wanted.schema
    if "const" in schema or "enum" in schema:
        options = [schema["const"]] if "const" in schema else schema["enum"]
        by_yes_no = yes_no_choice(options)
        return fill_yes_no(finder, wanted, by_yes_no) if by_yes_no else fill_choice(finder, wanted, options)
    types = [kind for kind in wanted.types if kind != "null"]
    if not types:
        types = ["number", "string"] if wanted.kinds else ["string"]
    for kind in types:
        try:
            return _of_type(finder, wanted, kind)
        except NoEvidence:
            if kind == types[-1]:
                raise
    raise NoEvidence(wanted.path)


def _of_type(finder: Finder, wanted: Property, kind: Any) -> Filled:
    if kind == "boolean":
        return fill_yes_no(finder, wanted)
    if kind in ("number", "integer"):
        return fill_number(finder, wanted, whole=kind == "integer")
    if kind == "string":
        return fill_text(finder, wanted)
    raise NoEvidence(wanted.path)
