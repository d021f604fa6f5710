"""Kill writers with SIGKILL at random moments and examine what they leave behind.

    python -m scripts.crash --points 300 --synchronous NORMAL

A child process runs a mixed write load on a file and reports each statement once `execute_kip` has returned. The
parent kills it in the middle of statements, of an import, of closing or of opening, opens the file again, and compares
all it holds with a model in plain Python. Every acknowledged statement must be there; at most the one statement under
way may be there as well, and only whole; `doctor` must find nothing. Prints a table; exits with 1 if anything failed.

A killed process says nothing about a power cut, which only synchronous FULL promises to survive.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import trivium
from trivium.kip.capsule_import import import_capsules
from trivium.kip.capsule_text import split_statements

PHASES = {"mixed": 5, "large": 3, "log": 2, "import": 2, "close": 1, "open": 1}
"""Where the kill aims, with weights."""
TYPES = ("Item", "Batch", "Gauge", "Twin")
PREDICATES = ("part_of", "noted_in", "next_to")
GAUGES = 40
POINTS_PER_FILE = 12
LONGEST_WAIT = 60.0
"""Seconds after which a child that says nothing counts as hung."""

Ref = tuple[Any, ...]
"""An element by what it is: `(type, name)`, or `(subject, predicate, object)` of such references."""


# --- the model ------------------------------------------------------------------------------------


@dataclass
class State:
    """What the store must hold: attributes by reference, and `_merged_from` of nodes that others were merged into."""

    nodes: dict[Ref, dict[str, Any]] = field(default_factory=dict)
    links: dict[Ref, dict[str, Any]] = field(default_factory=dict)
    merged: dict[Ref, list[str]] = field(default_factory=dict)

    def delete_node(self, node: Ref) -> None:
        del self.nodes[node]
        self.merged.pop(node, None)
        for link in [link for link in self.links if _mentions(link, node)]:
            del self.links[link]

    def delete_link(self, link: Ref) -> None:
        for other in [other for other in self.links if other == link or _mentions(other, link)]:
            del self.links[other]

    def merge(self, source: Ref, target: Ref) -> None:
        """§4.4 for twins, which share no link: repoint, fill, keep the name as an alias, delete the source."""
        links = {_replaced(link, source, target): attributes for link, attributes in self.links.items()}
        self.links = links
        filled = self.nodes.pop(source) | self.nodes[target]
        self.nodes[target] = filled | {"aliases": [*filled.get("aliases", []), source[1]]}
        self.merged[target] = [*self.merged.get(target, []), f"{source[0]}:{source[1]}"]


def _mentions(link: Ref, element: Ref) -> bool:
    ends = (link[0], link[2])
    return element in ends or any(len(end) == 3 and _mentions(end, element) for end in ends)


def _replaced(ref: Ref, old: Ref, new: Ref) -> Ref:
    if ref == old:
        return new
    if len(ref) == 3:
        return _replaced(ref[0], old, new), ref[1], _replaced(ref[2], old, new)
    return ref


# --- the load -------------------------------------------------------------------------------------


@dataclass
class Statement:
    """A command text, its parameters, and its effect on the model."""

    kind: str
    text: str
    effect: Callable[[State], None]
    parameters: dict[str, Any] = field(default_factory=dict)
    guarded: Ref | None = None
    """The node whose version must be read into the parameter `version` first."""


class Load:
    """A sequence of statements that follows from a seed; each number leaves its own trace, whole or not at all."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.number = 0
        self.state = State()
        self.batches: list[int] = []
        self.linked: list[int] = []
        self.twins: list[int] = []

    def statement(self, kind: str | None = None) -> Statement:
        """The next statement; the load itself moves on with `done`."""
        rng = random.Random(f"{self.seed}/{self.number}/{kind}")
        if self.number == 0:
            return self._schema()
        if kind is None:
            kinds = ["block"] * 6 + ["update"] * 2 + ["counter"] * 3 + ["several"] * 2 + ["twins"]
            kinds += ["merge"] * 3 * bool(self.twins) + ["delete_links"] * 2 * bool(self.linked)
            kinds += ["delete_batch"] * 3 * (len(self.batches) > 4)
            kind = rng.choice(kinds)
        maker: Callable[[random.Random], Statement] = getattr(self, f"_{kind}")
        return maker(rng)

    def done(self, statement: Statement) -> None:
        """The statement has taken effect."""
        statement.effect(self.state)
        self._note(statement)
        self.number += 1

    def _note(self, statement: Statement) -> None:
        number = self.number
        if statement.kind in ("block", "large", "several", "import"):
            self.batches.append(number)
            self.linked.append(number)
        elif statement.kind == "twins":
            self.twins.append(number)
        elif statement.kind == "merge":
            self.twins.pop(0)
        elif statement.kind == "delete_links":
            self.linked.pop(0)
        elif statement.kind == "delete_batch":
            first = self.batches.pop(0)
            self.linked = [other for other in self.linked if other != first]

    def _schema(self) -> Statement:
        blocks = [f'CONCEPT {{ {{type: "$ConceptType", name: "{name}"}} }}' for name in TYPES]
        blocks += [f'CONCEPT {{ {{type: "$PropositionType", name: "{name}"}} }}' for name in PREDICATES]
        for index in range(GAUGES):
            blocks.append(f'CONCEPT {{ {{type: "Gauge", name: "g{index}"}} SET ATTRIBUTES {{n: 0, seq: 0}} }}')
        blocks.append('CONCEPT { {type: "Gauge", name: "counter"} SET ATTRIBUTES {value: 0} }')

        def effect(state: State) -> None:
            for index in range(GAUGES):
                state.nodes["Gauge", f"g{index}"] = {"n": 0, "seq": 0}
            state.nodes["Gauge", "counter"] = {"value": 0}

        return Statement("schema", "UPSERT {\n" + "\n".join(blocks) + "\n}", effect)

    def _items(self, name: str, count: int, filler: str) -> tuple[str, Callable[[State], None]]:
        """One UPSERT: a batch, items linked to it by SET PROPOSITIONS, and links about those links."""
        number = self.number
        blocks = [f'CONCEPT ?b {{ {{type: "Batch", name: "{name}"}} SET ATTRIBUTES {{seq: {number}, of: {count}}} }}']
        for index in range(count):
            values = f"seq: {number}, part: {index}, filler: {json.dumps(filler)}"
            blocks.append(
                f'CONCEPT ?i{index} {{ {{type: "Item", name: "{name}-{index}"}} SET ATTRIBUTES {{{values}}} '
                f'SET PROPOSITIONS {{ ("part_of", ?b) }} }}'
            )
        for index in range(0, count, 3):
            blocks.append(
                f'PROPOSITION {{ ((?i{index}, "part_of", ?b), "noted_in", ?b) SET ATTRIBUTES {{seq: {number}}} }}'
            )

        def effect(state: State) -> None:
            batch: Ref = ("Batch", name)
            state.nodes[batch] = {"seq": number, "of": count}
            for index in range(count):
                item: Ref = ("Item", f"{name}-{index}")
                state.nodes[item] = {"seq": number, "part": index, "filler": filler}
                state.links[item, "part_of", batch] = {}
                if index % 3 == 0:
                    state.links[(item, "part_of", batch), "noted_in", batch] = {"seq": number}

        return "UPSERT {\n" + "\n".join(blocks) + "\n}\n", effect

    def _block(self, rng: random.Random) -> Statement:
        return Statement("block", *self._items(f"s{self.number}", rng.randint(2, 12), "x" * rng.choice((3, 40, 600))))

    def _large(self, rng: random.Random) -> Statement:
        return Statement("large", *self._items(f"s{self.number}", 500, "large " * rng.randint(10, 40)))

    def _import(self, rng: random.Random) -> Statement:
        return Statement("import", *self._items(f"s{self.number}", 150, "import " * rng.randint(60, 120)))

    def _several(self, rng: random.Random) -> Statement:
        """Several UPSERT statements in one text: they live and die together."""
        parts = [self._items(f"s{self.number}{letter}", rng.randint(1, 5), "several") for letter in "abcd"]
        return Statement("several", "".join(text for text, _ in parts), _all([effect for _, effect in parts]))

    def _update(self, rng: random.Random) -> Statement:
        """Every gauge moves, or none."""
        number = self.number

        def effect(state: State) -> None:
            for index in range(GAUGES):
                gauge = state.nodes["Gauge", f"g{index}"]
                state.nodes["Gauge", f"g{index}"] = gauge | {"n": gauge["n"] + 1, "seq": number}

        text = (
            f"UPDATE ?g SET ATTRIBUTES {{ n: ADD(?g.attributes.n, 1), seq: {number} }} "
            f'WHERE {{ ?g {{type: "Gauge"}} FILTER(STARTS_WITH(?g.name, "g")) }}'
        )
        return Statement("update", text, effect)

    def _counter(self, rng: random.Random) -> Statement:
        node: Ref = ("Gauge", "counter")
        value = self.state.nodes[node]["value"] + 1

        def effect(state: State) -> None:
            state.nodes[node] = {"value": value}

        text = (
            'UPSERT { CONCEPT { {type: "Gauge", name: "counter"} EXPECT VERSION :version '
            "SET ATTRIBUTES {value: :value} } }"
        )
        return Statement("counter", text, effect, {"value": value}, node)

    def _twins(self, rng: random.Random) -> Statement:
        """Two nodes with links of their own and a link about a link, to be merged later."""
        number = self.number
        left, right = ("Twin", f"s{number}-left"), ("Twin", f"s{number}-right")
        links: list[Ref] = []
        for index in range(rng.randint(2, 8)):
            gauge: Ref = ("Gauge", f"g{index}")
            links.append((left, "next_to", gauge))
            links.append((gauge, "next_to", left))
            links.append(((left, "next_to", gauge), "noted_in", right))
        text = "UPSERT {\n"
        for twin, key in ((left, "l"), (right, "r")):
            text += f"CONCEPT {{ {_identity(twin)} SET ATTRIBUTES {{seq: {number}, {key}: {number}}} }}\n"
        for link in links:
            text += f"PROPOSITION {{ {_identity(link)} SET ATTRIBUTES {{seq: {number}}} }}\n"

        def effect(state: State) -> None:
            state.nodes[left] = {"seq": number, "l": number}
            state.nodes[right] = {"seq": number, "r": number}
            for link in links:
                state.links[link] = {"seq": number}

        return Statement("twins", text + "}", effect)

    def _merge(self, rng: random.Random) -> Statement:
        number = self.twins[0]
        left, right = ("Twin", f"s{number}-left"), ("Twin", f"s{number}-right")
        text = f"MERGE CONCEPT ?l INTO ?r WHERE {{ ?l {_identity(left)} ?r {_identity(right)} }}"
        return Statement("merge", text, lambda state: state.merge(left, right))

    def _delete_links(self, rng: random.Random) -> Statement:
        number = self.linked[0]

        def effect(state: State) -> None:
            for link in [link for link in state.links if link[1] == "part_of" and _number(state, link) == number]:
                state.delete_link(link)

        text = f'DELETE PROPOSITIONS ?l WHERE {{ ?l (?i, "part_of", ?b) FILTER(?i.attributes.seq == {number}) }}'
        return Statement("delete_links", text, effect)

    def _delete_batch(self, rng: random.Random) -> Statement:
        number = self.batches[0]

        def effect(state: State) -> None:
            doomed = [node for node, values in state.nodes.items() if node[0] == "Item" and values["seq"] == number]
            for node in doomed:
                del state.nodes[node]
            gone = set(doomed)
            state.links = {link: values for link, values in state.links.items() if not gone & set(_nodes_of(link))}

        text = f'DELETE CONCEPT ?i DETACH WHERE {{ ?i {{type: "Item"}} FILTER(?i.attributes.seq == {number}) }}'
        return Statement("delete_batch", text, effect)


