"""The comments of a command text and the items of layout they belong to."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from trivium.kip.faults import END
from trivium.kip.lexer import scan

_COMMENT = re.compile(r"//[^\r\n]*")


class Comment(NamedTuple):
    """One comment; `token` is the token it stands at: the next one, or the one before it on its line."""

    text: str
    token: int


def comments_of(text: str) -> list[Comment]:
    """All comments of a text in order.

    >>> comments_of("// all\\nDESCRIBE PRIMER // now")
    [Comment(text='// all', token=0), Comment(text='// now', token=1)]
    """
    found: list[Comment] = []
    end = index = 0
    for index, (start, token) in enumerate(scan(text)):
        found += _between(text, end, start, index)
        end = start + len(token.removeprefix(END))
    return found + _between(text, end, len(text), index + 1)


def _between(text: str, begin: int, end: int, index: int) -> list[Comment]:
    """The comments of the gap before token `index`."""
    comments = []
    for match in _COMMENT.finditer(text, begin, end):
        own_line = begin == 0 or re.search(r"[\r\n]", text[begin : match.start()])
        comments.append(Comment(match[0].rstrip(), index if own_line else index - 1))
    return comments


def place_comments(comments: list[Comment], starts: list[int], end: int) -> tuple[dict[int, list[str]], list[str]]:
    """Give each comment to the item it stands before or inside of.

    `starts` are the first tokens of the items, ascending; `end` is the number of tokens. Returns the comments by
    item number, and those behind the last token.
    """
    placed: dict[int, list[str]] = {}
    rest: list[str] = []
    for comment in comments:
        if comment.token >= end:
            rest.append(comment.text)
        else:
            placed.setdefault(max(0, bisect_right(starts, comment.token) - 1), []).append(comment.text)
    return placed, rest
