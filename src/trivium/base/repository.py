"""The repository whose index a context holds: built, asked and checked (Knowledge query v1)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from trivium.base.core import Core, Progress
from trivium.errors import ConflictError, StoreError

if TYPE_CHECKING:
    from trivium.why.config import Config
    from trivium.why.stored import Indexed, Loaded

C = TypeVar("C")


class Repository:
    """The index of one context. Each method is described at `Context`."""

    def __init__(self, core: Core, ctx: int) -> None:
        self._core = core
        self._ctx = ctx
        self._loaded: Loaded | None = None

    def why(self, target: str, kind: str | None, limit: int, budget_tokens: int | None) -> dict[str, Any]:
        from trivium.why.query import knowledge_why

        loaded = self.index()
        return knowledge_why(
            loaded.prepared, target, kind=kind, limit=limit, budget_tokens=budget_tokens, root=loaded.root
        )

    def index(self) -> Loaded:
        from trivium.store.repository import current_hash
        from trivium.why.stored import load_index

        known = self._loaded
        if known is not None:
            with self._core.store.read() as session:
                if known.index_hash == current_hash(session, self._ctx):
                    return known
        loaded = self._loaded = load_index(self._core.store, self._ctx)
        return loaded

    def opened_index(self) -> AbstractContextManager[Loaded]:
        from trivium.why.stored import opened_index

        return opened_index(self._core.store, self._ctx)

    def root(self) -> Path | None:
        from trivium.store.repository import root_of
        from trivium.why.names import path_of

        with self._core.store.read() as session:
            root = root_of(session, self._ctx)
        return None if root is None else path_of(root)

    def build(self, root: str | Path, config: Config | None, cache: bool, progress: Progress | None) -> Indexed:
        from trivium.why.stored import build_into

        core = self._core
        folder = Path(root).resolve()
        if not folder.is_dir():
            raise StoreError(f"{root} is no folder.", "Name the root folder of a repository.")
        chosen = self.settings(folder, config)
        return build_into(core.store, self._ctx, folder, chosen, core.clock, cache=cache, progress=progress)

    def settings(self, root: str | Path, config: Config | None) -> Config:
        from trivium.why.stored import settings_for

        return settings_for(self._core.store, Path(root).resolve(), config)

    def check(self, config: Config | None, cache: bool) -> None:
        from trivium.why.stored import check_fresh

        check_fresh(self._core.store, self._ctx, lambda root: self.settings(root, config), cache=cache)


def context_of(core: Core, folder: Path) -> str | None:
    """The slug of the context that holds the index of a repository's root folder."""
    from trivium.store.repository import context_of
    from trivium.why.names import text_of

    with core.store.read() as session:
        return context_of(session, core.workspace, text_of(folder))


def reserved(core: Core, folder: Path, create: Callable[..., C], context: Callable[[str], C]) -> C:
    """The context that is to take the first index of a folder, made if need be, also when others make it right now."""
    from trivium.store import contexts
    from trivium.store.repository import RESERVED
    from trivium.why.names import text_of

    root = text_of(folder)
    while True:
        with core.store.read() as session:
            rows = contexts.all_rows(session, core.workspace)
        mine = next((row.slug for row in rows if row.fields.get(RESERVED) == root), None)
        slug = mine or context_of(core, folder)
        if slug is not None:
            return context(slug)
        with suppress(ConflictError):
            return create(_free_slug(folder, {row.slug for row in rows}), **{RESERVED: root})


def _free_slug(folder: Path, taken: set[str]) -> str:
    """A slug after the name of a folder, with a number behind it when that is taken."""
    from trivium.ingest.describing import slug_like

    base = slug_like(folder.name, "repository")[:50].rstrip("-_")
    names = [base, *(f"{base}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)
