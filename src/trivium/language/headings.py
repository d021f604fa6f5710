"""Headings that begin with a code or the number of a version, and what they tell of what stands under them.

`## PEL-207: Lock held` says what the section is about; a title that names the code in passing (`Wrong exit status after
PEL-207`) does not, where another heading begins with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePosixPath

from trivium.language.matching import KIN, alike
from trivium.language.values import DATE
from trivium.search.passage import Passage
from trivium.search.segment import fold, tokens

_KINDS = (
    "version|release|error|code|exit code|status|ticket|issue|bug|case|incident|task|change|decision|fehler|fehlercode"
    "|vorgang|erreur|errore|erro|codigo|ausgabe|版本|错误|エラー|バージョン|버전|ошибка|версия"
)
_VERSION = r"v?\d+(?:\.\d+){1,3}(?:[-+.]?(?:a|b|c|rc|alpha|beta|dev|post|pre|preview|snapshot|final)[.-]?\d*)?"
_CODE = rf"{_VERSION}|\d+(?:\.\d+)*|[a-z]{{1,12}}(?:[-_][a-z]{{1,12}}){{0,2}}[-_]?\d[\w-]*|[a-z]+(?:_[a-z0-9]+)+"
_BEGINS = re.compile(rf"\W*?(?:(?:{_KINDS})\b[\s:]*)?(?P<sign>[#＃№]?)\s?(?P<code>{_CODE})(?![\w.-]*\w)")
_IS_VERSION = re.compile(
    rf"\W*(?:(?:version|release|ausgabe|版本|バージョン|버전|версия)\b\s*"
    rf"|[\w.-]+ (?=v?\d))?(?P<number>{_VERSION})\]?(?:\([^)]*\))?"
    r"\s*(?:$|[-–—(:,/]|released?\b|\d{4}-)"
)
_DATE_LIKE = re.compile(r"(?:19|20)\d\d(?:[-_.]?\d\d){0,2}")
_RELEASED = frozenset(
    fold(
        "version versions release releases released publish published shipped issued out veröffentlicht erschien"
        " erschienen ausgabe versionen publié publiée sortie sorti lancé version versión versiones publicada publicado"
        " lanzada lanzado lanzó versione versioni rilasciata uscita versão lançada uitgebracht versie вышла версия"
        " выпущена"
        " 版本 发布 バージョン リリース 公開 버전 출시"
    ).split()
)
_CODES = frozenset(
    fold(
        "code codes number numbers id ids key keys codes fehlercode fehlercodes nummer nummern numéro numéros código"
        " códigos codice codici código nummers код коды 代码 代碼 编号 コード 番号 코드"
    ).split()
)
_CHANGES = frozenset(
    fold(
        "new news change changed changes added add introduced introduce improved appear appeared come came neu"
        " neues neue"
        " neuerungen geändert änderungen hinzugefügt eingeführt kam nouveau nouveauté nouveautés nouvelle changé"
        " changements"
        " ajouté ajoutée ajoutés ajoutées introduit nuevo nueva novedades cambió cambios cambiado añadió añadido"
        " introdujo"
        " nuovo novità cambiato aggiunto novo novidades mudou nieuw gewijzigd toegevoegd новое нового изменилось"
        " добавлено"
        " 新 新增 新功能 更新 变化 变更 加入 添加 追加 変更 新しい 変わりました 추가 변경"
    ).split()
)
_GROUPS = re.compile(
    r"\W*(?:added|new\w*|features?|changed|changes|deprecated|removed|fixed|fixes|bug ?fixes|security|breaking\b.*"
    r"|hinzugefugt|neu|geandert|behoben|entfernt|ajoute\w*|corrige\w*|supprime\w*|modifie\w*|anadid\w*|corregid\w*"
    r"|cambiad\w*|eliminad\w*|新增|修复|变更|移除|追加|修正|変更|削除)\W*"
)
"""What the groups of one version are headed with: there the group says what happened."""
_ANY_CHANGE = frozenset(
    fold(
        "changed changes change new geändert änderungen neu modifié modifications changements nouveautés"
        " cambiado cambios novedades 变更 変更 新增"
    ).split()
)
_ABOUT = frozenset(
    fold(
        "mean means meant meaning about fix fixed solve resolve remedy repair do handle happen happens happened"
        " tell explain"
        " say says cause causes bedeutet bedeuten heißt beheben behebt lösen tun machen passiert bedeutung signifie"
        " signifier"
        " veut dire corriger résoudre faire significa significado arreglar solucionar resolver hacer betekent oplossen"
        " risolvere correggere fare resolver corrigir fazer означает значит исправить делать 意思 表示 解决 处理 修复"
        " 意味 対処 解決 直す 의미 해결"
    ).split()
)


_DATED = re.compile(
    r"(?:[^\W\d_]+[-_])+?(?:19|20)\d\d(?:([-_.])(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12]\d|3[01]))?"
    r"|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?<=[^\W\d_]{5}[-_]\d{4}))"
)
"""A name with a day, a month or a year behind it: `minutes-2024-11-05`; `KB-2024` may be a code."""


@lru_cache(maxsize=4_096)
def code_of(heading: str) -> str | None:
    """The code with which a heading begins, as questions write it, folded; a date or the number of a section is none.

    >>> [code_of(text) for text in ("PEL-207: Lock held", "[3.2.0] - 2024-05-02", "Status of KB-7", "#540 Crash")]
    ['pel-207', '3.2.0', None, '540']
    >>> [code_of(text) for text in ("2. Setup", "2024-05-02", "Version 3.1", "3 rooms", "2.1 Pumps")]
    [None, None, '3.1', None, None]
    >>> [code_of(text) for text in ("minutes-2024-11-05", "Handbook-2024", "CVE-2024-1102", "KB-2024")]
    [None, None, 'cve-2024-1102', 'kb-2024']
    """
    folded = fold(heading)
    match = _BEGINS.match(folded)
    if match is None or _DATE_LIKE.fullmatch(match["code"]) or _DATED.fullmatch(match["code"]):
        return None
    code = match["code"]
    if code.replace(".", "").isdigit() and not match["sign"] and not _IS_VERSION.match(folded):
        named = re.match(rf"\W*(?:{_KINDS})\b", folded)
        return code if named else None
    return code.removeprefix("v") if _IS_VERSION.match(folded) else code


def is_version(heading: str) -> bool:
    """Whether a heading is the number of a version, perhaps with the day on which it came out."""
    match = _IS_VERSION.match(fold(heading))
    return match is not None and not _DATE_LIKE.fullmatch(match["number"])


def number_of(heading: str) -> tuple[int, ...]:
    """The number of the version that a heading names, to be compared; one that is to come before a final one."""
    match = _IS_VERSION.match(fold(heading))
    if match is None:
        return ()
    head = re.match(r"v?(\d+(?:\.\d+)*)(.*)", match["number"])
    assert head is not None
    parts = [int(part) for part in head[1].split(".")]
    return (*parts, *([0] * (4 - len(parts))), 0 if head[2] else 1)


def subjects(passage: Passage, headings: Iterable[str]) -> frozenset[str]:
    """The codes that the headings above a text begin with, its title and the name of its file."""
    outer = [part for path in passage.section_paths for part in path]
    stem = PurePosixPath(passage.source).stem if passage.source else ""
    found = [code_of(part) for part in (passage.title, passage.name, *outer, *headings) if part]
    found.append(code_of(stem))
    return frozenset(code for code in found if code)


def is_of_version(headings: Iterable[str]) -> str | None:
    """The number of a version under which something stands."""
    return next((heading for heading in reversed(list(headings)) if is_version(heading)), None)


def tells(term: str, text: str, kinds: Iterable[str]) -> float:
    """How far a heading with a code, whose values are of such kinds, tells what a word asks for without saying it."""
    if is_version(text):
        return KIN if term in _RELEASED and (DATE in kinds or not _happened(term)) else 0.0
    return KIN if term in _CODES else 0.0


def _happened(term: str) -> bool:
    return term in ("released", "published", "shipped", "issued", "erschienen", "erschien")


def is_group(heading: str) -> bool:
    """Whether a heading is that of a group of changes: `Added`, `Fixed`."""
    return _GROUPS.fullmatch(fold(heading)) is not None


def tells_all(heading: str) -> bool:
    """Whether what a group is headed with is asked for by who asks for any change: `Changed`, `New`."""
    return any(word in _ANY_CHANGE for word in tokens(heading))


def tells_change(term: str, headings: tuple[str, ...]) -> float:
    """How far an entry under a version tells a change or a version without the word."""
    if is_of_version(headings) is None:
        return 0.0
    grouped = any(map(is_group, headings))
    return KIN if term in _RELEASED or (term in _CHANGES and not grouped) else 0.0


def asks_of_section(words: Iterable[str], code: str) -> bool:
    """Whether a question asks of a code no more than what it is, what is new there or what to do about it."""
    own = {code, *tokens(code)}
    rest = [word for word in words if word not in own and word.lstrip("v#＃") not in own]
    known = _ABOUT | _CHANGES | _RELEASED | frozenset(["error", "code", "fehler", "erreur", "ticket", "issue"])
    return all(word in known or any(alike(word, one) == 1.0 for one in known) for word in rest)


_LATEST = re.compile(
    r"\b(?:latest|newest|most recent|current|last)\b.{0,20}\b(?:version|release)|\b(?:version"
    r"|release) is (?:the )?(?:latest|newest)"
    r"|\b(?:neueste|aktuell|letzte|jungste)\w* (?:version|ausgabe|release)|\bderniere version|\bversion la plus recente"
    r"|\bultima version\w*|\bversion mas reciente|\bultima versao|\b(?:laatste|nieuwste) versie|\bпоследн\w+ верси"
    r"|最新(?:的)?(?:版|バージョン|リリース)|최신 버전"
)


def asks_for_latest(ask: str) -> bool:
    """Whether a question asks which version is the latest one."""
    return _LATEST.search(fold(ask)) is not None


_ASKS_VERSION = re.compile(
    r"\b(?:which|what|welche\w*|quelle|que|quale|qual|welke|в какой|какая) (?:\w+ )?(?:version\w*|release\w*|versao"
    r"|versie|верси\w+)"
    r"|(?:哪个|哪一|哪)(?:个)?版本|どのバージョン|어느 버전"
)


def asks_for_version(ask: str) -> bool:
    return _ASKS_VERSION.search(fold(ask)) is not None
