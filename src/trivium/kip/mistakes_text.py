"""Rows of the mistake table: what surrounds a text, foreign spellings, values, brackets."""

from __future__ import annotations

import re
import unicodedata
from difflib import get_close_matches

from trivium.kip.faults import END, INTEGER, KEY, LITERAL, NUMBER, PLACEHOLDER, POSITIVE
from trivium.kip.lexer import CONSTANTS, position_of
from trivium.kip.mistake_site import CLOSERS, Found, Mistake, Site
from trivium.kip.parse_kml import UPDATE_FUNCTIONS

_QUOTES = {"'": "'", "`": "`", "“": "”", "”": "”", "‘": "’", "’": "’", "«": "»", "„": "“"}
_FOREIGN_CONSTANTS = {"TRUE": "true", "FALSE": "false", "NULL": "null", "NONE": "null", "UNDEFINED": "null"}
_STATEMENTS = ("FIND", "UPSERT", "UPDATE", "MERGE", "DELETE", "DESCRIBE", "SEARCH", "EXPORT")
_QUERIES = ("SELECT", "MATCH", "QUERY", "GET", "RETURN", "ASK", "PREFIX", "EXPLAIN", "LIST", "SHOW")
_WRITES = ("INSERT", "CREATE", "ADD", "SET", "PUT", "WRITE", "REMEMBER", "CONCEPT", "PROPOSITION")
_KEYWORDS = (*_STATEMENTS, "WHERE", "SET", "CONCEPT", "PROPOSITION", "WITH", "ORDER", "LIMIT", "CURSOR", "FILTER")


def _foreign_quote(site: Site, quotes: str) -> Found:
    if site.token not in quotes:
        return False
    match = site.match(rf"{re.escape(site.token)}([^\r\n]*?){re.escape(_QUOTES[site.token])}")
    return {"text": match[1] if match else "text"}


def _foreign_parameter(site: Site) -> Found:
    if not (site.wants_value or KEY in site.expected):
        return False
    match = site.match(r"[$@#%][{(]?(\w+)[})]?") or site.match(r"\{\{\s*(\w+)\s*\}\}", back=site.before == "{")
    return {"name": match[1]} if match else False


def _is_foreign_word(token: str) -> bool:
    """A malformed word, variable or placeholder that holds letters beyond ASCII."""
    return token[:1] == END and not token.isascii() and token[1:2] != '"' and not token.lstrip(f"{END}?-")[:1].isdigit()


def _invisible(site: Site) -> Found:
    character = site.token.removeprefix(END)[:1]
    if not character or unicodedata.category(character) not in ("Cf", "Cc", "Zs"):
        return False
    return {"code": f"U+{ord(character):04X}"}


def _lower_case_keyword(site: Site) -> Found:
    if not site.is_word or site.word == site.token:
        return False
    names = {phrase.split()[0] for phrase in site.expected}
    return {"word": site.word, "found": site.token} if site.word in names else False


def _misspelt_keyword(site: Site) -> Found:
    if not site.is_word or site.token != site.word or len(site.token) > 40:
        return False
    phrases = [phrase for phrase in site.expected if phrase.isupper()]
    glued = [phrase for phrase in phrases if site.token.startswith(phrase.replace(" ", ""))]
    words = {phrase.split()[0]: phrase for phrase in phrases}
    close = glued or [words[word] for word in get_close_matches(site.token, words, n=1, cutoff=0.8)]
    return {"word": close[0]} if close else False


def _trailing_comma(site: Site) -> Found:
    closing = (")", "}", "]")
    if site.before == "," and site.token in closing:
        return {"close": site.token}
    if site.token == "," and site.after in closing and site.after in site.expected and "," not in site.expected:
        return {"close": site.after}
    return False


def _missing_comma(site: Site) -> Found:
    starts_item = site.token[0] in '?"' or site.token[0].isdigit() or (site.is_word and site.after == ":")
    return {"before": site.before, "token": site.token} if "," in site.expected and starts_item else False


