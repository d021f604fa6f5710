"""A shape filled from quoted evidence, without a model (KnowQL reference 8, D14).

Every part of the result rests on a quote. What the evidence does not say is null where the shape takes null, left out
where the shape does not require it, and otherwise the reason to fail, which names the property. Nothing is made up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from trivium.answers.composer import Cited, Composed, ComposeError, Task, Usage
from trivium.language.parts import questions_in
from trivium.language.statements import Statement
from trivium.shapes.fill_evidence import Filled, Finder, NoEvidence
from trivium.shapes.fill_list import fill_list
from trivium.shapes.fill_scalar import fill_scalar
from trivium.shapes.property import Property, read_property
from trivium.shapes.shape import Validator, check_schema, references, resolve

_DEFINITIONS = ("$schema", "$defs", "definitions")
DEEPEST = 8
"""How deep properties are filled; deeper ones count as without evidence."""
MOST_PARTS = 5_000
"""How many parts of a shape are looked for; the others count as without evidence."""


def fill(task: Task, statements: Sequence[Statement], check: Callable[[], None] = lambda: None) -> Composed:
    """The shape of a task filled from statements; `check` is called now and then. Raises: ComposeError."""
    shape = task.shape or {}
    try:
        filled = _Filling(shape, check).value(_finder(statements, task.ask), "", shape, 0)
    except NoEvidence as fault:
        raise ComposeError(f"output did not conform to shape: {fault}", Usage(cost_usd=0.0)) from fault
    violation = Validator(shape).first_violation(filled.value)
    if violation is not None:
        raise ComposeError(f"output did not conform to shape: {violation}", Usage(cost_usd=0.0))
    cited = list({(one.passage.id, one.quote): one for one in filled.cited}.values())
    warnings = list(dict.fromkeys(filled.warnings))
    return Composed("", cited, filled.value, bool(cited), Usage(cost_usd=0.0), warnings)


def _finder(statements: Sequence[Statement], ask: str) -> Finder:
    """A finder for an ask, with one for each of the questions that it is made of where those are several."""
    finder = Finder.of(statements, ask)
    questions, _ = questions_in(ask)
    finder.parts = [finder.for_question(question) for question in questions] if len(questions) > 1 else []
    return finder


class _Filling:
    def __init__(self, root: dict[str, Any], check: Callable[[], None]) -> None:
        self._root = root
        self._check = check
        self._parts = 0
        self._within: list[str] = ["#"]
        """The references that lead to the part that is being filled."""

    def value(self, finder: Finder, path: str, schema: Any, depth: int) -> Filled:
        """A value for a schema. Raises: NoEvidence."""
        read = resolve(schema, self._root)
        try:
            with self._entered(path, schema):
                return self._filled(finder, path, read, depth)
        except NoEvidence as fault:
            if (path or fault.is_plain) and schema is not False and self._takes_null(read):
                return Filled(None)
            raise

    @contextmanager
    def _entered(self, path: str, schema: Any, *, again: bool = False) -> Iterator[None]:
        """Whether a part can be filled at all. Raises: NoEvidence.

        A schema inside itself would get the same evidence once more and so hold what its outer one holds; only the
        elements of an array, which have evidence of their own, may be so once (`again`).
        """
        self._check()
        self._parts += 1
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if schema is False or self._parts > MOST_PARTS or self._within.count(reference or "") > int(again):
            raise NoEvidence(path)
        self._within += [reference] if reference else []
        try:
            yield
        finally:
            if reference:
                self._within.pop()

    def _takes_null(self, schema: dict[str, Any]) -> bool:
        kinds = schema.get("type", "null")
        check = self._validator(schema) if "null" in kinds else None
        return check is not None and check.conforms(None)

    def _validator(self, schema: dict[str, Any]) -> Validator | None:
        """A check of a part alone; None where it refers to something outside that only the whole shape has."""
        if any(not str(one).startswith(("#/$defs/", "#/definitions/")) for one in references(schema)):
            return None
        kept: dict[str, Any] = {key: self._root[key] for key in _DEFINITIONS if key in self._root}
        whole = kept | schema
        return Validator(whole) if check_schema(whole) is None else None

    def _filled(self, finder: Finder, path: str, schema: dict[str, Any], depth: int) -> Filled:
        if depth > DEEPEST:
            raise NoEvidence(path)
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return self._alternative(finder, path, schema, schema[word], depth)
        if "const" not in schema and "enum" not in schema:
            kind = schema.get("type")
            kinds = [kind] if isinstance(kind, str) else list(kind or [])
            if "object" in kinds or (not kinds and "properties" in schema):
                return self._object(finder, path, schema, depth)
            if "array" in kinds or (not kinds and ("items" in schema or "prefixItems" in schema)):
                if places := _places(schema):
                    return self._tuple(finder, path, places, depth)
                return self._by_question(
                    finder, read_property(path, schema), lambda one: self._array(one, path, schema, depth)
                )
        wanted = read_property(path, schema)
        return self._by_question(finder, wanted, lambda one: fill_scalar(one, wanted))

    def _by_question(self, finder: Finder, wanted: Property, filled: Callable[[Finder], Filled]) -> Filled:
        """What the question that a property belongs to fills it with; the whole ask where none does."""
        fault: NoEvidence | None = None
        for one in [*finder.parts_for(wanted), finder]:
            try:
                return filled(one)
            except NoEvidence as missing:
                fault = missing if fault is None or fault.is_plain else fault
        assert fault is not None
        raise fault

    def _alternative(self, finder: Finder, path: str, schema: dict[str, Any], options: list[Any], depth: int) -> Filled:
        """The first alternative that the evidence fills with something that conforms to the whole."""
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
        check = self._validator(schema)
        fault: NoEvidence | None = None
        for option in options:
            inner = resolve(option, self._root)
            if inner.get("type") == "null":
                continue
            try:
                with self._entered(path, option):
                    filled = self._filled(finder, path, {**rest, **inner}, depth + 1)
            except NoEvidence as missing:
                fault = fault or missing
                continue
            if check is None or check.conforms(filled.value):
                return filled
        raise fault or NoEvidence(path)

    def _object(self, finder: Finder, path: str, schema: dict[str, Any], depth: int) -> Filled:
        value: dict[str, Any] = {}
        cited: list[Cited] = []
        warnings: list[tuple[str, str | None, str]] = []
        required = list(schema.get("required", ()))
        missing: NoEvidence | None = None
        for name, inner in _ordered(schema.get("properties", {}), required):
            place = f"{path}.{name}" if path else name
            try:
                filled = self.value(finder, place, inner, depth + 1)
            except NoEvidence as fault:
                if name in required:
                    raise
                missing = missing or fault
                continue
            value[name] = filled.value
            cited += filled.cited
            warnings += filled.warnings
        unknown = [name for name in required if name not in value]
        if unknown:
            raise NoEvidence(f"{path}.{unknown[0]}" if path else unknown[0])
        if not cited and not value and not path and missing is not None and missing.is_plain:
            return Filled({})  # nothing is required, and nothing is said
        if not cited and (missing is not None or not value) and (path or not value):
            raise missing or NoEvidence(path)
        named = {name: value[name] for name in schema.get("properties", {}) if name in value}
        return Filled(named, cited, warnings)

    def _array(self, finder: Finder, path: str, schema: dict[str, Any], depth: int) -> Filled:
        given = schema.get("items", {})
        items = resolve(given, self._root)
        wanted = read_property(path, schema)

        def one(within: Finder, place: str) -> Filled:
            with self._entered(place, given, again=True):
                return self._filled(within, place, items, depth + 1)

        if given is False:
            raise NoEvidence(path)
        return fill_list(finder, wanted, items, one)

    def _tuple(self, finder: Finder, path: str, places: list[Any], depth: int) -> Filled:
        """An array whose places each have a schema, filled as far as those go."""
        filled: list[Filled] = []
        for number, inner in enumerate(places):
            place = f"{path}[{number}]"
            read = resolve(inner, self._root)
            if len(places) > 1 and not {"title", "description", "const", "enum", "properties"} & set(read):
                raise NoEvidence(
                    place, f"no evidence for `{place}`: it needs a title that tells it from its neighbours"
                )
            filled.append(self.value(finder, place, inner, depth + 1))
        cited = [cited for one in filled for cited in one.cited]
        if not cited:
            raise NoEvidence(path)
        return Filled([one.value for one in filled], cited, [told for one in filled for told in one.warnings])


def _places(schema: dict[str, Any]) -> list[Any]:
    """The schemas of the first places of an array; none where all places have the same."""
    given = schema.get("prefixItems", schema.get("items"))
    return given if isinstance(given, list) else []


def _ordered(properties: dict[str, Any], required: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Required properties first, so that a shape that cannot be filled fails soon."""
    yield from ((name, properties[name]) for name in required if name in properties)
    yield from ((name, inner) for name, inner in properties.items() if name not in required)
