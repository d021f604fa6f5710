"""Words that records and glossaries use, by language (reference 4.1, 4.2). Data only: what is read stays as written.

A field holds alternatives between commas. `*_back` and `*_around` are regular expressions, since there the record that
is named stands before the words, or in their midst (`被 ADR-12 取代`); elsewhere it follows.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple


class Language(NamedTuple):
    """The words of one language; empty where it has none of its own."""

    status: str = ""
    """Labels that mean the status of a record, whatever follows."""
    state: str = ""
    """Labels that mean other things, too: what follows must begin with one of `statuses`."""
    date: str = ""
    created: str = ""
    """Labels of the date when a record was begun, for records without another."""
    statuses: str = ""
    by: str = ""
    of: str = ""
    by_next: str = ""
    of_next: str = ""
    """Words that mean it only when the record's name follows at once (`ersetzt ADR-3`)."""
    by_colon: str = ""
    """Words that mean it only before a colon, for else they may mean the reverse (`已取代: ADR-3`)."""
    by_back: str = ""
    of_back: str = ""
    by_around: str = ""
    superseded: str = ""
    """Beginnings of a status that means that the record is superseded."""
    by_keys: str = ""
    of_keys: str = ""
    """Labels of lists of records that are no phrases of a sentence."""
    denied: str = ""
    """What denies or supposes a supersession when it precedes it in the same sentence."""
    linking: str = ""
    """Words that may stand between a status word and what it is about: `by`, `on`, `since`."""
    joining: str = ""
    """Words between the members of a list, and articles and nouns before one."""
    nothing: str = ""
    opening: str = ""
    """Headings that every record may begin with, hence no names."""
    log: str = ""
    """Headings above several decisions of one text."""
    title: str = ""
    """Labels of a line that holds the title."""
    glossary: str = ""
    """Names of files and folders that hold a glossary."""
    collection: str = ""
    """Titles of glossaries and of parts of them."""
    closing: str = ""
    """Headings of a glossary that follow its terms or stand apart from them."""
    alias: str = ""
    """Labels of other names of a term."""


