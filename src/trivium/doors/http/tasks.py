"""Tasks: imports, curates, packs and restores that run in the background (KnowQL reference 11.2)."""

from __future__ import annotations

import re

from fastapi import APIRouter
from fastapi.responses import Response

from trivium.doors.http import schemas
from trivium.doors.http.access import Own
from trivium.doors.http.answers import Answer
from trivium.doors.http.faults import invalid, missing
from trivium.doors.http.limits import whole_number
from trivium.doors.http.packs import shown
from trivium.ingest.tasks import WORKFLOWS
from trivium.knowql.list_cursor import from_cursor, to_cursor
from trivium.store.tasks import STATES

LISTED, MOST_LISTED = 30, 1_000
_ID = re.compile(r"tsk_[0-9a-z]{26}")


def router() -> APIRouter:
    """The routes of tasks."""
    routes = APIRouter(tags=["tasks"])

    @routes.get("/tasks", **schemas.route("Tasks, newest first", gives="TaskList", fails=(400, 404)))
    def tasks(
        own: Own,
        limit: schemas.TaskLimit = None,
        cursor: schemas.CursorParameter = None,
        workflow: schemas.WorkflowParameter = None,
        state: schemas.StateParameter = None,
        context: schemas.ContextParameter = None,
        q: schemas.TextParameter = None,
    ) -> Response:
        most = whole_number("limit", limit, LISTED, MOST_LISTED)
        before = from_cursor(cursor, _ID)
        _check("workflow", workflow, WORKFLOWS)
        _check("state", state, STATES)
        place = None if context is None else own.kb.context(context)
        found = own.kb.tasks.list(
            limit=most + 1, before=before or None, workflow=workflow, state=state, context=place, text=q
        )
        further = found[most - 1]["id"] if len(found) > most else None
        return Answer({"tasks": [shown(task) for task in found[:most]], "next_cursor": to_cursor(further)})

    @routes.get("/tasks/{id}", **schemas.route("A task", gives="Task", fails=(404,)))
    def get(id: str, own: Own) -> Response:
        with missing("task_not_found", "id"):
            return Answer(shown(own.kb.tasks.get(id)))

    @routes.delete("/tasks/{id}", **schemas.route("Cancel a task", gives="Task", fails=(404,)))
    def cancel(id: str, own: Own) -> Response:
        with missing("task_not_found", "id"):
            return Answer(shown(own.kb.tasks.cancel(id)))

    return routes


def _check(name: str, value: str | None, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise invalid(name, f"There is no {name} {value[:80]!r}.", f"There are {', '.join(known)}.")
