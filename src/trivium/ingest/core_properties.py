"""What the core properties of an Office file tell of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from trivium.ingest.dates import as_moment
from trivium.ingest.parsed import Parsed, one_line


def with_properties(parsed: Parsed, properties: Any) -> Parsed:
    """The same, with title and date of a file's core properties."""
    title = getattr(properties, "title", None)
    parsed.title = one_line(title) if isinstance(title, str) and title.strip() else parsed.title
    for name in ("modified", "created"):
        moment = getattr(properties, name, None)
        if isinstance(moment, datetime):
            parsed.dated = as_moment(moment)
            break
    return parsed