def _all(effects: list[Callable[[State], None]]) -> Callable[[State], None]:
    def effect(state: State) -> None:
        for one in effects:
            one(state)

    return effect


def _number(state: State, link: Ref) -> int:
    number: int = state.nodes[link[0]]["seq"]
    return number


def _nodes_of(ref: Ref) -> list[Ref]:
    return [ref] if len(ref) == 2 else _nodes_of(ref[0]) + _nodes_of(ref[2])


def _identity(ref: Ref) -> str:
    if len(ref) == 2:
        return f'{{type: "{ref[0]}", name: "{ref[1]}"}}'
    return f'({_identity(ref[0])}, "{ref[1]}", {_identity(ref[2])})'


# --- the child ------------------------------------------------------------------------------------


def child(path: str, load: Load, phase: str, synchronous: str, pipe: Connection) -> None:
    """Write until killed; says `begin` and `done` of every step through the pipe."""
    pipe.send(("begin", "open"))
    kb = trivium.open(path, synchronous=synchronous)
    pipe.send(("done", "open"))
    rounds = 0
    while True:
        rounds += 1
        if phase == "import" and rounds == 4:
            _import_many(kb, load, pipe)
        elif phase == "close" and rounds == 25:
            pipe.send(("begin", "close"))
            kb.close()
            pipe.send(("done", "close"))
            return
        else:
            kind = _kind(load, phase, rounds)
            statement = load.statement(kind)
            pipe.send(("begin", statement.kind, kind))
            _execute(kb, statement)
            pipe.send(("done", statement.kind))
            load.done(statement)