LANGUAGES: dict[str, Language] = {
    "en": Language(
        status="status, adr status, rfc status, decision status, current status",
        date="date, decision date, date of decision, date decided, decided on, revdate",
        created="created, created on, date created, creation date, start date",
        log="architecture decisions, architectural decisions, design decisions, technical decisions, key decisions,"
        " key design decisions, important decisions, decisions, decision log, decision records, decision register,"
        " architecture decision log, architecture decision records, architectural decision records,"
        " architecture decision records (adrs), architecture decisions (adrs), adrs, adr log",
        statuses="accepted, approved, adopted, agreed, decided, ratified, proposed, proposal, draft, drafted,"
        " pending, open, in review, under review, in discussion, under discussion, in progress, wip, rejected,"
        " declined, denied, deprecated, obsolete, superseded, superceded, replaced, retired, withdrawn, abandoned,"
        " postponed, deferred, on hold, provisional, implementable, confirmed, enacted, published, implemented, done,"
        " completed, final, active, inactive, amended, rfc",
        superseded="superseded, superceded, superseeded, superceeded, replaced",
        by="superseded by, superceded by, superseeded by, superceeded by, replaced by",
        of="supersedes, supercedes, superseedes, superceedes, replaces",
        denied="not, never, would, could, might, may, should, if",
        linking="by, on, in, since, as, with, and, per, for, at, from, until",
        joining="and, the, decision, decisions, record, records, as well as, along with, both",
        nothing="none, n/a, na, -, –, —, no, nothing, null, tbd, nil, no one, nobody",
        opening="summary, executive summary, tl;dr, abstract, overview, introduction, intro, preface, background,"
        " context, context and problem statement, context & problem statement, problem, problem statement, issue,"
        " motivation, status, date, deciders, authors, author, decision, decisions, decision outcome,"
        " decision drivers, considered options, options, consequences, rationale, goals, non-goals,"
        " goals and non-goals, scope, purpose, proposal, description, details, specification, requirements,"
        " assumptions, metadata, meta, info, information, table of contents, contents, toc, history, changelog,"
        " change log, revision history, references, see also, feature name, adr, rfc, architecture decision record,"
        " architectural decision record, decision record",
        title="title, feature name, rfc title, adr title, decision title, proposal title",
        glossary="glossary",
        collection="glossary, terms, definitions, terminology, vocabulary, key terms, key concepts,"
        " terms and definitions, definitions and terms, terms & definitions, glossary of terms, acronyms,"
        " abbreviations, acronyms and abbreviations, abbreviations and acronyms, acronyms & abbreviations,"
        " list of abbreviations, list of acronyms, lexicon, dictionary, nomenclature",
        closing="see also, references, further reading, further information, further resources, related,"
        " related terms, related links, related documents, related documentation, related pages, related topics,"
        " related reading, related resources, external links, useful links, additional resources, other resources,"
        " more information, bibliography, footnotes, endnotes, acknowledgements, acknowledgments, introduction,"
        " table of contents, contents, toc, on this page, about this glossary, about this page, about this document,"
        " how to use this glossary, how to read this glossary, how to contribute, revision history, document history",
        alias="alias, aliases, also known as, a.k.a., aka, also called, synonym, synonyms, abbreviation,"
        " abbreviations, abbr, abbr., abbrev., acronym, acronyms, short form, short name, short, other name,"
        " other names, alternative name, alternative names, alternate name, alternate names, full name, full form,"
        " long form, expansion, stands for, expanded form",
    ),
    "de": Language(
        status="entscheidungsstatus",
        state="stand, zustand",
        date="datum",
        created="erstellt, erstellt am, erstellungsdatum",
        log="architekturentscheidungen, entwurfsentscheidungen, designentscheidungen, entscheidungen,"
        " entscheidungslog, entscheidungsprotokoll",
        statuses="angenommen, akzeptiert, beschlossen, entschieden, genehmigt, freigegeben, vorgeschlagen,"
        " vorschlag, entwurf, offen, in prüfung, in diskussion, in arbeit, abgelehnt, verworfen, zurückgezogen,"
        " zurückgestellt, veraltet, überholt, ersetzt, abgelöst, umgesetzt, gültig, aktiv",
        superseded="ersetzt, abgelöst, abgeloest, überholt",
        by="ersetzt durch, abgelöst durch, abgeloest durch, überholt durch, ersetzt von, abgelöst von",
        of_next="ersetzt, löst ab, ersetzt die, ersetzt den",
        by_around=r"(?<!\w)(?:durch|von)\s(?P<in>(?:[^.;!?\n]|\.(?=\S)){1,160}?)\s(?:ersetzt|abgelöst|überholt)(?!\w)",
        by_keys="nachfolger",
        of_keys="ersetzt, vorgänger",
        denied="nicht, nie, würde, könnte, dürfte, sollte, falls, wenn",
        linking="durch, von, am, seit, und, mit, im, in, vom, für",
        joining="und, sowie, die, der, den, das, dem, entscheidung, entscheidungen",
        nothing="keine, keiner, keines, nichts, entfällt",
        opening="zusammenfassung, kurzfassung, überblick, einleitung, einführung, hintergrund, kontext,"
        " ausgangslage, problem, problemstellung, motivation, status, stand, entscheidung, optionen, konsequenzen,"
        " begründung, ziele, zweck, inhalt, inhaltsverzeichnis",
        title="titel",
        glossary="glossar, begriffsverzeichnis",
        collection="glossar, begriffe, definitionen, begriffe und definitionen, abkürzungen, akronyme,"
        " wörterverzeichnis, abkürzungsverzeichnis, terminologie",
        closing="siehe auch, referenzen, quellenverzeichnis, literatur, literaturverzeichnis,"
        " weiterführende literatur, weiterführende links, weblinks, inhaltsverzeichnis, einleitung",
        alias="synonym, synonyme, abkürzung, abkürzungen, kurzform, auch bekannt als, auch genannt, andere namen,"
        " akronym, langform, steht für",
    ),
    "fr": Language(
        status="statut",
        state="état, etat",
        statuses="accepté, acceptée, adopté, adoptée, approuvé, approuvée, validé, validée, proposé, proposée,"
        " proposition, brouillon, en cours, en discussion, en revue, en attente, rejeté, rejetée, refusé, refusée,"
        " obsolète, déprécié, dépréciée, remplacé, remplacée, abandonné, abandonnée, retiré, retirée, reporté,"
        " reportée, implémenté, implémentée, actif, active",
        superseded="remplacé, remplacée, remplacés, remplacées, supplanté, supplantée",
        by="remplacé par, remplacée par, remplacés par, remplacées par, remplace par, supplanté par, supplantée par",
        of="remplace, supplante",
        by_keys="successeur",
        of_keys="prédécesseur",
        denied="ne, n', n’, pas, jamais, serait, pourrait, devrait, si",
        linking="par, le, la, depuis, et, en, pour, dans, au",
        joining="et, ainsi que, le, la, les, l', l’, décision, décisions",
        nothing="aucun, aucune, rien, néant, sans objet",
        opening="résumé, introduction, contexte, contexte et problème, problème, motivation, statut, état, décision,"
        " options, conséquences, justification, objectifs, portée, sommaire, table des matières",
        title="titre",
        glossary="glossaire, lexique",
        collection="glossaire, termes, définitions, terminologie, vocabulaire, lexique, acronymes, abréviations,"
        " sigles",
        closing="voir aussi, voir également, références, bibliographie, pour en savoir plus, liens utiles,"
        " liens externes, pour aller plus loin, sommaire, table des matières",
        alias="synonyme, synonymes, abréviation, abréviations, sigle, acronyme, aussi appelé,"
        " aussi connu sous le nom de, autres noms, forme longue, forme courte",
    ),
    "es": Language(
        status="estatus",
        state="estado, situación",
        date="fecha",
        statuses="aceptado, aceptada, aprobado, aprobada, adoptado, adoptada, propuesto, propuesta, borrador,"
        " en revisión, en discusión, en curso, pendiente, rechazado, rechazada, descartado, descartada, obsoleto,"
        " obsoleta, deprecado, deprecada, reemplazado, reemplazada, sustituido, sustituida, superado, superada,"
        " supersedido, supersedida, retirado, retirada, implementado, implementada, vigente, activo, activa",
        superseded="reemplazado, reemplazada, remplazado, remplazada, sustituido, sustituida, superado, superada,"
        " supersedido, supersedida",
        by="reemplazado por, reemplazada por, remplazado por, remplazada por, sustituido por, sustituida por,"
        " superado por, superada por, supersedido por, supersedida por",
        of="reemplaza a, reemplaza, sustituye a, sustituye, supersede a",
        by_keys="sucesor, sucesora",
        of_keys="predecesor, predecesora",
        denied="no, nunca, sería, podría, debería, si",
        linking="por, el, la, desde, y, en, para, con, a",
        joining="y, e, así como, el, la, los, las, a, decisión, decisiones",
        nothing="ninguno, ninguna, nada",
        opening="resumen, introducción, contexto, contexto y problema, problema, motivación, estado, decisión,"
        " opciones, consecuencias, justificación, objetivos, alcance, índice",
        title="título",
        glossary="glosario",
        collection="glosario, términos, definiciones, terminología, vocabulario, acrónimos, abreviaturas, siglas",
        closing="véase también, ver también, referencias, bibliografía, lecturas adicionales, más información,"
        " enlaces externos",
        alias="sinónimo, sinónimos, abreviatura, abreviaturas, sigla, siglas, acrónimo, acrónimos,"
        " también conocido como, también llamado, otros nombres",
    ),
    "pt": Language(
        state="estado, situação",
        date="data",
        statuses="aceito, aceita, aceite, aprovado, aprovada, adotado, adotada, proposto, proposta, rascunho,"
        " em revisão, em discussão, em andamento, pendente, rejeitado, rejeitada, recusado, recusada, obsoleto,"
        " obsoleta, depreciado, depreciada, descontinuado, descontinuada, substituído, substituída, substituido,"
        " substituida, superado, superada, retirado, retirada, implementado, implementada, vigente, ativo, ativa",
        superseded="substituído, substituída, substituido, substituida, superado, superada, supersedido, supersedida",
        by="substituído por, substituída por, substituido por, substituida por, substituído pela, substituída pela,"
        " substituído pelo, substituída pelo, superado por, superada por, supersedido por, supersedida por",
        of="substitui",
        by_keys="sucessor, sucessora",
        of_keys="antecessor, antecessora",
        denied="não, nunca, seria, poderia, deveria, caso",
        linking="por, pelo, pela, em, desde, e, para, com, a, o",
        joining="e, bem como, o, a, os, as, decisão, decisões",
        nothing="nenhum, nenhuma, nada",
        opening="resumo, introdução, contexto, contexto e problema, problema, motivação, estado, situação, decisão,"
        " opções, consequências, justificativa, objetivos, escopo, índice, sumário",
        title="título",
        glossary="glossário, glossario",
        collection="glossário, termos, definições, terminologia, vocabulário, acrônimos, acrónimos, abreviaturas,"
        " siglas, abreviações",
        closing="veja também, ver também, referências, bibliografia, leitura adicional, mais informações,"
        " links externos",
        alias="sinônimo, sinônimos, sinónimo, sinónimos, abreviatura, abreviação, sigla, siglas, acrônimo, acrónimo,"
        " também conhecido como, também chamado, outros nomes",
    ),
    "it": Language(
        state="stato",
        date="data",
        statuses="accettato, accettata, approvato, approvata, adottato, adottata, proposto, proposta, bozza,"
        " in revisione, in discussione, in corso, in attesa, rifiutato, rifiutata, respinto, respinta, deprecato,"
        " deprecata, obsoleto, obsoleta, sostituito, sostituita, superato, superata, ritirato, ritirata,"
        " implementato, implementata, attivo, attiva",
        superseded="sostituito, sostituita, superato, superata, rimpiazzato, rimpiazzata",
        by="sostituito da, sostituita da, sostituito dal, sostituita dal, sostituito dalla, sostituita dalla,"
        " sostituito dall', sostituita dall', superato da, superata da, rimpiazzato da, rimpiazzata da",
        of="sostituisce, rimpiazza",
        denied="non, mai, sarebbe, potrebbe, dovrebbe, se",
        linking="da, dal, dalla, il, la, e, in, per, con, del",
        joining="e, ed, nonché, il, la, i, le, gli, l', decisione, decisioni",
        nothing="nessuno, nessuna, niente, nulla",
        opening="sommario, riepilogo, sintesi, introduzione, contesto, contesto e problema, problema, motivazione,"
        " stato, decisione, opzioni, conseguenze, obiettivi, ambito, indice",
        title="titolo",
        glossary="glossario",
        collection="glossario, termini, definizioni, terminologia, vocabolario, acronimi, abbreviazioni, sigle",
        closing="vedi anche, si veda anche, riferimenti, bibliografia, approfondimenti, collegamenti esterni,"
        " letture consigliate",
        alias="sinonimo, sinonimi, abbreviazione, abbreviazioni, sigla, sigle, acronimo, acronimi, noto anche come,"
        " detto anche, altri nomi",
    ),
    "ru": Language(
        status="статус, статус решения",
        state="состояние",
        date="дата",
        statuses="принято, принята, принят, утверждено, утверждена, утверждён, утвержден, одобрено, одобрена,"
        " предложено, предложена, предложен, предложение, черновик, на рассмотрении, обсуждается, в обсуждении,"
        " в работе, отклонено, отклонена, отклонён, отклонен, отвергнуто, устарело, устарела, устарел, заменено,"
        " заменена, заменён, заменен, отозвано, отозвана, отложено, реализовано, внедрено, действует",
        superseded="заменено, заменена, заменён, заменен, вытеснено, вытеснена, замещено, замещена",
        by="заменено на, заменена на, заменён на, заменен на, вытеснено, вытеснена",
        of="заменяет, замещает, вытесняет",
        by_next="заменено, заменена, заменён, заменен, замещено, замещена, замещён, замещен",
        denied="не, никогда, если, может, бы, могло, мог",
        linking="на, с, от, в, решением, записью, и, по, для",
        joining="и, а также, решение, решением, решения, решениями, запись, записью, записи, документом",
        nothing="нет, отсутствует, ничего",
        opening="резюме, аннотация, введение, обзор, контекст, проблема, мотивация, статус, состояние, решение,"
        " варианты, последствия, обоснование, цели, содержание, оглавление",
        title="название, заголовок, тема",
        glossary="глоссарий",
        collection="глоссарий, термины, определения, термины и определения, терминология, словарь, сокращения,"
        " аббревиатуры",
        closing="см. также, смотрите также, ссылки, литература, дополнительные материалы, содержание, оглавление",
        alias="синоним, синонимы, сокращение, сокращения, аббревиатура, аббревиатуры, также известен как,"
        " другие названия, расшифровка",
    ),
    "zh": Language(
        status="决策状态, 決策狀態",
        state="状态, 狀態",
        date="日期, 决策日期, 決策日期",
        statuses="已接受, 接受, 已采纳, 采纳, 已採納, 採納, 已采用, 已通过, 通过, 已通過, 通過, 已批准, 批准,"
        " 已决定, 已決定, 提议, 提議, 提案, 已提议, 提议中, 提出, 草案, 草稿, 待定, 讨论中, 討論中, 评审中, 審核中,"
        " 审核中, 已拒绝, 拒绝, 已拒絕, 拒絕, 已否决, 已废弃, 废弃, 已廢棄, 廢棄, 已弃用, 弃用, 已棄用, 棄用,"
        " 已过时, 过时, 已過時, 已取代, 被取代, 已被取代, 已替代, 替代, 已被替代, 被替代, 已替换, 已被替换, 已实施,"
        " 已實施, 已实现, 已完成, 已生效, 生效, 已撤回, 已延期, 有效",
        superseded="已取代, 被取代, 已被取代, 已替代, 已被替代, 被替代, 已替换, 已替換, 已被替换, 已被替換",
        by_colon="已取代, 已替代, 已替换, 已替換",
        by="替代为, 替换为, 替換為, 取代为",
        by_next="被取代, 被替代, 被替换, 被替換",
        of_next="取代, 替代, 替换, 替換, 代替, 取代了, 替代了, 替换了, 替換了, 已取代了, 已替代了, 已替换了, 已替換了",
        by_around=r"(?:被|由)\s*(?P<in>(?:[^.;!?。！？；\n]|\.(?=\S)){1,160}?)\s*(?:所)?(?:取代|替代|替换|替換|代替)",
        by_keys="取代者, 替代者, 后继, 後繼, 已取代, 已被取代, 被取代, 已替代, 已被替代, 被替代, 已替换, 已替換,"
        " 已被替换, 已被替換, 被替换, 被替換",
        of_keys="前身",
        denied="不, 未, 没有, 沒有, 尚未, 并非, 並非, 如果, 若, 可能, 将, 將",
        joining="和, 与, 與, 及, 以及",
        nothing="无, 無, 没有, 沒有, 暂无",
        opening="摘要, 概述, 概要, 简介, 簡介, 引言, 背景, 上下文, 问题, 問題, 动机, 動機, 状态, 狀態, 决策, 決策,"
        " 决定, 決定, 方案, 后果, 後果, 结果, 影响, 影響, 理由, 目标, 目標, 目录, 目錄",
        title="标题, 標題",
        glossary="术语表, 術語表, 词汇表, 詞彙表, 名词解释, 名詞解釋",
        collection="术语表, 術語表, 词汇表, 詞彙表, 术语, 術語, 名词解释, 名詞解釋, 定义, 定義, 缩写, 縮寫, 缩略语,"
        " 縮略語",
        closing="参见, 另见, 另請參閱, 参考, 参考资料, 參考資料, 参考文献, 參考文獻, 延伸阅读, 延伸閱讀, 相关链接,"
        " 相關連結, 目录, 目錄",
        alias="别名, 別名, 缩写, 縮寫, 简称, 簡稱, 同义词, 同義詞, 全称, 全稱, 又称, 又稱, 也称, 英文缩写",
    ),
    "ja": Language(
        status="ステータス",
        state="状態",
        date="日付, 決定日",
        statuses="承認済み, 承認, 採用, 採用済み, 採択, 決定, 決定済み, 提案, 提案中, 下書き, ドラフト, 検討中,"
        " レビュー中, 議論中, 却下, 不採用, 廃止, 非推奨, 置き換え, 置き換え済み, 置換済み, 破棄, 実装済み, 完了,"
        " 有効, 保留",
        superseded="置き換え, 置き換え済み, 置換済み, 置換, 廃止",
        by_back=r"(?:に(?:より|よって)?|で)\s*(?:置き換え(?!ない|ません)|置換|取って代わ)"
        r"(?!られ(?:てい)?(?:ない|ません)|され(?:てい)?(?:ない|ません)|られません)",
        of_back=r"を\s*(?:置き換え|置換|廃止)(?!ない|ません|しない|しません)",
        by_keys="後継, 置き換え先, 置換先",
        of_keys="置き換え元, 置き換え対象, 置換元, 前身",
        denied="もし",
        joining="と, および, 及び",
        nothing="なし, 無し, ありません",
        opening="概要, 要約, はじめに, 背景, コンテキスト, 課題, 問題, 動機, ステータス, 状態, 決定, 決定事項,"
        " 選択肢, 結果, 影響, 理由, 目的, 目次",
        title="タイトル, 題名",
        glossary="用語集, 用語一覧",
        collection="用語集, 用語, 用語一覧, 定義, 用語と定義, 略語, 略語一覧",
        closing="関連項目, 参考, 参考文献, 参考資料, 関連リンク, 目次",
        alias="別名, 略語, 略称, 同義語, 類義語, 正式名称",
    ),
    "ko": Language(
        state="상태",
        date="날짜, 일자, 결정일",
        statuses="승인됨, 승인, 채택됨, 채택, 수락됨, 수락, 확정, 확정됨, 결정됨, 제안됨, 제안, 초안, 검토 중,"
        " 검토중, 논의 중, 논의중, 거부됨, 거부, 거절됨, 거절, 기각됨, 기각, 폐기됨, 폐기, 사용 중단, 사용 중단됨,"
        " 대체됨, 대체, 구현됨, 완료, 완료됨, 보류, 보류됨, 유효",
        superseded="대체됨, 대체",
        by_back=r"(?:\(으\)로|으로|로|에\s?의해)\s*(?:인해\s*)?대체(?!되지|되어 있지)",
        of_back=r"(?:을|를|\(을\)|\(를\))\s*대체(?!하지|되지)",
        by_keys="대체됨, 후속, 후속 결정",
        of_keys="대체함, 대체 대상, 이전 결정",
        denied="만약, 아직, 안",
        joining="와, 과, 및, 그리고",
        nothing="없음",
        opening="요약, 개요, 소개, 서론, 배경, 컨텍스트, 맥락, 문제, 동기, 상태, 결정, 결정 사항, 선택지, 결과,"
        " 영향, 근거, 목표, 목차",
        title="제목",
        glossary="용어집",
        collection="용어집, 용어, 용어 정의, 정의, 약어, 약어 목록",
        closing="같이 보기, 참고, 참고 문헌, 참고문헌, 참고 자료, 관련 링크, 관련 문서, 목차",
        alias="별칭, 약어, 동의어, 줄임말, 다른 이름, 정식 명칭",
    ),
}