TEXT_ROWS = (
    Mistake("empty text", "Write a statement, for example DESCRIBE PRIMER.", lambda s: s.at == 0 and s.token == END),
    Mistake("code fence", "Send the KIP text alone, without ``` around it.", lambda s: bool(s.match("```"))),
    Mistake(
        "JSON for a command",
        'Send KIP text such as FIND(?d.name) WHERE { ?d {type: "Drug"} }, not a JSON value.',
        lambda s: s.at == 0 and s.token[0] in '{["',
    ),
    Mistake("semicolon for a comma", "Write a comma.", lambda s: s.token == ";" and "," in s.expected),
    Mistake("semicolon", "Remove the semicolon; a command text holds one statement.", lambda s: s.token == ";"),
    Mistake(
        "several statements",
        "Send one statement per command: put each into `commands` (only UPSERT statements may follow one another).",
        lambda s: s.wants_end and s.word in _STATEMENTS,
    ),
    Mistake("block comment", "Write comments as // to the end of the line.", lambda s: bool(s.match(r"/\*"))),
    Mistake("dash comment", "Write comments as // to the end of the line.", lambda s: bool(s.match("--(?!>)"))),
    Mistake("hash comment", "Write comments as // to the end of the line.", lambda s: bool(s.match(r"#(?:\W|$)"))),
    Mistake("curly quotes", 'Strings take straight double quotes: "%(text)s".', lambda s: _foreign_quote(s, "“”‘’«„")),
    Mistake("single quotes", 'Strings take double quotes: "%(text)s".', lambda s: _foreign_quote(s, "'")),
    Mistake(
        "backticks",
        'Write text in double quotes, "%(text)s", and names of keys without quotes.',
        lambda s: _foreign_quote(s, "`"),
    ),
    Mistake(
        "open string",
        'Close the string with " on line %(line)s; inside, write a line break as \\n, a tab as \\t, a quote as \\".',
        lambda s: {"line": str(position_of(s.text, s.offset).line)} if s.token.startswith(f'{END}"') else False,
    ),
    Mistake(
        "unescaped quote",
        'Inside a string write a quote as \\".',
        lambda s: s.before[:1] == '"' and bool(s.match(r'"\w', back=1)),
    ),
    Mistake("invisible character", "Remove the character %(code)s.", _invisible),
    Mistake(
        "foreign parameter",
        "A placeholder is written :%(name)s, and its value goes into `parameters` under the name %(name)s.",
        _foreign_parameter,
    ),
    Mistake(
        "blank of an example",
        "Put a value in place of <%(name)s>.",
        lambda s: {"name": m[1]} if (m := s.match(r"<([\w .-]+)>")) else False,
    ),
    Mistake(
        "foreign variable",
        "A variable is written ?name.",
        lambda s: s.token in ("$", "@") and s.wants_variable,
    ),
    Mistake(
        "letters beyond ASCII in an identifier",
        "Identifiers are ASCII letters, digits and underscore, as ?drug; other letters stand in strings, as names do.",
        lambda s: _is_foreign_word(s.after if s.token == ":" else s.token),
    ),
    Mistake(
        "lone question mark",
        "A variable is ? directly followed by a name, as ?drug; a placeholder is written :name.",
        lambda s: s.token == f"{END}?",
    ),
    Mistake(
        "broken path",
        "A path is written without spaces, ?x.attributes.risk, and its steps hold letters, digits and _ only.",
        lambda s: (
            s.token.startswith(f"{END}?")
            or (
                s.before[:1] == "?"
                and s.token in (".", "[", "-")
                and not s.only("{", "(")
                and not s.match("-[->]|-\\[")
            )
        ),
    ),
)

WORD_ROWS = (
    Mistake(
        "not a KIP query",
        'A query begins with FIND, which also names the output: FIND(?d.name) WHERE { ?d {type: "Drug"} }.',
        lambda s: s.at == 0 and s.word in _QUERIES,
    ),
    Mistake(
        "not a KIP write",
        'Knowledge is written by UPSERT { CONCEPT ?d { {type: "Drug", name: "…"} SET ATTRIBUTES { … } } }.',
        lambda s: s.at == 0 and s.word in _WRITES,
    ),
    Mistake(
        "RETURN",
        "Leave it out: FIND(…) at the beginning names the output.",
        lambda s: s.at > 0 and s.word in ("RETURN", "SELECT", "YIELD"),
    ),
    Mistake(
        "OFFSET",
        "There is no offset: page with LIMIT, and CURSOR with next_cursor of the response before.",
        lambda s: s.word in ("OFFSET", "SKIP", "PAGE") or (s.token == "," and s.earlier == "LIMIT"),
    ),
    Mistake(
        "GROUP BY",
        "Leave it out: plain expressions beside an aggregate in FIND group by themselves.",
        lambda s: s.word in ("GROUP", "HAVING"),
    ),
    Mistake("alias", "Leave AS out: columns have no names, they come in the order of FIND.", lambda s: s.word == "AS"),
    Mistake("lower-case keyword", "Keywords are upper case: write %(word)s instead of %(found)s.", _lower_case_keyword),
    Mistake("misspelt keyword", "Did you mean %(word)s? A keyword ends at a space or a bracket.", _misspelt_keyword),
    Mistake("trailing comma", "Remove the comma before '%(close)s'.", _trailing_comma),
    Mistake(
        "comma too many",
        "Remove the comma.",
        lambda s: s.token == "," and s.before in (",", "{", "[", "(") and not {",", INTEGER} & set(s.expected),
    ),
)

