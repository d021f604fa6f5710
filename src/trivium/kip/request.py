"""The request envelope (§6): single commands and batches, parameters, dry run, read-only. It never raises."""

from __future__ import annotations

from typing import Any, Protocol

from trivium.errors import KipError
from trivium.kip import values
from trivium.kip.bind import Parameters
from trivium.kip.nexus import Nexus

MAX_COMMANDS = 256
_MEMBERS = ("command", "commands", "parameters", "dry_run", "readonly")


class Executor(Protocol):
    """What carries out requests: a knowledge base or a context."""

    def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
        """Execute one KIP request (§6)."""
        ...


def execute(nexus: Nexus, request: Any, *, readonly: bool = False) -> dict[str, Any]:
    """The response object for a request object: `{"result": …}` or `{"error": …}`, perhaps with `next_cursor`."""
    try:
        parameters, dry_run, readonly = _check(request, readonly)
        if "command" in request:
            return _single(nexus, request["command"], parameters, dry_run, readonly)[0]
        return _batch(nexus, request["commands"], parameters, dry_run, readonly)
    except Exception as error:
        return {"error": _told(nexus, error).to_dict()}


def explain(nexus: Nexus, command: Any, parameters: Any, *, readonly: bool = False) -> dict[str, Any]:
    """The report of `kip.explain` on a command, which is executed; never raises, as `execute` does not."""
    from trivium.kip.explain import explain as explained

    report: dict[str, Any] = {"tokens": [], "tree": "", "plan": [], "sql": "", "bindings": [], "timing_us": {}}
    try:
        given, _, readonly = _check({"command": command, "parameters": parameters}, readonly)
        _check_command(command)
        if readonly and _writes(nexus, command):
            raise _refused()
        report = explained(nexus, command, given)
        if nexus.store.closed and "error" in report["response"]:
            raise nexus.store.closed_error()
    except Exception as error:
        report["response"] = {"error": _told(nexus, error).to_dict()}
    return report


def _writes(nexus: Nexus, command: str) -> bool:
    try:
        return nexus.is_write(nexus.prepare(command))
    except KipError:  # what does not parse does not write
        return False


def _told(nexus: Nexus, error: Exception) -> KipError:
    """Whatever ended a command as a KIP error: a fault of ours must not reach an agent as a trace."""
    if isinstance(error, KipError) and not error.code.startswith("KIP_4"):
        return error
    if nexus.store.closed:
        return nexus.store.closed_error()
    if isinstance(error, KipError):
        return error
    if isinstance(error, RecursionError):
        return KipError("KIP_4002", "The command is nested too deep.", "Flatten it.")
    if isinstance(error, MemoryError):
        return KipError("KIP_4002", "The command needs more memory than there is.")
    return KipError("KIP_4003", f"The engine failed inside ({type(error).__name__}: {error}); nothing was changed.")


def _check(request: Any, readonly: bool) -> tuple[Parameters, bool, bool]:
    if not isinstance(request, dict):
        raise _envelope("The request must be a JSON object.", 'Send {"command": "…"} or {"commands": ["…"]}.')
    for member in request:
        if member not in _MEMBERS:
            raise _envelope(
                f"The request has an unknown member {values.show(member)}.",
                f"Allowed members: {', '.join(_MEMBERS[:4])}.",
            )
    if ("command" in request) == ("commands" in request):
        raise _envelope(
            "A request needs exactly one of command and commands.",
            'Send {"command": "…"} for one, {"commands": ["…", "…"]} for several.',
        )
    dry_run = request.get("dry_run", False)
    own_readonly = request.get("readonly", False)
    for name, value in (("dry_run", dry_run), ("readonly", own_readonly)):
        if not isinstance(value, bool):
            raise _envelope(f"{name} must be true or false, not {values.show(value)}.", "Send a JSON boolean.")
    if readonly is not False and readonly is not True:
        raise _envelope(f"readonly must be True or False, not {values.show(readonly)}.", "Pass readonly=True or False.")
    return _parameters(request.get("parameters", {})), dry_run, readonly or own_readonly


def _envelope(message: str, hint: str) -> KipError:
    return KipError("KIP_1001", message, hint)


def _parameters(found: Any) -> Parameters:
    if not isinstance(found, dict):
        raise _envelope(f"parameters must be an object, not {values.show(found)}.", 'Send {"parameters": {"name": …}}.')
    for key in found:
        if not isinstance(key, str):
            raise _envelope(
                "Parameter names must be strings.", "Name parameters as the placeholders are, without the colon."
            )
    return found


def _single(
    nexus: Nexus, command: Any, parameters: Parameters, dry_run: bool, readonly: bool
) -> tuple[dict[str, Any], bool]:
    """A response, and whether it ends a batch (a write that failed while executing)."""
    try:
        _check_command(command)
        prepared = nexus.prepare(command)
    except KipError as error:
        return {"error": error.to_dict()}, False
    write = nexus.is_write(prepared)
    if write and readonly:
        return {"error": _refused().to_dict()}, False
    try:
        return nexus.execute(prepared, parameters, dry_run=dry_run), False
    except Exception as error:
        told = _told(nexus, error)
        return {"error": told.to_dict()}, write and not told.code.startswith("KIP_1")


def _check_command(command: Any) -> None:
    if not isinstance(command, str) or not command.strip():
        raise _envelope(f"command must be a non-empty string, not {values.show(command)}.", "Send a KIP command text.")


def _refused() -> KipError:
    return KipError(
        "KIP_1001",
        "This interface is read-only: it takes FIND, DESCRIBE, SEARCH and EXPORT.",
        "Use execute_kip for UPSERT, UPDATE, MERGE and DELETE.",
    )


def _batch(nexus: Nexus, commands: Any, shared: Parameters, dry_run: bool, readonly: bool) -> dict[str, Any]:
    if not isinstance(commands, list) or not commands:
        raise _envelope("commands must be a non-empty list.", 'Send {"commands": ["…", {"command": "…"}]}.')
    if len(commands) > MAX_COMMANDS:
        raise KipError(
            "KIP_4002",
            f"A batch holds at most {MAX_COMMANDS} commands, not {len(commands)}.",
            "Split it into several requests.",
        )
    checked = [_member(item, shared) for item in commands]
    responses: list[dict[str, Any]] = []
    for command, parameters in checked:
        response, stop = _single(nexus, command, parameters, dry_run, readonly)
        responses.append(response)
        if stop:
            break
    return {"result": responses}


def _member(item: Any, shared: Parameters) -> tuple[str, Parameters]:
    if isinstance(item, str):
        return item, shared
    if not isinstance(item, dict) or not isinstance(item.get("command"), str):
        raise _envelope(
            "Each of commands must be a string or an object with a command.",
            'Write {"command": "…", "parameters": {…}}.',
        )
    for member in item:
        if member not in ("command", "parameters"):
            raise _envelope(
                f"A command object has an unknown member {values.show(member)}.", "Allowed: command, parameters."
            )
    return item["command"], {**shared, **_parameters(item.get("parameters", {}))}
