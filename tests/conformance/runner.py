"""Loads the KIP conformance suites and plays their cases against an engine.

The data format is described in ``tests/conformance/kip/README.md``. The runner knows nothing
about a particular engine: it needs a callable that opens a fresh nexus and an object that
answers requests (see :class:`Nexus`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

Json = Any
Bindings = dict[str, Json]

SUITE_DIR = Path(__file__).parent / "kip"
SETUP_DIR = SUITE_DIR / "setups"

#: Files of the suite directory that are data of another shape.
OTHER_DATA = frozenset({"spec-blocks.json"})

_ERROR_KEYS = frozenset({"code", "name", "message", "hint", "message_contains", "hint_contains"})
_MATCHERS = frozenset(
    {
        "$any",
        "$bind",
        "$ref",
        "$unordered",
        "$rows",
        "$contains",
        "$length",
        "$between",
        "$includes",
        "$matches",
        "$without",
        "$all",
    }
)
_GENERATORS = frozenset({"$ref", "$repeat", "$concat"})


class Nexus(Protocol):
    """What a case needs of an engine: one answer per request."""

    def execute(self, request: Json, readonly: bool) -> Json:
        """Return the response of ``execute_kip`` (or ``execute_kip_readonly``)."""

    def close(self) -> None:
        """Give up the nexus."""


OpenNexus = Callable[[], Nexus]


class DataError(Exception):
    """The suite itself is malformed."""


class Mismatch(AssertionError):
    """An actual value differs from the expected one."""

    def __init__(self, path: str, reason: str, expected: Json, actual: Json) -> None:
        self.path = path
        self.reason = reason
        self.expected = expected
        self.actual = actual
        super().__init__(f"at {path}: {reason}\n  expected: {_short(expected)}\n  actual:   {_short(actual)}")


class CaseFailure(AssertionError):
    """A step of a case failed; the message names case, step, request and JSON path."""


@dataclass(frozen=True)
class Step:
    """One request with its expected response."""

    request: Json
    response: Json
    readonly: bool = False
    fresh: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Case:
    """One conformance case."""

    id: str
    clause: str
    title: str
    suite: str
    file: str
    steps: tuple[Step, ...]
    setup: tuple[str, ...] = ()
    choice: bool = False
    raw: Mapping[str, Json] = field(default_factory=dict, repr=False, compare=False)

    def setups_used(self) -> Iterator[str]:
        """Yield the name of every setup that the case loads."""
        yield from self.setup
        for step in self.steps:
            yield from step.fresh or ()


# --------------------------------------------------------------------------------- loading


def _names(value: Json, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise DataError(f"{where}: a list of setup names is wanted")
    return tuple(value)


def _step(data: Json, where: str) -> Step:
    if not isinstance(data, dict):
        raise DataError(f"{where}: a step is an object")
    unknown = set(data) - {"request", "response", "readonly", "fresh"}
    if unknown:
        raise DataError(f"{where}: unknown members {sorted(unknown)}")
    for key in ("request", "response"):
        if key not in data:
            raise DataError(f"{where}: {key} is missing")
    readonly = data.get("readonly", False)
    if not isinstance(readonly, bool):
        raise DataError(f"{where}: readonly is a boolean")
    fresh = _names(data["fresh"], f"{where}.fresh") if "fresh" in data else None
    return Step(data["request"], data["response"], readonly, fresh)


def parse_suite(data: Json, file: str) -> list[Case]:
    """Turn one suite document into cases."""
    if not isinstance(data, dict) or not isinstance(data.get("cases"), list):
        raise DataError(f"{file}: a suite is an object with a list of cases")
    suite = data.get("suite")
    if not isinstance(suite, str) or not suite:
        raise DataError(f"{file}: suite is missing")
    cases: list[Case] = []
    for index, item in enumerate(data["cases"]):
        where = f"{file}: cases[{index}]"
        if not isinstance(item, dict):
            raise DataError(f"{where}: a case is an object")
        unknown = set(item) - {"id", "clause", "title", "setup", "steps", "choice"}
        if unknown:
            raise DataError(f"{where}: unknown members {sorted(unknown)}")
        for key in ("id", "clause", "title"):
            if not isinstance(item.get(key), str) or not item[key]:
                raise DataError(f"{where}: {key} is missing")
        steps = item.get("steps")
        if not isinstance(steps, list) or not steps:
            raise DataError(f"{where}: steps are missing")
        choice = item.get("choice", False)
        if not isinstance(choice, bool):
            raise DataError(f"{where}: choice is a boolean")
        cases.append(
            Case(
                id=item["id"],
                clause=item["clause"],
                title=item["title"],
                suite=suite,
                file=file,
                steps=tuple(_step(s, f"{where}.steps[{n}]") for n, s in enumerate(steps)),
                setup=_names(item.get("setup", []), f"{where}.setup"),
                choice=choice,
                raw=item,
            )
        )
    return cases


def _read_json(path: Path) -> Json:
    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        result = dict(pairs)
        if len(result) != len(pairs):
            raise DataError(f"{path.name}: repeated key among {[key for key, _ in pairs]}")
        return result

    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique)
    except ValueError as error:
        raise DataError(f"{path.name}: {error}") from error


def suite_files(directory: Path = SUITE_DIR) -> list[Path]:
    """Return the suite files in name order."""
    return [path for path in sorted(directory.glob("*.json")) if path.name not in OTHER_DATA]


def load_cases(directory: Path = SUITE_DIR) -> list[Case]:
    """Load every case of every suite, in file order."""
    return [case for path in suite_files(directory) for case in parse_suite(_read_json(path), path.name)]


def load_blocks(directory: Path = SUITE_DIR) -> list[dict[str, Json]]:
    """Load the code blocks of the protocol text."""
    data = _read_json(directory / "spec-blocks.json")
    blocks = data.get("blocks") if isinstance(data, dict) else None
    if not isinstance(blocks, list):
        raise DataError("spec-blocks.json: a list of blocks is wanted")
    return blocks


@cache
def load_setup(name: str, directory: Path = SETUP_DIR) -> str:
    """Return the command text of a setup."""
    return (directory / f"{name}.kip").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------- requests


def resolve(value: Json, bindings: Mapping[str, Json]) -> Json:
    """Build a request value: replace ``$ref``, ``$repeat`` and ``$concat``."""
    if isinstance(value, list):
        return [resolve(item, bindings) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((key, argument),) = value.items()
        if key in _GENERATORS:
            return _generate(key, argument, bindings)
    return {key: resolve(item, bindings) for key, item in value.items()}


def _generate(key: str, argument: Json, bindings: Mapping[str, Json]) -> Json:
    if key == "$ref":
        if argument not in bindings:
            raise DataError(f"$ref to {argument!r}, which no step has bound")
        return bindings[argument]
    if not isinstance(argument, list):
        raise DataError(f"{key} takes a list")
    if key == "$repeat":
        if len(argument) != 2 or isinstance(argument[1], bool) or not isinstance(argument[1], int):
            raise DataError("$repeat takes a text or a list, and a count")
        what = resolve(argument[0], bindings)
        if not isinstance(what, (str, list)):
            raise DataError("$repeat takes a text or a list, and a count")
        return what * argument[1]
    parts = [resolve(item, bindings) for item in argument]
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    if all(isinstance(part, list) for part in parts):
        return [item for part in parts for item in part]
    raise DataError("$concat takes texts only or lists only")


# ------------------------------------------------------------------------------- matching


def _short(value: Json, limit: int = 1200) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text)} characters)"


def kind_of(value: Json) -> str:
    """Name the JSON kind of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (list, tuple)):
        return "array"
    if isinstance(value, dict):
        return "object"
    return type(value).__name__


