"""Values in a text: numbers with what they count, percentages, money, durations, dates, times, and labels.

A label is a number that names its thing (`Tier 2`, `§ 4.2`, `v1.3`); it says what a sentence is about, not how much.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left, insort
from collections.abc import Iterator
from decimal import Decimal
from functools import cache

from msgspec import Struct

from trivium.language.languages import DECIMAL_COMMA
from trivium.search.segment import fold

PERCENT, MONEY, DURATION, MEASURE, NUMBER = "percent", "money", "duration", "measure", "number"
DATE, YEAR, TIME, LABEL = "date", "year", "time", "label"


class Value(Struct, frozen=True):
    """A value at `text[start:stop]`. `amount` and `unit` of quantities; `iso` of dates, years and times.

    Durations have the unit second to year, money an ISO code or the sign, percentages `%`.
    """

    kind: str
    start: int
    stop: int
    amount: Decimal | None = None
    unit: str = ""
    iso: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Equal for two values that say the same: `2 weeks` and `14 days`, `1,000 €` and `EUR 1000`."""
        if self.amount is None:
            return self.kind, self.iso
        amount, unit = self.amount, self.unit
        if self.kind == DURATION and unit in _DAYS:
            amount, unit = amount * _DAYS[unit], "day"
        elif self.kind == DURATION and unit == "year":
            amount, unit = amount * 12, "month"
        return self.kind, f"{amount.normalize():f} {unit}"


_DAYS = {"day": 1, "week": 7}

_MONTHS = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "ru2": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "he": "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
    "ar": "يناير فبراير مارس ابريل مايو يونيو يوليو اغسطس سبتمبر اكتوبر نوفمبر ديسمبر",
    "short": "jan feb mar apr may jun jul aug sep oct nov dec",
}
_MONTH_NUMBERS = {name: n for names in _MONTHS.values() for n, name in enumerate(names.split(), 1)} | {"sept": 9}

_NUMBER_WORDS = {
    word: n
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen twenty",
        "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince",
        "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze",
        "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici",
        "zero um dois tres quatro cinco seis sete oito nove dez onze doze treze quatorze quinze",
        "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf",
        "ноль один два три четыре пять шесть семь восемь девять десять",
    )
    for n, word in enumerate(words.split())
} | {
    "eine": 1, "einen": 1, "einem": 1, "einer": 1, "una": 1, "une": 1, "uma": 1, "duas": 2, "две": 2,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
    "zwanzig": 20, "dreissig": 30, "vierzig": 40, "funfzig": 50, "sechzig": 60, "neunzig": 90, "hundert": 100,
    "veinte": 20, "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "noventa": 90, "cien": 100,
    "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
    "venti": 20, "trenta": 30, "sessanta": 60, "novanta": 90, "cento": 100, "vinte": 20, "trinta": 30,
    "двадцать": 20, "тридцать": 30, "сорок": 40, "девяносто": 90, "сто": 100,
}  # fmt: skip
_HAN_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}

