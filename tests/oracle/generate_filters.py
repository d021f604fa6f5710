"""Random FILTER expressions, biased to hold for a witness (§3.4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.oracle.evaluator import Evaluator
from tests.oracle.generate_graph import ATTRIBUTE_KEYS, BOX_KEYS, METADATA_KEYS, STRINGS, attribute_value
from tests.oracle.model import And, Call, Compare, Expr, Graph, Literal, Negate, Operand, Or, Path
from tests.oracle.values import Bound, follow

STRING_CALLS = ("CONTAINS", "STARTS_WITH", "ENDS_WITH")
PATTERNS = ("a", "^[A-Z]", "[0-9]", "e$", "^(red|x1)", "n+", "é|😀", "^.$", "(?i)RED", "x[0-9]{2}", "")
TOP_FIELDS = ("name", "name", "name", "type", "predicate", "id", "subject", "object")


class FilterMaker:
    """Makes filters over the variables in scope."""

    def __init__(self, rng: Random, graph: Graph) -> None:
        self._rng = rng
        self._elements = graph.elements()
        self._predicates = graph.predicates
        self._evaluator = Evaluator(graph)

    def steps(self) -> tuple[str, ...]:
        """Steps of a path to one value of an element."""
        rng = self._rng
        roll = rng.random()
        if roll < 0.35:
            return (rng.choice(TOP_FIELDS),)
        if roll < 0.8:
            return "attributes", rng.choice(ATTRIBUTE_KEYS)
        if roll < 0.85:
            return "metadata", "_version"
        return "metadata", rng.choice(METADATA_KEYS)

    def make(self, kinds: Mapping[str, str], witness: Mapping[str, Bound]) -> Expr:
        """An expression over variables in scope, true for the witness more often than not."""
        wanted = self._rng.random() < 0.85
        expr = self._expr(kinds, witness, 2)
        for _ in range(6):
            if not wanted or self._evaluator.holds(expr, dict(witness)):
                break
            expr = self._expr(kinds, witness, 2)
        return expr

    def _expr(self, kinds: Mapping[str, str], witness: Mapping[str, Bound], depth: int) -> Expr:
        rng = self._rng
        roll = rng.random()
        if depth == 0 or roll < 0.6:
            return self._atom(kinds, witness)
        if roll < 0.7:
            return Negate(self._expr(kinds, witness, depth - 1))
        items = tuple(self._expr(kinds, witness, depth - 1) for _ in range(rng.choice((2, 2, 3))))
        return And(items) if roll < 0.85 else Or(items)

    def _path(self, kinds: Mapping[str, str]) -> Path:
        name = self._rng.choice(list(kinds))
        bare = 0.92 if kinds[name] != "element" else 0.08
        if self._rng.random() < bare:
            return Path(name)
        if self._rng.random() < 0.06:
            return Path(name, ("attributes", "box", self._rng.choice(BOX_KEYS)))
        return Path(name, self.steps())

    def _literal(self, path: Path, witness: Mapping[str, Bound]) -> Any:
        """A value like those at the path: the witness's own, that of some element, or any."""
        rng = self._rng
        roll = rng.random()
        value: Any = None
        if not path.steps:
            return rng.choice(self._predicates)
        if path.steps[0] in ("id", "subject", "object"):
            return rng.choice(STRINGS)  # ids are the engine's own
        if roll < 0.35:
            value = follow(witness.get(path.var), path.steps)
        elif roll < 0.75:
            value = follow(rng.choice(self._elements), path.steps)
        elif roll < 0.95:
            value = attribute_value(rng, path.steps[-1] if path.steps[-1] in ATTRIBUTE_KEYS else "mix")
        if isinstance(value, dict):
            return rng.choice((1, "1", None))
        if isinstance(value, list) and not (value and all(not isinstance(x, list | dict) for x in value)):
            return rng.choice(([1], ["red", None]))
        return value

    def _atom(self, kinds: Mapping[str, str], witness: Mapping[str, Bound]) -> Expr:
        rng = self._rng
        path = self._path(kinds)
        roll = rng.random()
        if roll < 0.14:
            anything = Path(path.var) if rng.random() < 0.4 else path
            return Call(rng.choice(("IS_NULL", "IS_NOT_NULL")), (anything,))
        if roll < 0.26:
            values = [self._literal(path, witness) for _ in range(rng.choice((1, 2, 3)))]
            scalars = [value for value in values if not isinstance(value, list)]
            return Call("IN", (path, Literal(scalars or ([] if rng.random() < 0.3 else [None, 1]))))
        if roll < 0.4:
            return self._string_call(path, witness)
        if roll < 0.52 and len(kinds) > 0:
            return self._two_paths(kinds, path)
        if roll < 0.54:
            return Compare(rng.choice(("==", "!=", "<")), Literal(rng.choice((1, "1", None))), Literal(1.0))
        left: Operand = path
        right: Operand = Literal(self._literal(path, witness))
        if rng.random() < 0.12:
            left, right = right, left
        return Compare(rng.choice(("==", "==", "!=", "<", "<=", ">", ">=")), left, right)

    def _two_paths(self, kinds: Mapping[str, str], path: Path) -> Expr:
        """Two paths, or two variables by identity."""
        rng = self._rng
        other = rng.choice(list(kinds))
        roll = rng.random()
        if roll < 0.3:
            return Compare(rng.choice(("==", "!=", "!=")), Path(path.var), Path(other))
        if roll < 0.5:
            step = rng.choice(("subject", "object"))
            return Compare(rng.choice(("==", "!=")), Path(path.var, (step,)), Path(other, ("id",)))
        if path.steps[:1] in (("id",), ("subject",), ("object",)):
            return Compare(rng.choice(("==", "!=")), path, Path(other, path.steps))
        second = path.steps if roll < 0.8 else self._ordered_steps()
        return Compare(rng.choice(("==", "!=", "<", "<=", ">", ">=")), path, Path(other, second))

    def _ordered_steps(self) -> tuple[str, ...]:
        steps = self.steps()
        return steps if steps[0] in ("attributes", "metadata") else ("name",)

    def _string_call(self, path: Path, witness: Mapping[str, Bound]) -> Expr:
        rng = self._rng
        if path.steps[:1] in (("id",), ("subject",), ("object",)):
            path = Path(path.var, ("name",))
        if rng.random() < 0.35:
            return Call("REGEX", (path, Literal(rng.choice(PATTERNS))))
        text = self._literal(path, witness)
        if isinstance(text, str) and text and rng.random() < 0.8:
            start = rng.randrange(len(text))
            text = rng.choice((text[: start + 1], text[start:]))
        elif not isinstance(text, str):
            text = rng.choice(("", "e", 1, None))
        return Call(rng.choice(STRING_CALLS), (path, Literal(text)))
