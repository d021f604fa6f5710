"""UPSERT: blocks in order, each matching or creating one element (§4.1, notes B.7)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trivium.errors import KipError
from trivium.kip import bind, protect, tree, values
from trivium.kip.bind import Parameters
from trivium.kip.schema_rules import Schemas, check_ends
from trivium.kip.snapshot import IDENTIFIER, Snapshot
from trivium.kip.values import short, show
from trivium.settings import Settings
from trivium.store.graph import Concept, Link, concept_id_text, link_id_text, parse_concept_id, parse_link_id
from trivium.store.graph_writer import GraphWriter
from trivium.store.json_values import equal
from trivium.store.schema import META_TYPES

Metadata = dict[str, Any]


class UpsertResult(Struct):
    """§6.2.2: blocks executed and the ids of top-level blocks in order."""

    blocks: int = 0
    concepts: list[str] = []
    links: list[str] = []

    def to_dict(self, *, dry_run: bool) -> dict[str, Any]:
        return {
            "blocks": self.blocks,
            "upsert_concept_nodes": [] if dry_run else self.concepts,
            "upsert_proposition_links": [] if dry_run else self.links,
        }


class Upserter:
    """Executes the statements of one command text inside one transaction.

    `privileged` lets the installer write protected nodes; with `fill` it only adds keys that are missing. Any fault is
    raised; the caller undoes the transaction.
    """

    def __init__(
        self,
        graph: GraphWriter,
        snapshot: Snapshot,
        parameters: Parameters,
        settings: Settings,
        *,
        privileged: bool = False,
        fill: bool = False,
    ) -> None:
        self._graph = graph
        self._snapshot = snapshot
        self._parameters = parameters
        self._settings = settings
        self._privileged = privileged
        self._fill = fill
        self._types = set(snapshot.types)
        self._predicates = set(snapshot.predicates)
        self._handles: dict[str, int] = {}
        self._known: dict[tuple[str, str], int] = {}
        self.result = UpsertResult()

    def run(self, command: tree.Upsert) -> UpsertResult:
        for statement in command.statements:
            self._handles = {}
            shared = self._metadata(statement.metadata, {})
            for block in statement.blocks:
                metadata = self._metadata(block.metadata, shared)
                if isinstance(block, tree.ConceptBlock):
                    self._concept_block(block, metadata)
                else:
                    self._proposition_block(block, metadata)
            self.result.blocks += 1
        return self.result

    # --- values -----------------------------------------------------------------------------------

    def _object(self, value: tree.Value | None, what: str) -> dict[str, Any]:
        if value is None:
            return {}
        if isinstance(value, tree.Lit) and isinstance(value.value, dict):
            return value.value
        found = bind.resolve(value, self._parameters)
        values.check_object(found, value.at, what)
        return dict(found)

    def _metadata(self, value: tree.Value | None, outer: Metadata) -> Metadata:
        """Inner metadata over outer, key by key (§2.10)."""
        if value is None:
            return outer
        own = self._object(value, "WITH METADATA")
        protect.check_metadata_keys(own, value.at)
        return {**outer, **own} if outer else own

    def _text(self, value: tree.Value, what: str) -> str:
        if isinstance(value, tree.Lit):
            return str(value.value)
        return bind.text(value, self._parameters, what)

    def _require_type(self, name: str, at: int) -> None:
        if name not in self._types:
            self._snapshot.require_type(name, at)

    def _require_predicate(self, name: str, at: int) -> None:
        if name not in self._predicates:
            self._snapshot.require_predicate(name, at)

    def _check_version(self, expected: tree.Value, current: int, what: str) -> None:
        """EXPECT VERSION (§2.11.2): 0 stands for an element that does not exist."""
        value = bind.resolve(expected, self._parameters)
        values.check_version(value, expected.at)
        if value == current:
            return
        hint = None
        if value == 0:
            message = f"{what} already exists (version {current}), but EXPECT VERSION 0 asks that it does not."
        elif current == 0:
            message = f"{what} does not exist, but EXPECT VERSION {value} asks for version {value}."
            hint = "Check its type and name; to create it write EXPECT VERSION 0 or leave the guard out."
        else:
            message = f"{what} is at version {current}, not {value}: another writer has changed it."
        raise KipError("KIP_3005", message, hint, at=expected.at)

    # --- concept blocks ---------------------------------------------------------------------------

    def _concept_block(self, block: tree.ConceptBlock, metadata: Metadata) -> None:
        attributes = self._object(block.attributes, "SET ATTRIBUTES")
        identity = block.identity
        if identity.id is not None:
            node = self._node_by_id(identity.id)
            element_id = self._change_node(block, node, attributes, metadata)
        else:
            assert identity.type is not None
            assert identity.name is not None
            type_, name = self._text(identity.type, "A concept type"), self._text(identity.name, "A concept name")
            self._require_type(type_, identity.type.at)
            found = self._graph.concept_named(type_, name)
            if found is None:
                element_id = self._create_node(block, type_, name, attributes, metadata)
            else:
                element_id = self._change_node(block, found, attributes, metadata)
        for entry in block.propositions:
            self._entry(element_id, entry, metadata)
        if block.handle:  # usable once the block is complete (§4.1, define before use)
            self._handles[block.handle.name] = element_id
        self.result.concepts.append(concept_id_text(element_id))

    def _create_node(
        self, block: tree.ConceptBlock, type_: str, name: str, attributes: dict[str, Any], metadata: Metadata
    ) -> int:
        if block.expect_version is not None:
            self._check_version(block.expect_version, 0, f"{short(type_)}:{short(name)}")
        if not self._privileged and block.identity.name is not None:
            _check_name(type_, name, block.identity.name.at)
        if self._settings.strict_schema:
            Schemas(self._graph).check(type_, name, attributes, attributes, block.at)
        element_id = self._graph.insert_concept(type_, name, attributes, metadata)
        if type_ == "$ConceptType":
            self._types.add(name)
        elif type_ == "$PropositionType":
            self._predicates.add(name)
        self._known[type_, name] = element_id
        return element_id

    def _change_node(
        self, block: tree.ConceptBlock, node: Concept, attributes: dict[str, Any], metadata: Metadata
    ) -> int:
        bare = block.attributes is None and block.metadata is None
        if not self._privileged and not bare:
            protect.check_node_write(node, attributes, block.at)
        if block.expect_version is not None:
            self._check_version(block.expect_version, node.version, f"{short(node.type)}:{short(node.name)}")
        if self._fill:
            attributes = {key: value for key, value in attributes.items() if key not in node.attributes}
            metadata = {key: value for key, value in metadata.items() if key not in node.metadata}
        elif protect.is_core(node.type, node.name) and not self._privileged:
            metadata = {}  # the statement's metadata does not reach a protected node that is only named
        new_attributes = _merged(node.attributes, attributes)
        new_metadata = _merged(node.metadata, metadata)
        if self._settings.strict_schema and new_attributes is not None:
            Schemas(self._graph).check(node.type, node.name, new_attributes, attributes, block.at)
        if new_attributes is not None or new_metadata is not None:
            self._graph.update_concept(node, new_attributes, new_metadata)
        return node.id

    def _node_by_id(self, value: tree.Value) -> Concept:
        text = self._text(value, "A concept id")
        number = parse_concept_id(text)
        node = None if number is None else self._graph.concept(number)
        if node is None:
            raise _missing(f'There is no concept node with id "{short(text)}".', value.at)
        return node

    # --- SET PROPOSITIONS -------------------------------------------------------------------------

    def _entry(self, subject: int, entry: tree.PropositionEntry, outer: Metadata) -> None:
        metadata = self._metadata(entry.metadata, outer)
        predicate = self._text(entry.predicate, "A predicate")
        self._require_predicate(predicate, entry.predicate.at)
        target = self._target(entry.target)
        self._write_link(subject, predicate, target, {}, metadata, None, entry.at)

    def _write_link(
        self,
        subject: int,
        predicate: str,
        object_: int,
        attributes: dict[str, Any],
        metadata: Metadata,
        expected: tree.Value | None,
        at: int,
    ) -> Link | int:
        """Create or change the one link of this triple (§2.10, uniqueness)."""
        found = self._graph.link_between(subject, predicate, object_)
        if found is None:
            if expected is not None:
                self._check_version(expected, 0, f'The "{short(predicate)}" link')
            if self._settings.strict_schema:
                check_ends(self._graph, predicate, subject, object_, at)
            return self._graph.insert_link(subject, predicate, object_, attributes, metadata)
        self._change_link(found, attributes, metadata, expected)
        return found

    def _change_link(
        self, link: Link, attributes: dict[str, Any], metadata: Metadata, expected: tree.Value | None
    ) -> None:
        if expected is not None:
            self._check_version(expected, link.version, f'The "{short(link.predicate)}" link')
        new_attributes = _merged(link.attributes, attributes)
        new_metadata = _merged(link.metadata, metadata)
        if new_attributes is not None or new_metadata is not None:
            self._graph.update_link(link, new_attributes, new_metadata)

    # --- proposition blocks -----------------------------------------------------------------------

    def _proposition_block(self, block: tree.PropositionBlock, metadata: Metadata) -> None:
        attributes = self._object(block.attributes, "SET ATTRIBUTES")
        if isinstance(block.identity, tree.LinkById):
            link = self._link_by_id(block.identity.id)
            self._change_link(link, attributes, metadata, block.expect_version)
            element_id, predicate = link.id, link.predicate
        else:
            predicate = self._predicate_of(block.identity)
            subject = self._target(block.identity.subject)
            object_ = self._target(block.identity.object)
            written = self._write_link(
                subject, predicate, object_, attributes, metadata, block.expect_version, block.at
            )
            element_id = written if isinstance(written, int) else written.id
        if block.handle:
            self._handles[block.handle.name] = element_id
        self.result.links.append(link_id_text(element_id, predicate))

    def _predicate_of(self, pattern: tree.LinkPattern) -> str:
        assert isinstance(pattern.predicate, tree.PredicateNames)
        value = pattern.predicate.names[0]
        predicate = self._text(value, "A predicate")
        self._require_predicate(predicate, value.at)
        return predicate

    def _link_by_id(self, value: tree.Value) -> Link:
        text = self._text(value, "A link id")
        parts = parse_link_id(text)
        link = None if parts is None else self._graph.link(parts[0])
        if link is None or parts is None or link.predicate != parts[1]:
            raise _missing(f'There is no proposition link with id "{short(text)}".', value.at)
        return link

    # --- targets ----------------------------------------------------------------------------------

    def _target(self, term: tree.Term) -> int:
        """The id of an existing element, or of one that an earlier block made (KIP_3001, KIP_3002)."""
        if isinstance(term, tree.Var):
            found = self._handles.get(term.name)
            if found is None:
                raise KipError(
                    "KIP_3001",
                    f"The handle ?{short(term.name)} is not defined before this place.",
                    f"Put the block that defines ?{short(term.name)} earlier in the same UPSERT statement, "
                    'or name an existing node as {type: "…", name: "…"}.',
                    at=term.at,
                )
            return found
        if isinstance(term, tree.ConceptMatch):
            return self._existing_node(term)
        if isinstance(term, tree.LinkById):
            return self._link_by_id(term.id).id
        predicate = self._predicate_of(term)
        subject, object_ = self._target(term.subject), self._target(term.object)
        found = self._graph.link_id(subject, predicate, object_)
        if found is None:
            raise _missing(f'There is no "{short(predicate)}" link between these elements.', term.at)
        return found

    def _existing_node(self, match: tree.ConceptMatch) -> int:
        if match.id is not None:
            return self._node_by_id(match.id).id
        assert match.type is not None
        assert match.name is not None
        type_, name = self._text(match.type, "A concept type"), self._text(match.name, "A concept name")
        found = self._known.get((type_, name))
        if found is not None:
            return found
        self._require_type(type_, match.type.at)
        found = self._graph.concept_id(type_, name)
        if found is None:
            raise _missing(f"There is no concept node {short(type_)}:{short(name)}.", match.at)
        self._known[type_, name] = found
        return found


def _check_name(type_: str, name: str, at: int) -> None:
    """KIP_1002 for a type or predicate that is no identifier (§2.8.1), KIP_2002 for a name that shows nothing."""
    if type_ in META_TYPES:
        if not IDENTIFIER.fullmatch(name):
            what = "A concept type" if type_ == META_TYPES[0] else "A predicate"
            raise KipError(
                "KIP_1002",
                f'{what} cannot be called "{short(name)}": it must be an identifier.',
                "Use ASCII letters, digits and underscore, no digit first: UpperCamelCase for concept types, "
                "snake_case for predicates; $ is reserved for the meta-types. Other words can be aliases.",
                at=at,
            )
    elif not any(character.isprintable() and not character.isspace() for character in name):
        raise KipError(
            "KIP_2002",
            f"The name {show(name)} of a {short(type_)} is empty: nobody could find it.",
            "Give a name that can be read and searched for, such as a title or an id from its source.",
            at=at,
        )


def _missing(message: str, at: int) -> KipError:
    return KipError(
        "KIP_3002", message, "Create it in an earlier block, or confirm its type and name with SEARCH or FIND.", at=at
    )


def _merged(current: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any] | None:
    """The shallow merge (§2.10), or None when it changes nothing."""
    if not changes:
        return None
    for key, value in changes.items():
        if key not in current or not equal(current[key], value):
            return {**current, **changes}
    return None
