"""A model's prose on its way to the reader: sentence by sentence, with citations that are checked before they go out.

Nothing is shown before the first sentence that a passage supports, so that an answer that rests on nothing can still be
held back. Markers are renumbered in the order in which they appear; one that names no passage is dropped, one whose
passage does not support the sentence while another does is moved there, a supported sentence without one is given it.
What is shown as code is one piece and has no markers in it: those of a fenced block stand behind its end.
Lists of sources behind an answer are left out: the citations say what it rests on. Pictures, and addresses that stand
in no passage and not in the question, are taken out: they could carry data away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from trivium.answers.citation_marks import ends_within_mark, read_marks
from trivium.answers.code_spans import closed, code_spans, open_code
from trivium.answers.composer import Cited
from trivium.models.claims import denies, refuses, telling
from trivium.models.prompt import NOT_FOUND
from trivium.models.source_lists import SourceLists, is_heading
from trivium.models.support import STRONG, WEAK, Backing, Support
from trivium.models.swapped import NAME
from trivium.search.passage import Passage
from trivium.search.segment import tokens
from trivium.search.sentences import sentences

_THOUGHT_OPENS, _THOUGHT_ENDS = "<think>", "</think>"
_END_SIGNS = re.compile(r"[.!?…。！？\n।؟]")
_MARKS_ONLY = re.compile(r"\s*(?:(?:\[|【)\^?[\d\s,;†–^-]+(?:\]|】)[\s.,;]*)+")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)|<img\b[^>]*>", re.IGNORECASE)
_LINK = re.compile(r"\[([^\]]+)\]\((\S+?)\)")
_URL = re.compile(r"(?:(?:https?|ftp)://|\bwww\.|(?:(?<=\]\()|(?<==[\"']))[/\\]{2})[^\s<>\"'`)\]]+", re.IGNORECASE)
_TICKS = re.compile("`+")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_REFUSAL = re.compile(rf"[\s#>*_\"'“-]*{NOT_FOUND}[\s.!*_\"'”]*")
_EMPTY = re.compile(r"[\s!-/:-@\[-`{-~…。！？،؟•–—]*")
_ROW = re.compile(r"\s*\|[^\n]*\S[^\n]*(?<!\\)\|$")
"""A row of a table, the last cell of which is closed."""
_LONGEST_HELD = 20_000


class AnswerStream:
    """Takes a model's text as it comes and passes on what may be shown; a `Sink`."""

    def __init__(self, support: Support, said: str, show: Callable[[str], None]) -> None:
        self._support = support
        self._said = said
        self._show = show
        self._buffer = ""
        self._held: list[str] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._thinking: bool | None = None
        self._space = ""
        self._supported = False
        self._line = self._raw_line = ""
        """What stands on the last line of all that was passed on, and of what the model wrote of it."""
        self._lists = SourceLists()
        self._in_code = False
        self.shown: list[str] = []
        self.cited: list[Cited] = []
        self.raw: list[str] = []
        self.dropped = 0
        self.moved = 0
        self.uncited = 0
        self.links = 0
        self.refuses = False
        """Whether the model said of its own answer that the passages do not hold one."""
        self.weak: list[str] = []
        """What is wrong with single sentences, each with its sentence."""

    # --- what comes -------------------------------------------------------------------------------

    def text(self, piece: str) -> None:
        self._buffer += _CONTROL.sub("", piece)
        if not self._past_thoughts() or (self._in_code and "`" not in piece):
            return
        if _END_SIGNS.search(piece) or len(self._buffer) > _LONGEST_HELD:
            self._advance(last=False)

    def restart(self) -> bool:
        if self.shown:
            return False
        self._buffer, self._held, self._thinking, self._in_code = "", [], None, False
        self._line = self._raw_line = ""
        self._lists = SourceLists()
        self._numbers, self.cited, self.raw, self.weak = {}, [], [], []
        self.dropped = self.moved = self.uncited = self.links = 0
        self.refuses = False
        return True

    def finish(self, *, cut: bool = False) -> None:
        """No more comes; `cut`: the text broke off, and its last sentence with it."""
        if self._thinking:
            self._buffer = ""
        self._past_thoughts()
        if not cut and "`" in self._buffer:
            self._buffer = closed(self._raw_line + self._buffer)[len(self._raw_line) :]
        self._advance(last=True, cut=cut)

    def release(self) -> None:
        """Show what was held back."""
        self._show_all(self._held)
        self._held = []

    @property
    def said(self) -> str:
        """All that the model wrote, markers and all."""
        return "".join(self.raw).strip()

    # --- sentence by sentence ---------------------------------------------------------------------

    def _past_thoughts(self) -> bool:
        """Whether what a model thinks aloud before it answers is over; it is left out."""
        if self._thinking is None:
            start = self._buffer.lstrip()
            if start.startswith(_THOUGHT_OPENS):
                self._thinking = True
            elif not _THOUGHT_OPENS.startswith(start):
                self._thinking = False
        if self._thinking:
            _, ended, rest = self._buffer.partition(_THOUGHT_ENDS)
            if ended:
                self._buffer, self._thinking = rest.lstrip(), False
            else:
                self._buffer = self._buffer[-_LONGEST_HELD:]
        return self._thinking is False

    def _advance(self, *, last: bool, cut: bool = False) -> None:
        """Pass on the sentences that are whole. One is, once the next has begun with something else than a marker."""
        if not self.raw:
            self._buffer = self._buffer.lstrip()
        before, whole = self._raw_line, self._raw_line + self._buffer
        open_ = len(whole) if last and not cut else max(open_code(whole), len(before))
        self._in_code = open_ < len(whole) and "\n" in whole[open_:]
        text = self._buffer[: open_ - len(before)]
        code = [(start - len(before), stop - len(before)) for start, stop in code_spans(whole[:open_])]
        ends = _ends(text, [span for span in code if span[0] >= 0])
        if not last or cut:
            ends = ends[:-1]
        if not last and ends_within_mark(text):
            ends = ends[:-1]
        start = 0
        for end in ends:
            self._pass_on(self._buffer[start:end])
            start = end
        if last and not cut and start < len(self._buffer):
            self._pass_on(self._buffer[start:])
            start = len(self._buffer)
        self._buffer = "" if last else self._buffer[start:]

    def _pass_on(self, raw: str) -> None:
        self.raw.append(raw)
        begins_line = not self._raw_line.strip()
        self._raw_line = _last_line(self._raw_line, raw)
        raw = self._lists.read(raw, begins_line=begins_line)
        if not raw:
            return
        marked = read_marks(self._clean(raw), self._support.passages, self._line)
        self.dropped += marked.unknown
        if not marked.numbers and _REFUSAL.fullmatch(marked.text):
            self.refuses = True
            return
        if (marked.numbers or marked.unknown) and _EMPTY.fullmatch(marked.text) and "`" not in raw:
            self.dropped += len(marked.numbers)
            return
        backings, is_weak = self._backings(marked.text, marked.numbers)
        fault = self._fault(marked.text, backings) or ("The cited passage has few words of" if is_weak else None)
        if fault is not None:
            self.weak.append(f"{fault}: {' '.join(marked.text.split())[:160]}")
        text = marked.text
        marks = "".join(f" [{self._number(backing)}]" for backing in backings)
        if marks:
            body = text.rstrip()
            text = self._placed(body, marks) + text[len(body) :]
        if not text:
            return
        self._line = _last_line(self._line, text)
        self._held.append(text)
        if not backings and self._support.told(text):
            self.uncited += 1
        self._supported = self._supported or self.uncited > 0 or any(backing.plain for backing in backings)
        if self._supported:
            self.release()

    def _backings(self, sentence: str, numbers: list[int]) -> tuple[list[Backing], bool]:
        """What a sentence rests on: the passages that it names, checked, or the one that plainly says it.

        And whether a passage that it names hardly says so.
        """
        found: list[Backing] = []
        is_weak = False
        best: Backing | None = None
        for number in numbers:
            backing = self._support.of(sentence, number)
            if backing is None:
                self.dropped += 1
                continue
            if backing.score < WEAK:
                best = best or self._support.best(sentence)
                if best is not None and best.score >= STRONG:
                    self.moved += 1
                    backing = best
                elif not backing.plain:
                    is_weak = True
            else:
                best = best or self._support.best(sentence)
                if best is not None and _says_better(best, backing, sentence):
                    self.moved += 1
                    backing = best
            if all(backing.quote != one.quote or backing.number != one.number for one in found):
                found.append(backing)
        if not numbers and len(sentence.split()) + len(sentence) // 12 > 2:
            best = self._support.best(sentence)
            if best is not None and best.score >= STRONG and not denies(sentence, best.quote):
                found.append(best)
        return found, is_weak

    def _fault(self, sentence: str, backings: Sequence[Backing]) -> str | None:
        """What nothing holds that the model was given, or that the only sources of a sentence deny it."""
        best = self._support.best(sentence)
        if best is None or (not backings and self._support.told(sentence)) or refuses(sentence):
            return None
        sources = backings or (best,)
        measured = any(one.measured for one in sources)
        strange = [*self._support.given.strangers(sentence, names=measured), *self._support.strange_code(sentence)]
        if strange:
            return f"No passage holds {', '.join(strange[:5])}"
        if measured and best.score >= WEAK and all(denies(sentence, one.quote) for one in sources):
            return "The nearest passage says the opposite of"
        if measured and backings and (value := self._support.misplaced(sentence)) is not None:
            return f"No passage says {value} of that"
        if measured and backings and (value := self._support.swapped(sentence)) is not None:
            return f"No passage says {value} of that"
        if measured and best.score < WEAK and not backings and _states(sentence):
            return "No passage says"
        return None

    def _placed(self, body: str, marks: str) -> str:
        """Markers before the full stop, or on a line of their own behind a block of code."""
        spans = code_spans(self._line + body)
        start, stop = spans[-1] if spans else (0, 0)
        if stop == len(self._line) + len(body) and "\n" in (self._line + body)[start:]:
            return f"{body}\n{marks.lstrip()}"
        if _ROW.match(self._line + body):
            end = len(body[:-1].rstrip())
            return f"{body[:end]}{marks} |"
        end = len(body.rstrip(".!?…。！？"))
        return f"{body[:end]}{marks}{body[end:]}"

    def _number(self, backing: Backing) -> int:
        passage: Passage = self._support.passages[backing.number]
        key = passage.id, backing.quote
        if key not in self._numbers:
            self.cited.append(Cited(passage, backing.quote))
            self._numbers[key] = len(self.cited)
        return self._numbers[key]

    def _clean(self, text: str) -> str:
        """Without pictures, foreign addresses and control characters; broken letters are replaced."""
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

        def picture(match: re.Match[str]) -> str:
            self.links += 1
            ticks = _TICKS.findall(match[0][len(match[1] or "") + 2 :])  # that code begins and ends where it did
            told = " ".join([match[1] or "", *ticks])
            return told if told.strip() and "`" not in told else f" {told} "

        def link(match: re.Match[str]) -> str:
            return match[0] if self._is_known(match[2]) else f"{match[1]} ({match[2]})"

        def address(match: re.Match[str]) -> str:
            if self._is_known(match[0].rstrip(".,;:!?")):
                return match[0]
            self.links += 1
            return "…"

        return _URL.sub(address, _LINK.sub(link, _IMAGE.sub(picture, text)))

    def _is_known(self, address: str) -> bool:
        return address in self._said or any(address in one.text for one in self._support.passages.values())

    def _show_all(self, texts: list[str]) -> None:
        for held in texts:
            text = self._space + held if self.shown else held.lstrip()
            shown = text.rstrip()
            self._space = text[len(shown) :]
            if shown:
                self.shown.append(shown)
                self._show(shown)


