"""JSON answers: compact UTF-8 that can always be sent."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse


def to_line(value: Any) -> str:
    """JSON on one line that is well-formed Unicode: half of a surrogate pair is written as its escape.

    >>> to_line({"text": "Grüße", "torn": chr(0xD800)})
    '{"text":"Grüße","torn":"\\\\ud800"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


class Answer(JSONResponse):
    """A JSON response."""

    def render(self, content: Any) -> bytes:
        return to_line(content).encode()