def _kind(load: Load, phase: str, rounds: int) -> str | None:
    """The kind that a phase asks for. In `log` the log passes the size at which it is folded into the file."""
    if load.number and (phase == "log" or (phase == "large" and rounds % 4 == 0)):
        return "delete_batch" if phase == "log" and len(load.batches) > 3 else "large"
    return None


def _execute(kb: trivium.KnowledgeBase, statement: Statement) -> None:
    parameters = dict(statement.parameters)
    if statement.guarded is not None:
        found = kb.execute_kip({"command": f"FIND(?x.metadata._version) WHERE {{ ?x {_identity(statement.guarded)} }}"})
        parameters["version"] = found["result"][0]
    response = kb.execute_kip({"command": statement.text, "parameters": parameters})
    if "error" in response:
        raise AssertionError(f"{statement.kind} failed: {response['error']}")


def import_statements(load: Load) -> list[Statement]:
    """The commands of an import: several statements each, as the importer cuts its file."""
    load = copy.deepcopy(load)
    texts: list[str] = []
    effects: list[Callable[[State], None]] = []
    for _ in range(8):
        statement = load.statement("import")
        texts.append(statement.text)
        effects.append(statement.effect)
        load.done(statement)
    commands = []
    for chunk in split_statements("".join(texts)):
        count = chunk.count("CONCEPT ?b ")
        mine, effects = effects[:count], effects[count:]
        commands.append(Statement("import", chunk, _all(mine)))
    return commands


