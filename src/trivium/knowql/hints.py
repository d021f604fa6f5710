"""Hints that each door says in its own words: the command line names commands, HTTP routes, Python calls.

>>> found = Hint("{curate} makes it answer.", slug="notes")
>>> print(found, worded(found, CLI), worded(found, HTTP), sep="\\n")
`kb.context('notes').curate()` makes it answer.
`trivium curate --context notes` makes it answer.
`POST /api/v0/contexts/notes/curate` makes it answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

PYTHON, CLI, HTTP, MCP = range(4)
"""The doors. A hint as a text is in the words of the first, since the library is what raises it."""

_ACTIONS: dict[str, tuple[str, ...]] = {
    "sessions": ("`kb.turns.sessions()`", "`trivium sessions list`", "`GET /api/v0/sessions`"),
    "models": ("`kb.turns.models()`", "`trivium models`", "`GET /api/v0/models`"),
    "contexts": ("`kb.contexts()`", "`trivium contexts`", "`GET /api/v0/contexts`", "`list_contexts`"),
    "create": ("`kb.create_context('SLUG')`", "`trivium context create SLUG`", "`POST /api/v0/contexts`"),
    "curate": (
        "`kb.context('SLUG').curate()`",
        "`trivium curate --context SLUG`",
        "`POST /api/v0/contexts/SLUG/curate`",
    ),
    "add": (
        "`kb.context('SLUG').add(PATH)` and then `.curate()`",
        "`trivium add PATH --context SLUG`",
        "`POST /api/v0/contexts/SLUG/import/upload` and then `…/curate`",
    ),
    "task": ("`kb.tasks.get('ID')`", "`trivium contexts`", "`GET /api/v0/tasks/ID`", "`list_contexts`"),
    "query": ("`kb.turns.wait('ID')`", "`trivium sessions list`", "`GET /api/v0/queries/ID`", "`get_query`"),
    "events": ("`kb.turns.events(query_id)`", "`trivium ask`", "`GET /api/v0/queries/{id}/events`", "`get_query`"),
    "ask": (
        'Ask with a text, as in `kb.ask("What is …?")`.',
        'Ask with words: trivium ask "What is …?"',
        'Send the question as a text: {"ask": "…"}.',
        'Send the question as a text: {"ask": "…"}.',
    ),
    "scope": (
        'Name 1 to 10 contexts, as in `scope=["contracts"]`, or continue a session with `session_id`.',
        "Name 1 to 10 contexts with --scope, or continue a session with --continue or --session.",
        'Name 1 to 10 contexts, as in {"scope": ["contracts"]}, or continue a session with session_id.',
        'Name 1 to 10 contexts, as in {"scope": ["contracts"]}, or continue a session with session_id.',
    ),
}
"""What can be done, in the words of each door. MCP has few tools; for the rest it names the command."""
_PLACE = re.compile(r"\{([a-z]+)\}")


class Hint(str):
    """A hint; `{action}` in its text is said by each door, with `slug` or `id` put in."""

    _text: str
    _given: dict[str, str]

    def __new__(cls, text: str, **given: str) -> Hint:
        """The hint, as a text in the words of Python."""
        made = super().__new__(cls, _filled(text, given, PYTHON))
        made._text, made._given = text, given
        return made

    def at(self, door: int) -> str:
        """The hint in the words of a door."""
        return _filled(self._text, self._given, door)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._text, self._given)


def _again(text: str, given: dict[str, str]) -> Hint:
    return Hint(text, **given)


def _filled(text: str, given: dict[str, str], door: int) -> str:
    def action(match: re.Match[str]) -> str:
        words = _ACTIONS.get(match[1])
        if words is None:
            return match[0]
        said = words[door] if door < len(words) else words[CLI]
        return re.sub("SLUG|ID", lambda name: given.get(name[0].lower(), name[0]), said)

    return _PLACE.sub(action, text)


def worded(hint: str | None, door: int) -> str | None:
    """Any hint in the words of a door; one that is a plain text stays as it is."""
    return hint.at(door) if isinstance(hint, Hint) else hint


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'? ` for the known name that is near to this one; nothing when none is.

    >>> did_you_mean("nots", ["default", "notes"])
    "Did you mean 'notes'? "
    """
    import difflib

    close = difflib.get_close_matches(name[:100], list(known), 1)
    return f"Did you mean {close[0]!r}? " if close else ""
