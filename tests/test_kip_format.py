"""Formatting keeps the tree, keeps the comments, and settles at once."""

from __future__ import annotations

import doctest
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import KipError
from trivium.kip import format as format_module
from trivium.kip import format_comments
from trivium.kip.format import WIDTH, format_command
from trivium.kip.format_comments import comments_of
from trivium.kip.lexer import tokenize
from trivium.kip.parser import parse

HERE = Path(__file__).parent
CORPUS: list[dict[str, Any]] = json.loads((HERE / "data/kip_corpus.json").read_text(encoding="utf-8"))
ACCEPTED = [case["text"] for case in CORPUS if case["accepted"]]
APOTHECARY = (HERE / "conformance/kip/setups/apothecary.kip").read_text(encoding="utf-8")

UGLY = """// head
FIND(?d.name,COUNT(?s)) // what
WHERE{?d{name:"x",type:"Drug"} // the drug
// before the link
?l(?d,"eases"|"causes",?s)FILTER(!IN(?d.a,["x",:y])&&(?d.b<1||(?d.c>=2&&?d.e==null)))
OPTIONAL{(?d,"p"{1,1},(?s,:q{0,},{id:"C:1"})) /
/ inside
}
// last in the block
}
ORDER BY COUNT(?s)DESC,?d.name ASC LIMIT 5 // five
// foot
""".replace("/\n/ inside", "// inside")

NEAT = """// head
// what
FIND(?d.name, COUNT(?s))
WHERE {
  // the drug
  ?d {type: "Drug", name: "x"}
  // before the link
  ?l (?d, "eases" | "causes", ?s)
  FILTER(!IN(?d.a, ["x", :y]) && (?d.b < 1 || ?d.c >= 2 && ?d.e == null))
  OPTIONAL {
    // inside
    (?d, "p"{1}, (?s, :q{0,}, {id: "C:1"}))
  }
  // last in the block
}
ORDER BY COUNT(?s) DESC, ?d.name
// five
LIMIT 5
// foot
"""

LONG = "x" * 60
UGLY_CAPSULE = f"""UPSERT{{CONCEPT?a{{{{name:"n",type:"T"}}EXPECT VERSION 0
SET PROPOSITIONS{{("p",?b)WITH METADATA{{c:1,}}, ("q",{{id:"C:2"}}),}}SET ATTRIBUTES{{a:{{}},"b c":[1,-0.5,1e30],// why
d:{{e:"{LONG}",f:["{LONG}"]}}}}}}WITH METADATA:m PROPOSITION{{(id:"P:1")}}
// no more
}}WITH METADATA{{s:"t"}}UPSERT{{CONCEPT{{{{id:"C:1"}}}}}}"""

NEAT_CAPSULE = f"""UPSERT {{
  CONCEPT ?a {{
    {{type: "T", name: "n"}}
    EXPECT VERSION 0
    SET PROPOSITIONS {{
      ("p", ?b) WITH METADATA {{ c: 1 }}
      ("q", {{id: "C:2"}})
    }}
    // why
    SET ATTRIBUTES {{
      a: {{}},
      "b c": [1, -0.5, 1e+30],
      d: {{
        e: "{LONG}",
        f: ["{LONG}"]
      }}
    }}
  }}
  WITH METADATA :m

  PROPOSITION {{
    (id: "P:1")
  }}
  // no more
}}
WITH METADATA {{ s: "t" }}

UPSERT {{
  CONCEPT {{
    {{id: "C:1"}}
  }}
}}
"""


def assert_formats_well(text: str) -> str:
    neat = format_command(text)
    assert repr(parse(neat).command) == repr(parse(text).command)
    assert format_command(neat) == neat
    assert Counter(c.text for c in comments_of(neat)) == Counter(c.text for c in comments_of(text))
    return neat


def test_doctests() -> None:
    assert doctest.testmod(format_module).failed == 0
    assert doctest.testmod(format_comments).failed == 0


@pytest.mark.parametrize(("ugly", "neat"), [(UGLY, NEAT), (UGLY_CAPSULE, NEAT_CAPSULE)])
def test_layout(ugly: str, neat: str) -> None:
    assert assert_formats_well(ugly) == neat