def import_done(load: Load, statement: Statement) -> None:
    """An imported command has taken effect; it carries a number for every UPSERT statement in it."""
    statement.effect(load.state)
    for _ in range(statement.text.count("CONCEPT ?b ")):
        load._note(statement)
        load.number += 1


def _import_many(kb: trivium.KnowledgeBase, load: Load, pipe: Connection) -> None:
    commands = import_statements(load)
    waiting = iter(commands)

    def progress(done: int) -> None:
        import_done(load, next(waiting))
        pipe.send(("done", "import"))

    pipe.send(("begin", "import", "import"))
    import_capsules(kb, ["".join(command.text for command in commands)], progress=progress)
    pipe.send(("done", "import-file"))


# --- the parent -----------------------------------------------------------------------------------


@dataclass
class Figures:
    """What a run has shown."""

    synchronous: str
    points: int = 0
    acknowledged: int = 0
    lost: int = 0
    halved: int = 0
    integrity: int = 0
    faults: list[str] = field(default_factory=list)
    under_way: Counter[str] = field(default_factory=Counter)
    present: int = 0
    absent: int = 0
    slowest_open: float = 0.0
    largest_log: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not (self.lost or self.halved or self.integrity or self.faults)

    def table(self) -> str:
        under_way = ", ".join(f"{kind} {count}" for kind, count in self.under_way.most_common())
        rows = {
            "synchronous": self.synchronous,
            "kill points": self.points,
            "statements acknowledged": self.acknowledged,
            "acknowledged statements lost": self.lost,
            "statements halved": self.halved,
            "integrity failures": self.integrity,
            "other faults": len(self.faults),
            "killed within": under_way,
            "  of those present whole": self.present,
            "  of those absent": self.absent,
            "slowest open": f"{self.slowest_open:.2f} s",
            "largest log": f"{self.largest_log / 1e6:.1f} MB",
            "seconds": f"{self.seconds:.0f}",
        }
        return "\n".join(f"{name:32}{value}" for name, value in rows.items())


