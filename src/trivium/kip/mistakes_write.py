"""Rows of the mistake table: UPSERT, UPDATE, MERGE, DELETE, and META."""

from __future__ import annotations

from trivium.kip.faults import END, KEY, LITERAL, STRING, VARIABLE
from trivium.kip.mistake_site import Mistake, Site
from trivium.kip.parse_kml import UPDATE_FUNCTIONS

_PARTS = ("ATTRIBUTES", "PROPOSITIONS", "METADATA")


def _upsert(site: Site) -> bool:
    return site.statement == "UPSERT"


def _update(site: Site) -> bool:
    return site.statement == "UPDATE"


UPSERT_ROWS = (
    Mistake(
        "UPSERT without braces",
        'Write UPSERT { CONCEPT ?x { {type: "…", name: "…"} } }.',
        lambda s: s.before == "UPSERT" and s.only("{"),
    ),
    Mistake(
        "empty UPSERT",
        "Give at least one CONCEPT or PROPOSITION block.",
        lambda s: s.wants_block and (s.before, s.token) == ("{", "}"),
    ),
    Mistake(
        "comma between blocks",
        "Blocks stand side by side: remove the comma.",
        lambda s: s.wants_block and s.token == ",",
    ),
    Mistake(
        "repeated WITH METADATA",
        "Write WITH METADATA once per block, entry or statement, directly behind it.",
        lambda s: _upsert(s) and s.token == "WITH" and (s.wants_block or s.wants_end or "(" in s.expected),
    ),
    Mistake(
        "block without its keyword",
        "Inside UPSERT begin each block with CONCEPT ?handle { … } or PROPOSITION ?handle { … }.",
        lambda s: s.wants_block and s.token not in (END, ")", "]"),
    ),
    Mistake(
        "WHERE in UPSERT",
        "UPSERT has no WHERE: it names its elements by identity. To change what a pattern matches, use UPDATE.",
        lambda s: _upsert(s) and s.token == "WHERE",
    ),
    Mistake(
        "partial identity",
        'A write names one element: {type: "…", name: "…"} or {id: "…"}.',
        lambda s: _upsert(s) and s.only(",") and s.token == "}" and s.bracket == "{",
    ),
    Mistake(
        "identity without its own braces",
        'The identity has braces of its own: CONCEPT ?d { {type: "Drug", name: "…"} SET ATTRIBUTES { … } }.',
        lambda s: _upsert(s) and s.only("{") and s.before == "{",
    ),
    Mistake(
        "entry of SET PROPOSITIONS",
        'Write SET PROPOSITIONS { ("predicate", ?target) }; each entry may have WITH METADATA { … } behind it.',
        lambda s: (
            _upsert(s)
            and (
                s.before == "PROPOSITIONS"
                or (s.earlier == "PROPOSITIONS" and s.only("(") and s.token != "}")
                or (s.opener == "PROPOSITIONS" and s.token == "{")
                or s.only("METADATA")
            )
        ),
    ),
    Mistake(
        "subject in SET PROPOSITIONS",
        'The subject is the concept of the block itself: write ("predicate", ?target).',
        lambda s: (
            s.wants_text and s.before == "(" and s.is_variable and s.after == "," and s.token_at(s.at + 2)[0] == '"'
        ),
    ),
    Mistake(
        "predicate in a write",
        'A write names one predicate, ("treats", ?x): no variable, no |, no {m,n}.',
        lambda s: (
            _upsert(s)
            and s.bracket == "("
            and ((s.token in ("|", "{") and s.only(",")) or (s.is_variable and s.wants_text))
        ),
    ),
    Mistake(
        "link in a write of other than its parts",
        'A link is (subject, "predicate", object); an entry of SET PROPOSITIONS is ("predicate", object).',
        lambda s: _upsert(s) and s.bracket == "(" and s.token in (",", ")"),
    ),
    Mistake(
        "identity of a link",
        'Name the link in parentheses: PROPOSITION ?l { (?subject, "predicate", ?object) }.',
        lambda s: _upsert(s) and s.only("(") and s.before == "{" and s.earlier != "PROPOSITIONS",
    ),
    Mistake(
        "WITH METADATA inside the block",
        "Move WITH METADATA { … } behind the closing brace of the block.",
        lambda s: _upsert(s) and s.token == "WITH" and "}" in s.expected,
    ),
    Mistake(
        "SET METADATA in UPSERT",
        "In UPSERT metadata stands behind the block: } WITH METADATA { … }. SET METADATA is for UPDATE.",
        lambda s: _upsert(s) and s.before == "SET" and s.word == "METADATA",
    ),
    Mistake(
        "repeated SET",
        "Write each SET part once and put all its keys or entries into it.",
        lambda s: (
            (s.before == "SET" and s.token in _PARTS and s.here(s.token)) or (s.token == "SET" and s.here(s.after))
        ),
    ),
    Mistake(
        "SET PROPOSITIONS of a link",
        "Only a CONCEPT block has SET PROPOSITIONS; write a link about a link as a PROPOSITION block.",
        lambda s: _upsert(s) and s.before == "SET" and s.token == "PROPOSITIONS",
    ),
    Mistake(
        "misplaced EXPECT VERSION",
        "EXPECT VERSION n stands in an UPSERT block, once, behind the identity; UPDATE is guarded by its WHERE.",
        lambda s: s.word in ("EXPECT", "VERSION") or s.before == "EXPECT",
    ),
    Mistake(
        "missing SET",
        "Write SET %(word)s { … }.",
        lambda s: {"word": s.word} if s.wants_set and s.word in _PARTS else False,
    ),
    Mistake(
        "comma between parts",
        "Parts stand side by side: remove the comma.",
        lambda s: s.token == "," and (s.wants_set or (_upsert(s) and s.only("}"))),
    ),
    Mistake(
        "empty SET",
        "Leave the empty SET out, or put at least one entry between its braces.",
        lambda s: (s.before, s.token) == ("{", "}") and (KEY in s.expected or s.earlier == "PROPOSITIONS"),
    ),
    Mistake(
        "update expression outside UPDATE",
        "ADD, MUL, CLAMP and COALESCE stand in UPDATE only, as the whole value of a SET key; give a plain value here.",
        lambda s: LITERAL in s.expected and s.token in UPDATE_FUNCTIONS,
    ),
)