_UNITS = {
    "second": "second seconds sec secs sekunde sekunden segundo segundos seconde secondes secondo secondi secondo"
    " seconden секунда секунды секунд שניה שנייה שניות ثانيه ثوان 秒 秒間 초",
    "minute": "minute minutes min mins minuten minuto minutos minuti minuut минута минуты минут דקה דקות"
    " دقيقه دقائق 分钟 分間 분",
    "hour": "hour hours hr hrs stunde stunden std hora horas heure heures ora ore uur uren час часа часов"
    " שעה שעות ساعه ساعات 小时 個小時 个小时 時間 시간",
    "day": "day days tag tage tagen dia dias jour jours giorno giorni dag dagen день дня дней יום ימים ימי يوم يوما"
    " ايام 天 日間 日 일",
    "week": "week weeks woche wochen semana semanas semaine semaines settimana settimane weken неделя недели недель"
    " שבוע שבועות اسبوع اسبوعا اسابيع"
    " 周 星期 个星期 週間 週 주",
    "month": "month months monat monate monaten mes meses mois mese mesi maand maanden месяц месяца месяцев חודש חודשים"
    " חודשי شهر شهرا اشهر شهور 个月 個月"
    " ヶ月 か月 カ月 개월",
    "year": "year years yr yrs jahr jahre jahren ano anos an ans annee annees anno anni jaar jaren год года лет"
    " שנה שנים שנות سنه سنوات عام عاما اعوام 年 年間"
    " 년",
}
_BETWEEN = (
    "business working calendar consecutive full whole paid Werk Arbeits Kalender bezahlte bezahlten gesetzliche"
    " calendar banking 个工作 工作 自然"
)
_DURATIONS = {fold(word): unit for unit, words in _UNITS.items() for word in words.split()}
_CURRENCIES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "dolares": "USD", "dollari": "USD",
    "美元": "USD", "ドル": "USD", "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "евро": "EUR", "欧元": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "¥": "JPY", "jpy": "JPY", "円": "JPY", "yen": "JPY",
    "元": "CNY", "cny": "CNY", "rmb": "CNY", "人民币": "CNY", "chf": "CHF", "franken": "CHF", "₽": "RUB", "rub": "RUB",
    "руб": "RUB", "рублей": "RUB", "рубля": "RUB", "₹": "INR", "inr": "INR", "원": "KRW", "krw": "KRW", "cad": "CAD",
    "aud": "AUD", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "brl": "BRL", "r$": "BRL",
    "₪": "ILS", "ils": "ILS", "שקל": "ILS", "שקלים": "ILS", "ש״ח": "ILS", 'ש"ח': "ILS", "דולר": "USD",
    "דולרים": "USD", "אירו": "EUR", "יורו": "EUR", "دولار": "USD", "دولارا": "USD", "يورو": "EUR", "ريال": "SAR",
    "ريالا": "SAR", "درهم": "AED", "درهما": "AED", "جنيه": "EGP", "جنيها": "EGP",
}  # fmt: skip
_SCALES = {
    "thousand": 10**3, "tausend": 10**3, "mil": 10**3, "mille": 10**3, "тыс": 10**3, "тысяч": 10**3, "k": 10**3,
    "million": 10**6, "millions": 10**6, "mio": 10**6, "millionen": 10**6, "millones": 10**6, "millon": 10**6,
    "milioni": 10**6, "milhoes": 10**6, "miljoen": 10**6, "млн": 10**6, "m": 10**6, "mn": 10**6,
    "百万": 10**6,
    "billion": 10**9, "billions": 10**9, "bn": 10**9, "mrd": 10**9, "milliarden": 10**9, "milliards": 10**9,
    "miliardi": 10**9, "miljard": 10**9, "млрд": 10**9, "万": 10**4, "亿": 10**8, "億": 10**8, "千": 10**3,
}  # fmt: skip
_SHORT_SCALES = frozenset({"k", "m"})
MEASURES = {
    unit: names.split()[0]
    for names in (
        "km kilometres kilometers kilometer kilometros 公里 千米",
        "m metres meters meter metre metros metri метров 米 メートル",
        "kg 公斤 千克 キロ", "g grams gramm gramos grammes 克", "t tonnes tons tonnen toneladas 吨",
        "l litres liters liter litros 升", "°c degrees 度 ℃", "bytes byte", "w 瓦", "kw 千瓦", "v 伏", "cm 厘米",
        "mm 毫米", "ml 毫升", "nm", "mg", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "hz", "khz", "mhz", "ghz",
        "mw", "kwh", "mwh", "kv", "ma", "mah", "°f", "pa", "bar", "lux", "lm", "db", "dpi", "px", "rpm", "km/h", "mph",
        "m/s", "m²", "m2", "km²", "mm²", "ha", "ft", "lb lbs", "oz", "kbit", "mbit", "gbit", "mbit/s", "gbit/s", "mbps",
        "gbps", "bit bits", "ms",
        "characters character chars char zeichen caracteres caratteri signes karakters символов 字符 文字",
    )
    for unit in names.split()
}  # fmt: skip
"""A word to the unit that it names."""
_LABEL_WORDS = frozenset(
    fold(
        "section sections sec chapter article art clause paragraph appendix annex table figure fig page pages step"
        " phase tier level version release stage grade class type model room gate floor line item no nr nos number rule"
        " status http"
        " abschnitt kapitel artikel absatz anhang tabelle seite schritt stufe klasse raum zeile ziffer"
        " seccion capitulo articulo clausula anexo tabla pagina paso fase nivel sala version"
        " chapitre clause annexe tableau page etape niveau salle capitolo articolo tabella pagina livello"
        " раздел глава статья пункт таблица страница шаг уровень"
    ).split()
)

