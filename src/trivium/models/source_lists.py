"""Lists of sources that models write behind an answer: at best they repeat its citations, at worst they are made up."""

from __future__ import annotations

import re

from trivium.answers.citation_marks import MARK

_TITLES = (
    "sources?|references?|citations?|footnotes?|quellen?|belege|fußnoten|fuentes?|referencias?|références?|fonti|fonte"
    "|riferimenti|fontes|referências?|bronn?en|источники|参考(?:资料|文献)?|来源|出典|출처"
)
_AROUND = r"[\s#>*_]*"
_HEADING = re.compile(rf"{_AROUND}(?:{_TITLES}){_AROUND}[:：]?{_AROUND}\Z", re.IGNORECASE)
_FILE = r"[\w./-]*\w\w\.[a-z]\w{1,4}\b"
_ITEM = r"\s*(?:[-*•>]\s*|\d{1,3}[.)]\s+)?"
_ENTRY = re.compile(rf"{_ITEM}(?:{MARK.pattern}|`?{_FILE}.{{0,60}}\Z)")
_INLINE = re.compile(rf"{_AROUND}(?:{_TITLES}){_AROUND}[:：]{_AROUND}(?:{MARK.pattern}|`?{_FILE})", re.IGNORECASE)
_NOTE = re.compile(rf"{_ITEM}(?:{MARK.pattern}):")


class SourceLists:
    """Takes such lists out of an answer as it comes; a heading waits until what follows tells whether it is one's."""

    def __init__(self) -> None:
        self._heading = ""
        self._listing = False

    def read(self, piece: str, *, begins_line: bool) -> str:
        """What is left of the next piece of an answer, after what waited.

        >>> lists = SourceLists()
        >>> [lists.read(piece, begins_line=True) for piece in ("Net 30 [1].\\n\\n", "Sources:\\n", "[1] a.md")]
        ['Net 30 [1].\\n\\n', '', '']
        """
        if "```" in piece:
            self._listing = False
            waited, self._heading = self._heading, ""
            return waited + piece
        left: list[str] = []
        for number, line in enumerate(piece.splitlines(keepends=True)):
            if number == 0 and not begins_line:
                left += [] if self._listing else [line]
            elif not line.strip() and (self._listing or self._heading):
                self._heading += line if self._heading else ""
            elif is_heading(line):
                left.append(self._heading)
                self._heading, self._listing = line, False
            elif self._is_entry(line):
                self._heading, self._listing = "", True
            else:
                left += [self._heading, line]
                self._heading, self._listing = "", False
        return "".join(left)

    def _is_entry(self, line: str) -> bool:
        if _NOTE.match(line) or _INLINE.match(line):
            return True
        return bool((self._heading or self._listing) and _ENTRY.match(line.rstrip()))


def is_heading(line: str) -> bool:
    """Whether a line is the title of a list of sources."""
    return bool(_HEADING.match(line))
