"""Hostile endpoints, embedders, documents and questions: what they must neither leak, break, forge nor slow down."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.openai_server import KEY, OpenAIServer, calls, raw, status, text
from trivium.answers.citation_marks import read_marks, unmarked
from trivium.language.question import understand
from trivium.language.values import find_values
from trivium.models.chat_client import Unsaid
from trivium.search.embed_endpoint import EndpointEmbedder
from trivium.search.embedder import EmbedderInfo
from trivium.search.segment import tokens

ACME = b"# Acme\n\n## Fees\n\nInvoices of Acme are payable net 30 days from receipt.\n"
GOOD = "Invoices of Acme are payable net 30 days from receipt [1]."
FINDS = {"command": 'SEARCH CONCEPT "headache" MODE "hybrid"'}


def asked(kb: trivium.KnowledgeBase) -> dict[str, Any]:
    context = kb.create_context("contracts")
    context.add_bytes("acme.md", ACME)
    context.curate()
    return context.ask("What are the payment terms of Acme?", timeout_seconds=20)


def answered(script: Any, path: str = ":memory:") -> tuple[dict[str, Any], str]:
    """The document of a turn over a scripted endpoint, and all that is told of it beside."""
    with (
        OpenAIServer(script) as server,
        trivium.open(
            path,
            embedder="none",
            llm_base_url=server.base_url,
            llm_api_key=KEY,
            llm_models="test-model",
            llm_attempts=1,
        ) as kb,
    ):
        document = asked(kb)
        told = [kb.turns.trace(document["id"]), list(kb.turns.events(document["id"]))]
    return document, json.dumps([document, told], allow_nan=False, default=str)


@pytest.mark.parametrize(
    "script",
    [
        [text(f"Invoices of Acme are payable net 30 days from receipt with {KEY} [1].", pieces=5)],
        [status(400, {"error": {"message": KEY, "code": KEY, "type": KEY}})],
        [status(429, retry_after="Mon, 01 Jan 2024 00:00:00 +99999999999999999999")],
        [calls((KEY, {"query": KEY}), ("search_chunks", {"query": KEY, KEY: KEY})), text(GOOD)],
    ],
)
def test_a_key_that_the_endpoint_repeats_is_nowhere(
    script: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    _, told = answered(script, str(tmp_path / "kb.db"))
    assert KEY not in told
    assert KEY not in caplog.text
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("size", [1, 3, 8, 100])
def test_a_key_is_taken_out_however_it_is_cut_into_pieces(size: int) -> None:
    unsaid = Unsaid("sk-sk-12345")
    whole = "sk- is sk-sk-sk-12345, and sk-sk-1234 is none. sk-sk"
    shown = "".join(unsaid.add(whole[at : at + size]) for at in range(0, len(whole), size)) + unsaid.rest()
    assert shown == whole.replace("sk-sk-12345", "[key]")


def event(*data: bytes) -> Any:
    return raw(b"".join(b"data: " + one + b"\n\n" for one in data) + b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    "garbage",
    [
        event(b"[" * 100_000),
        event(b"5", b"null", b'"x"'),
        event(b'{"choices":5}', b'{"choices":[5]}', b'{"choices":[{"delta":7}]}'),
        event(b'{"choices":[{"delta":{"tool_calls":5}}]}'),
    ],
)
def test_what_is_no_answer_is_told_as_a_fault_of_the_endpoint(garbage: Any) -> None:
    document, _ = answered([garbage])
    assert document["status"] == "failed"
    assert "internal error" not in document["error"]


@pytest.mark.parametrize(
    "garbage",
    [
        event(b'{"choices":[{"delta":{"tool_calls":[{"id":[1],"function":5}]},"finish_reason":"tool_calls"}]}'),
        event(b'{"choices":[{"delta":{"tool_calls":[{"index":[1],"id":{"a":1}}]},"finish_reason":"stop"}]}'),
    ],
)
def test_an_answer_that_is_empty_but_for_garbage_is_quoted_for(garbage: Any) -> None:
    document, _ = answered([garbage])
    assert document["status"] == "completed"
    assert "weak_support" in {warning["code"] for warning in document["warnings"]}
    assert all(cited["grounding"] in ACME.decode() for cited in document["citations"])
    assert document["citations"]


def test_a_stream_that_is_cut_is_closed_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    document, _ = answered([text(f"{GOOD} " * 5_000, pieces=1_000)])
    assert [warning["code"] for warning in document["warnings"]] == ["output_truncated"]
    assert "asynchronous generator" not in caplog.text


@pytest.mark.parametrize(
    "call",
    [
        ("search_chunks", '{"query": NaN}'),
        ("search_chunks", '{"query": "a", "limit": 1e999}'),
        ("search_chunks", '{"query": "a", "limit": ' + "9" * 4_000 + "}"),
        ("read_document", '{"source": "acme.md", "first_line": 99999999999999999999999}'),
        ("search_chunks", '{"query": "\\ud800a", "\\ud800": "\\udfff"}'),
    ],
)
def test_arguments_that_no_tool_can_take_do_not_end_the_turn(call: tuple[str, str]) -> None:
    document, _ = answered([calls(call), text(GOOD)])
    assert document["status"] == "completed"
    assert document["citations"][0]["grounding"] in ACME.decode()


def test_markers_of_any_length_are_markers_and_those_of_documents_are_none() -> None:
    marked = read_marks("Net 30 [99999999999999999999], [1-9999999999] [1].", {1})
    assert (marked.text, marked.numbers) == ("Net 30,.", [1])
    assert unmarked("As said in [3], [^2], [1-3], 【2】 and 【4†x】.") == "As said in (3), (2), (1-3), (2) and (4)."


@pytest.mark.parametrize("ask", ["$1 ", "5%", "5 kg ", "1 January ", "x vs ", "[1]", "a/", "l'", "compare a and "])
def test_a_long_question_takes_no_time_that_grows_with_its_square(ask: str) -> None:
    begun = time.process_time()
    find_values((ask * 20_000)[:16_000])
    understand((ask * 20_000)[:16_000])
    assert time.process_time() - begun < 4


def test_a_long_word_that_might_be_an_address_takes_no_time() -> None:
    begun = time.process_time()
    assert tokens("a" * 100_000 + "@") == ["a" * 100_000]
    assert tokens("see a/b//c/d or x@y.z", query=True)[-3:] == ["a／b", "c／d", "x＠y.z"]
    assert time.process_time() - begun < 2


class Embedding:
    """An embedder of one's own that goes wrong in a way once it is told so."""

    def __init__(self) -> None:
        self.fault = ""

    def info(self) -> EmbedderInfo:
        if self.fault == "info":
            raise RuntimeError("no model")
        return EmbedderInfo("test", 4, 0.1, 0.9)

    def embed(self, texts: Any) -> Any:
        import numpy

        rows = {"few": len(texts) - 1, "many": len(texts) + 1}.get(self.fault, len(texts))
        value = {"nan": float("nan"), "infinite": float("inf"), "large": 1e30}.get(self.fault, 0.5)
        made = numpy.full((rows, 7 if self.fault == "wide" else 4), value, dtype="float32")
        return None if self.fault == "nothing" else made


