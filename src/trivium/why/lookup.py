"""The look-up tables of an index in pages, so that one question reads only the pages that it touches.

A build cuts the tables of a `PreparedIndex` into pages of some dozen keys (`pages_of`) and keeps them beside the index,
in the same transaction (`trivium.store.repository`, which sees that they are whole). `LookupIndex` is the same
`PreparedIndex` over such pages: what was not made ready is worked out from the whole index, which is read then. A page
holds all keys of its table from its first one to the next page's, so that a key that is in no page is in no table.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar, overload

import msgspec

from trivium.store.repository import Page
from trivium.why.model import Closed, Entity, Entry, Index, MemoryRelation
from trivium.why.prepared import Cited, Head, PreparedIndex, Span, View

FORMAT = "4"
"""Raise it when pages are cut or filled differently; an index with pages of another format is read as a whole."""
KEYS, RECORDS = 64, 6
"""How many keys, or larger records, there are to a page."""

Read = Callable[[str, int], bytes | memoryview | None]
"""The content of a page by part and number, if there is one."""
V = TypeVar("V")


class _Contents(Closed):
    """What every question needs, and for each table the first key of each of its pages."""

    head: Head
    entities: int
    firsts: dict[str, list[str]]


# --- making pages ---------------------------------------------------------------------------------


def pages_of(prepared: PreparedIndex) -> Iterator[Page]:
    """All pages of an index, the first one last."""
    view = View(prepared, prepared.index.entities or [])  # not `prepared.local`: nothing is to lead back to it
    contents = _Contents(prepared.head, len(view.entities), {})
    for name, table, size in _tables(prepared, view):
        items = iter(sorted(table.items()))
        firsts = contents.firsts[name] = []
        while page := dict(islice(items, size)):
            yield _page(name, len(firsts), page)
            firsts.append(next(iter(page)))
    for number, start in enumerate(range(0, len(view.entities), RECORDS)):
        yield _page("entity", number, view.entities[start : start + RECORDS])
    yield _page("rank", 0, view.rank)
    yield _page("id", 0, view.ids)
    yield _page("kind", 0, view.kinds)
    yield _page("full", 0, sorted(view.full))
    yield _page("path", 0, prepared.paths)
    yield _page("name", 0, sorted(view.names()))
    yield _page("contents", 0, contents)


def _tables(prepared: PreparedIndex, view: View) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Every table with its name and the size of its pages; entries are kept once and named by their ids elsewhere."""
    yield "entry", prepared.by_id, RECORDS
    for name, entries in (
        ("at", prepared.by_path),
        ("exporting", prepared.by_symbol),
        ("inner", prepared.by_inner),
        ("module", prepared.by_module),
    ):
        yield name, {key: [entry.id for entry in found] for key, found in entries.items()}, KEYS
    yield "citing", prepared.citing, KEYS
    yield "cited", prepared.cited, RECORDS
    yield "named", view.by_name, KEYS
    yield "region", view.by_region, KEYS
    yield "link", view.by_link, KEYS
    yield "symbol", view.by_symbol, KEYS
    yield "ambiguous", view.cited_names, KEYS
    yield "unlinked", view.unlinked, RECORDS
    yield "relation", view.relations, RECORDS


def _page(name: str, number: int, value: object) -> Page:
    return f"{FORMAT}/{name}", number, _encode(value)


_encode = msgspec.msgpack.Encoder().encode


# --- reading pages --------------------------------------------------------------------------------


class MissingPageError(Exception):
    """There is no such page."""


class _Pages:
    """The pages of one index."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def content(self, name: str, number: int, decoder: msgspec.msgpack.Decoder[Any]) -> Any:
        """What a page holds. Raises: MissingPageError."""
        content = self._read(f"{FORMAT}/{name}", number)
        if content is None:
            raise MissingPageError(f"page {number} of {name}")
        return decoder.decode(content)

    def whole(self, name: str, kind: Any) -> Any:
        """What is kept in one page."""
        return self.content(name, 0, msgspec.msgpack.Decoder(kind))


class _Table(Mapping[str, V], Generic[V]):
    """A table over its pages."""

    def __init__(self, pages: _Pages, name: str, firsts: Sequence[str], kind: Any) -> None:
        self._pages = pages
        self._name = name
        self._firsts = firsts
        self._decoder = msgspec.msgpack.Decoder(dict[str, kind])
        self._known: list[dict[str, V] | None] = [None] * len(firsts)

    def _page(self, number: int) -> dict[str, V]:
        """The page of this number; before the first one lies nothing."""
        if number < 0:
            return {}
        found = self._known[number]
        if found is None:
            found = self._known[number] = self._pages.content(self._name, number, self._decoder)
        return found

    def __getitem__(self, key: str) -> V:
        return self._page(bisect_right(self._firsts, key) - 1)[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._page(bisect_right(self._firsts, key) - 1)

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self._firsts)):
            yield from self._page(number)

    def __len__(self) -> int:
        return sum(len(self._page(number)) for number in range(len(self._firsts)))

    def keys(self) -> KeysView[str]:
        return _Keys(self)

    def starting(self, start: str) -> Iterator[str]:
        """The keys with this start, ascending."""
        for number in range(max(bisect_right(self._firsts, start) - 1, 0), len(self._firsts)):
            for key in self._page(number):
                if key.startswith(start):
                    yield key
                elif key > start:
                    return

    def among(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that the table has."""
        asked = sorted(keys)
        found: set[str] = set()
        start = 0
        while start < len(asked):
            number = bisect_right(self._firsts, asked[start]) - 1
            last = number + 1 == len(self._firsts)
            end = len(asked) if last else bisect_left(asked, self._firsts[number + 1], start)
            found.update(self._page(number).keys() & set(asked[start:end]))
            start = end
        return found


