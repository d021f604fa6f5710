"""Lists with boxes: what is still to do, and what is done already."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from trivium.language.matching import alike
from trivium.language.statements import Statement
from trivium.search.segment import fold, tokens

_OPEN = re.compile(
    r"\b(?:still|yet|left|remain\w*|outstanding|pending|unfinished|noch|ubrig|fehlt|fehlen|encore|reste|rester"
    r"|todavia|aun"
    r"|queda\w*|falta\w*|ancora|resta\w*|manca\w*|ainda|nog|еще|осталось)\b|还要|还有|还没|还需|まだ|残って|아직|남은"
)
_DONE = re.compile(
    r"\b(?:already|done|finished|completed?|ticked|checked off|schon|bereits|erledigt|abgehakt|fertig|deja|fait\w*"
    r"|termine\w*"
    r"|hech[oa]s?|completad\w*|fatt[oi]|feit[oa]s?|gedaan|al|уже|сделан\w*)\b|已经|已完成|完成した|もう|済み|이미|완료"
)
_SILENT = frozenset(
    fold(
        "still already do done doing finished completed have to open list item items task tasks todo todos left remains"
        " remaining noch schon tun machen erledigt erledigen offen liste aufgaben encore déjà faire fait tâches"
        " todavía hacer"
        " hecho pendiente tareas ancora fare fatto ainda fazer feito nog doen gedaan 还 做 完成"
    ).split()
)


def boxes(statements: Sequence[Statement], ask: str, words: Collection[str]) -> list[Statement]:
    """The items whose boxes say what is asked for, of the list that the question's other words are about; else none."""
    folded = fold(ask)
    wanted = False if _OPEN.search(folded) else True if _DONE.search(folded) else None
    if wanted is None:
        return []
    rest = [word for word in words if word not in _SILENT]
    for first in statements:
        if first.done is None:
            continue
        around = tokens(first.context)
        if all(any(alike(word, other) for other in around) for word in rest):
            inside = [one for one in statements if one.passage is first.passage and one.done is not None]
            return [one for one in inside if one.done is wanted]
    return []
