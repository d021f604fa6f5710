"""Dimensions: which words ask for a size, a weight, a price, and which values tell one without the word.

"At most 64 KiB" tells a size and "wiegt 780 kg" a weight. What is 50 metres long is not 50 metres deep, and the least
is not the most.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from msgspec import Struct

from trivium.language.values import DATE, DURATION, MEASURE, MONEY, NUMBER, PERCENT, TIME, YEAR, Value
from trivium.search.segment import fold


class Dimension(Struct, frozen=True):
    """A value of one of its `kinds` and `units` tells it; without units any will do.

    `words` name it, `adjectives` ask for it (`how heavy`). `wanted` are the kinds of values of which an answer has one.
    """

    words: str
    adjectives: str
    kinds: frozenset[str]
    units: frozenset[str]
    wanted: frozenset[str]


_LENGTHS = frozenset(["m", "km", "cm", "mm", "ft", "nm"])
_BYTES = frozenset(["bytes", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "bit"])
_AREAS = frozenset(["m²", "m2", "km²", "mm²", "ha"])
_TIMES = frozenset(["second", "minute", "hour", "day", "week", "month", "year"])
_MEASURED = frozenset({MEASURE, NUMBER})
_COUNTED = frozenset({NUMBER, MEASURE, DURATION})


def _measured(words: str, adjectives: str, units: Collection[str], *kinds: str) -> Dimension:
    return Dimension(words, adjectives, frozenset({MEASURE, *kinds}), frozenset(units), _MEASURED | set(kinds))


_DIMENSIONS = (
    _measured(
        "size sizes grosse taille tamano dimensione tamanho grootte размер",
        "large big gross grande grand groot",
        _BYTES | _AREAS | _LENGTHS | {"characters"},
    ),
    _measured(
        "length lange longueur longitud lunghezza comprimento lengte длина אורך طول",
        "long lang",
        _LENGTHS | _TIMES | {"characters"},
        DURATION,
    ),
    _measured("height hohe hauteur altura altezza hoogte высота גובה ارتفاع", "high tall hoch haut alto", _LENGTHS),
    _measured("width breite largeur anchura larghezza largura breedte ширина", "wide breit", _LENGTHS),
    _measured("depth tiefe profondeur profundidad profondita draught tiefgang глубина", "deep tief", _LENGTHS),
    _measured("diameter durchmesser diametre diametro", "", _LENGTHS),
    _measured("thickness dicke epaisseur espesor spessore", "thick dick", _LENGTHS),
    _measured("altitude elevation altitud meereshohe", "", _LENGTHS),
    _measured("distance entfernung abstand distancia distanza afstand расстояние מרחק مسافه", "far weit", _LENGTHS),
    _measured(
        "weight gewicht poids peso mass masse вес משקל وزن", "heavy schwer lourd", ["kg", "g", "t", "mg", "lb", "oz"]
    ),
    _measured(
        "temperature temperatures temperatur temperaturen temperatura температура",
        "hot cold warm kalt chaud froid",
        ["°c", "°f"],
    ),
    _measured("area flache superficie surface oppervlakte площадь", "", _AREAS),
    _measured(
        "speed geschwindigkeit vitesse velocidad velocita velocidade snelheid скорость",
        "fast schnell",
        ["km/h", "mph", "m/s", "rpm", "mbit/s", "gbit/s", "mbps", "gbps"],
    ),
    _measured("power leistung puissance potencia potenza vermogen мощность", "", ["w", "kw", "mw"]),
    _measured("voltage spannung tension voltaje tensione", "", ["v", "kv"]),
    _measured(
        "capacity volume kapazitat fassungsvermogen capacite capacidad capacita volumen",
        "",
        _BYTES | {"l", "ml", "mah"},
    ),
    Dimension(
        "price prices cost costs fee fees preis preise gebuhr prix tarif cout precio tarifa coste prezzo tariffa costo"
        " preco prijs цена стоимость salary gehalt salaire salario stipendio budget rent miete loyer deposit kaution"
        " מחיר עלות שכר דמי תשלום تكلفه سعر ثمن رسوم اجره راتب",
        "expensive teuer cher caro",
        frozenset({MONEY}),
        frozenset(),
        frozenset({MONEY, PERCENT, NUMBER}),
    ),
    Dimension(
        "last lasts lasted take takes took dauert dauern dauerte dure durent dura duran duro duurt duren длится длилась"
        " duration dauer duree duracion durata duracao duur длительность timeout runtime lifetime lifespan laufzeit"
        " frist kundigungsfrist plazo delai wartezeit משך مده",
        "",
        frozenset({DURATION}),
        frozenset(),
        _COUNTED | {DATE},
    ),
    Dimension(
        "percentage share rate anteil prozentsatz pourcentage porcentaje percentuale",
        "",
        frozenset({PERCENT}),
        frozenset(),
        _COUNTED | {PERCENT, MONEY},
    ),
    Dimension(
        "date datum fecha data дата תאריך تاريخ موعد",
        "",
        frozenset({DATE}),
        frozenset(),
        frozenset({DATE, YEAR, TIME}),
    ),
    Dimension("period periods fristen perioden plazos delais", "", frozenset({DURATION}), frozenset(), frozenset()),
    Dimension("birthday geburtstag", "", frozenset(), frozenset(), frozenset({DATE, YEAR, TIME})),
    Dimension("year jahr annee ano anno jaar", "", frozenset({YEAR, DATE}), frozenset(), frozenset({YEAR, DATE})),
    Dimension("port population age alter edad number anzahl nombre numero", "", frozenset(), frozenset(), _COUNTED),
)


@cache
def _named() -> dict[str, Dimension]:
    return {word: dimension for dimension in _DIMENSIONS for word in dimension.words.split()}


@cache
def _asked() -> dict[str, Dimension]:
    adjectives = {word: dimension for dimension in _DIMENSIONS for word in dimension.adjectives.split()}
    return {**adjectives, **_named()}


def wanted_of(head: str) -> frozenset[str]:
    """The kinds of values of which an answer has one, where the thing asked for is a quantity or a time.

    >>> sorted(wanted_of("price")), wanted_of("policy")
    (['money', 'number', 'percent'], frozenset())
    """
    return _named()[head].wanted if head in _named() else frozenset()


def tells(word: str, values: Collection[Value], words: Collection[str]) -> bool:
    """Whether one of the values of a text tells by its unit alone what a word of a question asks for.

    Not where the words of the text name another dimension of such units.
    """
    dimension = _asked().get(word)
    if dimension is None:
        return False
    named = [_asked()[other] for other in words if other in _asked()]
    return any(
        value.kind in dimension.kinds
        and (not dimension.units or value.unit in dimension.units)
        and (dimension in named or all(value.unit not in other.units for other in named))
        for value in values
    )


# --- the most and the least -----------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MOST = _words(
    "max maximum maximal maximale maximaler maximales maximalen maximo maxima massimo massima maximaal most largest"
    " highest longest hochste hochster hochstens"
)
_LEAST = _words(
    "min minimum minimal minimale minimaler minimales minimalen minimo minima minimaal least smallest lowest shortest"
    " niedrigste geringste mindest mindestens"
)
_FIRST = _words("first erste ersten erster premier premiere primer primera primo prima")
_LAST = _words("last letzte letzten letzter dernier derniere ultimo ultima")
_OPPOSITES = ((_MOST, _LEAST), (_LEAST, _MOST), (_FIRST, _LAST), (_LAST, _FIRST))
_BOUNDED = re.compile(
    r"\b(?:may|can|up to|at most|no more than|not more than|holds?|limited to|bis zu|hochstens|maximal|darf|durfen|kann"
    r"|konnen|puede[n]?|como maximo|hasta|peut|peuvent|jusqu|au plus|al massimo|fino a|puo|possono)\b"
)


def denies(words: Collection[str], there: Collection[str]) -> bool:
    """Whether a text has the opposite of a word of a question, and not the word.

    >>> denies(["maximum", "temperature"], ["minimum", "temperature"])
    True
    """
    return any(
        not asked.isdisjoint(words)
        and against.isdisjoint(words)
        and asked.isdisjoint(there)
        and not against.isdisjoint(there)
        for asked, against in _OPPOSITES
    )


def is_bounded(word: str, text: str) -> bool:
    """Whether a text sets a bound in other words, where the word of the question asks for the most.

    >>> is_bounded("maximum", "A message may have 240 characters.")
    True
    """
    return word in _MOST and bool(_BOUNDED.search(fold(text)))
