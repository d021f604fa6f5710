"""KML: UPSERT, UPDATE, MERGE and DELETE (KIP §4)."""

from __future__ import annotations

from trivium.kip.faults import INTEGER, KEY, NUMBER, PATH, PLACEHOLDER, TEXT_END, VARIABLE, fail, refuse
from trivium.kip.lexer import decode_number
from trivium.kip.parse_kql import parse_limit
from trivium.kip.parse_patterns import parse_concept_match, parse_link_id, parse_where
from trivium.kip.parse_values import (
    NUMBER_START,
    parse_checked_slot,
    parse_data,
    parse_key,
    parse_object_slot,
    parse_text_slot,
    parse_variable,
    refuse_repeated_key,
    to_path,
)
from trivium.kip.tree import (
    ConceptBlock,
    DeleteConcept,
    DeleteKeys,
    DeletePropositions,
    LinkById,
    LinkPattern,
    Lit,
    Merge,
    Param,
    Path,
    PredicateNames,
    PropositionBlock,
    PropositionEntry,
    Term,
    Update,
    UpdateCall,
    UpdateObject,
    Upsert,
    UpsertStatement,
    Value,
    Var,
)
from trivium.kip.values import check_update_operand, check_version

UPDATE_FUNCTIONS = {"ADD": 2, "MUL": 2, "COALESCE": 2, "CLAMP": 3}


# --- UPSERT (§4.1) --------------------------------------------------------------------------------


def parse_upsert(tokens: list[str], i: int) -> tuple[Upsert, int]:
    """One or more `UPSERT {…} [WITH METADATA {…}]`."""
    start = i
    statements: list[UpsertStatement] = []
    while tokens[i] == "UPSERT":
        statement, i = _parse_statement(tokens, i)
        statements.append(statement)
    return Upsert(statements, start), i


def _parse_statement(tokens: list[str], i: int) -> tuple[UpsertStatement, int]:
    statement = UpsertStatement([], at=i)
    i += 1
    if tokens[i] != "{":
        fail(tokens, i, "{")
    i += 1
    while tokens[i] != "}":
        i = _parse_block(tokens, i, statement.blocks)
    if not statement.blocks:
        fail(tokens, i, "CONCEPT", "PROPOSITION")
    statement.metadata, i = _parse_with_metadata(tokens, i + 1)
    return statement, i


def _parse_block(tokens: list[str], i: int, blocks: list[ConceptBlock | PropositionBlock]) -> int:
    """Read one block with its metadata, append it to `blocks`, and return the index behind it."""
    start = i
    word = tokens[i]
    if word not in ("CONCEPT", "PROPOSITION"):
        with_meta = ["WITH METADATA"] if blocks and blocks[-1].metadata is None else []
        fail(tokens, i, "CONCEPT", "PROPOSITION", *(["}", *with_meta] if blocks else []))
    handle: Var | None = None
    i += 1
    if tokens[i][0] == "?" and "." not in tokens[i]:
        handle, i = parse_variable(tokens, i)
    if tokens[i] != "{":
        fail(tokens, i, "{", *([] if handle else [VARIABLE]))
    block: ConceptBlock | PropositionBlock
    if word == "CONCEPT":
        if tokens[i + 1] != "{":
            fail(tokens, i + 1, "{")
        identity, i = parse_concept_match(tokens, i + 1, whole=True)
        block = ConceptBlock(handle, identity, at=start)
    else:
        if tokens[i + 1] != "(":
            fail(tokens, i + 1, "(")
        link, i = _parse_link_identity(tokens, i + 1)
        block = PropositionBlock(handle, link, at=start)
    i = _parse_block_parts(tokens, i, block)
    block.metadata, i = _parse_with_metadata(tokens, i + 1)
    blocks.append(block)
    return i


def _parse_block_parts(tokens: list[str], i: int, block: ConceptBlock | PropositionBlock) -> int:
    """EXPECT VERSION, then the SET parts in either order, once each; returns the index of the closing brace."""
    if tokens[i] == "EXPECT":
        if tokens[i + 1] != "VERSION":
            fail(tokens, i + 1, "VERSION")
        block.expect_version, i = parse_checked_slot(tokens, i + 2, check_version, INTEGER)
    while tokens[i] == "SET":
        word = tokens[i + 1]
        if word == "ATTRIBUTES" and block.attributes is None:
            block.attributes, i = parse_object_slot(tokens, i + 2)
        elif word == "PROPOSITIONS" and isinstance(block, ConceptBlock) and not block.propositions:
            block.propositions, i = _parse_entries(tokens, i + 2)
        else:
            open_parts = _open_parts(block)
            if not open_parts:
                fail(tokens, i, "}")
            fail(tokens, i + 1, *(part.removeprefix("SET ") for part in open_parts))
    if tokens[i] != "}":
        may_expect = block.expect_version is None and block.attributes is None and _has_no_entries(block)
        fail(tokens, i, *(["EXPECT VERSION"] if may_expect else []), *_open_parts(block), "}")
    return i