FAULTS = ["info", "few", "many", "nan", "infinite", "large", "wide", "nothing"]


def seeded(kb: trivium.KnowledgeBase) -> None:
    kb.hold_embedding()
    drug = 'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES { description: "A drug." } } }'
    aspirin = 'UPSERT { CONCEPT ?a { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { description: "for headache" } } }'
    for command in (drug, aspirin):
        assert "error" not in kb.execute_kip({"command": command})


@pytest.mark.parametrize("fault", FAULTS)
def test_an_embedder_that_fails_at_a_question_leaves_the_words(fault: str) -> None:
    embedder = Embedding()
    with trivium.open(":memory:", embedder=embedder) as kb:
        seeded(kb)
        kb.embed_pending()
        embedder.fault = fault
        for _ in range(2):
            found = kb.execute_kip(FINDS)["result"]
            assert [hit["name"] for hit in found] == ["Aspirin"]
        assert asked(kb)["status"] == "completed"
        assert kb.doctor()["ok"]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_embedder_that_fails_midway_stores_no_vector(fault: str) -> None:
    embedder = Embedding()
    with trivium.open(":memory:", embedder=embedder) as kb:
        seeded(kb)
        waiting = kb.embedding_backlog()
        embedder.fault = fault
        with pytest.raises(trivium.TriviumError):
            kb.embed_pending()
        embedder.fault = ""
        assert kb.embedding_backlog() == waiting > 0
        kb.embed_pending()
        assert kb.embedding_backlog() == 0


def test_an_embedding_endpoint_that_is_down_never_fails_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EndpointEmbedder, "info", lambda _: (_ for _ in ()).throw(trivium.TriviumError("down")))
    monkeypatch.setattr("trivium.search.meaning.SILENCE", 0.0)
    monkeypatch.setattr("trivium.search.meaning.Meaning._any_vectors", lambda *_: True)
    with trivium.open(":memory:", embedder="http://127.0.0.1:9/v1") as kb:
        seeded(kb)
        for _ in range(3):
            assert [hit["name"] for hit in kb.execute_kip(FINDS)["result"]] == ["Aspirin"]
        assert kb.doctor()["ok"]


def test_an_embedding_endpoint_that_repeats_the_key_does_not_tell_it() -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}}).encode()
            self.send_response(401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.handle_request, daemon=True).start()
        embedder = EndpointEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "m", KEY)
        with pytest.raises(trivium.TriviumError) as caught:
            embedder.info()
    assert KEY not in f"{caught.value}{caught.value.hint}"
    assert "Incorrect API key provided" in str(caught.value)
