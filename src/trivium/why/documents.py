"""What one document says: its title, what it covers, what it cites, and the entities it states (reference 2.3, 4)."""

from __future__ import annotations

from trivium.why.changelog import read_changes
from trivium.why.concepts import read_concepts
from trivium.why.decisions import read_decisions
from trivium.why.front_matter import Value, texts_of
from trivium.why.markdown import parse_markdown
from trivium.why.model import MAX_DOCUMENT_BYTES, MAX_NAME, Document, sha256
from trivium.why.places import DocumentRules, is_document, place_of
from trivium.why.plain_documents import parse_plain
from trivium.why.source import DocumentSource

__all__ = ["DocumentRules", "is_document", "read_document"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COVERING = ("trivium", "docbridge")


def read_document(path: str, data: bytes, rules: DocumentRules | None = None) -> Document:
    """Reads one document; depends on its path, its bytes and the rules only.

    `entities` are as stated: citations and supersessions are resolved later (`linking`). A document of more than 4 MiB
    is not read and says `document-limit` (4.5). `content_hash` is taken without a byte-order mark (2.2).

    >>> read_document("docs/adr/0001-a.md", b"# Use A\\n\\nStatus: accepted\\n").entities[0].status
    'accepted'
    """
    rules = rules or DocumentRules()
    document = Document(path, sha256(data.removeprefix(BYTE_ORDER_MARK)))
    if len(data) > MAX_DOCUMENT_BYTES:
        document.reasons = ["document-limit"]
        return document
    place = place_of(path, rules)
    if not place.is_markdown and not is_document(path, rules):
        return document
    parsed = (
        parse_markdown(data, rules.markers) if place.is_markdown else parse_plain(place.suffix, data, rules.markers)
    )
    source = DocumentSource(path, place, parsed, data)
    title = source.title()
    document.title = title[:MAX_NAME] if title else None
    document.covers = _covers(source.front)
    document.references = source.references
    document.entities = [*read_decisions(source), *read_concepts(source), *read_changes(source)]
    document.reasons = sorted(source.reasons)
    return document


def _covers(front: dict[str, Value]) -> list[str]:
    covers: list[str] = []
    for name in _COVERING:
        group = front.get(name)
        nested = texts_of(group.get("covers")) if isinstance(group, dict) else []
        covers.extend(nested + texts_of(front.get(f"{name}.covers")))
    return list(dict.fromkeys(covers))
