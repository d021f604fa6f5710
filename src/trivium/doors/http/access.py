"""The one place where a request gets its workspace and rights.

Today every request that reaches the server acts in the default workspace with all rights; keys and tenants change this
file and no other: handlers see a `Rights` and never the headers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request
from msgspec import Struct

if TYPE_CHECKING:
    from trivium import KnowledgeBase
    from trivium.knowql.service import Turns


class Rights(Struct, frozen=True):
    """What a request may act on: a knowledge base, and its turns as this caller sees them."""

    kb: KnowledgeBase
    turns: Turns


def rights(request: Request) -> Rights:
    """The rights of a request; a FastAPI dependency."""
    return cast("Rights", request.app.state.rights)


Own = Annotated[Rights, Depends(rights)]
"""The annotation by which a handler asks for its rights."""
