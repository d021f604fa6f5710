"""`Turns`: the one object that doors use to ask, follow, cancel and look back (KnowQL reference 3 to 10)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from trivium.errors import KipError, StoreError
from trivium.knowql import binding, creation, sessions
from trivium.knowql.document import (
    DEFAULT_THINKING,
    THINKING_LEVELS,
    WORKFLOWS,
    Request,
    check_characters,
    check_whole,
    insist,
    read_document,
)
from trivium.knowql.ending import STEP, cancelled
from trivium.knowql.engine import Engine
from trivium.knowql.errors import QueryError, refusal
from trivium.knowql.events import OWN_POLL_SECONDS, POLL_SECONDS, Look, Numbered, follow
from trivium.knowql.hints import Hint
from trivium.knowql.list_cursor import from_cursor, to_cursor
from trivium.knowql.parts import Parts
from trivium.knowql.pool import Running
from trivium.knowql.response import merged_steps, response_document
from trivium.knowql.sessions import LISTED, MOST_LISTED, session_object
from trivium.store import turns
from trivium.store.sqlite import Session
from trivium.store.turns import IN_PROGRESS, QueryRow, SessionRow

SYNC, STREAM, BACKGROUND = "sync", "stream", "background"
KEY_MILLISECONDS = 24 * 3_600 * 1_000
LONGEST_KEY = 255
LONGEST_COMMENT = 2_000
_OF_SESSIONS, _OF_QUERIES = re.compile(r"ses_[0-9a-z]{26}"), re.compile(r"[1-9][0-9]{0,17}")
LISTENING_SECONDS = 1.0
"""How long the deletion of a session waits for those who follow its last turn to hear of its end."""


class Caller(Struct, frozen=True):
    """On whose behalf a call is made. Everything of another workspace does not exist for it."""

    workspace: str = "default"


class Accepted(Struct, frozen=True):
    """A turn that was accepted: how the caller wants to hear of it, and whether it was accepted before."""

    query_id: str
    delivery: str
    replayed: bool = False


_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Asked(Struct, frozen=True):
    """A request, how its caller wants to hear of the turn, and its idempotency key."""

    request: Request
    delivery: str
    key: str | None


class _Orphan(Exception):
    """Met while reading: a turn in progress that nobody runs. It is ended, and the reading begins anew."""

    def __init__(self, row: QueryRow) -> None:
        super().__init__(row.id)
        self.row = row


def _translated(method: Callable[Concatenate[Turns, _P], _R]) -> Callable[Concatenate[Turns, _P], _R]:
    """A method whose faults of the store leave as a QueryError of status 503, and which ends the orphans it meets."""

    @wraps(method)
    def call(self: Turns, /, *arguments: _P.args, **options: _P.kwargs) -> _R:
        try:
            while True:
                try:
                    return method(self, *arguments, **options)
                except _Orphan as found:
                    self._engine.fail_orphan(found.row.workspace, found.row.id)
        except (KipError, StoreError) as error:
            raise refusal("storage", error.message, hint=error.hint) from error
        except UnicodeEncodeError:
            raise refusal(
                "invalid_value", "Half of a surrogate pair is no character.", hint="Send whole characters."
            ) from None

    return call


class Turns:
    """Turns and sessions as one caller sees them. Thread-safe; every method raises QueryError alone."""

    def __init__(self, engine: Engine, caller: Caller) -> None:
        self._engine = engine
        self._parts: Parts = engine.parts
        self._workspace = caller.workspace
        self.caller = caller

    @classmethod
    def open(cls, parts: Parts, caller: Caller) -> Turns:
        """The turns of a knowledge base; those that a killed process left behind fail now."""
        return cls(Engine(parts), caller)

    def for_caller(self, caller: Caller) -> Turns:
        """The same turns as another caller sees them."""
        return Turns(self._engine, caller)

    # --- asking -----------------------------------------------------------------------------------

    @_translated
    def submit(
        self,
        document: Any,
        *,
        strict: bool = False,
        accept_stream: bool = False,
        idempotency_key: str | None = None,
    ) -> Accepted:
        """Check a query document, create its turn and start it. Whatever is refused leaves nothing behind.

        `strict` makes errors of warnings; `accept_stream` asks for a stream where the document says nothing; a turn
        that was submitted with the same key and document within 24 hours is given again instead of a second one.
        """
        _check_key(idempotency_key)
        request = read_document(document, strict=strict)
        asked = _Asked(request, _delivery(request, accept_stream), idempotency_key)
        with self._parts.store.read() as session:
            replayed = self._replayed(session, asked)
            if replayed is not None:
                return replayed
            bound = binding.bind(session, self._workspace, request)
        plan = creation.plan(request, bound, self._parts.models)
        insist(plan.warnings, strict)
        with self._parts.store.read() as session:
            self._refuse_second(session, bound.session)
        made = self._admitted(asked, plan)
        if isinstance(made, Accepted):
            return made
        self._engine.start(made)
        return Accepted(made.id, asked.delivery)

    def _admitted(self, asked: _Asked, plan: creation.Plan) -> Running | Accepted:
        """Create a turn with a slot for it where somebody waits; what was found before is looked at once more."""
        worker, pool = self._engine.worker, self._engine.pool
        has_slot = asked.delivery != BACKGROUND
        if has_slot:
            pool.take()
        made: Running | Accepted | None = None
        ended: str | None = None
        try:
            with self._parts.store.write() as session:
                made = self._replayed(session, asked)
                if made is None:
                    bound = binding.bind(session, self._workspace, asked.request)
                    ended = self._refuse_second(session, bound.session, end=True)
                    place = creation.Place(self._workspace, worker, asked.delivery, self._parts.clock())
                    row = creation.create(session, self._parts.ids, asked.request, bound, plan, place)
                    if asked.key is not None:
                        self._remember(session, asked.key, asked.request, row)
                    made = self._engine.prepare(self._workspace, row.id, asked.request.get("timeout_seconds"))
                    pool.admit(made, has_slot=has_slot)
                    has_slot = False  # it is the turn's now
        except BaseException:
            if isinstance(made, Running):
                pool.settle(self._workspace, made.id)
            raise
        finally:
            if has_slot:
                pool.give_back()
        if ended is not None:
            self._engine.settle(self._workspace, ended)
        return made

    def _refuse_second(self, session: Session, owner: SessionRow | None, *, end: bool = False) -> str | None:
        """Step 13 of reference 10.1. A turn that nobody runs is ended (and its id given) or overlooked."""
        row = None if owner is None else turns.running_query(session, self._workspace, owner.id)
        if row is None:
            return None
        if not self._engine.is_orphan(session, row.workspace, row.id, row.worker):
            raise refusal(
                "query_in_progress",
                f"The turn {row.id} of this session is still in progress.",
                param="session_id",
                hint=Hint("Wait for it ({query} shows it), or cancel it first.", id=row.id),
            )
        if end:
            self._engine.end_orphan(session, row)
        return row.id

    def _replayed(self, session: Session, asked: _Asked) -> Accepted | None:
        """The turn that was accepted before with the same key and document. Raises: QueryError for another document."""
        found = None
        if asked.key is not None:
            found = turns.find_key(session, self._workspace, asked.key, self._engine.now_ms())
        if found is None:
            return None
        digest, query_id = found
        if turns.find_query(session, self._workspace, query_id) is None:
            return None
        if digest != asked.request.digest:
            raise refusal(
                "idempotency_conflict",
                "This Idempotency-Key was used for another query document.",
                param="Idempotency-Key",
                hint="Use a new key for each new question; repeat a key only with the same body.",
            )
        return Accepted(query_id, asked.delivery, replayed=True)

    def _remember(self, session: Session, key: str, request: Request, row: QueryRow) -> None:
        expires = row.created_ms + KEY_MILLISECONDS
        turns.remember_key(session, self._workspace, key, request.digest, row.id, row.created_ms, expires)

    # --- one turn ---------------------------------------------------------------------------------

    @_translated
    def response(self, query_id: str) -> dict[str, Any]:
        """The Response Document of a turn as it is now."""
        with self._parts.store.read() as session:
            return self._document(session, binding.require_query(session, self._workspace, query_id))

    @_translated
    def wait(self, query_id: str, timeout: float | None = None) -> dict[str, Any]:
        """The Response Document once the turn has ended, or as it is after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._engine.hub.listening(query_id) as bell:
            while True:
                bell.clear()
                seen = self._look(query_id, 1 << 60)
                left = POLL_SECONDS if not seen.is_own else OWN_POLL_SECONDS
                if end is not None:
                    left = min(left, end - time.monotonic())
                if not seen.is_running or left <= 0:
                    return self.response(query_id)
                bell.wait(left)

    @_translated
    def events(self, query_id: str, after: int = 0) -> Iterator[Numbered | None]:
        """Number, type and data of each event behind number `after`, as they come, ending after the terminal one.

        None is given whenever nothing has come for a while, so that a door can send a heartbeat. What is no number, or
        one beyond the last event or below 0, is a replay from the start.
        """
        with self._parts.store.read() as session:
            binding.require_query(session, self._workspace, query_id)
            last = turns.last_event(session, self._workspace, query_id)
        start = after if isinstance(after, int) and 0 <= after <= last else 0
        return follow(self._engine.hub, query_id, start, lambda number: self._look(query_id, number))

    def stream(self, query_id: str, after: int = 0) -> Iterator[Numbered | None]:
        """As `events`, closed by the whole document as an event `query` of number 0 (reference 7.2)."""
        events = self.events(query_id, after)
        document = self.response(query_id)
        return self._closed_by_document(events, document)

    def _closed_by_document(
        self, events: Iterator[Numbered | None], document: dict[str, Any]
    ) -> Iterator[Numbered | None]:
        query_id = document["id"]
        error = None
        with self._engine.hub.listening(query_id):
            for event in events:
                yield event
                error = None if event is None else event[2].get("error")
            try:
                document = self.response(query_id)
            except QueryError as fault:
                if fault.reason != "query_not_found":
                    raise
                document = document | {"status": turns.CANCELLED, "error": error}
            yield 0, "query", document

    @_translated
    def cancel(self, query_id: str) -> dict[str, Any]:
        """Cancel a turn and give its document; one that has ended stays as it is."""
        if self.response(query_id)["status"] == IN_PROGRESS:
            self._engine.finish(self._workspace, query_id, cancelled())
        return self.response(query_id)

    @_translated
    def feedback(self, query_id: str, feedback: Any) -> None:
        """Keep `{"rating": "up" | "down", "comment"?: …}` for a turn; the last one counts."""
        kept = _checked_feedback(feedback)
        with self._parts.store.write() as session:
            binding.require_query(session, self._workspace, query_id)
            turns.set_feedback(session, self._workspace, query_id, kept)

    @_translated
    def trace(self, query_id: str) -> dict[str, Any]:
        """The recorded trace of a turn that has ended (reference 12.1)."""
        self.response(query_id)  # a turn that nobody runs ends now
        with self._parts.store.read() as session:
            found = turns.trace_of(session, self._workspace, query_id)
        if found is None:
            raise refusal(
                "trace_not_found",
                f"The turn {query_id} has no trace yet.",
                param="id",
                hint="It is written when the turn ends.",
            )
        return found

    # --- sessions ---------------------------------------------------------------------------------

    @_translated
    def sessions(
        self,
        limit: int | None = None,
        cursor: str | None = None,
        context: str | None = None,
        queries_active: bool = False,
    ) -> dict[str, Any]:
        """Sessions, newest first: `{"sessions": […], "next_cursor": … | None}`.

        `context` leaves those whose scope holds it; `queries_active` tells how many turns of each are in progress.
        """
        most = check_whole("limit", limit, LISTED, MOST_LISTED)
        before = from_cursor(cursor, _OF_SESSIONS) or None
        if queries_active:
            self._engine.fail_orphans()
        with self._parts.store.read() as session:
            ctx = None
            if context is not None:
                ctx = binding.require_context(session, self._workspace, context, "context").id
            found = turns.list_sessions(session, self._workspace, most + 1, before, ctx)
            page = [session_object(row) for row in found[:most]]
            if queries_active:
                active = turns.active_sessions(session, self._workspace, (row.id for row in found))
                page = [item | {"queries_active": int(item["id"] in active)} for item in page]
        return {"sessions": page, "next_cursor": to_cursor(page[-1]["id"]) if len(found) > most else None}

    @_translated
    def session(self, session_id: str) -> dict[str, Any]:
        """A session with all its turns as `queries`, oldest first."""
        with self._parts.store.read() as session:
            row = binding.require_session(session, self._workspace, session_id)
            found = turns.list_queries(session, self._workspace, session_id, -1)
            return session_object(row) | {"queries": [self._document(session, query) for query in found]}

    @_translated
    def session_queries(self, session_id: str, limit: int | None = None, cursor: str | None = None) -> dict[str, Any]:
        """Turns of a session in the order of their creation: `{"queries": […], "next_cursor": … | None}`."""
        most = check_whole("limit", limit, LISTED, MOST_LISTED)
        after = int(from_cursor(cursor, _OF_QUERIES) or 0)
        with self._parts.store.read() as session:
            binding.require_session(session, self._workspace, session_id)
            found = turns.list_queries(session, self._workspace, session_id, most + 1, after)
            documents = [self._document(session, row) for row in found[:most]]
        return {"queries": documents, "next_cursor": to_cursor(found[most - 1].number) if len(found) > most else None}

    @_translated
    def rename_session(self, session_id: str, changes: Any) -> dict[str, Any]:
        """Change the title: `changes` is the new title, or an object that holds it and nothing else."""
        title = sessions.new_title({"title": changes} if isinstance(changes, str) else changes)
        with self._parts.store.write() as session:
            binding.require_session(session, self._workspace, session_id)
            turns.rename_session(session, self._workspace, session_id, title, self._parts.clock())
            row = binding.require_session(session, self._workspace, session_id)
        return session_object(row)

    @_translated
    def delete_session(self, session_id: str) -> bool:
        """Delete a session with its turns, cancelling one that is in progress; False if there is none."""
        while True:
            with self._parts.store.read() as session:
                running = turns.running_query(session, self._workspace, session_id)
            if running is not None:
                outcome = cancelled("cancelled: its session was deleted")
                self._engine.finish(self._workspace, running.id, outcome)
                self._let_hear(running.id)
            with self._parts.store.write() as session:
                row = turns.find_session(session, self._workspace, session_id)
                if row is None:
                    return False
                if turns.running_query(session, self._workspace, session_id) is None:
                    turns.delete_session(session, self._workspace, row)
                    return True

    def _let_hear(self, query_id: str) -> None:
        end = time.monotonic() + LISTENING_SECONDS
        while self._engine.hub.has_listeners(query_id) and time.monotonic() < end:
            time.sleep(0.01)

    # --- the service ------------------------------------------------------------------------------

    @_translated
    def models(self) -> dict[str, Any]:
        """The model catalogue and the defaults of turns (reference 12.2)."""
        defaults = {
            "max_steps": dict(WORKFLOWS),
            "thinking_levels": list(THINKING_LEVELS),
            "thinking_level": DEFAULT_THINKING,
        }
        return self._parts.models.to_dict() | {"query_defaults": defaults}

    def close(self, grace: float = 0.0) -> None:
        """Take no more turns; those that have not ended after `grace` seconds fail. Calling it twice is harmless."""
        self._engine.close(grace)

    # --- looking ----------------------------------------------------------------------------------

    def _document(self, session: Session, row: QueryRow) -> dict[str, Any]:
        """The document of a turn. Raises: _Orphan."""
        steps: list[dict[str, Any]] = []
        if row.status == IN_PROGRESS:
            self._check_orphan(session, row)
            steps = merged_steps(turns.events(session, row.workspace, row.id, kind=STEP))
        return response_document(row, steps, self._engine.now_ms())

    def _check_orphan(self, session: Session, row: QueryRow) -> None:
        if self._engine.is_orphan(session, row.workspace, row.id, row.worker):
            raise _Orphan(row)

    @_translated
    def _look(self, query_id: str, after: int) -> Look:
        """One look at a turn for those who follow it."""
        with self._parts.store.read() as session:
            row = turns.find_query(session, self._workspace, query_id)
            if row is None:
                return Look([], exists=False, is_running=False, is_own=False)
            running = row.status == IN_PROGRESS
            if running:
                self._check_orphan(session, row)
            found = turns.events(session, self._workspace, query_id, after)
        own = running and self._engine.pool.find(self._workspace, query_id) is not None
        return Look(found, exists=True, is_running=running, is_own=own)


