"""Reading request bodies: bounded in size and time, JSON only where JSON is asked for (KnowQL reference 6, 10.1)."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

from anyio import to_thread
from fastapi import Request

from trivium.doors.json_numbers import whole_number
from trivium.knowql.document import depth
from trivium.knowql.errors import QueryError

JSON_LIMIT = 1 << 20
"""Bytes of a JSON body; more is 413 (KnowQL reference 6)."""
BODY_SECONDS = 60.0
"""How long a client may take to send a JSON body."""
_DEEPEST = 200
_SMALL = 64 << 10
"""Bytes up to which a body is parsed at once; larger ones are in a thread, so that others are served meanwhile."""


async def json_object(request: Request, limit: int = JSON_LIMIT) -> dict[str, Any]:
    """The body, of at most `limit` bytes, as a JSON object. Raises: QueryError 400, 408, 413, 415."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise QueryError(
            415,
            "unsupported_media_type",
            None,
            f"The body must be JSON, not {kind!r}." if kind else "The body must be JSON; its type is not given.",
            hint="Send the header Content-Type: application/json.",
        )
    body = await whole(request, limit)
    return parse_object(body) if len(body) < _SMALL else await to_thread.run_sync(parse_object, body)


async def optional_object(request: Request) -> dict[str, Any]:
    """As `json_object`, but an absent body is an empty object."""
    if request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers:
        return {}
    return await json_object(request)


async def whole(request: Request, limit: int) -> bytes:
    """The bytes of the body. Raises: QueryError 408, 413."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise too_large(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise too_large(limit)
                parts.append(part)
    except TimeoutError:
        raise too_slow(BODY_SECONDS) from None
    return b"".join(parts)


def too_slow(seconds: float) -> QueryError:
    return QueryError(
        408,
        "request_timeout",
        None,
        f"The body did not arrive within {seconds:g} s.",
        hint="Send the whole body, with its true Content-Length.",
    )


def parse_object(body: bytes) -> dict[str, Any]:
    """Strict JSON: UTF-8, no NaN, no duplicate keys, bounded nesting. Raises: QueryError 400 `invalid_json`."""
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(
            text,
            parse_int=whole_number,
            parse_float=_finite,
            parse_constant=_no_constant,
            object_pairs_hook=_unique,
        )
    except RecursionError:
        raise _invalid("it is nested too deeply") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise _invalid(str(error)) from None
    if not isinstance(value, dict):
        raise _invalid("its root is no object")
    if depth(value) > _DEEPEST:
        raise _invalid("it is nested too deeply")
    if "\\ud" in text or "\\uD" in text:
        _refuse_lone_surrogates(value)
    return value


def _refuse_lone_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _invalid("half of a surrogate pair is no character") from None


def too_large(limit: int) -> QueryError:
    size = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit} bytes"
    return QueryError(413, "payload_too_large", "body", f"The body is larger than {size}.", hint="Send less at once.")


def _invalid(why: str) -> QueryError:
    return QueryError(
        400, "bad_request", "invalid_json", f"The body is no JSON object: {why}.", hint="Send one JSON object."
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is beyond the numbers of JSON that can be kept")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:80]!r} stands twice")
    return found
