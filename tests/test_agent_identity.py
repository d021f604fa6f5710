"""The identifier of `$self` and `$system`, as docs/kip-semantics.md tells how to set it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import trivium

DOCS = Path(__file__).parent.parent / "docs" / "kip-semantics.md"
IDS = 'FIND(?a.attributes.id) WHERE { ?a {type: "Person"} FILTER(IN(?a.name, ["$self", "$system"])) }'


def documented() -> str:
    [found] = re.findall(r"```kip\n(UPDATE \?actor.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def set_id(kb: trivium.KnowledgeBase, value: str) -> Any:
    return kb.execute_kip({"command": documented(), "parameters": {"id": value}})["result"]


@pytest.mark.parametrize("strict", [False, True])
def test_the_documented_command_sets_the_identifier_once(tmp_path: Path, strict: bool) -> None:
    path = tmp_path / "memory.db"
    with trivium.open(path, strict_schema=strict) as kb:
        assert set_id(kb, "agent-42") == {"updated": 2, "matched": 2}
        assert set_id(kb, "agent-43") == {"updated": 0, "matched": 0}
        assert kb.execute_kip({"command": IDS})["result"] == ["agent-42", "agent-42"]
        primer = kb.execute_kip({"command": "DESCRIBE PRIMER"})["result"]
        assert primer["identity"]["attributes"]["id"] == "agent-42"


def test_newer_capsules_leave_the_identifier_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with trivium.open(path) as kb:
        set_id(kb, "agent-42")
        with kb._store.write() as session:
            session.execute("UPDATE context SET capsules = 'older'")
    with trivium.open(path) as kb:
        assert kb.execute_kip({"command": IDS})["result"] == ["agent-42", "agent-42"]