def _open_parts(block: ConceptBlock | PropositionBlock) -> list[str]:
    parts = ["SET ATTRIBUTES"] if block.attributes is None else []
    if isinstance(block, ConceptBlock) and not block.propositions:
        parts.append("SET PROPOSITIONS")
    return parts


def _has_no_entries(block: ConceptBlock | PropositionBlock) -> bool:
    return isinstance(block, PropositionBlock) or not block.propositions


def _parse_with_metadata(tokens: list[str], i: int) -> tuple[Value | None, int]:
    """`WITH METADATA {…}` if it is there."""
    if tokens[i] != "WITH":
        return None, i
    if tokens[i + 1] != "METADATA":
        fail(tokens, i + 1, "METADATA")
    return parse_object_slot(tokens, i + 2)


def _parse_entries(tokens: list[str], i: int) -> tuple[list[PropositionEntry], int]:
    """`{ ("p", target) [WITH METADATA {…}] [,] … }` with at least one entry."""
    if tokens[i] != "{":
        fail(tokens, i, "{")
    entries: list[PropositionEntry] = []
    i += 1
    while tokens[i] != "}":
        if tokens[i] != "(":
            fail(tokens, i, "(", *_after_entry(entries, tokens[i - 1]))
        entry, i = _parse_entry(tokens, i)
        entries.append(entry)
        if tokens[i] == ",":
            i += 1
    if not entries:
        fail(tokens, i, "(")
    return entries, i + 1


def _after_entry(entries: list[PropositionEntry], last: str) -> list[str]:
    if not entries:
        return []
    if last == ",":
        return ["}"]
    return ["}", ","] if entries[-1].metadata is not None else ["}", ",", "WITH METADATA"]


def _parse_entry(tokens: list[str], i: int) -> tuple[PropositionEntry, int]:
    predicate, end = parse_text_slot(tokens, i + 1)
    if tokens[end] != ",":
        fail(tokens, end, ",")
    target, end = _parse_target(tokens, end + 1)
    if tokens[end] != ")":
        fail(tokens, end, ")")
    metadata, end = _parse_with_metadata(tokens, end + 1)
    return PropositionEntry(predicate, target, metadata, i), end


def _parse_target(tokens: list[str], i: int, *others: str) -> tuple[Term, int]:
    """A handle, a concept identity, a link by id, or a link by its ends."""
    token = tokens[i]
    if token[0] == "?" and "." not in token:
        return Var(token[1:], i), i + 1
    if token == "{":
        return parse_concept_match(tokens, i, whole=True)
    if token == "(":
        return _parse_link_identity(tokens, i)
    fail(tokens, i, VARIABLE, "{", "(", *others)


def _parse_link_identity(tokens: list[str], i: int) -> tuple[LinkById | LinkPattern, int]:
    """`(id: …)` or `(target, "p", target)`."""
    if tokens[i + 1] == "id":
        return parse_link_id(tokens, i)
    subject, end = _parse_target(tokens, i + 1, "id")
    if tokens[end] != ",":
        fail(tokens, end, ",")
    at = end + 1
    predicate, end = parse_text_slot(tokens, at)
    if tokens[end] != ",":
        fail(tokens, end, ",")
    obj, end = _parse_target(tokens, end + 1)
    if tokens[end] != ")":
        fail(tokens, end, ")")
    return LinkPattern(subject, PredicateNames([predicate], at), obj, i), end + 1


# --- UPDATE (§4.3) --------------------------------------------------------------------------------


def parse_update(tokens: list[str], i: int) -> tuple[Update, int]:
    """`UPDATE ?x SET … WHERE {…} [LIMIT n]`, with SET ATTRIBUTES, SET METADATA or both."""
    start = i
    target, i = parse_variable(tokens, i + 1)
    parts: dict[str, UpdateObject] = {}
    while tokens[i] == "SET":
        word = tokens[i + 1]
        if word not in ("ATTRIBUTES", "METADATA") or word in parts:
            if len(parts) == 2:
                fail(tokens, i, "WHERE")
            fail(tokens, i + 1, *(part for part in ("ATTRIBUTES", "METADATA") if part not in parts))
        parts[word], i = _parse_update_object(tokens, i + 2, target.name)
    if tokens[i] != "WHERE":
        missing = [f"SET {part}" for part in ("ATTRIBUTES", "METADATA") if part not in parts]
        fail(tokens, i, *missing, *(["WHERE"] if parts else []))
    if not parts:
        fail(tokens, i, "SET ATTRIBUTES", "SET METADATA")
    where, i = parse_where(tokens, i)
    limit, i = parse_limit(tokens, i)
    return Update(target, parts.get("ATTRIBUTES"), parts.get("METADATA"), where, limit, start), i


def _parse_update_object(tokens: list[str], i: int, target: str) -> tuple[UpdateObject, int]:
    start = i
    token = tokens[i]
    if token[0] == ":" and token != ":":
        return UpdateObject([], Param(token[1:], i), i), i + 1
    if token != "{":
        fail(tokens, i, "{", PLACEHOLDER)
    entries: list[tuple[str, Value | UpdateCall]] = []
    seen: set[str] = set()
    i += 1
    while tokens[i] != "}":
        key = parse_key(tokens, i, *(["}"] if entries else []))
        if key in seen:
            refuse_repeated_key(key, i)
        seen.add(key)
        if tokens[i + 1] != ":":
            fail(tokens, i + 1, ":")
        value, i = _parse_update_value(tokens, i + 2, target)
        entries.append((key, value))
        if tokens[i] == ",":
            i += 1
        elif tokens[i] != "}":
            fail(tokens, i, ",", "}")
    if not entries:
        fail(tokens, i, KEY)
    return UpdateObject(entries, None, start), i + 1


