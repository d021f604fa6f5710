"""A Cognitive Nexus (§2.1): the KIP engine over one context of a store. Commands in, responses out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from trivium.errors import KipError
from trivium.kip import snapshot, tree
from trivium.kip.bind import Parameters
from trivium.kip.cache import Cache
from trivium.kip.lexer import place
from trivium.kip.prepared import Prepared
from trivium.kip.query import QueryRunner
from trivium.kip.snapshot import Snapshot
from trivium.settings import Settings
from trivium.store import planning
from trivium.store.faults import EngineError, translate
from trivium.store.graph import Graph
from trivium.store.sqlite import Rollback, Session, SqliteStore

if TYPE_CHECKING:
    from trivium.search.meaning import Meaning

Clock = Callable[[], str]
WRITES = (tree.Upsert, tree.Update, tree.Merge, tree.DeleteKeys, tree.DeletePropositions, tree.DeleteConcept)


class Nexus:
    """Executes single commands. Thread-safe: readers run side by side, writers take turns.

    Writers, META and search are imported when first used, so that a process that only asks starts quickly.
    """

    def __init__(
        self,
        store: SqliteStore,
        ctx: int,
        settings: Settings,
        clock: Clock,
        identity: str = "",
        meaning: Callable[[], Meaning | None] = lambda: None,
    ) -> None:
        self.store = store
        self.ctx = ctx
        self.settings = settings
        self._clock = clock
        self._meaning = meaning
        self.cache = Cache()
        self.runner = QueryRunner(settings, identity)
        self._snapshot: Snapshot | None = None
        self._known: tuple[int, Snapshot] | None = None
        self._write_schema: tuple[tuple[int, int], Snapshot] | None = None
        self._exported: tuple[tuple[str, int], list[tuple[int, int]]] | None = None

    # --- entry ------------------------------------------------------------------------------------

    def prepare(self, text: str) -> Prepared:
        """Parse a command text. Raises KipError with a position."""
        return self.cache.prepare(text)

    def is_write(self, prepared: Prepared) -> bool:
        """Decided by the parsed statement, nowhere else."""
        return isinstance(prepared.parsed.command, WRITES)

    def execute(self, prepared: Prepared, parameters: Parameters, *, dry_run: bool = False) -> dict[str, Any]:
        """The response of one command (`result`, perhaps `next_cursor`). Raises KipError; nothing has happened then."""
        try:
            if parameters and prepared.parsed.quoted_names:
                prepared.check_strings(parameters)
            command = prepared.parsed.command
            if isinstance(command, tree.Find):
                return self._find(prepared, parameters)
            if isinstance(command, WRITES):
                return {"result": self._write(prepared, parameters, dry_run=dry_run)}
            return self._meta(prepared, parameters)
        except KipError as error:
            raise place(error, prepared.parsed.text) from None

    # --- reading ----------------------------------------------------------------------------------

    def _find(self, prepared: Prepared, parameters: Parameters) -> dict[str, Any]:
        """Planned with the schema as it was last seen, and once more should that turn out to be an old one."""
        store = self.store
        session = store.checkout()
        end = session.deadline
        try:
            known = self._known
            schema = self._look(session) if known is None else known[1]
            try:
                response = self.runner.find(session, prepared, parameters, schema, store.moment)
            except KipError:
                if self._load(session).epoch == schema.epoch:
                    raise
            else:
                if self._look(session).epoch == schema.epoch:
                    return response
        except EngineError as error:
            raise translate(error, store.path, self.settings.timeout) from None
        finally:
            store.checkin(session)
        with store.read(deadline=end) as session:
            return self.runner.find(session, prepared, parameters, self.schema(session), store.moment)

    def _meta(self, prepared: Prepared, parameters: Parameters) -> dict[str, Any]:
        from trivium.kip import describe, export

        command = prepared.parsed.command
        if isinstance(command, tree.Search):
            return {"result": self._search(command, parameters)}
        with self.store.read() as session:
            schema = self.schema(session)
            graph = Graph(session, self.ctx)
            if isinstance(command, tree.Export):
                places = self._export_places(session, graph, prepared, parameters, schema)
                digest = self.runner.digest(prepared, parameters)
                response = export.export(graph, command, places, parameters, digest)
                if "next_cursor" not in response:
                    self._exported = None
                return response
            if isinstance(command, tree.DescribePrimer):
                return {"result": describe.primer(session, graph, self._meaning())}
            if isinstance(command, tree.DescribeDomains):
                return {"result": describe.domains(graph)}
            if isinstance(command, tree.DescribeTypes):
                return describe.types(graph, command, parameters)
            assert isinstance(command, tree.DescribeType)
            return {"result": describe.type_(graph, command, parameters)}

    def _search(self, command: tree.Search, parameters: Parameters) -> list[dict[str, Any]]:
        """The term is turned into a vector before the store is opened: that may take a while."""
        from trivium.kip import search

        want = search.wanted(command, parameters, self.settings)
        asked = search.ask(want, self.ctx, self._meaning())
        with self.store.read() as session:
            return search.search(session, command, want, self.schema(session), asked)

    def _export_places(
        self, session: Session, graph: Graph, prepared: Prepared, parameters: Parameters, schema: Snapshot
    ) -> list[tuple[int, int]]:
        """What an EXPORT selects, in order; remembered up to its last page while the data stands still."""
        from trivium.kip.export import places_of

        key = (self.runner.digest(prepared, parameters), self.store.moment)
        known = self._exported
        if known is None or known[0] != key:
            rows = self.runner.targets(session, prepared, parameters, schema, self.store.moment)
            ids = {row[0] for row in rows if isinstance(row[0], int)}
            known = self._exported = (key, places_of(graph, ids, schema.higher_order))
        return known[1]

    def schema(self, session: Session) -> Snapshot:
        """The schema in the transaction that `session` has begun."""
        found = self._load(session)
        self.store.watch(session)
        return found

    def _look(self, session: Session) -> Snapshot:
        """The schema, read again only if the last statement of `session` saw other data than the one before."""
        moment = self.store.watch(session)
        known = self._known
        if known is None or known[0] != moment:
            known = self._known = (moment, self._load(session))
        return known[1]

    def _load(self, session: Session) -> Snapshot:
        epoch = planning.schema_epoch(session, self.ctx)
        if epoch is None:
            raise KipError("KIP_4003", "This context has been deleted.", "Open an existing context.")
        known = self._snapshot
        if known is not None and known.epoch == epoch:
            return known
        found = snapshot.load(session, self.ctx, epoch)
        self._snapshot = found
        return found

    def _load_for_write(self, session: Session) -> Snapshot:
        """The schema inside a write transaction, read again only if it may have changed."""
        state = (session.foreign, session.schema_writes)
        known = self._write_schema
        if known is None or known[0] != state:
            known = self._write_schema = (state, self._load(session))
        return known[1]

    # --- writing ----------------------------------------------------------------------------------

    def _write(self, prepared: Prepared, parameters: Parameters, *, dry_run: bool) -> dict[str, Any]:
        from trivium.kip import write  # not before the first write: a process that only asks starts quickly
        from trivium.store.graph_writer import GraphWriter

        result: dict[str, Any] = {}
        with self.store.write(counted=True) as session:
            schema = self._load_for_write(session)
            graph = GraphWriter(session, self.ctx, self._clock(), write.index_texts)
            select = partial(self.runner.targets, session, prepared, parameters, schema, self.store.moment, graph)
            query = prepared.query
            memberships = query is not None and query.may_bind_memberships(parameters)
            change = write.Change(graph, schema, parameters, self.settings, select, memberships, dry_run)
            result = change.run(prepared.parsed.command)
            if dry_run:
                raise Rollback
            graph.finish()
        self.store.moment += 1
        return result
