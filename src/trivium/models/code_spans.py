"""Where a Markdown text holds code: there `[1]` is part of what is shown, never a marker of a citation."""

from __future__ import annotations

import re

_RUN = re.compile(r"`+")
_FENCE = re.compile(r"[ ]{0,3}(```+)[^`\n]*$")
_LOOKS_LIKE_MARK = re.compile(r"\[\d{1,3}\]")


def code_spans(text: str) -> list[tuple[int, int]]:
    """The fenced blocks, and on the lines outside of them what stands between two equally long runs of backticks.

    A block ends at the next line that begins with as many backticks; without one it is none.

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
            inside = lines[end].index(fence[1]) + len(fence[1])
            found.append((starts[at], starts[end] + inside))
            at = end
        else:
            found += ((starts[at] + start, starts[at] + stop) for start, stop in _on_line(lines[at]))
        at += 1
    return found


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
    return next((n for n in range(at + 1, len(lines)) if lines[n].lstrip(" ").startswith(fence)), None)


def _on_line(line: str) -> list[tuple[int, int]]:
    runs = list(_RUN.finditer(line))
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