@pytest.mark.parametrize(
    ("ugly", "neat"),
    [
        ("DESCRIBE  PRIMER", "DESCRIBE PRIMER\n"),
        ('DESCRIBE CONCEPT TYPES\nLIMIT 5\nCURSOR "x"', 'DESCRIBE CONCEPT TYPES LIMIT 5 CURSOR "x"\n'),
        ("DESCRIBE PROPOSITION TYPE :t", "DESCRIBE PROPOSITION TYPE :t\n"),
        ('SEARCH CONCEPT "x" LIMIT 2 WITH TYPE :t', 'SEARCH CONCEPT "x" WITH TYPE :t LIMIT 2\n'),
        ('EXPORT ?x WHERE{?x{id:"C:1"}}CURSOR "c"', 'EXPORT ?x\nWHERE {\n  ?x {id: "C:1"}\n}\nCURSOR "c"\n'),
        (
            'UPDATE ?x SET METADATA{a:1}SET ATTRIBUTES{b:ADD(?x.metadata.c,-1)}WHERE{?x{id:"C:1"}}',
            "UPDATE ?x\nSET METADATA { a: 1 }\nSET ATTRIBUTES { b: ADD(?x.metadata.c, -1) }\n"
            'WHERE {\n  ?x {id: "C:1"}\n}\n',
        ),
        (
            'DELETE METADATA{"a",:k}FROM?x WHERE{(id:"P:1")}',
            'DELETE METADATA {"a", :k} FROM ?x\nWHERE {\n  (id: "P:1")\n}\n',
        ),
        ("MERGE CONCEPT?a INTO?b WHERE{(?a,?p,?b)}", "MERGE CONCEPT ?a INTO ?b\nWHERE {\n  (?a, ?p, ?b)\n}\n"),
        ("DELETE CONCEPT?a DETACH WHERE{(?a,?p,?b)}", "DELETE CONCEPT ?a DETACH\nWHERE {\n  (?a, ?p, ?b)\n}\n"),
        ("DELETE PROPOSITIONS?a WHERE{?a(?x,?p,?b)}", "DELETE PROPOSITIONS ?a\nWHERE {\n  ?a (?x, ?p, ?b)\n}\n"),
    ],
)
def test_layout_of_short_statements(ugly: str, neat: str) -> None:
    assert assert_formats_well(ugly) == neat


@pytest.mark.parametrize("text", ACCEPTED, ids=lambda text: text[:60])
def test_every_accepted_text_keeps_its_tree(text: str) -> None:
    assert_formats_well(text)


def test_a_capsule_keeps_its_tree_and_comments() -> None:
    neat = assert_formats_well(APOTHECARY)
    assert neat.startswith("// Apothecary capsule, part 1: the schema\nUPSERT {\n  CONCEPT ?drug {\n")


def test_parsed_text_can_be_formatted_without_parsing_again() -> None:
    assert format_command(parse("DESCRIBE   DOMAINS")) == "DESCRIBE DOMAINS\n"


def test_long_lists_of_find_break() -> None:
    items = ", ".join(f"?d.attributes.quite_long_{number}" for number in range(5))
    neat = assert_formats_well(f'FIND({items}) WHERE {{ ?d {{type: "Drug"}} }}')
    assert neat.startswith("FIND(\n  ?d.attributes.quite_long_0,\n")
    assert all(len(line) <= WIDTH for line in neat.splitlines())


def test_text_outside_the_grammar_is_refused() -> None:
    with pytest.raises(KipError):
        format_command("FIND(?d")


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(st.text("ab_c é\n", max_size=4), inner, max_size=6)
    ),
    max_leaves=30,
)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_any_value_survives(value: object) -> None:
    literal = json.dumps(value)
    assert_formats_well(f"UPSERT {{ CONCEPT {{ {{id: :i}} SET ATTRIBUTES {{ v: {literal}, w: [:p, {literal}] }} }} }}")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([*ACCEPTED, UGLY, UGLY_CAPSULE, APOTHECARY]), st.data())
def test_comments_and_white_space_anywhere_are_no_obstacle(text: str, source: st.DataObject) -> None:
    tokens = tokenize(text)
    gaps = st.sampled_from([" ", "\n", "\r\n", " // a\n", "\n// b\n", "\n\n\t", '// c { "\n// d\r'])
    parts = [token + source.draw(gaps) for token in tokens[:200]] + [token + " " for token in tokens[200:]]
    assert_formats_well(source.draw(gaps) + "".join(parts))
