"""What a property of a shape asks for: its words, and the kinds and units of values that it hints at."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from trivium.models.language import silent_words
from trivium.models.values import DATE, DURATION, MEASURE, MEASURES, MONEY, NUMBER, PERCENT, TIME, YEAR
from trivium.search.segment import fold, tokens

FREE, NAME, REASON, WHERE, EMAIL, LINK = "free", "name", "reason", "where", "email", "link"
"""Roles of texts: a statement as it is, a name in it, what follows `because`, the path of the source, addresses."""

_SHORT = {
    "pct": "percent", "perc": "percent", "num": "number", "qty": "quantity", "amt": "amount", "addr": "address",
    "desc": "description", "org": "organisation", "dept": "department", "max": "maximum", "min": "minimum",
    "tel": "telephone", "yrs": "years", "hrs": "hours", "mins": "minutes", "secs": "seconds", "temp": "temperature",
}  # fmt: skip
_UNITS = {
    "percent": (PERCENT, "%"), "percentage": (PERCENT, "%"), "prozent": (PERCENT, "%"), "porcentaje": (PERCENT, "%"),
    "pourcentage": (PERCENT, "%"), "百分比": (PERCENT, "%"),
    "usd": (MONEY, "USD"), "dollars": (MONEY, "USD"), "eur": (MONEY, "EUR"), "euro": (MONEY, "EUR"),
    "euros": (MONEY, "EUR"), "gbp": (MONEY, "GBP"), "pounds": (MONEY, "GBP"), "chf": (MONEY, "CHF"),
    "cny": (MONEY, "CNY"), "rmb": (MONEY, "CNY"), "jpy": (MONEY, "JPY"), "yen": (MONEY, "JPY"), "rub": (MONEY, "RUB"),
    "seconds": (DURATION, "second"), "minutes": (DURATION, "minute"), "hours": (DURATION, "hour"),
    "days": (DURATION, "day"), "weeks": (DURATION, "week"), "months": (DURATION, "month"), "years": (DURATION, "year"),
    "tage": (DURATION, "day"), "wochen": (DURATION, "week"), "monate": (DURATION, "month"), "jahre": (DURATION, "year"),
    "dias": (DURATION, "day"), "meses": (DURATION, "month"), "anos": (DURATION, "year"), "jours": (DURATION, "day"),
    "mois": (DURATION, "month"), "天数": (DURATION, "day"),
}  # fmt: skip
_KINDS = {
    MONEY: "price cost fee salary budget revenue turnover amount charge fare wage rent deposit preis kosten gebuhr"
    " umsatz precio coste tarifa prix cout tarif 价格 费用 金额",
    PERCENT: "share ratio discount rabatt descuento remise taux quota",
    DURATION: "duration period deadline notice frist dauer laufzeit plazo duracion duree delai 期限",
    MEASURE: "weight height length depth width speed power distance size temperature gewicht hohe lange leistung peso"
    " altura poids hauteur 重量 高度 功率",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in fold(words).split()}
_DATES = frozenset(
    fold(
        "date day on since until deadline due birthday signed start end begin begins ends starts expires expiry opened"
        " founded established introduced built released published"
        " gegrundet eroffnet gebaut eingefuhrt fundado fonde datum tag seit bis beginn ende fecha inicio fin"
        " echeance debut 日期"
    ).split()
)
_YEARS = frozenset(fold("year jahr ano annee anno год 年份").split())
_TIMES = frozenset(fold("time hour uhrzeit hora heure opens closes opening closing 时间").split())
_NAMES = frozenset(
    fold(
        "name person owner contact author director manager ceo cto cfo head leader lead chair founder builder architect"
        " customer client supplier vendor party company manufacturer maker city town country location place seat"
        " headquarters responsible librarian curator keeper leiter leiterin inhaber ansprechpartner ort stadt land sitz"
        " nombre directora ciudad pais nom directeur directrice ville pays 姓名 负责人 地点 城市"
    ).split()
)
_REASONS = frozenset(
    fold("reason why because rationale explanation justification cause grund razon raison 原因 理由").split()
)
_FREE = frozenset(
    fold(
        "summary answer description text quote evidence statement sentence details note explanation finding"
        " zusammenfassung antwort beschreibung resumen respuesta resume reponse 摘要 回答 描述"
    ).split()
)
_WHERE = frozenset(fold("source document file path quelle fuente 来源").split())
_GENERIC = frozenset(
    fold(
        "value answer result data info item is has are text string field output number amount total flag bool status"
        " the wert antwort ergebnis valor respuesta resultado valeur reponse resultat 值 结果"
    ).split()
)
_ADDRESSES = frozenset(["email", "mail", "url", "link", "website", "homepage"])
_PLACE = re.compile(r"\[\d*\]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Property(Struct, frozen=True):
    """A property: where it stands in the shape, its schema, and what its name and description say.

    `words` tell what it is about; without any, the question alone does. `kinds` and `unit` are what a number should be.
    """

    path: str
    schema: dict[str, Any]
    words: list[str] = []
    described: list[str] = []
    kinds: frozenset[str] = frozenset()
    unit: str = ""
    role: str = ""
    dated: bool = False

    @property
    def types(self) -> list[str]:
        declared = self.schema.get("type")
        return [declared] if isinstance(declared, str) else list(declared or [])


def read_property(path: str, schema: dict[str, Any]) -> Property:
    """What a property asks for.

    >>> asked = read_property("terms.notice_days", {"type": "integer"})
    >>> asked.words, sorted(asked.kinds), asked.unit
    (['notice'], ['duration'], 'day')
    """
    name = _PLACE.sub("", path).rpartition(".")[2]
    if path.endswith("]") and not path.endswith("[]") and ("title" in schema or "description" in schema):
        name = ""  # a place of an array is not what the array is
    parts = _parts(f"{name} {schema.get('title', '')}")
    described = _parts(str(schema.get("description", "")))
    kinds, unit = _hints(parts)
    if not kinds:
        kinds, unit = _hints(described)
    words = [word for word in parts if not _is_hint(word)]
    if not words:
        words = [word for word in parts if word not in _GENERIC and word in _KIND_OF]
    form = schema.get("format")
    return Property(
        path,
        schema,
        words,
        [word for word in described if not _is_hint(word)],
        kinds,
        unit,
        _role(name, parts, described, form),
        form in ("date", "date-time") or _says(_DATES, name, parts),
    )


def _is_hint(word: str) -> bool:
    """Whether a word says what kind of value is meant rather than what it is about."""
    return word in _UNITS or word in MEASURES or word in _GENERIC or word in _YEARS or word in _ADDRESSES


def _parts(text: str) -> list[str]:
    cut = _CAMEL.sub(" ", text).replace("_", " ").replace("-", " ")
    found = [_spelled(_SHORT.get(word, word)) for word in dict.fromkeys(tokens(cut, query=True))]
    silent = silent_words(found)
    return [word for word in found if word not in silent or word in _REASONS]


def _spelled(word: str) -> str:
    """`gegruendet` as `gegrundet` where that is a word that says something here."""
    plain = word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    known = (_DATES, _NAMES, _REASONS, _FREE, _KIND_OF)
    return plain if any(plain in words for words in known) else word


def _hints(words: list[str]) -> tuple[frozenset[str], str]:
    for word in words:
        if word in _UNITS:
            kind, unit = _UNITS[word]
            return frozenset({kind}), unit
    if words and words[-1] in MEASURES and len(words) > 1:
        return frozenset({MEASURE}), MEASURES[words[-1]]
    kinds = {_KIND_OF[word] for word in words if word in _KIND_OF}
    if _YEARS & set(words):
        kinds |= {YEAR, DATE}
    if _TIMES & set(words):
        kinds |= {TIME}
    if "number" in words or "count" in words:
        kinds |= {NUMBER}
    return frozenset(kinds), ""


def _says(known: frozenset[str], name: str, parts: list[str]) -> bool:
    """Whether a name holds one of some words; in scripts without spaces, anywhere."""
    return not known.isdisjoint(parts) or any(word in name for word in known if word > "\u2e80")


def _role(name: str, parts: list[str], described: list[str], form: object) -> str:
    if form in ("email", "idn-email") or _ADDRESSES & set(parts) & {"email", "mail"}:
        return EMAIL
    if form in ("uri", "url", "iri") or _ADDRESSES & set(parts):
        return LINK
    if _says(_REASONS, name, parts):
        return REASON
    if parts and set(parts) <= _WHERE:
        return WHERE
    if _says(_FREE, name, parts):
        return FREE
    tail = re.search("(?:_|(?<=[a-z])(?=[A-Z]))(in|at|by|from|In|At|By|From)$", name)
    if _says(_NAMES, name, parts) or tail or {"name", "who", "wer", "quien", "qui"} & set(described):
        return NAME
    return ""
