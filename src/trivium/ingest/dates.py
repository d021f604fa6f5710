"""Dates as files state them, as RFC 3339 texts, plain days, or months where no day is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_IN_PATH = re.compile(r"(?<![\d.])(?<!\d-)((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?![\d-])")
_FIRST_LINES, _FIRST_SIGNS = 8, 2_000
"""How much of a text is looked at for the day of which it is."""
_AS_OF = re.compile(
    r"(?:as of|as at|status|dated?|(?:last )?(?:updated?|changed|revised|modified)|version of|valid from"
    r"|effective(?: from)?"
    r"|stand|datum|gültig ab|aktualisiert|zuletzt geändert|état au|date|à jour au|mis à jour|en vigueur"
    r"|situación al|fecha"
    r"|actualizado|vigente desde|data|aggiornato|atualizado|bijgewerkt|дата|по состоянию на|обновлено"
    r"|日期|日付|更新日?|截至|発行日|作成日|날짜)\W*(?:(?:on|at|the|am|vom|zum|den|le|du|el|al?|il|het|em|в|на)\W+)*",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\b(?:until|till|by|before|due|to|bis|fällig|jusqu\S*|avant|hasta|antes|fino|entro|até|tot|до)\W+(?:\w+\W+)?$",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(?:[^\W\d_][\w'’-]*\s?){1,3},\s*(?:(?:den|le|il|el|de|the)\s+)?")
_WHOLE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")


def as_date(text: str | None) -> str | None:
    """A day (`2026-02-03`) or a moment in UTC (`2026-02-03T10:00:00Z`) of a text that begins with one, else None.

    >>> as_date("2026-02-03 10:00:00+02:00"), as_date("2026/2/3"), as_date("soon")
    ('2026-02-03T08:00:00Z', '2026-02-03', None)
    """
    if not text:
        return None
    text = text.strip()
    match = _DAY.match(text)
    if match is None:
        return None
    try:
        day = datetime(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    if match.end() < len(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return day.date().isoformat()
        return as_moment(moment)
    return day.date().isoformat()


def as_moment(moment: datetime | None) -> str | None:
    """A point in time as RFC 3339 text in UTC; one without a zone is taken as UTC."""
    if moment is None:
        return None
    try:
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (OverflowError, ValueError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year >= 1000 else None


def of_timestamp(seconds: float) -> str | None:
    """A file's modification time."""
    try:
        return as_moment(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def date_in_path(path: str) -> str | None:
    """The last day that a path names, year first; what merely looks like one is none.

    >>> [date_in_path(path) for path in ("minutes/2024-06-10 board.md", "IMG_20240610.txt", "minutes-2024-06-10.md")]
    ['2024-06-10', '2024-06-10', '2024-06-10']
    >>> date_in_path("2024-13-01.md"), date_in_path("report-1-2024-06-10.md")
    (None, None)
    """
    days = (as_date(f"{match[1]}-{match[3]}-{match[4]}") for match in _IN_PATH.finditer(path))
    return next(filter(None, reversed(list(days))), None)


def date_in_text(title: str, text: str) -> str | None:
    """The day, or else the month, of which a text says at its beginning that it is of it.

    That is a date in its title, a line that is a date alone, or one that begins with `as of` or its like.

    >>> date_in_text("Board, 10 June 2024", ""), date_in_text("Trip", "# Trip\\n\\nOslo, 2 July 2024\\n")
    ('2024-06-10', '2024-07-02')
    >>> date_in_text("Leave", "*As of June 2021.*\\n"), date_in_text("Fees", "# Fees\\n\\nDue: 3 May 2024\\n")
    ('2021-06', None)
    """
    if found := _dated(title, anywhere=True):
        return found
    lines = [line.strip(" \t\r#*_>|") for line in text[:_FIRST_SIGNS].split("\n") if line.strip()]
    for number, line in enumerate(lines[:_FIRST_LINES]):
        if found := _dated(line, anywhere=number == 0 and text.lstrip().startswith("#")):
            return found
    return None


def _dated(line: str, *, anywhere: bool) -> str | None:
    """The date of a line that is one, or that has one `anywhere`."""
    from trivium.language.languages import language_of
    from trivium.language.values import DATE, find_values

    if not any(map(str.isdigit, line)):
        return None
    for value in find_values(line, language_of(line)):
        if value.kind != DATE or not _WHOLE.fullmatch(value.iso):
            continue
        before, behind = line[: value.start], line[value.stop :].strip(" .)]*_")
        alone = not behind and (not before.strip(" ([") or _PLACE.fullmatch(before))
        if (anywhere and not _ENDS.search(before)) or alone or _AS_OF.fullmatch(before.lstrip("([")):
            return value.iso
    return None
