"""The vectors that are missing: made here and now, and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trivium.base.core import Core


def embed(
    core: Core, ctx: int | None, limit: int | None, progress: Callable[[int], None] | None, *, renew: bool = False
) -> dict[str, Any]:
    """Make the vectors that a context lacks, or all contexts. Gives `{"model", "embedded", "confirmed", "backlog"}`.

    `renew` first deletes those that another model has made under the same name.
    """
    meaning = core.meaning
    report = meaning.embed_pending(limit, contexts=None if ctx is None else [ctx], progress=progress, renew=renew)
    done = {"model": meaning.embedder().info().model, "embedded": report.embedded, "confirmed": report.confirmed}
    return {**done, "backlog": backlog(core, ctx)}


def prune(core: Core) -> int:
    """Delete the vectors of all models but the present one; gives how many."""
    from trivium.store import vectors

    model = core.meaning.embedder().info().model
    with core.store.write() as session:
        return vectors.remove_other_models(session, model)


def backlog(core: Core, ctx: int | None) -> int:
    """How many vectors of the present embedder are missing in a context, or in all; 0 when there is none."""
    from trivium.store import contexts, vectors

    model = core.meaning.model
    if model is None:
        return 0
    with core.store.read(timeout=600) as session:
        chosen = contexts.all_ids(session) if ctx is None else [ctx]
        return sum(vectors.backlog(session, vectors.Set(one, kind, model)) for one in chosen for kind in vectors.KINDS)
