"""Any endpoint that speaks OpenAI's embeddings protocol, as an embedder."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trivium.errors import EmbeddingError
from trivium.search.calibration import calibrated
from trivium.search.embedder import EmbedderInfo, Refusal

if TYPE_CHECKING:
    import numpy as np

BATCH_TEXTS, BATCH_CHARACTERS = 64, 100_000
LONGEST_ANSWER = 64 << 20
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504}
_ABOUT_THE_TEXTS = {400, 413, 422, 500}
"""What an endpoint answers to a text that is too long for its model, among other things."""


class Patience(Struct, frozen=True):
    """How often a request is sent, how long its answer may take, and the longest pause before it is sent again."""

    tries: int
    seconds: float
    pause: float


HURRIED = Patience(2, 10.0, 2.0)
"""For whoever waits for an answer."""
PATIENT = Patience(4, 60.0, 20.0)
"""For the backlog."""


class EndpointEmbedder:
    """Sends texts in batches to `<url>/embeddings`, and again after a fault that may pass.

    Floor and ceiling of a model nobody has measured are found with a few texts of ours when it is first used. An
    answer of another form than the protocol's is an error, never a vector. Nothing takes longer than `patience` has it,
    whatever the other side does.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        name: str = "",
        patience: Patience = HURRIED,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = url if url.rstrip("/").endswith("/embeddings") else url.rstrip("/") + "/embeddings"
        self._model = model
        self._name = name or f"endpoint/{model}"
        self._key = key
        self._patience = patience
        self._pause = pause
        self._measured: list[EmbedderInfo] = []

    def patient(self) -> EndpointEmbedder:
        """The same for the backlog, for which nobody waits; it is measured together with this one."""
        twin = copy(self)
        twin._patience = PATIENT
        return twin

    def info(self) -> EmbedderInfo:
        """Asks the endpoint when called first. Raises: EmbeddingError."""
        for info in self._measured:
            return info
        info = calibrated(self._name, self._embed)
        self._measured[:] = [info]
        return info

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Raises: EmbeddingError, also for vectors of another length than the first ones had."""
        info = self.info()
        vectors = self._embed(texts)
        if vectors.shape[1] != info.dimensions:
            self._measured.clear()  # for it to be measured anew when next used
            raise EmbeddingError(
                f"{self._url} answered with {vectors.shape[1]} dimensions, after {info.dimensions} before.",
                "Name one model with TRIVIUM_EMBEDDING_MODEL.",
            )
        return vectors

    def _embed(self, texts: Sequence[str]) -> np.ndarray:
        import numpy

        parts = [self._batch(batch) for batch in _batches([_clean(text) for text in texts])]
        if len({part.shape[1] for part in parts}) > 1:
            raise self._misshaped()
        return numpy.concatenate(parts)

    def _batch(self, texts: list[str]) -> np.ndarray:
        patience = self._patience
        for attempt in range(1, patience.tries + 1):
            try:
                return self._vectors(self._post(texts, patience.seconds), len(texts))
            except _AgainError as fault:
                if attempt == patience.tries:
                    raise fault.lasting from None
                self._pause(min(patience.pause, fault.after or 0.5 * 3 ** (attempt - 1)))
        raise AssertionError

    def _post(self, texts: list[str], seconds: float) -> Any:
        """What the endpoint answers. Raises: _AgainError, EmbeddingError."""
        try:
            return _within(seconds + 0.5, partial(self._exchange, texts, seconds))
        except TimeoutError:
            raise self._unreachable("it does not answer") from None

    def _exchange(self, texts: list[str], seconds: float) -> Any:
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request, build_opener

        body = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        opener = build_opener(_no_redirects())
        try:
            with opener.open(Request(self._url, body, headers), timeout=seconds) as answer:
                return json.loads(_body(answer, time.monotonic() + seconds))
        except HTTPError as error:
            with error:
                fault = f"{self._url} answered {error.code}{_reason(error, self._key)}."
            kind = Refusal if error.code in _ABOUT_THE_TEXTS else EmbeddingError
            if error.code in _AGAIN:
                after = _seconds(error.headers.get("Retry-After"))
                raise _AgainError(kind(fault, "Try again later."), after) from None
            raise kind(fault, _hint(error.code)) from None
        except (URLError, OSError, HTTPException) as error:
            raise self._unreachable(getattr(error, "reason", error)) from None
        except (ValueError, RecursionError):
            raise Refusal(f"{self._url} did not answer in JSON.", _CHECK_URL) from None

    def _unreachable(self, reason: Any) -> _AgainError:
        fault = f"{self._url} cannot be reached: {reason}."
        return _AgainError(EmbeddingError(fault, "Check TRIVIUM_EMBEDDER and that the endpoint runs."))

    def _vectors(self, answer: Any, number: int) -> np.ndarray:
        import numpy

        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            if [row["index"] for row in rows] != list(range(number)):
                raise ValueError
            vectors = numpy.array([row["embedding"] for row in rows], dtype=numpy.float64)
        except (TypeError, KeyError, ValueError, OverflowError):
            raise self._misshaped() from None
        if vectors.ndim != 2 or not vectors.shape[1] or not (abs(vectors) < _LARGEST).all():  # not of NaN either
            raise self._misshaped()
        lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
        if not lengths.all():
            raise Refusal(f"{self._url} answered with a vector of zeros.", _CHECK_URL)
        return numpy.asarray(vectors / lengths, dtype=numpy.float32)

    def _misshaped(self) -> Refusal:
        return Refusal(f"{self._url} did not answer as an embeddings endpoint does.", _CHECK_URL)


_CHECK_URL = "Check the URL in TRIVIUM_EMBEDDER."
_LARGEST = 1e100
"""Numbers of which the squares can still be added."""


class _AgainError(Exception):
    """A fault that may pass, and what it is if it does not; `after` are the seconds that the endpoint asks for."""

    def __init__(self, lasting: EmbeddingError, after: float | None = None) -> None:
        super().__init__(lasting.message)
        self.lasting = lasting
        self.after = after


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """What some work gives, which is left to itself when it takes longer. Raises: TimeoutError, and what it raises.

    The time limits of sockets are for each piece that arrives; a server may send one byte now and then.
    """
    done: list[Any] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(work())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="trivium-endpoint", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError
    return done[0]


def _batches(texts: list[str]) -> list[list[str]]:
    batches: list[list[str]] = [[]]
    size = 0
    for text in texts:
        if len(batches[-1]) == BATCH_TEXTS or (batches[-1] and size + len(text) > BATCH_CHARACTERS):
            batches.append([])
            size = 0
        batches[-1].append(text)
        size += len(text)
    return batches


def _clean(text: str) -> str:
    """Endpoints refuse empty texts; lone surrogates cannot be sent."""
    return text.encode("utf-8", "replace").decode() or " "


def _no_redirects() -> Any:
    from urllib.request import HTTPRedirectHandler

    class Refuse(HTTPRedirectHandler):
        """The key is for the named host alone."""

        def redirect_request(self, *_: Any) -> None:
            return None

    return Refuse()


def _body(answer: Any, until: float) -> bytes:
    """An answer as far as it is taken. Raises: TimeoutError when it comes drop by drop."""
    parts: list[bytes] = []
    size = 0
    while size < LONGEST_ANSWER and (part := answer.read1(1 << 20)):
        parts.append(part)
        size += len(part)
        if time.monotonic() > until:
            raise TimeoutError("its answer takes too long")
    return b"".join(parts)


def _reason(error: Any, key: str) -> str:
    """What the endpoint says in the body of an error, if it is short and has the usual form; never the key."""
    try:
        said = json.loads(error.read(10_000))
        told = said["error"]["message"] if isinstance(said["error"], dict) else said["error"]
    except (ValueError, TypeError, KeyError, OSError, RecursionError):
        return ""
    shown = str(told).replace(key, "[key]") if key else str(told)
    return f": {' '.join(shown.split())[:200].rstrip('.')}"


def _hint(code: int) -> str:
    if code in (401, 403):
        return "Check TRIVIUM_EMBEDDING_API_KEY."
    return "Check TRIVIUM_EMBEDDER and TRIVIUM_EMBEDDING_MODEL."


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text or ""))
    except ValueError:
        return None
