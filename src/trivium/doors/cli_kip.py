"""`trivium kip`: one command, one request, or a stream of requests."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import click

from trivium.doors.cli_options import Choices, pass_choices, with_store
from trivium.doors.cli_output import (
    open_lines,
    parse_json,
    print_error,
    print_json,
    printable,
    read_text,
    unique_members,
)
from trivium.errors import KipError, TriviumError

Amend = Callable[[dict[str, Any]], dict[str, Any]]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@click.command(
    epilog="Exit code 1 when the command fails, 2 for a wrong command line; --jsonl always ends with 0.",
)
@click.argument("command", required=False)
@click.option("-f", "--file", "file", metavar="FILE", help="Read the command from a file; - is standard input.")
@click.option("--param", "params", metavar="NAME=VALUE", multiple=True, help="Fill :NAME; VALUE is JSON, else text.")
@click.option("--params", "params_file", metavar="FILE", help="Fill placeholders from a JSON object; --param wins.")
@click.option("--readonly", is_flag=True, help="Refuse commands that write.")
@click.option("--dry-run", is_flag=True, help="Check the command fully and write nothing.")
@click.option("--explain", is_flag=True, help="Show tokens, tree, plan, SQL and timings before the result.")
@click.option("--request", metavar="FILE", help="Execute a JSON request object (KIP §6.1); - is standard input.")
@click.option("--jsonl", is_flag=True, help="Answer JSON requests line by line, from --request or standard input.")
@click.option("--table", is_flag=True, help="Print a table also when standard output is no terminal.")
@with_store
@pass_choices
def kip(
    choices: Choices, /, command: str | None, file: str | None, request: str | None, jsonl: bool, **how: Any
) -> None:
    """Execute a KIP command: FIND, UPSERT, UPDATE, MERGE, DELETE, DESCRIBE, SEARCH or EXPORT.

    COMMAND is the command's text; - reads it from standard input. On a terminal the result is a table, elsewhere the
    JSON response.
    """
    _check_source(command, file, request, jsonl, **how)
    if jsonl:
        _serve_lines(choices, request or "-", readonly=how["readonly"])
        return
    if request is not None:
        document = parse_json(read_text(request), "The request")
        if not isinstance(document, dict):
            raise TriviumError(
                "The request is no JSON object.", 'Give an object such as {"command": "DESCRIBE PRIMER"}.'
            )
        _run_request(choices, document, how)
        return
    source = "-" if command == "-" else file
    text = command if source is None else read_text(source)
    _run(choices, text or "", _parameters(how["params"], how["params_file"]), how)


def _check_source(command: str | None, file: str | None, request: str | None, jsonl: bool, **how: Any) -> None:
    given = [command is not None, file is not None, request is not None or jsonl]
    if sum(given) != 1:
        raise click.UsageError("Give one of COMMAND, -f FILE, and --request FILE or --jsonl.")
    if (jsonl or request) and (how["params"] or how["params_file"] or how["explain"]):
        raise click.UsageError("--param, --params and --explain go with a command; a request carries its parameters.")
    if jsonl and (how["dry_run"] or how["table"]):
        raise click.UsageError("--jsonl takes neither --dry-run nor --table; put dry_run into the requests.")
    if how["explain"] and how["dry_run"]:
        raise click.UsageError("--explain executes the command, so it does not go with --dry-run.")


def _parameters(params: tuple[str, ...], params_file: str | None) -> dict[str, Any] | None:
    """The parameters of `--params` with those of `--param` laid over them."""
    values: dict[str, Any] = {}
    if params_file is not None:
        document = parse_json(read_text(params_file), "The parameter file")
        if not isinstance(document, dict):
            raise click.UsageError('--params FILE must hold a JSON object such as {"name": "Fever"}.')
        values.update(document)
    for param in params:
        name, equals, value = param.partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise click.UsageError(f"--param {param!r} is not NAME=VALUE, with a NAME such as limit or drug_name.")
        values[name] = parameter_value(value)
    return values or None


def parameter_value(text: str) -> Any:
    """A parameter's value as typed on a command line: JSON where it is JSON, else the text itself.

    Raises: KipError for a JSON object that has a member twice.

    >>> parameter_value("5"), parameter_value('["a"]'), parameter_value("Fever"), parameter_value("NaN")
    (5, ['a'], 'Fever', 'NaN')
    """
    try:
        return json.loads(text, parse_constant=_not_json, object_pairs_hook=unique_members)
    except (ValueError, RecursionError):
        return text


def _not_json(name: str) -> None:
    raise ValueError(name)


# --- one command or request -----------------------------------------------------------------------


def _run(choices: Choices, text: str, parameters: dict[str, Any] | None, how: dict[str, Any]) -> None:
    with choices.open_context() as context:
        if how["explain"]:
            ok = explain(
                context,
                text,
                parameters,
                readonly=how["readonly"],
                as_json=choices.json,
                table=how["table"],
                amend=amending(choices, context),
            )
        else:
            request: dict[str, Any] = {"command": text, **({"parameters": parameters} if parameters else {})}
            if how["dry_run"]:
                request["dry_run"] = True
            response = amending(choices, context)(context.execute_kip(request, readonly=how["readonly"]))
            ok = show_response(response, text, as_json=choices.json, table=how["table"])
    if not ok:
        raise click.exceptions.Exit(1)


def _run_request(choices: Choices, request: dict[str, Any], how: dict[str, Any]) -> None:
    if how["dry_run"]:
        request = {**request, "dry_run": True}
    with choices.open_context() as context:
        response = amending(choices, context)(context.execute_kip(request, readonly=how["readonly"]))
    command = request.get("command")
    if isinstance(command, str) or "error" in response or not wants_table(choices.json, how["table"]):
        ok = show_response(response, command, as_json=choices.json, table=how["table"])
        if not ok:
            raise click.exceptions.Exit(1)
    else:
        _print_batch(request["commands"], response["result"])


def amending(choices: Choices, context: Any) -> Amend:
    """What a response passes through before it is shown: without `--context` its hint may name another context."""
    if choices.context is not None:
        return lambda response: response
    from trivium.doors.repository import naming_context

    return lambda response: naming_context(response, context)


def wants_table(as_json: bool, table: bool = False) -> bool:
    """Whether results are for people: asked for, or a terminal without `--json`."""
    return not as_json and (table or sys.stdout.isatty())


def show_response(response: dict[str, Any], text: str | None, *, as_json: bool, table: bool = False) -> bool:
    """Print a response in the form asked for, errors to stderr unless as JSON; tells whether it is a success."""
    if "error" in response and not as_json:
        print_error(response["error"], text)
    elif text is not None and wants_table(as_json, table):
        print_table(text, response)
    else:
        print_json(response)
    return "error" not in response


def print_table(text: str, response: dict[str, Any], *, brief: bool = False) -> None:
    """Print a successful response as a table; the command's text names the columns, `brief` leaves out attributes."""
    from trivium.doors.cli_tables import print_response
    from trivium.kip.parser import parse

    print_response(parse(text).command, response, brief=brief)


