"""Words that names of properties are made of, and what each says of the value that is meant."""

from __future__ import annotations

from trivium.language.values import DURATION, MEASURE, MONEY, PERCENT
from trivium.search.segment import fold

SHORT = {
    "pct": "percent", "perc": "percent", "num": "number", "qty": "quantity", "amt": "amount", "addr": "address",
    "desc": "description", "org": "organisation", "dept": "department", "max": "maximum", "min": "minimum",
    "tel": "telephone", "yrs": "years", "hrs": "hours", "mins": "minutes", "secs": "seconds", "temp": "temperature",
}  # fmt: skip
UNITS = {
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
KINDS = {
    MONEY: "price cost fee salary budget revenue turnover amount charge fare wage rent deposit preis kosten gebuhr"
    " umsatz precio coste tarifa prix cout tarif 价格 费用 金额",
    PERCENT: "share ratio discount rabatt descuento remise taux quota",
    DURATION: "duration period deadline notice frist dauer laufzeit plazo duracion duree delai 期限",
    MEASURE: "weight height length depth width speed power distance size temperature gewicht hohe lange breite tiefe"
    " leistung temperatur geschwindigkeit entfernung peso altura temperatura velocidad longitud anchura poids hauteur"
    " longueur largeur vitesse 重量 高度 功率 温度",
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in fold(words).split()}
DATES = frozenset(
    fold(
        "date day on since until deadline due birthday birthdays anniversary geburtstag geburtstage cumpleanos signed"
        " start end begin begins ends starts expires expiry opened"
        " founded established introduced built released published"
        " gegrundet eroffnet gebaut eingefuhrt fundado fonde datum tag seit bis beginn ende fecha inicio fin"
        " echeance debut 日期"
    ).split()
)
YEARS = frozenset(fold("year jahr ano annee anno год 年份").split())
TIMES = frozenset(
    fold(
        "time hour uhrzeit hora heure opens closes opening closing offnet schliesst abre cierra ouvre ferme 时间"
    ).split()
)
HOURS = frozenset(fold("time hour uhrzeit zeit hora heure ora tijd время час 时间 時間 時刻").split())
"""Words that beside others only say that a time of the day is meant."""
NAMES = frozenset(
    fold(
        "name person owner contact author director manager ceo cto cfo head leader lead chair founder builder architect"
        " customer client supplier vendor party company manufacturer maker responsible librarian curator keeper leiter"
        " leiterin inhaber ansprechpartner nombre directora nom directeur directrice 姓名 负责人 имя фио naam 名前 氏名"
        " chairman chairwoman chairperson president treasurer secretary landlord landlady tenant teacher trainer coach"
        " doctor dentist supervisor boss assignee reporter maintainer speaker winner successor predecessor deputy"
        " vorsitzende vorsitzender prasident kassenwart schatzmeister vermieter mieter leitung lehrer trainerin chef"
        " chefin nachfolger vorganger stellvertreter zustandig verantwortlich jefe jefa casero casera dueno presidente"
        " presidenta"
        " tesorero tesorera secretario secretaria profesor profesora medico dentista entrenador responsable cheffe"
        " president presidente tresorier tresoriere proprietaire professeur professeure secretaire locataire direttore"
        " direttrice proprietario insegnante директор руководитель заведующий заведующая начальник председатель"
        " владелец ответственный учитель врач 主任 经理 老师 医生 房东 馆长 院长 校长 担当者 担当"
    ).split()
)
BARE_DATES = frozenset(
    fold(
        "since from until till to when as of seit ab bis wann von vom depuis jusque quand desde hasta cuando a partir"
        " dal dalla fino quando sinds vanaf tot wanneer ate с до когда 自 起 至"
    ).split()
)
SINCE = frozenset(fold("since from seit ab von depuis desde dal dalla sinds vanaf с 自 起").split())
UNTIL = frozenset(fold("until till to bis jusque hasta fino tot ate до 至").split())
BARE_NAMES = frozenset(fold("who whom by wer wen qui par quien chi da quem wie кто 谁 誰").split())
BARE_PLACES = frozenset(fold("where wo ou donde dove onde waar где 哪里").split())
BARE = BARE_DATES | BARE_NAMES | BARE_PLACES
"""Names that tell nothing but what stands under or behind them."""
PLACES = frozenset(
    fold(
        "city town country location place venue headquarters village region ort stadt land sitz standort"
        " veranstaltungsort ciudad pais lugar sede ubicacion ville pays lieu endroit siege luogo citta paese stad"
        " plaats cidade local город место страна 地点 城市 国家 场所 場所 都市"
    ).split()
)
REASONS = frozenset(
    fold("reason why because rationale explanation justification cause grund razon raison 原因 理由").split()
)
FREE_WORDS = frozenset(
    fold(
        "summary answer description text quote evidence statement sentence details note explanation finding"
        " zusammenfassung antwort beschreibung resumen respuesta resume reponse 摘要 回答 描述"
    ).split()
)
SOURCES = frozenset(fold("source document file path quelle fuente 来源").split())
SUMS = frozenset(fold("total sum gesamt insgesamt summe somme suma totale 合计 总计 总额").split())
"""Words that tell nothing beside others, but alone are not just any amount."""
GIVEN_NAMES = frozenset(
    [
        "first",
        "last",
        "given",
        "family",
        "middle",
        "full",
        "display",
        "user",
        "file",
        "host",
        "domain",
        "brand",
        "nick",
        "vorname",
    ]
)
"""What stands before `name` where that is not simply what the thing is called."""
STATES = frozenset(
    fold(
        "done completed complete finished checked erledigt abgehakt fait termine hecho completado fatto feito 完成"
    ).split()
)
"""What the box of an item of a list says when it is ticked."""
PHONES = frozenset(fold("phone telephone tel mobile fax telefon handy telefono mobil portable 电话 電話").split())
GENERIC = frozenset(
    fold(
        "value answer result data info item is has are text string field output number amount total flag bool status"
        " the wert antwort ergebnis valor respuesta resultado valeur reponse resultat 值 结果"
    ).split()
)
ADDRESS_WORDS = frozenset(fold("address adresse direccion indirizzo number nummer numero num nr no").split())
"""What may follow the kind of an address: `email_address`, `phone_number`."""
ADDRESSES = frozenset(["email", "mail", "url", "link", "website", "homepage"])