def _parse_update_value(tokens: list[str], i: int, target: str) -> tuple[Value | UpdateCall, int]:
    if tokens[i] in UPDATE_FUNCTIONS:
        return _parse_update_call(tokens, i, target)
    return parse_data(tokens, i, *UPDATE_FUNCTIONS)


def _parse_update_call(tokens: list[str], i: int, target: str) -> tuple[UpdateCall, int]:
    func = tokens[i]
    call = UpdateCall(func, [], i)
    if tokens[i + 1] != "(":
        fail(tokens, i + 1, "(")
    end = i + 1
    for number in range(UPDATE_FUNCTIONS[func]):
        if number and tokens[end] != ",":
            fail(tokens, end, ",")
        operand, end = _parse_update_operand(tokens, end + 1, target)
        call.args.append(operand)
    if tokens[end] != ")":
        fail(tokens, end, ")")
    return call, end + 1


def _parse_update_operand(tokens: list[str], i: int, target: str) -> tuple[Lit | Param | Path | UpdateCall, int]:
    token = tokens[i]
    if token[0] in NUMBER_START and token != "-":
        value = decode_number(token, i)
        check_update_operand(value, i)
        return Lit(value, i), i + 1
    if token[0] == ":" and token != ":":
        return Param(token[1:], i), i + 1
    if token[0] == "?":
        return _parse_target_path(token, i, target), i + 1
    if token in UPDATE_FUNCTIONS:
        return _parse_update_call(tokens, i, target)
    fail(tokens, i, NUMBER, PATH, PLACEHOLDER, *UPDATE_FUNCTIONS)


def _parse_target_path(token: str, i: int, target: str) -> Path:
    path = to_path(token, i)
    if path.var != target or path.steps[:1] not in (("attributes",), ("metadata",)):
        refuse(
            i,
            f"{token} cannot be an operand: a path here begins with ?{target}.attributes or ?{target}.metadata.",
            f"Write for example ?{target}.attributes.count; each new value comes from the element's own state.",
        )
    return path


# --- MERGE and DELETE (§4.4, §4.2) ----------------------------------------------------------------


def parse_merge(tokens: list[str], i: int) -> tuple[Merge, int]:
    """`MERGE CONCEPT ?source INTO ?target WHERE {…}`."""
    if tokens[i + 1] != "CONCEPT":
        fail(tokens, i + 1, "CONCEPT")
    source, end = parse_variable(tokens, i + 2)
    if tokens[end] != "INTO":
        fail(tokens, end, "INTO")
    target, end = parse_variable(tokens, end + 1)
    where, end = parse_where(tokens, end)
    return Merge(source, target, where, i), end


def parse_delete(tokens: list[str], i: int) -> tuple[DeleteKeys | DeletePropositions | DeleteConcept, int]:
    """DELETE ATTRIBUTES, METADATA, PROPOSITIONS or CONCEPT."""
    word = tokens[i + 1]
    if word in ("ATTRIBUTES", "METADATA"):
        return _parse_delete_keys(tokens, i)
    if word not in ("PROPOSITIONS", "CONCEPT"):
        fail(tokens, i + 1, "ATTRIBUTES", "METADATA", "PROPOSITIONS", "CONCEPT")
    target, end = parse_variable(tokens, i + 2)
    if word == "PROPOSITIONS":
        where, end = parse_where(tokens, end)
        return DeletePropositions(target, where, i), end
    if tokens[end] != "DETACH":
        fail(tokens, end, "DETACH")
    where, end = parse_where(tokens, end + 1)
    return DeleteConcept(target, where, i), end


def _parse_delete_keys(tokens: list[str], i: int) -> tuple[DeleteKeys, int]:
    """`{"key", …} FROM ?x WHERE {…}`; one key or more."""
    if tokens[i + 2] != "{":
        fail(tokens, i + 2, "{")
    keys: list[Value] = []
    end = i + 2
    while True:
        key, end = parse_text_slot(tokens, end + 1)
        keys.append(key)
        if tokens[end] == "}":
            break
        if tokens[end] != ",":
            fail(tokens, end, ",", "}")
    if tokens[end + 1] != "FROM":
        fail(tokens, end + 1, "FROM")
    target, end = parse_variable(tokens, end + 2)
    where, end = parse_where(tokens, end)
    return DeleteKeys(tokens[i + 1].lower(), keys, target, where, i), end


def after_upsert(upsert: Upsert) -> tuple[str, ...]:
    """What may follow an UPSERT text that has been read so far."""
    with_metadata = () if upsert.statements[-1].metadata is not None else ("WITH METADATA",)
    return (*with_metadata, "UPSERT", TEXT_END)
