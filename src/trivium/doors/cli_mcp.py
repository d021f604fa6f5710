"""`trivium mcp`: the memory as an MCP server on standard input and output."""

from __future__ import annotations

from importlib.util import find_spec

import click

from trivium.doors.cli_options import Choices, pass_choices, with_store
from trivium.errors import MissingExtraError


@click.command()
@click.option("--readonly", is_flag=True, help="Offer only execute_kip_readonly.")
@with_store
@pass_choices
def mcp(choices: Choices, readonly: bool) -> None:
    """Serve the memory to an AI agent over MCP, on standard input and output.

    Tools: execute_kip, execute_kip_readonly. Resource: kip://docs/Instructions.md. Prompt: kip_bootstrap. The server
    ends when its input ends. It needs the extra: pip install 'trivium[mcp]'.
    """
    if find_spec("mcp") is None:
        raise MissingExtraError("mcp", "The MCP server")
    with choices.open_context() as context:
        from trivium.doors.mcp_server import serve_stdio

        serve_stdio(context, readonly=readonly)