_LETTER = r"[^\W\u2e80-\ud7ff]"  # of scripts that part words by spaces
_GROUPS = r"\d{1,3}(?:(?P<sep>[,.'’\u00a0\u202f])\d{3})(?:(?P=sep)\d{3})*(?:[.,]\d+)?|\d{1,3}(?: \d{3})+(?:[.,]\d+)?"
_NUMBER = re.compile(
    rf"(?<!{_LETTER})(?<![.,§#/:](?=\d))(?:(?<!-(?=\d))"
    rf"|(?<=[א-ת]-))(?P<sign>[-−+](?=\d))?(?P<digits>(?:{_GROUPS})(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?!\d|[.,/:-]\d)"
)
_COUNTED = "天|日|周|星期|个星期|个月|個月|年|小时|个小时|分钟|秒|%|元|人|名|个|次|台|倍"
_HAN_NUMBER = re.compile(f"[零〇一二两三四五六七八九十百]+(?=\\s*(?:个工作|工作|自然)?(?:{_COUNTED}))")
_HAN_PERCENT = re.compile(r"百分之(\d+(?:\.\d+)?|[零一二两三四五六七八九十百]+)")
_WORD = re.compile(r"[^\W\d_]+")
_SPACE = "[ \u00a0\u202f-]?"
_PERCENT_WORD = re.compile(
    rf"{_SPACE}(?:[%％]|pct\b|per\s?cent[o]?\b|prozent\b|por\s?ciento\b|por\s?cento\b|pour\s?cent\b|процент\w*)"
)
_UNIT_WORD = re.compile(rf"{_SPACE}(?P<word>°[cf]|[$€£¥₽₹₪]|r\$|ש[\"״]ח|[^\W\d_]+\.?(?:[/²][^\W_]*)?\d?)")
_SCALE_WORD = re.compile(f"{_SPACE}(百万|[万亿億千]|[^\\W\\d_]+)\\.?")
_MONEY_BEFORE = re.compile(
    r"(?:US\$|R\$|[$€£¥₽₹₪]|\b(?:USD|EUR|GBP|CHF|CNY|RMB|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|BRL))[ \u00a0]?$"
)
_ISO = re.compile(
    r"(?<![\w-])(?P<y>(?:1[5-9]|2[01])\d\d)(?P<s>[-/.])(?P<m>0?[1-9]|1[0-2])(?:(?P=s)(?P<d>0?[1-9]|[12]\d"
    r"|3[01]))?(?![\w-])(?!\.\d)"
)
_DOTTED = re.compile(
    r"(?<![\w.])(?P<d>0?[1-9]|[12]\d|3[01])(?P<s>[./-])(?P<m>0?[1-9]|1[0-2]|[12]\d|3[01])(?P=s)(?P<y>(?:19"
    r"|20)\d\d)(?![\w])"
)
_HAN_DATE = re.compile(
    r"(?P<y>(?:1[5-9]|2[01])\d\d)\s?[年년]\s?(?:(?P<m>1[0-2]|0?[1-9])\s?[月월]\s?(?:(?P<d>3[01]|[12]\d"
    r"|0?[1-9])\s?[日号號일])?)?"
)
_HAN_DAY = re.compile(r"(?<!\d)(?P<m>1[0-2]|0?[1-9])\s?[月월]\s?(?P<d>3[01]|[12]\d|0?[1-9])\s?[日号號일]")
_MONTH = "|".join(sorted({re.escape(name) for name in _MONTH_NUMBERS}, key=len, reverse=True))
_DAY_MONTH = re.compile(
    rf"(?<![\w.])(?P<d>[12]\d|3[01]|0?[1-9])(?:\.|st|nd|rd|th|er|º|°)?\s(?:de\s|of\s|[בל])?(?P<name>{_MONTH})\b\.?"
    rf"(?:,?\s(?:de\s|del\s|of\s)?(?P<y>(?:1[5-9]|2[01])\d\d)\b)?"
)
_MONTH_DAY = re.compile(
    rf"\b(?P<name>{_MONTH})\.?\s(?:(?P<d>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b(?:,?\s(?P<y>(?:1[5-9]|2[01])\d\d)\b)?"
    rf"|(?:de\s|del\s|of\s)?(?P<y2>(?:1[5-9]|2[01])\d\d)\b)"
)
_TIME = re.compile(
    r"(?<![\w:.])(?P<h>[01]?\d|2[0-3])(?:[:.h](?P<m>[0-5]\d)(?![\d:]|\.\d)(?P<half>\s?[ap]\.?m\b\.?)?"
    r"|\s?(?P<half2>[ap]\.?m\b\.?)|\s?(?P<clock>Uhr|uhr|点|時(?!間)|시))"
)
_ONE_OF = re.compile(
    r"\b(?:takes?|took|lasts?|lasted|within|after|for|in|about|over|under|requires?|needs?)\s"
    r"(?P<value>an?\s(?P<unit>second|minute|hour|day|week|month|year))\b"
)
_LABELLED = re.compile(r"(?:[§#№]\s?|\b[vV]\.?\s?|\bQ)$")
_BEFORE = re.compile(r"([^\W\d_]+)[.:]?[ \u00a0]$")


