"""Rows of the mistake table: FIND, WHERE, patterns and FILTER."""

from __future__ import annotations

from trivium.kip.faults import END, LITERAL, PATH, STRING, VARIABLE
from trivium.kip.mistake_site import CLOSERS, Found, Mistake, Site
from trivium.kip.parse_filter import COMPARISONS, FUNCTIONS
from trivium.kip.parse_kql import AGGREGATES

_MATCH_KEYS = {"id", "type", "name"}
_MODIFIERS = ("ORDER", "LIMIT", "CURSOR")
_BLOCKS = ("NOT", "OPTIONAL", "UNION", "WHERE")


def _modifier_not_here(site: Site) -> Found:
    if not site.wants_end or site.token not in _MODIFIERS:
        return False
    return {"word": "ORDER BY" if site.token == "ORDER" else site.token, "statement": site.statement}


def _attribute_in_match(site: Site) -> Found:
    key = site.token.strip('"')
    wants_key = _MATCH_KEYS.issuperset(site.expected) and site.before in ("{", ",")
    if not wants_key or not key.isidentifier() or key.lower() in _MATCH_KEYS or site.after != ":":
        return False
    return {"key": key}


def _is_type_place(site: Site) -> bool:
    return site.wants_text and ((site.before == ":" and site.earlier.strip('"') == "type") or site.before == "TYPE")


def _in_quantifier(site: Site) -> bool:
    """Inside braces directly behind a predicate."""
    return site.bracket == "{" and (site.opener[:1] == '"' or (site.opener[:1] == ":" and len(site.opener) > 1))


def _in_call(site: Site) -> bool:
    return site.bracket == "(" and site.opener.isidentifier()


def _in_link(site: Site) -> bool:
    """Inside the parentheses of a link pattern."""
    return site.bracket == "(" and not _in_call(site) and not {"<=", "&&", "!"} & set(site.expected)


