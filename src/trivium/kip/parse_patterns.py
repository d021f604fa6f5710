"""Graph patterns: concept matches, link patterns, and the clauses of WHERE (KIP §3.4)."""

from __future__ import annotations

from trivium.kip.faults import INTEGER, PLACEHOLDER, STRING, VARIABLE, fail, refuse
from trivium.kip.lexer import decode_number
from trivium.kip.parse_filter import parse_filter
from trivium.kip.parse_values import parse_text_slot
from trivium.kip.tree import (
    Clause,
    ConceptClause,
    ConceptMatch,
    Group,
    LinkById,
    LinkClause,
    LinkMatch,
    LinkPattern,
    Lit,
    Not,
    Optional,
    Param,
    PredicateNames,
    PredicatePath,
    Term,
    Union,
    Value,
    Var,
)

_CLAUSE_STARTS = (VARIABLE, "(", "FILTER", "NOT", "OPTIONAL", "UNION")
_BLOCKS: dict[str, type[Not] | type[Optional] | type[Union]] = {"NOT": Not, "OPTIONAL": Optional, "UNION": Union}
_MATCH_KEYS = {k: k.strip('"') for k in ("id", "type", "name", '"id"', '"type"', '"name"')}


def parse_where(tokens: list[str], i: int) -> tuple[Group, int]:
    """`WHERE { … }`."""
    if tokens[i] != "WHERE":
        fail(tokens, i, "WHERE")
    return parse_group(tokens, i + 1)


def parse_group(tokens: list[str], i: int) -> tuple[Group, int]:
    """`{ clause … }` with at least one clause and nothing between clauses."""
    start = i
    if tokens[i] != "{":
        fail(tokens, i, "{")
    clauses: list[Clause] = []
    i += 1
    while tokens[i] != "}":
        clause, i = _parse_clause(tokens, i, *(("}",) if clauses else ()))
        clauses.append(clause)
    if not clauses:
        fail(tokens, i, *_CLAUSE_STARTS)
    return Group(clauses, start), i + 1


def _parse_clause(tokens: list[str], i: int, *others: str) -> tuple[Clause, int]:
    token = tokens[i]
    if token[0] == "?" and "." not in token:
        return _parse_bound_clause(tokens, i)
    if token == "(":
        link, end = parse_link_match(tokens, i)
        return LinkClause(None, link, i), end
    if token == "FILTER":
        return parse_filter(tokens, i)
    block = _BLOCKS.get(token)
    if block is not None:
        group, end = parse_group(tokens, i + 1)
        return block(group, i), end
    fail(tokens, i, *_CLAUSE_STARTS, *others)


def _parse_bound_clause(tokens: list[str], i: int) -> tuple[Clause, int]:
    var = Var(tokens[i][1:], i)
    token = tokens[i + 1]
    if token == "{":
        concept, end = parse_concept_match(tokens, i + 1)
        return ConceptClause(var, concept, i), end
    if token == "(":
        link, end = parse_link_match(tokens, i + 1)
        return LinkClause(var, link, i), end
    fail(tokens, i + 1, "{", "(")


def parse_concept_match(tokens: list[str], i: int, *, whole: bool = False) -> tuple[ConceptMatch, int]:
    """`{id: …}`, `{type: …}`, `{name: …}` or `{type: …, name: …}`; no trailing comma.

    `whole` asks for a match that names one element, as writes do: by id, or by type and name (§4.1).
    """
    match = ConceptMatch(at=i)
    while True:
        i += 1
        key = _MATCH_KEYS.get(tokens[i])
        if key is None or key not in _open_keys(match):
            fail(tokens, i, *_open_keys(match))
        if tokens[i + 1] != ":":
            fail(tokens, i + 1, ":")
        value, i = parse_text_slot(tokens, i + 2)
        setattr(match, key, value)
        open_keys = _open_keys(match)
        closing = ["}"] if not (whole and open_keys) else []
        token = tokens[i]
        if token == "}" and closing:
            return match, i + 1
        if token != "," or not open_keys:
            fail(tokens, i, *([","] if open_keys else []), *closing)


