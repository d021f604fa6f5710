"""The functions that statements may call: patterns, and JSON values compared as KIP compares them (§3.4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import apsw


def register(connection: apsw.Connection) -> None:
    """Make the functions known to a connection."""
    connection.create_scalar_function("kip_regex", _regex, 2, deterministic=True)
    connection.create_scalar_function("kip_json_equal", _json_equal, 2, deterministic=True)
    connection.create_scalar_function("kip_canonical", _canonical, 1, deterministic=True)
    connection.create_scalar_function("kip_compare_numbers", _compare_numbers, 2, deterministic=True)
    connection.register_fts5_function("held_phrases", _held_phrases)


def _held_phrases(match: Any, *_: Any) -> int:
    """Which phrases of a full-text query a row holds, as bits: the first phrase is the lowest."""
    return sum(1 << place for place in range(match.phrase_count) if match.phrase_columns(place))


_patterns: dict[str, Any] = {}


def compile_pattern(pattern: str) -> Any:
    """A compiled RE2 pattern, or None when it is not one (§3.4.3 REGEX: linear time, no look-around)."""
    found = _patterns.get(pattern)
    if found is None:
        import re2

        options = re2.Options()
        options.log_errors = False
        options.max_mem = 8 << 20
        try:
            found = re2.compile(pattern, options)
        except re2.error:
            return None
        if len(_patterns) > 500:
            _patterns.clear()
        _patterns[pattern] = found
    return found


def _regex(*arguments: Any) -> bool:
    text, pattern = arguments
    if not isinstance(text, str) or not isinstance(pattern, str):
        return False
    compiled = compile_pattern(pattern)
    return compiled is not None and compiled.search(text) is not None


def _json_equal(*arguments: Any) -> bool:
    import json

    from trivium.store.json_values import equal

    left, right = arguments
    return left is not None and right is not None and equal(json.loads(left), json.loads(right))


def _canonical(*arguments: Any) -> str | None:
    import json

    from trivium.store.json_values import plain_numbers

    (text,) = arguments
    if text is None:
        return None
    return json.dumps(plain_numbers(json.loads(text)), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _compare_numbers(*arguments: Any) -> int | None:
    import json

    left, right = arguments
    if left is None or right is None:
        return None
    a, b = json.loads(left), json.loads(right)
    return int(a > b) - int(a < b)
