"""Six small repositories, counted by hand: how much of what they record is found, and how much of what is found is so.

`python -m pytest tests/test_why_quality.py -s` prints the table; `docs/why-quality.md` holds it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.why_repositories import check_order, recompute_regions
from trivium.why.build import build
from trivium.why.config import load_config
from trivium.why.model import DocumentRegion, Entity, Index

DATA = Path(__file__).parent / "data" / "why_repos"
PAGE = Path(__file__).parent.parent / "docs" / "why-quality.md"
REPOSITORIES = tuple(sorted(file.stem for file in DATA.glob("*.json")))
KINDS = ("decisions", "statuses", "supersessions", "concepts", "changes", "affected paths")
GOAL = 0.95

Facts = dict[str, set[tuple[Any, ...]]]


def counted(name: str) -> Facts:
    """What a person found in the repository."""
    truth = json.loads((DATA / f"{name}.json").read_text())
    decisions = [(key.partition("#")[0], *value) for key, value in truth["decisions"].items()]
    return {
        "decisions": {(path, title) for path, title, _ in decisions},
        "statuses": {(path, status) for path, _, status in decisions if status is not None},
        "supersessions": {tuple(pair) for pair in truth["supersessions"]},
        "concepts": {(term,) for term in truth["concepts"]},
        "changes": {(release, text) for release, texts in truth["changes"].items() for text in texts},
        "affected paths": {(entity, path) for entity, paths in truth["affected"].items() for path in paths},
    }


def extracted(index: Index) -> Facts:
    """What the index holds, in the same form."""
    found: Facts = {kind: set() for kind in KINDS}
    entities = index.entities or []
    places = {entity.id: _place(entity) for entity in entities}
    paths = {entry.id: entry.path for entry in index.entries}
    for entity in entities:
        if entity.kind == "decision":
            found["decisions"].add((places[entity.id], entity.name))
            if entity.status is not None:
                found["statuses"].add((places[entity.id], entity.status))
        elif entity.kind == "concept":
            found["concepts"].add((entity.name,))
        else:
            release = entity.id.removeprefix(f"knowledge-change:{places[entity.id]}:{entity.name}:")
            found["changes"].add((release, entity.name))
        for link in entity.links:
            if link.kind == "supersedes":
                found["supersessions"].add((places[entity.id], places[link.target]))
            elif link.kind in ("affected-path", "affected-fact", "defines-symbol"):
                found["affected paths"].add((entity.name, paths.get(link.target, link.target)))
    return found


def _place(entity: Entity) -> str:
    return next(item.path for item in entity.evidence if isinstance(item, DocumentRegion))


@lru_cache(maxsize=1)
def results() -> dict[str, tuple[Facts, Facts]]:
    """Counted and extracted facts of every repository."""
    found = {}
    with TemporaryDirectory() as folder:
        for name in REPOSITORIES:
            root = Path(folder, name)
            shutil.copytree(DATA / name, root)
            index = build(root, load_config(root, entities=True)).index
            assert recompute_regions(root, index)
            check_order(index)
            found[name] = (counted(name), extracted(index))
    return found


def measures(kind: str, names: tuple[str, ...]) -> tuple[int, int, int]:
    """How many facts of a kind were counted, extracted, and both."""
    pairs = [results()[name] for name in names]
    truths = [len(truth[kind]) for truth, _ in pairs]
    founds = [len(found[kind]) for _, found in pairs]
    return sum(truths), sum(founds), sum(len(truth[kind] & found[kind]) for truth, found in pairs)


def ratios(kind: str, names: tuple[str, ...]) -> tuple[float, float]:
    """Precision and recall; 1 where there is nothing to find and nothing was found."""
    truth, found, both = measures(kind, names)
    return both / found if found else 1.0, both / truth if truth else 1.0


def table() -> Iterator[str]:
    yield f"{'repository':12}{'kind':16}{'counted':>8}{'found':>7}{'right':>7}{'precision':>11}{'recall':>8}"
    for name in (*REPOSITORIES, "all"):
        names = REPOSITORIES if name == "all" else (name,)
        for kind in KINDS:
            truth, found, both = measures(kind, names)
            precision, recall = ratios(kind, names)
            if truth or found:
                yield f"{name:12}{kind:16}{truth:>8}{found:>7}{both:>7}{precision:>11.3f}{recall:>8.3f}"


def test_the_page_holds_the_table() -> None:
    lines = list(table())
    print("\n" + "\n".join(lines))  # noqa: T201
    assert len(REPOSITORIES) == 6
    page = PAGE.read_text()
    assert [line for line in lines if line not in page] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*REPOSITORIES, "all"])
def test_what_is_recorded_is_found(name: str, kind: str) -> None:
    names = REPOSITORIES if name == "all" else (name,)
    precision, recall = ratios(kind, names)
    missed = [sorted(results()[one][0][kind] - results()[one][1][kind], key=str) for one in names]
    wrong = [sorted(results()[one][1][kind] - results()[one][0][kind], key=str) for one in names]
    assert precision >= GOAL, (wrong, missed)
    assert recall >= GOAL, (missed, wrong)