def same(left: Json, right: Json) -> bool:
    """Compare two JSON values: numbers by value, object keys in any order."""
    kind = kind_of(left)
    if kind != kind_of(right):
        return False
    if kind == "array":
        return len(left) == len(right) and all(map(same, left, right))
    if kind == "object":
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def matcher_of(expected: Json) -> str | None:
    """Return the matcher name if the expected value is a matcher object."""
    if isinstance(expected, dict) and len(expected) == 1:
        (key,) = expected
        if isinstance(key, str) and key.startswith("$"):
            if key not in _MATCHERS:
                raise DataError(f"unknown matcher {key}")
            return key
    return None


def _is_error_expectation(expected: Json) -> bool:
    return isinstance(expected, dict) and bool(expected) and expected.keys() <= _ERROR_KEYS


def match(expected: Json, actual: Json, bindings: Bindings, path: str = "$") -> None:
    """Raise :class:`Mismatch` unless ``actual`` fits ``expected``; fill ``bindings``."""
    name = matcher_of(expected)
    if name is not None:
        _match_special(name, expected, actual, bindings, path)
        return
    kind = kind_of(expected)
    if kind_of(actual) != kind:
        raise Mismatch(path, f"{kind} expected, {kind_of(actual)} found", expected, actual)
    if kind == "object":
        missing = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if missing or extra:
            reason = "; ".join(
                f"{word} {', '.join(map(repr, keys))}"
                for word, keys in (("missing", missing), ("unexpected", extra))
                if keys
            )
            raise Mismatch(path, reason, expected, actual)
        _match_members(expected, actual, bindings, path)
    elif kind == "array":
        if len(expected) != len(actual):
            reason = f"{len(expected)} members expected, {len(actual)} found"
            raise Mismatch(path, reason, expected, actual)
        for index, item in enumerate(expected):
            match(item, actual[index], bindings, f"{path}[{index}]")
    elif expected != actual:
        raise Mismatch(path, "different value", expected, actual)


