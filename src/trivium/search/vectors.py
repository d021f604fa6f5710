"""Stored vectors in memory for exact search: a matrix for each context, kind and model, kept in step with the store."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trivium.store import contexts
from trivium.store import vectors as stored
from trivium.store.sqlite import Session

if TYPE_CHECKING:
    import numpy as np

_BLOCK = 4_096
_NOWHERE = -2.0
"""Below every cosine."""


class Near(Struct, frozen=True):
    """An item near a question: its id in the store, the cosine, and the digest of the text behind its vector."""

    id: int
    cosine: float
    digest: str


class Matrix:
    """The vectors of one kind in one context by one model.

    `positions` leads from an item's id in the store to its row. Chunks and artifacts have other ids in every live
    version; their keys stay, and the ids are looked up again when the version changes.
    """

    def __init__(self, of: stored.Set, dimensions: int) -> None:
        self.of = of
        self._dimensions = dimensions
        self._mutex = threading.Lock()
        self._state = (0, 0)
        self._version = -1
        self._number = 0
        self._rows: np.ndarray = _empty((0, dimensions))
        self._stored_ids: np.ndarray = _empty(0, "int64")
        self._items: list[str] = []
        self._digests: list[str] = []
        self._ids: np.ndarray = _empty(0, "int64")
        self._positions: dict[int, int] = {}

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return int(self._rows.nbytes)

    def look(self, session: Session) -> View:
        """The vectors as this session sees them, or a little newer; ids that are gone are for the reader to drop."""
        with self._mutex:
            state = stored.state(session, self.of)
            if state[0] > self._state[0] or state[1] > self._state[1] or state == (0, 0) != self._state:
                self._catch_up(session, state)
            if self.of.kind != stored.CONCEPT:
                version = contexts.live_version(session, self.of.ctx)
                if version != self._version:
                    self._version = version
                    self._place(dict(stored.live_places(session, self.of.ctx, self.of.kind)))
            number = self._number
            return View(self._rows[:number], self._ids[:number], self._digests, self._positions)

    def _catch_up(self, session: Session, state: tuple[int, int]) -> None:
        if state[1] != self._state[1] or state[0] < self._state[0]:
            self._drop_removed(session)
        last = int(self._stored_ids[self._number - 1]) if self._number else 0
        self._append(list(stored.rows_after(session, self.of, last)))
        self._state = state

    def _drop_removed(self, session: Session) -> None:
        import numpy

        number = self._number
        kept = numpy.isin(self._stored_ids[:number], numpy.array(stored.ids(session, self.of), dtype="int64"))
        if kept.all():
            return
        places = numpy.flatnonzero(kept).tolist()
        self._rows = self._rows[:number][kept]
        self._stored_ids = self._stored_ids[:number][kept]
        self._ids = self._ids[:number][kept]
        self._items = [self._items[place] for place in places]
        self._digests = [self._digests[place] for place in places]
        self._number = len(places)
        self._positions = {int(id_): place for place, id_ in enumerate(self._ids.tolist()) if id_}

    def _append(self, rows: list[tuple[int, str, str, bytes]]) -> None:
        import numpy

        width = 2 * self._dimensions
        rows = [row for row in rows if len(row[3]) == width]
        if not rows:
            return
        first, number = self._number, self._number + len(rows)
        if number > len(self._rows):
            room = number if not first else max(number, first + first // 4)
            self._rows = _grown(self._rows, room, first)
            self._stored_ids = _grown(self._stored_ids, room, first)
            self._ids = _grown(self._ids, room, first)
        data = numpy.frombuffer(b"".join(row[3] for row in rows), dtype="<f2")
        self._rows[first:number] = data.reshape(len(rows), self._dimensions)
        self._stored_ids[first:number] = [row[0] for row in rows]
        self._items += [row[1] for row in rows]
        self._digests += [row[2] for row in rows]
        self._number = number
        if self.of.kind == stored.CONCEPT:
            self._ids[first:number] = [int(row[1]) for row in rows]
            self._positions.update((int(row[1]), place) for place, row in enumerate(rows, first))
        else:
            self._version = -1

    def _place(self, ids: dict[str, int]) -> None:
        """Find the ids of the present live version."""
        found = [ids.get(item, 0) for item in self._items]
        fresh = _empty(len(self._ids), "int64")
        fresh[: len(found)] = found
        self._ids = fresh
        self._positions = {id_: place for place, id_ in enumerate(found) if id_}


class Asking(threading.Thread):
    """A comparison that runs while something else is done; `view` waits for it."""

    def __init__(self, view: View, questions: np.ndarray) -> None:
        super().__init__(name="trivium-vectors", daemon=True)
        self._view = view
        self._questions = questions
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._view.ask(self._questions)
        except BaseException as error:
            self._error = error

    def view(self) -> View:
        self.join()
        if self._error is not None:
            raise self._error
        return self._view


class View:
    """One moment's vectors."""

    def __init__(self, rows: np.ndarray, ids: np.ndarray, digests: Sequence[str], positions: dict[int, int]) -> None:
        self._rows = rows
        self._ids = ids
        self._digests = digests
        self._positions = positions
        self._cosines: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def ask(self, questions: np.ndarray) -> None:
        """Compare every vector with the questions (one row each); the best counts."""
        if len(self._rows):
            with one_thread():
                compared = self._rows @ (questions[0] if len(questions) == 1 else questions.T)
            self._cosines = compared if compared.ndim == 1 else compared.max(axis=1)
            self._cosines[self._ids == 0] = _NOWHERE

    def nearest(self, number: int, among: Sequence[int] | None = None) -> list[Near]:
        """The items with the highest cosines, best first, equal ones by id; `among` bounds them to these ids."""
        import numpy

        cosines = self._cosines
        if cosines is None:
            return []
        if among is not None:
            cosines = numpy.where(numpy.isin(self._ids, numpy.array(among, dtype="int64")), cosines, _NOWHERE)
        count = len(cosines)
        places = numpy.argpartition(-cosines, number)[:number] if number < count else numpy.arange(count)
        found = [self._near(place) for place in places.tolist() if cosines[place] > _NOWHERE]
        found.sort(key=lambda near: (-near.cosine, near.id))
        return found[:number]

    def of(self, id_: int) -> Near | None:
        """How near one item is; None if it has no vector."""
        place = self._positions.get(id_)
        if place is None or self._cosines is None or place >= len(self._cosines):
            return None
        return self._near(place)

    def vector(self, id_: int) -> np.ndarray | None:
        """The vector of a concept."""
        place = self._positions.get(id_)
        return None if place is None or place >= len(self._rows) else self._rows[place]

    def _near(self, place: int) -> Near:
        assert self._cosines is not None
        return Near(int(self._ids[place]), round(float(self._cosines[place]), 5), self._digests[place])


