"""Questions that are about how things hang together, and not about one fact."""

from __future__ import annotations

import re

from trivium.search.segment import fold

_CUES = re.compile(
    r"""\b(?:
      relat(?:ed|es?|ions?|ionships?)\b | connect(?:s|ed|ions?)?\b | link(?:s|ed)?\sbetween\b
    | depend(?:s|ed|encies)?\son\b
    | in\scommon\b | compar(?:e[ds]?|ison|ing)\b | differ(?:s|ences?)?\b(?=.*\b(?:between|from)\b) | overviews?\b
    | summar(?:y|ies|i[sz]e[ds]?)\b | themes?\b | across\b | who\s(?:else\s)?(?:works?|worked)\swith\b | timeline\b
    | which\s\w+s\b(?=.*\b(?:both|mention|involve|affect)s?\b) | impacts?\sof\b | network\sof\b

    | zusammenh\w+\b | beziehung\w*\b | verbind\w+\b | vergleich\w*\b | uberblick\w*\b | ubersicht\w*\b
    | unterschied\w*\b | gemeinsam\w*\b | hangt?\b.*\bzusammen\b | abhang\w+\b | zusammenfass\w+\b

    | liens?\sentre\b | rapports?\sentre\b | relations?\sentre\b | compar(?:er|aison)\b | resum(?:e|er)\b
    | points?\scommuns?\b
    | relacion\w*\b | conexion\w*\b | compara\w*\b | resum(?:en|ir)\b | vision\sgeneral\b | en\scomun\b
    | relazion\w+\b | confront\w+\b | riassunt\w+\b | panoramica\b | collegament\w+\b | relac(?:ao|oes)\b
    | ligac\w+\b
    )
    | связ[ьиа] | связан | сравн | обзор | общего\sмежду | 关系 | 关联 | 联系 | 比较 | 区别 | 概述 | 总结 | 共同点
    | 関係 | 関連 | 比較 | 違い | 概要 | まとめ | 관계 | 비교 | 차이 | 요약""",
    re.VERBOSE,
)


def asks_for_connections(question: str) -> bool:
    """Whether a question is one that artifacts answer better than single passages.

    >>> asks_for_connections("How are the pricing tiers related to the renewal discounts?")
    True
    >>> asks_for_connections("When does the contract end?")
    False
    """
    return _CUES.search(fold(question)) is not None
