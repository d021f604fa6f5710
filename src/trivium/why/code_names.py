"""The name in a piece of code: without the arguments, type arguments, keywords and signs that are written around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST = 512
_KEYWORD = re.compile(
    r"(?:(?:new|class|interface|struct|enum|trait|protocol|record|module|type|def|fn|func|fun|function|async|await"
    r"|public|export|pub)\s+)+"
)
_ELEMENT = re.compile(r"</?([A-Z][\w.]*)(?:\s[^<>]*)?/?>", re.DOTALL)
_RECEIVER = re.compile(r"\A\([*&]?([\w$]+)\)(?=\.)")
_ARGUMENTS = re.compile(r"(?<=[\w$!?])[(<\[{].*[)>\]}]", re.DOTALL)
_TYPE_ARGUMENTS = re.compile(r"(?<=[\w$])<[^<>]*>(?=\.|::|#)")


def bare_names(code: str) -> Iterator[str]:
    """The names that the code may be about, the surest first; nothing for what is a plain name already.

    >>> [list(bare_names(code)) for code in ("Queue<T>", "new Payments()", "<CartBadge />", "(*PgStore).Get")]
    [['Queue'], ['Payments'], ['CartBadge'], ['PgStore.Get']]
    >>> list(bare_names("Mailer#retry!")), list(bare_names("Queue")), list(bare_names("a + b"))
    (['Mailer#retry'], [], [])
    """
    text = code.strip()
    if len(text) > _LONGEST:
        return
    element = _ELEMENT.fullmatch(text)
    if element is not None:
        yield element[1]
        return
    found = _KEYWORD.sub("", text, count=1) if _KEYWORD.match(text) else text
    found = _RECEIVER.sub(r"\1", _TYPE_ARGUMENTS.sub("", found.lstrip("*&@")))
    opening = _ARGUMENTS.search(found)
    if opening is not None and opening.end() == len(found.rstrip("!?;")):
        found = found[: opening.start()]
    found = found.rstrip("!?;")
    if found and found != text and not re.search(r"[\s()<>\[\]{},=]", found):
        yield found
