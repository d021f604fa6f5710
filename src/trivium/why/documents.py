"""What one document says: its title, what it covers, what it cites, and the entities it states (reference 2.3, 4)."""

from __future__ import annotations

from trivium.code.front_matter import Value, texts_of
from trivium.why.changelog import read_changes
from trivium.why.concepts import read_concepts
from trivium.why.decisions import is_record, read_decisions
from trivium.why.markdown import decode, parse_markdown
from trivium.why.model import MAX_DOCUMENT_BYTES, MAX_HEADINGS, MAX_LOG_HEADINGS, Document, sha256
from trivium.why.outlines import Outline, is_outline
from trivium.why.places import DocumentRules, is_document, place_of
from trivium.why.plain_documents import ADOC, RST, parse_plain
from trivium.why.regions import without_mark
from trivium.why.source import Beside, DocumentSource

__all__ = ["DocumentRules", "is_document", "read_document"]

_COVERING = ("trivium", "docbridge")


def read_document(
    path: str, data: bytes, rules: DocumentRules | None = None, stated: tuple[str, bytes | None] | None = None
) -> Document:
    """Reads one document; depends on its path, its bytes, the rules and the file that stands `beside` it only.

    `stated` is the path of that file and its bytes, if it could be read: what it says counts as front matter, and makes
    the document a record.

    `entities` are as stated: citations and supersessions are resolved later (`linking`). A document of more than 4 MiB
    is not read and says `document-limit` (4.5). `content_hash` is taken without a byte-order mark (2.2).

    >>> read_document("docs/adr/0001-a.md", b"# Use A\\n\\nStatus: accepted\\n").entities[0].status
    'accepted'
    """
    rules = rules or DocumentRules()
    document = Document(path, sha256(without_mark(data)))
    if len(data) > MAX_DOCUMENT_BYTES:
        document.reasons, document.reason_lines = ["document-limit"], {"document-limit": 1}
        return document
    place = place_of(path, rules, stated is not None)
    if not place.is_markdown and not is_document(path, rules):
        return document
    max_headings = MAX_LOG_HEADINGS if place.is_only_changelog else MAX_HEADINGS
    if place.is_markdown:
        parsed = parse_markdown(data, rules.markers, max_headings)
    else:
        form = Outline if place.changelog and place.suffix not in (RST, ADOC) and is_outline(decode(data)) else None
        parsed = parse_plain(place.suffix, data, rules.markers, max_headings, form)
    beside = None if stated is None else Beside(*stated)
    source = DocumentSource(path, place, parsed, data, beside)
    document.covers = _covers(source.front)
    document.references = source.references
    decisions = read_decisions(source)
    document.title = decisions[0].name if decisions and is_record(source) else source.title()
    document.entities = [*decisions, *read_concepts(source), *read_changes(source)]
    document.reasons = sorted(source.reasons)
    document.reason_lines = {code: source.reasons[code] for code in document.reasons}
    if beside is not None:
        document.beside, document.beside_reasons = beside.path, dict(beside.reasons)
    return document


def _covers(front: dict[str, Value]) -> list[str]:
    covers: list[str] = []
    for name in _COVERING:
        group = front.get(name)
        nested = texts_of(group.get("covers")) if isinstance(group, dict) else []
        covers.extend(nested + texts_of(front.get(f"{name}.covers")))
    return list(dict.fromkeys(covers))