class Streamed(View):
    """Vectors that would not fit into memory: read from the store at each question, block by block."""

    def __init__(self, session: Session, of: stored.Set, dimensions: int) -> None:
        super().__init__(_empty((0, dimensions)), _empty(0, "int64"), [], {})
        self._session = session
        self._of = of
        self._width = 2 * dimensions

    def ask(self, questions: np.ndarray) -> None:
        import numpy

        places = dict(stored.live_places(self._session, self._of.ctx, self._of.kind)) if self._pieces else None
        cosines: list[np.ndarray] = []
        ids: list[int] = []
        digests: list[str] = []
        rows = iter(stored.rows_after(self._session, self._of, 0))
        while block := [row for row in islice(rows, _BLOCK) if len(row[3]) == self._width]:
            data = numpy.frombuffer(b"".join(row[3] for row in block), dtype="<f2").astype("float32")
            with one_thread():
                cosines.append((data.reshape(len(block), -1) @ questions.T).max(axis=1))
            ids += [int(row[1]) if places is None else places.get(row[1], 0) for row in block]
            digests += [row[2] for row in block]
        self._ids = numpy.array(ids, dtype="int64")
        self._digests = digests
        self._positions = {id_: place for place, id_ in enumerate(ids) if id_}
        self._cosines = numpy.concatenate(cosines) if cosines else _empty(0)
        self._cosines[self._ids == 0] = _NOWHERE

    def vector(self, id_: int) -> np.ndarray | None:
        import numpy

        data = stored.data_of(self._session, self._of, str(id_))
        return None if data is None else numpy.frombuffer(data, dtype="<f2").astype("float32")

    @property
    def _pieces(self) -> bool:
        return self._of.kind != stored.CONCEPT


class Matrices:
    """The matrices in use, the least recently used given up when they outgrow `megabytes` together."""

    def __init__(self, megabytes: int) -> None:
        self._limit = megabytes << 20
        self._mutex = threading.Lock()
        self._held: OrderedDict[stored.Set, Matrix] = OrderedDict()

    def look(self, session: Session, of: stored.Set, dimensions: int) -> View:
        """The vectors of a set as the session sees them; use it while the session's transaction lasts."""
        size = 4 * dimensions
        last = stored.state(session, of)[0]  # there are at most as many vectors as ids were given
        if size * last > self._limit and size * stored.count(session, of) > self._limit:
            return Streamed(session, of, dimensions)
        with self._mutex:
            matrix = self._held.get(of)
            if matrix is None:
                matrix = self._held[of] = Matrix(of, dimensions)
            self._held.move_to_end(of)
        view = matrix.look(session)
        with self._mutex:
            total = sum(other.size for other in self._held.values())
            for other in list(self._held):
                if total <= self._limit or other == of:
                    break
                total -= self._held.pop(other).size
        return view


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS computes with one thread meanwhile: on busy cores its own choice is many times slower."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _controller() -> Any:
    return import_module("threadpoolctl").ThreadpoolController()


def packed(vector: np.ndarray) -> bytes:
    """A vector as it is stored."""
    return vector.astype("<f2").tobytes()


def _empty(shape: Any, kind: str = "float32") -> np.ndarray:
    import numpy

    return numpy.zeros(shape, dtype=kind)


def _grown(old: np.ndarray, room: int, used: int) -> np.ndarray:
    fresh = _empty((room, *old.shape[1:]), str(old.dtype))
    fresh[:used] = old[:used]
    return fresh
