"""The questions of an ask in Chinese, Japanese or Korean, where the word that asks may stand anywhere."""

from __future__ import annotations

import re

_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ASKS = re.compile(
    "谁|誰|什么时候|什麼時候|什么地方|什么|什麼|何(?=[人時處年月日歳回個名がをで曜])|为何|如何|怎[么麼样樣]"
    "|多[少久长長大高重远]|几|哪|吗|嗎"
    "|いくら|いくつ|いつ|どこ|だれ|どなた|どう|なぜ|どれ|どの|どんな|なん|なに|ですか|ますか"
    "|누구|누가|무엇|언제|어디|얼마|몇|왜|어떻게|어느"
)
_PARTS = re.compile(
    "(?:[，、,；;。]|以及|并且|並且|还有|還有|そして|および|(?<=誰)で[、,]?|그리고)+(?:[，、,]?(?:以及|并且|並且|还有|還有|また|そして|그리고))?\\s*"
)
_TOGETHER = re.compile("比较|比較|区别|區別|不同|違い|差|비교|차이|之间|之間")
_SILENT = re.compile(
    "[是的了吗嗎呢吧在有能会會要请請问問我你他她它们們和与與はがをにのでともへやかはだ]|です|ます|でしょう|입니까|인가요|나요|[은는이가을를의]"
)
_LISTED = re.compile(
    "(?P<items>[^，。；？?!]{2,80}?)(?P<tail>(?:分别|分別|各自|各|それぞれ)?(?:(?:是|为|為|在|有|于)|(?:は|が)(?:それぞれ)?)?(?:谁|誰|什么|什麼|多少|几|哪|いくら|いつ|どこ|だれ|どなた|何).*)"
)
_ITEMS = re.compile("、|(?<=[^、]{2})(?:以及|及び|および|和|与|與|及|と)(?=[^、]{2})")
_LONGEST = 1_000


def is_spaceless(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return len(_SPACELESS.findall(text)) * 2 > letters


def questions_joined(question: str) -> list[str]:
    """A question as those that commas join in it, or that it asks of each thing that it enumerates.

    >>> questions_joined("馆长是谁，门票价格是多少？")
    ['馆长是谁？', '门票价格是多少？']
    >>> questions_joined("馆长、秘书和司库分别是谁？")
    ['馆长是谁？', '秘书是谁？', '司库是谁？']
    >>> questions_joined("门票、导览的价格是多少？")
    ['门票的价格是多少？', '导览的价格是多少？']
    >>> questions_joined("在上海，博物馆几点开门？"), questions_joined("什么时候、在哪里成立的？")
    (['在上海，博物馆几点开门？'], ['什么时候、在哪里成立的？'])
    """
    if len(question) > _LONGEST or _TOGETHER.search(question):
        return [question]
    end = question[-1] if question[-1] in "?？" else ""
    found, start = list[str](), 0
    for match in _PARTS.finditer(question):
        first, rest = question[start : match.start()], question[match.end() :]
        if _is_whole(first) and _is_whole(re.split("[，、,；;]", rest, maxsplit=1)[0]):
            found.append(f"{first.strip()}{end}")
            start = match.end()
    parts = [*found, question[start:]]
    return [one for part in parts for one in _of_each(part)]


def _is_whole(text: str) -> bool:
    """Whether a text asks, and says of what."""
    return bool(_ASKS.search(text)) and bool(re.search(r"\w", _SILENT.sub("", _ASKS.sub("", text))))


def _of_each(question: str) -> list[str]:
    """`A、B是谁` as a question for A and one for B."""
    match = _LISTED.fullmatch(question)
    if match is None or ("、" not in match["items"] and not match["tail"].startswith(("分别", "分別", "それぞれ"))):
        return [question]
    items = [item.strip() for item in _ITEMS.split(match["items"])]
    if len(items) < 2 or not all(1 < len(item) <= 15 and not _ASKS.search(item) for item in items):
        return [question]
    tail = re.sub("分别|分別|各自|各|それぞれ", "", match["tail"], count=1)
    first, of, rest = items[0].partition("的" if "的" in items[0] else "の")
    if rest and not any(of in item for item in items[1:]):  # of one thing
        items = [items[0], *(f"{first}{of}{item}" for item in items[1:])]
    last, of, rest = items[-1].partition("的" if "的" in items[-1] else "の")
    if rest and not any(of in item for item in items[:-1]):  # the same of each
        items, tail = [*items[:-1], last], f"{of}{rest}{tail}"
    return [f"{item}{tail}" for item in items]
