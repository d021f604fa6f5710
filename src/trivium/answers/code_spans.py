"""Where a Markdown text holds code: there `[1]` is part of what is shown, never a marker of a citation."""

from __future__ import annotations

import re

_RUN = re.compile(r"`+")
_FENCE = re.compile(r"[ \t>]*(```+)[^`\n]*$")
_BEFORE_FENCE = " \t>"
_LOOKS_LIKE_MARK = re.compile(r"\[\d{1,3}\]")


def code_spans(text: str) -> list[tuple[int, int]]:
    """The fenced blocks, and on the lines outside of them what stands between two equally long runs of backticks.

    A block ends at the next line that begins with as many backticks; without one it is none. Both lines may be
    indented, or stand in a quotation.

    >>> text = "see `row[0]` [1]"
    >>> [text[start:stop] for start, stop in code_spans(text)]
    ['`row[0]`']
    """
    if "`" not in text:
        return []
    found: list[tuple[int, int]] = []
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        end = _closing(lines, at, fence[1]) if fence else None
        if end is not None and fence:
            behind = lines[end].index(fence[1]) + len(fence[1])
            found.append((starts[at], starts[end] + behind))
            at = end
        else:
            behind = 0
        found += ((starts[at] + start, starts[at] + stop) for start, stop in _on_line(lines[at], behind))
        at += 1
    return found


def open_code(text: str) -> int:
    """Where code begins in a text that goes on, of which only what follows can tell where it ends; else its length.

    That is a fence without its closing line, or a run of backticks on the last line without its like.

    >>> open_code("so `a` and `b"), open_code("so `a`"), open_code("so `a` b")
    (11, 3, 8)
    """
    body = text.rstrip("`")  # a run at the very end may be longer yet
    spans = code_spans(body)
    last = body.rfind("\n") + 1
    start = 0
    for line in body.split("\n"):
        if _FENCE.match(line) and not any(first <= start < stop for first, stop in spans):
            return start
        start += len(line) + 1
    runs = (run.start() for run in _RUN.finditer(body, last))
    return next((run for run in runs if not any(first <= run < stop for first, stop in spans)), len(body))


def closed(text: str) -> str:
    """A text whose last block of code is ended where nothing ended it.

    >>> closed("as in\\n```py\\nrow[0]")
    'as in\\n```py\\nrow[0]\\n```'
    """
    start = open_code(f"{text}\n")
    fence = _FENCE.match(text[start:].partition("\n")[0])
    return f"{text.rstrip()}\n{fence[1]}" if fence else text


def without_stray_ticks(text: str, before: str = "") -> str:
    """A text in which backticks that begin or end no code are apostrophes, so that they never meet what follows.

    `before` is the line up to the text.

    >>> without_stray_ticks("`a` and `b")
    "`a` and 'b"
    """
    spans = code_spans(before + text)

    def kept(run: re.Match[str]) -> str:
        at = len(before) + run.start()
        return run[0] if any(start <= at < stop for start, stop in spans) else "'" * len(run[0])

    return _RUN.sub(kept, text)


def fenced(text: str) -> str:
    """A text as a fenced block that nothing in it can end."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def spanned(text: str) -> str:
    """A text of one line as a span of code that nothing in it can end."""
    ticks = "`" * (_longest(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def may_mark(text: str) -> bool:
    """Whether something in a text looks like a marker."""
    return bool(_LOOKS_LIKE_MARK.search(text))


def _closing(lines: list[str], at: int, fence: str) -> int | None:
    return next((n for n in range(at + 1, len(lines)) if lines[n].lstrip(_BEFORE_FENCE).startswith(fence)), None)


def _on_line(line: str, behind: int) -> list[tuple[int, int]]:
    runs = list(_RUN.finditer(line, behind))
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(runs):
        length = len(runs[at][0])
        end = next((n for n in range(at + 1, len(runs)) if len(runs[n][0]) == length), None)
        if end is not None:
            found.append((runs[at].start(), runs[end].end()))
            at = end
        at += 1
    return found


def _longest(text: str) -> int:
    return max((len(run[0]) for run in _RUN.finditer(text)), default=0)
