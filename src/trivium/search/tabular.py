"""Passages that are rows of a table: an encoder of sentences hardly reads them."""

from __future__ import annotations

import re
from collections import Counter

_BOUND = re.compile(r"[,;](?=\S)|[\t|]")
_SHARE = 2 / 3


def is_table(text: str) -> bool:
    """Whether most lines have the same number of cells, and more than one.

    >>> is_table("name,since\\nTove,2009\\nHenrik,2016"), is_table("Tove, who came in 2009,\\nand Henrik, her brother.")
    (True, False)
    """
    bounds = [len(_BOUND.findall(line)) for line in text.splitlines() if line.strip()]
    if len(bounds) < 2:
        return False
    number, lines = Counter(bounds).most_common(1)[0]
    return number > 0 and lines >= _SHARE * len(bounds)
