"""The few sentences that answers are framed with, in the language of the question."""

from __future__ import annotations

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


def sentence(name: str, language: str) -> str:
    """One of the framing sentences in a language; English where there is none."""
    return _SENTENCES[name].get(language, _SENTENCES[name]["en"])