def _says_better(best: Backing, cited: Backing, sentence: str) -> bool:
    """Whether a statement of another passage holds names or values of a sentence that the cited one lacks."""
    if not (best.measured and cited.measured) or best.score < STRONG or best.score <= cited.score:
        return False
    wanted = {word for match in NAME.finditer(sentence) for word in tokens(match[0])}
    wanted |= {word for word in tokens(sentence) if word.isdigit()}
    lacking = wanted - set(tokens(cited.quote))
    return bool(lacking) and wanted <= set(tokens(best.quote))


def _states(sentence: str) -> bool:
    """Whether a sentence without a citation says enough to need one; not so what leads over to something."""
    told = sentence.strip()
    return not told.endswith((":", "?", "：", "？", "؟")) and len(telling(told)) > 3 and not code_spans(told)


def _last_line(before: str, text: str) -> str:
    """What the last line holds once a text has followed; what stands behind the end of a block begins no block."""
    whole = before + text
    if not whole.strip():
        return ""
    start = whole.rfind("\n") + 1
    ended = next((stop for first, stop in code_spans(whole) if first < start < stop), 0)
    return f". {whole[ended:]}" if ended else whole[start:]


def _lists_sources(text: str, before: tuple[int, int], start: int, stop: int) -> bool:
    """Whether what follows markers makes them the first of a list of sources, or a footnote."""
    rest = text[start:stop]
    return rest.startswith(":") or (bool(rest) and is_heading(text[slice(*before)]))


def _ends(text: str, code: Sequence[tuple[int, int]]) -> list[int]:
    """Where the sentences of a text end, each with the markers and the white space that follow it, none within code."""
    blocks = [span for span in code if "\n" in text[slice(*span)]]
    spans: list[tuple[int, int]] = []
    at = 0
    for start, stop in [*blocks, (len(text), len(text))]:
        spans += ((at + first, at + last) for first, last in sentences(text[at:start]))
        spans += [(start, stop)] if start < stop else []
        at = stop
    ends: list[int] = []
    for number, (start, stop) in enumerate(spans):
        following = spans[number + 1][0] if number + 1 < len(spans) else len(text)
        marks = _MARKS_ONLY.match(text, start, stop)
        if (
            ends and marks and not _lists_sources(text, spans[number - 1], marks.end(), stop)
        ):  # markers after the full stop belong to the sentence before
            ends[-1] = marks.end()
            if marks.end() == stop:
                ends[-1] = following
                continue
        ends.append(following)
    return [end for end in ends if not any(start < end < stop for start, stop in code)]
