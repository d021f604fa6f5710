"""A request to `why`: its parts, and their bounds (Knowledge query v1, reference 7, step 1)."""

from __future__ import annotations

from typing import NamedTuple, get_args

from trivium.errors import TriviumError
from trivium.why.prepared import Profile
from trivium.why.response import MAX_BUDGET, MAX_RESULTS, MAX_TARGET

KINDS = ("decision", "concept", "change")
DEFAULT_LIMIT = 20


class WhyRequestError(TriviumError):
    """A request is malformed; `argument` names the part at fault and `problem` says what is wrong with it."""

    def __init__(self, argument: str, problem: str, hint: str) -> None:
        super().__init__(f"{argument} {problem}", hint)
        self.argument = argument
        self.problem = problem


class Request(NamedTuple):
    """A checked request; the target is trimmed."""

    target: str
    kind: str | None
    limit: int
    budget_tokens: int | None
    profile: Profile
    root: str | None
    folder: str = ""


def check_request(
    target: object, kind: object, limit: object, budget_tokens: object, profile: object, root: object
) -> Request:
    """The request with its bounds checked (step 1); raises `WhyRequestError` naming the argument."""
    if not isinstance(target, str):
        raise WhyRequestError("target", "must be a string", "Give a path, a symbol, a name or an entity id.")
    text = target.strip()
    if not text or len(text) > MAX_TARGET:
        raise WhyRequestError(
            "target", f"must have 1 to {MAX_TARGET} characters", "Give a path, a symbol, a name or an entity id."
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise WhyRequestError("target", "must be well-formed Unicode text", "Leave out lone surrogates.")
    if kind is not None and kind not in KINDS:
        raise WhyRequestError("kind", f"must be one of {', '.join(KINDS)}", "Leave it out to get all kinds.")
    if profile not in get_args(Profile):
        raise WhyRequestError("profile", "must be local or service", "Use local for your own working tree.")
    return Request(
        text,
        None if kind is None else str(kind),
        _whole_number("limit", limit, MAX_RESULTS),
        None if budget_tokens is None else _whole_number("budget_tokens", budget_tokens, MAX_BUDGET),
        "service" if profile == "service" else "local",
        None if root is None else str(root),
    )


def _whole_number(argument: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise WhyRequestError(
            argument,
            f"must be a whole number from 1 to {most:,}",
            f"For example {DEFAULT_LIMIT if most == MAX_RESULTS else 4_000}; or leave it out.",
        )
    return value
