"""Capsule files: cutting texts at statement borders, import, export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trivium
from trivium.errors import KipError, TriviumError
from trivium.kip import capsule_export, capsule_text
from trivium.kip.capsule_export import export_capsule
from trivium.kip.capsule_import import ImportReport, import_capsules
from trivium.kip.capsule_text import split_chunks, split_statements
from trivium.kip.lexer import MAX_BYTES, position_of

NODE = 'UPSERT { CONCEPT { {type: "Domain", name: "n%d"} SET ATTRIBUTES { text: "%s" } } }\n'

# --- cutting --------------------------------------------------------------------------------------

_noise = st.sampled_from(["", " ", "\n", "\r\n", "\t", '// UPSERT { " \n', "// a\n// b\n", "\ufeff"])
_inner = st.sampled_from(
    ['"UPSERT {"', '"\\" UPSERT"', '"\\\\"', "?UPSERT", "// UPSERT }\n", "{ a: [1, {}] }", '"深色"']
)


@st.composite
def _statement(draw: st.DrawFn) -> str:
    middle = " ".join(draw(st.lists(_inner, max_size=6)))
    tail = draw(st.sampled_from(["", " WITH METADATA { a: 1 }", "\n// end UPSERT"]))
    end = "\n" if "//" in tail else draw(_noise)
    return f"{draw(_noise)}UPSERT{draw(_noise)}{{ {middle} }}{tail}{end}"


@settings(max_examples=300, deadline=None)
@given(st.lists(_statement(), max_size=6), st.integers(1, 80), st.integers(40, 400), _noise)
def test_pieces_join_to_the_text_and_hold_whole_statements(
    statements: list[str], block: int, limit: int, tail: str
) -> None:
    text = "".join(statements) + (tail if statements else "")
    pieces = [text[at : at + block] for at in range(0, len(text), block)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capsule_text, "MAX_BYTES", limit)
        patch.setattr(capsule_text, "BLOCK", block)
        if max((len((item + tail).encode()) for item in statements), default=0) > limit - 60:
            limit = 10**6
            patch.setattr(capsule_text, "MAX_BYTES", limit)
        chunks = list(split_chunks(pieces))
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(len(chunk.text.encode()) <= limit for chunk in chunks)
    offset = 0
    for chunk in chunks:
        assert (chunk.line, chunk.column) == position_of(text, offset)[:2]
        assert chunk.text.lstrip("\ufeff \t\r\n").startswith(("UPSERT", "//"))
        offset += len(chunk.text)


def test_small_files_stay_one_command() -> None:
    text = (NODE % (1, "a")) * 50
    assert list(split_statements(text)) == [text]


def test_large_files_are_cut_near_the_limit() -> None:
    text = "".join(NODE % (number, "語" * 30) for number in range(5_000))
    parts = list(split_statements(text))
    assert "".join(parts) == text
    sizes = [len(part.encode()) for part in parts]
    assert max(sizes) <= MAX_BYTES
    assert min(sizes[:-1]) > MAX_BYTES - 400


def test_text_without_statements_gives_none() -> None:
    assert list(split_statements("")) == []
    assert list(split_statements(" // nothing here\n")) == []


def test_a_statement_above_the_limit_is_named_by_its_line() -> None:
    text = (NODE % (1, "a")) + "// lead\n\n  " + NODE % (2, "x" * MAX_BYTES) + NODE % (3, "b")
    found = []
    with pytest.raises(KipError) as caught:
        found.extend(split_statements(text))
    assert caught.value.code == "KIP_4002"
    assert "line 4" in caught.value.message
    assert caught.value.position is not None
    assert caught.value.position[:2] == (4, 3)


@pytest.mark.parametrize(
    "text", ['UPSERT { CONCEPT { {type: "A", name: "' + "x" * 10**6, "UPSERT " + "{ a: 1 " * 10**5, "// " + "x" * 10**6]
)
def test_an_endless_statement_is_refused_without_reading_on(text: str) -> None:
    read = 0

    def pieces() -> list[str]:
        nonlocal read
        while True:
            read += 1
            yield text[read % 7 :] if read > 1 else text

    with pytest.raises(KipError, match="longer than 256 KiB"):
        list(split_statements(pieces()))
    assert read < 5


@pytest.mark.parametrize("text", ["DELETE CONCEPT ?x DETACH WHERE { }", "// c\n FIND(?x)", "upsert { }", '"UPSERT"'])
def test_only_upsert_may_begin_a_capsule(text: str) -> None:
    with pytest.raises(KipError, match="a capsule holds UPSERT statements") as caught:
        list(split_statements(text))
    assert caught.value.code == "KIP_1001"


# --- import and export ----------------------------------------------------------------------------


class Recorder:
    """A context that remembers commands and answers as told."""

    def __init__(self, *errors: dict[str, Any] | None) -> None:
        self.errors = list(errors)
        self.commands: list[str] = []

    def execute_kip(self, request: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
        self.commands.append(request["command"])
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            return {"error": error}
        return {"result": {"blocks": 2, "upsert_concept_nodes": ["C:1"], "upsert_proposition_links": []}}


def test_import_counts_and_reports_progress(tmp_path: Path) -> None:
    (tmp_path / "a.kip").write_text("\ufeff" + NODE % (1, "語"), encoding="utf-8")
    seen: list[int] = []
    report = import_capsules(
        Recorder(), [tmp_path / "a.kip", NODE % (2, "b"), [NODE % (3, "c"), "// end"]], progress=seen.append
    )
    assert report == ImportReport(sources=3, commands=3, statements=6, concepts=3, propositions=0)
    assert seen == sorted(seen)
    assert seen[0] == len((NODE % (1, "語")).encode())


def test_an_import_fault_has_its_place_in_the_file(tmp_path: Path) -> None:
    first = (NODE % (1, "x" * 1_000)) * 250
    path = tmp_path / "b.kip"
    path.write_text(first + NODE % (2, "y" * 3_000))
    fault = {
        "code": "KIP_1001",
        "message": "Line 2, column 4: no.",
        "hint": "Mend it.",
        "position": {"line": 2, "column": 4},
    }
    context = Recorder(None, fault)
    with pytest.raises(KipError) as caught:
        import_capsules(context, [path])
    line = context.commands[0].count("\n") + 2
    assert len(context.commands) == 2
    assert caught.value.position is not None
    assert caught.value.position[:2] == (line, 4)
    assert caught.value.message == f"{path}: Line {line}, column 4: no."
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("Mend it. The commands before it were written")


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.kip"
    path.write_bytes(b"// caf\xe9\nUPSERT { }")
    with pytest.raises(TriviumError, match=r"latin\.kip is not a UTF-8 text"):
        import_capsules(Recorder(), [path])


def test_export_of_an_empty_match_is_empty_and_imports() -> None:
    with trivium.open(":memory:") as kb:
        assert list(export_capsule(kb, '{ ?x {type: "Person", name: "nobody"} }')) == []
        report = import_capsules(kb, ["", "// nothing"])
        assert (report.commands, report.sources, report.empty) == (0, 2, 2)


def test_what_selects_an_export_is_one_group() -> None:
    with trivium.open(":memory:") as kb:
        for where in (
            '{ ?x {type: "Domain"} } LIMIT 1 // ',
            '{ ?x {type: "Domain"} } CURSOR "x"',
            '{ ?x {type: "A"} } }',
        ):
            with pytest.raises(KipError) as caught:
                list(export_capsule(kb, where))
            assert caught.value.code == "KIP_1001"
            assert caught.value.hint


def test_a_full_export_carries_every_kind_of_knowledge_over() -> None:
    text = """
    UPSERT {
      CONCEPT ?t { {type: "$ConceptType", name: "Zebra"} }
      CONCEPT ?k { {type: "$PropositionType", name: "abides"} }
      CONCEPT ?p { {type: "$PropositionType", name: "zips"} }
      CONCEPT ?b { {type: "Zebra", name: "b \\"quoted\\" \\n 深色"} SET ATTRIBUTES { n: 1.0, big: 18446744073709551615,
        nested: {a: [null, true, {}]}, "odd key": "x" } SET PROPOSITIONS { ("zips", {type: "Person", name: "$self"}) } }
      WITH METADATA { source: ["a", "b"], confidence: 0.5 }
      PROPOSITION ?l { (?b, "zips", ?b) SET ATTRIBUTES { since: 1 } }
      PROPOSITION ?m { (?b, "abides", ?l) }
      PROPOSITION { (?m, "abides", ?m) } WITH METADATA { author: "x" }
    }"""
    count = "FIND(COUNT(?x)) WHERE { ?x (?s, ?p, ?o) }"
    with trivium.open(":memory:") as one, trivium.open(":memory:") as two:
        import_capsules(one, [text])
        exported = "".join(export_capsule(one))
        import_capsules(two, [exported])
        assert "".join(export_capsule(two)) == exported
        for query in (count, 'FIND(?z.name, ?z.attributes, ?z.metadata.source) WHERE { ?z {type: "Zebra"} }'):
            assert one.execute_kip({"command": query}) == two.execute_kip({"command": query})
        again = two.execute_kip({"command": 'FIND(?z.metadata._version) WHERE { ?z {type: "Zebra"} }'})
        import_capsules(two, [exported])
        assert two.execute_kip({"command": 'FIND(?z.metadata._version) WHERE { ?z {type: "Zebra"} }'}) == again


def test_long_exports_come_in_pages_that_import_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capsule_export, "PAGE", 7)
    ends = '({type: "Domain", name: "n%d"}, "belongs_to_domain", {type: "Domain", name: "n%d"})'
    link = "UPSERT { PROPOSITION { " + ends + " } }\n"
    nodes = "".join(NODE % (number, "t") for number in range(40))
    with trivium.open(":memory:") as one, trivium.open(":memory:") as two:
        import_capsules(one, [nodes, "".join(link % (number, number // 2) for number in range(40))])
        seen: list[int] = []
        pages = list(export_capsule(one, progress=seen.append))
        assert len(pages) > 12
        assert seen[-1] == capsule_export.count_elements(one)
        import_capsules(two, ["".join(pages)])
        assert list(export_capsule(two)) == pages
