"""Whether a turn composes an answer or gives what retrieval found (KnowQL reference 9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

BOTH, CHUNKS, ARTIFACTS = "both", "chunks", "artifacts"


class Mode(Struct, frozen=True):
    """`name` is the mode of a retrieval turn and None on a turn that composes; `pointers` leaves texts out."""

    name: str | None = None
    kind: str = BOTH
    pointers: bool = False

    @property
    def composes(self) -> bool:
        return self.name is None


def resolve(flags: Mapping[str, Any]) -> Mode:
    """The mode that the flags of a query document ask for; the first that is set wins.

    >>> resolve({"artifacts_only": True, "chunks_only": True, "compose": True})
    Mode(name='chunks_only', kind='chunks', pointers=False)
    >>> resolve({"compose": False, "pointers_only": True}).name
    'pointers_only'
    """
    pointers = flags.get("pointers_only") is True
    if flags.get("chunks_only"):
        return Mode("chunks_only", CHUNKS, pointers)
    if flags.get("artifacts_only"):
        return Mode("artifacts_only", ARTIFACTS, pointers)
    if pointers:
        return Mode("pointers_only", BOTH, True)
    if flags.get("retrieval_only") or flags.get("compose") is False:
        return Mode("retrieval_only", BOTH, False)
    return Mode()
