"""Questions that the documents of a context can answer, made of their titles and headings without a model."""

from __future__ import annotations

from trivium.store import documents
from trivium.store.sqlite import Session

MOST = 5
LOOKED_AT = 20
_DULL = {"introduction", "overview", "contents", "summary", "conclusion", "appendix", "references", "abstract", "notes"}


def sample_queries(session: Session, ctx: int) -> list[str]:
    """A question for each of the longest documents that have headings: about one of these, the same every time."""
    found: list[str] = []
    for row in documents.longest(session, ctx, LOOKED_AT):
        titles = [item["title"] for item in row.outline.get("headings", [])]
        telling = [title for title in titles if title != row.title and title.lower().strip("0123456789. ") not in _DULL]
        if not telling or len(found) >= MOST:
            continue
        heading = telling[len(telling) // 3]
        found.append(heading if heading.endswith(("?", "？")) else f"What does {row.title} say about {heading}?")
    return found
