"""What a request refers to in the store: its session, its parent turn, its contexts (reference 10.1, 7 to 11)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trivium.ingest.describing import is_queryable
from trivium.ingest.tasks import CURATE
from trivium.knowql.document import Request, Warning, check_scope
from trivium.knowql.errors import QueryError, refusal
from trivium.knowql.hints import Hint, did_you_mean
from trivium.store import contexts, sources, tasks, turns, workers
from trivium.store.contexts import ContextRow
from trivium.store.sqlite import Session
from trivium.store.turns import QueryRow, SessionRow


class Bound(Struct):
    """`session` is None on a new turn; `names` are the scope as it was given, without duplicates."""

    session: SessionRow | None
    parent: QueryRow | None
    contexts: list[ContextRow]
    names: list[str]
    warnings: list[Warning] = []


def bind(session: Session, workspace: str, request: Request) -> Bound:
    """Steps 7 to 11 of reference 10.1. Raises: QueryError."""
    return _continued(session, workspace, request) if request.continues else _new(session, workspace, request)


# --- a turn of a session that is there ------------------------------------------------------------


def _continued(session: Session, workspace: str, request: Request) -> Bound:
    previous, named = request.given.get("previous_query_id"), request.given.get("session_id")
    parent = None if previous is None else require_query(session, workspace, previous, "previous_query_id")
    if named is not None:
        owner = require_session(session, workspace, named)
    else:
        assert parent is not None
        owner = require_session(session, workspace, parent.session)
    if parent is not None and parent.session != owner.id:
        raise refusal(
            "session_mismatch",
            f"previous_query_id {parent.id} belongs to the session {parent.session}, not to {owner.id}.",
            param="previous_query_id",
            hint="Send one of the two alone; previous_query_id is enough.",
        )
    if parent is None and owner.last_query is not None:
        parent = turns.find_query(session, workspace, owner.last_query)
    left, lost = scope_left(session, owner)
    if not left:
        raise refusal(
            "scope_unavailable",
            f"Every context of the session {owner.id} has been deleted.",
            param="session_id",
            hint="Begin a new session with contexts that exist.",
        )
    warnings = [Warning("context_missing", "scope", f"The context {name} has been deleted.") for name in lost]
    return Bound(owner, parent, left, [], warnings)


def scope_left(session: Session, owner: SessionRow) -> tuple[list[ContextRow], list[str]]:
    """The contexts of a session that still exist, and the names of those that do not."""
    left: list[ContextRow] = []
    lost: list[str] = []
    for name, number in zip(owner.pinned["scope"], owner.pinned["scope_numbers"], strict=True):
        found = contexts.get(session, number)
        if found is None:
            lost.append(name)
        else:
            left.append(found)
    return left, lost


def require_session(session: Session, workspace: str, id_: str) -> SessionRow:
    """The session of that id. Raises: QueryError."""
    found = turns.find_session(session, workspace, id_)
    if found is None:
        raise _missing(
            "session_not_found", "session", id_, "session_id", Hint("{sessions} lists the sessions there are.")
        )
    return found


def require_query(session: Session, workspace: str, id_: str, param: str = "id") -> QueryRow:
    """The turn of that id. Raises: QueryError."""
    found = turns.find_query(session, workspace, id_)
    if found is None:
        raise _missing("query_not_found", "query", id_, param, "Its session may have been deleted.")
    return found


# --- a new session --------------------------------------------------------------------------------


def _new(session: Session, workspace: str, request: Request) -> Bound:
    found: list[ContextRow] = []
    names: list[str] = []
    warnings: list[Warning] = []
    for name in check_scope(request.given.get("scope")):
        context = require_context(session, workspace, name)
        if any(context.id == other.id for other in found):
            warnings.append(Warning("duplicate_scope", "scope", f"{name} names a context that the scope has already."))
        else:
            found.append(context)
            names.append(name)
    if len({kind_of(context) for context in found}) > 1:
        raise refusal(
            "mixed_context_kinds",
            "scope mixes contexts of kind search with contexts of kind work.",
            param="scope",
            hint="Ask the contexts of each kind in a session of their own.",
        )
    for context in found:
        if not is_queryable(session, context):
            raise _not_queryable(session, workspace, context)
    return Bound(None, None, found, names, warnings)


def require_context(session: Session, workspace: str, name: str, param: str = "scope") -> ContextRow:
    """The context of that slug or UUID. Raises: QueryError."""
    found = contexts.find(session, workspace, name)
    if found is None:
        known = (row.slug for row in contexts.all_rows(session, workspace))
        hint = Hint(did_you_mean(name, known) + "{contexts} lists the contexts there are.")
        raise _missing("context_not_found", "context", name, param, hint)
    return found


def kind_of(context: ContextRow) -> str:
    return str(context.fields.get("kind") or "search")


def instructions_of(context: ContextRow) -> list[str]:
    """The standing instructions of a context: its guide, then `search.instructions` of its manifest."""
    manifest: Any = context.fields.get("manifest") or {}
    search = manifest.get("search") if isinstance(manifest, dict) else None
    texts = [context.fields.get("guide"), search.get("instructions") if isinstance(search, dict) else None]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _not_queryable(session: Session, workspace: str, context: ContextRow) -> QueryError:
    slug = context.slug
    running = _curate_of(session, workspace, context)
    if running is not None:
        return refusal(
            "context_not_queryable",
            f"The context {slug} cannot be asked yet: it is being curated (task {running}).",
            param="scope",
            hint=Hint("Wait until this task has ended ({task} shows it), then ask again.", id=running),
            passing=True,
        )
    files, _ = sources.totals(session, context.id)
    if files:
        message = f"The context {slug} cannot be asked yet: its sources have not been curated."
        hint = Hint("{curate} makes it answer.", slug=slug)
    else:
        message = f"The context {slug} cannot be asked yet: it has no sources."
        hint = Hint("{add} gives it some.", slug=slug)
    return refusal("context_not_queryable", message, param="scope", hint=hint)


def _curate_of(session: Session, workspace: str, context: ContextRow) -> str | None:
    """The curate of the context that is running; one whose worker is gone runs no more."""
    now = workers.now_ms()
    rows = tasks.open_rows(session, workspace, context.id)
    alive = (row for row in rows if row.workflow == CURATE and workers.is_alive(session, row.worker, now))
    return next((row.id for row in alive), None)


def _missing(reason: str, what: str, name: str, param: str, hint: str) -> QueryError:
    return refusal(reason, f"There is no {what} {name!r}.", param=param, hint=hint)
