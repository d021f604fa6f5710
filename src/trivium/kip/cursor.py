"""Cursors (§3.5): opaque tokens that name a statement and the place where its next page begins."""

from __future__ import annotations

import base64
import binascii
from itertools import pairwise
from typing import Any

from trivium.errors import KipError
from trivium.kip import bind, tree, values
from trivium.kip.bind import Parameters
from trivium.store.codec import decode, encode

_CHECK = 8


def encode_cursor(digest: str, order: tuple[str, ...], keys: tuple[Any, ...]) -> str:
    """An opaque token: the statement's digest, the default order in force, and the last row's key values."""
    check = short_hash(encode([digest, list(order), list(keys)]))[:_CHECK]
    return base64.urlsafe_b64encode(encode([digest + check, list(order), list(keys)]).encode()).decode().rstrip("=")


def resume(token: Any, at: int, digest: str) -> tuple[tuple[str, ...], list[Any]]:
    """The order and the key values that a token holds. KIP_1001 unless it belongs to the statement of that digest."""
    values.check_cursor(token, at)
    found = _decode(token)
    if found is None or found[0] != digest:
        raise wrong_cursor(at)
    return found[1], found[2]


def keys(cursor: tree.Value, parameters: Parameters, digest: str, *kinds: type) -> list[Any]:
    """The key values behind CURSOR, one of each of these kinds."""
    found = resume(bind.resolve(cursor, parameters), cursor.at, digest)[1]
    if len(found) != len(kinds) or not all(map(isinstance, found, kinds)):
        raise wrong_cursor(cursor.at)
    return found


def wrong_cursor(at: int) -> KipError:
    return KipError(
        "KIP_1001",
        "The cursor does not belong to this statement.",
        "Pass next_cursor of the previous page unchanged, with the same statement and parameters; "
        "leave CURSOR out for the first page.",
        at=at,
    )


def _decode(token: str) -> tuple[str, tuple[str, ...], list[Any]] | None:
    """The parts of a token, or None if it is not one of ours."""
    try:
        parts = decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        digest, order, found = parts
    except (ValueError, TypeError, RecursionError, binascii.Error):
        return None
    if not isinstance(digest, str) or not isinstance(order, list) or not isinstance(found, list):
        return None
    check = short_hash(encode([digest[:-_CHECK], order, found]))[:_CHECK]
    if not all(map(_is_key, found)) or digest[-_CHECK:] != check:
        return None
    return digest[:-_CHECK], tuple(str(name) for name in order), found


def _is_key(value: object) -> bool:
    """What an SQL engine can have given as a sort value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return -(2**63) <= value < 2**63
    return value is None or isinstance(value, (str, float))


# --- what a cursor is bound to --------------------------------------------------------------------


def statement_digest(tokens: list[str]) -> str:
    """One text for a statement, whatever its LIMIT and CURSOR."""
    kept: list[str] = []
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif token in ("LIMIT", "CURSOR"):
            skip = True
        else:
            kept.append(token)
    return short_hash("\n".join(kept))


def tail_params(tokens: list[str]) -> set[str]:
    """The placeholders behind LIMIT and CURSOR."""
    return {
        following[1:] for token, following in pairwise(tokens) if token in ("LIMIT", "CURSOR") and following[0] == ":"
    }


def short_hash(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode(), digest_size=9).hexdigest()
