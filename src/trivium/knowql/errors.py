"""Refused requests: the error envelope of KnowQL reference 10.4, and the one table of its reasons."""

from __future__ import annotations

from typing import Any

from trivium.errors import TriviumError, bounded, printable
from trivium.knowql.hints import PYTHON, worded

_CODES = {
    400: "bad_request",
    404: "not_found",
    409: "conflict",
    413: "payload_too_large",
    429: "rate_limited",
    503: "unavailable",
}

REASONS: dict[str, int] = {
    "invalid_json": 400,
    "ask_required": 400,
    "scope_required": 400,
    "scope_size": 400,
    "invalid_value": 400,
    "invalid_shape": 400,
    "unsupported_field": 400,
    "stream_background_conflict": 400,
    "session_mismatch": 400,
    "mixed_context_kinds": 400,
    "unknown_model": 400,
    "unknown_tool": 400,
    "unknown_workflow": 400,
    "pinned_field": 400,
    "context_not_found": 404,
    "session_not_found": 404,
    "query_not_found": 404,
    "trace_not_found": 404,
    "context_not_queryable": 409,
    "query_in_progress": 409,
    "scope_unavailable": 409,
    "idempotency_conflict": 409,
    "workers_busy": 429,
    "storage": 503,
}
"""Reasons that turns refuse with, and the HTTP status of each."""


class QueryError(TriviumError):
    """A request was refused; nothing was created or changed.

    `status` is the HTTP status, `code` its stable name, `reason` the finer one, `param` the field that it is about;
    `passing` says that the same request may be taken in a while.
    """

    def __init__(
        self,
        status: int,
        code: str,
        reason: str | None,
        message: str,
        *,
        param: str | None = None,
        hint: str | None = None,
        passing: bool = False,
    ) -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code
        self.reason = reason
        self.param = param
        self.passing = passing or status in (429, 503)

    def to_dict(self, door: int = PYTHON) -> dict[str, Any]:
        """The envelope: `{"error": {code, message, reason, param, hint}}`, its hint in the words of a door."""
        hint = worded(self.hint, door)
        return {
            "error": {
                "code": self.code,
                "message": bounded(printable(self.message)),
                "reason": self.reason,
                "param": None if self.param is None else printable(self.param)[:200],
                "hint": None if hint is None else bounded(printable(hint)),
            }
        }


def refusal(
    reason: str, message: str, *, param: str | None = None, hint: str | None = None, passing: bool = False
) -> QueryError:
    """The error of a reason in the table, with the status and code that belong to it."""
    status = REASONS[reason]
    return QueryError(status, _CODES[status], reason, message, param=param, hint=hint, passing=passing)
