"""What happens to a command, stage by stage; `trivium kip --explain` prints it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from trivium.errors import KipError
from trivium.kip import lexer, parser, tree
from trivium.kip.bind import Parameters
from trivium.kip.nexus import Nexus
from trivium.kip.prepared import Prepared


class _Watch:
    """Microseconds per stage."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self._last = time.perf_counter()

    def mark(self, stage: str) -> None:
        now = time.perf_counter()
        self.times[stage] = round((now - self._last) * 1e6, 1)
        self._last = time.perf_counter()


def explain(nexus: Nexus, text: str, parameters: Parameters) -> dict[str, Any]:
    """Tokens, tree, plan, SQL, bindings, timing in microseconds and the response of a command, which is executed.

    A write takes effect: use a `dry_run` request to look without changing.
    """
    report: dict[str, Any] = {"tokens": [], "tree": "", "plan": [], "sql": "", "bindings": [], "timing_us": {}}
    watch = _Watch()
    report["timing_us"] = watch.times
    try:
        report["tokens"] = lexer.tokenize(text)
        watch.mark("lex")
        parsed = parser.parse(text)
        watch.mark("lex and parse")
        report["tree"] = "\n".join(_lines(parsed.command, ""))
        prepared = nexus.prepare(text)
        if prepared.query is not None:
            _plan(nexus, prepared, parameters, report, watch)
        watch.mark("explain")
        report["response"] = nexus.execute(prepared, parameters)
        watch.mark("plan and run, first time")
        if not nexus.is_write(prepared):
            report["response"] = nexus.execute(prepared, parameters)
            watch.mark("run again")
    except KipError as error:
        report["response"] = {"error": lexer.place(error, text).to_dict()}
    return report


def _lines(node: Any, indent: str) -> Iterator[str]:
    """A tree, one node to a line."""
    if isinstance(node, tree.Node):
        parts = [(name, getattr(node, name)) for name in node.__struct_fields__ if name != "at"]
        plain = [f"{name}={value!r}" for name, value in parts if not _is_branch(value) and value is not None]
        yield f"{indent}{type(node).__name__} {' '.join(plain)}".rstrip()
        for name, value in parts:
            if _is_branch(value):
                yield f"{indent}  {name}:"
                for item in value if isinstance(value, (list, tuple)) else [value]:
                    yield from _lines(item, indent + "    ")
    else:
        yield f"{indent}{node!r}"


def _is_branch(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(item, (tree.Node, tuple)) for item in value)
    return isinstance(value, tree.Node) and not isinstance(value, (tree.Lit, tree.Param, tree.Var, tree.Path))


def _plan(nexus: Nexus, prepared: Prepared, parameters: Parameters, report: dict[str, Any], watch: _Watch) -> None:
    with nexus.store.read() as session:
        schema = nexus.schema(session)
        watch.mark("schema")
        plan = nexus.runner.explain(session, prepared, parameters, schema, nexus.store.moment)
        watch.mark("compile")
        report["sql"] = plan.sql
        report["plan"] = list(plan.notes)
        if prepared.query is not None and prepared.query.find.cursor is None:
            report["bindings"] = [source.read(parameters, schema, prepared.tokens) for source in plan.sources]
            report["plan"] += nexus.store.query_plan(session, plan.sql, report["bindings"][: plan.used])