UPDATE_ROWS = (
    Mistake(
        "WITH METADATA in UPDATE",
        "In UPDATE write SET METADATA { … } before WHERE.",
        lambda s: _update(s) and s.word == "WITH",
    ),
    Mistake(
        "SET PROPOSITIONS in UPDATE",
        "UPDATE changes attributes and metadata; write links by UPSERT, remove them by DELETE PROPOSITIONS.",
        lambda s: _update(s) and s.token == "PROPOSITIONS",
    ),
    Mistake(
        "SET without its part",
        "Write SET ATTRIBUTES { key: value }, SET METADATA { … } in UPDATE, SET PROPOSITIONS { … } in a CONCEPT block.",
        lambda s: s.before == "SET",
    ),
    Mistake(
        "UPDATE without SET",
        "SET ATTRIBUTES { … } or SET METADATA { … } stands between UPDATE ?x and WHERE.",
        lambda s: _update(s) and s.wants_set and s.token == "WHERE",
    ),
    Mistake(
        "arithmetic in UPDATE",
        "Write arithmetic as ADD(a, b), MUL(a, b) or CLAMP(x, low, high), as the whole value of a SET key.",
        lambda s: (
            _update(s)
            and (
                (s.token in ("+", "-", "*", "/", "%") and "}" in s.expected)
                or (s.is_word and s.after == "(" and "ADD" in s.expected)
                or (s.wants_data and s.is_variable and s.after in ("+", "-", "*", "/"))
            )
        ),
    ),
    Mistake(
        "path as a value",
        "A path stands only inside an update expression: COALESCE(%(path)s, 0).",
        lambda s: {"path": s.token} if _update(s) and s.wants_data and s.is_variable else False,
    ),
    Mistake(
        "operands of an update expression",
        "ADD, MUL and COALESCE take two operands, CLAMP takes three: CLAMP(x, low, high).",
        lambda s: s.opener in UPDATE_FUNCTIONS and s.bracket == "(" and s.token in (",", ")"),
    ),
)

META_ROWS = (
    Mistake(
        "missing DETACH",
        "Write DELETE CONCEPT ?x DETACH WHERE { … }: DETACH confirms that all links of the node go with it.",
        lambda s: s.only("DETACH") or s.word == "DETACH",
    ),
    Mistake(
        "DELETE of what",
        'Write DELETE CONCEPT ?x DETACH, DELETE PROPOSITIONS ?x, or DELETE ATTRIBUTES {"key"} FROM ?x, with WHERE.',
        lambda s: s.statement == "DELETE" and s.at == 1,
    ),
    Mistake(
        "keys of DELETE",
        'List quoted keys in braces: DELETE ATTRIBUTES {"a", "b"} FROM ?x WHERE { … }.',
        lambda s: s.statement == "DELETE" and "FROM" not in s.tokens[: s.at] and s.token_at(1) in _PARTS[::2],
    ),
    Mistake(
        "target of a statement",
        "Name one variable here, such as ?x, and let WHERE { ?x {…} } bind it.",
        lambda s: s.only(VARIABLE) and s.token != END,
    ),
    Mistake(
        "MERGE without INTO",
        "Write MERGE CONCEPT ?source INTO ?target WHERE { … }.",
        lambda s: s.statement == "MERGE" and s.at < 5,
    ),
    Mistake(
        "DESCRIBE of what",
        'Write DESCRIBE PRIMER, DESCRIBE DOMAINS, DESCRIBE CONCEPT TYPES LIMIT 20, or DESCRIBE CONCEPT TYPE "Drug".',
        lambda s: s.statement == "DESCRIBE" and STRING not in s.expected,
    ),
    Mistake(
        "SEARCH of what",
        'Write SEARCH CONCEPT "term" WITH TYPE "Drug" MODE "keyword" THRESHOLD 0.5 LIMIT 10; options once each.',
        lambda s: s.statement == "SEARCH" and STRING not in s.expected,
    ),
)