QUERY_ROWS = (
    Mistake(
        "DISTINCT of a query",
        "Leave DISTINCT out: solutions are distinct anyway; only aggregates take it, as COUNT(DISTINCT ?x.name).",
        lambda s: s.token == "DISTINCT" and PATH in s.expected,
    ),
    Mistake(
        "star", "Name what you want: FIND(?x), COUNT(?x). There is no *.", lambda s: s.token == "*" and s.wants_variable
    ),
    Mistake(
        "FIND without parentheses",
        "Write FIND(?x, ?y.name) WHERE { … }.",
        lambda s: s.before == "FIND" and s.at == 1 and s.token != END,
    ),
    Mistake(
        "empty FIND",
        "Name at least one variable or path: FIND(?x).",
        lambda s: s.at == 2 and s.token == ")" and PATH in s.expected,
    ),
    Mistake(
        "unknown aggregate",
        "The aggregates are COUNT, SUM, AVG, MIN and MAX.",
        lambda s: (
            PATH in s.expected
            and "SUM" in s.expected
            and s.is_word
            and s.after == "("
            and s.word not in ("ASC", "DESC")
        ),
    ),
    Mistake(
        "aggregate over no path",
        "An aggregate takes one variable or path: COUNT(?x), SUM(?x.attributes.risk).",
        lambda s: s.opener in AGGREGATES or s.before in AGGREGATES,
    ),
    Mistake(
        "sort direction",
        "Write ASC or DESC behind the key, ORDER BY ?x.name DESC; nulls sort last in both directions.",
        lambda s: (
            ("ASC" in s.expected and s.is_word and s.token not in _MODIFIERS)
            or s.before in ("ASC", "DESC")
            or (s.token in ("ASC", "DESC") and PATH in s.expected)
        ),
    ),
    Mistake(
        "value for a path",
        "FIND and ORDER BY take variables, paths such as ?x.name, and aggregates over them.",
        lambda s: PATH in s.expected and "SUM" in s.expected and not s.is_word and s.token[0] in '":(0123456789',
    ),
    Mistake(
        "missing WHERE",
        "Write WHERE { … }: every pattern stands in its braces.",
        lambda s: "WHERE" in s.expected and s.token in ("{", "(", END),
    ),
    Mistake(
        "modifier before WHERE",
        "The order is WHERE { … }, ORDER BY, LIMIT, CURSOR.",
        lambda s: "WHERE" in s.expected and s.token in _MODIFIERS,
    ),
    Mistake(
        "several targets",
        "Name one variable; let UNION { … } bind several kinds of elements to it.",
        lambda s: s.only("WHERE") and s.token == ",",
    ),
    Mistake(
        "repeated modifier",
        "Write ORDER BY, LIMIT and CURSOR once each; several sort keys are separated by commas.",
        lambda s: s.wants_end and s.token in _MODIFIERS and s.here(s.token),
    ),
    Mistake(
        "LIMIT before ORDER BY",
        "The order is WHERE { … }, ORDER BY, LIMIT, CURSOR: move ORDER BY before LIMIT.",
        lambda s: s.wants_end and s.token == "ORDER" and s.statement == "FIND",
    ),
    Mistake(
        "CURSOR before LIMIT",
        "The order is LIMIT, then CURSOR.",
        lambda s: s.wants_end and s.token == "LIMIT" and s.here("CURSOR"),
    ),
    Mistake(
        "LIMIT of DELETE",
        "DELETE takes no LIMIT and removes all that WHERE matches: narrow WHERE to one {type: …, name: …} or {id: …}, "
        "and look at the matches by FIND first.",
        lambda s: s.wants_end and s.token == "LIMIT" and s.statement == "DELETE",
    ),
    Mistake(
        "modifier that the statement does not take",
        "Leave %(word)s out: %(statement)s does not take it here.",
        _modifier_not_here,
    ),
    Mistake(
        "second WHERE",
        "Put all clauses into the braces of one WHERE.",
        lambda s: s.wants_end and s.token == "WHERE" and s.here("WHERE"),
    ),
    Mistake(
        "clause outside WHERE",
        "Put %(word)s inside the braces of WHERE { … }.",
        lambda s: {"word": s.token} if s.wants_end and s.token in ("FILTER", "NOT", "OPTIONAL", "UNION") else False,
    ),
    Mistake(
        "AND between clauses",
        "Leave it out: clauses stand side by side and all must hold.",
        lambda s: s.wants_clause and (s.word == "AND" or s.token in ("&&", ",", ".")),
    ),
    Mistake(
        "OR between clauses",
        "Write the alternative as UNION { … }, or as || inside FILTER(…).",
        lambda s: s.wants_clause and (s.word == "OR" or s.token in ("||", "|")),
    ),
    Mistake(
        "EXISTS",
        "Leave EXISTS out: a pattern in WHERE must match; NOT { … } asks that it does not.",
        lambda s: s.wants_clause and s.word == "EXISTS",
    ),
    Mistake(
        "block without braces",
        "%(word)s takes braces: %(word)s { … }.",
        lambda s: {"word": s.before} if s.before in _BLOCKS and s.only("{") else False,
    ),
    Mistake(
        "call without parentheses",
        "%(word)s takes parentheses: %(word)s(…).",
        lambda s: {"word": s.before} if s.only("(") and s.before.isidentifier() else False,
    ),
    Mistake(
        "empty block",
        'Give at least one clause, for example ?x {type: "…"}.',
        lambda s: s.wants_clause and s.token == "}" and s.before == "{",
    ),
    Mistake(
        "concept without a variable",
        'Bind it to a variable: ?x {type: "…"}.',
        lambda s: s.wants_clause and s.token == "{",
    ),
    Mistake(
        "variable without a match",
        'Say what it is: %(var)s {type: "…"} for a concept, %(var)s (?a, "predicate", ?b) for a link.',
        lambda s: {"var": s.before} if s.only("{", "(") and s.before[:1] == "?" and s.token != "-" else False,
    ),
)

