"""What was read in part names the file and the line: evidence of coverage, summary (reference 4.5, 5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.why_repositories import recompute_regions
from trivium.why.build import build
from trivium.why.config import load_config
from trivium.why.model import Coverage, CoverageEvidence
from trivium.why.reasons import MAX_EVIDENCE, Places, Reasons
from trivium.why.render import render_text

RECORD = "docs/adr/0001-a.md"
FAULTS: dict[str, tuple[str, str | bytes, int]] = {
    "encoding": (RECORD, "# A\n\nGröße\n".encode("latin-1"), 3),
    "invalid-frontmatter": (RECORD, "---\na: [\n---\n# A\n", 1),
    "unresolved-supersession": (RECORD, "---\nx: y\n---\n# A\n\nStatus: superseded by ADR-9\n", 6),
    "metadata-limit": (RECORD, f"# A\n\nDate: {'x' * 200}\n", 3),
    "name-limit": ("glossary.md", f"# Glossary\n\n## {'x' * 300}\n", 3),
    "region-limit": (RECORD, "# A\n" + "x\n" * 20_000, 1),
    "generated-region": ("docs/x.md", "# A\n\n## Decision\n\n<!-- trivium:generated -->\nx\n", 3),
    "heading-limit": ("docs/x.md", "# a\n\n" * 130, 257),
    "node-limit": ("docs/x.md", "a\n\n" * 9_000, 16_385),
    "reference-limit": ("docs/x.md", "`a`\n" * 5_000, 4_097),
    "unbound-glossary-aliases": ("glossary.md", "---\ntitle: G\naliases: x\n---\n## A\n\ny\n", 3),
    "alias-limit": ("docs/x.md", f"---\ntype: concept\naliases: [{', '.join(map(str, range(40)))}]\n---\n# A\n", 1),
    "link-limit": (RECORD, "# A\n\n" + " ".join(f"`f{number}.cfg`" for number in range(70)) + "\n", 1),
    "ambiguous-symbol": (RECORD, "# A\n\nText.\n\nUse `Shared`.\n", 5),
    "document-limit": ("docs/x.md", b"x" * ((4 << 20) + 1), 1),
}


@pytest.mark.parametrize("code", FAULTS)
def test_each_reason_names_the_document_and_the_line(tmp_path: Path, code: str) -> None:
    path, content, line = FAULTS[code]
    place = GitRepository(tmp_path / "work", start=False)
    place.write(path, content)
    for number in range(70):
        place.write(f"f{number}.cfg", "x\n")
    for name in ("a.py", "b.py"):
        place.write(f"src/{name}", "class Shared: ...\n")
    made = build(place.root, load_config(place.root, entities=True))
    recompute_regions(place.root, made.index)
    (record,) = (record for record in made.index.coverage if record.scope == "documents")
    told = f"{code}: 1 file left unread" if code == "document-limit" else code
    assert (record.status, record.reason) == ("partial", told)
    assert record.evidence == [CoverageEvidence(path, line)]
    assert f"documents: partial ({told} at {path}:{line})" in made.summary.diagnostics


def test_notes_that_a_bound_leaves_unread_are_counted_with_its_setting(tmp_path: Path) -> None:
    """In path order over all folders of a source; a note that is too large is none either."""
    place = GitRepository(tmp_path / "work", start=False)
    place.write(RECORD, "# A\n\nStatus: accepted\n")
    for name in ("a/1", "a/2", "b/3", "b/4"):
        place.write(f".agent-memory/{name}.md", f"Note {name} about `{RECORD}`.\n")
    place.write(".cursor/rules/x.mdc", b"x" * ((4 << 20) + 1))
    place.write("trivium.toml", '[safety]\nmaxFiles = 3\nexclude = [".agent-memory/", ".cursor/"]\n')
    made = build(place.root, load_config(place.root, entities=True))
    (record,) = (record for record in made.index.coverage if record.scope == "memory")
    reason = "document-limit: 1 file left unread, file-limit: 1 file left unread by safety.maxFiles (3)"
    assert (record.analyzer, record.status, record.reason) == ("memory-entities", "partial", reason)
    assert [place.path for place in record.evidence] == [".agent-memory/b/4.md", ".cursor/rules/x.mdc"]
    assert f"memory: partial ({reason})" in made.summary.diagnostics
    assert len(made.index.memory_relations) == 3


def test_whole_documents_name_nothing(tmp_path: Path) -> None:
    place = GitRepository(tmp_path / "work", start=False)
    place.write(RECORD, "# A\n\nStatus: accepted\n")
    made = build(place.root, load_config(place.root, entities=True))
    (record,) = (record for record in made.index.coverage if record.scope == "documents")
    assert record == Coverage("knowledge-entities", "documents", "complete")


def test_each_code_has_its_first_places_among_the_evidence() -> None:
    places = Places()
    for number in range(100):
        places.add("many", f"{number:03}.md", 2)
    places.add_all("z.md", {"few": 7, "many": 1})
    places.add("nowhere")
    found = places.evidence()
    assert len(found) == MAX_EVIDENCE
    assert CoverageEvidence("z.md", 7) in found
    assert found == sorted(found, key=lambda place: (place.path, place.line))
    assert places.told() == "few at z.md:7; many at 000.md:2, 001.md:2, 002.md:2 and 98 more; nowhere"


def test_the_first_line_of_a_code_stays() -> None:
    reasons = Reasons()
    for line in (5, 3, 9):
        reasons.add("x", line)
    assert reasons == {"x": 3}


def test_a_text_answer_tells_where() -> None:
    evidence = [CoverageEvidence(f"{number}.md", number) for number in range(1, 6)]
    record = {
        "analyzer": "a",
        "scope": "documents",
        "status": "partial",
        "reason": "encoding",
        "evidence": [{"path": place.path, "line": place.line} for place in evidence],
    }
    answer = {"target": "x", "enabled": True, "entities": [], "documents": [], "coverage": [record], "truncated": False}
    assert "documents: partial — encoding (1.md:1, 2.md:2, 3.md:3 and 2 more)\n" in render_text(answer)