class _Keys(KeysView[str]):
    """The keys of a table."""

    _mapping: _Table[Any]

    def __and__(self, other: Iterable[Any]) -> set[str]:
        return self._mapping.among(other)


class _Entries(Mapping[str, Sequence[Entry]]):
    """A table of entries over one of their ids."""

    def __init__(self, ids: Mapping[str, list[str]], entries: Mapping[str, Entry]) -> None:
        self.ids = ids
        self._entries = entries

    def __getitem__(self, key: str) -> Sequence[Entry]:
        return [self._entries[entry_id] for entry_id in self.ids[key]]

    def __contains__(self, key: object) -> bool:
        return key in self.ids

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


class _Entities(Sequence[Entity]):
    """The entities over their pages."""

    def __init__(self, pages: _Pages, count: int) -> None:
        self._pages = pages
        self._count = count
        self._decoder = msgspec.msgpack.Decoder(list[Entity])
        self._known: dict[int, list[Entity]] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Entity: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entity]: ...
    def __getitem__(self, place: int | slice) -> Entity | list[Entity]:
        if isinstance(place, slice):
            return [self[number] for number in range(self._count)[place]]
        number, place = divmod(range(self._count)[place], RECORDS)
        page = self._known.get(number)
        if page is None:
            page = self._known[number] = self._pages.content("entity", number, self._decoder)
        return page[place]


class LookupIndex(PreparedIndex):
    """A prepared index over stored pages; usable for as long as they can be read.

    `load` gives the whole index, for what no page holds. What it and `read` raise may come out of any look-up. Making
    one raises MissingPageError when there are no pages of this format.
    """

    def __init__(self, read: Read, load: Callable[[], Index]) -> None:
        self._pages = _Pages(read)
        self._load = load
        self._contents: _Contents = self._pages.whole("contents", _Contents)
        self.head = self._contents.head

    def table(self, name: str, kind: Any) -> Mapping[str, Any]:
        """One of the stored tables."""
        return _Table(self._pages, name, self._contents.firsts[name], kind)

    @cached_property
    def index(self) -> Index:  # type: ignore[override]
        """The whole index, read when something asks for it."""
        return self._load()

    @cached_property
    def by_id(self) -> Mapping[str, Entry]:
        return self.table("entry", Entry)

    @cached_property
    def by_path(self) -> _Entries:
        return self._entries("at")

    @cached_property
    def by_symbol(self) -> _Entries:
        return self._entries("exporting")

    @cached_property
    def by_inner(self) -> _Entries:
        return self._entries("inner")

    @cached_property
    def by_module(self) -> _Entries:
        return self._entries("module")

    def _entries(self, name: str) -> _Entries:
        return _Entries(self.table(name, list[str]), self.by_id)

    def ids_at(self, path: str) -> Iterable[str]:
        return self.by_path.ids.get(path, ())

    @cached_property
    def paths(self) -> Sequence[str]:
        found: list[str] = self._pages.whole("path", list[str])
        return found

    @cached_property
    def citing(self) -> Mapping[str, Sequence[str]]:
        return self.table("citing", list[str])

    @cached_property
    def cited(self) -> Mapping[str, Mapping[str, Cited]]:
        return self.table("cited", dict[str, Cited])

    @cached_property
    def local(self) -> View:
        return _LookupView(self, self._pages, self._contents)


class _LookupView(View):
    """All entities, over stored pages."""

    def __init__(self, prepared: LookupIndex, pages: _Pages, contents: _Contents) -> None:
        self.prepared = self._stored = prepared
        self._pages = pages
        self.entities = _Entities(pages, contents.entities)
        self.by_name = prepared.table("named", list[int])
        self.by_region = prepared.table("region", list[tuple[int, Span]])
        self.by_link = self._links = _Table[list[int]](pages, "link", contents.firsts["link"], list[int])
        self.by_symbol = prepared.table("symbol", list[int])
        self.cited_names = prepared.table("ambiguous", list[int])

    @cached_property
    def ids(self) -> Sequence[str]:
        found: list[str] = self._pages.whole("id", list[str])
        return found

    @cached_property
    def kinds(self) -> Sequence[str]:
        found: list[str] = self._pages.whole("kind", list[str])
        return found

    @cached_property
    def full(self) -> Collection[int]:
        return set(self._pages.whole("full", list[int]))

    def linked(self, start: str) -> Iterable[str]:
        return self._links.starting(start)

    def entity(self, entity_id: str) -> Entity | None:
        named = (self.entities[place] for place in self.by_name.get(entity_id, ()))
        return next((entity for entity in named if entity.id == entity_id), None)

    @cached_property
    def unlinked(self) -> Mapping[str, Sequence[str]]:
        return self._stored.table("unlinked", list[str])

    @cached_property
    def rank(self) -> Sequence[int]:
        found: list[int] = self._pages.whole("rank", list[int])
        return found

    @cached_property
    def relations(self) -> Mapping[str, Sequence[MemoryRelation]]:
        return self._stored.table("relation", list[MemoryRelation])

    def names(self) -> Collection[str]:
        found: list[str] = self._pages.whole("name", list[str])
        return found
