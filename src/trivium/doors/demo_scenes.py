"""The scenes of `trivium demo`: commands on the shipped knowledge about programming languages.

Each scene is a function that talks and runs commands on a stage; the stage prints.
"""

from __future__ import annotations

from typing import Any, Protocol

DESIGNERS = """\
FIND(?who.name, COUNT(?lang))
WHERE {
  ?who {type: "Person"}
  (?who, "designed", ?lang)
}
ORDER BY COUNT(?lang) DESC, ?who.name
LIMIT 5"""

JVM_INFERENCE = """\
FIND(?lang.name, ?lang.attributes.first_appeared, ?maker.name)
WHERE {
  ?lang {type: "ProgrammingLanguage"}
  (?lang, "targets", {type: "Platform", name: "Java Virtual Machine"})
  (?lang, "typed_as", {type: "TypeDiscipline", name: "Type inference"})
  OPTIONAL { (?maker, "designed", ?lang) }
}
ORDER BY ?lang.attributes.first_appeared, ?lang.name, ?maker.name"""

DESCENDANTS = """\
FIND(?young.name, ?young.attributes.first_appeared)
WHERE {
  (?young, "successor_of"{1,}, {type: "ProgrammingLanguage", name: "CPL"})
}
ORDER BY ?young.attributes.first_appeared"""

KETTLE = """\
UPSERT {
  CONCEPT ?kettle {
    {type: "ProgrammingLanguage", name: "Kettle"}
    SET ATTRIBUTES { description: :description, first_appeared: 2026, aliases: ["주전자"] }
    SET PROPOSITIONS {
      ("belongs_to_domain", {type: "Domain", name: "ProgrammingLanguages"})
      ("typed_as", {type: "TypeDiscipline", name: "Type inference"}) WITH METADATA { confidence: 0.8 }
    }
  }
  PROPOSITION { ({type: "Person", name: "Robin Reader"}, "designed", ?kettle) }
}
WITH METADATA { source: "conversation with Robin", author: "$self", confidence: 0.9 }"""

REINFORCE = """\
UPDATE ?pref
SET ATTRIBUTES {
  evidence_count: ADD(COALESCE(?pref.attributes.evidence_count, 0), 1),
  last_observed: :now
}
WHERE {
  ({type: "Person", name: "Robin Reader"}, "prefers", ?pref)
}"""

MERGE = """\
MERGE CONCEPT ?twin INTO ?keep
WHERE {
  ?twin {type: "ProgrammingLanguage", name: "Golang"}
  ?keep {type: "ProgrammingLanguage", name: "Go"}
}"""

KEPT = """\
FIND(?go.attributes.aliases, ?go.metadata._merged_from)
WHERE { ?go {type: "ProgrammingLanguage", name: "Go"} }"""

DISPUTES = """\
FIND(?first.name, ?lang.name, ?verb, ?who.name)
WHERE {
  ?claim (?lang, "holds_milestone", ?first)
  (?who, ?verb, ?claim)
  FILTER(IN(?verb, ["claims", "disputes"]))
}
ORDER BY ?first.name, ?lang.name, ?verb"""

READ_STRENGTHS = """\
FIND(?me.attributes.strengths, ?me.metadata._version)
WHERE { ?me {type: "Person", name: "$self"} }"""

WRITE_STRENGTHS = """\
UPSERT {
  CONCEPT {
    {type: "Person", name: "$self"}
    EXPECT VERSION :version
    SET ATTRIBUTES { strengths: :strengths }
  }
}"""

WRONG_TYPE = """\
FIND(?lang.name)
WHERE { ?lang {type: "programming_language"} }"""

WRONG_OPERATOR = """\
FIND(?lang.name)
WHERE {
  ?lang {type: "ProgrammingLanguage"}
  FILTER(?lang.attributes.first_appeared = 1995)
}"""

MENDED = """\
FIND(?lang.name)
WHERE {
  ?lang {type: "ProgrammingLanguage"}
  FILTER(?lang.attributes.first_appeared == 1995)
}
ORDER BY ?lang.name"""


