"""Providers with a protocol of their own (Anthropic, Mistral and others), through `any-llm-sdk` (extra `providers`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any

from trivium.errors import MissingExtraError
from trivium.models.chat import ChatError, ChatRequest
from trivium.models.chat_client import CompletionsClient, Create, Passing, of_status

_STATUSES = (
    ("AuthenticationError", 401),
    ("ModelNotFoundError", 404),
    ("ContextLengthExceededError", 413),
    ("RateLimitError", 429),
    ("InvalidRequestError", 400),
)
"""Faults that carry no status, and the one they stand for."""


class AnyLLMClient(CompletionsClient):
    """A client of a provider by its name; the provider's own package must be installed beside the extra."""

    def __init__(
        self, provider: str, api_key: str, base_url: str = "", timeout: float = 120.0, attempts: int = 4
    ) -> None:
        super().__init__(timeout, attempts, secret=api_key)
        self._provider = provider
        self._api_key = api_key
        self._base_url = base_url

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Create]:
        try:
            any_llm: Any = import_module("any_llm")
        except ImportError:
            raise MissingExtraError("providers", f"A model of {self._provider}") from None
        llm: Any = any_llm.AnyLLM.create(
            self._provider,
            api_key=self._api_key or None,
            api_base=self._base_url or None,
            timeout=self.timeout,
            max_retries=0,
            unified_exceptions=True,
        )
        try:
            yield llm.acompletion
        finally:
            close = getattr(getattr(llm, "client", None), "close", None)
            if iscoroutinefunction(close):
                await close()

    def told(self, error: Exception, request: ChatRequest, refused: frozenset[str]) -> Exception | None:
        any_llm: Any = import_module("any_llm")
        if isinstance(error, any_llm.UnsupportedParameterError):
            return of_status(400, str(error), request, refused)
        if isinstance(error, any_llm.UnsupportedProviderError):
            return ChatError(f"there is no provider {self._provider[:40]!r}")
        if isinstance(error, (any_llm.PackageNotFoundError, ImportError)):
            return ChatError(f"the package of the provider {self._provider[:40]!r} is not installed")
        if isinstance(error, any_llm.MissingApiKeyError):
            return ChatError("the model's endpoint needs a key (TRIVIUM_LLM_API_KEY)")
        if type(error).__module__ == "builtins" and not isinstance(error, (OSError, ValueError)):
            return None
        if isinstance(error, any_llm.ContentFilterError):
            return ChatError("the model declined to answer")
        inner = getattr(error, "original_exception", None) or error
        status = getattr(error, "status_code", None) or getattr(inner, "status_code", None)
        if status is None:
            status = next((number for kind, number in _STATUSES if isinstance(error, getattr(any_llm, kind))), None)
        if isinstance(status, int):
            headers = getattr(getattr(inner, "response", None), "headers", None) or {}
            after = getattr(error, "retry_after", None) or headers.get("retry-after")
            code = self.unsaid(str(getattr(error, "code", "") or ""))
            return of_status(status, f"{error}{inner}", request, refused, after=after, code=code)
        if "timeout" in type(inner).__name__.lower():
            return Passing(f"the model's endpoint gave no answer within {self.timeout:g} s")
        return Passing("the model's endpoint cannot be reached, or its answer broke off")
