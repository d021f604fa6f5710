"""A proposal whose title, status and dates stand in a file beside its text is one record (reference 3.2, 4.1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.why_repositories import recompute_regions
from trivium.why.build import Build, Parts, build
from trivium.why.config import load_config
from trivium.why.documents import read_document
from trivium.why.fingerprint import FileHashes
from trivium.why.model import CoverageEvidence, DocumentRegion, Entity

OLD, NEW = "keps/sig-node/127-quotas", "keps/sig-net/2433-hints"
OLD_ID = f"knowledge-decision:{OLD}/README.md:Quotas for disks"
NEW_ID = f"knowledge-decision:{NEW}/README.md:Topology hints"


@pytest.fixture
def place(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "work")
    made.write("README.md", "# Proposals\n")
    made.write("src/hints.py", "class Hints: ...\n")
    made.write(f"{OLD}/README.md", "# KEP-127: Quotas for disks\n\n## Summary\n\nText.\n")
    made.write(
        f"{OLD}/kep.yaml", "title: Quotas for disks\nkep-number: 127\nstatus: replaced\ncreation-date: 2020-07-21\n"
    )
    made.write(f"{NEW}/README.md", "# KEP-2433\n\n## Summary\n\nUse `src/hints.py`.\n")
    made.write(
        f"{NEW}/kep.yaml",
        f"---\ntitle: Topology hints\nauthors:\n  - '@a'\nstatus: implementable # soon\ncreation-date: 2021-02-04\n"
        f"last-updated: 2022-01-01\nreplaces:\n  - /{OLD}\nsuperseded-by:\n  - N/A\nmilestone:\n  alpha: 'v1.21'\n",
    )
    made.commit("docs: propose")
    return made


def made_of(place: GitRepository, parts: Parts | None = None, hashes: FileHashes | None = None) -> Build:
    made = build(place.root, load_config(place.root, entities=True), parts=parts, hashes=hashes)
    recompute_regions(place.root, made.index)
    return made


def decisions(made: Build) -> dict[str, Entity]:
    return {entity.id: entity for entity in made.index.entities or [] if entity.kind == "decision"}


def test_the_text_and_the_file_beside_it_are_one_record(place: GitRepository) -> None:
    found = decisions(made_of(place))
    assert list(found) == [NEW_ID, OLD_ID]
    new, old = found.values()
    assert (new.name, new.status, new.date) == ("Topology hints", "implementable", "2021-02-04")
    assert (old.name, old.status, old.date) == ("Quotas for disks", "replaced", "2020-07-21")
    regions = [evidence for evidence in new.evidence if isinstance(evidence, DocumentRegion)]
    assert [(at.path, at.line_start, at.line_end) for at in regions] == [
        (f"{NEW}/README.md", 1, 5),
        (f"{NEW}/kep.yaml", 1, 13),
    ]
    links = {(link.kind, link.target) for link in new.links}
    assert links >= {("supersedes", OLD_ID), ("affected-path", "src/hints.py")}
    assert ("superseded-by", NEW_ID) in {(link.kind, link.target) for link in old.links}


@pytest.mark.parametrize("target", [f"{OLD}/README.md", f"/{OLD}/kep.yaml", f"../../../{OLD}/"])
def test_a_proposal_is_named_by_its_folder_or_a_file_of_it(place: GitRepository, target: str) -> None:
    place.write(f"{NEW}/kep.yaml", f"title: Topology hints\nreplaces: [{target}]\n")
    assert ("supersedes", OLD_ID) in {(link.kind, link.target) for link in decisions(made_of(place))[NEW_ID].links}


def test_both_files_lead_to_the_record(place: GitRepository) -> None:
    import trivium

    with trivium.open(":memory:") as kb:
        context = kb.repository_context(place.root, create=True)
        context.index_repository(place.root)
        for path in (f"{NEW}/README.md", f"{NEW}/kep.yaml", NEW):
            assert NEW_ID in [entity["id"] for entity in context.why(path, kind="decision")["entities"]]


def test_a_target_that_is_no_record_is_told_at_its_line(place: GitRepository) -> None:
    place.write(f"{NEW}/kep.yaml", "title: Topology hints\nstatus: rejected\nreplaces:\n  - /keps/sig-x/9-gone\n")
    made = made_of(place)
    (record,) = (record for record in made.index.coverage if record.scope == "documents")
    assert (record.reason, record.evidence) == ("unresolved-supersession", [CoverageEvidence(f"{NEW}/kep.yaml", 3)])


@pytest.mark.parametrize(
    "text",
    [
        b"title: A\nauthors:\n  - 'x' (until beta)\n",
        b"- a\n- b\n",
        b"a: &x [1]\nb: *x\n",
        b"a: " + b"[" * 5_000,
        b"title: A\ntitle: B\n",
        b"title: A\n---\ntitle: B\n",
        b"a: !!python/object/apply:os.system ['true']\n",
        b"a: " + b"x" * (70 << 10),
        b"\x00\x01\x02",
    ],
    ids=["quote", "list", "alias", "deep", "twice", "two", "tag", "large", "bytes"],
)
def test_a_file_beside_that_is_no_plain_map_says_nothing_and_is_told(place: GitRepository, text: bytes) -> None:
    place.write(f"{NEW}/kep.yaml", text)
    made = made_of(place)
    (found,) = (entity for entity in decisions(made).values() if entity.id != OLD_ID)
    assert (found.name, found.status) == ("KEP-2433", None)
    (record,) = (record for record in made.index.coverage if record.scope == "documents")
    assert "invalid-frontmatter" in (record.reason or "")
    assert CoverageEvidence(f"{NEW}/kep.yaml", 1) in record.evidence


def test_a_file_beside_that_is_too_large_is_counted(place: GitRepository) -> None:
    place.write(f"{NEW}/kep.yaml", b"# x\n" * (2 << 20))
    made = made_of(place)
    assert any(entity.name == "KEP-2433" for entity in decisions(made).values())
    (record,) = (record for record in made.index.coverage if record.scope == "documents")
    assert (record.reason, record.evidence) == (
        "document-limit: 1 file left unread",
        [CoverageEvidence(f"{NEW}/kep.yaml", 1)],
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be-mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_make_no_difference(place: GitRepository, encoding: str, end: str) -> None:
    text = f"title: Tøpology{end}status: accepted{end}replaces: /{OLD}{end}"
    marked = b"\xfe\xff" + text.encode("utf-16-be") if encoding == "utf-16-be-mark" else text.encode(encoding)
    place.write(f"{NEW}/kep.yaml", marked)
    found = decisions(made_of(place))[f"knowledge-decision:{NEW}/README.md:Tøpology"]
    assert found.status == "accepted"
    assert ("supersedes", OLD_ID) in {(link.kind, link.target) for link in found.links}


def test_a_template_is_no_record_nor_is_half_of_one(place: GitRepository) -> None:
    text = "title: A\nstatus: provisional|implementable|implemented|deferred|rejected\ncreation-date: yyyy-mm-dd\n"
    place.write("keps/NNNN-kep-template/README.md", "# KEP-NNNN: Your short, descriptive title\n")
    place.write("keps/NNNN-kep-template/kep.yaml", text)
    place.write("keps/sig-a/1-x/README.md", "# KEP-1: X\n")
    place.write("keps/sig-a/1-x/kep.yaml", text)
    place.write("keps/sig-a/2-y/README.md", "# KEP-2: Y\n")
    place.write("keps/sig-a/3-z/kep.yaml", "title: Z\nstatus: implemented\n")
    place.write("keps/sig-a/4-w/NOTES.md", "# W\n")
    place.write("keps/sig-a/4-w/kep.yaml", "title: W\nstatus: implemented\n")
    assert list(decisions(made_of(place))) == [NEW_ID, OLD_ID]


def test_a_link_beside_is_never_followed(place: GitRepository) -> None:
    outside = place.root.parent / "outside.yaml"
    outside.write_text("title: Outside\nstatus: accepted\n")
    (place.root / NEW / "kep.yaml").unlink()
    (place.root / NEW / "kep.yaml").symlink_to(outside)
    assert list(decisions(made_of(place))) == [OLD_ID]


def test_a_change_of_either_file_alone_is_seen_and_builds_what_a_first_build_does(place: GitRepository) -> None:
    """What is kept of a text goes with the file beside it, also when that comes or goes."""
    made = made_of(place)
    settle(place)
    for content in (b"title: Other\nstatus: accepted\n", None, b"title: Topology hints\n"):
        file = place.root / NEW / "kep.yaml"
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        settle(place)
        warm = made_of(place, made.parts, made.hashes)
        cold = made_of(place)
        assert (warm.body, warm.fingerprint) == (cold.body, cold.fingerprint)
        assert warm.fingerprint != made.fingerprint
        assert warm.summary.read == 1
        made = warm
    again = made_of(place, made.parts, made.hashes)
    assert (again.summary.read, again.body) == (0, made.body)


def settle(place: GitRepository) -> None:
    for file in place.root.rglob("*.*"):
        if file.is_file() and ".git" not in file.parts:
            os.utime(file, ns=(10**18, 10**18 + 1 + file.stat().st_size))


def test_without_a_file_beside_it_a_text_says_what_it_did() -> None:
    assert read_document(f"{NEW}/README.md", b"# A\n\nStatus: accepted\n").entities == []
    (found,) = read_document(
        f"{NEW}/README.md", b"---\nstatus: old\n---\n# A\n", None, (f"{NEW}/kep.yaml", b"")
    ).entities
    assert (found.name, found.status) == ("A", "old")