class Stage(Protocol):
    """Where scenes play."""

    def title(self, text: str) -> None:
        """Begin a scene."""
        ...

    def say(self, text: str) -> None:
        """Explain what comes next."""
        ...

    def run(self, command: str, /, **parameters: Any) -> Any:
        """Show and execute a command, show the answer; gives its result, None for an error."""
        ...


def ask(stage: Stage) -> None:
    stage.title("Ask")
    stage.say("FIND matches patterns. Which languages on the Java virtual machine infer types, and who designed them?")
    stage.run(JVM_INFERENCE)
    stage.say("A path follows a link any number of times. What came of CPL, a language hardly anyone used?")
    stage.run(DESCENDANTS)
    stage.say("Aggregates group by what stands beside them. Who designed the most languages?")
    stage.run(DESIGNERS)


def search(stage: Stage) -> None:
    stage.title("Search")
    stage.say("SEARCH finds what someone means, in any script, by names, other names and descriptions.")
    stage.run('SEARCH CONCEPT "러스트" LIMIT 1')
    stage.run('SEARCH CONCEPT "编程语言" LIMIT 1')
    stage.run('SEARCH CONCEPT "ownership without garbage collector" LIMIT 3')


def change(stage: Stage) -> None:
    stage.title("Remember")
    stage.say("UPSERT writes concepts and links with their source. Text from outside goes into a parameter.")
    description = 'Robin\'s hobby language; "boils down to Lua with types".'
    stage.run(KETTLE, description=description)
    stage.say("Saying it again changes nothing: the same ids, still version 1.")
    stage.run(KETTLE, description=description)
    stage.run('FIND(?k.name, ?k.metadata._version) WHERE { ?k {type: "ProgrammingLanguage", name: "Kettle"} }')
    stage.say("UPDATE computes from what is there: Robin said again what they prefer.")
    stage.run(REINFORCE, now="2026-08-10T18:00:00Z")


def merge(stage: Stage) -> None:
    stage.title("Unite twins")
    stage.say(
        "Notes taken in a hurry hold Golang beside Go. MERGE moves links, names and attributes over, in one step."
    )
    stage.run(MERGE)
    stage.run(KEPT)
    stage.say("The old name still finds it.")
    stage.run('SEARCH CONCEPT "golang" LIMIT 1')


def dispute(stage: Stage) -> None:
    stage.title("Disputes")
    stage.say("A link can be the subject or object of a link, so a memory can hold who claims and who disputes a fact.")
    stage.run(DISPUTES)


def guard(stage: Stage) -> None:
    stage.title("Two writers")
    stage.say("Lists are replaced as a whole. EXPECT VERSION keeps one writer from undoing another. Both read:")
    strengths, version = _one_row(stage.run(READ_STRENGTHS))
    stage.say("The first one writes.")
    stage.run(WRITE_STRENGTHS, version=version, strengths=[*strengths, "history of languages"])
    stage.say("The second one still holds the old version, and is refused.")
    stage.run(WRITE_STRENGTHS, version=version, strengths=[*strengths, "patience"])
    stage.say("It reads again, adds to what is there now, and writes with the new version.")
    strengths, version = _one_row(stage.run(READ_STRENGTHS))
    stage.run(WRITE_STRENGTHS, version=version, strengths=[*strengths, "patience"])


def _one_row(result: Any) -> tuple[list[str], int]:
    columns = result or [[None], [None]]
    return columns[0][0] or [], columns[1][0]


def mistake(stage: Stage) -> None:
    stage.title("Mistakes")
    stage.say("Errors say what to do, so that an agent mends its command alone. A type in the wrong case:")
    stage.run(WRONG_TYPE)
    stage.say("The habit of another language:")
    stage.run(WRONG_OPERATOR)
    stage.say("Mended:")
    stage.run(MENDED)


def primer(stage: Stage) -> None:
    stage.title("What an agent sees first")
    stage.say("DESCRIBE PRIMER says who the agent is and what its memory is about.")
    stage.run("DESCRIBE PRIMER")


SCENES = (ask, search, change, merge, dispute, guard, mistake, primer)
