"""What is particular to HTTP, as data: see tests/conformance/http/README.md."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http_runner import Case, load_cases, run_case
from tests.http_server import LocalServer, running, scripted
from tests.knowql_doors import prepare
from tests.knowql_runner import load_setup


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with running() as server:
        yield server


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_http_case(case: Case, server: LocalServer) -> None:
    with scripted() as kb:
        for name in case.setup:
            prepare(kb, load_setup(name))
        server.hold(kb)
        run_case(case, server.port)
