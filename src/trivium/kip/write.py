"""The statements that change the graph, each to its module, inside the caller's transaction (§4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from trivium.kip import delete, merge, tree, update
from trivium.kip.bind import Parameters
from trivium.kip.snapshot import Snapshot
from trivium.kip.upsert import Upserter
from trivium.search.index import index_texts
from trivium.settings import Settings
from trivium.store.graph_writer import GraphWriter

__all__ = ["Change", "index_texts"]


class Change(NamedTuple):
    """One write command. `select` gives the id tuples that its WHERE pattern binds."""

    graph: GraphWriter
    schema: Snapshot
    parameters: Parameters
    settings: Settings
    select: Callable[[], list[tuple[Any, ...]]]
    memberships: bool
    """Whether the target may be a link of `belongs_to_domain`."""
    dry_run: bool

    def run(self, command: tree.Command) -> dict[str, Any]:
        """The `result` of the command. Raises KipError; the caller undoes what was begun."""
        graph, dry_run = self.graph, self.dry_run
        if isinstance(command, tree.Upsert):
            upserter = Upserter(graph, self.schema, self.parameters, self.settings)
            return upserter.run(command).to_dict(dry_run=dry_run)
        rows = self.select()
        if isinstance(command, tree.Merge):
            source, target = merge.endpoints(graph, command, rows, self.parameters)
            return merge.merge(graph, command, source, target, self.settings, dry_run=dry_run)
        ids = [row[0] for row in rows if isinstance(row[0], int)]
        if isinstance(command, tree.Update):
            return update.update(graph, command, ids, self.parameters, self.settings, dry_run=dry_run)
        if isinstance(command, tree.DeleteKeys):
            return delete.delete_keys(graph, command, ids, self.parameters, self.settings, dry_run=dry_run)
        if isinstance(command, tree.DeletePropositions):
            return delete.delete_propositions(graph, command, ids, memberships=self.memberships, dry_run=dry_run)
        assert isinstance(command, tree.DeleteConcept)
        return delete.delete_concepts(graph, command, ids, self.settings, dry_run=dry_run)
