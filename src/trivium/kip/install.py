"""Genesis and the standard capsules: installed at first open, completed on upgrade (Appendix 2 and 3)."""

from __future__ import annotations

from functools import cache

from trivium.kip import tree
from trivium.kip.parser import parse
from trivium.kip.snapshot import Snapshot
from trivium.kip.upsert import Upserter
from trivium.settings import Settings
from trivium.store.graph_writer import GraphWriter
from trivium.store.schema import META_TYPES

STANDARD = (
    "01-genesis",
    "02-person",
    "03-preference",
    "04-event",
    "05-sleep-task",
    "06-insight",
    "07-commitment",
    "08-self",
    "09-system",
)
_ACTORS = {"08-self": "$self", "09-system": "$system"}


@cache
def _command(name: str) -> tree.Upsert:
    from importlib import resources

    text = (resources.files("trivium") / "capsules" / f"{name}.kip").read_text(encoding="utf-8")
    command = parse(text).command
    assert isinstance(command, tree.Upsert)
    return command


def install(graph: GraphWriter) -> None:
    """Write the standard capsules. What is there keeps its values; only missing nodes, links and keys are added.

    The actors `$self` and `$system` are created once and never touched again (notes B.11).
    """
    for name in STANDARD:
        actor = _ACTORS.get(name)
        if actor is not None and graph.concept_id("Person", actor) is not None:
            continue
        snapshot = Snapshot(
            graph.ctx,
            0,
            frozenset([*META_TYPES, *graph.names_of_type("$ConceptType")]),
            frozenset(graph.names_of_type("$PropositionType")),
            frozenset(),
        )
        Upserter(graph, snapshot, {}, Settings(), privileged=True, fill=True).run(_command(name))