def _member(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"


def _match_members(expected: Mapping[str, Json], actual: Mapping[str, Json], bindings: Bindings, path: str) -> None:
    for key, item in expected.items():
        if key == "error" and _is_error_expectation(item):
            _match_error(item, actual[key], _member(path, key))
        else:
            match(item, actual[key], bindings, _member(path, key))


def _match_error(expected: Mapping[str, Json], actual: Json, path: str) -> None:
    if not isinstance(actual, dict):
        raise Mismatch(path, "an error object expected", expected, actual)
    message = actual.get("message")
    if not isinstance(message, str) or not message.strip():
        raise Mismatch(f"{path}.message", "a non-empty message expected", "…", message)
    for key, item in expected.items():
        if key in ("message_contains", "hint_contains"):
            field_name = key.removesuffix("_contains")
            text = actual.get(field_name)
            if not isinstance(text, str) or not text.strip():
                raise Mismatch(f"{path}.{field_name}", "a non-empty text expected", item, text)
            for part in item:
                if part not in text:
                    raise Mismatch(f"{path}.{field_name}", f"{part!r} does not occur", item, text)
        elif key not in actual:
            raise Mismatch(f"{path}.{key}", "missing", item, actual)
        else:
            match(item, actual[key], {}, f"{path}.{key}")


def _match_special(name: str, expected: Mapping[str, Json], actual: Json, bindings: Bindings, path: str) -> None:
    argument = expected[name]
    if name == "$any":
        if argument != "any" and kind_of(actual) != argument:
            raise Mismatch(path, f"{argument} expected", expected, actual)
    elif name == "$bind":
        bindings[argument] = actual
    elif name == "$ref":
        if argument not in bindings:
            raise DataError(f"$ref to {argument!r}, which nothing has bound")
        if not same(bindings[argument], actual):
            raise Mismatch(path, f"differs from {argument!r}", bindings[argument], actual)
    elif name == "$contains":
        if not isinstance(actual, dict):
            raise Mismatch(path, "object expected", expected, actual)
        missing = [key for key in argument if key not in actual]
        if missing:
            raise Mismatch(path, f"missing {', '.join(map(repr, missing))}", argument, actual)
        _match_members(argument, actual, bindings, path)
    elif name == "$length":
        if not isinstance(actual, list):
            raise Mismatch(path, "array expected", expected, actual)
        if len(actual) != argument:
            reason = f"{argument} members expected, {len(actual)} found"
            raise Mismatch(path, reason, expected, actual)
    elif name == "$between":
        low, high = argument
        if kind_of(actual) != "number" or not low <= actual <= high:
            raise Mismatch(path, f"a number from {low} to {high} expected", expected, actual)
    elif name == "$without":
        if not isinstance(actual, dict) or actual.keys() & set(argument):
            raise Mismatch(path, f"an object without {', '.join(argument)} expected", expected, actual)
    elif name == "$all":
        for item in argument:
            match(item, actual, bindings, path)
    elif name == "$matches":
        if not isinstance(actual, str) or re.search(argument, actual) is None:
            raise Mismatch(path, f"a text that matches {argument!r} expected", expected, actual)
    elif name in ("$unordered", "$includes"):
        _match_any_order(argument, actual, bindings, path, whole=name == "$unordered")
    else:
        _match_rows(argument, actual, bindings, path)


def _match_any_order(expected: Sequence[Json], actual: Json, bindings: Bindings, path: str, *, whole: bool) -> None:
    if not isinstance(actual, list):
        raise Mismatch(path, "array expected", expected, actual)
    if whole and len(expected) != len(actual):
        reason = f"{len(expected)} members in any order expected, {len(actual)} found"
        raise Mismatch(path, reason, expected, actual)
    found = _assign(expected, actual, bindings)
    if found is None:
        for item in expected:
            if not any(_fits(item, value, bindings) for value in actual):
                raise Mismatch(path, f"no member fits {_short(item)}", expected, actual)
        raise Mismatch(path, "the members cannot be paired one to one", expected, actual)
    bindings.update(found)


def _fits(expected: Json, actual: Json, bindings: Bindings) -> Bindings | None:
    trial = dict(bindings)
    try:
        match(expected, actual, trial)
    except Mismatch:
        return None
    return trial


def _assign(expected: Sequence[Json], actual: Sequence[Json], bindings: Bindings) -> Bindings | None:
    """Pair every expected member with an actual one of its own, by backtracking."""
    if not expected:
        return dict(bindings)
    for index, value in enumerate(actual):
        trial = _fits(expected[0], value, bindings)
        if trial is not None:
            rest = [*actual[:index], *actual[index + 1 :]]
            found = _assign(expected[1:], rest, trial)
            if found is not None:
                return found
    return None


def _match_rows(expected: Sequence[Sequence[Json]], actual: Json, bindings: Bindings, path: str) -> None:
    if not isinstance(actual, list) or len(actual) != len(expected):
        raise Mismatch(path, f"{len(expected)} columns expected", expected, actual)
    for index, column in enumerate(actual):
        if not isinstance(column, list):
            raise Mismatch(f"{path}[{index}]", "a column expected", expected[index], column)
        if len(column) != len(expected[index]):
            reason = f"{len(expected[index])} rows expected, {len(column)} found"
            raise Mismatch(f"{path}[{index}]", reason, expected, actual)
    rows = [list(row) for row in zip(*expected, strict=True)]
    actual_rows = [list(row) for row in zip(*actual, strict=True)]
    _match_any_order(rows, actual_rows, bindings, f"{path} (as rows)", whole=True)


# -------------------------------------------------------------------------------- playing


def run_case(case: Case, open_nexus: OpenNexus) -> None:
    """Play one case; raise :class:`CaseFailure` at the first step that differs."""
    nexus = open_nexus()
    bindings: Bindings = {}
    try:
        _load(case, nexus, case.setup)
        for number, step in enumerate(case.steps, start=1):
            if step.fresh is not None:
                nexus.close()
                nexus = open_nexus()
                _load(case, nexus, step.fresh)
            request = resolve(step.request, bindings)
            actual = nexus.execute(request, step.readonly)
            try:
                match(step.response, actual, bindings)
            except Mismatch as mismatch:
                raise CaseFailure(
                    f"{case.id} ({case.clause}, {case.file}): {case.title}\n"
                    f"step {number} of {len(case.steps)}"
                    f"{' (read-only)' if step.readonly else ''}: {_short(request)}\n"
                    f"{mismatch}\n  response: {_short(actual)}"
                ) from mismatch
    finally:
        nexus.close()


def _load(case: Case, nexus: Nexus, names: Sequence[str]) -> None:
    for name in names:
        response = nexus.execute({"command": load_setup(name)}, False)
        if not isinstance(response, dict) or "error" in response or "result" not in response:
            raise CaseFailure(f"{case.id}: setup {name} failed: {_short(response)}")
