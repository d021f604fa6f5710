"""A whole number of thousands of digits is refused at every door, in words of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from trivium.doors.cli import cli
from trivium.doors.cli_output import parse_json
from trivium.doors.http.bodies import parse_object
from trivium.errors import TriviumError
from trivium.knowql.errors import QueryError

LONG = "-" + "1" * 5_000


def told(message: str) -> bool:
    return "5001 digits" in message and "int_max" not in message


def test_in_a_body() -> None:
    assert parse_object(b'{"n": 12}') == {"n": 12}
    with pytest.raises(QueryError) as caught:
        parse_object(f'{{"n": {LONG}}}'.encode())
    assert told(str(caught.value))
    assert caught.value.status == 400


def test_in_a_file_of_parameters() -> None:
    with pytest.raises(TriviumError) as caught:
        parse_json(f"[{LONG}]", "The file")
    assert told(caught.value.message)


def test_in_a_shape(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli, ["--db", str(tmp_path / "m.db"), "ask", "How many?", "--shape", f'{{"maximum": {LONG}}}']
    )
    assert done.exit_code != 0
    assert told(done.output)
