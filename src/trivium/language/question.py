"""What a question asks for: its telling words, the kind of value wanted, and the things it compares."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from trivium.language.compounds import neighbours
from trivium.language.denial import asks_not
from trivium.language.dimensions import wanted_of
from trivium.language.focus import focus_of, subject_of
from trivium.language.languages import language_of, silent_words
from trivium.language.values import DATE, DURATION, MEASURE, MONEY, NUMBER, PERCENT, TIME, YEAR, find_values
from trivium.search.segment import fold, is_joined, plain, tokens

NAME, REASON, PLACE, FREQUENCY = "name", "reason", "place", "frequency"

AMOUNT = frozenset({MONEY, PERCENT, MEASURE, NUMBER, DURATION})
COUNT = frozenset({NUMBER, MEASURE, DURATION})
WHEN = frozenset({DATE, YEAR, TIME, DURATION})

_HOW_LONG = (
    r"how long|how (?:quickly|soon|fast)|for how (?:long|many)|wie lange|wie schnell|cuanto (?:tiempo|dura)"
    r"|quanto tempo|combien de temps|(?:dans |sous )?quel delai|en que plazo|hoe lang|сколько времени|как долго"
    r"|提前多久|多久|有?多长(?:时间)?|多長時間|どのくらいの期間"
    r"|כמה זמן|כמה נמשך|כמה נמשכת|كم من الوقت|كم (?:ال)?مده|كم (?:ت|ي)ستغرق|كم (?:ت|ي)دوم"
    r"|どれくらいの期間|何(?:日|日間|時間|週間|か月|ヶ月|年間)|며칠|얼마나 (?:오래|걸)"
)
_HOW_MANY = (
    r"how many|number of|wie ?viele|anzahl der|cuant[oa]s|numero de|quant[ie]\b|quant[oa]s|combien d|nombre de|hoeveel"
    r"|מספר(?= ה)|كم عدد|عدد(?= ال)"
    r"|有?几(?:个|天|次|名|人|台|年)|有?多少(?:天|人|个|次|年|月|小时|分钟)|いくつ|何(?:人|個|件|台|名|回|本)|몇"
)
_HOW_MUCH = (
    r"how (?:much|far|old)|how(?= (?:tall|high|big|large|heavy|deep|wide|hot|cold|strong|thick|loud)\b)"
    r"|what (?:percentage|share)|wie ?viel\b|cuant[oa]\b|quanto\b|combien|сколько"
    r"|[בלמ]?כמה|ب?كم|いくら|どのくらい|どれくらい|얼마"
    r"|wie(?= (?:hoch|gross|schwer|tief|breit|weit|alt|warm|kalt|stark|dick|laut)\b)"
    r"|多少钱|多少元|有?多少|多(?:高|大|重|深|宽|远|快|少)"
)
_HOW_OFTEN = (
    r"how (?:often|frequently)|how many times|wie (?:oft|haufig)|con que frecuencia|cuantas veces|a quelle frequence"
    r"|combien de fois|quante volte|quantas vezes|hoe vaak|как часто|сколько раз"
    r"|כמה פעמים|כל כמה זמן|באיזו תדירות|كم مره|كل كم|多久一次|几次|何回|얼마나 자주"
)
_WHEN = (
    r"(?:since |until |by )?when|what (?:date|year|time)|which (?:year|date|month)|(?:seit |bis )?wann"
    r"|in welchem (?:jahr|monat)|um wie viel uhr|cuando|en que (?:ano|fecha|mes)|a que hora|quando|quand"
    r"|en quelle annee|a quelle (?:date|heure)|in che anno|a che ora|em que ano|wanneer|in welk jaar|когда|в каком году"
    r"|(?:עד |מ|ל)?מתי|[במ]איז[הו] (?:תאריך|שנה|יום|חודש|שעה)|(?:منذ |حتي |الي )?متي"
    r"|في اي (?:سنه|عام|تاريخ|يوم|شهر|ساعه)"
    r"|什么时候|何时|何時|哪(?:天|年|一年|一天|个月)|几(?:点|月|号)|多会儿|いつ|何(?:年|月|日|曜日)(?!間)|언제"
)
_WHO = (
    r"who|whom|whose|wer|wem|wen|wessen|quien|quienes|a quien|qui|chi|quem|wie is|кто|кого|кем|кому"
    r"|[לומ]?מי|מיהו|מיהי|של מי|את מי|لمن|^\W*من(?! (?:اي|اين)\b)|谁|哪位|哪个人"
    r"|誰|だれ|どなた|누구|누가"
)
_WHERE = (
    r"where|wo|wohin|woher|donde|ou (?:est|se|sont)|dove|onde|waar|где|куда"
    r"|[מל]?איפה|היכן|לאן|מאין|[במל]איז[הו] (?:עיר|מקום|כתובת|מדינה|רחוב|בניין)|(?:من |الي )?اين"
    r"|في اي (?:مدينه|مكان|بلد|دوله|عنوان|شارع|مبني)|哪里|哪儿|何处|在哪|どこ|어디"
)
_WHY = (
    r"why|for what reason|warum|weshalb|wieso|por que(?: motivo| razon)?|pourquoi|perche|waarom|почему|зачем"
    r"|למה|מדוע|מאיזו סיבה|لماذا|لاي سبب|为什么|為什麼|为何|なぜ|どうして|왜"
)
_DO = (
    r"what (?:(?:do|can|should|must|shall) (?:i|we|you|one)|to) do|was (?:muss|soll|kann) (?:ich|man) tun"
    r"|que (?:dois-je|faut-il|doit-on) faire|que (?:hago|debo hacer|hay que hacer)"
)
_HOW = (
    r"how (?:do|does|can|to|is|are|should)|wie (?:kann|wird|werden|muss)|como se|comment|come si|hoe (?:kan|moet)"
    r"|איך|כיצד|كيف"
    r"|怎么|如何|怎样|どうやって|どのように|어떻게"
)

_KINDS: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("how", _DO, frozenset()),
    ("how_often", _HOW_OFTEN, frozenset({FREQUENCY})),
    ("how_long", _HOW_LONG, frozenset({DURATION, MEASURE})),
    ("when", _WHEN, WHEN),
    ("how_much", r"多少钱|多少元|いくら", AMOUNT),
    ("how_many", _HOW_MANY, COUNT),
    ("how_much", _HOW_MUCH, AMOUNT),
    ("why", _WHY, frozenset({REASON})),
    ("who", _WHO, frozenset({NAME})),
    ("where", _WHERE, frozenset({PLACE})),
    ("how", _HOW, frozenset()),
)
_HAPPENS = re.compile(
    r"[\s¿]*(?:and |und |y |et |e )?"
    r"(?:what (?:happens|will happen|would happen|occurs|is done) (?:when|if|once|after|to|with)"
    r"|was (?:passiert|geschieht),? (?:wenn|falls|mit|nach)|que (?:pasa|ocurre|sucede) (?:cuando|si|con)"
    r"|que se passe-t-il (?:quand|si|lorsqu[e'])|cosa (?:succede|accade) (?:quando|se)|o que acontece (?:quando|se)"
    r"|wat gebeurt er (?:als|wanneer))(?= )"
)
"""A question for what is said of a case: the case is what it asks about."""
_WHEN_IF = frozenset(["when", "cuando", "quando", "quand", "wanneer"])
_OPENS = re.compile(
    r"[\s¿]*(?:(?:in|on|at|to|by|with|for|from|under) )?(?:which|what|how|who|whom|whose|where|why|does|do|did|is|are"
    r"|was|were|can|could|may|must|will|would|should|has|have|que|cual|cuales|quien|como|donde|quel|quelle|quels"
    r"|quelles|qui"
    r"|quale|quali|chi|come|dove|qual|quais|quem|onde|welke|wie|hoe|waar)\b"
)
_KNOWING = re.compile(r"\b(?:know|known|say|says|said|tell|told|clear|recorded|stated|saber|sait|sai|savoir) $")
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_KANA = re.compile("[\u3040-\u30ff]")
_WORD_SIGN = r"[^\W\u3040-\ud7af]"  # of scripts that part words by spaces


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?<!{_WORD_SIGN})(?:{pattern})(?!{_WORD_SIGN})")


_MATCHERS = tuple((name, _compiled(pattern), wanted) for name, pattern, wanted in _KINDS)
_VAGUE = frozenset(
    ["high", "big", "large", "strong", "hoch", "gross", "stark", "terms", "details", "information", "info", "angaben"]
) | frozenset(["use", "uses", "used", "give", "gives", "given", "make", "makes", "another", "other"])
"""Words that may stand in a question about anything; `heavy` or `deep` name what is asked about."""
_APOSTROPHE = re.compile(
    r"(?<=\w)['’]s\b|\b(?:[ldjmtsnc]|qu|jusqu|lorsqu|puisqu|dell|all|nell|sull|dall|un)['’](?=\w)", re.IGNORECASE
)
_FRENCH_TAIL = re.compile(r"(?<=\w)-(?:t-)?(?:ils?|elles?|on|vous|nous|ce|je|tu)\b")
_EDGES_HAN = re.compile("(?:于|为|在|有|会|要|能)(?=\\s|[?？。]|$)|(?:(?<=\\s)|^)(?:在|有)")
_FILLER_HAN = re.compile(
    "请问|請問|请|是什么|是什麼|什么是|什么|什麼|有哪些|哪些|哪个|哪種|哪种|有没有|是不是|是否|可以|能否|需要|怎么"
    "|如何|有多少|多少|有几个"
    "|我们|我們|你们|我|你|的|了|吗|嗎|呢|吧|是|和|与|及|或|被|把|谁|一下|告诉|列出|比较|比較|有什么"
)
_FILLER_KANA = re.compile(
    "行われ|行い|行う|ですか|でしょうか|ますか|ました|ません|ください|について|教えて|とは|です|ます|する|される"
    "|した|して|れる|ある|いる|から|まで"
    "|どの|どんな|どれ|なに|何|[はがをにのでともへや](?![\u3041-\u3096])|(?<![\u3041-\u3096])[はがをにのでともへや]"
)
_FILLER_WORDS = re.compile(
    r"(?<!\w)(?:ما|ماذا|هي|هو|هم|من|كم|بكم|متى|متي|أين|اين|كيف|لماذا|هل|أي|اي|لمن|الذي|التي|في|على|علي|إلى|الى|الي"
    r"|عن|مع"
    r"|هذا|هذه|لدى|لدي|عند|يوجد|توجد|يتم|تم|كان|كانت|أو|او"
    r"|מה|מהו|מהי|מהם|מהן|מי|מיהו|מיהי|למי|ממי|כמה(?: זמן)?|מתי|איפה|מאיפה|היכן|לאן|איך|כיצד|למה|מדוע|האם|איזה|איזו"
    r"|אילו|באיזה|באיזו|הוא|היא|הם|הן|של|את|על|אל|עם|יש|זה|זו|זאת|או|גם|היה|היתה|הייתה|היו"
    r"|क्या|है|हैं|कौन|कितना|कितनी|कितने|कब|कहाँ|कैसे|क्यों|की|का|के)(?![\w\u0900-\u097f])"
    r"|เท่าไหร่|เท่าไร|กี่|อะไร|ใคร|ที่ไหน|เมื่อไหร่|เมื่อไร|อย่างไร|ทำไม|หรือไม่|ไหม"
)
"""Question words, and the commonest others, of Arabic, Hebrew, Hindi and Thai."""
_FILLER_HANGUL = re.compile(
    "얼마나|얼마|되나요|되요|됩니까|입니까|인가요|무엇|어떻게|어떤|있나요|있습니까|합니까|해주세요|알려|주세요"
)
_HANGUL_TAIL = re.compile(
    "(?<=[\uac00-\ud7af])(?:입니까|인가요|나요|까요|습니까|에서|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과"
    "|도)(?=$|[^\uac00-\ud7af])"
)
_YES_NO = re.compile(
    r"(?:is|are|was|were|does|do|did|can|could|may|must|has|have|will|would|should|ist|sind|war|hat|haben|kann|konnen"
    r"|darf|durfen|muss|mussen|gibt es|wird|werden|es posible|puede|pueden|hay|tiene|est-ce|peut|e possibile|ci sono"
    r"|heeft|is er|kan|mag|можно|есть ли|является ли|האם|هل)\b"
)
_YES_NO_ANYWHERE = re.compile("[吗嗎][?？]?$|是否|是不是|有没有|能否|ますか[。?？]?$|ですか[。?？]?$|\\bли\\b")
_LIST = re.compile(
    r"\b(?:list|name (?:all|the)|what are|which (?:\w+ )?(?:are|were|do|can|have)|what (?:\w+ ){1,2}(?:are|do|does|can)"
    r"|which \w+s\b|liste|nenne|welche (?!\w+ ist)|enumera|cuales son|que \w+s\b|quels|quelles|quali|quais"
    r"|noem|welke|перечисли|какие|אילו|מהם|מהן|اذكر)\b|哪些|有哪|列出|包括什么|何がありますか|어떤 것"
)
_EACH = re.compile(
    r"\b(?:each|every|across(?: all)?(?: the)?|per(?= (?:source|contract|country))|all the|both|jede[rnsm]?|allen?"
    r"|beiden?|cada|todos los|todas las|tous les|toutes les|chaque|ogni|elke|кажд\w+|всех)\b(?: (?P<of>\w+))?"
    r"|各|每个|すべて|それぞれ"
)
_BROAD = re.compile(
    r"\b(?:(?:tell|say|know).* about|describe|summari[sz]e|summary|overview|explain|erzahl\w*|beschreib\w*|uberblick"
    r"|zusammenfassung|resume[nz]?|describ\w+|decri\w+|hablame|parle[z]?|riassum\w+|descriv\w+|расскажи|опиши"
    r"|ספר(?:י|ו)? (?:לי|לנו)? ?על|תאר(?:י|ו)?|סכם|סכמי|اخبرني عن|حدثني عن|صف|لخص|اشرح)\b"
    r"|介绍|总结|概述|概要|について教えて|설명"
)
_DEFINES = re.compile(
    r"[\s¿]*(?:what(?: is|'s| are| does)|was (?:ist|sind|bedeutet)|que (?:es|son|significa)|qu'est-ce que|c'est quoi"
    r"|che cos'e|cosa (?:e|sono)|o que e|wat is|что такое|מה ז(?:ה|ו|את)|מהו|מהי|מה פירוש|ما هو|ما هي|ما معني)"
    r" (?:(?:an?|the|ein\w*|un\w*|der|die|das|el|la|le|les|het|de) )?"
    r"[\w+#./-]+(?: [\w+#./-]+)?(?: mean| significa)?[\s?]*$"
    r"|[^?？]{1,12}(?:是什么|是什麼|是什么意思|とは(?:何ですか)?)[？?]?$"
)
_CHOOSES = re.compile(
    r"[\s¿]*(?:(?:in|on|at|to|by|with|for|from|under) )?"
    r"(?:which|welche[rsnm]?|cual(?:es)?|quel(?:le)?s?|qual[ei]?|welke|как\w+|איז[הו]|אילו|اي)\b"
    r"|哪"
)
_COMPARES = re.compile(
    r"\b(?:compare|comparison|difference[s]? between|differ|versus|vs|vergleiche?|unterschied[e]?|compara(?:r|cion)?"
    r"|diferencia[s]?|difference[s]? entre|comparez|comparer|confronta|differenza|diferenca|vergelijk|verschil"
    r"|сравни|разница|השווה|השוו|ההבדל|הבדל|قارن|الفرق|مقارنه)\b|比较|比較|区别|不同|違い|비교|차이"
)
_BESIDE = re.compile(
    r"\b(?:(?P<before>before|vor|antes de|avant|prima di)|(?P<after>after|nach|despues de|apres|dopo|depois de)"
    r"|besides|apart from|other than|instead of|ausser|neben|ademas de|a part) (?P<name>[^,;?!]{1,80})[\s?!.]*$"
)
_MOST_TERMS = 80
"""How many words of a question count."""
_LONGEST_COMPARISON = 1_000
"""Characters in which two sides are looked for: the patterns look again from every place to the end."""
_PARTED = (
    re.compile(r"\bbetween (.+?) and (.+)", re.I),
    re.compile(r"\b(?:compare|comparison of) (.+?) (?:and|with|to|versus|vs\.?) (.+)", re.I),
    re.compile(r"(.+?) (?:versus|vs\.?) (.+)", re.I),
    re.compile(r"\bzwischen (.+?) und (.+)", re.I),
    re.compile(r"\bvergleiche?n? (.+?) (?:und|mit) (.+)", re.I),
    re.compile(r"\bentre (.+?) (?:y|et|e) (.+)", re.I),
    re.compile(r"\b(?:compara|comparez|comparer|confronta|compare) (.+?) (?:y|con|et|avec|à|e|com) (.+)", re.I),
    re.compile(r"(?:比较|比較)?(.+?)(?:和|与|跟|同|と|とは)(.+?)(?:的|有|之间|の|は|$)"),
    re.compile(r"בין (.+?) (?:לבין |ובין |ל|ו)(.+)"),
    re.compile(r"بين (.+?) (?:وبين |و)(.+)"),
    re.compile(r"\bdiffers? from (.+?) (?:and|or) (.+)", re.I),
)
_RUN = re.compile(f"{_WORD_SIGN}+(?:[.+#&'-]+{_WORD_SIGN}+)*[+#]*")


class Term(Struct, frozen=True):
    """A word that counts. `must`: a name, code or number, which no other word can stand for; `extra`: good to meet."""

    word: str
    must: bool = False
    extra: bool = False


class Question(Struct, frozen=True):
    """A question, taken apart. `wanted` are kinds of values of which an answer has one, empty when any text will do.

    `lists`: several things are asked for; `each`: one answer for every source; `broad`: all there is about something;
    `defines`: what a thing is; `chooses`: which one of several. `joined` are neighbouring words
    written together (`back up`: backup). `counted` is the word right behind `how many`. `head` is the word for what is
    asked for, `of` the telling words of the thing of which it is asked (`the price of a ticket to the island`), and
    `thing` the one that says what that is. `days` are its dates, each with the words in which it is written. `beside`
    are the words of a name that is not the one asked for (`who was director before Ada Moss`), and `earlier` whether
    one before it is; None where that is not asked.
    """

    text: str
    language: str
    kind: str
    wanted: frozenset[str]
    terms: list[Term]
    said: frozenset[str] = frozenset()
    yes_no: bool = False
    lists: bool = False
    each: bool = False
    broad: bool = False
    defines: bool = False
    chooses: bool = False
    counted: str = ""
    head: str = ""
    of: list[str] = []
    thing: str = ""
    joined: list[str] = []
    subjects: list[list[str]] = []
    names: list[str] = []
    days: dict[str, frozenset[str]] = {}
    beside: frozenset[str] = frozenset()
    earlier: bool | None = None
    negated: bool = False

    @property
    def words(self) -> list[str]:
        return [term.word for term in self.terms]


def understand(ask: str) -> Question:
    """Take a question apart.

    >>> question = understand("When does the Acme contract end?")
    >>> question.words, sorted(question.wanted), [term.word for term in question.terms if term.must]
    (['acme', 'contract', 'end'], ['date', 'duration', 'time', 'year'], ['acme'])
    """
    language = language_of(ask)
    folded = fold(ask)
    kind, wanted, rest, counted = "", frozenset[str](), folded, ""
    happens = _HAPPENS.match(folded)
    if happens:
        rest = folded[happens.end() :]
    for name, matcher, kinds in () if happens else _MATCHERS:
        match = matcher.search(folded)
        if match and not (name == "when" and _only_joins(folded, match)):
            kind, wanted = name, kinds
            rest = matcher.sub(" ", folded, count=1)
            if name == "how_many" and (behind := _RUN.match(folded[match.end() :].lstrip())):
                counted = behind[0]
            break
    if _BROAD.search(rest):
        rest = _BROAD.sub(" ", rest)
    compares = bool(_COMPARES.search(folded))
    if compares:
        kind, wanted = "compare", frozenset()
        rest = _COMPARES.sub(" ", rest)
    focus = focus_of(folded) if kind in ("", "how_much", "how_long", "who", "where") else None
    if focus is not None and not kind:
        wanted = wanted_of(focus.head)
    if focus is None and not compares and not happens:
        focus = subject_of(folded)
    yes_no = not kind and bool(_YES_NO.match(folded.lstrip("¿¡ ")) or _YES_NO_ANYWHERE.search(folded))
    terms = _terms(ask, rest, language)
    beside, earlier = _beside(folded, terms) if kind == "who" else (frozenset[str](), None)
    terms = [replace(term, must=False, extra=True) if term.word in beside else term for term in terms]
    values = find_values(ask, language)
    subjects, names = _subjects(ask, compares)
    each = bool(_EACH.search(folded))
    of = content_words(focus.of, ask) if focus is not None and focus.of and not each else []
    return Question(
        ask,
        language,
        kind or ("yes_no" if yes_no else ""),
        wanted,
        terms,
        frozenset(value.key[1] for value in values),
        yes_no,
        bool(_LIST.search(folded)) and not wanted,
        each,
        bool(_BROAD.search(folded)),
        bool(_DEFINES.match(folded)),
        bool(_CHOOSES.match(folded)),
        counted if any(term.word == counted for term in terms) else "",
        "" if focus is None else focus.head,
        of,
        focus.thing
        if focus is not None and focus.thing in of and not any(term.must for term in terms if term.word in of)
        else "",
        neighbours(ask),
        subjects,
        names,
        {value.key[1]: frozenset(tokens(ask[value.start : value.stop])) for value in values if value.kind == DATE},
        beside,
        earlier,
        not yes_no and asks_not(folded),
    )


def _beside(folded: str, terms: list[Term]) -> tuple[frozenset[str], bool | None]:
    """The words of the name at the end of a question that is not the one asked for, and whether an earlier one is."""
    match = _BESIDE.search(folded)
    if match is None:
        return frozenset(), None
    words = frozenset(tokens(match["name"], query=True))
    names = frozenset(term.word for term in terms if term.must and term.word in words)
    rest = [term for term in terms if term.word not in words]
    if not names or not rest:
        return frozenset(), None
    return names, True if match["before"] else False if match["after"] else None


def _only_joins(folded: str, match: re.Match[str]) -> bool:
    """Whether `when` tells in which case, behind another question word (`which code is given when it failed`)."""
    before = folded[: match.start()]
    return match[0] in _WHEN_IF and bool(_OPENS.match(before)) and not _KNOWING.search(before)


def content_words(text: str, within: str = "") -> list[str]:
    """The distinct tokens of a text that tell something, in order; all tokens where none does.

    `within` is the text that it is a part of: which words tell nothing depends on the language around them.
    """
    rest = _FILLER_WORDS.sub(" ", _APOSTROPHE.sub(" ", text))
    rest = _HANGUL_TAIL.sub("", _FILLER_HANGUL.sub(" ", rest))
    if _KANA.search(rest):
        rest = _FILLER_KANA.sub(" ", rest)
    elif _SPACELESS.search(rest):
        rest = _EDGES_HAN.sub(" ", _FILLER_HAN.sub(" ", rest))
    rest = _FRENCH_TAIL.sub("", rest)
    found = list(dict.fromkeys(tokens(rest, query=True)))
    silent = silent_words([*found, *tokens(within, query=True)])
    telling = [word for word in found if word not in silent and not is_joined(word)]
    whole = [word for word in telling if len(word) > 1 or not _SPACELESS.match(word)]
    return whole or telling or found


def _terms(ask: str, rest: str, language: str) -> list[Term]:
    musts = _musts(ask, language)
    each = {token for match in _EACH.finditer(rest) for token in tokens(match["of"] or "")}
    return [
        Term(word, word in musts, word in _VAGUE or word in each) for word in content_words(rest, ask)[:_MOST_TERMS]
    ]


def _musts(ask: str, language: str) -> frozenset[str]:
    """The words of a question that are names, codes or numbers: capitals inside it, digits."""
    found: set[str] = set()
    shouting = ask.upper() == ask
    spaceless = bool(_SPACELESS.search(ask))
    runs = [match[0] for match in _RUN.finditer(plain(ask))]
    for place, word in enumerate(runs):
        letters = [letter for letter in word if letter.isalpha()]
        code = any(letter.isdigit() for letter in word)
        acronym = len(letters) > 1 and all(letter.isupper() for letter in letters) and not shouting
        first_name = word.endswith("'s") or (runs[1:2] and runs[1][0].isupper() and len(runs) > 2)
        named = word[0].isupper() and language != "de" and not shouting and bool(place > 0 or first_name)
        foreign = bool(letters) and letters[0].isascii() and spaceless
        if code or acronym or named or foreign:
            found.update(tokens(word.removesuffix("'s"), query=True))
    return frozenset(found)


def _subjects(ask: str, compares: bool) -> tuple[list[list[str]], list[str]]:
    """The things compared, each as words that stand in its own part of the question only, and their names."""
    if not compares:
        return [], []
    for pattern in _PARTED:
        match = pattern.search(ask[:_LONGEST_COMPARISON].rstrip("?？.。! "))
        if match:
            sides = [match[1], match[2]]
            named = [_names(side) for side in sides]
            if all(named):
                sides = [names[-1] if at == 0 else names[0] for at, names in enumerate(named)]
            words = [content_words(side, ask) for side in sides]
            own = [[word for word in words[at] if word not in words[1 - at]] for at in (0, 1)]
            if all(own):
                return own, [side.strip() for side in sides]
    return [], []


def _names(text: str) -> list[str]:
    """Runs of capitalised words in a text, its first word included."""
    runs: list[list[str]] = [[]]
    for word in text.split():
        if word[0].isupper() or (runs[-1] and word[0].isdigit()):
            runs[-1].append(word.strip(",;:"))
        else:
            runs.append([])
    return [" ".join(run) for run in runs if run]