def find_values(text: str, language: str = "en") -> list[Value]:
    """The values of a text in order, none overlapping another.

    >>> [(value.kind, value.key[1]) for value in find_values("Net 2 weeks from 1 March 2024, 2.5% off $1,200")]
    [('duration', '14 day'), ('date', '2024-03-01'), ('percent', '2.5 %'), ('money', '1200 USD')]
    """
    found: list[Value] = []
    taken: list[tuple[int, ...]] = []
    lowered = _same_length_fold(text)
    for value in (*_dates(text, lowered, language), *_times(text)):
        if not _overlaps(taken, value.start, value.stop):
            found.append(value)
            insort(taken, (value.start, value.stop))
    for value in _quantities(text, lowered, language):
        if not _overlaps(taken, value.start, value.stop):
            found.append(value)
            insort(taken, (value.start, value.stop))
    return sorted(found, key=lambda value: value.start)


_WEEKDAYS = frozenset(
    fold(
        "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays"
        " saturdays"
        " sundays montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lunes martes miercoles jueves"
        " viernes sabado domingo lundi mardi mercredi jeudi vendredi samedi dimanche lunedi martedi mercoledi giovedi"
        " venerdi domenica segunda terca quarta quinta sexta maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"
        " понедельник вторник среда четверг пятница суббота воскресенье понедельника среду пятницу субботу"
        " spring summer autumn winter fall easter christmas fruhling fruhjahr sommer herbst ostern weihnachten"
    ).split()
)


def is_time_word(word: str) -> bool:
    """Whether a word is a weekday, a month or a season.

    >>> [is_time_word(word) for word in ("Monday", "October", "octubre", "Lisbon", "Jan")]
    [True, True, True, False, False]
    """
    folded = fold(word)
    return folded in _WEEKDAYS or (len(folded) > 3 and folded in _MONTH_NUMBERS)


def is_number_word(word: str) -> bool:
    return fold(word) in _NUMBER_WORDS


def _overlaps(taken: list[tuple[int, ...]], start: int, stop: int) -> bool:
    """Whether a span meets one of some that are sorted and do not meet each other."""
    place = bisect_left(taken, (stop,))
    return place > 0 and taken[place - 1][1] > start


def _same_length_fold(text: str) -> str:
    """Folded character by character, so that offsets stay; a character that folds to more than one is kept."""
    if text.isascii():
        return text.lower()
    return "".join(folded if len(folded := _folded(letter)) == 1 else letter for letter in text)


@cache
def _folded(letter: str) -> str:
    return fold(letter)


# --- dates and times ------------------------------------------------------------------------------


