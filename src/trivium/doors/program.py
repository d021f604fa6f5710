"""The program `trivium`: hands over to the command line, but for the one question that agents ask all the time.

`trivium why TARGET [--json]` into a pipe is answered here, without loading what reads command lines and prints to
terminals, which takes longer than the answer. Whatever is not exactly that, and whatever goes wrong, is the command
line's to do and to tell, so there is one description of options and one of errors.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Run `trivium` and leave the process."""
    question = plain_question(sys.argv[1:])
    text = None if question is None else _answered(*question)
    if text is None:
        from trivium.doors.cli import main as whole

        whole()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(0)


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


def _answered(target: str, as_json: bool) -> str | None:
    """The text of the answer; None when the command line should take over."""
    if sys.stdout.isatty() or any(os.environ.get(name) for name in ("TRIVIUM_CONTEXT", "TRIVIUM_DEBUG")):
        return None
    try:
        import trivium
        from trivium.doors import repository
        from trivium.location import MEMORY, default_database, locate

        given = os.environ.get("TRIVIUM_DB")
        file = locate(given) if given else str(default_database())
        if file == MEMORY or not Path(file).exists():
            return None
        with trivium.open(file) as kb:
            context = repository.bound_context(kb, Path())
            loaded = repository.fresh_index(context, "trivium index")
            search = repository.search_words(context)
        found = repository.answer(loaded, target, kind=None, limit=20, budget_tokens=None, profile="local")
        return repository.answer_text(found, loaded, search, as_json=as_json)
    except Exception:
        return None
