"""Response Documents of KnowQL as text for people."""

from __future__ import annotations

import json
from typing import Any

from trivium.answers.composer import NEAREST_TOLD

_SHOWN = 400


def answer_text(document: dict[str, Any]) -> str:
    """The answer of a turn that has ended: its prose, its JSON, or the passages found."""
    structured = document["output_json"]
    if isinstance(structured, dict) and structured.get("answered_by") == "retrieval":
        return _passages(structured)
    prose = "".join(part["text"] for item in document["output"] for part in item["content"])
    parts = [prose] if prose else []
    if structured is not None:
        parts.append(json.dumps(structured, ensure_ascii=False, indent=2))
    return "".join(f"{part}\n" for part in parts)


def sources_text(document: dict[str, Any]) -> str:
    """The citations, numbered as the text marks them; those of one place share a line."""
    if not document["citations"] or _is_retrieval(document):
        return ""
    places: dict[str, list[int]] = {}
    for number, citation in enumerate(document["citations"], 1):
        places.setdefault(_place(citation), []).append(number)
    lines = [f"{' '.join(f'[{number}]' for number in numbers)} {place}" for place, numbers in places.items()]
    return "\n" + "".join(f"{line}\n" for line in lines)


def notes(document: dict[str, Any]) -> list[str]:
    """The warnings that the text of the answer does not say itself."""
    said = _is_retrieval(document) or any(item["content"] for item in document["output"])
    return [warning["message"] for warning in document["warnings"] if not (said and _is_in_text(warning))]


def _is_in_text(warning: dict[str, Any]) -> bool:
    code = warning["code"]
    return code in ("no_evidence", "source_conflict") or (code == "weak_support" and warning["message"] == NEAREST_TOLD)


def _is_retrieval(document: dict[str, Any]) -> bool:
    structured = document["output_json"]
    return isinstance(structured, dict) and structured.get("answered_by") == "retrieval"


def _passages(envelope: dict[str, Any]) -> str:
    items = sorted([*envelope["chunks"], *envelope["artifacts"]], key=lambda item: item["rank"])
    if not items:
        return "Nothing was found.\n"
    return "\n".join(_passage(item) for item in items)


def _passage(item: dict[str, Any]) -> str:
    head = f"{item['rank']}. {_place(item)}  ({item['score']:.2f})"
    text = " ".join(item.get("text", "").split())
    shown = text if len(text) <= _SHOWN else text[:_SHOWN].rsplit(" ", 1)[0] + " …"
    return f"{head}\n   {shown}\n" if shown else f"{head}\n"


def _place(item: dict[str, Any]) -> str:
    """Context, file and lines, page, section: what there is of them."""
    source = item.get("source") or item.get("artifact_name") or item.get("name") or ""
    if lines := item.get("lines"):
        source += f":{lines[0]}" if lines[0] == lines[1] else f":{lines[0]}-{lines[1]}"
    parts = [f"{item['context']}/{source}" if item.get("context") else source]
    if pages := item.get("pages"):
        parts.append(f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}-{pages[-1]}")
    if section := item.get("section_path"):
        parts.append(section)
    return ", ".join(parts)
