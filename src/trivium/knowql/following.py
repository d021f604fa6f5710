"""Retrieval for a turn that follows others: what it leaves unsaid may stand in the asks before it (reference 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from trivium.answers.follow_up import asked
from trivium.knowql.parts import Retrieve
from trivium.language.compounds import wordings
from trivium.search.passage import ARTIFACT, Evidence, Passage
from trivium.search.retrieval import ScopedContext

EARLIER = 0.5
"""What a hit of an earlier ask counts beside a hit of this one."""


def retrieve_following(
    retrieve: Retrieve, scope: Sequence[ScopedContext], ask: str, earlier: Sequence[str], *, kind: str, limit: int
) -> Evidence:
    """The best passages for an ask, with those for the asks before it at half their score; each counts at its best.

    What is written in one word, with a hyphen or in two is searched for in the other spellings, too.
    """
    meant = asked(ask, earlier).text
    also = [meant] if meant != ask else []
    found = retrieve(scope, ask, kind=kind, limit=limit, variants=[*also, *wordings(ask)])
    others = [
        retrieve(scope, other, kind=kind, limit=limit, variants=wordings(other))
        for other in dict.fromkeys(earlier)
        if other != ask
    ]
    if not others:
        return found
    best: dict[tuple[int, str, str], Passage] = {}
    for weight, passages in [(1.0, found.passages), *((EARLIER, other.passages) for other in others)]:
        for passage in passages:
            key = (passage.ctx, passage.kind, passage.id)
            score = round(passage.score * weight, 6)
            if key not in best or best[key].score < score:
                best[key] = structs.replace(passage, score=score)
    passages = sorted(best.values(), key=lambda passage: (-passage.score, passage.id, passage.context))[:limit]
    return structs.replace(
        found,
        passages=passages,
        query_variants=list(dict.fromkeys(v for one in (found, *others) for v in one.query_variants)),
        matched_artifacts=[passage.name for passage in passages if passage.kind == ARTIFACT],
        entry_level=None if not passages else "artifacts" if passages[0].kind == ARTIFACT else "chunks",
        total_hits=found.total_hits + sum(other.total_hits for other in others),
    )