_SPACES = re.compile(r"[\s_-]+")
_CJK = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))
"""Letters of Chinese, Japanese and Korean; as a pattern they would cost every process its compilation."""


@lru_cache(maxsize=32)
def words(field: str) -> frozenset[str]:
    """Every alternative of a field, in every language, as `normal` gives it."""
    return frozenset(normal(word) for language in LANGUAGES.values() for word in alternatives(language, field))


def alternatives(language: Language, field: str) -> list[str]:
    """The alternatives that a field of a language holds."""
    held: str = getattr(language, field)
    return [word for word in (part.strip() for part in held.split(",")) if word]


def normal(text: str) -> str:
    """A label or heading for comparison: case folded, composed, one space for spaces, dashes and underlines.

    >>> normal(" Superseded-By: "), normal("See also")
    ('superseded by', 'see also')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return _SPACES.sub(" ", text).strip(" *:\uff1a`").casefold() or text.strip()


def is_cjk(text: str) -> bool:
    """Whether a text has letters of Chinese, Japanese or Korean, where words have no spaces between them."""
    return not text.isascii() and any(start <= sign <= end for sign in text for start, end in _CJK)


def alternation(choices: list[str], between: str = r"[\s_-]*") -> str:
    """A pattern for any of these words, the longest first, each as whole words; in CJK text words have no borders."""
    ordered = sorted(set(choices), key=lambda word: (-len(word), word))
    return "|".join(_bounded(word, between) for word in ordered) or r"(?!)"


def _bounded(word: str, between: str) -> str:
    pattern = between.join(re.escape(part) for part in word.split())
    if is_cjk(word):
        return pattern
    before = r"(?<![^\W_])" if word[0].isalnum() else ""
    return before + pattern + (r"(?![^\W_])" if word[-1].isalnum() else "")


@lru_cache(maxsize=1)
def _status_words() -> re.Pattern[str]:
    spoken = LANGUAGES.values()
    statuses = alternation([word for language in spoken for word in alternatives(language, "statuses")])
    links = alternation([word for language in spoken for word in alternatives(language, "linking")])
    return re.compile(rf"\W*(?:{statuses})(?=\W*(?:$|\d|{links}|[^\w\s]))", re.IGNORECASE)


def begins_with_status(text: str) -> bool:
    """Whether a text begins with a word for a status, rather than with a sentence that holds one.

    >>> begins_with_status("Aceptado (2024)"), begins_with_status("Active users are counted")
    (True, False)
    """
    return _status_words().match(text[:160]) is not None


@lru_cache(maxsize=1)
def _one_status() -> re.Pattern[str]:
    spoken = LANGUAGES.values()
    return re.compile(alternation([word for one in spoken for word in alternatives(one, "statuses")]), re.IGNORECASE)


def is_status_word(text: str) -> bool:
    """Whether a text is nothing but a word for a status."""
    return _one_status().fullmatch(text.strip()) is not None
