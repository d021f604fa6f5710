"""The three tools: strict arguments, the library's own answer, and the restricted profile's promises."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.why_examples import commit, entity, index, module, region, worked_example
from trivium.errors import NotFoundError
from trivium.why.model import Index
from trivium.why.prepared import PreparedIndex
from trivium.why.query import asked_paths, knowledge_why
from trivium.why.redact import redact
from trivium.why.render import render_text
from trivium.why.response import to_json, validate
from trivium.why.tools import PLAIN_NAMES, TOOL_KINDS, call_tool, tool_definitions

TOOLS = sorted(TOOL_KINDS)


def unread() -> Index:
    raise AssertionError("the index was loaded")


def test_the_definitions_are_closed_and_read_only() -> None:
    definitions = tool_definitions()
    assert [found["name"] for found in definitions] == [
        "knowledge.decision",
        "knowledge.concept",
        "knowledge.whyChanged",
    ]
    for found in definitions:
        schema = found["inputSchema"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
        assert list(schema["properties"]) == ["target", "limit", "budgetTokens", "format"]
        assert schema["required"] == ["target"]
        assert found["annotations"]["readOnlyHint"] is True
        assert found["description"]


def test_only_allowed_tools_are_defined_and_callable() -> None:
    allowed = ["knowledge.concept"]
    assert [found["name"] for found in tool_definitions(allowed)] == allowed
    result = call_tool("knowledge.decision", {"target": "Cache"}, unread, allowed=allowed)
    assert result.is_error
    assert result.text == "knowledge.decision is not offered here. Offered: knowledge.concept."
    assert not call_tool("knowledge.concept", {"target": "Cache"}, worked_example, allowed=allowed).is_error


@pytest.mark.parametrize("name", ["knowledge.symbol", "decision", "", "knowledge.Decision"])
def test_an_unknown_tool_is_refused_by_name(name: str) -> None:
    result = call_tool(name, {"target": "Cache"}, unread)
    assert result.is_error
    assert result.text.startswith(f"{name} is not offered here")


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("target", ["Cache", "src/cache.ts", "cache", "Lookup cache"])
@pytest.mark.parametrize("more", [{}, {"limit": 1}, {"budgetTokens": 40, "limit": 3}])
@pytest.mark.parametrize("profile", ["local", "service"])
def test_a_tool_answers_as_the_library_does(tool: str, target: str, more: dict[str, int], profile: Any) -> None:
    source = PreparedIndex(worked_example())
    answer = knowledge_why(
        source,
        target,
        kind=TOOL_KINDS[tool],
        limit=more.get("limit", 20),
        budget_tokens=more.get("budgetTokens"),
        profile=profile,
    )
    result = call_tool(tool, {"target": target, **more}, lambda: source, profile=profile)
    assert (result.text, result.is_error) == (to_json(answer), False)
    validate(json.loads(result.text))
    text = call_tool(tool, {"target": target, **more, "format": "text"}, worked_example, profile=profile)
    asked = asked_paths(source, target, profile=profile)
    assert text.text == render_text(answer, source.view(profile).entity, kind=TOOL_KINDS[tool], asked=asked)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (None, "target"),
        ({}, "target"),
        ([], "arguments"),
        ("Cache", "arguments"),
        ({"target": ""}, "target"),
        ({"target": "  "}, "target"),
        ({"target": "x" * 513}, "target"),
        ({"target": 5}, "target"),
        ({"target": "Cache", "limit": 0}, "limit"),
        ({"target": "Cache", "limit": 101}, "limit"),
        ({"target": "Cache", "limit": "5"}, "limit"),
        ({"target": "Cache", "limit": True}, "limit"),
        ({"target": "Cache", "limit": None}, "limit"),
        ({"target": "Cache", "budgetTokens": 0}, "budgetTokens"),
        ({"target": "Cache", "budgetTokens": 1_000_001}, "budgetTokens"),
        ({"target": "Cache", "budgetTokens": None}, "budgetTokens"),
        ({"target": "Cache", "format": "xml"}, "format"),
        ({"target": "Cache", "format": None}, "format"),
        ({"target": "Cache", "kind": "decision"}, "kind"),
        ({"target": "Cache", "budget_tokens": 5}, "budget_tokens"),
        ({"target": "Cache", "root": "/"}, "root"),
    ],
)
@pytest.mark.parametrize("tool", TOOLS)
def test_bad_arguments_are_refused_before_the_index_is_loaded(tool: str, arguments: Any, named: str) -> None:
    result = call_tool(tool, arguments, unread)
    assert result.is_error
    assert result.text.startswith(f"{tool} invalid arguments: {named} ")


@given(
    st.dictionaries(
        st.sampled_from(["target", "limit", "budgetTokens", "format", "other"]),
        st.one_of(st.text(max_size=4), st.integers(-2, 200), st.none(), st.booleans(), st.just("text")),
    )
)
@settings(max_examples=150, deadline=None)
def test_what_the_advertised_schema_refuses_is_refused(arguments: dict[str, Any]) -> None:
    valid = jsonschema.Draft202012Validator(tool_definitions()[0]["inputSchema"]).is_valid(arguments)
    refused = call_tool("knowledge.decision", arguments, worked_example).is_error
    assert refused or valid
    if valid and arguments["target"].strip():
        assert not refused


@pytest.mark.parametrize("arguments", [{"limit": 5.0}, {"limit": 1.0, "budgetTokens": 60.0}])
def test_a_whole_number_may_be_written_with_a_point_as_in_json_schema(arguments: dict[str, float]) -> None:
    plain = {name: int(value) for name, value in arguments.items()}
    answers = [
        call_tool("knowledge.decision", {"target": "Cache", **given}, worked_example) for given in (arguments, plain)
    ]
    assert not answers[0].is_error
    assert answers[0].text == answers[1].text
    for wrong in (5.5, float("inf"), 0.0, 101.0, True):
        refused = call_tool("knowledge.decision", {"target": "Cache", "limit": wrong}, worked_example)
        assert "limit must be a whole number from 1 to 100" in refused.text


def test_a_failure_to_load_is_told_with_its_hint() -> None:
    def missing() -> Index:
        raise NotFoundError("There is no index of this repository.", "Run `trivium index`.")

    result = call_tool("knowledge.decision", {"target": "Cache"}, missing)
    assert result.is_error
    assert result.text == "knowledge.decision failed: There is no index of this repository. Run `trivium index`."


def test_absolute_targets_are_understood_inside_the_root() -> None:
    arguments = {"target": "/repo/src/cache.ts"}
    found = json.loads(call_tool("knowledge.concept", arguments, worked_example, root="/repo").text)
    assert [one["name"] for one in found["entities"]] == ["Lookup cache"]


# --- the restricted profile -----------------------------------------------------------------------

SECRETS = [
    "AKIAABCDEFGHIJKLMNOP",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "glpat-" + "a1B2" * 5,
    "xoxb-1234567890-abcdef",
    "sk-" + "a1B2" * 8,
    "sk_live_" + "a1B2" * 6,
    "AIza" + "a1B2" * 9,
    "eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghij",
    "-----BEGIN RSA PRIVATE KEY----- MIIEabc -----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNz",
]


def test_local_results_carry_no_meta() -> None:
    assert call_tool("knowledge.decision", {"target": "Cache"}, worked_example).meta == {}
    assert call_tool("knowledge.decision", {}, worked_example).meta == {}


def test_service_results_carry_diagnostics_and_coverage_and_no_commits() -> None:
    source = index(
        module("a"), entities=[commit(1, "a"), entity("change", "Entry", region("CHANGELOG.md"), paths=("a",))]
    )
    result = call_tool("knowledge.whyChanged", {"target": "a"}, lambda: source, profile="service")
    answer = json.loads(result.text)
    assert [found["name"] for found in answer["entities"]] == ["Entry"]
    profile = result.meta["serviceProfile"]
    assert profile["coverage"] == answer["coverage"]
    assert {"code": "history-not-analyzed"}.items() <= profile["diagnostics"][0].items()
    assert [record["status"] for record in profile["coverage"] if record["scope"] == "git:first-parent"] == [
        "not-analyzed"
    ]


def test_a_service_without_an_injected_index_refuses() -> None:
    result = call_tool("knowledge.decision", {"target": "Cache"}, None, profile="service")
    assert result.is_error
    assert "not analyzed" in result.text
    assert "serviceProfile" in result.meta


def test_a_disabled_stored_index_explains_itself_to_a_service() -> None:
    source = worked_example()
    source.entities = None
    result = call_tool("knowledge.decision", {"target": "Cache"}, lambda: source, profile="service")
    answer = json.loads(result.text)
    assert (result.is_error, answer["enabled"]) == (False, False)
    assert [record["status"] for record in answer["coverage"]] == ["not-analyzed"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("written", ["json", "text"])
def test_a_service_redacts_what_looks_like_a_secret_and_stays_valid(secret: str, written: str) -> None:
    other = entity("decision", f"Old {secret}", status=f"key {secret}")
    leaky = entity("decision", "Leaky", aliases=(f"Rotate {secret}",), paths=("a",), status=f"uses {secret}")
    source = index(module("a"), entities=[leaky, other])
    arguments = {"target": f"Rotate {secret}", "format": written}
    result = call_tool("knowledge.decision", arguments, lambda: source, profile="service")
    assert secret not in result.text
    assert "[redacted]" in result.text
    assert [found["code"] for found in result.meta["serviceProfile"]["diagnostics"]] == [
        "history-not-analyzed",
        "redacted",
    ]
    if written == "json":
        validate(json.loads(result.text))
    assert secret in call_tool("knowledge.decision", arguments, lambda: source).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: hunter2hunter2", "password: [redacted]"),
        ("DB_PASSWORD='s3cretvalue'", "DB_PASSWORD='[redacted]'"),
        ('{"api_key": "abcdef123456"}', '{"api_key": "[redacted]"}'),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [redacted]"),
        ("postgres://app:hunter2@db.example/main", "postgres://app:[redacted]@db.example/main"),
    ],
)
def test_named_secrets_lose_their_value_only(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "0" * 64,
        "knowledge-change:" + "0123456789abcdef" * 2 + "01234567",
        "Rotate the token of the cache",
        "token: refresh",
        "The secret: nobody reads the manual",
        "src/risk-assessment-of-the-whole-thing.ts",
        "see https://example.org/a:b/c@2",
        "docs/adr/0007-keep-secrets-out.md:1-30",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


# --- names, contexts ------------------------------------------------------------------------------


def test_plain_names_fit_clients_that_refuse_dots() -> None:
    names = [found["name"] for found in tool_definitions(plain=True)]
    assert names == ["knowledge_decision", "knowledge_concept", "knowledge_whyChanged"]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert [PLAIN_NAMES[name] for name in names] == list(TOOL_KINDS)


def test_both_spellings_are_answered_and_named_as_called() -> None:
    for plain, name in PLAIN_NAMES.items():
        texts = [call_tool(one, {"target": "Cache"}, worked_example).text for one in (plain, name)]
        assert texts[0] == texts[1]
    assert call_tool("knowledge_decision", {}, unread).text.startswith("knowledge_decision invalid arguments: target")
    refused = call_tool("knowledge_concept", {"target": "x"}, unread, allowed=["knowledge.decision"])
    assert refused.text == "knowledge_concept is not offered here. Offered: knowledge_decision."


def test_a_context_is_an_argument_only_where_there_are_several() -> None:
    schema = tool_definitions(contexts=True)[0]["inputSchema"]
    assert list(schema["properties"]) == ["target", "limit", "budgetTokens", "format", "context"]
    arguments = {"target": "Cache", "context": "shop"}
    assert not call_tool("knowledge.decision", arguments, worked_example, contexts=True).is_error
    assert "context is unknown" in call_tool("knowledge.decision", arguments, unread).text
    for value in (None, "", 5):
        refused = call_tool("knowledge.decision", {"target": "x", "context": value}, unread, contexts=True)
        assert refused.text.startswith("knowledge.decision invalid arguments: context ")


def test_descriptions_tell_of_the_short_form_and_the_limit() -> None:
    for found in tool_definitions(about="One more thing."):
        assert "about twenty times shorter" in found["description"]
        assert "`limit`" in found["description"]
        assert found["description"].endswith(" One more thing.")
        assert "truncated" in found["inputSchema"]["properties"]["limit"]["description"]
