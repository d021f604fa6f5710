"""Whether an embedder is still the model that made the stored vectors: a name may come to stand for another one."""

from __future__ import annotations

from trivium.search import embedding_text
from trivium.search.embedder import Embedder, Refusal
from trivium.store import vectors as stored
from trivium.store.sqlite import Session, SqliteStore

ALIKE = 0.8
"""Cosine of the vectors that one model makes of a text at two times, at least. Of two models it is about 0."""
_SAMPLES = 5


def is_same_model(store: SqliteStore, embedder: Embedder, *, by_text: bool) -> bool:
    """Whether the newest vectors have the embedder's dimensions and, `by_text`, are about what it makes of their texts.

    Raises: EmbeddingError.
    """
    info = embedder.info()
    with store.read() as session:
        sets = stored.sets(session, info.model)
        newest = {of: stored.newest(session, of, _SAMPLES) for of in sets}
        samples = [sample for of in sets for sample in _samples(session, of, newest[of])] if by_text else []
    if any(len(data) != 2 * info.dimensions for rows in newest.values() for _, _, data in rows):
        return False
    if not samples:
        return True
    import numpy

    text, data = min(samples, key=lambda sample: len(sample[0]))
    try:
        vector = embedder.embed([text])[0]
    except Refusal:
        return True
    return bool(vector @ numpy.frombuffer(data, dtype="<f2").astype("float32") >= ALIKE)


def _samples(session: Session, of: stored.Set, newest: list[tuple[str, str, bytes]]) -> list[tuple[str, bytes]]:
    """Texts that have not changed since, with the vectors that were made of them."""
    items = stored.items(session, of, [item for item, _, _ in newest])
    texts = {item.item: embedding_text.of_item(of.kind, item) for item in items}
    return [
        (texts[item], data)
        for item, digest, data in newest
        if texts.get(item, "").strip() and embedding_text.digest(texts[item]) == digest
    ]
