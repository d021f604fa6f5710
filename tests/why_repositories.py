"""What the tests of whole builds share: a small repository of every kind of file, random edits, and checks."""

from __future__ import annotations

import hashlib
import os
import random
import re
from pathlib import Path
from typing import Any

from tests.git_repository import GitRepository
from trivium.why.model import DocumentRegion, Index

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
WORDS = ("cache", "queue", "store", "graph", "token", "merge", "Ümlaut", "索引")


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a file with their line ends, in UTF-16 where its first bytes say so."""
    encoding = _UTF16.get(data[:2], "latin-1")
    return [line.encode(encoding) for line in _LINE.findall(data.decode(encoding))]


def recompute_regions(root: Path, index: Index) -> int:
    """Check the hash of every region of every entity against the file; gives how many there were."""
    checked = 0
    lines: dict[str, list[bytes]] = {}
    for entity in index.entities or []:
        for region in entity.evidence:
            if not isinstance(region, DocumentRegion):
                continue
            if region.path not in lines:
                lines[region.path] = lines_of((root / region.path).read_bytes())
            own = lines[region.path]
            assert 1 <= region.line_start <= region.line_end <= max(len(own), 1)
            taken = b"".join(own[region.line_start - 1 : region.line_end])
            assert region.region_hash == hashlib.sha256(taken).hexdigest(), (entity.id, region)
            checked += 1
    return checked


def check_order(index: Index) -> None:
    """Everything is ascending and unique where the contract says so."""
    for ids in ([entry.id for entry in index.entries], [entity.id for entity in index.entities or []], index.paths):
        assert ids == sorted(set(ids))
    for entity in index.entities or []:
        assert entity.aliases == sorted(set(entity.aliases))
        for link in entity.links:
            if link.kind == "affected-path":
                assert not link.target.startswith("/")
                assert ".." not in link.target.split("/")


def make(root: Path) -> GitRepository:
    """A few files of each kind and a short history."""
    place = GitRepository(root)
    for path, text in {
        "src/app/cache.py": "class Cache:\n    def get(self): ...\n\n\ndef load(): ...\n",
        "src/app/__init__.py": 'from .cache import Cache\n__all__ = ["Cache"]\n',
        "src/web/view.ts": "export class View {}\nexport const cache = 1;\n",
        "pyproject.toml": '[project]\nname = "app"\n',
        "docs/adr/0001-fifo.md": "# 1. First in\n\n- Status: superseded by [2](0002-lru.md)\n\n`Cache` leaves.\n",
        "docs/adr/0002-lru.md": "---\nstatus: accepted\nsupersedes: 0001-fifo.md\n---\n"
        "# Last used\n\nIn `src/app/cache.py`.\n",
        "docs/glossary.md": "# Glossary\n\n## Cache\n\nKeeps.\n\n## View\n\nShows.\n",
        "docs/guide.md": "# Guide\n\nUse `Cache` or [the view](../src/web/view.ts).\n",
        "CHANGELOG.md": "# Changes\n\n## 1.0.0\n\n- Add `src/app/cache.py`.\n",
        ".agent-memory/note.md": "The Cache is small: see docs/adr/0002-lru.md\n",
    }.items():
        place.write(path, text)
    place.commit("feat(cache): start")
    return place


class Editor:
    """Random edits of a repository, the same for the same seed."""

    def __init__(self, place: GitRepository, seed: int) -> None:
        self.place = place
        self.chance = random.Random(seed)
        self.clock = 1_700_000_000_000_000_001
        self.log: list[str] = []

    def edit(self) -> None:
        """One edit of a kind drawn by lot."""
        kinds = (
            *(self.add_module, self.add_record, self.add_glossary, self.add_changes, self.add_guide, self.add_note),
            *(self.change, self.change, self.change, self.delete, self.rename, self.rename_case, self.commit),
            *(self.configure, self.ignore, self.add_bytes, self.touch),
        )
        kind = self.chance.choice(kinds)
        self.log.append(kind.__name__)
        kind()

    # --- helpers ----------------------------------------------------------------------------------

    def write(self, path: str, text: str | bytes) -> None:
        file = self.place.write(path, text)
        self.clock += 1
        if self.chance.random() < 0.8:  # old enough for its hash to be kept
            os.utime(file, ns=(self.clock, self.clock))
        self.log[-1] += f" {path}"

    def files(self) -> list[str]:
        found = []
        for folder, folders, names in os.walk(self.place.root):
            folders[:] = [name for name in folders if name != ".git"]
            found += [Path(folder, name).relative_to(self.place.root).as_posix() for name in names]
        return sorted(found)

    def word(self) -> str:
        return self.chance.choice(WORDS)

    def cite(self) -> str:
        choices = ("`Cache`", "`src/app/cache.py`", "[x](../src/web/view.ts)", "`View`", "`gone/file.py`", "`app`")
        return self.chance.choice((*choices, f"`{self.chance.choice(self.files())}`"))

    def number(self) -> int:
        return self.chance.randrange(3, 9)

    # --- kinds ------------------------------------------------------------------------------------

    def add_module(self) -> None:
        name = self.word()
        if self.chance.random() < 0.5:
            self.write(f"src/app/{name}.py", f"class {name.title()}: ...\nclass Cache: ...\nx = {self.number()}\n")
        else:
            self.write(f"src/web/{name}.ts", f"export class {name.title()} {{}}\nexport const n = {self.number()};\n")

    def add_record(self) -> None:
        number, other = self.number(), self.number()
        status = self.chance.choice(("accepted", "proposed", f"superseded by ADR-{other}", f"Supersedes {other:04}"))
        forms = (
            f"---\nstatus: {status}\n---\n# {self.word()} it\n\n{self.cite()}\n",
            f"# {number}. {self.word()}\n\n## Status\n\n{status}\n\n## Decision\n\n{self.cite()} {self.cite()}\n",
            f"# {self.word()}\r\n\r\n* Status: {status}\r\n* Date: 2026-01-0{number}\r\n\r\n{self.cite()}",
        )
        self.write(f"docs/adr/{number:04}-{self.word()}.md", self.chance.choice(forms))

    def add_glossary(self) -> None:
        terms = "".join(f"## {self.word().title()}\n\n{self.cite()}\n\n" for _ in range(self.number()))
        self.write(self.chance.choice(("docs/glossary.md", "glossary/terms.md")), f"# Glossary\n\n{terms}")

    def add_changes(self) -> None:
        items = "".join(f"- {self.word()} {self.cite()}\n" for _ in range(self.number()))
        self.write(
            self.chance.choice(("CHANGELOG.md", "HISTORY.rst", "web/CHANGES.txt")),
            f"# Changes\n\n## {self.number()}.0.0\n\n{items}",
        )

    def add_guide(self) -> None:
        front = self.chance.choice(
            ("", "---\ntype: concept\naliases: [Cache]\n---\n", "---\ntrivium:\n  covers: [app]\n---\n")
        )
        text = f"{front}# {self.word()}\n\n{self.cite()} {self.cite()}\n\n## Decision: {self.word()}\n\n{self.cite()}\n"
        self.write(f"docs/{self.word()}.md", text)

    def add_note(self) -> None:
        self.write(
            f".agent-memory/{self.word()}.md", f"{self.word()} and Cache, docs/adr/0002-lru.md {self.number()}\n"
        )

    def add_bytes(self) -> None:
        path = self.chance.choice(("docs/odd.md", "src/app/odd.py", "assets/x.bin", "Makefile"))
        self.write(path, self.chance.randbytes(40) + b"\n# a `Cache`\n")

    def change(self) -> None:
        path = self.chance.choice([path for path in self.files() if path != "trivium.toml"])
        before = (self.place.root / path).read_bytes()
        added = self.chance.choice((b"\n", b"x = 1\n", f"\n- {self.cite()}\n".encode(), f"\n{self.cite()}\n".encode()))
        self.write(path, self.chance.choice((before + added, added + before, before[: len(before) // 2])))

    def touch(self) -> None:
        os.utime(self.place.root / self.chance.choice(self.files()))

    def delete(self) -> None:
        path = self.chance.choice(self.files())
        self.log[-1] += f" {path}"
        (self.place.root / path).unlink()

    def rename(self) -> None:
        path = self.chance.choice([path for path in self.files() if path != "trivium.toml"])
        target = self.place.root / f"{path.rpartition('/')[0] or 'docs'}/{self.word()}{Path(path).suffix}"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.place.root / path).rename(target)

    def rename_case(self) -> None:
        path = self.place.root / self.chance.choice([path for path in self.files() if path != "trivium.toml"])
        target = path.with_name(path.name.swapcase())
        if not target.exists():
            path.rename(target)

    def commit(self) -> None:
        kind = self.chance.choice(("fix", "feat(app)!", "Tidy", "docs"))
        self.place.commit(f"{kind}: {self.word()} {self.number()}", date=f"2026-03-0{self.number()}T00:00:00+0000")
        if self.chance.random() < 0.3:
            self.place.git("tag", "-f", "v1", "HEAD~1" if self.chance.random() < 0.5 else "HEAD", "--")

    def ignore(self) -> None:
        self.write(".gitignore", self.chance.choice(("", "web/\n", "*.txt\n", "docs/odd.md\nassets/\n")))

    def configure(self) -> None:
        settings = (
            "",
            "[index.knowledgeEntities]\nmaxCommits = 3\n",
            '[index.knowledgeEntities]\nsinceTag = "v1"\n',
            '[safety]\nexclude = ["web/"]\n',
            '[knowledge]\nglossaries = ["docs/guide.md"]\nrecords = ["docs/c*.md"]\n',
            "[intelligence.memory]\nenabled = false\n",
        )
        self.write("trivium.toml", self.chance.choice(settings))


def entity_named(index: Index, name: str) -> Any:
    return next(entity for entity in index.entities or [] if entity.name == name)
