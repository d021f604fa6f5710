"""UPDATE: bulk mutation of what a pattern matches, each element from its own state (§4.3, notes B.8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, protect, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.lexer import MAX_INTEGER, MIN_INTEGER
from trivium.kip.schema_rules import Schemas
from trivium.settings import Settings
from trivium.store.graph import Concept, Element, Graph, is_link_id
from trivium.store.graph_writer import GraphWriter

SKIP = object()
"""What an expression yields when a key is to be left as it is."""


def update(
    graph: GraphWriter,
    command: tree.Update,
    ids: Iterable[int],
    parameters: Parameters,
    settings: Settings | None = None,
    *,
    dry_run: bool,
) -> dict[str, int]:
    """Mutate the elements; `ids` are distinct and already limited.

    Raises KIP_3004 if one of them is protected, KIP_2002 or KIP_2003 if the settings make schemas rules and one of them
    would break its own.
    """
    attributes = _Block(command.attributes, parameters, "SET ATTRIBUTES")
    metadata = _Block(command.metadata, parameters, "SET METADATA")
    for key, at in metadata.places.items():
        protect.check_metadata_keys((key,), at)
    schemas = Schemas(graph) if settings and settings.strict_schema else None
    numbers = list(ids)
    updated = 0
    for element in _elements(graph, numbers):
        if isinstance(element, Concept):
            protect.check_node_write(element, attributes.keys, command.at)
        if dry_run and schemas is None:
            continue
        new_attributes = attributes.changed(element, element.attributes)
        if schemas is not None and new_attributes is not None and isinstance(element, Concept):
            written = {key: new_attributes[key] for key in attributes.keys if key in new_attributes}
            schemas.check(element.type, element.name, new_attributes, written, command.at)
        if dry_run:
            continue
        new_metadata = metadata.changed(element, element.metadata)
        if new_attributes is None and new_metadata is None:
            continue
        if isinstance(element, Concept):
            graph.update_concept(element, new_attributes, new_metadata)
        else:
            graph.update_link(element, new_attributes, new_metadata)
        updated += 1
    return {"updated": updated, "matched": len(numbers)}


def _elements(graph: Graph, ids: list[int]) -> Iterable[Element]:
    if len(ids) == 1:
        element = graph.element(ids[0])
        if element is not None:
            yield element
        return
    yield from graph.concepts(element_id for element_id in ids if not is_link_id(element_id))
    yield from graph.links(element_id for element_id in ids if is_link_id(element_id))


class _Block:
    """One SET block with its parameters bound."""

    def __init__(self, block: tree.UpdateObject | None, parameters: Parameters, what: str) -> None:
        self._parameters = parameters
        self._plain: dict[str, Any] = {}
        self._computed: list[tuple[str, tree.UpdateCall]] = []
        self.places: dict[str, int] = {}
        self.keys: list[str] = []
        if block is None:
            return
        if block.param is not None:
            found = bind.resolve(block.param, parameters)
            values.check_object(found, block.param.at, what)
            self._plain.update(found)
            self.places = dict.fromkeys(found, block.param.at)
        for key, value in block.entries:
            self.places[key] = value.at - 2  # before the colon
            if isinstance(value, tree.UpdateCall):
                self._computed.append((key, _with_numbers(value, parameters)))
            else:
                found = bind.resolve(value, parameters)
                if isinstance(found, (dict, list)):
                    values.check_storable(found, value.at)
                self._plain[key] = found
        self.keys = [*self._plain, *(key for key, _ in self._computed)]
        if not self.keys:
            raise KipError("KIP_1001", f"{what} is empty.", "Name at least one key.", at=block.at)

    def changed(self, element: Element, current: dict[str, Any]) -> dict[str, Any] | None:
        """The new contents, or None if every key was skipped."""
        if not self.keys:
            return None
        written = dict(self._plain)
        for key, call in self._computed:
            value = _evaluate(call, element)
            if value is not SKIP:
                written[key] = value
        return {**current, **written} if written else None


def _with_numbers(call: tree.UpdateCall, parameters: Parameters) -> tree.UpdateCall:
    args: list[Any] = []
    for arg in call.args:
        if isinstance(arg, tree.UpdateCall):
            args.append(_with_numbers(arg, parameters))
        elif isinstance(arg, tree.Param):
            value = bind.resolve(arg, parameters)
            values.check_update_operand(value, arg.at)
            args.append(tree.Lit(value, arg.at))
        else:
            args.append(arg)
    return tree.UpdateCall(call.func, args, call.at)


def _evaluate(arg: Any, element: Element) -> Any:
    """A number, or SKIP for null and for what is no number."""
    if isinstance(arg, tree.Lit):
        return arg.value
    if isinstance(arg, tree.Path):
        return _operand(arg, element)
    operands = [_evaluate(item, element) for item in arg.args]
    if arg.func == "COALESCE":
        first = arg.args[0]
        if operands[0] is SKIP and isinstance(first, tree.Path) and _raw(first, element) is not None:
            return SKIP
        return operands[0] if operands[0] is not SKIP else operands[1]
    if any(value is SKIP for value in operands):
        return SKIP
    return _compute(arg.func, operands)


def _compute(func: str, operands: list[Any]) -> Any:
    if func == "ADD":
        result = operands[0] + operands[1]
    elif func == "MUL":
        result = operands[0] * operands[1]
    else:
        value, low, high = operands
        if low > high:
            return SKIP
        result = low if value < low else high if value > high else value
    if isinstance(result, int):
        return result if MIN_INTEGER <= result <= MAX_INTEGER else SKIP
    return result if result - result == 0 else SKIP  # infinity and NaN are no JSON numbers


def _operand(path: tree.Path, element: Element) -> Any:
    value = _raw(path, element)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else SKIP


def _raw(path: tree.Path, element: Element) -> Any:
    if path.steps == ("metadata", "_version"):
        return element.version
    value: Any = element.attributes if path.steps[0] == "attributes" else element.metadata
    for step in path.steps[1:]:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value