VALUE_ROWS = (
    Mistake(
        "constant in foreign spelling",
        "Write %(word)s in lower case.",
        lambda s: (
            {"word": _FOREIGN_CONSTANTS[s.word]} if LITERAL in s.expected and s.word in _FOREIGN_CONSTANTS else False
        ),
    ),
    Mistake(
        "number in foreign spelling",
        "Write numbers as JSON does: 5, -5, 0.5, 1e3; no leading zero, plus sign, separator or bare point.",
        lambda s: bool(s.match(r"[+.-]+[0-9]|-?[0-9][\w.]*")) and s.token[0] in f"{END}+-.",
    ),
    Mistake(
        "equals sign for a colon",
        "Write a colon: %(key)s: …",
        lambda s: {"key": s.before} if s.token == "=" and ":" in s.expected else False,
    ),
    Mistake(
        "key that needs quotes",
        'Quote a key that is no identifier: "a-b": …',
        lambda s: ":" in s.expected and s.token in ("-", ".", "/", " "),
    ),
    Mistake(
        "placeholder instead of a colon",
        'Write a colon and the value: %(key)s: "…" for text, %(key)s: %(token)s for the parameter.',
        lambda s: {"key": s.before, "token": s.token} if s.only(":") and s.is_placeholder else False,
    ),
    Mistake(
        "key without a value",
        "Write %(key)s: value.",
        lambda s: {"key": s.before} if s.only(":") else False,
    ),
    Mistake(
        "bad key",
        "A key is a name or a quoted string, followed by a colon and its value.",
        lambda s: KEY in s.expected and s.token not in (END, ")", "]"),
    ),
    Mistake(
        "unquoted text",
        'Write "%(name)s" for text, or :%(name)s for a parameter.',
        lambda s: (
            {"name": s.token} if LITERAL in s.expected and s.is_word and s.token not in UPDATE_FUNCTIONS else False
        ),
    ),
    Mistake(
        "variable as a value",
        'A value is plain JSON; to link to %(var)s write SET PROPOSITIONS { ("predicate", %(var)s) }.',
        lambda s: {"var": s.token.split(".")[0]} if s.wants_data and s.is_variable else False,
    ),
    Mistake(
        "something else for an object",
        "Write { key: value, … }, or a placeholder for the whole object.",
        lambda s: s.only("{", PLACEHOLDER),
    ),
    Mistake(
        "LIMIT of what",
        "LIMIT takes a whole number from 1 on, or a placeholder.",
        lambda s: POSITIVE in s.expected,
    ),
    Mistake(
        "unquoted name",
        'Quote it: "%(name)s" (or :%(name)s for a parameter).',
        lambda s: {"name": s.token} if s.wants_text and s.is_word else False,
    ),
    Mistake(
        "string wanted",
        "Write a string in double quotes, or a placeholder :name.",
        lambda s: s.wants_text and s.token not in CLOSERS.values() and s.token != END,
    ),
    Mistake(
        "path for a variable",
        "Write the variable alone here; a path belongs into FIND, FILTER, ORDER BY or an update expression.",
        lambda s: s.wants_variable and s.is_variable and "." in s.token,
    ),
    Mistake(
        "number wanted",
        "Write a number, a placeholder, a path on the target such as ?x.attributes.count, or a nested expression.",
        lambda s: NUMBER in s.expected and "ADD" in s.expected and (s.token in CONSTANTS or s.token[0] in '"[{})'),
    ),
    Mistake(
        "missing question mark",
        "Variables begin with a question mark: ?%(name)s.",
        lambda s: {"name": s.token} if s.wants_variable and s.is_word and s.token.islower() else False,
    ),
)

BRACKET_ROWS = (
    Mistake("missing comma", "Put a comma between %(before)s and %(token)s.", _missing_comma),
    Mistake(
        "closing bracket too many",
        "Remove it, or look for the bracket that closes too early.",
        lambda s: s.token in (")", "]", "}") and not s.brackets,
    ),
    Mistake(
        "wrong closing bracket",
        "'%(open)s' of line %(line)s is still open: write '%(close)s' before '%(token)s'.",
        lambda s: (
            s.open_bracket() if s.token in (")", "]", "}") and s.brackets and CLOSERS[s.bracket] != s.token else False
        ),
    ),
    Mistake(
        "bracket open before a keyword",
        "'%(open)s' of line %(line)s is not closed: add '%(close)s' before %(token)s.",
        lambda s: (
            s.open_bracket() if s.brackets and s.token in _KEYWORDS and CLOSERS[s.bracket] in s.expected else False
        ),
    ),
    Mistake(
        "bracket open at the end",
        "'%(open)s' of line %(line)s is not closed: add '%(close)s'.",
        lambda s: s.open_bracket() if s.token == END and s.brackets else False,
    ),
)
