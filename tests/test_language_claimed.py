"""Yes and no in sentences of several clauses: the one that speaks of what is claimed decides, or nothing does."""

from __future__ import annotations

import pytest

from tests.models_support import asked_of

CASES: list[tuple[str, str, bool | None]] = [
    ("Passwords are stored hashed, never in plain text.", "Are passwords stored hashed?", True),
    ("Passwords are stored hashed, never in plain text.", "Are passwords stored in plain text?", False),
    ("Smoking is allowed on the terrace, but not in the offices.", "Is smoking allowed on the terrace?", True),
    ("Smoking is allowed on the terrace, but not in the offices.", "Is smoking allowed in the offices?", False),
    ("Smoking is allowed on the terrace, but not in the offices.", "Is smoking allowed?", None),
    ("The service supports OAuth but does not support SAML.", "Does the service support OAuth?", True),
    ("The service supports OAuth but does not support SAML.", "Does the service support SAML?", False),
    ("Visitors must wear a badge; photos are not permitted.", "Must visitors wear a badge?", True),
    ("Visitors must wear a badge; photos are not permitted.", "Are photos permitted?", False),
    ("Die Kündigung bedarf der Schriftform; eine E-Mail genügt nicht.", "Bedarf die Kündigung der Schriftform?", True),
    ("Die Kündigung bedarf der Schriftform; eine E-Mail genügt nicht.", "Genügt eine E-Mail?", False),
    ("La résiliation doit être écrite ; un e-mail ne suffit pas.", "La résiliation doit-elle être écrite ?", True),
    ("Dogs, cats and birds are not allowed.", "Are dogs allowed?", False),
    ("Dogs, cats and birds are not allowed.", "Are birds allowed?", False),
    ("Cats are not allowed, dogs are.", "Are dogs allowed?", True),
    ("Cats are not allowed, dogs are.", "Are cats allowed?", False),
    ("Dogs are allowed and cats are forbidden.", "Are cats allowed?", False),
    ("Dogs are allowed and cats are forbidden.", "Are dogs allowed?", True),
    ("No dogs, cats or birds are admitted.", "Are birds admitted?", False),
    (
        "Smoking is not allowed on the terrace, in the offices or in the hall.",
        "Is smoking allowed in the offices?",
        False,
    ),
    ("Not only members but also guests may vote.", "May guests vote?", True),
    ("Overtime is paid only for hourly staff.", "Is overtime paid?", None),
    ("OAuth is supported and SAML is not.", "Is OAuth supported?", True),
    ("OAuth is supported and SAML is not.", "Is SAML supported?", False),
    ("允许在露台吸烟，但不允许在办公室吸烟。", "允许在露台吸烟吗？", True),
    ("允许在露台吸烟，但不允许在办公室吸烟。", "允许在办公室吸烟吗？", False),
    ("El gimnasio está incluido, el desayuno no.", "¿Está incluido el gimnasio?", True),
    ("El gimnasio está incluido, el desayuno no.", "¿Está incluido el desayuno?", False),
    ("Собаки разрешены, кошки не разрешены.", "Разрешены ли собаки?", True),
    ("Собаки разрешены, кошки не разрешены.", "Разрешены ли кошки?", False),
    ("Hunde sind erlaubt, Katzen nicht.", "Sind Hunde erlaubt?", True),
    ("Hunde sind erlaubt, Katzen nicht.", "Sind Katzen erlaubt?", False),
    ("Rooms can be used without booking.", "Can rooms be used?", None),
    ("Breakfast is included, lunch is not included.", "Is lunch included?", False),
    ("犬は入れますが、猫は入れません。", "猫は入れますか？", None),
    ("YAML is no longer read.", "Is YAML read?", False),
    ("Members must book no later than Monday.", "Must members book?", True),
    ("SAML will be supported from 2027.", "Is SAML supported?", None),
    ("Oracle support is planned for version 3.0.", "Is Oracle supported?", None),
    ("Support for Oracle was dropped in 2.0.", "Is Oracle supported?", None),
    ("The pool was open until 2020.", "Is the pool open?", None),
    ("Members asked whether dogs are allowed.", "Are dogs allowed?", None),
    ("The board rejected the proposal to allow dogs.", "Are dogs allowed?", None),
    ("Hunde waren bis 2020 erlaubt.", "Sind Hunde erlaubt?", None),
    ("Ob Hunde erlaubt sind, ist offen.", "Sind Hunde erlaubt?", None),
    ("Nobody may smoke in the garage.", "May one smoke in the garage?", False),
    ("It is forbidden to bring glass.", "May I bring glass?", False),
    ("Glass is forbidden.", "Is glass forbidden?", True),
    ("Only room 3 has a bathtub.", "Does room 5 have a bathtub?", None),
    ("The pool is free of charge except on Sundays.", "Is the pool free of charge?", None),
    ("Breaks are unpaid.", "Are breaks paid?", False),
    ("- Dogs: not allowed", "Are dogs allowed?", False),
    ("- Dogs allowed: no", "Are dogs allowed?", False),
    (
        "| Key | Type | Default | Description |\n|---|---|---|---|\n| `tls.enabled` | boolean | false | Encrypt |",
        "Is TLS enabled by default?",
        False,
    ),
    (
        "| Key | Type | Description |\n|---|---|---|\n| `tls.enabled` | boolean | Encrypt traffic |",
        "Is TLS enabled?",
        None,
    ),
]
"""What is written, what is asked, and the answer; None: no evidence."""


@pytest.mark.parametrize(("text", "question", "expected"), CASES)
def test_the_clause_that_speaks_of_it_says_yes_or_no(text: str, question: str, expected: bool | None) -> None:
    shape = {"type": "object", "properties": {"answer": {"type": "boolean"}}, "required": ["answer"]}
    response = asked_of({"rules.md": f"# Rules\n\n{text}\n\nThe office opens at nine.\n"}, question, shape=shape)
    if expected is None:
        assert response["status"] == "failed"
        assert "no evidence for `answer`" in response["error"]
    else:
        assert response["output_json"] == {"answer": expected}
