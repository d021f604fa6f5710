"""How well the words of a question are met by the words of a text, in any language and without a dictionary."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from trivium.language.inflection import is_form, parted
from trivium.search.segment import fold

EXACT, INFLECTED, KIN, INSIDE = 1.0, 0.9, 0.75, 0.6
_SPACED = re.compile(r"[^\W\d_\u3040-\ud7af]+")

_HEBREW = frozenset("אבגדהוזחטיכלמנסעפצקרשת")
_ARABIC = frozenset(map(chr, range(0x621, 0x64B)))
_ARTICLE = re.compile("[وف]?(?:[بك]?ال|لل|[بل](?=.{4}))(?=.{2})|و(?=.{4})")
_WRITTEN_TOGETHER = frozenset("והבלכשמ")
_APART = tuple(
    {one, other}
    for one, others in (
        ("found", ("founded", "founder", "founders")),
        ("company", ("compare", "compared", "compares", "comparing")),
        ("companies", ("compare", "compared", "compares", "comparing")),
    )
    for other in others
)
"""Words that look like forms of one and are none."""

# Words for one thing that questions and texts word differently; a line holds words that may stand for each other.
_KIN = """
cost costs price prices priced fee fees charge charges charged rate
start starts started begin begins began begun commence commences open opens launch launched
end ends ended finish expire expires expired expiry terminate terminates termination close closes
pay pays paid payment payments payable settle settled due
buy bought purchase purchased order
lead leads led leader head heads headed manage manages managed manager director run runs chief
founded founder established create created creator
located location based headquarters headquarter address site office
tall height high
long length duration lasts last
deep depth
wide width
heavy weigh weighs weight
receipt receive
receipt received
receipts received
understand understood
old age aged
employee employees staff people workers employed
maximum max most limit limits up
minimum min least
size sizes bytes large larger largest big bigger biggest
holiday holidays vacation leave
phone telephone call
mail email e-mail
buried grave
loud noise volume
choose chose chosen
take took taken
give gave given
make made makes manufactured manufacturer produced producer
build builds built builder builders
become became
know knew known
grow grew grown
sell sold
send sent
hold held
keep kept
win won
lose lost
find found
rise rose risen
fall fell fallen
die died death
speak spoke spoken
see saw seen
drive drove driven
eat ate eaten
bear bore born borne
break broke broken
write wrote written author authors
leave leaves left
go goes went gone
run runs ran
come came
begin began begun
meet met
teach taught teaches teacher
bring brought
think thought
catch caught
fly flew flown
swim swam swum
ride rode ridden
wear wore worn
tell told
feel felt
sleep slept
read reads
rate rated rating ratings
retain retained retains retention keep keeps kept store stored
shop shopping buy
suffice suffices enough sufficient
need needs require requires required
invent invented inventor
kosten kostet preis preise gebuhr gebuhren betragt
beginnt beginn anfang start startet offnet eroffnet
endet ende ablauf lauft schliesst
zahlen bezahlen zahlung zahlbar bezahlt fallig begleichen
leitet geleitet leiter leiterin leitung chef chefin fuhrt geschaftsfuhrer geschaftsfuhrerin
gegrundet grundung grunder
mitarbeiter mitarbeiterinnen mitarbeitende beschaftigte angestellte personal
urlaub urlaubstage ferien
braucht brauchen brauche brauchte benotigt benotigen benotigte erfordert erfordern
dauert dauern dauerte dauer lang betragt
reicht reichen genugt genugen ausreichend
aufbewahrt aufbewahrung aufbewahren aufbewahrungsfrist aufbewahrungsfristen gespeichert
geht ging gegangen
kommt kam gekommen
fahrt fuhr gefahren
lauft lief gelaufen
verlasst verliess verlassen
zieht zog gezogen einzog eingezogen umgezogen
fundo fundada fundado fundador fundadora
abrio abierto abierta apertura inauguro
construyo construido construida construccion
cuesta costo coste precio precios tarifa
empieza comienza inicio comienzo abre
termina finaliza fin vence vencimiento cierra
pagar paga pagan pago pagos pagadero
dirige director directora jefe jefa
empleado empleados empleadas personal plantilla trabajadores
vacaciones descanso
necesita necesitan requiere requieren precisa
conserva conservan conservacion conservado guarda guardan
basta bastan suficiente
fonde fondee fondateur fondation
ouvert ouverte ouvre ouverture ouvert
construit construite construction
coute cout prix tarif tarifs
commence debut ouvre
finit fin expire echeance ferme
payer paye payable paiement paiements regler
employe employes salaries personnel effectif
conges vacances
faut besoin necessite necessitent exige requiert
conserve conservee conserves conservees conservation garde gardee gardees
suffit suffisant
dirige directeur directrice responsable
costa costano costo prezzo prezzi tariffa tariffe
custa custam custo preco precos
kost kosten prijs prijzen tarief
费用 价格 售价 收费
需要 需 要求
保存 保留 存储
员工 雇员 职员 人员
付款 支付 结算
开始 起始 启动 开业
结束 到期 截止 终止
休假 年假 假期
负责人 主管 经理
""".strip().splitlines()


@cache
def _kin() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _KIN:
        words = fold(line).split()
        for word in words:
            found.setdefault(word, set()).update(words)
    return {word: frozenset(words) for word, words in found.items()}


def alike(term: str, word: str) -> float:
    """How far a word stands for a term: 1 the same, less for another form, a word of its kind or a compound.

    >>> [alike("invoice", word) for word in ("invoice", "invoices", "invoicing", "voice", "invention")]
    [1.0, 0.9, 0.9, 0.0, 0.0]
    >>> alike("לקילומטר", "קילומטר"), alike("לילה", "מילה")
    (0.9, 0.0)
    >>> alike("vertrag", "kaufvertrag"), alike("cost", "price"), alike("12", "120")
    (0.6, 0.75, 0.0)
    """
    if term == word:
        return EXACT
    if term in _kin() and word in _kin()[term]:
        return KIN
    if {term, word} in _APART:
        return 0.0
    if (term[0] in _HEBREW or term[0] in _ARABIC) and _bare(term) & _bare(word):
        return INFLECTED
    if len(term) < 3 or len(word) < 3 or not (_SPACED.fullmatch(term) and _SPACED.fullmatch(word)):
        return 0.0
    short, long = sorted((_singular(term), _singular(word)), key=len)
    if is_form(short, long):
        return INFLECTED
    common = parted(short, long)
    compound = common >= 5 and common >= len(short) - 1  # with the s of a genitive
    if len(short) >= 5 and len(long) - len(short) >= 3 and (long.endswith(short) or compound):
        return INSIDE
    return 0.0


def _bare(word: str) -> set[str]:
    """A Hebrew or Arabic word with and without what is written together with it (`to the`, `in`, `and`)."""
    found = {word}
    if word[0] in _ARABIC:
        match = _ARTICLE.match(word)
        return found if match is None else found | {word[match.end() :]}
    while len(word) > 4 and word[0] in _WRITTEN_TOGETHER and len(found) < 3:
        word = word[1:]
        found.add(word)
    return found


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith(("ies", "ied")) and len(word) > 4 else word


class Words:
    """A growing set of words in which those that stand for a term are found without a look at all of them."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._at: dict[str, list[str]] = {}
        self._met: dict[str, dict[str, float]] = {}

    def add(self, words: Iterable[str]) -> None:
        fresh = set(words) - self._known
        if fresh:
            self._met.clear()
        self._known |= fresh
        for word in fresh:
            for place in _places(word):
                self._at.setdefault(place, []).append(word)

    def __contains__(self, word: str) -> bool:
        return word in self._known

    def met_by(self, term: str) -> dict[str, float]:
        """The words here that stand for a term, with how far (`alike`)."""
        if term not in self._met:
            near = {term, *_kin().get(term, ())} & self._known
            for place in _places(term):
                near.update(self._at.get(place, ()))
            self._met[term] = {word: far for word in near if (far := alike(term, word))}
        return self._met[term]