def _print_batch(commands: list[Any], answers: list[dict[str, Any]]) -> None:
    """The answers of a batch (§6.2.3), each under its command's first line."""
    for item, answer in zip(commands, answers, strict=False):
        given = item.get("command") if isinstance(item, dict) else item
        text = given if isinstance(given, str) else ""
        click.secho(f"> {printable(text.strip().partition(chr(10))[0])}", dim=True)
        show_response(answer, text, as_json=False, table=True)


# --- explain --------------------------------------------------------------------------------------


def explain(
    context: Any,
    text: str,
    parameters: dict[str, Any] | None,
    *,
    readonly: bool,
    as_json: bool,
    table: bool = False,
    amend: Amend = lambda response: response,
) -> bool:
    """Execute a command and print every stage it went through, then its result; tells whether it is a success."""
    explained = context.explain_kip(text, parameters, readonly=readonly)
    explained["response"] = amend(explained["response"])
    if as_json:
        print_json(explained)
        return "error" not in explained["response"]
    print_explanation(explained)
    return show_response(explained["response"], text, as_json=False, table=table)


def print_explanation(explained: dict[str, Any]) -> None:
    """Print every stage that a command went through, up to the stage that failed."""
    sections = {
        "tokens": " ".join(explained.get("tokens") or []),
        "tree": explained.get("tree") or "",
        "plan": "\n".join(explained.get("plan") or []),
        "sql": explained.get("sql") or "",
        "bindings": ", ".join(json.dumps(value, ensure_ascii=False) for value in explained.get("bindings") or []),
        "timing": "\n".join(_timings(explained["timing_us"])),
    }
    for name, body in sections.items():
        if body:
            click.secho(name, bold=True)
            click.echo("\n".join(f"  {line}" for line in printable(body).splitlines()))
    click.echo()


def _timings(stages: dict[str, float]) -> list[str]:
    width = max(map(len, stages), default=0)
    return [f"{stage:<{width}} {value:>10.1f} µs" for stage, value in stages.items()]


# --- a stream of requests -------------------------------------------------------------------------


def _serve_lines(choices: Choices, source: str, *, readonly: bool) -> None:
    """Answer each line with one line, at once; a line that is no request gets an error response."""
    with choices.open_context(staying=True) as context, open_lines(source) as lines:
        for line in lines:
            if line.strip():
                sys.stdout.write(json.dumps(_answer(context, line, readonly), separators=(",", ":")) + "\n")
                sys.stdout.flush()


def _answer(context: Any, line: bytes, readonly: bool) -> dict[str, Any]:
    try:
        document = parse_json(line, "The line")
        if isinstance(document, dict) and "request" in document:
            if set(document) - {"request", "readonly"} or not isinstance(document.get("readonly", False), bool):
                hint = 'Send {"command": "…"} or {"request": {"command": "…"}, "readonly": true}.'
                raise TriviumError("The line has other members than request and readonly (true or false).", hint)
            readonly = readonly or document.get("readonly", False)
            document = document["request"]
    except TriviumError as error:
        return {"error": KipError("KIP_1001", error.message, error.hint).to_dict()}
    answer: dict[str, Any] = context.execute_kip(document, readonly=readonly)
    return answer
