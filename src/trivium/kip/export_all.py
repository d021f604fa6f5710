"""All of a context's graph as capsules, in one transaction of the caller's: nothing written meanwhile shows (§5.3)."""

from __future__ import annotations

from collections.abc import Iterator

from trivium.errors import KipError
from trivium.kip import tree
from trivium.kip.export import export, places_of
from trivium.kip.snapshot import load
from trivium.store.graph import Graph
from trivium.store.sqlite import Session


def capsules(session: Session, ctx: int) -> Iterator[str]:
    """Capsules that import in order.

    Raises: KipError KIP_2001 when links use a predicate whose definition was deleted: no store could import them.
    """
    graph = Graph(session, ctx)
    schema = load(session, ctx, 0)
    for name in sorted(schema.link_counts):
        if schema.link_counts[name] and name not in schema.predicates:
            raise KipError("KIP_2001", f"Links have the predicate {name!r}, whose definition was deleted.")
    places = places_of(graph, graph.all_ids(), schema.higher_order)
    command = tree.Export(tree.Var("x"), tree.Group([]))
    parameters: dict[str, object] = {}
    while True:
        response = export(graph, command, places, parameters, "all")
        capsule: str = response["result"]["capsule"]
        if capsule:
            yield capsule if capsule.endswith("\n") else capsule + "\n"
        cursor = response.get("next_cursor")
        if not cursor:
            return
        parameters = {"cursor": cursor}
        command = tree.Export(command.target, command.where, cursor=tree.Param("cursor"))
