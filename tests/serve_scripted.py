"""`python -m tests.serve_scripted DB`: the real server as a process of its own, with scripted models."""

from __future__ import annotations

import sys

import click

import trivium
from tests.cli_support import heed_interrupts
from tests.knowql_models import ScriptedModels
from trivium.doors.http.serve import serve


def main(path: str, workers: int, grace: float) -> None:
    heed_interrupts()
    with trivium.open(path, workers=workers, embedder="none") as kb:
        kb.models = ScriptedModels()
        serve(kb, "127.0.0.1", 0, grace=grace, access_log=False, ready=lambda url: click.echo(url, err=True))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
