"""The grounding fields of a concept and how well a term matches them (§5.2.2).

Fields: the name and `attributes.aliases` (highest weight), `attributes.description`, and every other text in the
attributes, at any depth. Metadata is not searched. The score is absolute: it depends on the term and the concept
alone, never on other hits, so that THRESHOLD means the same from query to query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trivium.search.segment import fold, is_joined, line_tokens, plain, tokens

BODY_LIMIT = 20_000

NAME, ALIAS, DESCRIPTION, BODY = 1.0, 0.95, 0.6, 0.45
CEILING = 0.95
PREFIX = 0.7


def texts_in(value: Any) -> Iterator[str]:
    """Every string inside a JSON value; keys are no text."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            stack += reversed(item)
        elif isinstance(item, dict):
            stack += reversed(item.values())


def aliases_of(attributes: dict[str, Any]) -> list[str]:
    return list(texts_in(attributes.get("aliases")))


def body_of(attributes: dict[str, Any]) -> str:
    """The description and the other texts of the attributes, cut at BODY_LIMIT characters."""
    parts: list[str] = []
    size = 0
    for key in sorted(attributes, key=lambda key: (key != "description", key)):
        if key == "aliases":
            continue
        for text in texts_in(attributes[key]):
            parts.append(text[: BODY_LIMIT - size])
            size += len(parts[-1]) + 1
            if size >= BODY_LIMIT:
                return "\n".join(parts)
    return "\n".join(parts)


def index_texts(name: str, attributes: dict[str, Any]) -> tuple[str, str, str]:
    """Name, aliases and body of a concept as space-separated tokens, for the text index."""
    aliases = "\n".join(aliases_of(attributes)) if "aliases" in attributes else ""
    body = body_of(attributes) if attributes else ""
    return _tokens(name), _tokens(aliases), _tokens(body)


def _tokens(text: str) -> str:
    """What `tokens` gives, with spaces between."""
    if "\n" not in text:
        return " ".join(filter(None, line_tokens(text)))
    words, joined = zip(*map(line_tokens, text.split("\n")), strict=True)
    return " ".join(filter(None, words + joined))


def score(term: str, wanted: list[str], name: str, attributes: dict[str, Any]) -> float:
    """How well a concept answers a term, in [0, 1]: 1.0 for its name or an alias itself, below 0.95 otherwise.

    Each wanted token counts by its length class and by the best field that holds it; a name that is mostly the wanted
    words scores above one in which they are a small part.
    """
    whole = _folded(term)
    aliases = aliases_of(attributes)
    if whole and (_folded(name) == whole or any(_folded(alias) == whole for alias in aliases)):
        return 1.0
    if not wanted:
        return 0.0
    description = attributes.get("description")
    fields = [
        (NAME, _coverage(wanted, [name])),
        (ALIAS, _coverage(wanted, aliases)),
        (DESCRIPTION, _coverage(wanted, list(texts_in(description)))),
        (BODY, _coverage(wanted, [body_of({**attributes, "description": None})])),
    ]
    total = sum(map(_weight, wanted))
    gained = 0.0
    for token in wanted:
        gained += _weight(token) * max(weight * found.get(token, 0.0) for weight, found in fields)
    return round(CEILING * gained / total, 6)


def grounding_texts(name: str, attributes: dict[str, Any]) -> list[str]:
    """All texts that a concept is searched by."""
    return [name, *aliases_of(attributes), body_of(attributes)]


def share(wanted: list[str], held: set[str]) -> float:
    """The part of the wanted tokens that is held, each counted by its length class."""
    total = sum(map(_weight, wanted))
    return sum(_weight(token) for token in wanted if token in held) / total if total else 0.0


def spelling(term: str, name: str) -> int:
    """How far a name is from the very letters of a term, for names that score alike.

    0 for the same characters, 1 for the same but accents and width, 2 the same but case, 3 for any other.
    """
    term = term.strip()
    if name == term:
        return 0
    if plain(name) == plain(term):
        return 1
    return 2 if _folded(name) == _folded(term) else 3


def _folded(text: str) -> str:
    return " ".join(fold(text).split())


def _weight(token: str) -> float:
    """Longer tokens tell more; a whole path or address adds little to its parts."""
    if is_joined(token):
        return 0.3
    return min(1.0, 0.4 + 0.12 * len(token)) if token.isascii() else 1.0


def _coverage(wanted: list[str], texts: Iterable[str]) -> dict[str, float]:
    """For each wanted token how much of the best text it makes up: 1.0 in a text of these words alone, down to 0.7."""
    best: dict[str, float] = {}
    for text in texts:
        held = tokens(text)
        if not held:
            continue
        present = set(held)
        hits = {token: 1.0 for token in wanted if token in present}
        for token in wanted:
            if token not in hits and len(token) > 2 and any(word.startswith(token) for word in present):
                hits[token] = PREFIX
        if not hits:
            continue
        share = min(1.0, len(hits) / max(1, len(set(tokens(text, query=True)))))
        for token, quality in hits.items():
            best[token] = max(best.get(token, 0.0), quality * (0.7 + 0.3 * share))
    return best
