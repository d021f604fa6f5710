"""Plays the KnowQL conformance cases against a door: the library, or HTTP (see tests/conformance/knowql/README.md)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from tests.conformance.runner import CaseFailure, DataError, Mismatch, match, resolve

Json = Any

DIRECTORY = Path(__file__).parent / "conformance" / "knowql"
POLL_SECONDS = 20.0
_OPTIONS = {"strict", "accept_stream", "idempotency_key", "after", "limit", "cursor", "context", "queries_active"}
_STEP = {"expect", "keep", "repeat"}
_CASE = {"id", "section", "title", "setup", "needs", "choice", "steps"}


@dataclass(frozen=True)
class Reply:
    """What a door answered: the HTTP status, and the JSON body, or the frames of a stream in its place."""

    status: int
    body: Json = None
    frames: list[Json] | None = None


class Door(Protocol):
    """One way to a service that holds the setups of a case and nothing else.

    Every method is called with ids or documents as they stand in the case; none raises for a refused request.
    """

    def prepare(self, setup: Json) -> None:
        """Create the contexts of a setup."""

    def call(self, operation: str, argument: Json, options: Mapping[str, Json]) -> Reply:
        """Carry out one operation of a step."""

    def close(self) -> None: ...


OPERATIONS = {
    "submit",
    "get",
    "poll",
    "events",
    "cancel",
    "trace",
    "feedback",
    "sessions",
    "session",
    "session_queries",
    "rename",
    "delete",
    "delete_context",
    "models",
}


@dataclass(frozen=True)
class Case:
    """One case: its steps run in order against one door."""

    id: str
    section: str
    title: str
    file: str
    setup: tuple[str, ...]
    needs: frozenset[str]
    steps: tuple[Mapping[str, Json], ...]


def load_cases(directory: Path = DIRECTORY) -> list[Case]:
    """Every case of every suite, in the order of the files. Raises: DataError."""
    cases = [case for path in sorted(directory.glob("*.json")) for case in parse_suite(_read(path), path.name)]
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise DataError(f"{case.file}: the id {case.id} is there twice")
        seen.add(case.id)
    return cases


def parse_suite(data: Json, file: str) -> list[Case]:
    """The cases of one suite document. Raises: DataError."""
    if not isinstance(data, dict) or data.keys() != {"suite", "spec", "cases"}:
        raise DataError(f"{file}: a suite has suite, spec and cases")
    return [_case(item, file) for item in data["cases"]]


def _case(data: Json, file: str) -> Case:
    where = f"{file}: {data.get('id')}"
    for key in ("id", "section", "title", "steps"):
        if not data.get(key):
            raise DataError(f"{where}: {key} is missing")
    if unknown := data.keys() - _CASE:
        raise DataError(f"{where}: unknown members {sorted(unknown)}")
    for step in data["steps"]:
        named = step.keys() & OPERATIONS
        if len(named) != 1 or step.keys() - OPERATIONS - _OPTIONS - _STEP:
            raise DataError(f"{where}: a step has one operation, options, expect and keep: {sorted(step)}")
        if unknown := step.get("expect", {}).keys() - {"status", "body", "error", "frames", "same_as"}:
            raise DataError(f"{where}: unknown expectations {sorted(unknown)}")
    needs = frozenset(data.get("needs", ()))
    return Case(
        data["id"], data["section"], data["title"], file, tuple(data.get("setup", ())), needs, tuple(data["steps"])
    )


def _read(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def load_setup(name: str, directory: Path = DIRECTORY / "setups") -> Json:
    """A setup: the contexts that a case starts with."""
    return _read(directory / f"{name}.json")


def run_case(case: Case, open_door: Callable[[], Door]) -> None:
    """Play one case. Raises: CaseFailure at the first step that differs."""
    door = open_door()
    kept: dict[str, Json] = {}
    try:
        for name in case.setup:
            door.prepare(load_setup(name))
        for number, step in enumerate(case.steps, 1):
            _step(case, number, step, door, kept)
    finally:
        door.close()


def _step(case: Case, number: int, step: Mapping[str, Json], door: Door, kept: dict[str, Json]) -> None:
    (operation,) = step.keys() & OPERATIONS
    argument = resolve(step[operation], kept)
    options = {key: resolve(step[key], kept) for key in step.keys() & _OPTIONS}
    reply = Reply(0)
    try:
        for _ in range(step.get("repeat", 1)):
            reply = _poll(door, argument) if operation == "poll" else door.call(operation, argument, options)
        _expect(step.get("expect", {}), reply, kept)
        for name, path in step.get("keep", {}).items():
            kept[name] = _at(reply.body if reply.frames is None else reply.frames, path)
    except Mismatch as mismatch:
        shown = json.dumps(argument, ensure_ascii=False)[:600]
        raise CaseFailure(
            f"{case.id} ({case.section}, {case.file}): {case.title}\nstep {number}: {operation} {shown}\n{mismatch}\n"
            f"  reply: {reply.status} {json.dumps(reply.body or reply.frames, ensure_ascii=False)[:3000]}"
        ) from mismatch


def _poll(door: Door, query_id: Json) -> Reply:
    end = time.monotonic() + POLL_SECONDS
    while True:
        reply = door.call("get", query_id, {})
        if reply.status != 200 or reply.body["status"] != "in_progress" or time.monotonic() > end:
            return reply
        time.sleep(0.02)


def _expect(expected: Mapping[str, Json], reply: Reply, kept: dict[str, Json]) -> None:
    status = expected.get("status", 400 if "error" in expected else 200)
    if reply.status != status:
        raise Mismatch("status", "another status", status, reply.status)
    if "error" in expected:
        _expect_error(expected["error"], reply, kept)
    if "body" in expected:
        match(expected["body"], reply.body, kept)
    if "same_as" in expected:
        match(resolve({"$ref": expected["same_as"]}, kept), reply.body, kept)
    if "frames" in expected:
        if reply.frames is None:
            raise Mismatch("frames", "a stream expected", expected["frames"], reply.body)
        match(expected["frames"], reply.frames, kept)


def _expect_error(expected: Json, reply: Reply, kept: dict[str, Json]) -> None:
    match({"error": {"$any": "object"}}, reply.body, kept)
    error = reply.body["error"]
    for key in ("code", "message"):
        if not isinstance(error.get(key), str) or not error[key].strip():
            raise Mismatch(f"error.{key}", "a text expected", "…", error.get(key))
    match({"$contains": expected}, error, kept, "error")


def _at(value: Json, path: str) -> Json:
    for part in path.split(".") if path else []:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
