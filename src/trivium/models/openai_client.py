"""Any endpoint that speaks OpenAI's Chat Completions, through the `openai` package, which is imported here alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from trivium.errors import MissingExtraError
from trivium.models.chat import ChatError, ChatRequest
from trivium.models.chat_client import CompletionsClient, Create, Passing, of_status

MOST_BYTES = 32_000_000
"""Bytes of one response; a longer one is given up."""


class Endpoint(Struct, frozen=True):
    """Where to ask, and the key. `keep` holds on to what must stay alive while the endpoint is used."""

    base_url: str
    api_key: str = ""
    keep: Any = None

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"


class OpenAIClient(CompletionsClient):
    """A client of an endpoint by its address."""

    def __init__(self, endpoint: Endpoint, timeout: float = 120.0, attempts: int = 4) -> None:
        super().__init__(timeout, attempts, secret=endpoint.api_key)
        self._endpoint = endpoint

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Create]:
        try:
            import httpx2
            import openai
        except ImportError:
            raise MissingExtraError("llm", "A language model behind an endpoint") from None
        timeout = httpx2.Timeout(self.timeout, connect=min(self.timeout, 15.0))
        hooks = {"response": [_cap]}
        async with httpx2.AsyncClient(timeout=timeout, follow_redirects=False, event_hooks=hooks) as http:
            client = openai.AsyncOpenAI(
                api_key=self._endpoint.api_key or "none",
                base_url=self._endpoint.base_url,
                max_retries=0,
                http_client=http,
            )
            yield client.chat.completions.create

    def told(self, error: Exception, request: ChatRequest, refused: frozenset[str]) -> Exception | None:
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            said = f"{error.body or ''}{error}"
            after = error.response.headers.get("retry-after")
            code = self.unsaid(str(error.code or ""))
            return of_status(error.status_code, said, request, refused, after=after, code=code)
        if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException)):
            return Passing(f"the model's endpoint gave no answer within {self.timeout:g} s")
        if isinstance(error, (openai.APIConnectionError, httpx2.ConnectError)):
            return Passing("the model's endpoint cannot be reached")
        if isinstance(error, (httpx2.HTTPError, httpx2.StreamError)):
            return Passing("the model's answer broke off")
        if isinstance(error, (openai.OpenAIError, ValueError)):
            return Passing("the model's endpoint sent something that is no answer")
        return None


async def _cap(response: Any) -> None:
    """Stop reading a response that has no end."""
    import httpx2

    stream = response.stream

    class Capped(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            total = 0
            async for part in stream:
                total += len(part)
                if total > MOST_BYTES:
                    raise ChatError("the model's endpoint sent more than anyone could read")
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    response.stream = Capped()
