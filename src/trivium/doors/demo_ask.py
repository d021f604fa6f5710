"""The scene of `trivium demo` about questions: a few documents beside the sample graph, and cited answers from both."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from trivium import Context

DOCUMENTS = {
    "services.md": """\
---
date: 2026-02-10
---

# Services of the harbour office

## Billing

The billing service is written in Rust and has run since March 2024. It sends an invoice to the shipping line on the
day on which a ship leaves the harbour.

## Berth planning

The planning service is written in Elixir. It is told the draught of every ship a week ahead and proposes a berth.
""",
    "contracts/northern-lines.md": """\
---
date: 2025-05-02
---

# Contract with Northern Lines

## 3 Fees

### 3.1 Berth fee

The berth fee is 0.42 EUR per gross ton and day.

### 3.2 Payment terms

Invoices are payable within 30 days from receipt. Northern Lines gets a discount of 2 % for payment within 10 days.

## 4 Term

The contract ends on 31 December 2027 and is renewed by a year unless it is cancelled three months before.
""",
    "contracts/southern-star.md": """\
---
date: 2024-11-18
---

# Contract with Southern Star

## 3 Fees

### 3.1 Berth fee

The berth fee is 0.45 EUR per gross ton and day.

### 3.2 Payment terms

Invoices are payable within 14 days from receipt.
""",
}

JOINED = "Who designed the language that the billing service is written in?"
SHAPE = {
    "type": "object",
    "properties": {
        "payment_days": {"type": "integer", "description": "days within which invoices of Northern Lines are payable"},
        "discount_percent": {"type": "number", "description": "discount for early payment"},
    },
    "required": ["payment_days", "discount_percent"],
    "additionalProperties": False,
}


class AskStage(Protocol):
    """What the scene needs of a stage."""

    def title(self, text: str) -> None:
        """Begin a scene."""
        ...

    def say(self, text: str) -> None:
        """Explain what comes next."""
        ...

    def ask(self, context: Context, question: str, **fields: Any) -> dict[str, Any]:
        """Show a question and its answer."""
        ...


def answers(stage: AskStage, context: Context) -> None:
    """Add documents to the context, ask about one, about one and the graph, in a shape, and for what is not there."""
    stage.title("Answers")
    with tempfile.TemporaryDirectory(prefix="trivium-demo-") as folder:
        office = Path(folder) / "office"
        for name, text in DOCUMENTS.items():
            path = office / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        context.add(office)
    done = context.curate()
    stage.say(
        f"A third road: documents in the same store. {done['documents']} were read into {done['chunks']} passages. "
        "Answers quote them and say where; no model is needed."
    )
    stage.ask(context, "When must Northern Lines pay its invoices?")
    stage.say("One document names the language, the graph knows its maker: the answer needs both.")
    stage.ask(context, JOINED)
    stage.say("With a JSON Schema the answer is data that conforms to it, or the turn fails and says why.")
    stage.ask(context, "What are the payment terms of Northern Lines?", shape=SHAPE)
    stage.say("What the knowledge does not hold is not made up.")
    stage.ask(context, "How many tugboats does Northern Lines own?")
