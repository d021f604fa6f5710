"""Plays the cases of the HTTP binding against a server (see tests/conformance/http/README.md)."""

from __future__ import annotations

import base64
import http.client
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.runner import CaseFailure, DataError, Mismatch, match, resolve
from tests.http_server import frames

Json = Any

DIRECTORY = Path(__file__).parent / "conformance" / "http"
POLL_SECONDS = 30.0
_CASE = {"id", "title", "setup", "steps"}
_STEP = {"request", "headers", "json", "text", "base64", "multipart", "host", "until", "expect", "keep", "repeat"}
_EXPECT = {"status", "type", "headers", "body", "error", "text", "frames", "same_as"}
BOUNDARY = "trivium-test-boundary"


@dataclass(frozen=True)
class Case:
    """Requests in order against a server that holds the contexts of `setup`."""

    id: str
    title: str
    file: str
    setup: tuple[str, ...]
    steps: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def type(self) -> str:
        return self.headers.get("content-type", "")

    @property
    def json(self) -> Json:
        return json.loads(self.content) if self.content and self.type == "application/json" else None


def load_cases(directory: Path = DIRECTORY) -> list[Case]:
    """Every case of every file. Raises: DataError."""
    found: dict[str, Case] = {}
    for path in sorted(directory.glob("*.json")):
        for data in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            where = f"{path.name}: {data.get('id')}"
            if data["id"] in found or data.keys() - _CASE:
                raise DataError(f"{where}: the id is there twice, or a member is unknown")
            for step in data["steps"]:
                if step.keys() - _STEP or step.get("expect", {}).keys() - _EXPECT:
                    raise DataError(f"{where}: a member is unknown in {step}")
            case = Case(data["id"], data["title"], path.name, tuple(data.get("setup", ())), tuple(data["steps"]))
            found[case.id] = case
    return list(found.values())


def run_case(case: Case, port: int) -> None:
    """Play one case. Raises: CaseFailure at the first step that differs."""
    kept: dict[str, Json] = {}
    for number, step in enumerate(case.steps, 1):
        answer = Answer(0, {}, b"")
        try:
            for _ in range(step.get("repeat", 1)):
                answer = _until(step, port, kept)
            _expect(step.get("expect", {}), answer, kept)
            for name, path in step.get("keep", {}).items():
                kept[name] = _at(answer, path)
        except Mismatch as mismatch:
            raise CaseFailure(
                f"{case.id} ({case.file}): {case.title}\nstep {number}: {step['request']}\n{mismatch}\n"
                f"  answer: {answer.status} {answer.headers} {answer.content[:2000]!r}"
            ) from mismatch


def _until(step: Mapping[str, Json], port: int, kept: dict[str, Json]) -> Answer:
    end = time.monotonic() + POLL_SECONDS
    while True:
        answer = send(step, port, kept)
        wanted = step.get("until")
        if wanted is None or time.monotonic() > end:
            return answer
        if all((answer.json or {}).get(name) in values for name, values in wanted.items()):
            return answer
        time.sleep(0.02)


def send(step: Mapping[str, Json], port: int, kept: Mapping[str, Json]) -> Answer:
    method, path = _filled(step["request"], kept).split(" ", 1)
    headers = {name: _filled(text, kept) for name, text in step.get("headers", {}).items()}
    body = _body(step, headers, kept)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", step.get("host", f"127.0.0.1:{port}"))
        if body is not None:
            headers.setdefault("Content-Length", str(len(body)))
        for name, text in headers.items():
            connection.putheader(name, text.replace("{port}", str(port)))
        connection.endheaders(body)
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def _filled(text: str, kept: Mapping[str, Json]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: str(kept.get(found[1], found[0])), text)


def _body(step: Mapping[str, Json], headers: dict[str, str], kept: Mapping[str, Json]) -> bytes | None:
    if "json" in step:
        headers.setdefault("Content-Type", "application/json")
        return json.dumps(resolve(step["json"], kept)).encode()
    if "multipart" in step:
        headers.setdefault("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
        return b"".join(_part(part, kept) for part in step["multipart"]) + f"--{BOUNDARY}--\r\n".encode()
    if "text" in step:
        return str(resolve(step["text"], kept)).replace("\n", "\r\n" if "boundary" in str(headers) else "\n").encode()
    if "base64" in step:
        return base64.b64decode(step["base64"])
    return None


def _part(part: Mapping[str, Json], kept: Mapping[str, Json]) -> bytes:
    disposition = f'form-data; name="{part["name"]}"'
    if "filename" in part:
        disposition += f'; filename="{part["filename"]}"'
    content = base64.b64decode(part["base64"]) if "base64" in part else resolve(part["content"], kept).encode()
    return f"--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\n\r\n".encode() + content + b"\r\n"


def _expect(expected: Mapping[str, Json], answer: Answer, kept: dict[str, Json]) -> None:
    status = expected.get("status", 400 if "error" in expected else 200)
    if answer.status != status:
        raise Mismatch("status", "another status", status, answer.status)
    kind = expected.get("type", "application/json" if "error" in expected or "body" in expected else None)
    if kind is not None and answer.type != kind:
        raise Mismatch("type", "another content type", kind, answer.type)
    for name, value in expected.get("headers", {}).items():
        found = answer.headers.get(name.lower())
        if value is None and found is not None:
            raise Mismatch(f"header {name}", "it must be absent", None, found)
        if value is not None:
            match(value, found, kept, f"header {name}")
    if "error" in expected:
        match({"error": {"$contains": expected["error"]}}, answer.json, kept)
        for key in ("code", "message"):
            if not answer.json["error"][key]:
                raise Mismatch(key, "a text expected", "…", answer.json)
    if "body" in expected:
        match(expected["body"], answer.json, kept)
    if "text" in expected:
        match(expected["text"], answer.content.decode(), kept)
    if "frames" in expected:
        match(expected["frames"], frames(answer.content.decode()), kept)
    if "same_as" in expected:
        match(kept[expected["same_as"]], answer.json, kept)


def _at(answer: Answer, path: str) -> Json:
    value: Json = answer.json
    if path.startswith("header "):
        return answer.headers[path.removeprefix("header ").lower()]
    for part in path.split(".") if path else []:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