def contents(kb: trivium.KnowledgeBase) -> State:
    """All that the store holds of the load."""
    state = State()
    refs: dict[str, Ref] = {}
    for type_ in TYPES:
        for node in _result(kb, f'FIND(?n) WHERE {{ ?n {{type: "{type_}"}} }}'):
            ref: Ref = (type_, node["name"])
            refs[node["id"]] = ref
            state.nodes[ref] = node["attributes"]
            if "_merged_from" in node["metadata"]:
                state.merged[ref] = node["metadata"]["_merged_from"]
    waiting = [link for name in PREDICATES for link in _result(kb, f'FIND(?l) WHERE {{ ?l (?s, "{name}", ?o) }}')]
    while waiting:
        ready = [link for link in waiting if link["subject"] in refs and link["object"] in refs]
        if not ready:
            raise AssertionError(f"{len(waiting)} links whose ends do not exist, as {waiting[0]}")
        for link in ready:
            ref = refs[link["id"]] = (refs[link["subject"]], link["predicate"], refs[link["object"]])
            state.links[ref] = link["attributes"]
        waiting = [link for link in waiting if link["id"] not in refs]
    return state


def _result(kb: trivium.KnowledgeBase, command: str) -> list[Any]:
    response = kb.execute_kip({"command": command})
    if "error" in response:
        if response["error"]["code"] == "KIP_2001":
            return []  # killed before the schema was written
        raise AssertionError(f"{command}: {response['error']}")
    found: list[Any] = response["result"]
    return found


class Harness:
    """One run: files that go through several kills each."""

    def __init__(self, folder: Path, seed: int, synchronous: str) -> None:
        self.folder = folder
        self.rng = random.Random(f"crash {seed}")
        self.seed = seed
        self.figures = Figures(synchronous)
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["trivium", "trivium.base.knowledge_base", "re2"])

    def run(self, points: int) -> Figures:
        begin = time.perf_counter()
        load = Load(0)
        path = self.folder / "none"
        for point in range(points):
            if point % POINTS_PER_FILE == 0:
                path = self.folder / f"{self.figures.synchronous}-{point}.db"
                load = Load(self.seed * 1_000_003 + point)
            phase = self._phase(point, load)
            try:
                load = self.point(path, load, phase)
            except AssertionError as error:
                self.figures.faults.append(f"point {point} ({phase}): {error}")
                path = path.with_name(f"{path.stem}-after-{point}.db")
                load = Load(self.seed * 1_000_003 + point + 500_000)
            self.figures.points += 1
        self.figures.seconds = time.perf_counter() - begin
        return self.figures

    def _phase(self, point: int, load: Load) -> str:
        if point % POINTS_PER_FILE == 0 and point % (2 * POINTS_PER_FILE) == 0:
            return "open"
        return self.rng.choices(list(PHASES), list(PHASES.values()))[0]

    def point(self, path: Path, load: Load, phase: str) -> Load:
        """Run a child, kill it, examine the file; gives the load as far as the file holds it."""
        observer = trivium.open(str(path)) if path.exists() and self.rng.random() < 0.3 else None
        try:
            before = load.number
            load, under_way = self._until_killed(path, load, phase)
            self.figures.acknowledged += load.number - before
            for suffix in ("", "-wal"):
                file = path.with_name(path.name + suffix)
                if suffix and file.exists():
                    self.figures.largest_log = max(self.figures.largest_log, file.stat().st_size)
            if observer is not None:
                load, under_way = self._compare(observer, load, under_way, "an observer that lived on"), None
            begin = time.perf_counter()
            with trivium.open(str(path), timeout=10.0) as kb:
                self.figures.slowest_open = max(self.figures.slowest_open, time.perf_counter() - begin)
                load = self._compare(kb, load, under_way, "the file opened again")
                findings = [check for check in kb.doctor()["checks"] if not check["ok"]]
                if findings:
                    self.figures.integrity += 1
                    raise AssertionError(f"doctor: {findings}")
        except trivium.TriviumError as error:
            raise AssertionError(f"{type(error).__name__}: {error}") from error
        finally:
            if observer is not None:
                observer.close()
        return load

    def _until_killed(self, path: Path, load: Load, phase: str) -> tuple[Load, Statement | None]:
        """The load with all that was acknowledged, and the statement that was under way."""
        mine, theirs = self.context.Pipe(duplex=False)
        process = self.context.Process(
            target=child, args=(str(path), load, phase, self.figures.synchronous, theirs), daemon=True
        )
        process.start()
        theirs.close()
        steps = self.rng.randint(1, 60)
        follower = _Follower(copy.deepcopy(load))
        try:
            while mine.poll(LONGEST_WAIT):
                message = mine.recv()
                follower.hear(message)
                steps -= message[0] == "done"
                if self._is_the_moment(phase, message, steps):
                    time.sleep(self.rng.random() ** 2 * _SPREAD[phase])
                    process.kill()
                    break
            else:
                raise AssertionError(f"the writer has said nothing for {LONGEST_WAIT:g} s, killing it")
            process.join()
            while True:
                follower.hear(mine.recv())
        except EOFError:
            pass
        finally:
            process.kill()
            process.join()
            mine.close()
        if process.exitcode not in (-9, 0):
            raise AssertionError(f"the writer ended by itself with exit code {process.exitcode}")
        self.figures.under_way[follower.at or "between statements"] += 1
        return follower.load, follower.pending()

    def _is_the_moment(self, phase: str, message: tuple[Any, ...], steps: int) -> bool:
        if phase in ("mixed", "log"):
            return steps <= 0
        return message[:2] == ("begin", phase)

    def _compare(self, kb: trivium.KnowledgeBase, load: Load, under_way: Statement | None, what: str) -> Load:
        found = contents(kb)
        expected = load.state
        if found == expected:
            self.figures.absent += under_way is not None
            return load
        if under_way is not None:
            further = copy.deepcopy(load)
            (import_done if under_way.kind == "import" else Load.done)(further, under_way)
            if found == further.state:
                self.figures.present += 1
                return further
        difference = _difference(expected, found)
        if set(expected.nodes) <= set(found.nodes) and under_way is not None:
            self.figures.halved += 1
        else:
            self.figures.lost += 1
        kind = under_way.kind if under_way else "none"
        raise AssertionError(f"{what}: statement {load.number}, under way {kind}: {difference}")


