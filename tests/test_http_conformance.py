"""The KnowQL conformance cases over HTTP, against a real server on a real port."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http_server import HttpDoor, LocalServer, running
from tests.knowql_runner import Case, load_cases, run_case

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with running() as server:
        yield server


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_knowql_case_over_http(case: Case, server: LocalServer) -> None:
    run_case(case, lambda: HttpDoor(server))
