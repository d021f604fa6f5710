"""Every conformance case, through the Python API."""

from __future__ import annotations

import pytest

from tests.conformance.doors import PythonNexus
from tests.conformance.runner import Case, load_cases, run_case


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_case(case: Case) -> None:
    run_case(case, PythonNexus)
