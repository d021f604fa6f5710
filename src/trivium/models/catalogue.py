"""The models that may compose answers: ids, tiers, what each can do, prices (KnowQL reference 3.3, 12.2).

`builtin/extractive` is always there. The settings `llm_…` add the models of one endpoint that speaks OpenAI's protocol,
or of a provider by its name, `local_model` a GGUF file that runs in this process. Nothing is imported or asked over the
network to list them.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trivium.answers.composer import Choice, Composer
from trivium.errors import MissingExtraError, NotFoundError, TriviumError
from trivium.models.model import EXTRAS, FREE, Model, Prices

if TYPE_CHECKING:
    from trivium.models.chat import ChatClient
    from trivium.search.embedder import Embedder
    from trivium.settings import Settings

EXTRACTIVE = "builtin/extractive"
TIERS = ("lite", "standard", "pro")
DEFAULT_TIER = "standard"

_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_THINKING = re.compile(r"(?:.*/)?(?:o[1-9]\d*|gpt-(?:[5-9]|\d\d)|gpt-oss|deepseek-r|qwq)(?:[-.:].*)?", re.IGNORECASE)


class Catalogue:
    """The models there are, by id; the composer of each is made when first asked for and kept.

    `embedder` gives the embedder that the extractive composer finds other wordings with, and may raise.
    """

    def __init__(
        self,
        models: Iterable[Model],
        settings: Settings,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        builtin = Model(EXTRACTIVE, "Extractive (built in)", "builtin", prices=FREE)
        self._models = {model.id: model for model in (*models, builtin)}
        self._settings = settings
        self._embedder = embedder
        self._composers: dict[str, Composer] = {}
        self._making = {id_: threading.Lock() for id_ in self._models}
        self._tiers = self._read_tiers(settings.llm_tiers)

    @classmethod
    def from_settings(cls, settings: Settings, embedder: Callable[[], Embedder | None] = lambda: None) -> Catalogue:
        """Raises: TriviumError for settings that cannot be read."""
        return cls(_models(settings), settings, embedder)

    # --- choosing ---------------------------------------------------------------------------------

    @property
    def default(self) -> str:
        """The id of the model of the default tier."""
        return self._tiers[DEFAULT_TIER]

    def find(self, wanted: str) -> Model | None:
        """The model that an id, a tier, or the endpoint's own name of a model means; None when there is none."""
        found = self._models.get(self._tiers.get(wanted, wanted))
        if found is None:
            found = next((model for model in self._models.values() if model.name == wanted), None)
        return found

    def choose(self, wanted: Sequence[str]) -> Choice:
        """The first of these ids and tiers that can be used; of a tier, the extractive composer always can."""
        skipped: list[str] = []
        reasons: dict[str, str] = {}
        for name in wanted or [DEFAULT_TIER]:
            found = self.find(name)
            if found is not None and found.available:
                return Choice(found.id, skipped, found.thinks, reasons)
            skipped.append(name if found is None else found.id)
            if found is not None and found.fault is not None:
                reasons[found.id] = found.fault
            if name in self._tiers:
                return Choice(EXTRACTIVE, skipped, reasons=reasons)
        return Choice(None, skipped, reasons=reasons)

    def composer_for(self, model: str) -> Composer:
        """Raises: NotFoundError, MissingExtraError, TriviumError when it cannot be had."""
        found = self.find(model)
        if found is None:
            raise NotFoundError(f"There is no model {model!r}.", f"There are {', '.join(self._models)}.")
        if found.missing is not None:
            raise MissingExtraError(EXTRAS[found.missing], f"The model {found.id}")
        if found.fault is not None:
            raise NotFoundError(f"The model {found.id} cannot be used: {found.fault}.", "Correct it, or ask another.")
        with self._making[found.id]:  # a lock for each: to load a file takes long, and others need not wait for it
            if found.id not in self._composers:
                self._composers[found.id] = self._composer(found)
            return self._composers[found.id]

    def _composer(self, model: Model) -> Composer:
        from trivium.models.extractive import Extractive

        if model.id == EXTRACTIVE:
            return Extractive(self._willing_embedder)
        from trivium.models.agent import Agent

        return Agent(model, self._client(model), Extractive(self._willing_embedder))

    def _client(self, model: Model) -> ChatClient:
        """A client of the model's endpoint: of the one in this process, of one by address, or of a provider by name."""
        from trivium.models.openai_client import Endpoint, OpenAIClient

        settings = self._settings
        patience = settings.llm_timeout, settings.llm_attempts
        if model.file:
            from trivium.models.local import served

            return OpenAIClient(served(model.file, settings), *patience)
        if not settings.llm_base_url:
            from trivium.models.any_llm_client import AnyLLMClient

            return AnyLLMClient(model.provider, settings.llm_api_key, "", *patience)
        return OpenAIClient(Endpoint(settings.llm_base_url, settings.llm_api_key), *patience)

    def _willing_embedder(self) -> Embedder | None:
        """The embedder, or None where there is none or it is at fault: answers do without it."""
        try:
            return self._embedder()
        except TriviumError:
            return None

    # --- telling ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """What `GET /models` answers about models (reference 12.2)."""
        models = [
            {"id": model.id, "label": model.label, "provider": model.provider, "available": model.available}
            for model in self._models.values()
        ]
        tiers = {tier: self._usable(self._tiers[tier]) for tier in TIERS}
        return {
            "default": tiers[DEFAULT_TIER],
            "models": models,
            "tiers": tiers,
            "phase_defaults": {"query": tiers[DEFAULT_TIER]},
            "supported_curate_models": [],
        }

    def _usable(self, name: str) -> str:
        found = self._models.get(name)
        return name if found is not None and found.available else EXTRACTIVE

    def _read_tiers(self, text: str) -> dict[str, str]:
        first = next(iter(self._models))
        tiers = dict.fromkeys(TIERS, first)
        for tier, name in _pairs(text, "llm_tiers"):
            found = self.find_id(name)
            if tier not in TIERS or found is None:
                raise TriviumError(
                    f"llm_tiers names {tier!r}: {name!r}, which are no tier and model of this catalogue.",
                    f"Tiers are {', '.join(TIERS)}; models are {', '.join(self._models)}.",
                )
            tiers[tier] = found
        return tiers

    def find_id(self, name: str) -> str | None:
        """The id of a model by its id or its endpoint's name for it."""
        return next((model.id for model in self._models.values() if name in (model.id, model.name)), None)


