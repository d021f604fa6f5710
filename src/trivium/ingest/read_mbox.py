"""A mailbox (`.mbox`) to text: its messages, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec.structs import replace

from trivium.counting import counted
from trivium.ingest.parsed import Block, Heading, Parsed, Unreadable
from trivium.ingest.read_mail import read_mail

MAX_MESSAGES = 20_000
_FROM = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d\d:\d\d[^\r\n]*\r?\n")
"""The line before each message: the sender, and when it came."""
_QUOTED = re.compile(rb"(?m)^>(>*From )")
_PARTING = "\n"


def read_mbox(data: bytes) -> Parsed:
    """The messages of a mailbox as e-mail is read, a heading each. Raises: Unreadable for what holds none."""
    texts: list[str] = []
    blocks: list[Block] = []
    headings: list[Heading] = []
    notes: list[str] = []
    dates: list[str] = []
    at, line, unread, left = 0, 1, 0, 0
    for number, raw in enumerate(_messages(data)):
        if number >= MAX_MESSAGES:
            left += 1
            continue
        try:
            one = read_mail(_QUOTED.sub(rb"\1", raw))
        except Unreadable:
            unread += 1
            continue
        blocks += [replace(block, start=block.start + at, stop=block.stop + at) for block in one.blocks]
        headings += [Heading(1, each.title, line, at) for each in one.headings]
        notes += one.notes
        dates += [one.dated] if one.dated else []
        texts.append(one.text + _PARTING)
        at += len(texts[-1])
        line += texts[-1].count("\n")
    if not texts:
        raise Unreadable("this mailbox holds no message that could be read")
    if unread:
        notes.append(f"{counted(unread, 'message')} could not be read")
    if left:
        notes.append(f"only the first {MAX_MESSAGES:,} messages were read, {left:,} were left out")
    return Parsed("".join(texts), blocks, "", max(dates, default=None), headings, notes=list(dict.fromkeys(notes)))


def _messages(data: bytes) -> Iterator[bytes]:
    starts = [match.span() for match in _FROM.finditer(data)]
    starts.append((len(data), len(data)))
    for (_, start), (stop, _) in pairwise(starts):
        yield data[start:stop]