def _open_keys(match: ConceptMatch) -> tuple[str, ...]:
    """The keys that may still come: `id` stands alone."""
    if match.id is not None:
        return ()
    if match.type is None:
        return ("id", "type", "name") if match.name is None else ("type",)
    return ("name",) if match.name is None else ()


def parse_link_match(tokens: list[str], i: int) -> tuple[LinkMatch, int]:
    """`(id: …)` or `(subject, predicate, object)`."""
    if tokens[i + 1] == "id":
        return parse_link_id(tokens, i)
    subject, end = parse_term(tokens, i + 1, "id")
    if tokens[end] != ",":
        fail(tokens, end, ",")
    predicate, end = _parse_predicate(tokens, end + 1)
    if tokens[end] != ",":
        fail(tokens, end, *_after_predicate(predicate), ",")
    obj, end = parse_term(tokens, end + 1)
    if tokens[end] != ")":
        fail(tokens, end, ")")
    return LinkPattern(subject, predicate, obj, i), end + 1


def parse_link_id(tokens: list[str], i: int) -> tuple[LinkById, int]:
    """`(id: …)`; the caller has seen `(` and `id`."""
    if tokens[i + 2] != ":":
        fail(tokens, i + 2, ":")
    value, end = parse_text_slot(tokens, i + 3)
    if tokens[end] != ")":
        fail(tokens, end, ")")
    return LinkById(value, i), end + 1


def parse_term(tokens: list[str], i: int, *others: str) -> tuple[Term, int]:
    """A subject or object: a variable, or an embedded clause without a variable."""
    token = tokens[i]
    if token[0] == "?" and "." not in token:
        return Var(token[1:], i), i + 1
    if token == "{":
        return parse_concept_match(tokens, i)
    if token == "(":
        return parse_link_match(tokens, i)
    fail(tokens, i, VARIABLE, "{", "(", *others)


def _parse_predicate(tokens: list[str], i: int) -> tuple[Var | PredicateNames | PredicatePath, int]:
    token = tokens[i]
    if token[0] == "?" and "." not in token:
        return Var(token[1:], i), i + 1
    if token[0] not in '":' or token == ":":
        fail(tokens, i, STRING, PLACEHOLDER, VARIABLE)
    name, end = parse_text_slot(tokens, i)
    token = tokens[end]
    if token == "{":
        return _parse_quantifier(tokens, end, name, i)
    names: list[Value] = [name]
    while tokens[end] == "|":
        name, end = parse_text_slot(tokens, end + 1)
        names.append(name)
    return PredicateNames(names, i), end


def _after_predicate(predicate: Var | PredicateNames | PredicatePath) -> tuple[str, ...]:
    if isinstance(predicate, PredicateNames):
        return ("|", "{") if len(predicate.names) == 1 else ("|",)
    return ()


def _parse_quantifier(tokens: list[str], i: int, name: Lit | Param, at: int) -> tuple[PredicatePath, int]:
    """`{m}`, `{m,n}` or `{m,}` behind a predicate name."""
    low = _parse_bound(tokens, i + 1)
    high: int | None = low
    end = i + 2
    if tokens[end] == ",":
        end += 1
        high = None
        if tokens[end] != "}":
            high = _parse_bound(tokens, end, "}")
            end += 1
        if tokens[end] != "}":
            fail(tokens, end, "}")
    elif tokens[end] != "}":
        fail(tokens, end, ",", "}")
    if high is not None and low > high:
        refuse(i, f"The path {{{low},{high}}} has its minimum above its maximum.", f"Write {{{high},{low}}}.")
    return PredicatePath(name, low, high, at), end + 1


def _parse_bound(tokens: list[str], i: int, *others: str) -> int:
    if not tokens[i].isdigit():
        fail(tokens, i, INTEGER, *others)
    return int(decode_number(tokens[i], i))
