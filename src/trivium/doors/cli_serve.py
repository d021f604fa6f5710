"""`trivium serve`: the HTTP door."""

from __future__ import annotations

from importlib.util import find_spec

import click

from trivium.doors.cli_options import Choices, pass_choices, with_db
from trivium.errors import MissingExtraError, StoreError

HOST, PORT = "127.0.0.1", 8321


@click.command()
@click.option(
    "--host", metavar="HOST", default=HOST, envvar="TRIVIUM_HOST", help=f"Address to serve; {HOST} if absent."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    default=PORT,
    envvar="TRIVIUM_PORT",
    help="Port; 0: a free one.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 900),
    metavar="SECONDS",
    default=10.0,
    help="Time that running turns get at the end; 10.",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    envvar="TRIVIUM_ALLOW_HOSTS",
    help="Answer to this name, too, as behind a proxy; may be repeated.",
)
@click.option("--no-access-log", is_flag=True, help="Do not write a line for each request.")
@click.option("--insecure", is_flag=True, help="Serve an address that others can reach, although there are no keys.")
@with_db
@pass_choices
def serve(
    choices: Choices,
    host: str,
    port: int,
    grace: float,
    hosts: tuple[str, ...],
    no_access_log: bool,
    insecure: bool,
) -> None:
    """Serve the knowledge base over HTTP: KnowQL under /api/v0, KIP at /kip, the contract at /docs.

    Without keys whoever reaches the port may read and write everything, so only this machine may, unless --insecure
    says otherwise. It ends at SIGINT or SIGTERM: turns that run may finish, then they are marked failed. It needs the
    extra: pip install 'trivium[server]'.
    """
    if any(find_spec(name) is None for name in ("fastapi", "fastapi_offline", "uvicorn", "python_multipart")):
        raise MissingExtraError("server", "The HTTP server")
    from trivium.doors.http.guard import is_loopback
    from trivium.doors.http.serve import serve as run

    if not is_loopback(host) and not insecure:
        raise StoreError(
            f"{host} can be reached by other machines, and this server asks nobody for a key.",
            "Serve 127.0.0.1 behind a proxy that checks who calls, or add --insecure.",
        )
    with choices.open() as kb:
        kb.start_embedding()
        run(kb, host, port, grace=grace, hosts=hosts, access_log=not no_access_log, ready=_tell)


def _tell(url: str) -> None:
    click.echo(f"Trivium serves {url} (contract: {url}/docs). Ctrl-C ends it.", err=True)
