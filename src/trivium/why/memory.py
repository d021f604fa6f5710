"""Notes of people and agents that support an entity; never promotion or causality (reference 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from trivium.code.front_matter import texts_of
from trivium.errors import TriviumError
from trivium.why.inline import CODE, LINK, MAX_PLAIN, References, cut_text, plain_text, scan_inline
from trivium.why.markdown import LIST, PARAGRAPH, Parsed, parse_markdown
from trivium.why.model import DocumentRegion, Entity, MemoryEvidence, MemoryNote, MemoryRelation, sha256

Named: TypeAlias = Literal["id", "alias", "path"]

MAX_FACT = 400
MAX_RELATIONS = 10_000
MAX_NOTE_BYTES = 1 << 20

_DECLARED = ("references", "refs", "related")
_PIECE = re.compile(r"[^\s()\[\]`\"'<>;,!?]+")
_NOISE = re.compile(r"\b(?:noise|scratch|ignore|discard)\b", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]{1,64}@([\w-]{1,63}(?:\.[\w-]{1,63})+)")
_PUBLIC_MAIL = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|org|net)|example|invalid|test|localhost)|users\.noreply\..*", re.I
)
_SECRET = re.compile(
    r"""
      -----BEGIN\s[A-Z ]*PRIVATE\sKEY
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|npm_[A-Za-z0-9]{30,})
    | \b[sr]k[-_](?:live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{16,}
    | \bAIza[\w-]{30,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*
    | \bBearer\s+[\w.~+/-]{16,}
    | \b\w*(?:password|passwd|pwd)["'`]?\s*[:=]\s*["'`]?[^\s"'`]{6,}
    | \b\w*(?:secret|api[_-]?key|(?:access|auth|private)[_-]?key|token)["'`]?\s*[:=]\s*["'`]?(?=\S*\d)[^\s"'`]{6,}
    | \b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MIXED = re.compile(r"(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*\d)[A-Za-z0-9+/_=-]{40,}")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


def read_note(path: str, data: bytes) -> MemoryNote | None:
    """The candidate of one memory file; None if it is noise, or looks private or secret (6).

    The fact is the first paragraph that is not only links, else the first heading, else the path, which is also the
    candidate's id.

    >>> read_note(".agent-memory/a.md", b"# A\\n\\nUse `Cache`.\\n").fact
    'Use Cache.'
    """
    parsed = parse_markdown(data[:MAX_NOTE_BYTES])
    raw = next((raw for raw, _ in _paragraphs(parsed) if not _only_links(raw, parsed.references)), None)
    if raw is None:
        raw = parsed.headings[0].raw if parsed.headings else ""
    front = {key.lower(): value for key, value in parsed.front.values.items()}
    declared = [text for key in _DECLARED for text in texts_of(front.get(key))]
    return _note(path, path, raw, parsed.references, declared)


def read_notes(path: str, data: bytes) -> list[MemoryNote]:
    """One candidate a paragraph or list item, for instruction files such as `AGENTS.md` (6; off by default).

    A candidate's id is the path and the line on which it begins.
    """
    parsed = parse_markdown(data[:MAX_NOTE_BYTES])
    notes = (
        _note(f"{path}:{line}", path, raw, parsed.references, [])
        for raw, line in _passages(parsed)
        if not _only_links(raw, parsed.references)
    )
    return [note for note in notes if note is not None]


def relate(notes: Iterable[MemoryNote], entities: Iterable[Entity]) -> list[MemoryRelation]:
    """Which notes name which entities: by id, by alias or name, or by the path of a document region (6).

    A value that belongs to two entities names neither. More than 10,000 relations are refused with an error.
    """
    values = _reference_values(entities)
    relations: list[MemoryRelation] = []
    for note in notes:
        fact_hash = sha256(note.fact.encode())
        for token in dict.fromkeys((note.fact, *note.references)):
            if named := values.get(token):
                target, kind = named
                evidence = MemoryEvidence(kind, token, fact_hash, note.raw_path)
                relations.append(MemoryRelation("memory-supports", note.candidate_id, target, evidence))
        if len(relations) > MAX_RELATIONS:
            raise TriviumError(
                f"The memory notes name entities more than {MAX_RELATIONS} times.",
                "Leave out a memory folder, or switch memory off.",
            )
    return sorted(relations, key=relation_order)


def relation_order(relation: MemoryRelation) -> tuple[str, str, str, str, str, str]:
    """Target, candidate, evidence kind, value, raw path, fact hash (6, row `in an answer`)."""
    evidence = relation.evidence
    return (
        relation.target,
        relation.candidate_id,
        evidence.kind,
        evidence.value,
        evidence.raw_path or "",
        evidence.fact_hash,
    )


# --- reading --------------------------------------------------------------------------------------


def _paragraphs(parsed: Parsed) -> Iterable[tuple[str, int]]:
    return ((block.text, block.line) for block in parsed.blocks if block.kind == PARAGRAPH)


def _passages(parsed: Parsed) -> Iterable[tuple[str, int]]:
    for block in parsed.blocks:
        if block.kind == PARAGRAPH:
            yield block.text, block.line
        elif block.kind == LIST:
            yield from ((item.text, item.line) for item in block.items)


def _only_links(raw: str, references: References) -> bool:
    """Whether every line is nothing but links."""
    if "[" not in raw:
        return not raw.strip()
    kept: list[str] = []
    position = 0
    for found in scan_inline(raw, references):
        if found.kind == LINK and found.start >= position:
            kept.append(raw[position : found.start])
            position = found.end
    kept.append(raw[position:])
    return not re.search(r"\w", "".join(kept))


def _note(candidate: str, path: str, raw: str, references: References, declared: list[str]) -> MemoryNote | None:
    raw = raw[:MAX_PLAIN]
    whole = plain_text(raw, references)
    if _is_private(whole) or _is_private(raw) or _NOISE.search(whole):
        return None
    fact = _shortened(whole) or path
    tokens = [token for match in _PIECE.finditer(fact) for token in (match.group(), match.group().rstrip(".:"))]
    for found in scan_inline(raw, references):
        if (found.kind == CODE and " ".join(found.value.split()) in fact) or (found.kind == LINK and fact == whole):
            tokens.append(found.value.removeprefix("./"))
    return MemoryNote(candidate, fact, path, list(dict.fromkeys(filter(None, [*tokens, *declared]))))


def _shortened(text: str) -> str:
    """At most 400 characters, cut at the end of a sentence, else of a word."""
    if len(text) <= MAX_FACT:
        return text
    head = text[: MAX_FACT + 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(head)]
    if ends:
        return head[: ends[-1]]
    space = head.rfind(" ")
    return head[:space] if space > 0 else cut_text(text, MAX_FACT)


def _is_private(text: str) -> bool:
    """Whether a text looks like it holds a secret or somebody's e-mail address."""
    if _SECRET.search(text) or _MIXED.search(text):
        return True
    return any(not _PUBLIC_MAIL.fullmatch(match.group(1)) for match in _EMAIL.finditer(text))


# --- matching -------------------------------------------------------------------------------------


def _reference_values(entities: Iterable[Entity]) -> dict[str, tuple[str, Named]]:
    """Each value that names exactly one entity, with that entity's id and the kind of the value."""
    values: dict[str, tuple[str, Named] | None] = {}
    for entity in entities:
        own: dict[str, Named] = {entity.id: "id"}
        for name in (entity.name, *entity.aliases):
            own.setdefault(name, "alias")
        for evidence in entity.evidence:
            if isinstance(evidence, DocumentRegion):
                own.setdefault(evidence.path, "path")
        for value, kind in own.items():
            values[value] = None if value in values else (entity.id, kind)
    return {value: named for value, named in values.items() if named is not None}
