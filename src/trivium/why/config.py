"""Configuration of the repository index (reference 14).

The own form is `trivium.toml` in the repository's root; every key is optional:

    [index]
    outFile = ".trivium/index.json"

    [index.knowledgeEntities]
    enabled = true
    maxCommits = 500
    sinceTag = "v1.0.0"

    [intelligence.memory]
    enabled = true
    adapters = ["playbook-memory", "cursor-rules", "instructions"]
    ingestDir = [".agent-memory"]

    [safety]
    exclude = ["vendor/", "*.min.js"]
    maxFiles = 10000

    [surfaces.mcp]
    tools = ["knowledge.decision", "knowledge.concept", "knowledge.whyChanged"]

    [knowledge]
    records = ["design/notes/*.md"]
    glossaries = ["docs/terms.md"]
    changelogs = ["docs/releases/*.md"]
    generatedMarker = ["trivium:generated", "doc-bridge:generated"]

Without it `doc-bridge.config.json` is read, where the same keys mean the same. Keys that only doc-bridge acts on are
accepted there and have no effect. Exclusions are patterns as in a `.gitignore` file, without `!`; the patterns of
`knowledge` match whole paths, `*` within a folder and `**` across folders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from trivium.errors import TriviumError
from trivium.why.generated import DEFAULT_MARKERS
from trivium.why.model import canonical, sha256

OWN_FILE = "trivium.toml"
DOC_BRIDGE_FILE = "doc-bridge.config.json"
MAX_CONFIG_BYTES = 1 << 20
MAX_IGNORED = 128
MCP_TOOLS = ("knowledge.decision", "knowledge.concept", "knowledge.whyChanged")
MEMORY_ADAPTERS = ("playbook-memory", "cursor-rules", "instructions")

Profile = Literal["local", "service"]


class ConfigError(TriviumError):
    """A configuration cannot be used; `key` is the dotted path of the offending key, if one is to blame."""

    def __init__(self, message: str, hint: str | None = None, *, key: str | None = None) -> None:
        super().__init__(message, hint)
        self.key = key


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Effective settings of one repository; defaults are those of reference 14."""

    entities: bool = False
    max_commits: int = 500
    since_tag: str | None = None
    out_file: str = ".trivium/index.json"
    memory: bool = True
    memory_adapters: tuple[str, ...] = ("playbook-memory", "cursor-rules")
    memory_dirs: tuple[str, ...] = (".agent-memory",)
    exclude: tuple[str, ...] = ()
    max_files: int = 10_000
    max_bytes: int | None = None
    max_time_ms: int | None = None
    max_memory_mb: int | None = None
    mcp_tools: tuple[str, ...] = MCP_TOOLS
    records: tuple[str, ...] = ()
    glossaries: tuple[str, ...] = ()
    changelogs: tuple[str, ...] = ()
    generated_markers: tuple[str, ...] = DEFAULT_MARKERS
    profile: Profile = "local"
    path: str | None = None
    """The file these settings were read from."""
    database: str | None = None
    """The path of the file that holds the index, when it lies in the repository: never listed, nor what SQLite keeps
    beside it."""
    ignored: tuple[str, ...] = ()
    """Keys that the restricted profile does not admit, by path and without values."""

    @property
    def digest(self) -> str:
        """SHA-256 over every setting that can change an index; a switch that is off equals an absent one."""
        values = msgspec.structs.asdict(self)
        for name in ("path", "ignored", "mcp_tools", "database"):
            del values[name]
        return sha256(canonical(values))


@lru_cache(maxsize=64)
def globs(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """A test whether a repository path matches one of these patterns (those of a `.gitignore` file)."""
    if not patterns:
        return lambda path: False
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns).match_file


# --- checks of single values ----------------------------------------------------------------------

Check = Callable[[str, Any], Any]
_TAG = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,255}"
_MARKER = r"[A-Za-z0-9][A-Za-z0-9:._-]{0,63}"


