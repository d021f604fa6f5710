"""Who holds a post now: who left it, declined it or will have it only later does not, nor does who holds another one.

Of two who hold it since different years it is the later one, and what says that it replaces something (`New treasurer:
Piet (was: Ludmila)`) stands before what says only that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from trivium.language.languages import silent_words
from trivium.language.matching import INSIDE, alike
from trivium.language.statements import ROW, Statement
from trivium.language.values import DATE, YEAR, find_values
from trivium.search.segment import fold, tokens

_LEFT = re.compile(
    r"\b(?:resign\w*|step(?:s|ped)? (?:down|back|aside)|stood down|stands down|retir(?:e[ds]?|ing|ement)|dismissed"
    r"|ousted|died"
    r"|zuruck(?:trat|getreten|tritt|gezogen)?|rucktritt\w*|niedergelegt|nieder|ausgeschieden|pensioniert|abberufen"
    r"|entlassen"
    r"|verstorben|demission\w*|retraite|revoque\w*|decede\w*|dimit\w+|dimision\w*|jubil\w+|cesad\w+|destituid\w+"
    r"|fallecio"
    r"|dimess\w*|dimission\w*|demitiu\w*|aposentou|afgetreden|treedt af|opgestapt|отставк\w*|уволил\w*|уволен\w*"
    r"|сложил\w*"
    r"|התפטר\w*|פרש\w*|استقال\w*|تقاعد\w*)\b"
    r"|辞去|辞职|辭|卸任|离任|退休|拒绝|谢绝|离职|下台|免去|落选|候选|辞任|退任|辞退|退職|引退|断[っり]|候補|사임"
    r"|퇴임|거절|사퇴|후보"
)
_LEAVES = re.compile(
    r"\b(?:quits?|left|leaves?|leaving|relinquish\w*|gave up|gives up|hand(?:s|ed) over|removed|fired|suspended"
    r"|declin\w+"
    r"|refus\w+|turn(?:s|ed) down|reject\w*|candidates?|candidacy|stood for|stands for|runs? for|ran for|running for"
    r"|applied for|applies for|abgegeben|aufgegeben|verliess|verlassen|verlasst|scheidet|schied|abgelehnt|lehnte|lehnt"
    r"|verzichte\w*|kundigte|gekundigt|kandidier\w*|kandidat\w*|bewarb|bewirbt|quitte\w*|renonc\w+|refuse\w*"
    r"|decline\w*|cede"
    r"|candidat\w*|renunci\w+|dejo|deja|abandon\w+|rechaz\w+|ceso|lascia\w*|rifiut\w+|rinunci\w+|declinat\w+|deixou"
    r"|recusou"
    r"|trad|weiger\w+|bedankte|ушел|ушла|уходит|покинул\w*|отказал\w*|סירב\w*|رفض\w*|ترك\w*)\b"
)
"""What stands before the post that is left or declined; behind it, it is something that its holder does."""
_LATER = re.compile(
    r"\b(?:will|shall|going to|is to (?:be|become|take)|due to|expected to|plans? to|about to|designate|elect"
    r"|sera|seront|seran|deviendra|prendra|dirigera|succedera|asumira|ocupara|dirigira|va a ser|sara(?= (?:il|la"
    r"|presidente|dir\w+)\b)|diventera|sera|assumira|tornara"
    r"|zal|будет|станет|возглавит|ימונה|יכהן|תכהן|سيصبح|سيكون|ستكون|ستصبح|سوف)\b"
    r"|\b(?:wird|werden|wordt)\b(?!.*\b(?:von|durch|door|ge\w+t|\w+iert|ge\w+en)\b)"
    r"|将(?!军|来的)|即将|就任予定|予定|될 |예정"
)
_TO_BE = re.compile(r" (?:zu (?:werden|ubernehmen|sein)|te worden)\b")
_OTHER_POST = re.compile(
    r"(?:deputy|vice|assistant|co-?opted|stellvertret\w*|vize\w*|stv|adjoint\w*|sous|suppleant\w*|subdirector\w*"
    r"|suplente|vicario"
    r"|viceresponsabile|vicepresident\w*|vicedirector\w*|adjunt[oa]|plaatsvervangend|заместител\w*|зам)"
)
_OTHER_HAN = re.compile("(?:副|次|助理|代理|부)$")
_TAKES = re.compile(
    r"\b(?:took over|takes over|elected|appointed|became|becomes|succe(?:ed|ss)\w*|follow(?:s|ed)|is|are|has been"
    r"|ist|sind|gewahlt|ernannt"
    r"|ubernahm|ubernimmt|folgt\w*|nachfolg\w*|est|sont|nomme\w*|elue?|es|son|elegid\w+|nombrad\w+|e|eletto"
    r"|nominat\w+|является|назначен\w*)\b"
    r"|接任|继任|出任|担任|就任|です|是"
)
_CLAUSES = re.compile(
    r"[,;:.()（），；：。、]|\s(?=(?:and|und|et|y|e|en|и|but|aber|mais|pero|ma|after|before|since|because|when"
    r"|while|nachdem|weil"
    r"|seit|als(?= \w+ (?!vorsitz))|apres|depuis|despues|desde|dopo)\s)"
)
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_FROM_KEYS = re.compile(
    r"(?:from|since|start\w*|begin\w*|began|appointed|von|ab|seit|beginn|de|du|depuis|desde|debut|inicio|dal?"
    r"|inizio|vanaf|sinds"
    r"|с|начало|自|起|开始|就任|就任年|시작|מ|من)(?: (?:year|date|jahr|datum))?"
)
_UNTIL_KEYS = re.compile(
    r"(?:until|till|to|end|ends|ended|left|through|bis|ende|austritt|a|au|jusqu\w*|fin|hasta|al|fino|fine|ate|fim"
    r"|tot|einde"
    r"|по|до|конец|至|止|卸任|退任|退任年|종료|עד|حتى|حتي|الى)(?: (?:year|date|jahr|datum))?"
)
_WAS = re.compile(
    r"(?:\b(?:was|were|formerly|previously|before|until now|so far|up to now|instead of|rather than|replaces"
    r"|replacing|replaced"
    r"|statt|anstatt|anstelle von|bisher|zuvor|vorher|fruher|bislang|lost|au lieu de|avant|auparavant|remplace"
    r"|ancien\w*|precedemment"
    r"|en lugar de|en vez de|antes|anteriormente|sustituye a|invece di|al posto di|prima|in precedenza|sostituisce"
    r"|em vez de"
    r"|anteriormente|in plaats van|voorheen|вместо|ранее|прежде|раньше)\b|原为|原先?|旧|以前|前(?=[:：])|代替|取代"
    r"|に代わり)[\s:：]*(?P<old>[^().,;（），；。]{1,60})"
)
_NEW = re.compile(
    r"(?:new|newly|neue\w*|neu|nouve\w+|nuev\w+|nuov\w+|nov[oa]s?|nieuwe?|нов\w+|now|jetzt|nun|desormais|maintenant"
    r"|ahora|ora|agora|nu)"
)
_SPANS = re.compile(rf"\bfrom\b[^.;,]{{0,24}}?{_YEAR}\s*(?:to|until|till|[-–—])")


def spoken(statement: Statement) -> str:
    """A statement folded, the columns `from` and `until` of a row as the range of years that they are."""
    folded = fold(statement.text)
    if statement.kind != ROW:
        return folded
    since = _year_in(statement, _FROM_KEYS)
    until = _year_in(statement, _UNTIL_KEYS)
    if since and until:
        return f"{folded}; {since}-{until}"
    return f"{folded}; since {since}" if since else f"{folded}; until {until}" if until else folded


def _year_in(statement: Statement, keys: re.Pattern[str]) -> str:
    for cell in statement.cells:
        if keys.fullmatch(fold(cell.key).strip()) and (match := re.search(rf"(?<!\d){_YEAR}(?!\d)", cell.text)):
            return match[0]
    return ""


_ASKS_HOLDER = re.compile(
    r"\b(?:who(?: is|'s|’s| are| leads| heads| runs| chairs| manages| directs| presides)|wer (?:ist|sind|leitet|fuhrt)"
    r"|qui (?:est|sont|dirige|preside)|quien(?:es)? (?:es|son|dirige|preside)|chi (?:e|sono|dirige|guida|presiede)"
    r"|quem (?:e|sao|dirige|preside)|wie (?:is|leidt)|кто|מי|من (?:هو|هي))(?!\w)|谁|誰|누구|누가"
)


def asks_for_holder(ask: str) -> bool:
    """Whether a question asks who holds a post, and not who left it, declined it or will have it."""
    folded = fold(ask)
    if not _ASKS_HOLDER.search(folded):
        return False
    return not _asks_of_leaving(folded)


def _asks_of_leaving(folded: str) -> bool:
    return _LEFT.search(folded) is not None or _LEAVES.search(folded) is not None or _LATER.search(folded) is not None


def holds_not(folded: str, word: str, places: Sequence[tuple[int, int]], ask: str) -> bool:
    """Whether a text names no holder of a post, wherever the post stands in it.

    >>> said = "sara lund resigned as chair in may 2024."
    >>> holds_not(said, "chair", [(22, 27)], "who is the chair?")
    True
    >>> said = "bo ray is chair since sara lund resigned."
    >>> holds_not(said, "chair", [(10, 15)], "who is the chair?")
    False
    """
    return bool(places) and all(_not_held_at(folded, start, stop, ask) for start, stop in places)


def _not_held_at(folded: str, start: int, stop: int, ask: str) -> bool:
    before = folded[max(0, start - 40) : start]
    near = re.split(r"[,;:.()]", before)[-1].split()[-2:]
    asked = fold(ask)
    if any(_OTHER_POST.fullmatch(part) and part not in asked for one in near for part in re.split(r"[-'’]", one)):
        return True
    if (other := _OTHER_HAN.search(before)) and other[0] not in asked:
        return True
    bounds = [0, *(match.start() for match in _CLAUSES.finditer(folded)), len(folded)]
    begin, end = next((one, other) for one, other in pairwise(bounds) if one <= start < other or other == bounds[-1])
    clause, first = folded[begin:end], folded[begin:start]
    if _LATER.search(clause if folded[start] > "\u2e80" else first) or _TO_BE.match(folded, stop):
        return True
    left = _LEFT.search(clause) or _LEAVES.search(first)
    if left is None:
        return False
    if re.match("candida|kandid|bew|候", left[0]):
        return True
    rest = clause[: left.start()] + clause[left.end() :]
    return _TAKES.search(rest) is None


def replaced(statements: Sequence[Statement], question: Sequence[str]) -> set[int]:
    """Those of some statements (by `id`) that say nothing else than what another one says is over."""
    gone: set[int] = set()
    for one in statements:
        folded = fold(one.text)
        for match in _WAS.finditer(folded):
            old = set(tokens(match["old"], query=True))
            old -= silent_words(old)
            left = folded[: match.start()]
            if not old or not _names_more(left, question):
                continue
            gone |= {
                id(other)
                for other in statements
                if other is not one and _says_only(other, old, question) and _same_matter(one, other)
            }
    return gone


def _names_more(text: str, question: Sequence[str]) -> bool:
    """Whether a text says something beside the words of the question."""
    words = set(tokens(text, query=True))
    return bool(words - silent_words(words) - set(question) - {word for word in words if _NEW.fullmatch(word)})


def _says_only(statement: Statement, old: set[str], question: Sequence[str]) -> bool:
    text = statement.text
    for value in reversed(statement.values):
        if value.kind in (DATE, YEAR):
            text = f"{text[: value.start]} {text[value.stop :]}"
    words = set(tokens(text, query=True))
    rest = words - silent_words(words)
    rest = {word for word in rest if not any(alike(term, word) > INSIDE for term in question)}
    keys = {cell.key for cell in statement.cells}
    rest -= {word for key in keys for word in tokens(key)}
    return bool(rest) and rest <= old


def earlier_holders(statements: Sequence[Statement], word: str) -> set[int]:
    """Those of some statements (by `id`) that say since when one has a post that another one has since later."""
    found: list[tuple[int, frozenset[str], Statement]] = []
    for one in statements:
        since = begun(spoken(one))
        if since is not None:
            found.append((since, _which(one, word), one))
    return {
        id(one)
        for since, which, one in found
        if any(later > since and other == which and _same_matter(one, two) for later, other, two in found)
    }


_SINCE = re.compile(
    r"(?:\b(?:since|as of|seit|ab|vom|depuis|a partir d[eu]|a compter d[eu]|desde|dal|a partire dal?|sinds|vanaf|с"
    r"|начиная с|מאז|منذ)\b|自|从)"
    rf"[^.;,]{{0,24}}?(?<!\d)(?P<year>{_YEAR})(?!\d)"
    rf"|\bfrom\b[^.;,]{{0,24}}?(?<!\d)(?P<from>{_YEAR})(?!\d)"
    rf"|(?P<han>{_YEAR})年?(?:\d{{1,2}}月)?(?:\d{{1,2}}日)?(?:から|起|부터)"
)


def begun(folded: str) -> int | None:
    """The last year since when a text says that something is."""
    found = [
        int(match["year"] or match["from"] or match["han"])
        for match in _SINCE.finditer(folded)
        if not (match["from"] and _SPANS.search(folded, match.start()))
    ]
    return max(found, default=None)


def _which(statement: Statement, word: str) -> frozenset[str]:
    """The words that tell a post from others of its kind: `medical director`, `director of nursing`."""
    if statement.kind == ROW:
        cells = [cell.text for cell in statement.cells if any(alike(word, one) > INSIDE for one in tokens(cell.text))]
        words = set(tokens(cells[0], query=True)) if cells else set()
        return frozenset(one for one in words - silent_words(words) if alike(word, one) <= INSIDE)
    words_in_order = re.findall(r"[^\W_]+(?:-[^\W_]+)*", statement.text)
    found: set[str] = set()
    for at, one in enumerate(words_in_order):
        if alike(word, fold(one)) <= INSIDE:
            continue
        before = words_in_order[at - 1] if at else ""
        if before and not before[0].isupper():
            found.add(fold(before))
        if at + 2 < len(words_in_order) and fold(words_in_order[at + 1]) in (
            "of",
            "der",
            "des",
            "du",
            "de",
            "del",
            "della",
        ):
            found.update(fold(each) for each in words_in_order[at + 2 : at + 4])
    return frozenset(found - silent_words(found) - {each for each in found if _NEW.fullmatch(each)})


def _same_matter(one: Statement, other: Statement) -> bool:
    """Whether two statements stand in one text, or in two of the same title but for dates."""
    if one.passage.source == other.passage.source:
        return True
    titles = [_title(one), _title(other)]
    common = titles[0] & titles[1]
    return not all(titles) or len(common) * 2 >= min(map(len, titles))


def _title(statement: Statement) -> set[str]:
    title = statement.passage.title
    for value in reversed(find_values(title, statement.language)):
        title = f"{title[: value.start]} {title[value.stop :]}"
    words = set(tokens(title, query=True))
    return {word for word in words - silent_words(words) if not any(letter.isdigit() for letter in word)}


def newly(statements: Sequence[Statement], word: str) -> set[int]:
    """Those of some statements (by `id`) that speak of a post where another text, not older, tells of a new holder."""
    new = [one for one in statements if _is_new(fold(one.text), word)]
    return {
        id(other)
        for one in new
        for other in statements
        if not any(other is each for each in new)
        and begun(spoken(other)) is None
        and _which(other, word) == _which(one, word)
        and _same_matter(one, other)
        and (other.passage.dated or "") <= (one.passage.dated or "9")
    }


def _is_new(folded: str, word: str) -> bool:
    words = re.findall(r"[^\W_]+", folded)
    return any(_NEW.fullmatch(before) and alike(word, one) > INSIDE for before, one in pairwise(words))
