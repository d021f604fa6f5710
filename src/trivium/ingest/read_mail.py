"""E-mail to text: the headers that people read, then the body."""

from __future__ import annotations

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import parsedate_to_datetime
from typing import Any

from trivium.ingest.dates import as_moment
from trivium.ingest.decoding import decode, decode_declared
from trivium.ingest.escapes import without_escapes
from trivium.ingest.parsed import HEADING, TEXT, Block, Heading, Parsed, Unreadable, one_line
from trivium.ingest.read_text import paragraphs

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_LONGEST_HEADER = 2_000
_LONGEST_PARSED = 8_000
"""Characters of a header that are parsed: the time of the standard parser grows with their square."""
MAX_PARTS = 1_000


class _Policy(EmailPolicy):
    """The modern policy, with headers cut before they are parsed."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return super().header_fetch_parse(name, value[:_LONGEST_PARSED])


def read_mail(data: bytes) -> Parsed:
    """The text of a message: of alternatives the plain one, else what is seen of its HTML; attachments are named.

    Raises: Unreadable for what is no message.
    """
    try:
        return _read(data)
    except RecursionError:
        raise Unreadable("its parts, or the comments in its headers, are nested too deep") from None


def _read(data: bytes) -> Parsed:
    message = message_from_bytes(data, policy=_Policy())
    assert isinstance(message, EmailMessage)
    head = _head(message)
    notes: list[str] = []
    body, attachments = _body(message, notes)
    if not head and not body.strip():
        raise Unreadable("this is no e-mail message")
    if attachments:
        head += f"Attachments: {', '.join(attachments)}\n"
    title = one_line(_header(message, "Subject"))
    body = body.strip()
    offset = len(head) + 1 if head else 0
    text = f"{head}\n{body}\n" if head else body
    path = (title,) if title else ()
    blocks = [Block(HEADING, 0, len(head), path)] if head else []
    blocks += [Block(TEXT, start + offset, stop + offset, path) for start, stop in paragraphs(body)]
    headings = [Heading(1, title, 1, 0)] if title else []
    return Parsed(text, blocks, title, _date(message), headings, notes=list(dict.fromkeys(notes)))


def _head(message: EmailMessage) -> str:
    """The headers that people read, a line for each."""
    headers = [(name, _header(message, name)) for name in _SHOWN]
    return "".join(f"{name}: {value}\n" for name, value in headers if value)


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message.get(name)
    except Exception:  # the standard parser raises many kinds of error for headers that break its rules
        return ""
    text = " ".join(str(value or "").replace("\0", " ").split())[:_LONGEST_HEADER]
    return text.encode(errors="replace").decode()


def _date(message: EmailMessage) -> str | None:
    try:
        return as_moment(parsedate_to_datetime(_header(message, "Date")))
    except (TypeError, ValueError, IndexError):
        return None


def _body(message: EmailMessage, notes: list[str]) -> tuple[str, list[str]]:
    """The text of a message, and the names of what is attached to it; `notes` gets what was guessed.

    Of alternatives the plain one is taken, if it says anything; all other parts follow each other.
    """
    attachments: list[str] = []
    left = MAX_PARTS

    def text_of(part: Any) -> str:
        nonlocal left
        left -= 1
        if left < 0:
            return ""
        if part.is_multipart():
            parts = part.get_payload()
            if part.get_content_type() == "multipart/alternative":
                return _alternative([(one.get_content_type(), text_of(one)) for one in parts])
            forwarded = part.get_content_type() == "message/rfc822"  # whose headers say whose words follow
            return _joined([f"{_head(one)}\n{text_of(one)}" if forwarded else text_of(one) for one in parts])
        name = _file_name(part)
        if name or part.get_content_disposition() == "attachment":
            attachments.append(name or "unnamed")
        elif part.get_content_type() == "text/plain":
            return _content(part, notes)
        elif part.get_content_type() == "text/html":
            return _html(part, notes)
        return ""

    return text_of(message), attachments


def _alternative(parts: list[tuple[str, str]]) -> str:
    said = [(kind, text) for kind, text in parts if text.strip()]
    return next((text for kind, text in said if kind == "text/plain"), said[-1][1] if said else "")


def _joined(texts: list[str]) -> str:
    return "\n\n".join(filter(str.strip, texts))


def _file_name(part: Any) -> str:
    try:
        return one_line(str(part.get_filename() or ""))
    except Exception:  # as for headers
        return ""


def _payload(part: Any) -> bytes:
    try:
        found = part.get_payload(decode=True)
    except Exception:  # as for headers
        return b""
    return found if isinstance(found, bytes) else b""


def _content(part: Any, notes: list[str]) -> str:
    data = _payload(part)
    charset = part.get_content_charset()
    text = decode_declared(data, charset) if charset else None
    if text is None:
        text, note = decode(data) if data else ("", None)
        notes += [note] if note else []
    return without_escapes(text.replace("\r\n", "\n"))[0]


def _html(part: Any, notes: list[str]) -> str:
    from trivium.ingest.read_html import read_html

    data = _payload(part)
    if not data:
        return ""
    parsed = read_html(data, part.get_content_charset())
    notes += parsed.notes
    return parsed.text
