"""Search by meaning for an open store: which embedder, its vectors, its backlog, and what ails it."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trivium.errors import EmbeddingError, MissingExtraError, TriviumError
from trivium.search import embed_builtin
from trivium.search.calibration import score_of
from trivium.search.embed_parted import vectors_of
from trivium.search.embed_same import is_same_model
from trivium.search.embed_worker import Background, Batches, Elsewhere, Report
from trivium.search.embedder import CheckedEmbedder, Embedder, EmbedderInfo, Refusal
from trivium.search.hybrid import MODES
from trivium.search.vectors import Asking, Matrices, View
from trivium.settings import Settings
from trivium.store import vectors as stored
from trivium.store.sqlite import Session, SqliteStore

if TYPE_CHECKING:
    import numpy as np

NO_MEANING: dict[str, Any] = {
    "modes": ["keyword"],
    "default_mode": "keyword",
    "embedder": None,
    "embedded": {},
    "backlog": {},
    "fault": None,
}
"""What `Meaning.status` says where there is no embedder."""
MANY = 5_000
"""Vectors from which comparing them is worth a thread."""
SILENCE = 30.0
"""Seconds for which no question is sent to an embedder that has just failed."""
_REMEMBERED = 500


class Asked(Struct):
    """Questions as vectors, ready for sessions; made before a transaction begins, since a model may take its time."""

    info: EmbedderInfo
    vectors: Any
    matrices: Matrices

    def view(self, session: Session, ctx: int, kind: str) -> View:
        """The vectors of a kind in a context, compared with the questions."""
        view = self._look(session, ctx, kind)
        view.ask(self.vectors)
        return view

    def asking(self, session: Session, ctx: int, kind: str) -> Callable[[], View]:
        """As `view`, but many vectors are compared on another thread, until the result is called for."""
        view = self._look(session, ctx, kind)
        if len(view) < MANY:
            view.ask(self.vectors)
            return lambda: view
        return Asking(view, self.vectors).view

    def _look(self, session: Session, ctx: int, kind: str) -> View:
        return self.matrices.look(session, stored.Set(ctx, kind, self.info.model), self.info.dimensions)

    def score(self, cosine: float) -> float:
        """A cosine as a score: 0 at the model's floor, 1 at its ceiling."""
        return score_of(cosine, self.info)


class _Answering:
    """An embedder whose faults are told."""

    def __init__(self, inner: Embedder, told: Callable[[Exception], None]) -> None:
        self._inner = inner
        self._told = told

    def info(self) -> EmbedderInfo:
        with self._telling():
            return self._inner.info()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        with self._telling():
            return self._inner.embed(texts)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except Refusal:
            raise
        except EmbeddingError as error:
            self._told(error)
            raise


