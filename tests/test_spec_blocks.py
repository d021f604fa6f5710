"""Every code block of the protocol text parses, or does not, as it should.

The blocks keep the shape of those in the text; names, strings and comments are our own.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.conformance.doors import PythonNexus
from tests.conformance.runner import load_blocks

SYNTAX = frozenset({"KIP_1001", "KIP_1002"})
BLOCKS = load_blocks()


def _text(block: dict[str, Any]) -> str:
    text = block["text"]
    assert isinstance(text, str)
    return str(block.get("wrap", "%s")).replace("%s", text)


def _id(block: dict[str, Any]) -> str:
    return str(block["id"])


@pytest.mark.parametrize("block", BLOCKS, ids=_id)
def test_parser(block: dict[str, Any]) -> None:
    parse = importlib.import_module("trivium.kip.parser").parse
    kip_error = importlib.import_module("trivium.errors").KipError
    if block["parses"]:
        parse(_text(block))
    else:
        with pytest.raises(kip_error) as caught:
            parse(_text(block))
        assert caught.value.code in SYNTAX


@pytest.mark.parametrize("block", BLOCKS, ids=_id)
def test_dry_run(block: dict[str, Any]) -> None:
    """With its parameters the block passes, or fails, the syntax check of a request."""
    nexus = PythonNexus()
    try:
        request = {"command": _text(block), "dry_run": True}
        if "parameters" in block:
            request["parameters"] = block["parameters"]
        code = nexus.execute(request, False).get("error", {}).get("code")
    finally:
        nexus.close()
    assert (code not in SYNTAX) == block["parses"], code
