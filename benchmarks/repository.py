"""A synthetic repository: modules of two languages, documents and commits, the same for the same scale."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WORDS = tuple(
    word
    for line in (
        "cache index queue store token graph merge parse route shard batch cursor ledger schema bridge filter window",
        "buffer policy tenant digest replay mirror packet session budget render resolve commit backlog quota lease",
    )
    for word in line.split(" ")
)


@dataclass(slots=True, frozen=True)
class Size:
    """How much there is of everything."""

    modules: int
    documents: int
    commits: int


SIZES = {"full": Size(2_000, 400, 500), "small": Size(40, 20, 12)}


def repository(folder: Path, scale: str) -> Path:
    """The repository of a scale below `folder`, built when it is not there yet."""
    root = folder / f"why-{scale}"
    if not (root / ".git" / "done").exists():
        size = SIZES[scale]
        root.mkdir(parents=True, exist_ok=True)
        git(root, "init", "-q", "-b", "main")
        git(root, "fast-import", "--quiet", "--force", data=b"".join(_stream(size)))
        git(root, "reset", "-q", "--hard", "main")
        for file in root.rglob("*"):
            if file.is_file() and ".git" not in file.parts:
                os.utime(file, ns=(1_750_000_000_000_000_001,) * 2)
        git(root, "status", "--porcelain")
        (root / ".git" / "done").touch()
    return root


def git(root: Path, *arguments: str, data: bytes | None = None) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=root, input=data, env=environment, check=True, capture_output=True)


# --- history --------------------------------------------------------------------------------------


def _stream(size: Size) -> Iterator[bytes]:
    """Commits for `git fast-import`: each adds its share of the files and touches a few earlier ones."""
    chance = random.Random(7)
    files = list(_files(size, chance))
    texts: dict[str, str] = {}
    share = -(-len(files) // size.commits)
    for number in range(size.commits):
        new = dict(files[number * share : (number + 1) * share])
        known = sorted(texts)
        for path in chance.sample(known, min(len(known), chance.randint(1, 6))):
            mark = {"py": f"# Revision {number}.\n", "ts": f"// Revision {number}.\n"}.get(path.rpartition(".")[2])
            new.setdefault(path, texts[path] + (mark or f"\nRevised in step {number}.\n"))
        texts |= new
        kind = chance.choice(("feat", "fix", "refactor", "docs", "chore"))
        subject = f"{kind}({chance.choice(WORDS)}): {chance.choice(WORDS)} the {chance.choice(WORDS)} {number}\n"
        moment = 1_700_000_000 + 3_600 * number
        yield f"commit refs/heads/main\ncommitter Ada <ada@example.org> {moment} +0000\n".encode()
        yield b"data %d\n%s" % (len(subject), subject.encode())
        for path, text in sorted(new.items()):
            data = text.encode()
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


# --- files ----------------------------------------------------------------------------------------


def _files(size: Size, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Paths and texts; modules first, so that documents can name them."""
    modules = []
    for number in range(size.modules):
        area, name = WORDS[number % 24], f"{WORDS[number % len(WORDS)]}_{number}"
        python = number % 2 == 0
        path = f"src/{area}/{name}.py" if python else f"packages/{area}/src/{name}.ts"
        modules.append((path, f"{WORDS[number % len(WORDS)].title()}{number}"))
        yield path, (_python if python else _typescript)(modules[-1][1], chance)
    yield "pyproject.toml", '[project]\nname = "synthetic"\nversion = "1.0"\n'
    yield "package.json", '{"name": "synthetic", "workspaces": ["packages/*"]}\n'
    for number in range(size.documents):
        yield _document(number, modules, chance)


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(8, 18))).capitalize() + "."


def _python(name: str, chance: random.Random) -> str:
    lines = [f'"""{_sentence(chance)}"""', "", "from __future__ import annotations", "", "import json", "", ""]
    lines += [f"class {name}:", f'    """{_sentence(chance)}"""', ""]
    for method in chance.sample(WORDS, 6):
        lines += [f"    def {method}(self, value: int, *, limit: int = 10) -> list[int]:"]
        lines += [f'        """{_sentence(chance)}"""', "        found = []"]
        lines += ["        for number in range(value):", "            if number % 3 == 0 and number < limit:"]
        lines += ["                found.append(number * 2 + len(json.dumps(value)))", "        return found", ""]
    lines += ["", f"def make_{name.lower()}(size: int) -> {name}:", f"    return {name}()", "", "", "_LIMIT = 10", ""]
    return "\n".join(lines)


def _typescript(name: str, chance: random.Random) -> str:
    lines = [f"// {_sentence(chance)}", 'import { readFile } from "node:fs";', "", f"export class {name} {{"]
    for method in chance.sample(WORDS, 6):
        lines += [f"  /** {_sentence(chance)} */", f"  {method}(value: number, limit = 10): number[] {{"]
        lines += ["    const found: number[] = [];", "    for (let i = 0; i < value; i++) {"]
        lines += ["      if (i % 3 === 0 && i < limit) {", "        found.push(i * 2 + String(value).length);"]
        lines += ["      }", "    }", "    return found;", "  }", ""]
    lines += ["}", "", f"export function make{name}(size: number): {name} {{", f"  return new {name}();", "}", ""]
    return "\n".join(lines)


def _document(number: int, modules: list[tuple[str, str]], chance: random.Random) -> tuple[str, str]:
    """Records, concepts, change logs and glossaries among guides."""
    cited = chance.sample(modules, min(3, len(modules)))
    body = [f"{_sentence(chance)} See `{path}` and `{name}`. {_sentence(chance)}\n" for path, name in cited]
    if number % 4 == 0:
        return _record(number, body, chance)
    if number % 8 == 1:
        front = f"---\ntype: concept\naliases: [{cited[0][1]}]\n---\n\n# Concept {number}\n\n"
        return f"docs/concepts/{number:04}.md", front + "\n".join(body)
    if number % 40 == 2:
        items = [f"- {_sentence(chance)} In `{chance.choice(modules)[0]}`.\n" for _ in range(20)]
        head = f"# Changes {number}\n\n## 1.{number}.0\n\n"
        return f"packages/{WORDS[number % 24]}/CHANGELOG.md", head + "".join(items)
    if number % 40 == 22:
        terms = [f"## Term {number} {word}\n\n{_sentence(chance)}\n" for word in WORDS[:20]]
        return f"docs/glossary/{number:04}.md", "# Glossary\n\n" + "\n".join(terms)
    lines = [f"# Guide {number}\n"]
    for part in body:
        lines += [f"## {_sentence(chance)[:40]}\n", f"{part}\n- {_sentence(chance)}\n- `code` {_sentence(chance)}\n"]
    for _ in range(8):
        lines.append(f"{_sentence(chance)} {_sentence(chance)} [link](../../{chance.choice(modules)[0]})\n")
    return f"docs/guide/{number:04}.md", "\n".join(lines)


def _record(number: int, body: list[str], chance: random.Random) -> tuple[str, str]:
    status = chance.choice(("accepted", "proposed", "superseded"))
    front = f"---\nstatus: {status}\ndate: 2026-01-{number % 28 + 1:02}\n"
    if number % 20 == 16:
        front += f"supersedes: {number - 4:04}-decision.md\n"
    lines = [f"{front}---\n", f"# Use {chance.choice(WORDS)} number {number}\n", "## Context\n", *body, "## Decision\n"]
    lines += [f"{_sentence(chance)}" for _ in range(20)]
    return f"docs/adr/{number:04}-decision.md", "\n".join(lines) + "\n"