def _dates(text: str, lowered: str, language: str) -> Iterator[Value]:
    for match in _ISO.finditer(text):
        if match["s"] == "-" or match["d"]:
            yield from _date(match, match["y"], match["m"], match["d"])
    for match in _DOTTED.finditer(text):
        day, month = int(match["d"]), int(match["m"])
        if match["s"] == "/" and language == "en" and day <= 12:
            day, month = month, day
            if day <= 12 and day != month:
                continue  # 03/04/2024 may be either
        if month > 12 and day <= 12:
            day, month = month, day
        yield from _date(match, match["y"], str(month), str(day))
    for match in _HAN_DATE.finditer(text):
        yield from _date(match, match["y"], match["m"], match["d"])
    for match in _HAN_DAY.finditer(text):
        yield from _date(match, None, match["m"], match["d"])
    for match in _DAY_MONTH.finditer(lowered):
        if _is_month(text, match):
            yield from _date(match, match["y"], str(_MONTH_NUMBERS[match["name"]]), match["d"])
    for match in _MONTH_DAY.finditer(lowered):
        if _is_month(text, match):
            yield from _date(match, match["y"] or match["y2"], str(_MONTH_NUMBERS[match["name"]]), match["d"])


def _is_month(text: str, match: re.Match[str]) -> bool:
    """`may` and `mar` in lower case are mostly no months."""
    name = text[match.start("name") : match.end("name")]
    return (
        match["name"] not in ("may", "mar", "jan", "dec", "mars", "sept", "sep") or name[0].isupper() or len(name) > 4
    )


def _date(match: re.Match[str], year: str | None, month: str | None, day: str | None) -> Iterator[Value]:
    if year is None:
        yield Value(DATE, match.start(), match.end(), iso=f"--{int(month or 0):02}-{int(day or 0):02}")
        return
    iso = year
    if month is not None:
        iso += f"-{int(month):02}"
        if day is not None:
            iso += f"-{int(day):02}"
            try:
                datetime.date.fromisoformat(iso)
            except ValueError:
                return
    yield Value(DATE if month is not None else YEAR, match.start(), match.end(), iso=iso)


def _times(text: str) -> Iterator[Value]:
    for match in _TIME.finditer(text):
        hour = int(match["h"])
        half = (match["half"] or match["half2"] or "").strip().lower()
        if half and hour > 12:
            continue
        if half.startswith("p") and hour < 12:
            hour += 12
        if half.startswith("a") and hour == 12:
            hour = 0
        if (
            match["m"]
            and "." in match[0].rstrip(".")
            and not half
            and not text[match.end() :].lstrip().startswith("Uhr")
        ):
            continue  # 12.30 is a number unless it is told to be a time
        yield Value(TIME, match.start(), match.end(), iso=f"{hour:02}:{match['m'] or '00'}")


# --- quantities -----------------------------------------------------------------------------------


def _quantities(text: str, lowered: str, language: str) -> Iterator[Value]:
    for match in _HAN_PERCENT.finditer(text):
        digits = match[1]
        amount = Decimal(digits) if digits[0].isdigit() and digits.isascii() else Decimal(_han(digits))
        yield Value(PERCENT, match.start(), match.end(), amount, "%")
    for match in _NUMBER.finditer(text):
        amount = _amount(match["digits"], language)
        if match["sign"] in ("-", "−"):
            amount = -amount
        yield _quantity(text, lowered, match.start(), match.end(), amount)
    for match in _HAN_NUMBER.finditer(text):
        yield _quantity(text, lowered, match.start(), match.end(), Decimal(_han(match[0])))
    for match in _ONE_OF.finditer(lowered):
        yield Value(DURATION, match.start("value"), match.end("value"), Decimal(1), _DURATIONS[match["unit"]])
    for match in _WORD.finditer(lowered):
        if match[0] in _NUMBER_WORDS:
            value = _quantity(text, lowered, match.start(), match.end(), Decimal(_NUMBER_WORDS[match[0]]))
            if value.kind in (DURATION, PERCENT, MONEY) or (value.kind == NUMBER and _NUMBER_WORDS[match[0]] > 1):
                yield value


