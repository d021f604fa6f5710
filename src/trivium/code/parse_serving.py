"""What the process of `parse_worker` does; apart, so that it loads little."""

from __future__ import annotations

import contextlib
import gc

import msgspec

from trivium.code.grammars import NoGrammar
from trivium.processes import receive, send, serving, time_limit

MISSING = b"missing"
"""The answer where there is no grammar."""
SECONDS_FOR_MB = 30.0
"""The time of the processor that each megabyte of a text may take beyond that of any text."""
MEMORY = 2 << 30
"""What the process may take, where the system can tell; the densest of the longest texts takes a third of it."""

Text = tuple[str, str, bytes]
"""A file's path, its language and its content as UTF-8."""


def serve(seconds: float) -> None:
    """Answer requests from standard input until it ends; a text that takes longer, or too much, ends the process."""
    from trivium.code.symbols_tree import analyse_tree

    incoming, outgoing = serving()
    gc.enable()
    gc.set_threshold(100_000)
    limit = time_limit()
    _bound_memory()
    encode = msgspec.msgpack.Encoder().encode
    while (request := receive(incoming)) is not None:
        for path, language, text in msgspec.msgpack.decode(request, type=list[Text]):
            limit(seconds + SECONDS_FOR_MB * len(text) / 1e6)
            try:
                answer = encode(analyse_tree(path, language, text))
            except NoGrammar:
                answer = MISSING
            limit(0)
            send(outgoing, answer)


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
