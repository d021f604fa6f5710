"""Run the examples of a Markdown page and compare their output with what the page says.

- A `console` block: lines that begin with `$ trivium` or `$ ak-docs`, or pipe or lead (`&&`) into one of them, are
  executed by the shell, with the lines below each as expected output (standard output and error together). Other
  commands are not executed.
- A `python` block is executed as a program of its own; what it prints is not compared.
- An HTML comment that begins with `setup` holds commands to be executed first, unseen by the reader.

All examples of a page run in order in one empty folder, with an empty memory. In expected output, `…` stands for any
text, also of several lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$|^<!-- setup\n(.*?)^-->$", re.DOTALL | re.MULTILINE)
_RUN = re.compile(r"(^|\| *|&&[\\\s]*)(trivium|ak-docs)\b")
TIME_LIMIT = 60


@dataclass(frozen=True)
class Example:
    """Something to execute; `expected` None compares nothing, and `must_succeed` asks for exit code 0."""

    line: int
    arguments: list[str]
    source: str
    expected: str | None
    must_succeed: bool


def examples(page: str) -> Iterator[Example]:
    """The examples of a page in order."""
    for match in _BLOCK.finditer(page):
        line = page.count("\n", 0, match.start()) + 2
        if match[1] == "console":
            yield from _console(match[2], line)
        elif match[1] == "python":
            yield Example(line, [sys.executable, "-c", match[2]], match[2], None, True)
        else:
            yield Example(line, ["/bin/sh", "-ec", match[3]], match[3], None, True)


def _console(block: str, line: int) -> Iterator[Example]:
    number = line
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE):
        lines = part.splitlines()
        length = 1
        while length < len(lines) and (lines[length - 1].endswith("\\") or _is_open("\n".join(lines[:length]))):
            length += 1
        command, output = "\n".join(lines[:length]), "\n".join(lines[length:])
        if _RUN.search(command):
            yield Example(number, ["/bin/sh", "-c", command], command, output, not output)
        number += len(lines)


def _is_open(command: str) -> bool:
    """Whether a single quote is still open, so that the command goes on in the next line."""
    return command.count("'") % 2 == 1


def failures(path: Path) -> list[str]:
    """Run the examples of a page; one text for each that does not do what the page says."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for example in examples(path.read_text(encoding="utf-8")):
            done = _run(example, folder)
            if example.must_succeed and done.returncode:
                found.append(
                    f"{path.name}:{example.line}: exit code {done.returncode}\n{example.source}\n{done.stdout}"
                )
            elif example.expected is not None and not matches(example.expected, done.stdout):
                found.append(f"{path.name}:{example.line}: {example.source}\nprints\n{done.stdout}")
    return found


def _run(example: Example, folder: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    environment = {**kept, "PATH": path, "HOME": folder, "XDG_DATA_HOME": folder + "/data", "PYTHONUTF8": "1"}
    work = Path(folder, "work")
    work.mkdir(exist_ok=True)
    return subprocess.run(
        example.arguments,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=TIME_LIMIT,
        check=False,
    )


def matches(expected: str, actual: str) -> bool:
    """Whether output is as expected, with `…` for any text, and spaces at line ends ignored.

    >>> matches("wrote … bytes", "wrote 17 bytes\\n")
    True
    """

    def tidy(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = ".*?".join(re.escape(part) for part in tidy(expected).split("…"))
    return re.fullmatch(pattern, tidy(actual), re.DOTALL) is not None