def _amount(digits: str, language: str) -> Decimal:
    """The number that digits with separators stand for; a single separator before three digits parts thousands.

    >>> [str(_amount(digits, language)) for digits, language in [("1,234.5", "en"), ("1.234,5", "de"), ("0,125", "en")]]
    ['1234.5', '1234.5', '0.125']
    """
    plain = re.sub("[ '’\u00a0\u202f]", "", digits)
    commas, points = plain.count(","), plain.count(".")
    if commas and points:
        decimal = "," if plain.rindex(",") > plain.rindex(".") else "."
    elif commas + points == 1:
        sign = "," if commas else "."
        three = len(plain) - plain.index(sign) == 4 and not plain.startswith("0")
        groups = "." if language in DECIMAL_COMMA else ","
        decimal = "" if three and sign == groups else sign
    else:
        decimal = ""
    whole, _, fraction = plain.rpartition(decimal) if decimal else (plain, "", "")
    return Decimal(f"{re.sub('[.,]', '', whole)}.{fraction}" if decimal else re.sub("[.,]", "", plain))


def _han(digits: str) -> int:
    total, current = 0, 0
    for digit in digits:
        if digit in "十百":
            total += (current or 1) * (10 if digit == "十" else 100)
            current = 0
        else:
            current = _HAN_DIGITS[digit]
    return total + current


def _quantity(text: str, lowered: str, start: int, stop: int, amount: Decimal) -> Value:
    """The quantity that a number is with the words around it."""
    scale, end = _scale(text, lowered, stop)
    amount *= scale
    before = _MONEY_BEFORE.search(text, max(0, start - 4), start)
    if before:
        return Value(MONEY, before.start(), end, amount, _CURRENCIES[before[0].strip().lower()])
    unit = _unit(lowered, end)
    if unit is not None:
        kind, name, unit_end = unit
        return Value(kind, start, unit_end, amount, name)
    if _is_label(text, lowered, start, stop) and scale == 1:
        return Value(LABEL, start, stop, amount, iso=text[start:stop])
    if scale == 1 and stop - start == 4 and 1800 <= amount <= 2199 and text[start:stop].isdigit():
        return Value(YEAR, start, stop, iso=text[start:stop])
    return Value(NUMBER, start, end, amount)


def _scale(text: str, lowered: str, stop: int) -> tuple[int, int]:
    match = _SCALE_WORD.match(lowered, stop)
    if match is None or match[1] not in _SCALES:
        return 1, stop
    if match[1] in _SHORT_SCALES and text[stop : match.end(1)] not in ("k", "K", "M"):
        return 1, stop
    return _SCALES[match[1]], match.end() if match[1] in ("mio", "mrd", "тыс") else match.end(1)


def _unit(lowered: str, stop: int) -> tuple[str, str, int] | None:
    """What is counted right after a number: kind, unit, and where it ends."""
    if match := _PERCENT_WORD.match(lowered, stop):
        return PERCENT, "%", match.end()
    for word, end in _words_after(lowered, stop):
        bare = word.rstrip(".")
        longest = 4 if bare[0] > "\u2e80" else len(bare)
        shortest = 1 if bare[0] > "\u2e80" else len(bare)
        for length in range(min(longest, len(bare)), shortest - 1, -1):
            name, stopped = bare[:length], end - len(word) + length
            for kind, table in ((DURATION, _DURATIONS), (MONEY, _CURRENCIES), (MEASURE, MEASURES)):
                if name in table:
                    return kind, table[name], stopped
        if any(bare.endswith(tail) for tail in _DAY_COMPOUNDS):
            return DURATION, "day", end
    return None


_DAY_COMPOUNDS = ("tage", "tagen", "dagen")  # Werktage, Arbeitstagen, vakantiedagen


def _words_after(lowered: str, stop: int) -> Iterator[tuple[str, int]]:
    """The word right after a number, and the next one when that only says which days are meant."""
    match = _UNIT_WORD.match(lowered, stop)
    if match is None:
        return
    yield match["word"], match.end()
    for between in _between():
        if match["word"].startswith(between):
            rest = match["word"][len(between) :]
            if rest:
                yield rest, match.end()
            elif after := _UNIT_WORD.match(lowered, match.end()):
                yield after["word"], after.end()


@cache
def _between() -> tuple[str, ...]:
    return tuple(fold(_BETWEEN).split())


def _is_label(text: str, lowered: str, start: int, stop: int) -> bool:
    if _LABELLED.search(text, max(0, start - 4), start):
        return True
    before = _BEFORE.search(lowered, max(0, start - 30), start)
    if before is None:
        return False
    return before[1] in _LABEL_WORDS
