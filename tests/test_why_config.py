"""Configuration of the repository index (reference 12, 14)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from trivium.errors import TriviumError
from trivium.why.config import LEAVES, SERVICE_LEAVES, Config, ConfigError, globs, load_config


def nested(key: str, value: Any) -> dict[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def foreign(root: Path, data: Any) -> Path:
    file = root / "doc-bridge.config.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return file


def own(root: Path, text: str) -> Path:
    file = root / "trivium.toml"
    file.write_text(text)
    return file


def test_a_repository_without_configuration_has_the_defaults(tmp_path: Path) -> None:
    config = load_config(tmp_path)
    assert config == Config()
    assert (config.entities, config.max_commits, config.max_files) == (False, 500, 10_000)
    assert config.memory_adapters == ("playbook-memory", "cursor-rules")
    assert config.mcp_tools == ("knowledge.decision", "knowledge.concept", "knowledge.whyChanged")


def test_every_key_of_the_own_file_is_read(tmp_path: Path) -> None:
    file = own(
        tmp_path,
        """
        schemaVersion = 1
        [index]
        outFile = "./state/why/index.json"
        [index.knowledgeEntities]
        enabled = true
        maxCommits = 5000
        sinceTag = "v1.0/rc-1"
        [intelligence.memory]
        enabled = false
        adapters = ["instructions", "cursor-rules"]
        ingestDir = ["notes/", "more/notes"]
        [safety]
        exclude = ["vendor/"]
        maxFiles = 7
        maxBytes = 8
        maxTimeMs = 9
        maxMemoryMb = 10
        [surfaces.mcp]
        tools = ["knowledge.concept"]
        [knowledge]
        records = ["design/*.md"]
        glossaries = ["terms.md"]
        changelogs = ["releases/*.md"]
        generatedMarker = "mine"
        """,
    )
    assert load_config(tmp_path) == Config(
        entities=True,
        max_commits=5000,
        since_tag="v1.0/rc-1",
        out_file="state/why/index.json",
        memory=False,
        memory_adapters=("cursor-rules", "instructions"),
        memory_dirs=("notes", "more/notes"),
        exclude=("vendor/",),
        max_files=7,
        max_bytes=8,
        max_time_ms=9,
        max_memory_mb=10,
        mcp_tools=("knowledge.concept",),
        records=("design/*.md",),
        glossaries=("terms.md",),
        changelogs=("releases/*.md",),
        generated_markers=("mine",),
        path=file.as_posix(),
    )


def test_the_doc_bridge_file_is_read_with_its_own_keys_passed_over(tmp_path: Path) -> None:
    foreign(
        tmp_path,
        {
            "schemaVersion": 1,
            "corpus": {"agent": {"root": "docs"}},
            "routing": {"anything": [1]},
            "index": {"knowledgeEntities": {"enabled": True, "maxCommits": 50}, "llmsTxt": {"enabled": False}},
            "intelligence": {"enabled": False, "memory": {"ingestDir": "notes", "classify": True}},
            "safety": {"redactSecrets": True, "exclude": ["**/gen/**"]},
            "surfaces": {"mcp": {"enabled": True, "tools": ["doc.search", "knowledge.decision"]}},
        },
    )
    config = load_config(tmp_path)
    assert (config.entities, config.max_commits, config.memory_dirs) == (True, 50, ("notes",))
    assert config.mcp_tools == ("knowledge.decision",)
    assert config.generated_markers == ("trivium:generated", "doc-bridge:generated")


def test_the_own_file_wins(tmp_path: Path) -> None:
    foreign(tmp_path, "{not even JSON")
    own(tmp_path, "[safety]\nmaxFiles = 3\n")
    assert load_config(tmp_path).max_files == 3


def test_a_named_file_is_read_from_the_root_in_the_form_of_its_ending(tmp_path: Path) -> None:
    own(tmp_path, "[safety]\nmaxFiles = 3\n").rename(tmp_path / "other.toml")
    foreign(tmp_path, {"safety": {"maxFiles": 4}}).rename(tmp_path / "other.json")
    assert load_config(tmp_path, "other.toml").max_files == 3
    assert load_config(tmp_path, tmp_path / "other.json").max_files == 4
    with pytest.raises(ConfigError, match=r"gone\.toml cannot be read"):
        load_config(tmp_path, "gone.toml")


@pytest.mark.parametrize(
    ("data", "key", "hint"),
    [
        ({"index": {"knowledgeEntities": {"maxcommits": 1}}}, "index.knowledgeEntities.maxcommits", "maxCommits"),
        ({"indexes": {}}, "indexes", "index"),
        ({"surfaces": {"mcp": {"zzz": 1}}}, "surfaces.mcp.zzz", "Known keys here: enabled, http, tools, transport."),
        ({"knowledge": {"record": []}}, "knowledge.record", "records"),
    ],
)
def test_an_unknown_key_is_refused_with_its_path_and_a_hint(
    tmp_path: Path, data: dict[str, Any], key: str, hint: str
) -> None:
    foreign(tmp_path, data)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert isinstance(caught.value, TriviumError)
    assert caught.value.key == key
    assert caught.value.message == f"{key} is not a key of the configuration."
    assert hint in (caught.value.hint or "")


def test_keys_of_the_other_tool_are_unknown_in_the_own_file(tmp_path: Path) -> None:
    own(tmp_path, "[corpus.agent]\nroot = 'docs'\n")
    with pytest.raises(ConfigError, match="corpus is not a key"):
        load_config(tmp_path)


BAD = [
    ("schemaVersion", [2, "1", True]),
    ("index.knowledgeEntities.enabled", [1, "true", None]),
    ("index.knowledgeEntities.maxCommits", [0, 5001, 1.5, True, "9"]),
    ("index.knowledgeEntities.sinceTag", ["", "-v", "a..b", "a//b", "a/", "a b", "é", "x" * 257, 1]),
    ("index.outFile", ["", "/etc/x", "../x", "a/../../x", ".git/index", ".GIT/x", "a\\b", "C:/x", "x" * 513, 1]),
    ("intelligence.memory.enabled", ["no"]),
    ("intelligence.memory.adapters", [["session-export"], "cursor-rules", [1]]),
    ("intelligence.memory.ingestDir", [[], ["a"] * 33, "..", ["ok", "/abs"], 5]),
    ("safety.exclude", ["*.md", [1], ["!keep"], ["../x"], ["a\nb"], [""], ["x"] * 257]),
    ("safety.maxFiles", [0, -1, "10"]),
    ("safety.maxBytes", [0]),
    ("safety.maxTimeMs", [0]),
    ("safety.maxMemoryMb", [0]),
    ("surfaces.mcp.tools", ["knowledge.decision", [1]]),
    ("knowledge.records", ["docs"]),
    ("knowledge.glossaries", [["!x"]]),
    ("knowledge.changelogs", [{}]),
    ("knowledge.generatedMarker", ["", "a b", "-->", 1, [], ["ok", ""], ["x"] * 9]),
    ("safety", [[], 1]),
]


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD for value in values])
def test_a_value_out_of_bounds_is_refused_with_its_path(tmp_path: Path, key: str, value: Any) -> None:
    foreign(tmp_path, nested(key, value))
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert (caught.value.key or "").startswith(key)
    assert caught.value.message.endswith(".")
    assert caught.value.hint


def test_every_key_has_a_refused_value_above() -> None:
    assert {key for key, _ in BAD} >= set(LEAVES)


def test_a_tool_that_does_not_exist_is_refused_in_the_own_file(tmp_path: Path) -> None:
    own(tmp_path, '[surfaces.mcp]\ntools = ["knowledge.why"]\n')
    with pytest.raises(ConfigError, match=r"surfaces\.mcp\.tools must be a list of names out of"):
        load_config(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not readable JSON"),
        ("[]", "is not an object"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "nested too deeply|is not readable JSON"),
        (" " * ((1 << 20) + 1), "larger than 1 MiB"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, text: str, message: str) -> None:
    foreign(tmp_path, text)
    with pytest.raises(ConfigError, match=message):
        load_config(tmp_path)


def test_bytes_that_are_not_text_are_refused_and_a_byte_order_mark_is_not_content(tmp_path: Path) -> None:
    file = own(tmp_path, "")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not readable TOML"):
        load_config(tmp_path)
    file.write_bytes(b"\xef\xbb\xbf[safety]\nmaxFiles = 3\n")
    assert load_config(tmp_path).max_files == 3


def test_a_link_out_of_the_repository_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "trivium.toml").symlink_to(own(tmp_path, "[safety]\nmaxFiles = 3\n"))
    with pytest.raises(ConfigError, match="leads out of the repository"):
        load_config(root)


def test_entities_are_off_unless_the_caller_or_the_file_says_otherwise(tmp_path: Path) -> None:
    assert load_config(tmp_path, entities=True).entities
    own(tmp_path, "[index.knowledgeEntities]\nenabled = false\n")
    assert not load_config(tmp_path, entities=True).entities


def test_entities_with_the_legacy_hash_are_refused(tmp_path: Path) -> None:
    index = {"contentHash": "sha256-normalized-v1", "knowledgeEntities": {"enabled": False}}
    foreign(tmp_path, {"index": index})
    assert not load_config(tmp_path).entities
    index["knowledgeEntities"] = {"enabled": True}
    foreign(tmp_path, {"index": index})
    with pytest.raises(ConfigError, match="legacy hash"):
        load_config(tmp_path)


def test_the_digest_covers_what_can_change_an_index(tmp_path: Path) -> None:
    plain = load_config(tmp_path).digest
    own(tmp_path, "[index.knowledgeEntities]\nenabled = false\n[surfaces.mcp]\ntools = []\n")
    assert load_config(tmp_path).digest == plain
    for text in ("[safety]\nmaxFiles = 3", "[index.knowledgeEntities]\nmaxCommits = 9", "[knowledge]\nrecords = ['a']"):
        own(tmp_path, text)
        assert load_config(tmp_path).digest != plain
    assert load_config(tmp_path / "..", profile="service").digest != plain


def test_the_restricted_profile_reads_its_allow_list_and_names_the_rest_without_values(tmp_path: Path) -> None:
    foreign(
        tmp_path,
        {
            "schemaVersion": 1,
            "index": {"knowledgeEntities": {"enabled": True, "sinceTag": "hidden value"}},
            "safety": {"exclude": ["gen/"], "maxFiles": 5, "unheard": "hidden value"},
            "surfaces": {"mcp": {"tools": ["hidden value"]}},
            "service": {},
        },
    )
    config = load_config(tmp_path, profile="service", entities=True)
    assert (config.profile, config.entities, config.memory) == ("service", False, False)
    assert (config.exclude, config.max_files) == (("gen/",), 5)
    assert config.ignored == (
        "index.knowledgeEntities.enabled",
        "index.knowledgeEntities.sinceTag",
        "safety.unheard",
        "service",
        "surfaces.mcp.tools",
    )
    assert "hidden value" not in repr(config)


def test_the_restricted_profile_never_admits_the_entity_switch_and_bounds_its_report(tmp_path: Path) -> None:
    assert not any(key.startswith(("index", "intelligence", "knowledge", "surfaces")) for key in SERVICE_LEAVES)
    foreign(tmp_path, {f"key{number}": 1 for number in range(129)})
    with pytest.raises(ConfigError, match="more than 128 keys"):
        load_config(tmp_path, profile="service")
    foreign(tmp_path, {"safety": {"maxFiles": "hidden value"}})
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path, profile="service")
    assert "hidden value" not in f"{caught.value.message}{caught.value.hint}"


def test_patterns_are_those_of_ignore_files_and_take_linear_time() -> None:
    matches = globs(("docs/notes/*.md", "CHANGES*", "gen/"))
    assert [matches(path) for path in ("docs/notes/a.md", "docs/notes/b/a.md", "x/CHANGES.txt", "a/gen/b", "gen")] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert not globs(())("anything")
    assert not globs(("*a" * 100 + "b",))("a" * 400 + os.sep)
