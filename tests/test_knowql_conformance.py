"""The KnowQL conformance cases over the library."""

from __future__ import annotations

import pytest

from tests.knowql_doors import LibraryDoor
from tests.knowql_runner import Case, load_cases, run_case


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_knowql_case(case: Case) -> None:
    run_case(case, LibraryDoor)
