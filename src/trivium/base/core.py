"""What a knowledge base and all its contexts share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from trivium.base.clock import Clock
from trivium.base.once import once
from trivium.ids import Ids
from trivium.settings import Settings
from trivium.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from trivium.ingest.tasks import Tasks
    from trivium.models.catalogue import Catalogue
    from trivium.search.embedder import Embedder
    from trivium.search.meaning import Meaning
    from trivium.store.workers import Worker

Progress = Callable[[int, int], None]
"""Called with what is done and the total (0 while it is not known)."""


class Core:
    """The store with its settings, clock and ids, and what works beside it; that is made when it is first needed."""

    workspace = "default"

    def __init__(
        self, store: SqliteStore, settings: Settings, clock: Clock, ids: Ids, embedder: Embedder | None
    ) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self.ids = ids
        self.embeds_by_itself = True
        self._embedder = embedder
        self._mutex = threading.RLock()

    @once
    def worker(self) -> Worker:
        """This knowledge base as one that runs tasks and turns."""
        from trivium.store.workers import Worker

        return Worker(self.store, self.ids.ulid)

    @once
    def tasks(self) -> Tasks:
        from trivium.ingest.tasks import Tasks

        return Tasks(self.store, self.workspace, self.clock, self.ids.ulid, self.worker)

    @once
    def meaning(self) -> Meaning:
        """The embedder and its vectors. Nothing is loaded before it is needed."""
        from trivium.search.meaning import Meaning

        return Meaning(self.store, self.settings, self._embedder, by_itself=self.embeds_by_itself)

    @once
    def catalogue(self) -> Catalogue:
        """The language models that the settings name."""
        from trivium.models.catalogue import Catalogue

        return Catalogue.from_settings(self.settings, lambda: self.meaning.answering())

    def close(self) -> None:
        """Before the store closes: background tasks end, others learn that nothing runs here, no vectors are made."""
        made = vars(self)
        if "tasks" in made:
            self.tasks.close()
        if "worker" in made:
            self.worker.stop()
        if "meaning" in made:
            self.meaning.close()
