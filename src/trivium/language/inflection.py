"""Whether two words are forms of one, by the endings that words take in the languages of the tests and some more."""

from __future__ import annotations

import re
from functools import lru_cache

from trivium.search.segment import fold

_LISTED = re.compile(r"[a-z\u0400-\u04ff]+")
"""Letters of the languages whose endings are listed; of others nothing is known but how long an ending is."""
_MOST_BACK = 4
"""How many letters before the place where two words part an ending may begin (`invoic-e`, `invoic-ing`)."""
_STEM = 3
_LONGEST = 4
_ENDINGS_OF = (
    # English
    """s es d ed r er rs ers st est t th y ly al als ally ial ing ings ion ions ation ations ition itions tion tions
    sion sions ment ments able ables ible ably ability ance ances ence ences ancy ency ant ants ent ents ently
    antly ial ity ities ness less ful fully ive ives ively ative or ors ator ators ist ists ism ic ical ics
    ician icians ian ians ize izes ized izing izer izers ization ise ises ised ising iser isers isation yze yzes
    yzed yzing yse yses ysed ysing ate ates ated ating ure ures age ages ary aries ery our ours ren en ens ened
    ening esis etic ual ural ison isons ely um""",
    # German
    """e em n nen t te ten tet test end ende enden ender endes ung ungen lich liche lichen licher liches ig ige igen
    iger iges isch ische ischen ischer isches keit keiten heit heiten in innen erin erinnen eln els ern schaft
    bar bare baren barer iert ieren ierte ierten ierung ierungen ens""",
    # Spanish, Portuguese, Italian
    """a o i as os is an am em ar ir are ere ire arse erse irse ado ada ados adas ido ida idos idas ato ata ati ito ita
    iti ite uto uta uti ute ando endo iendo aba aban ava avam ara aran era eran ira iran aron ieron aram eram
    iram amos emos imos iamo ano ono ou eu iu cion ciones acion aciones icion iciones sion siones cao coes acao
    acoes sao soes zione zioni azione azioni sione sioni mento mentos mente menti amento amentos amiento
    amientos imento imenti dad dades idad idades dade idade ita dor dora dores doras ador adora adores tor tora
    tores tore tori trice trici atore ador ora oras ero eros eras eira eiras eiro eiros ivo iva ivos ivas ivi
    ale ali ales ais ista istas isti ia ias io ios ica ico icas icos iche ici anza encia encias ancia ancias
    enza ura uras ble bles bile bili avel aveis ale""",
    # French
    """ee ees ez ons ait aient ais ante antes ite ites eur eurs euse euses teur teurs ateur atrice trices rice if ifs
    eux el elle els elles ales aux ie ies aire aires ier iere iers ieres ien ienne iens ible ement ements ement
    ique iques isme iste istes re bre""",
    # Dutch, Swedish, Danish, Norwegian
    """de den je jes heid heden lijk lijke eren erend eert er et ets na ne ene erne erna arna ade ande het heter ning
    ningar ningen ninger else elser lig liga lige""",
    # Polish, Czech, Turkish, Finnish, Hungarian
    """u ow owi ami ach om emu ego ej ich ych ym ymi aj owy owa owe ny nego ych lar ler lari leri larin lerin da dan
    nin nun dir ssa sta lla lta lle ksi ja iden ek ok ak ot ban ben nak nek val vel""",
    # Russian
    """а я о е у ю ы и й ь ой ей ом ем ам ям ах ях ов ев ами ями ию ия ии ий ый ая яя ое ее ые ие ого его ому ему ым им
    ых их ую юю ет ит ут ют ат ят ешь ишь ете ите л ла ло ли ал ала али ало ил ила или ило ел ть ать ить еть
    ться тся лся лась лись ает яет ают яют ан ана ано аны ен ена ено ены енный енная енные енного нный ание ания
    анию анием ании ение ения ению ением ении ость ости остью ный ная ное ные ного ному ным ных ную ном ной ник
    ника ники ников тель теля тели телей тельный ация ации ацию ацией иция ка ки ку кой ок ке чик ские ский ская
    ского ских""",
)
_ENDINGS = frozenset(fold(" ".join(_ENDINGS_OF)).split()) | {""}
_SHORT_WORDS = "s es ed er en n a y ing и ы а у е ов ом ам ах ей ю я"
_SHORT = frozenset(_SHORT_WORDS.split()) | {""}
"""What a word of up to `_LONGEST` letters may take: nearly any other word begins with one."""


def parted(one: str, other: str) -> int:
    """The length of the common beginning of two words."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


@lru_cache(maxsize=65_536)
def is_form(short: str, long: str) -> bool:
    """Whether two folded words, the shorter one first, are one word with different endings.

    >>> [is_form(*pair) for pair in (("invoice", "invoicing"), ("format", "formatted"), ("счета", "счетами"))]
    [True, True, True]
    >>> [is_form(*pair) for pair in (("owns", "owner"), ("lead", "leaders"), ("pass", "paste"))]
    [True, True, False]
    >>> [is_form(*pair) for pair in (("noringby", "norington"), ("content", "context"), ("change", "changelog"))]
    [False, False, False]
    """
    common = parted(short, long)
    if min(len(short), len(long)) > _STEM and _ends_in_s(short) != _ends_in_s(long):
        one, other = (word[:-1] if _ends_in_s(word) else word for word in (short, long))
        if max(len(one), len(other)) <= _LONGEST + 2 and is_form(*sorted((one, other), key=len)):
            return True
    if common == len(short):
        if common <= _LONGEST:
            return long[common:] in _SHORT or (short[-1] == "e" and common > 3 and long[common:] == "d")
        return len(long) - common <= _LONGEST and _back(short, long, common)
    if common < 5 or len(short) - common > 3 or len(long) - common > 4 or common * 3 < len(long) * 2 - 1:
        return False
    return _back(short, long, common)


def _ends_in_s(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def _back(short: str, long: str, common: int) -> bool:
    """Whether both words end in endings from where they part, or from a little before."""
    if not (_LISTED.fullmatch(short) and _LISTED.fullmatch(long)):
        return True
    return any(
        _ends(short[:at], short[at:]) and _ends(short[:at], long[at:])
        for at in range(common, max(_STEM, common - _MOST_BACK) - 1, -1)
    )


def _ends(stem: str, rest: str) -> bool:
    """Whether what follows a stem is an ending, the last letter of the stem doubled or not (`format-ted`)."""
    return rest in _ENDINGS or (rest[:1] == stem[-1:] and rest[1:] in _ENDINGS)
