"""Words that say yes or no by themselves, as cells of tables and choices of shapes do."""

from __future__ import annotations

from trivium.search.segment import fold

YES = frozenset(fold("yes true y ✓ ✔ ☑ x ja wahr si sí vrai oui vero sim да 是 有 可 支持 はい 예").split())
NO = frozenset(
    fold("no false n ✗ ✘ – - none nein falsch non faux falso não nao нет 否 无 不 不可 不支持 いいえ 아니요").split()
)


def said_in(text: str) -> bool | None:
    """What the text of a cell says: yes, no, or neither.

    >>> said_in("Yes, at extra cost"), said_in("no"), said_in("on request")
    (True, False, None)
    """
    said = fold(text).strip(" .!")
    first = said.split(" ", 1)[0].strip(",.;:")
    if said in YES or first in YES:
        return True
    return False if said in NO or first in NO else None
