"""The wire of the MCP server: JSON-RPC messages, one a line, on standard input and output.

Every line that asks for something is answered: what cannot be understood gets an error, with its id where one can be
read. When the input ends, what was received is finished and answered before the server leaves.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from trivium.doors.cli_output import unique_members
from trivium.doors.json_numbers import whole_number
from trivium.errors import KipError

_BLOCK = 1 << 16


async def serve(server: Server[Any], source: int, sink: int) -> None:
    """Serve one connection on two file descriptors until `source` ends and all is answered.

    Raises: BrokenPipeError when nobody reads the answers any more.
    """
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    wire = _Wire(incoming, write_stream.clone())
    broken = False

    async def write() -> None:
        nonlocal broken
        async with outgoing:
            async for item in outgoing:
                try:
                    await anyio.to_thread.run_sync(_write_all, sink, _line(item.message))
                except OSError:
                    broken = True
                    group.cancel_scope.cancel()
                    return
                wire.answered(item.message)

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        group.start_soon(wire.read, _lines(source))
        await server.run(read_stream, write_stream, server.create_initialization_options())
    if broken:
        raise BrokenPipeError


@contextmanager
def standard_streams() -> Iterator[tuple[int, int]]:
    """Standard input and output for the protocol alone: meanwhile others read nothing, and print to standard error."""
    source, sink = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    places = (sys.stdin.fileno(), sys.stdout.fileno())
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(nothing, places[0])
        try:
            os.dup2(2, places[1])
        except OSError:  # there is no standard error
            os.dup2(nothing, places[1])
        yield source, sink
    finally:
        os.dup2(source, places[0])
        os.dup2(sink, places[1])
        os.close(nothing)


# --- reading --------------------------------------------------------------------------------------


class _Wire:
    """The reading side, and the requests that wait for their answers."""

    def __init__(
        self,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        errors: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        self._incoming = incoming
        self._errors = errors
        self._waiting: Counter[types.RequestId] = Counter()
        self._changed = anyio.Event()

    async def read(self, lines: MemoryObjectReceiveStream[bytes]) -> None:
        async with self._incoming, self._errors, lines:
            async for line in lines:
                if line.strip():
                    await self._take(line)
            while self._waiting:
                await self._changed.wait()
                self._changed = anyio.Event()

    async def _take(self, line: bytes) -> None:
        try:
            message = parse(line)
        except Refused as refused:
            await self._errors.send(SessionMessage(refused.answer))
            return
        if isinstance(message, types.JSONRPCRequest):
            number = message.id
            self._waiting[number] += 1

            async def unanswered() -> None:  # cancelled by the client
                self._settle(number)

            await self._incoming.send(SessionMessage(message, ServerMessageMetadata(on_request_unanswered=unanswered)))
        else:
            await self._incoming.send(SessionMessage(message))

    def answered(self, message: types.JSONRPCMessage) -> None:
        """A message is on its way to the client."""
        if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)) and message.id is not None:
            self._settle(message.id)

    def _settle(self, number: types.RequestId) -> None:
        self._waiting -= Counter([number])
        self._changed.set()


def _lines(source: int) -> MemoryObjectReceiveStream[bytes]:
    """The lines of a file descriptor, read by a thread that nobody has to wait for."""
    sender, receiver = anyio.create_memory_object_stream[bytes](0)
    token = anyio.lowlevel.current_token()

    def pump() -> None:
        with suppress(RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has left
            for line in _split(source):
                anyio.from_thread.run(sender.send, line, token=token)
            anyio.from_thread.run(sender.aclose, token=token)

    threading.Thread(target=pump, name="trivium-mcp-input", daemon=True).start()
    return receiver


def _split(source: int) -> Iterator[bytes]:
    held: list[bytes] = []
    while block := _read(source):
        first, *rest = block.split(b"\n")
        held.append(first)
        for part in rest:
            yield b"".join(held)
            held = [part]
    yield b"".join(held)


def _read(source: int) -> bytes:
    try:
        return os.read(source, _BLOCK)
    except OSError:  # a terminal that went away, for example: the input has ended
        return b""


# --- messages -------------------------------------------------------------------------------------


class Refused(Exception):
    """A line is no message; `answer` is what to tell the client."""

    def __init__(self, code: int, line: bytes, message: str) -> None:
        super().__init__(message)
        error = types.ErrorData(code=code, message=f"{message}.")
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=read_id(line), error=error)


def parse(line: bytes) -> types.JSONRPCMessage:
    """The message of a line. Raises: Refused.

    Lone surrogates pass: the engine refuses them in words that a model can follow.
    """
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(types.PARSE_ERROR, line, f"The message is not UTF-8 text: {error.reason}") from None
    try:
        document = json.loads(text, parse_int=whole_number, parse_constant=_no_number, object_pairs_hook=unique_members)
    except json.JSONDecodeError as error:
        raise Refused(types.PARSE_ERROR, line, f"The message is not JSON: {error.msg} (column {error.colno})") from None
    except KipError as error:
        raise Refused(types.INVALID_REQUEST, line, error.message.rstrip(".")) from None
    except RecursionError:
        raise Refused(types.INVALID_REQUEST, line, "The message is nested too deep; flatten it") from None
    except ValueError as error:
        raise Refused(types.INVALID_REQUEST, line, f"The message cannot be used: {error}") from None
    return _message(document, line)


def _message(document: Any, line: bytes) -> types.JSONRPCMessage:
    if not isinstance(document, dict):
        what = "a batch, which this protocol has no more" if isinstance(document, list) else "no object"
        raise Refused(types.INVALID_REQUEST, line, f"The message is {what}; send one JSON-RPC object a line")
    number = document.get("id")
    if "method" in document and "id" in document and (isinstance(number, bool) or not isinstance(number, (int, str))):
        raise Refused(types.INVALID_REQUEST, line, "The id of a request must be a text or a whole number")
    try:
        return types.jsonrpc_message_adapter.validate_python(document, by_name=False)
    except ValidationError:
        raise Refused(
            types.INVALID_REQUEST,
            line,
            'The message is no JSON-RPC request: it needs "jsonrpc": "2.0", a method and params that are an object',
        ) from None


def _no_number(name: str) -> float:
    raise json.JSONDecodeError(f"{name} is no JSON number", name, 0)


_ID = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|-?\d+(?![\d.eE])|[^\s{}\[\]",:]+|[:,]', re.DOTALL)


def read_id(line: bytes) -> types.RequestId | None:
    """The id of a message that may be no JSON, if one can be read.

    >>> read_id(b'{"jsonrpc": "2.0", "params": {"id": 1}, "id": 7, oops'), read_id(b"[1]")
    (7, None)
    """
    depth = 0
    found: types.RequestId | None = None
    recent = ["", "", ""]
    for match in _ID.finditer(line.decode("utf-8", errors="replace")):
        token = match[0]
        if depth == 1 and recent[1:] == ['"id"', ":"] and recent[0] in ("{", ","):
            found = _own_id(token)
        depth += (token in "{[") - (token in "}]")
        if token == "[" and depth == 1:
            return None
        recent = [*recent[1:], token]
    return found


def _own_id(token: str) -> types.RequestId | None:
    if re.fullmatch(r"-?\d{1,18}", token):
        return int(token)
    with suppress(ValueError):
        value = json.loads(token)
        if isinstance(value, str) and value.isprintable():
            return value
    return None


# --- writing --------------------------------------------------------------------------------------


def _line(message: types.JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:  # a text that cannot be written as UTF-8
        plain = message.model_dump(by_alias=True, exclude_unset=True)
        return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
