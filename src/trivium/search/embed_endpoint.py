"""Any endpoint that speaks OpenAI's embeddings protocol, as an embedder."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from trivium.errors import EmbeddingError
from trivium.search.calibration import calibrated
from trivium.search.embedder import EmbedderInfo

if TYPE_CHECKING:
    import numpy as np

BATCH_TEXTS, BATCH_CHARACTERS = 64, 100_000
TRIES, SECONDS = 4, 60.0
QUERY_TRIES, QUERY_SECONDS = 2, 10.0
"""For a single text, for which somebody waits."""
LONGEST_PAUSE = 20.0
LONGEST_ANSWER = 64 << 20
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504}


class EndpointEmbedder:
    """Sends texts in batches to `<url>/embeddings`, and again after a fault that may pass.

    Floor and ceiling of a model nobody has measured are found with a few texts of ours when it is first used. An
    answer of another form than the protocol's is an error, never a vector.
    """

    def __init__(
        self, url: str, model: str, key: str = "", *, name: str = "", pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._url = url if url.rstrip("/").endswith("/embeddings") else url.rstrip("/") + "/embeddings"
        self._model = model
        self._name = name or f"endpoint/{model}"
        self._key = key
        self._pause = pause
        self._info: EmbedderInfo | None = None
        self._mutex = threading.Lock()

    def info(self) -> EmbedderInfo:
        """Asks the endpoint when called first. Raises: EmbeddingError."""
        with self._mutex:
            if self._info is None:
                self._info = calibrated(self._name, self._embed)
            return self._info

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Raises: EmbeddingError, also for vectors of another length than the first ones had."""
        info = self.info()
        vectors = self._embed(texts)
        if vectors.shape[1] != info.dimensions:
            raise EmbeddingError(
                f"{self._url} answered with {vectors.shape[1]} dimensions, after {info.dimensions} before.",
                "Name one model with TRIVIUM_EMBEDDING_MODEL.",
            )
        return vectors

    def _embed(self, texts: Sequence[str]) -> np.ndarray:
        import numpy

        parts = [self._batch(batch) for batch in _batches([_clean(text) for text in texts])]
        return numpy.concatenate(parts)

    def _batch(self, texts: list[str]) -> np.ndarray:
        tries, seconds = (QUERY_TRIES, QUERY_SECONDS) if len(texts) == 1 else (TRIES, SECONDS)
        for attempt in range(1, tries + 1):
            try:
                return self._vectors(self._post(texts, seconds), len(texts))
            except _AgainError as fault:
                if attempt == tries:
                    raise EmbeddingError(fault.message, fault.hint) from None
                self._pause(min(LONGEST_PAUSE, fault.after or 0.5 * 3 ** (attempt - 1)))
        raise AssertionError

    def _post(self, texts: list[str], seconds: float) -> Any:
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
            if error.code in _AGAIN:
                raise _AgainError(fault, "Try again later.", _seconds(error.headers.get("Retry-After"))) from None
            raise EmbeddingError(fault, _hint(error.code)) from None
        except (URLError, OSError, HTTPException) as error:
            raise _AgainError(
                f"{self._url} cannot be reached: {getattr(error, 'reason', error)}.",
                "Check TRIVIUM_EMBEDDER and that the endpoint runs.",
            ) from None
        except (ValueError, RecursionError):
            raise EmbeddingError(f"{self._url} did not answer in JSON.", "Check the URL in TRIVIUM_EMBEDDER.") from None

    def _vectors(self, answer: Any, number: int) -> np.ndarray:
        import numpy

        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            if [row["index"] for row in rows] != list(range(number)):
                raise ValueError
            vectors = numpy.array([row["embedding"] for row in rows], dtype=numpy.float32)
        except (TypeError, KeyError, ValueError, OverflowError):
            raise self._misshaped() from None
        if vectors.ndim != 2 or not vectors.shape[1] or not numpy.isfinite(vectors).all():
            raise self._misshaped()
        lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
        return numpy.asarray(vectors / numpy.maximum(lengths, 1e-12), dtype=numpy.float32)

    def _misshaped(self) -> EmbeddingError:
        return EmbeddingError(
            f"{self._url} did not answer as an embeddings endpoint does.", "Check the URL in TRIVIUM_EMBEDDER."
        )


class _AgainError(EmbeddingError):
    """A fault that may pass; `after` are the seconds that the endpoint asks for."""

    def __init__(self, message: str, hint: str, after: float | None = None) -> None:
        super().__init__(message, hint)
        self.after = after


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
