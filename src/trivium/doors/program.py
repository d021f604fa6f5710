"""The program `trivium`: hands over to the command line, but for the one question that agents ask all the time.

`trivium why TARGET`, with what its answer may be asked for, is answered here, without loading what reads command lines,
which takes longer than the answer. Whatever is not exactly that, and whatever goes wrong, is the command line's to do
and to tell, so there is one description of options and one of errors.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from trivium.doors.streams import open_missing, prepare


def main() -> NoReturn:
    """Run `trivium` and leave the process."""
    open_missing()
    question = plain_question(sys.argv[1:])
    text = None
    if question is not None:
        gc.disable()  # all that is made is needed until the end, which is near
        text = _answered(question)
    if text is None:
        gc.enable()
        from trivium.doors.cli import main as whole

        whole()
    prepare(sys.stdout)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    atexit.register(_leave)
    sys.exit(0)


def _leave() -> NoReturn:
    """End at once: to take every object apart would cost as much as to find the answer. The database is closed."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


class Question(NamedTuple):
    """What `trivium why` is asked, with the defaults of its command line."""

    target: str
    json: bool = False
    kind: str | None = None
    limit: int = 20
    budget_tokens: int | None = None


_NUMBERS = {"--limit": "limit", "--budget-tokens": "budget_tokens"}


def plain_question(arguments: list[str]) -> Question | None:
    """The question of a `why` with no other options than those of `Question`; None for anything else.

    >>> plain_question(["why", "src/app.py", "--limit=3"])
    Question(target='src/app.py', json=False, kind=None, limit=3, budget_tokens=None)
    >>> plain_question(["why", "src/app.py", "--no-cache"]), plain_question(["why", "x", "--limit", "three"])
    (None, None)
    """
    if arguments[:1] != ["why"]:
        return None
    targets: list[str] = []
    asked: dict[str, Any] = {}
    rest = iter(arguments[1:])
    for argument in rest:
        name, given, value = argument.partition("=")
        if argument == "--json":
            asked["json"] = True
        elif name == "--kind" or name in _NUMBERS:
            value = value if given else next(rest, "")
            if not value or (name in _NUMBERS and not (value.isascii() and value.isdigit())):
                return None
            asked[_NUMBERS.get(name, "kind")] = int(value) if name in _NUMBERS else value
        elif argument.startswith("-"):
            return None
        else:
            targets.append(argument)
    return Question(targets[0], **asked) if len(targets) == 1 and targets[0] else None


def _load_msgspec() -> None:
    """Load msgspec without `typing_extensions`, of which it takes what `typing` has as well, and which is slow."""
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def _answered(question: Question) -> str | None:
    """The text of the answer; None when the command line should take over."""
    terminal = sys.stdout.isatty()
    if (terminal and os.name == "nt") or any(os.environ.get(name) for name in ("TRIVIUM_CONTEXT", "TRIVIUM_DEBUG")):
        return None
    try:
        _load_msgspec()
        import trivium
        from trivium.doors import answering, repository
        from trivium.location import MEMORY, default_database, locate
        from trivium.why.names import text_of

        given = os.environ.get("TRIVIUM_DB")
        file = locate(given) if given else str(default_database())
        if file == MEMORY or not Path(file).exists():
            return None
        with trivium.open(file) as kb:
            context = repository.bound_context(kb, Path())
            with answering.asked_index(context, "trivium index", "local") as loaded:
                found = answering.answer(
                    loaded,
                    text_of(question.target),
                    kind=question.kind,
                    limit=question.limit,
                    budget_tokens=question.budget_tokens,
                    profile="local",
                )
                search, color = answering.search_words(context), terminal and not os.environ.get("NO_COLOR")
                return answering.answer_text(found, loaded, search, as_json=question.json, color=color)
    except Exception:
        return None