class Meaning:
    """The embedder that the settings name, and everything that is done with it. Made with the store, idle until asked.

    Nothing here fails a search or a write: while the embedder is missing or at fault, `ask` gives None, and `status`
    says why.
    """

    def __init__(
        self, store: SqliteStore, settings: Settings, embedder: Embedder | None = None, *, by_itself: bool = True
    ) -> None:
        self._store = store
        self._settings = settings
        self._given = None if embedder is None else CheckedEmbedder(embedder)
        self._embedder: CheckedEmbedder | None = self._given
        self._patient: CheckedEmbedder | None = self._given
        self._same = False
        self._name: str | None = None
        self._matrices = Matrices(settings.vector_memory)
        self._mutex = threading.Lock()
        self._questions: OrderedDict[tuple[str, str], np.ndarray] = OrderedDict()
        self._thread: Background | None = None
        self._by_itself = by_itself
        self._closed = False
        self._fault: TriviumError | None = None
        self._silent_until = 0.0
        self._backlogs: dict[int, tuple[int, dict[str, int]]] = {}

    # --- the embedder -----------------------------------------------------------------------------

    @property
    def model(self) -> str | None:
        """The name under which vectors are stored; None when there is no embedder. Nothing is loaded for it."""
        settings = self._settings
        if self._given is not None:
            return self._given_model(self._given)
        if settings.embedder in ("", "builtin"):
            return embed_builtin.MODEL if embed_builtin.is_installed() else None
        return None if settings.embedder == "none" else f"endpoint/{settings.embedding_model or 'default'}"

    def _given_model(self, given: Embedder) -> str | None:
        """The name of an embedder that was handed in; while it fails to tell, the last one it told, if any."""
        try:
            self._name = given.info().model
        except Exception as error:
            self._told(error)
        return self._name

    def embedder(self) -> CheckedEmbedder:
        """Raises: MissingExtraError, EmbeddingError when the settings ask for none."""
        with self._mutex:
            if self._embedder is None:
                self._make()
            assert self._embedder is not None
            return self._embedder

    @property
    def _may_change(self) -> bool:
        """Whether the embedder's name may come to stand for another model. The built-in one is known by its files."""
        return self._given is not None or self._settings.embedder not in ("", "builtin")

    def _make(self) -> None:
        """The embedder that is asked, and the one that works off the backlog."""
        settings = self._settings
        if settings.embedder in ("", "builtin"):
            if not embed_builtin.is_installed():
                raise MissingExtraError("semantic", "Search by meaning")
            self._embedder = self._patient = CheckedEmbedder(embed_builtin.builtin())
            return
        if settings.embedder == "none":
            raise EmbeddingError("There is no embedder: TRIVIUM_EMBEDDER is none.", "Set it to builtin or to a URL.")
        from trivium.search.embed_endpoint import EndpointEmbedder

        model = settings.embedding_model or "default"
        endpoint = EndpointEmbedder(settings.embedder, model, settings.embedding_api_key, name=f"endpoint/{model}")
        self._embedder, self._patient = CheckedEmbedder(endpoint), CheckedEmbedder(endpoint.patient())

    def answering(self) -> Embedder:
        """The embedder for whoever waits for an answer: when it has just failed, it is not asked.

        Raises: MissingExtraError, EmbeddingError.
        """
        if self._closed or time.monotonic() < self._silent_until:
            raise EmbeddingError("The embedder has just failed.") from self._fault
        return _Answering(self.embedder(), self._told)

    def _compared(self, *, renew: bool = False) -> CheckedEmbedder:
        """The embedder, after it was seen to be the model that made the stored vectors of its name.

        With `renew` those of another one are deleted. Raises: EmbeddingError.
        """
        embedder = self.embedder()
        if not self._same:
            if self._may_change and not is_same_model(self._store, embedder, by_text=self._given is None):
                model = embedder.info().model
                if not renew:
                    raise EmbeddingError(
                        f"The embedder is no longer the model that made the vectors of {model}.",
                        "Name the one it is now with TRIVIUM_EMBEDDING_MODEL, or make all vectors anew:"
                        " trivium embed --prune",
                    )
                with self._store.write() as session:
                    stored.remove_model(session, model)
            self._same = True
        return embedder

    def _told(self, error: Exception | None) -> None:
        """Keep what ails the embedder, for `status`; None when it works. One that only refuses some texts goes on."""
        if error is None:
            self._fault = None
            self._silent_until = 0.0
            return
        self._fault = error if isinstance(error, TriviumError) else TriviumError(f"{type(error).__name__}: {error}")
        if not isinstance(error, Refusal):
            self._same = False
            self._silent_until = time.monotonic() + SILENCE

    # --- asking -----------------------------------------------------------------------------------

    def ask(self, places: Sequence[tuple[int, str]], questions: Sequence[str]) -> Asked | None:
        """Questions as vectors, for the (context, kind) pairs that are to be searched.

        None when there is no embedder, when it fails or refuses the questions, or when none of the places has a vector
        yet: then keyword search alone answers. Call it with no session open.
        """
        if self._closed or self.model is None or not questions or time.monotonic() < self._silent_until:
            return None
        self._start_lazily()
        try:
            if not self._any_vectors(places):
                return None
            embedder = self._compared()
            info = embedder.info()
            asked = Asked(info, self._vectors(embedder, info.model, questions), self._matrices)
        except Refusal:
            return None
        except Exception as error:
            if self._store.closed:
                raise
            self._told(error)
            return None
        if self._silent_until:
            self._told(None)
        return asked

    def _any_vectors(self, places: Sequence[tuple[int, str]]) -> bool:
        model = self.model or ""
        with self._store.read() as session:
            return any(stored.state(session, stored.Set(ctx, kind, model))[0] for ctx, kind in places)

    def _vectors(self, embedder: CheckedEmbedder, model: str, questions: Sequence[str]) -> np.ndarray:
        """The vectors of those questions that are not refused. Raises: EmbeddingError, Refusal when all are."""
        import numpy

        keys = [(model, text[:4_000]) for text in questions]
        found: dict[tuple[str, str], np.ndarray] = {}
        with self._mutex:
            for key in keys:
                if key in self._questions:
                    self._questions.move_to_end(key)
                    found[key] = self._questions[key]
        unknown = [key for key in dict.fromkeys(keys) if key not in found]
        refusal = None
        if unknown:
            made = vectors_of(embedder.embed_questions, [text for _, text in unknown])
            for key, vector in zip(unknown, made, strict=True):
                if isinstance(vector, Refusal):
                    refusal = vector
                else:
                    found[key] = vector
            with self._mutex:
                self._questions.update((key, found[key]) for key in unknown if key in found)
                while len(self._questions) > _REMEMBERED:
                    self._questions.popitem(last=False)
        if refusal is not None and not found:
            raise refusal
        return numpy.stack([found[key] for key in keys if key in found])

    # --- the background ---------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to embed in the background, if there is an embedder; for programs that stay."""
        with self._mutex:
            if self._thread is not None or self._closed or self.model is None:
                return
            self._thread = Background(self._store, self._batches, self._told)
            self._thread.start()

    def _start_lazily(self) -> None:
        if self._thread is None and self._by_itself:
            self.start()

    def _batches(self, *, renew: bool = False) -> Batches:
        self._compared(renew=renew)
        assert self._patient is not None
        return Batches(self._store, self._patient, os.urandom(8).hex())

    def embed_pending(
        self,
        limit: int | None = None,
        *,
        contexts: list[int] | None = None,
        progress: Callable[[int], None] | None = None,
        renew: bool = False,
    ) -> Report:
        """Work off the backlog here and now, or `limit` items of it; `progress` is told how many are done.

        With `renew` the vectors that another model made under the same name are deleted first. Raises:
        MissingExtraError, EmbeddingError; also, once all others are done, for items that the embedder refuses.
        """
        report = Report()
        batches = self._batches(renew=renew)
        runs = batches.run(contexts, limit=limit, steal=True)
        try:
            for report in runs:
                if progress is not None:
                    progress(report.items)
        except Elsewhere:
            raise EmbeddingError("Another process has taken the work over.", "Let it finish.") from None
        finally:
            runs.close()
        self._told(report.refusal)
        if report.refusal is not None:
            raise EmbeddingError(
                f"The embedder refuses {report.refused} texts, the last one thus: {report.refusal.message}",
                "They are found by their words; all others have vectors.",
            )
        return report

    def close(self) -> None:
        """End the background; before the store is closed."""
        self._closed = True
        thread = self._thread
        if thread is not None:
            thread.end()

    # --- what is there ----------------------------------------------------------------------------

    def status(self, session: Session, ctx: int) -> dict[str, Any]:
        """What search can do in a context right now, with its backlog; for the primer and `doctor`.

        Keys: `modes`, `default_mode`, `embedder` (its model or None), `embedded` and `backlog` (items by kind),
        `fault` (a text or None).
        """
        model = self.model
        fault = None if self._fault is None else self._fault.message
        status: dict[str, Any] = {**NO_MEANING, "embedder": model, "fault": fault}
        if model is None:
            return status
        sets = [stored.Set(ctx, kind, model) for kind in stored.KINDS]
        status["embedded"] = {of.kind: stored.count(session, of) for of in sets}
        status["backlog"] = self._backlog(session, ctx, sets)
        if any(status["embedded"].values()):
            status["modes"] = list(MODES)
            status["default_mode"] = "hybrid"
        return status

    def _backlog(self, session: Session, ctx: int, sets: list[stored.Set]) -> dict[str, int]:
        """Counted anew only when the data has changed, since counting looks at every item."""
        moment = -1 if self._store.in_memory else self._store.watch(session)
        known = self._backlogs.get(ctx)
        if known is None or known[0] != moment or moment < 0:
            known = self._backlogs[ctx] = (moment, {of.kind: stored.backlog(session, of) for of in sets})
        return known[1]
