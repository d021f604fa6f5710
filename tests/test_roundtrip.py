"""EXPORT, import and EXPORT again give the same text and the same knowledge (see `scripts.roundtrip`)."""

from __future__ import annotations

import pytest

from scripts import roundtrip


@pytest.mark.parametrize("size", [70, 5_000])
def test_the_demo_survives_a_round_trip(size: int) -> None:
    figures = roundtrip.Figures()
    with roundtrip.demo() as kb:
        roundtrip.compare(kb, roundtrip.QUERIES, figures, [size])
    assert figures.faults == []
    assert figures.elements > 400


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_a_store_with_a_past_survives_a_round_trip(seed: int) -> None:
    figures = roundtrip.run(1, first=seed, with_demo=False, sizes=[7, 5_000])
    assert figures.faults == []
    assert (figures.stores, figures.trips) == (1, 3)


def test_every_page_is_valid_alone_and_bounded() -> None:
    kb, _ = roundtrip.generated(7)
    with kb:
        pages = roundtrip.export_pages(kb, 7)
        assert len(pages) > 20
        assert all(page.count("\n  CONCEPT") + page.count("\n  PROPOSITION") <= 7 for page in pages)
        before = roundtrip.contents(kb)
        for page in reversed(pages):  # all is there already: order does not matter, and nothing moves
            roundtrip.import_pages(kb, [page])
        assert roundtrip.contents(kb) == before


def test_the_comparison_finds_a_difference() -> None:
    figures = roundtrip.Figures()
    kb, _ = roundtrip.generated(5)
    with kb, roundtrip.new_store() as other:
        pages = roundtrip.export_pages(kb, 5_000)
        roundtrip.import_pages(other, [pages[0].replace('"curious"', '"bored"')])
        roundtrip._compare_stores(kb, roundtrip.contents(kb), other, [], "changed", [], figures)
    assert len(figures.faults) == 1
    assert "$self" in figures.faults[0]
