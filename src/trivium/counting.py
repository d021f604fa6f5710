"""Numbers of things as people write them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "source"), counted(2, "source")
    ('1 source', '2 sources')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