_SPREAD = {"mixed": 0.006, "log": 0.12, "large": 0.09, "import": 0.25, "close": 0.006, "open": 0.08}
"""The longest wait, in seconds, between the chosen moment and the kill."""


class _Follower:
    """Follows the messages of a child with a load of its own."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.at: str | None = None
        self._kind: str | None = None
        self._commands: list[Statement] = []

    def hear(self, message: tuple[Any, ...]) -> None:
        word, kind = message[:2]
        if word == "begin":
            self.at = kind
            self._kind = message[2] if len(message) > 2 else None
            if kind == "import":
                self._commands = import_statements(self.load)
        elif kind == "import":
            import_done(self.load, self._commands.pop(0))
            self.at = "import" if self._commands else None
        else:
            self.at = None
            if kind not in ("open", "close", "import-file"):
                self.load.done(self.load.statement(self._kind))

    def pending(self) -> Statement | None:
        if self.at in (None, "open", "close"):
            return None
        return self._commands[0] if self.at == "import" else self.load.statement(self._kind)


def _difference(expected: State, found: State) -> str:
    parts = []
    for name in ("nodes", "links", "merged"):
        want, have = getattr(expected, name), getattr(found, name)
        missing = [key for key in want if key not in have]
        extra = [key for key in have if key not in want]
        other = [key for key in want if key in have and want[key] != have[key]]
        parts += [
            f"{name} {word}: {len(keys)}, as {keys[0]}"
            for word, keys in (("missing", missing), ("extra", extra), ("different", other))
            if keys
        ]
    return "; ".join(parts)


def run(folder: Path, points: int, synchronous: str, seed: int = 1) -> Figures:
    """Kill `points` writers and give the figures."""
    return Harness(folder, seed, synchronous).run(points)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.crash", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--points", type=int, default=300, help="kills for each mode (default: 300)")
    parser.add_argument("--synchronous", choices=("NORMAL", "FULL", "both"), default="both", help="default: both")
    parser.add_argument("--seed", type=int, default=1, help="seed of the load and of the moments (default: 1)")
    parser.add_argument("--keep", action="store_true", help="keep the files for inspection")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="trivium-crash-"))
    modes = ("NORMAL", "FULL") if options.synchronous == "both" else (options.synchronous,)
    ok = True
    try:
        for mode in modes:
            figures = run(folder, options.points, mode, options.seed)
            print(figures.table(), end="\n\n", flush=True)
            for fault in figures.faults:
                print(f"fault at {fault}")
            ok = ok and figures.ok
    finally:
        if options.keep:
            print(f"files in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if ok else 1


if __name__ == "__main__":
    from scripts import crash  # under this name the writers import it

    sys.exit(crash.main())
