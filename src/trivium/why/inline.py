"""Inline code and inline links of a block's text, with their offsets (reference 2.3).

One scan from left to right with a stack of open brackets, as CommonMark describes it: code spans bind tighter than
links, a link holds no other link, an image is no link. Each pattern is bounded, so time grows with the text only.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference

CODE, LINK, TEXT = "code", "link", "text"

MAX_LABEL = 999
MAX_PLAIN = 4_096

_NEXT = re.compile(r"\\.|``*|!\[|\[|\]|<", re.DOTALL)  # each way begins with a character: a fast search
_RUN = re.compile(r"``*")
_INLINE = re.compile(
    r"\(\s{0,99}+(?:<((?:[^<>\n\\]|\\.)*+)>|((?:[^\s()<\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+))"
    r"(?:\s{1,99}+(?:\"(?:[^\"\\]|\\.){0,999}+\"|'(?:[^'\\]|\\.){0,999}+'|\((?:[^()\\]|\\.){0,999}+\)))?\s{0,99}+\)",
    re.DOTALL,
)
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999}+)\]", re.DOTALL)
_TAG = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,4096}+>"
    r"|/?[A-Za-z][A-Za-z0-9-]{0,99}+(?:\s{1,99}+[A-Za-z_:][\w:.-]{0,99}+(?:\s{0,99}+=\s{0,99}+"
    r"(?:\"[^\"]{0,2048}+\"|'[^']{0,2048}+'|[^\s\"'=<>`]{1,2048}+))?+){0,99}+\s{0,99}+/?>)"
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ATTRIBUTE = r"""(?:[#.][\w:.-]{1,200}|-|[\w:-]{1,80}=(?:"[^"{}\n]{0,200}"|'[^'{}\n]{0,200}'|[^\s{}"']{1,200}))"""
_ATTRIBUTES = re.compile(
    rf"\s{{0,99}}\\?(?<!\{{)\{{:?[ \t]{{0,9}}(?=[^{{}}\n]*(?:(?<=[\s{{:])[#.]\w|(?<=\{{)-\}}))"
    rf"{_ATTRIBUTE}(?:[ \t]{{1,9}}{_ATTRIBUTE}){{0,19}}[ \t]{{0,9}}\}}(?!\}})"
    r"|\s{0,99}\{/\*\s{0,9}#[\w-]{1,200}\s{0,9}\*/\}"
)
_ATTRIBUTE_LINE = re.compile(r"\s*\{:[^{}\n]{0,300}\}\s*")
_JOINER = "\u200d"
_MARKUP = re.compile(r"[\\`*_\[\]<>&!]")

References = Mapping[str, Mapping[str, Any]]
"""Link reference definitions as markdown-it keeps them: normalised label to `href` and `title`."""


class Found(NamedTuple):
    """A code token, a link target or a link's text, as written, at `start` to `end` of the text."""

    kind: str
    value: str
    start: int
    end: int


class _Opener(NamedTuple):
    start: int
    inside: int
    image: bool
    mark: int


def scan_inline(text: str, references: References) -> list[Found]:
    """Inline code tokens, link targets and link texts of a block's raw text, by offset.

    Targets are unescaped and percent-decoded; code keeps its text with line ends as spaces.

    >>> [(f.kind, f.value) for f in scan_inline("see `a.b` and [the `c`](x.md#d)", {})]
    [('code', 'a.b'), ('link', 'x.md#d'), ('text', 'the `c`'), ('code', 'c')]
    """
    if "`" not in text and "](" not in text and not (references and "[" in text):
        return []
    found = _Scan(text, references).run()
    found.sort(key=lambda item: item.start)
    return found


class _Scan:
    def __init__(self, text: str, references: References) -> None:
        self._text = text
        self._references = references
        self._found: list[Found] = []
        self._openers: list[_Opener] = []
        self._dead = 0
        """Openers below this index may open images only, since a link lies inside them."""
        self._runs: dict[int, list[int]] | None = None
        self._no_comment_end = False

    def run(self) -> list[Found]:
        text, search = self._text, _NEXT.search
        position = 0
        while match := search(text, position):
            token, position = match.group(), match.end()
            if token[0] == "`":
                position = self._code(match.start(), position)
            elif token == "]":
                position = self._close(position)
            elif token == "<":
                position = self._tag(position)
            elif token[0] != "\\":
                self._openers.append(_Opener(match.start(), position, token[0] == "!", len(self._found)))
        return self._found

    def _code(self, start: int, inside: int) -> int:
        if self._runs is None:
            self._runs = {}
            for run in _RUN.finditer(self._text, start):
                self._runs.setdefault(run.end() - run.start(), []).append(run.start())
        length = inside - start
        closers = self._runs.get(length, [])
        at = bisect_left(closers, inside)
        if at == len(closers):
            return inside
        content = self._text[inside : closers[at]].replace("\n", " ")
        if len(content) > 2 and content[0] == content[-1] == " " and content.strip(" "):
            content = content[1:-1]
        self._found.append(Found(CODE, content, start, closers[at] + length))
        return closers[at] + length

    def _tag(self, position: int) -> int:
        if self._text.startswith("!--", position):
            end = -1 if self._no_comment_end else self._text.find("-->", position + 3)
            self._no_comment_end = end < 0
            return position if end < 0 else end + 3
        match = _TAG.match(self._text, position - 1)
        return match.end() if match else position

    def _close(self, position: int) -> int:
        """At the end of a `]`: a link, an image or plain brackets."""
        if not self._openers:
            return position
        opener = self._openers.pop()
        alive = len(self._openers) >= self._dead
        self._dead = min(self._dead, len(self._openers))
        if not (alive or opener.image):
            return position
        target, end = self._target(opener.inside, position)
        if target is None:
            return position
        if opener.image:
            del self._found[opener.mark :]
            return end
        self._found.append(Found(LINK, target, opener.start, end))
        if position - opener.inside <= MAX_LABEL:
            label = self._text[opener.inside : position - 1]
            self._found.append(Found(TEXT, " ".join(label.split()), opener.start, end))
        self._dead = len(self._openers)
        return end

    def _target(self, inside: int, position: int) -> tuple[str | None, int]:
        if match := _INLINE.match(self._text, position):
            written = match.group(1) if match.group(1) is not None else match.group(2)
            return clean_target(written), match.end()
        if not self._references:
            return None, position
        label, end = "", position
        if match := _LABEL.match(self._text, position):
            label, end = match.group(1), match.end()
        if not label and position - 1 - inside <= MAX_LABEL:
            label = self._text[inside : position - 1]
        definition = self._references.get(normalizeReference(label)) if label.strip() else None
        return (clean_target(definition["href"]), end) if definition else (None, position)


def clean_target(written: str) -> str:
    """A link target without backslash escapes, character references and percent-encoding."""
    if "\\" in written:
        written = _ESCAPE.sub(r"\1", written)
    if "&" in written:
        written = html.unescape(written)
    return unquote(written) if "%" in written else written


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def plain_text(raw: str, references: References | None = None) -> str:
    """The text that a reader sees, white space collapsed; of a text over 4,096 characters only its beginning.

    >>> plain_text("**Use** `a_b` and [x](y)")
    'Use a_b and x'
    """
    raw = raw[: MAX_PLAIN + 1]
    if _MARKUP.search(raw):
        env: dict[str, Any] = {"references": references or {}}
        pieces: list[str] = []
        for token in _parser().parseInline(raw, env)[0].children or []:
            if token.type in ("text", "text_special", "code_inline", "image"):
                pieces.append(token.content)
            elif token.type.endswith("break"):
                pieces.append(" ")
        raw = "".join(pieces)
    return " ".join(raw.split())


def without_attributes(text: str) -> str:
    """A heading or term without the attributes that follow it: `{#anchor}`, `{: .class}`, `{.unnumbered}`, `{-}`.

    >>> without_attributes("Use `a` {#use-a .x}"), without_attributes("Use /users/{id}")
    ('Use `a`', 'Use /users/{id}')
    """
    if not text.rstrip().endswith("}"):
        return text
    for match in _ATTRIBUTES.finditer(text):
        if not text[match.end() :].strip():
            return text[: match.start()]
    return text


def attributes_after(text: str, position: int) -> int:
    """Where attributes that begin at `position` end; `position` without any.

    >>> attributes_after("**A**{#a}: b", 5)
    9
    """
    match = _ATTRIBUTES.match(text, position)
    return match.end() if match else position


def is_attribute_line(line: str) -> bool:
    """Whether a line holds nothing but attributes of the block beside it: `{: .no_toc }`."""
    return _ATTRIBUTE_LINE.fullmatch(line) is not None


def cut_text(text: str, bound: int) -> str:
    """The text, of a longer one its first `bound` characters, or fewer where that would part a letter from its marks.

    >>> cut_text("cafe\u0301 au lait", 4), cut_text("abc", 5)
    ('caf', 'abc')
    """
    if len(text) <= bound:
        return text
    end = bound
    while end and (_continues(text[end]) or text[end - 1] == _JOINER):
        end -= 1
    return text[: end or bound].rstrip()


def _continues(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, a variation, a skin tone, a joiner."""
    if character.isascii():
        return False
    return (
        character == _JOINER
        or unicodedata.category(character) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )
