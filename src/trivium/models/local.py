"""A GGUF file of the user's, run in this process and asked like any other endpoint (extra `local`)."""

from __future__ import annotations

import os
import secrets
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import MissingExtraError, TriviumError
from trivium.models.openai_client import Endpoint

if TYPE_CHECKING:
    from trivium.settings import Settings


def served(path: str, settings: Settings) -> Endpoint:
    """Load the file and serve it on a free loopback port, with a key of its own, for as long as the endpoint is kept.

    One processor core is left to others: with all of them, a busy machine slows down by ten times.
    """
    if not Path(path).is_file():
        raise TriviumError(f"There is no file {path}.", "Set TRIVIUM_LOCAL_MODEL to a GGUF file.")
    try:
        xllamacpp: Any = import_module("xllamacpp")
    except ImportError:
        raise MissingExtraError("local", "A model file of one's own") from None
    key = secrets.token_urlsafe(24)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = min(settings.llm_context, 4096) * 2
    parameters.n_parallel = 2
    parameters.verbosity = 0
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    threads = max(1, (os.cpu_count() or 2) - 1)
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise TriviumError(f"The model file {path} cannot be loaded: {error}", "Is it a whole GGUF file?") from error
    return Endpoint(f"{server.listening_address}/v1", key, server)
