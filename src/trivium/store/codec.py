"""JSON text to values and back, on msgspec. Texts keep key order and the kind of every number."""

from __future__ import annotations

from typing import Any

import msgspec

decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def encode(value: Any) -> str:
    """Compact JSON text."""
    return _encode(value).decode()


_sorted = msgspec.json.Encoder(order="sorted").encode


def canonical(value: Any) -> str:
    """Compact JSON text with sorted keys: equal values of equal spelling give equal texts."""
    return _sorted(value).decode()