def _bad(key: str, wanted: str, hint: str | None = None) -> ConfigError:
    return ConfigError(f"{key} must be {wanted}.", hint or f"Correct {key} in the configuration file.", key=key)


def _boolean(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _bad(key, "true or false")
    return value


def _whole(low: int, high: int) -> Check:
    def check(key: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _bad(key, f"a whole number from {low:,} to {high:,}")
        return value

    return check


def _tag(key: str, value: Any) -> str:
    fits = isinstance(value, str) and re.fullmatch(_TAG, value) and not value.endswith("/")
    if not fits or ".." in value or "//" in value:
        raise _bad(
            key,
            "the name of a tag: 1 to 256 letters, digits and '._/-', starting with a letter or digit, "
            "without '..', '//' or a final '/'",
            "Run `git tag --list` to see the tags of this repository.",
        )
    return str(value)


def _markers(key: str, value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    fits = isinstance(names, list) and 1 <= len(names) <= 8
    if not fits or not all(isinstance(name, str) and re.fullmatch(_MARKER, name) for name in names):
        raise _bad(
            key, "1 to 64 letters, digits and ':._-', such as 'trivium:generated', or a list of up to 8 such names"
        )
    return tuple(dict.fromkeys(names))


def _inside(key: str, value: Any) -> str:
    """A relative path that stays in the repository and out of `.git`; `./` and a final `/` are dropped."""
    if not isinstance(value, str) or not 1 <= len(value) <= 512 or "\0" in value:
        raise _bad(key, "a path of 1 to 512 characters")
    parts = [part for part in value.split("/") if part not in ("", ".")]
    outside = value.startswith("/") or "\\" in value or ".." in parts or re.match(r"[A-Za-z]:", value) is not None
    if outside or not parts or parts[0].lower() == ".git":
        raise _bad(key, "a relative path inside the repository, with '/' between its parts and outside of '.git'")
    return "/".join(parts)


def _folders(key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_inside(key, value),)
    if not isinstance(value, list) or not 1 <= len(value) <= 32:
        raise _bad(key, "a path, or a list of 1 to 32 paths")
    return tuple(dict.fromkeys(_inside(f"{key}[{number}]", item) for number, item in enumerate(value)))


def _patterns(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 256:
        raise _bad(key, "a list of at most 256 patterns")
    for number, item in enumerate(value):
        if not isinstance(item, str) or not 1 <= len(item) <= 512 or "\n" in item or "\0" in item:
            raise _bad(f"{key}[{number}]", "a pattern of 1 to 512 characters on one line")
        if item.startswith(("!", "#")):
            raise _bad(f"{key}[{number}]", "a pattern that adds", "Patterns only add; remove the leading '!' or '#'.")
        if "\\" in item or ".." in item.split("/"):
            raise _bad(f"{key}[{number}]", "a pattern for paths inside the repository, without '..' and '\\'")
    return tuple(value)


def _exclusions(key: str, value: Any) -> tuple[str, ...]:
    patterns = _patterns(key, value)
    try:
        globs(patterns)
    except ValueError:
        raise _bad(key, "a list of patterns as `.gitignore` files have them") from None
    return patterns


def _names(known: tuple[str, ...], foreign: bool = False) -> Check:
    """A list of names from `known`; with `foreign`, other names are passed over (doc-bridge offers more tools)."""

    def check(key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or len(value) > 64 or not all(isinstance(item, str) for item in value):
            raise _bad(key, "a list of names")
        for item in value:
            if item not in known and not foreign:
                raise _bad(key, f"a list of names out of {', '.join(known)}")
        return tuple(name for name in known if name in value)

    return check


def _version(key: str, value: Any) -> int:
    if value != 1 or isinstance(value, bool):
        raise _bad(key, "the number 1", "This release reads configuration of schemaVersion 1.")
    return 1


# --- the keys -------------------------------------------------------------------------------------

_POSITIVE = _whole(1, 1 << 53)
LEAVES: Mapping[str, tuple[str | None, Check]] = {
    "schemaVersion": (None, _version),
    "index.knowledgeEntities.enabled": ("entities", _boolean),
    "index.knowledgeEntities.maxCommits": ("max_commits", _whole(1, 5_000)),
    "index.knowledgeEntities.sinceTag": ("since_tag", _tag),
    "index.outFile": ("out_file", _inside),
    "intelligence.memory.enabled": ("memory", _boolean),
    "intelligence.memory.adapters": ("memory_adapters", _names(MEMORY_ADAPTERS)),
    "intelligence.memory.ingestDir": ("memory_dirs", _folders),
    "safety.exclude": ("exclude", _exclusions),
    "safety.maxFiles": ("max_files", _POSITIVE),
    "safety.maxBytes": ("max_bytes", _POSITIVE),
    "safety.maxTimeMs": ("max_time_ms", _POSITIVE),
    "safety.maxMemoryMb": ("max_memory_mb", _POSITIVE),
    "surfaces.mcp.tools": ("mcp_tools", _names(MCP_TOOLS)),
    "knowledge.records": ("records", _patterns),
    "knowledge.glossaries": ("glossaries", _patterns),
    "knowledge.changelogs": ("changelogs", _patterns),
    "knowledge.generatedMarker": ("generated_markers", _markers),
}
"""Every key: the field of `Config` it fills, and its check."""

SERVICE_LEAVES = frozenset(
    ("schemaVersion", *(f"safety.{name}" for name in ("exclude", "maxFiles", "maxBytes", "maxTimeMs", "maxMemoryMb")))
)
"""What a configuration may say in the restricted profile (reference 12)."""

_FOREIGN = frozenset(
    [
        "$schema",
        "project",
        "corpus",
        "routing",
        "gates",
        "rules",
        "federation",
        "conformance",
        "audit",
        "reconciliation",
        "analysis",
        "index.llmsTxt",
        "index.capabilities",
        "index.contentHash",
        "safety.redactSecrets",
        "surfaces.cli",
        "surfaces.mcp.enabled",
        "surfaces.mcp.transport",
        "surfaces.mcp.http",
        "intelligence.enabled",
        "intelligence.adapter",
        "intelligence.chat",
        "intelligence.retriever",
        "intelligence.runtime",
        "intelligence.runtimeModule",
        "intelligence.registry",
        "intelligence.memory.classify",
        "intelligence.memory.promote",
    ]
)
"""Keys of doc-bridge with no effect here; what lies below them is not looked at."""


def load_config(
    root: str | Path, path: str | Path | None = None, *, profile: Profile = "local", entities: bool = False
) -> Config:
    """Read the configuration of the repository at `root`, or all defaults if it has none (reference 14).

    `path` names a file instead of `trivium.toml` or `doc-bridge.config.json`; a `.toml` file has the own form, any
    other the JSON form. `entities` is what holds when the file does not say `index.knowledgeEntities.enabled`. The
    caller picks the profile: in `service` only `SERVICE_LEAVES` are read, entities and memory are off, and all other
    keys are listed in `ignored`. Raises ConfigError.
    """
    file = _find(Path(root)) if path is None else Path(root, path)
    data = {} if file is None else _decode(file)
    own = file is None or file.suffix == ".toml"
    ignored: list[str] = []
    if profile == "service":
        data, ignored = _restrict(data)
    fields: dict[str, Any] = {"entities": entities} | _fields(data, own)
    if profile == "service":
        fields |= {"entities": False, "memory": False}
    name = None if file is None else file.as_posix()
    config = Config(**fields, profile=profile, path=name, ignored=tuple(ignored))
    if config.entities and isinstance(data.get("index"), dict) and "contentHash" in data["index"]:
        _check_hash(data["index"]["contentHash"])
    return config


def _find(root: Path) -> Path | None:
    for name in (OWN_FILE, DOC_BRIDGE_FILE):
        file = root / name
        if not os.path.lexists(file):
            continue
        if not file.resolve().is_relative_to(root.resolve()):
            raise ConfigError(
                f"{name} is a link that leads out of the repository, so it is not read.",
                f"Replace it by a file, or name the file with --config {name}.",
            )
        return file
    return None


def _decode(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"The configuration {file.name} cannot be read: {error.strerror or 'no access'}.",
            "Check the path and the rights of the file.",
        ) from None
    if len(data) > MAX_CONFIG_BYTES:
        raise ConfigError(f"The configuration {file.name} is larger than 1 MiB.", "Shorten it; a few keys are enough.")
    try:
        text = data.decode("utf-8-sig")
        value = _loads(text) if file.suffix == ".toml" else msgspec.json.decode(text)
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        form = "TOML" if file.suffix == ".toml" else "JSON"
        detail = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).rstrip(".")
        raise ConfigError(
            f"The configuration {file.name} is not readable {form}: {detail}.", f"Correct the {form} of {file.name}."
        ) from None
    if not isinstance(value, dict):
        raise ConfigError(f"The configuration {file.name} is not an object.", "Write keys and values, such as {}.")
    return value


def _loads(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _fields(data: dict[str, Any], own: bool) -> dict[str, Any]:
    """Fields of `Config` out of the file's nested keys; an unknown key raises."""
    fields: dict[str, Any] = {}

    def visit(node: dict[str, Any], prefix: str) -> None:
        for name, value in node.items():
            key = f"{prefix}{name}"
            if key in LEAVES:
                field, check = LEAVES[key]
                if key == "surfaces.mcp.tools" and not own:
                    check = _names(MCP_TOOLS, foreign=True)
                checked = check(key, value)
                if field is not None:
                    fields[field] = checked
            elif not own and key in _FOREIGN:
                continue
            elif any(leaf.startswith(f"{key}.") for leaf in LEAVES):
                if not isinstance(value, dict):
                    raise _bad(key, "a group of keys")
                visit(value, f"{key}.")
            else:
                raise _unknown(key, own)

    visit(data, "")
    return fields


def _unknown(key: str, own: bool) -> ConfigError:
    import difflib

    prefix, _, name = key.rpartition(".")
    depth = key.count(".")
    siblings = sorted(
        {leaf.split(".")[depth] for leaf in LEAVES if leaf.startswith(f"{prefix}." if prefix else "")}
        | (set() if own else {leaf.split(".")[-1] for leaf in _FOREIGN if leaf.rpartition(".")[0] == prefix})
    )
    close = difflib.get_close_matches(name, siblings, 1, 0.6)
    shown = key if len(key) <= 128 else f"{key[:128]}…"
    hint = f"Did you mean {close[0]}?" if close else f"Known keys here: {', '.join(siblings)}."
    return ConfigError(f"{shown} is not a key of the configuration.", hint, key=key)


def _check_hash(algorithm: Any) -> None:
    if algorithm == "sha256-normalized-v1":
        raise ConfigError(
            "index.contentHash names the legacy hash, which does not cover knowledge entities.",
            "Remove index.contentHash, or switch index.knowledgeEntities.enabled off.",
            key="index.contentHash",
        )


def _restrict(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The admitted part of the file, and the paths of everything else."""
    ignored: list[str] = []

    def visit(node: dict[str, Any], prefix: str) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for name in sorted(node):
            key, value = f"{prefix}{name}", node[name]
            if key in SERVICE_LEAVES:
                kept[name] = value
            elif isinstance(value, dict) and value:
                if inner := visit(value, f"{key}."):
                    kept[name] = inner
            else:
                ignored.append(key[:512])
        return kept

    kept = visit(data, "")
    if len(ignored) > MAX_IGNORED:
        raise ConfigError(
            f"The configuration has more than {MAX_IGNORED} keys that the restricted profile does not admit.",
            f"Keep only what it admits: {', '.join(sorted(SERVICE_LEAVES))}.",
        )
    return kept, ignored
