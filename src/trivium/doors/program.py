"""The program `trivium`: hands over to the command line, but for the one question that agents ask all the time.

`trivium why TARGET [--json]` is answered here, without loading what reads command lines, which takes longer than the
answer. Whatever is not exactly that, and whatever goes wrong, is the command line's to do and to tell, so there is one
description of options and one of errors.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
from pathlib import Path
from typing import NoReturn

from trivium.doors.streams import prepare


def main() -> NoReturn:
    """Run `trivium` and leave the process."""
    question = plain_question(sys.argv[1:])
    text = None
    if question is not None:
        gc.disable()  # all that is made is needed until the end, which is near
        text = _answered(*question)
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


def plain_question(arguments: list[str]) -> tuple[str, bool] | None:
    """Target and whether JSON is wanted, of a `why` without other options; None for anything else.

    >>> plain_question(["why", "src/app.py", "--json"]), plain_question(["why", "x", "--limit", "3"])
    (('src/app.py', True), None)
    """
    if arguments[:1] != ["why"] or len(arguments) > 3:
        return None
    targets = [argument for argument in arguments[1:] if argument != "--json"]
    if len(targets) != 1 or targets[0].startswith("-"):
        return None
    return targets[0], "--json" in arguments


def _load_msgspec() -> None:
    """Load msgspec without `typing_extensions`, of which it takes what `typing` has as well, and which is slow."""
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def _answered(target: str, as_json: bool) -> str | None:
    """The text of the answer; None when the command line should take over."""
    terminal = sys.stdout.isatty()
    if (terminal and os.name == "nt") or any(os.environ.get(name) for name in ("TRIVIUM_CONTEXT", "TRIVIUM_DEBUG")):
        return None
    try:
        _load_msgspec()
        import trivium
        from trivium.doors import repository
        from trivium.location import MEMORY, default_database, locate
        from trivium.why.names import text_of

        given = os.environ.get("TRIVIUM_DB")
        file = locate(given) if given else str(default_database())
        if file == MEMORY or not Path(file).exists():
            return None
        with trivium.open(file) as kb:
            context = repository.bound_context(kb, Path())
            with repository.opened_index(context, "trivium index") as loaded:
                found = repository.answer(
                    loaded, text_of(target), kind=None, limit=20, budget_tokens=None, profile="local"
                )
                search, color = repository.search_words(context), terminal and not os.environ.get("NO_COLOR")
                return repository.answer_text(found, loaded, search, as_json=as_json, color=color)
    except Exception:
        return None