def _places(word: str) -> Iterator[str]:
    """Where a word is kept: two that are alike, but for kin, have one of these in common."""
    cut = _singular(word)
    if len(cut) >= 3:
        yield f"{cut[:3]}-"
        yield f"-{cut[-5:]}"
    if word[0] in _HEBREW or word[0] in _ARABIC:
        yield from _bare(word)


class Vocabulary:
    """The words of a body of texts, with how telling each is there."""

    def __init__(self, texts: Iterable[Collection[str]]) -> None:
        self._counts: dict[str, int] = {}
        self._texts = 0
        for words in texts:
            self._texts += 1
            for word in set(words):
                self._counts[word] = self._counts.get(word, 0) + 1
        self._words = Words()
        self._words.add(self._counts)

    def met_by(self, term: str) -> dict[str, float]:
        """The words here that stand for a term, with how far."""
        return self._words.met_by(term)

    def match(self, term: str, words: Collection[str]) -> float:
        """How far a text, given as a set of its words, meets a term."""
        met = self.met_by(term)
        return max((met[word] for word in words if word in met), default=0.0)

    def __contains__(self, word: str) -> bool:
        return word in self._counts

    def spelling(self, term: str) -> str:
        """The term, or the spelling of it with plain vowels (`gebuehr`: gebuhr) where only that one is met."""
        plain = term.replace("ae", "a").replace("oe", "o").replace("ue", "u")
        return plain if plain != term and not self.met_by(term) and self.met_by(plain) else term

    def weight(self, term: str) -> float:
        """How telling a term is: the rarer the more, most when no text meets it."""
        count = max((self._counts[word] for word in self.met_by(term)), default=0)
        return math.log(1 + (self._texts - count + 0.5) / (count + 0.5)) + 0.4

    def coverage(self, terms: Sequence[str], words: Collection[str]) -> float:
        """The share of the terms' weight that a text meets."""
        total = sum(map(self.weight, terms))
        return sum(self.weight(term) * self.match(term, words) for term in terms) / total if total else 0.0