PATTERN_ROWS = (
    Mistake("arrow", 'Write a link as (?a, "predicate", ?b).', lambda s: bool(s.match(r"\)?\s*<?-+\s*[\[>]"))),
    Mistake(
        "id of a link",
        'Write (id: "…") with a bare, lower-case id.',
        lambda s: "id" in s.expected and s.bracket == "(" and s.token.strip('"').lower() == "id",
    ),
    Mistake(
        "Cypher node",
        'Match a node by braces: ?d {type: "Drug"}.',
        lambda s: "id" in s.expected and s.bracket == "(" and s.is_word and s.after[0] == ":",
    ),
    Mistake(
        "link by id with more",
        'A link by id stands alone: (id: "…").',
        lambda s: s.only(")") and s.bracket == "(" and s.opener_first == "id",
    ),
    Mistake(
        "bad quantifier",
        'Write whole numbers: "p"{2}, "p"{1,3}, or "p"{0,} without an upper bound.',
        lambda s: _in_quantifier(s) or (s.token == "{" and s.before == "}" and _in_link(s)),
    ),
    Mistake(
        "star path",
        "Write hops as %(name)s{1,3}, or %(name)s{1,} without an upper bound.",
        lambda s: {"name": s.before} if s.token in ("*", "+", "[") and "|" in s.expected else False,
    ),
    Mistake("two bars", 'Write alternatives with one bar: "a" | "b".', lambda s: s.token == "||" and "|" in s.expected),
    Mistake(
        "quantifier with alternatives",
        "A path of several hops takes one predicate; join the others by UNION { … }.",
        lambda s: (s.token == "|" and s.before == "}" and s.only(",")) or (s.token == "{" and "|" in s.expected),
    ),
    Mistake(
        "quantifier on a predicate variable",
        'Only a literal predicate takes {m,n} or |: write "predicate"{1,3}, or the variable without them.',
        lambda s: s.only(",") and s.before[:1] == "?" and s.earlier == "," and s.token in ("{", "|"),
    ),
    Mistake(
        "embedded clause with a variable",
        "Bind %(var)s in a clause of its own, %(var)s {…} or %(var)s (…), and write only %(var)s here.",
        lambda s: (
            {"var": s.before}
            if s.expected in ((",",), (")",)) and s.before[:1] == "?" and s.token in ("{", "(")
            else False
        ),
    ),
    Mistake(
        "key of a match in foreign spelling",
        "Write %(key)s in lower case.",
        lambda s: (
            {"key": s.token.lower()} if _MATCH_KEYS.issuperset(s.expected) and s.token.lower() in s.expected else False
        ),
    ),
    Mistake(
        "id beside other keys",
        "An id stands alone: {id: …}, or else {type: …, name: …}.",
        lambda s: (
            (s.only("}") and s.token == "," and s.bracket == "{" and s.opener_first.strip('"') in _MATCH_KEYS)
            or (s.token == "id" and s.expected in (("name",), ("type",)))
        ),
    ),
    Mistake(
        "repeated key of a match",
        'Write each key once; for one of several types or names use FILTER(IN(?x.type, ["A", "B"])).',
        lambda s: s.token in _MATCH_KEYS and s.expected in (("name",), ("type",)),
    ),
    Mistake(
        "alternatives in a match",
        'A match takes one string; for one of several use FILTER(IN(?x.type, ["A", "B"])).',
        lambda s: s.token in ("|", "||") and "}" in s.expected,
    ),
    Mistake(
        "attribute in a match",
        "A match takes id, type and name only; test the rest by FILTER(?x.attributes.%(key)s == …).",
        _attribute_in_match,
    ),
    Mistake(
        "empty match",
        "Give type, name or both, or else id.",
        lambda s: s.token == "}" and s.before == "{" and "type" in s.expected,
    ),
    Mistake(
        "lower-case type",
        'Quote the type and spell it as registered, in UpperCamelCase: "%(name)s".',
        lambda s: (
            {"name": s.token[0].upper() + s.token[1:]}
            if _is_type_place(s) and s.is_word and s.token[0].islower()
            else False
        ),
    ),
    Mistake(
        "unquoted type",
        'Quote the type: "%(name)s".',
        lambda s: {"name": s.token} if _is_type_place(s) and s.is_word else False,
    ),
    Mistake(
        "variable in a match",
        "A match takes strings and placeholders; read a type or name as ?x.type or ?x.name.",
        lambda s: s.wants_text and s.is_variable and s.before == ":",
    ),
    Mistake(
        "predicate of another kind",
        'A predicate is a string, alternatives "a" | "b", a path "p"{1,3}, or a variable.',
        lambda s: STRING in s.expected and VARIABLE in s.expected and not s.is_word and not s.is_variable,
    ),
    Mistake(
        "literal as an end of a link",
        'The ends of a link are ?x, {type: "…", name: "…"}, {id: "…"}, or a link in parentheses.',
        lambda s: VARIABLE in s.expected and "{" in s.expected and "(" in s.expected and s.token[0] in '":[0123456789',
    ),
    Mistake(
        "link of other than three parts",
        'A link has three parts: (?a, "predicate", ?b).',
        lambda s: _in_link(s) and s.statement != "UPSERT" and s.token in (",", ")"),
    ),
)

