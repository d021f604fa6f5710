"""What the engine keeps between commands is bounded, and dropped when it is of no more use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from trivium.kip import cache
from trivium.kip.cache import Cache


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[trivium.KnowledgeBase]:
    with trivium.open(tmp_path / "a.db", embedder="none") as kb:
        yield kb


def ask(kb: trivium.KnowledgeBase, command: str, **parameters: Any) -> Any:
    response = kb.execute_kip({"command": command, "parameters": parameters})
    assert "error" not in response, response
    return response


def names(count: int, width: int = 12) -> str:
    members = ", ".join(f'"{number:0{width}d}"' for number in range(count))
    return f'FIND(?x.name) WHERE {{ ?x {{type: "Domain"}} FILTER(IN(?x.name, [{members}])) }}'


def characters(kept: Cache) -> int:
    texts = [prepared.parsed.text for prepared in (*kept._texts.values(), *kept._shapes.values())]
    return sum(map(len, texts))


def test_long_texts_are_run_and_not_remembered() -> None:
    kept = Cache()
    for count in range(1_500, 1_520):
        assert len(names(count)) > cache.LONGEST
        kept.prepare(names(count))
    assert (len(kept._texts), len(kept._shapes)) == (0, 0)


def test_shapes_have_a_bound_of_their_own() -> None:
    kept = Cache()
    for count in range(1, cache.MOST_SHAPES + 50):
        kept.prepare(names(count, 1))
        assert len(kept._shapes) <= cache.MOST_SHAPES
    assert len(kept._texts) == cache.MOST_SHAPES + 49


def test_many_large_texts_stay_below_a_bound_together() -> None:
    kept = Cache()
    for number in range(300):
        kept.prepare(f'FIND(?x) WHERE {{ ?x {{type: "Domain", name: "{number:019000d}"}} }}')
        assert characters(kept) <= 2 * cache.MOST_CHARACTERS
    assert 0 < len(kept._texts) < 300


def test_a_text_seen_before_is_the_same_prepared_one_and_equal_shapes_share_their_plans() -> None:
    kept = Cache()
    first, second = (kept.prepare(f'FIND(?x) WHERE {{ ?x {{type: "Domain", name: "{name}"}} }}') for name in "ab")
    assert kept.prepare(first.parsed.text) is first
    assert second is not first
    assert second.query is first.query


def test_what_an_export_selects_is_dropped_with_its_last_page(kb: trivium.KnowledgeBase) -> None:
    command = "EXPORT ?x WHERE { ?x {type: :t} } LIMIT 2"
    response = ask(kb, command, t="Domain")
    nexus = kb.context("default")._nexus
    pages = 1
    while "next_cursor" in response:
        assert nexus._exported is not None
        response = ask(kb, f"{command} CURSOR :c", t="Domain", c=response["next_cursor"])
        pages += 1
    assert pages > 1
    assert nexus._exported is None
    ask(kb, 'EXPORT ?x WHERE { ?x {type: "Domain"} }')
    assert nexus._exported is None