def _delivery(request: Request, accept_stream: bool) -> str:
    """How the caller hears of the turn: what the document says counts before what the transport asks for."""
    if request.get("background"):
        return BACKGROUND
    stream = request.get("stream")
    return STREAM if stream or (stream is None and accept_stream) else SYNC


def _check_key(key: Any) -> None:
    if key is not None and not (isinstance(key, str) and 1 <= len(key) <= LONGEST_KEY and key.isprintable()):
        raise refusal(
            "invalid_value",
            f"The Idempotency-Key must be 1 to {LONGEST_KEY} printable characters.",
            param="Idempotency-Key",
            hint="Use a UUID.",
        )


def _checked_feedback(feedback: Any) -> dict[str, Any]:
    if not isinstance(feedback, dict) or feedback.get("rating") not in ("up", "down"):
        raise refusal("invalid_value", "rating must be up or down.", param="rating", hint='Send {"rating": "up"}.')
    comment = feedback.get("comment")
    if comment is not None and not isinstance(comment, str):
        raise refusal("invalid_value", "comment must be a text.", param="comment", hint="Leave it out, or send a text.")
    comment = (comment or "").strip()
    check_characters("comment", comment)
    if len(comment) > LONGEST_COMMENT:
        message = f"comment has {len(comment):,} characters; at most {LONGEST_COMMENT:,} are allowed."
        raise refusal("invalid_value", message, param="comment", hint="Shorten it.")
    return {"rating": feedback["rating"], "comment": comment or None}