# --- from settings --------------------------------------------------------------------------------


def _models(settings: Settings) -> list[Model]:
    found: list[Model] = []
    names = _names(settings.llm_models)
    if names and not settings.llm_base_url and not settings.llm_provider:
        raise TriviumError(
            "llm_models is set, but neither llm_base_url nor llm_provider.",
            "Set TRIVIUM_LLM_BASE_URL to the endpoint, or TRIVIUM_LLM_PROVIDER to the provider's name.",
        )
    if settings.llm_base_url and not names:
        raise TriviumError("llm_base_url is set, but llm_models is not.", "Set TRIVIUM_LLM_MODELS to a model's name.")
    address = urlsplit(settings.llm_base_url)
    host = address.hostname or ""
    prices = {name: _prices(name, text) for name, text in _pairs(settings.llm_prices, "llm_prices")}
    thinking = _names(settings.llm_thinking)
    provider = settings.llm_provider or _provider(host)
    for name in names:
        known = prices.get(name) or (FREE if host in _LOCAL_HOSTS else None)
        found.append(
            Model(
                name if "/" in name else f"{provider}/{name}",
                name,
                provider,
                name,
                ("openai",) if settings.llm_base_url else ("any_llm",),
                thinks=_THINKING.fullmatch(name) is not None if not thinking else name in thinking,
                context=settings.llm_context,
                output=settings.llm_output,
                prices=known,
                host=address.netloc.rpartition("@")[2],
            )
        )
    if settings.local_model:
        path = Path(settings.local_model).expanduser()
        found.append(
            Model(
                f"local/{path.stem}",
                path.name,
                "local",
                path.stem,
                ("openai", "xllamacpp"),
                str(path),
                calls_tools=False,
                context=min(settings.llm_context, 4096),
                output=min(settings.llm_output, 512),
                most_passages=4,
                prices=FREE,
            )
        )
    return found


def _provider(host: str) -> str:
    """`openai` of `api.openai.com`; `local` of a host of one's own."""
    parts = host.split(".")
    if host in _LOCAL_HOSTS or len(parts) < 2 or parts[-1].isdecimal():
        return "local" if host in _LOCAL_HOSTS else "endpoint"
    return parts[-2]


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _pairs(text: str, setting: str) -> list[tuple[str, str]]:
    """`a=b, c=d` as pairs."""
    pairs = []
    for part in _names(text):
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise TriviumError(f"{setting} cannot be read at {part!r}.", "Write name=value, parted by commas.")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _prices(name: str, text: str) -> Prices:
    try:
        numbers = [float(number) for number in text.split("/")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= number < math.inf for number in numbers):
        raise TriviumError(
            f"llm_prices cannot be read at {name}={text}.",
            "Write dollars for a million tokens: name=input/output or name=input/output/cached.",
        )
    return Prices(numbers[0], numbers[1], numbers[-1] if len(numbers) == 3 else numbers[0])
