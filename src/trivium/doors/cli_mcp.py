"""`trivium mcp`: the memory as an MCP server on standard input and output."""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import click

from trivium.doors.cli_options import Choices, pass_choices, with_store
from trivium.errors import MissingExtraError

WAITING = "Waiting for an MCP client on standard input; Ctrl-D ends. Usually a client starts this command itself."


@click.command()
@click.option("--readonly", is_flag=True, help="Leave out execute_kip, the tool that writes.")
@click.option(
    "--profile",
    type=click.Choice(["local", "service"]),
    metavar="PROFILE",
    default="local",
    help="local, or service: only the knowledge tools, on the stored index alone, without commits.",
)
@click.option("--config", metavar="FILE", help="Configuration of the repository instead of trivium.toml in its root.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False),
    metavar="PATH",
    default=".",
    help="A folder of the repository that the knowledge tools are about, instead of the working folder.",
)
@click.option(
    "--plain-names", is_flag=True, help="Name the knowledge tools without dots: knowledge_decision and so on."
)
@with_store
@pass_choices
def mcp(
    choices: Choices,
    readonly: bool,
    profile: Literal["local", "service"],
    config: str | None,
    root: str,
    plain_names: bool,
) -> None:
    """Serve the memory to an AI agent over MCP, on standard input and output.

    Tools: execute_kip, execute_kip_readonly; list_contexts, query_context, get_query, retrieve; and for the repository
    of the working folder (or of --root) knowledge.decision, knowledge.concept, knowledge.whyChanged. Resource:
    kip://docs/Instructions.md. Prompt: kip_bootstrap. The server ends when its input ends. It needs the extra: pip
    install 'trivium[mcp]'.
    """
    if find_spec("mcp") is None:
        raise MissingExtraError("mcp", "The MCP server")
    with choices.open() as kb:
        context = kb if choices.context is None else kb.context(choices.context)
        from trivium.doors.mcp_ask import AskTools
        from trivium.doors.mcp_server import serve_stdio
        from trivium.doors.mcp_why import WhyTools, named_context

        why = WhyTools(
            kb, Path(root), choices.context, profile=profile, config=config, plain=plain_names, db=choices.db
        )
        if sys.stdin.isatty():
            click.echo(WAITING, err=True)
        restricted = profile == "service"
        if not restricted:
            kb.start_embedding()
        serve_stdio(
            None if restricted else context,
            readonly=readonly,
            why=why,
            ask=None if restricted else AskTools(kb, choices.context),
            contexts=partial(named_context, kb),
        )
