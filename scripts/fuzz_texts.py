"""Texts and requests for `scripts.fuzz`: collected, generated from the grammar, and mutated. Seeded by number."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests import ebnf

ROOT = Path(__file__).resolve().parents[1]
SUITES = ROOT / "tests" / "conformance" / "kip"
SETUPS = ("apothecary-schema", "apothecary", "claims", "crates", "isles", "jars", "words")
"""What the small nexus holds."""
GRAMMAR = ROOT / "docs" / "kip-grammar.ebnf"

Rng = random.Random
Mutation = Callable[[Rng, str], str]


@dataclass(frozen=True)
class Case:
    """One text for the parser, or one request for `execute_kip`."""

    text: str
    request: Any = None
    """None for the parser alone."""
    readonly: bool = False


# --- the corpus -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Corpus:
    """Seeds of the mutations."""

    texts: tuple[str, ...]
    requests: tuple[Any, ...]
    pieces: tuple[str, ...]
    """Tokens that occur somewhere."""


_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[?:]?[A-Za-z_][\w.]*|-?\d[\w.+-]*|\s+|&&|\|\||[=!<>]=|.', re.DOTALL)
_LITTLE = 2_000


@cache
def corpus() -> Corpus:
    """Commands of the conformance suites, setups, test data and shipped capsules."""
    texts: dict[str, None] = {}
    requests: list[Any] = []
    for path in sorted(SUITES.glob("*.json")):
        for request in _requests(json.loads(path.read_text(encoding="utf-8"))):
            requests.append(request)
            texts.update(dict.fromkeys(_commands(request)))
    for block in json.loads((SUITES / "spec-blocks.json").read_text(encoding="utf-8"))["blocks"]:
        texts[block["text"]] = None
    for path in sorted((ROOT / "tests" / "data").glob("kip_*.json")):
        texts.update(dict.fromkeys(entry["text"] for entry in json.loads(path.read_text(encoding="utf-8"))))
    for path in [*sorted((SUITES / "setups").glob("*.kip")), *sorted((ROOT / "src").glob("trivium/capsules/*.kip"))]:
        texts.update(dict.fromkeys(_fragments(path.read_text(encoding="utf-8"))))
    pieces = dict.fromkeys(piece for text in texts for piece in _PIECE.findall(text) if len(piece) < 60)
    return Corpus(tuple(texts), tuple(requests), tuple(pieces))


def _requests(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "request" in value:
            yield value["request"]
        for member in value.values():
            yield from _requests(member)
    elif isinstance(value, list):
        for member in value:
            yield from _requests(member)


def _commands(request: Any) -> Iterator[str]:
    if not isinstance(request, dict):
        return
    commands = request.get("commands", [])
    for command in [request.get("command"), *(commands if isinstance(commands, list) else [])]:
        text = command.get("command") if isinstance(command, dict) else command
        if isinstance(text, str):
            yield text


def _fragments(text: str) -> Iterator[str]:
    """A capsule in parts that a mutation can handle: some whole blocks each, wrapped as a statement."""
    if len(text) <= _LITTLE:
        yield text
    blocks = re.split(r"\n(?=  (?:CONCEPT|PROPOSITION)\b)", text)
    step = max(1, len(blocks) // 40)
    for start in range(1, len(blocks) - 1, step):
        yield f"UPSERT {{\n{blocks[start][:_LITTLE]}\n}}"


# --- from the grammar -----------------------------------------------------------------------------

_STRINGS = (
    "Drug", "Symptom", "eases", "causes", "Fever", "Brevix", "Lumanol", "Person", "$self", "Domain",
    "CoreSchema", "belongs_to_domain", "$ConceptType", "$PropositionType", "C:1", "P:1:eases", "", "keyword", "risk",
    "é", "東京", "😀", 'say \\"hi\\"', "\\u0041", "a.*b", "(", "[", "true", "1", "_version", "2026-01-01T00:00:00Z",
)  # fmt: skip
_FITTING: dict[str, tuple[str, ...]] = {
    "match_type": ("Drug", "Drug", "Symptom", "Person", "Domain", "$ConceptType", "$PropositionType"),
    "match_name": ("Brevix", "Lumanol", "Fever", "Cough", "$self", "CoreSchema", "New one"),
    "match_id": ("C:1", "C:30", "C:40"),
    "link_by_id": ("P:1:belongs_to_domain", "P:30:eases"),
    "predicate": ("eases", "eases", "causes", "belongs_to_domain"),
    "entry": ("eases", "belongs_to_domain"),
    "link_identity": ("eases", "belongs_to_domain"),
}
"""What stands most of the time where a rule asks for a string."""
_NAMES = ("a", "b", "c", "x", "risk", "form", "attributes", "metadata", "name", "type", "id", "_version", "aliases")
_NUMBERS = ("0", "1", "2", "3", "10", "-1", "0.5", "1.0", "1e3", "-0", "18446744073709551615", "5e-324")
_PATHS = ("name", "id", "type", "attributes.risk", "metadata.confidence", "metadata._version", "attributes", "x.y.z")
_LEXEMES: dict[str, Callable[[Rng], str]] = {
    "string": lambda rng: f'"{rng.choice(_STRINGS)}"',
    "number": lambda rng: rng.choice(_NUMBERS),
    "positive": lambda rng: rng.choice(("1", "2", "5", "100")),
    "natural": lambda rng: rng.choice(("0", "1", "2", "7")),
    "variable": lambda rng: f"?{rng.choice('aaaaaaaabc')}",
    "dot_path": lambda rng: f"?{rng.choice('aaaaaaaabc')}.{rng.choice(_PATHS)}",
    "placeholder": lambda rng: f":{rng.choice('pqv')}",
    "identifier": lambda rng: rng.choice(_NAMES),
    "bound": lambda rng: rng.choice(("0", "1", "2", "3", "9")),
}
_STATEMENTS = (
    ("query",) * 6 + ("upsert",) * 3 + ("update",) * 2 + ("delete",) * 2 + ("merge", "describe", "search", "export")
)


class Grammar:
    """Derives random texts from `docs/kip-grammar.ebnf`."""

    def __init__(self) -> None:
        self.rules: dict[str, Any] = ebnf.load(GRAMMAR, {}).syntax
        self._depths: dict[str, int] = dict.fromkeys(self.rules, 99)
        self._known: dict[int, int] = {}
        for _ in self.rules:
            for name, body in self.rules.items():
                self._depths[name] = min(self._depths[name], 1 + self._depth(body))
            self._known.clear()

    def derive(self, rng: Rng, rule: str, depth: int = 14) -> str:
        """A text of that rule, at most about `depth` rules deep."""
        out: list[str] = []
        self._derive(rng, ("name", rule), depth, out, rule)
        return " ".join(out)

    def _depth(self, node: Any) -> int:
        found = self._known.get(id(node))
        if found is None:
            kind, body = node
            found = 0
            if kind == "name":
                found = self._depths.get(body, 0)
            elif kind == "alt":
                found = min(map(self._depth, body))
            elif kind == "seq":
                found = max(map(self._depth, body), default=0)
            self._known[id(node)] = found
        return found

    def _derive(self, rng: Rng, node: Any, depth: int, out: list[str], rule: str) -> None:
        kind, body = node
        if kind == "terminal":
            out.append(body)
        elif kind == "name":
            if body in self.rules:
                self._derive(rng, self.rules[body], depth - 1, out, rule if body == "text" else body)
            elif body == "string" and rule in _FITTING and rng.random() < 0.9:
                out.append(f'"{rng.choice(_FITTING[rule])}"')
            else:
                out.append(_LEXEMES[body](rng))
        elif kind == "seq":
            for child in body:
                self._derive(rng, child, depth, out, rule)
        elif kind == "alt":
            fitting = [child for child in body if self._depth(child) < depth] or [min(body, key=self._depth)]
            chosen = rng.choice(fitting)
            for _ in range(4):
                if _names(chosen, "placeholder", "link_by_id"):
                    chosen = rng.choice(fitting)
            self._derive(rng, chosen, depth, out, rule)
        else:
            times = rng.choice((0, 1)) if kind == "opt" else rng.choice((0, 0, 1, 2))
            if _names(body[0], "cursor") and rng.random() < 0.8:
                times = 0
            if depth > self._depth(body[0]):
                for _ in range(times):
                    self._derive(rng, body[0], depth, out, rule)


def _names(node: Any, *rules: str) -> bool:
    """Whether a node is nothing but the name of one of the rules."""
    kind, body = node
    return body in rules if kind == "name" else kind in ("seq", "alt") and len(body) == 1 and _names(body[0], *rules)


@cache
def grammar() -> Grammar:
    return Grammar()


# --- mutations ------------------------------------------------------------------------------------

ODDITIES = (
    "\0", "\x01", "\x1f", "\x7f", "\x85", "\u00a0", "\u2028", "\u200b", "\u202e", "\ufeff", "\ufffe", "\uffff",
    "\ud800", "\udfff", "\ud83d", "😀", "e\u0301", "ß", "İ", "ﬁ", "Ａ", "？", "：", "“", "”", "’", "٣", "²", "Ⅷ",
    "\\", "\\u", "\\ud800", "\\u0000", '"', "'", "`", "//", "/*", "*/", "#", ";", "?", ":", "$", "@", "%", "~", "^",
    "\r", "\r\n", "\t", "\v",
)  # fmt: skip
HUGE = (
    "9" * 400, "-" + "9" * 25, "1e999", "-1e999", "1e-999", "18446744073709551616", "-9223372036854775809",
    "0." + "0" * 400 + "1", "1" + "0" * 5_000, "1e" + "9" * 300, "00", "-", "+1", ".5", "5.", "0x10", "1_000", "NaN",
    "Infinity", "9007199254740993", "1e308", "4.9e-324", "1E+2", "2147483648",
)  # fmt: skip
PAIRS = (("(", ")"), ("{", "}"), ("[", "]"), ("NOT {", "}"), ("OPTIONAL {", "}"), ("UNION {", "}"), ("FILTER(", ")"))
LARGE = 300_000


def _span(rng: Rng, size: int, longest: int = 30) -> tuple[int, int]:
    start = rng.randint(0, size)
    return start, min(size, start + int(longest * rng.random() ** 2) + 1)


def _characters(rng: Rng, text: str) -> str:
    start, end = _span(rng, len(text))
    part = text[start:end]
    what = rng.randrange(6)
    if what == 0:
        part = ""
    elif what == 1:
        part = part * rng.choice((2, 2, 3, 50))
    elif what == 2:
        part = part[::-1]
    elif what == 3:
        part += rng.choice(ODDITIES)
    elif what == 4:
        part = rng.choice(ODDITIES) + part[1:]
    else:
        part = part.swapcase()
    return text[:start] + part + text[end:]


def _bytes(rng: Rng, text: str) -> str:
    """Damage below the level of characters; what is no UTF-8 any more becomes lone surrogates or other characters."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(rng.randint(1, 4)):
        if data:
            at = rng.randrange(len(data))
            data[at] = rng.choice((data[at] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    if rng.random() < 0.3:
        return data.decode("latin-1")
    return data.decode("utf-8", rng.choice(("surrogateescape", "replace", "ignore")))


def _tokens(rng: Rng, text: str) -> str:
    pieces = _PIECE.findall(text)
    start, end = _span(rng, len(pieces), 12)
    part = pieces[start:end]
    what = rng.randrange(7)
    if what == 0:
        part = []
    elif what == 1:
        part = part * 2
    elif what == 2:
        rng.shuffle(part)
    elif what == 3:
        part = [rng.choice(corpus().pieces), *part[1:]]
    elif what == 4:
        part = [*part, " ", rng.choice(corpus().pieces), " "]
    elif what == 5 and pieces:
        other = rng.randrange(len(pieces))
        part = [pieces[other], *part[1:]]
        pieces[other : other + 1] = pieces[start : start + 1]
    else:
        part = [piece for piece in part if not piece.isspace()]
    return "".join(pieces[:start] + part + pieces[end:])


def _splice(rng: Rng, text: str) -> str:
    other = rng.choice(corpus().texts)
    start, end = _span(rng, len(text), 80)
    if rng.random() < 0.3:
        return text[:start] + other + text[end:]
    first, last = _span(rng, len(other), 200)
    return text[:start] + other[first:last] + text[end:]


def _nest(rng: Rng, text: str) -> str:
    """Brackets around a span, some unmatched, sometimes many."""
    start, end = _span(rng, len(text), 60)
    opening, closing = rng.choice(PAIRS)
    times = rng.choice((1, 1, 2, 3, 30, 63, 64, 65, 200))
    closed = times if rng.random() < 0.8 else rng.randint(0, times)
    return text[:start] + opening * times + text[start:end] + closing * closed + text[end:]


def _truncate(rng: Rng, text: str) -> str:
    at = rng.randint(0, len(text))
    return text[:at] if rng.random() < 0.7 else text[at:]


def _number(rng: Rng, text: str) -> str:
    places = list(re.finditer(r"-?\d[\d.eE+-]*", text))
    if not places:
        return text + " LIMIT " + rng.choice(HUGE)
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(HUGE) + text[place.end() :]


def _glue(rng: Rng, text: str) -> str:
    """Two statements in one text, or white space and comments in odd places."""
    if rng.random() < 0.5:
        return text + rng.choice(("", " ", "\n", ";", " // ", ",")) + rng.choice(corpus().texts)
    start, _ = _span(rng, len(text))
    return text[:start] + rng.choice((" ", "\n// c\n", "//", "\t\t", "\r", "\u3000")) + text[start:]


_MUTATIONS: tuple[Mutation, ...] = (
    (_characters,) * 4 + (_bytes,) * 2 + (_tokens,) * 5 + (_splice,) * 2 + (_nest, _truncate, _number, _glue)
)


def _enlarge(rng: Rng, text: str) -> str:
    """Something very long or very deep."""
    start, end = _span(rng, len(text), 40)
    size = rng.choice((2_000, 20_000, 250_000, LARGE))
    part = text[start:end] or " "
    long = rng.choice(
        (
            "x" * size, '"' + "y" * size + '"', "?v" + ".a" * (size // 2), "9" * size, " " * size,
            "//" + "c" * size + "\n", "(" * size, "[" * (size // 2) + "]" * (size // 2),
            '{"a":' * (size // 6), "!" * size, "?v " * (size // 3),
            '"' + "\\u00e9" * (size // 6) + '"', '"' * size, "\\" * size, ":p," * (size // 3), "1," * (size // 2),
            part * (size // len(part)), "é" * (size // 2), "\n" * size, "&& ?a.b == 1 " * (size // 13),
            '"p" | ' * (size // 6), "NOT { " * (size // 6), "ADD(" * (size // 4), '"\ud83d' * (size // 2), "-" * size,
        )
    )  # fmt: skip
    return text[:start] + long + text[end:]


# --- values and requests --------------------------------------------------------------------------


class _Strange:
    """A value that JSON does not know."""

    def __repr__(self) -> str:
        return "<strange>"


def _endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def _deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


_VALUES: tuple[Callable[[Rng], Any], ...] = (
    lambda rng: rng.choice(_STRINGS),
    lambda rng: rng.choice((0, 1, 2, 5, -1, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**30, 10**5_000)),
    lambda rng: rng.choice((0.5, 1.0, -0.0, 1e308, 5e-324, 1e16, 3.0)),
    lambda rng: rng.choice((True, False, None)),
    lambda rng: rng.choice(([], {}, [1, "a"], [[1]], {"a": 1}, {"a": {"b": []}}, {"": 1}, {"_x": 1}, ["Drug", None])),
    lambda rng: rng.choice(("\ud800", "a\0b", "x" * 100_000, "\u202e", "\x01", "😀" * 50, "\ufeff", '"', "\\")),
    lambda rng: rng.choice(({"\ud800": 1}, ["\udfff"], {"a\0": 1}, {1: 2}, {None: 1}, {True: 1}, {(1,): 1})),
    lambda rng: rng.choice((float("nan"), float("inf"), [float("-inf")], {"a": float("nan")})),
    lambda rng: rng.choice((b"bytes", {1, 2}, (1, 2), _Strange(), float, range(3), 1j, [b"x"], {"a": _Strange()})),
    lambda rng: rng.choice((_endless(), _deep(70), _deep(500), _deep(5_000))),
    lambda rng: [rng.choice(_STRINGS) for _ in range(rng.choice((0, 3, 2_000)))],
)
_PLAIN: tuple[Any, ...] = (
    "Drug",
    "Symptom",
    "Brevix",
    "Fever",
    "eases",
    "keyword",
    "x",
    1,
    2,
    5,
    0.5,
    True,
    None,
    [],
    ["Drug"],
    {"a": 1},
)
_WEIGHTS = (8, 6, 4, 4, 5, 3, 2, 2, 2, 1, 2)


def _value(rng: Rng) -> Any:
    return rng.choices(_VALUES, _WEIGHTS)[0](rng)


_STRING = re.compile(r'"[^"]*"')
_PLACEHOLDER = re.compile(r":([A-Za-z_]\w*)")


def _parameters(rng: Rng, text: str, given: Any) -> Any:
    """Values for the placeholders of a text: those given, or others of any kind."""
    if rng.random() < 0.01:
        return _value(rng)
    parameters = dict(given) if isinstance(given, dict) else {}
    for name in _PLACEHOLDER.findall(_STRING.sub("", text[:5_000]))[:20]:
        if name not in parameters or rng.random() < 0.3:
            parameters[name] = rng.choice(_PLAIN) if rng.random() < 0.5 else _value(rng)
    return parameters


def _malformed(rng: Rng, request: dict[Any, Any]) -> Any:
    """A request object with something wrong in its shape."""
    what = rng.randrange(9)
    if what == 0:
        return _value(rng)
    if what == 1:
        request[rng.choice(("commands", "dryrun", "readonly", "method", "", 1, None, "\ud800"))] = _value(rng)
    elif what == 2:
        request["command"] = _value(rng)
    elif what == 3:
        request["dry_run"] = _value(rng)
    elif what == 4:
        request = {"commands": _value(rng)}
    elif what == 5:
        members = [request, request.get("command"), _value(rng), {"command": _value(rng)}, {}]
        request = {"commands": [rng.choice(members) for _ in range(rng.choice((0, 1, 3, 300)))]}
    elif what == 6:
        request = {"commands": [{"command": request.get("command"), "parameters": _value(rng)}]}
    elif what == 7:
        request.pop("command", None)
    else:
        request["parameters"] = _value(rng)
    return request


# --- cases ----------------------------------------------------------------------------------------

EXECUTED = 0.14
ENLARGED = 1 / 700


def make(seed: int, number: int) -> Case:
    """Case number `number`; nothing but the two numbers decides it."""
    rng = Rng(seed * 1_000_000_007 + number)
    request: Any = None
    executed = rng.random() < EXECUTED
    if rng.random() < (0.6 if executed else 0.3):
        text = grammar().derive(rng, rng.choice(_STATEMENTS), rng.choice((8, 10, 14, 18)))
        times = rng.choice((0, 0, 0, 1) if executed else (0, 0, 1, 2))
    else:
        text = rng.choice(corpus().texts)
        times = rng.choice((0, 0, 1, 1, 2) if executed else (1, 1, 1, 2, 3, 6))
    if executed and rng.random() < 0.3:
        request = rng.choice(corpus().requests)
        text = next(_commands(request), text)
        times = rng.choice((0, 0, 1, 2))
    for _ in range(times):
        text = rng.choice(_MUTATIONS)(rng, text)
    if rng.random() < ENLARGED:
        text = _enlarge(rng, text)
    if not executed:
        return Case(text)
    given = request.get("parameters") if isinstance(request, dict) else None
    wanted: Any = {"command": text}
    if ":" in text or rng.random() < 0.05:
        wanted["parameters"] = _parameters(rng, text, given)
    if rng.random() < 0.1:
        wanted["dry_run"] = True
    if rng.random() < 0.08:
        wanted = _malformed(rng, wanted)
    elif rng.random() < 0.08:
        wanted = {"commands": [wanted["command"], rng.choice(corpus().texts), {"command": rng.choice(corpus().texts)}]}
    return Case(text, wanted, rng.random() < 0.1)
