"""The language of a short text, its function words, and the few sentences that answers are framed with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from trivium.search.segment import fold, tokens
from trivium.search.stop_words import languages_of, stop_words_of

# Words of requests, which say nothing about what is asked for.
_REQUESTS = """get gets got tell give show explain describe list want know find say says mean means need see look across
    between among please nenne nennen zeige erklare beschreibe bitte gib sag sagen dime muestra explica describe lista
    dis montre explique decris liste dimmi mostra spiega elenca diga mostre explique liste noem toon vertel
    назови покажи расскажи опиши перечисли"""
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
)
_SIGNS = {"es": "¿¡ñ", "de": "äöüß", "fr": "êçœ", "pt": "ãõ", "it": "òì"}
DECIMAL_COMMA = frozenset({"de", "es", "fr", "it", "pt", "nl", "ru", "el"})
"""Languages that write 1.234,5 where English writes 1,234.5."""

NOT_FOUND, RELATED, NEAREST = "not_found", "related", "nearest"
DISAGREE, UNDATED, ALSO, BEYOND = "disagree", "undated", "also", "beyond"
_SENTENCES = {
    NOT_FOUND: {
        "en": "The knowledge does not hold an answer to this question.",
        "de": "Das Wissen enthält keine Antwort auf diese Frage.",
        "es": "El conocimiento no contiene una respuesta a esta pregunta.",
        "fr": "Les connaissances ne contiennent pas de réponse à cette question.",
        "it": "La conoscenza non contiene una risposta a questa domanda.",
        "pt": "O conhecimento não contém uma resposta a esta pergunta.",
        "nl": "De kennis bevat geen antwoord op deze vraag.",
        "ru": "В базе знаний нет ответа на этот вопрос.",
        "zh": "知识库中没有这个问题的答案。",
        "ja": "この質問に対する答えは知識の中にありません。",
        "ko": "지식에 이 질문에 대한 답이 없습니다.",
    },
    RELATED: {
        "en": "The nearest places:",
        "de": "Am nächsten liegen:",
        "es": "Los lugares más cercanos:",
        "fr": "Les endroits les plus proches :",
        "it": "I punti più vicini:",
        "pt": "Os lugares mais próximos:",
        "nl": "De dichtstbijzijnde plaatsen:",
        "ru": "Ближайшие места:",
        "zh": "最接近的位置：",
        "ja": "最も近い箇所：",
        "ko": "가장 가까운 곳:",
    },
    NEAREST: {
        "en": "No source says this in so many words. The closest passage:",
        "de": "Keine Quelle sagt das wörtlich. Am nächsten kommt:",
        "es": "Ninguna fuente lo dice con esas palabras. El pasaje más cercano:",
        "fr": "Aucune source ne le dit en ces termes. Le passage le plus proche :",
        "it": "Nessuna fonte lo dice con queste parole. Il passaggio più vicino:",
        "pt": "Nenhuma fonte o diz com estas palavras. A passagem mais próxima:",
        "nl": "Geen bron zegt dit met zoveel woorden. De passage die het dichtst komt:",
        "ru": "Дословно этого нет ни в одном источнике. Ближайшее место:",
        "zh": "没有来源这样直接说明。最接近的内容：",
        "ja": "そのまま述べている出典はありません。最も近い箇所：",
        "ko": "그대로 말하는 출처는 없습니다. 가장 가까운 부분:",
    },
    DISAGREE: {
        "en": "The sources disagree:",
        "de": "Die Quellen widersprechen sich:",
        "es": "Las fuentes no coinciden:",
        "fr": "Les sources se contredisent :",
        "it": "Le fonti non concordano:",
        "pt": "As fontes não concordam:",
        "nl": "De bronnen spreken elkaar tegen:",
        "ru": "Источники расходятся:",
        "zh": "各来源说法不一：",
        "ja": "出典の間で食い違いがあります：",
        "ko": "출처들이 서로 다릅니다:",
    },
    UNDATED: {
        "en": "undated",
        "de": "ohne Datum",
        "es": "sin fecha",
        "fr": "sans date",
        "it": "senza data",
        "pt": "sem data",
        "nl": "zonder datum",
        "ru": "без даты",
        "zh": "无日期",
        "ja": "日付なし",
        "ko": "날짜 없음",
    },
    ALSO: {
        "en": "Nothing was found about",
        "de": "Nichts gefunden wurde zu",
        "es": "No se encontró nada sobre",
        "fr": "Rien n'a été trouvé sur",
        "it": "Nulla è stato trovato su",
        "pt": "Nada foi encontrado sobre",
        "nl": "Niets gevonden over",
        "ru": "Ничего не найдено о",
        "zh": "没有找到关于以下内容的信息：",
        "ja": "次については何も見つかりませんでした：",
        "ko": "다음에 대해서는 찾은 것이 없습니다:",
    },
    BEYOND: {
        "en": "These are more questions than are answered at once. Not looked at:",
        "de": "Das sind mehr Fragen, als auf einmal beantwortet werden. Nicht angesehen:",
        "es": "Son más preguntas de las que se responden a la vez. No se han mirado:",
        "fr": "Il y a plus de questions qu'il n'en est traité à la fois. Non examinées :",
        "it": "Sono più domande di quante se ne trattino insieme. Non esaminate:",
        "pt": "São mais perguntas do que as respondidas de uma vez. Não foram vistas:",
        "nl": "Dit zijn meer vragen dan er tegelijk worden beantwoord. Niet bekeken:",
        "ru": "Вопросов больше, чем рассматривается за раз. Не рассмотрены:",
        "zh": "问题数量超过一次能回答的上限。未查看：",
        "ja": "一度に答えられる数を超える質問です。見ていないもの：",
        "ko": "한 번에 답하는 수보다 질문이 많습니다. 보지 않은 질문:",
    },
}


@cache
def _requests() -> frozenset[str]:
    return frozenset(fold(_REQUESTS).split())


def silent_words(words: Iterable[str]) -> set[str]:
    """Those of the folded words of a text that tell nothing: stop words, and words of requests."""
    known = set(words)
    return stop_words_of(known) | (known & _requests())


def language_of(text: str, *, otherwise: str = "en") -> str:
    """The two-letter code of the language a text is most likely in.

    >>> [language_of(text) for text in ("Wie hoch ist die Gebühr?", "What is the fee?", "费用是多少？")]
    ['de', 'en', 'zh']
    """
    sample = text[:2000]
    letters = sum(map(str.isalpha, sample))
    for code, script in _SCRIPTS:
        if len(script.findall(sample)) * 4 > letters:
            return code
    found = tokens(sample)
    signs = "¿¡ñ" if "¿" in sample or "ñ" in sample else ""
    counts = languages_of(found)
    for code, signs in _SIGNS.items():
        counts[code] += any(sign in sample for sign in signs)
    best = max(counts, key=lambda code: (counts[code], code == otherwise))
    return best if counts[best] else otherwise


def sentence(name: str, language: str) -> str:
    """One of the framing sentences in a language; English where there is none."""
    return _SENTENCES[name].get(language, _SENTENCES[name]["en"])
