"""Stop words: words that say nothing about what is looked for, by language.

Behind the bar stand those that are telling words in another language (`door` is Dutch for through): they count as stop
words only in a question that has one of the former.
"""

from __future__ import annotations

from collections.abc import Iterable

from trivium.search.folding import fold

_SHORT = """
    a an and are as at be by for from has have how in is it its of on or that the this to was what when where which
    who why will with der die das und ist ein eine le la les de des du et un une el los las y en"""
SHORT = frozenset(_SHORT.split())
"""Those that are left out of a term of SEARCH, which is often a name: only the most common ones of four languages."""

_STOP_WORDS = {
    "en": """
        a about above after again all also am an and any are as at be because been before being below between both
        but by can could did do does doing down during each either else ever few for from further get gets got had
        has have having he her here hers herself him himself his how i if in into is it its itself just let like
        may me might more most much must my myself no nor not now of off often on once one only or other our ours
        out own please same shall she should since so some somebody someone something still such than that the
        their theirs them themselves then there these they this those through to too under until up upon us very
        was we were what whatever when where whether which while who whom whose why will with within without would
        yes yet you your yours yourself dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt
        wouldnt havent hasnt hadnt im ive youre hes shes theyre thats theres whats whos lets | over want tell""",
    "de": """
        ab aber alle allem allen aller alles als andere anderen auch auf aus bei beim bist bis dabei dafür damit
        danach daran das dass dazu dein deine dem denn der deren dessen dich diese diesem diesen dieser dieses dir
        doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen gibt hab habe haben
        hatte hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im ins ist ja jede jedem jeden jeder
        jedes jetzt kann kannst kein keine keinen keiner können könnte mehr meine meinem meinen meiner mich mir
        mit muss müssen nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner
        seit sich sie sind soll sollte sondern um und uns unser unsere viel vom von vor waren warum wegen weil
        welche welchem welchen welcher welches wem wen wenn wer werde werden wie wieder wir wird wo wohin woher
        womit wurde wurden zu zum zur zwischen darf dürfen wann sowie etwa bitte des einmal
        | am an bin da dann den die hat in man mein so über
        unter war was will""",
    "fr": """
        au aux avec avez avoir ce ceci cela ces cet cette ceux chez comme dans de donc dont du elle elles en et eu
        été être il ils je la le les leur leurs lui mes même moi ne nos notre nous où par pas pendant peut plus
        pourquoi qu quand que quel quelle quelles quels qui ses sont sous sur ta te tes toi tu un une vos votre
        vous était | a ai an comment est fait l d ma me mon on ont ou pour sa sans se si son ton""",
    "es": """
        al algo cual cuales cuando cuanto cuantos de del desde donde el ella ellas ellos entre es esa ese eso esta
        están este esto estos fue ha han hasta hay la las le les lo los más mi mis muy nada ni nos nosotros otra
        otro pero porque qué quien quienes ser si sobre su sus también te tiene tu tus un una unos y ya yo | a
        como con dos e en era me no o para por sea sin son uno""",
    "it": """
        al alla alle anche che chi ci cosa cui da dal dalla dei del della delle di è ed gli hanno il io la le lei
        lo loro lui mi mia mio nei nel nella noi perché più quale quali quando quanto quanti quello questa questo
        sono su sua suo tra tu un una voi | a come con dove e era ha i in ma ne no non o per se si uno""",
    "pt": """
        ao aos até com da das dela dele do é ela ele eles em essa esse esta está este eu foi há isso já lhe mais
        mas meu minha muito na não nas nem nós onde os ou para pela pelo porque quais qual quando quanto quantos
        que quem sem seu sua são também te tem um uma você | a as como de dos e era me no nos o por se ser""",
    "nl": """
        aan bij deze dit een het hij hun ik je kan mij mijn naar niet nog nu onder ons ook te uit veel voor waar
        waarom wanneer wat we welke werd wie wij worden wordt ze zich zij zijn zo zou | al als dan dat de die door
        en er had heb heeft hoe in is maar me met of om op over tot van was""",
    "ru": """
        а без бы был была были было быть в вам вас во вот все всё вы где для до его ее её если есть еще ещё же за
        и из или им их к как какая какие какой когда кого кому который кто ли мне мы на над нас не него нее нет ни
        но о об он она они оно от по под при про с со сколько так также там то только ты у уже что чтобы чего эта
        эти это этот я""",
    "zh": """
        什么 怎么 怎样 如何 哪些 哪个 哪里 哪儿 为什 多少 多久 几个 是否 可以 有没 没有 我们 你们 他们 这个 那个 请问
        吗 呢 吧 了 的 是 在""",
    "ja": """
        です ます した する どこ いつ だれ なに どう なぜ いく くつ とは は が を に で の と も 何 誰""",
}


def _folded(words: str) -> frozenset[str]:
    return frozenset(fold(word).replace("'", "") for word in words.split())


_LISTS = [(_folded(words.partition("|")[0]), _folded(words.replace("|", " "))) for words in _STOP_WORDS.values()]
_CLEAR: frozenset[str] = frozenset().union(*(clear for clear, _ in _LISTS))


def stop_words_of(words: set[str]) -> set[str]:
    """Those of the folded words of a question that are stop words.

    >>> sorted(stop_words_of({"the", "door", "is", "open"})), sorted(stop_words_of({"het", "door"}))
    (['is', 'the'], ['door', 'het'])
    """
    found = words & _CLEAR
    for clear, every in _LISTS:
        if not clear.isdisjoint(words):
            found |= words & every
    return found


def languages_of(words: Iterable[str]) -> dict[str, int]:
    """How much these folded words speak for each language, by its stop words; those that are telling elsewhere half."""
    known = list(words)
    return {
        code: sum((word in clear) + (word in every) for word in known)
        for code, (clear, every) in zip(_STOP_WORDS, _LISTS, strict=True)
    }
