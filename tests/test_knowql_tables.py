"""Long tables, whose rows are in other passages than their header: what is the X of row Y."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape

import pytest

import trivium

HEADER = ("Station", "Code", "Depth in metres", "Wood", "Opened", "Keeper")
NAMES = [
    first + middle + last
    for middle in ("", "en", "ing", "ow", "ur")
    for first in re.findall("[A-Z][a-z]+", "BarCalDorFenGulHolJasKelLorMarNorPelQuinRosSolTamUlmVerWexYor")
    for last in ("ton", "mere", "wick", "stead", "by", "holm", "field", "ford", "dale", "combe")
]
Row = Sequence[str]


def stations(number: int) -> list[Row]:
    """Made-up stations."""
    chance = random.Random(7)
    return [
        (
            NAMES[place],
            f"BX-{1000 + place}",
            str(chance.randint(100, 9_999)),
            chance.choice(["oak", "ash", "elm", "pine"]),
            f"{chance.randint(10, 28)}.{chance.randint(10, 12)}.2023",
            chance.choice(["Ann Berg", "Lee Moss", "Kim Dahl"]),
        )
        for place in range(number)
    ]


def _lines(rows: Sequence[Row], sign: str) -> str:
    return "".join(sign.join(row) + "\n" for row in (HEADER, *rows))


def _markdown(rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(row)} |\n" for row in (HEADER, *rows)]
    return f"# Stations\n\nAll of the line.\n\n{lines[0]}|{'---|' * len(HEADER)}\n{''.join(lines[1:])}"


def _html(rows: Sequence[Row]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<h1>Stations</h1><table><tr>{''.join(f'<th>{name}</th>' for name in HEADER)}</tr>{body}</table>"


FILES: dict[str, tuple[str, Callable[[Sequence[Row]], str], int]] = {
    "md": ("stations.md", _markdown, 200),
    "long-md": ("stations.md", _markdown, 1_000),
    "csv": ("stations.csv", lambda rows: _lines(rows, ","), 200),
    "long-csv": ("stations.csv", lambda rows: _lines(rows, ","), 1_000),
    "semicolons": ("stations.csv", lambda rows: _lines(rows, ";"), 200),
    "tsv": ("stations.tsv", lambda rows: _lines(rows, "\t"), 200),
    "html": ("stations.html", _html, 200),
}
ASKED = {
    "What is the depth of {0}?": 2,
    "What is the code of {0}?": 1,
    "When was {0} opened?": 4,
    "Who is the keeper of {0}?": 5,
    "Which station has the code {1}?": 0,
}


@pytest.fixture(scope="module", params=FILES)
def table(request: pytest.FixtureRequest) -> Iterator[tuple[trivium.Context, str, list[Row]]]:
    name, write, number = FILES[request.param]
    rows = stations(number)
    with trivium.open(":memory:", embedder="none") as kb:
        context = kb.create_context("tables")
        context.add_bytes(name, write(rows).encode())
        assert context.curate()["chunks"] > 5
        yield context, write(rows), rows


@pytest.mark.parametrize("ask", ASKED)
def test_what_a_row_says_is_told_under_the_name_of_its_column(
    table: tuple[trivium.Context, str, list[Row]], ask: str
) -> None:
    context, written, rows = table
    column = ASKED[ask]
    for row in (rows[3], rows[len(rows) // 2], rows[-1]):
        document = context.ask(ask.format(*row), model="builtin/extractive")
        first, _, rest = document["output"][0]["content"][0]["text"].partition(" [1]")
        assert f"{HEADER[column]}: {row[column]}" in first.split("; ")
        assert not rest
        (citation,) = document["citations"]
        assert citation["grounding"].startswith(row[0])
        assert all(cell in citation["grounding"] for cell in row)
        assert HEADER[1] not in citation["grounding"]
        if not context.sources()[0]["path"].endswith(".html"):
            assert citation["grounding"] in written