FILTER_ROWS = (
    Mistake(
        "single equals sign",
        "Write == for equal, <= and >= with the sign of equality last.",
        lambda s: s.token == "=" and (s.wants_operator or s.before in COMPARISONS),
    ),
    Mistake("<> for unequal", "Write !=.", lambda s: s.token == ">" and s.before == "<"),
    Mistake(
        "AND, OR in FILTER",
        "Inside FILTER write && and ||.",
        lambda s: "&&" in s.expected and (s.word in ("AND", "OR") or s.token in ("&", "|", ",")),
    ),
    Mistake(
        "NOT in FILTER",
        "Inside FILTER write !(…); NOT { … } is a clause of its own in WHERE.",
        lambda s: "!" in s.expected and s.word in ("NOT", "EXISTS"),
    ),
    Mistake(
        "IS NULL",
        "Write IS_NULL(%(left)s) or IS_NOT_NULL(%(left)s).",
        lambda s: {"left": s.before} if s.wants_operator and s.word == "IS" else False,
    ),
    Mistake(
        "function between operands",
        "Write it as a function: %(word)s(%(left)s, …).",
        lambda s: {"word": s.word, "left": s.before} if s.wants_operator and s.word in FUNCTIONS else False,
    ),
    Mistake(
        "LIKE, BETWEEN",
        "Use CONTAINS, STARTS_WITH, ENDS_WITH or REGEX for text, and two comparisons joined by && for a range.",
        lambda s: s.wants_operator and s.word in ("LIKE", "ILIKE", "BETWEEN", "MATCHES"),
    ),
    Mistake(
        "operand in parentheses",
        "Write operands without parentheses: ?x.attributes.risk == 1.",
        lambda s: (
            (s.wants_operator and s.token == ")" and s.after in COMPARISONS)
            or (LITERAL in s.expected and "!" not in s.expected and s.token == "(" and not s.wants_data)
        ),
    ),
    Mistake(
        "bare value as a filter",
        "A filter is a comparison or a function: ?x.attributes.flag == true, IS_NOT_NULL(?x.attributes.flag).",
        lambda s: s.wants_operator and s.token in (")", "&&", "||"),
    ),
    Mistake(
        "arithmetic in FILTER",
        "FILTER compares values and computes none: compute the bound beforehand and pass it as a parameter.",
        lambda s: s.token in ("+", "-", "*", "/", "%") and (s.wants_operator or "&&" in s.expected),
    ),
    Mistake(
        "chained comparison",
        "Join comparisons by &&: a < b && b < c.",
        lambda s: "&&" in s.expected and s.token in COMPARISONS,
    ),
    Mistake(
        "two conditions side by side",
        "Join conditions by && or ||, or give each a FILTER of its own.",
        lambda s: "&&" in s.expected and (s.is_variable or s.token in FUNCTIONS),
    ),
    Mistake(
        "empty FILTER",
        "Give a condition: FILTER(?x.attributes.risk > 2).",
        lambda s: "!" in s.expected and s.token == ")" and s.before == "(",
    ),
    Mistake(
        "missing operand",
        'Write something on both sides: FILTER(?x.attributes.risk > 2 && ?x.name != "a").',
        lambda s: (
            LITERAL in s.expected
            and PATH in s.expected
            and (s.token == ")" or s.token in COMPARISONS or s.token in ("&&", "||"))
        ),
    ),
    Mistake(
        "unknown function",
        "FILTER knows CONTAINS, STARTS_WITH, ENDS_WITH, REGEX, IN, IS_NULL and IS_NOT_NULL.",
        lambda s: LITERAL in s.expected and PATH in s.expected and s.is_word and s.after == "(",
    ),
    Mistake(
        "list of IN",
        'IN takes a list in square brackets, IN(?x.name, ["a", "b"]), or a placeholder for one.',
        lambda s: s.expected[:1] == ("[",) and s.opener == "IN",
    ),
    Mistake(
        "object or list in FILTER",
        "Compare single values: strings, numbers, true, false, null, or a flat list of them.",
        lambda s: (
            LITERAL in s.expected and not s.wants_data and (s.token in CLOSERS or (s.is_variable and s.bracket == "["))
        ),
    ),
    Mistake(
        "operands of a function",
        "IS_NULL and IS_NOT_NULL take one operand, the other functions two.",
        lambda s: s.opener in FUNCTIONS and s.token in (",", ")"),
    ),
)
