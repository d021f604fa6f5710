"""The join order: which atom next, from what is bound and how many rows each choice brings.

SQL engines misjudge graph shapes, so the order is decided here and pinned by the dialect (docs/adr/0002). Anchors come
first, edges are followed from bound ends, and where several anchors compete their measured degrees decide.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from trivium.kip.patterns import Atom, ConceptAtom, LinkAtom, LinkIdAtom, PathAtom
from trivium.kip.snapshot import Snapshot
from trivium.kip.tree import Value

PROBE_CAP = 256
PROBE_WORTHY_TYPE = 4_000

SUBJECT, OBJECT = "s", "o"


class Probe(Struct, frozen=True):
    """Asks how many links of an atom hang on its anchored end (at most PROBE_CAP are counted)."""

    atom: int
    side: str
    anchor: int


def probes_of(atoms: list[Atom], snapshot: Snapshot, read: Callable[[Value], object]) -> list[Probe]:
    """The degrees worth knowing before ordering: none unless at least two ways to begin compete."""
    anchors = {atom.var: index for index, atom in enumerate(atoms) if isinstance(atom, ConceptAtom) and atom.is_anchor}
    found = [
        Probe(index, side, anchors[end])
        for index, atom in enumerate(atoms)
        if isinstance(atom, LinkAtom) and not (atom.subject in anchors and atom.object in anchors)
        for side, end in ((SUBJECT, atom.subject), (OBJECT, atom.object))
        if end in anchors
    ]
    if len(found) > 1:
        return found
    scans = any(
        isinstance(atom, ConceptAtom)
        and not atom.is_anchor
        and (atom.type is None or snapshot.type_counts.get(str(read(atom.type)), 0) <= PROBE_WORTHY_TYPE)
        for atom in atoms
    )
    return found if scans else []


class Costs:
    """Row estimates for one group. `degrees` maps (atom index, side) to a measured or capped degree."""

    def __init__(
        self, snapshot: Snapshot, read: Callable[[Value], object], degrees: dict[tuple[int, str], int] | None = None
    ) -> None:
        self._snapshot = snapshot
        self._read = read
        self._degrees = degrees or {}

    def cost(self, index: int, atom: Atom, bound: set[str]) -> float:
        """Rows that the atom brings per row so far; below 1 for a mere check."""
        if isinstance(atom, ConceptAtom):
            return self._concept(atom, bound)
        if isinstance(atom, LinkIdAtom):
            return 0.1 if atom.link in bound else 0.9
        if isinstance(atom, PathAtom):
            return self._path(atom, bound)
        return self._link(index, atom, bound)

    def _concept(self, atom: ConceptAtom, bound: set[str]) -> float:
        if atom.var in bound:
            return 0.2
        if atom.is_anchor:
            return 1.0
        if atom.name is not None:
            return 2.0
        assert atom.type is not None
        return 3.0 + self._snapshot.type_counts.get(str(self._read(atom.type)), 0)

    def _path(self, atom: PathAtom, bound: set[str]) -> float:
        ends = (atom.subject in bound) + (atom.object in bound)
        total = self._snapshot.link_counts.get(str(self._read(atom.name)), 0)
        if ends == 2:
            return 5.0
        if ends == 1:
            return 30.0 + total / 100
        return (1e12 if atom.low == 0 else 1e9) + total

    def _total(self, atom: LinkAtom) -> int:
        if atom.names is None:
            return self._snapshot.links
        return sum(self._snapshot.link_counts.get(str(self._read(name)), 0) for name in atom.names)

    def _link(self, index: int, atom: LinkAtom, bound: set[str]) -> float:
        if atom.link in bound:
            return 0.3
        total = self._total(atom)
        subject, object_ = atom.subject in bound, atom.object in bound
        if subject and object_:
            return 0.5
        if not subject and not object_:
            return 20.0 + total
        measured = self._degrees.get((index, SUBJECT if subject else OBJECT))
        if measured is not None:
            return 1.0 + (total if measured >= PROBE_CAP else measured)
        average = total / max(1, self._snapshot.concepts)
        return max(1.5, min(float(total), 4 * average))


def ordered(atoms: list[Atom], bound: set[str], costs: Costs) -> list[Atom]:
    """Greedy order: always the atom that brings the fewest rows; text order among equals."""
    rest = list(enumerate(atoms))
    known = set(bound)
    result: list[Atom] = []
    while rest:
        best = min(rest, key=lambda pair: costs.cost(pair[0], pair[1], known))
        rest.remove(best)
        result.append(best[1])
        known.update(best[1].variables)
    return result
