"""Check the documentation: commands and options are documented, links resolve, the README's examples run.

    python -m scripts.check_docs

Prints what is wrong and exits with 1, or prints nothing and exits with 0.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from scripts import doc_examples, gen_cli_docs

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(<?([^)\s>]+)>?\)|!\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
SECTIONS = ("## Synopsis", "## Examples", "## Exit codes")
EXAMPLES = 3


def pages() -> list[Path]:
    """The Markdown files of the project."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/**/*.md"), *ROOT.glob("src/**/*.md")]
    return sorted(found)


def undocumented() -> Iterator[str]:
    """Commands without a page or a section, options without a row, pages that are not up to date."""
    for path in gen_cli_docs.stale_pages():
        yield f"{path.relative_to(ROOT)} is missing or not up to date; run `make docs`"
    for name, command in gen_cli_docs.commands():
        path = gen_cli_docs.PAGES / f"{name}.md"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        yield from (
            f"{path.relative_to(ROOT)} has no section '{section}'" for section in SECTIONS if section not in text
        )
        if text.count("\n$ ") < EXAMPLES:
            yield f"{path.relative_to(ROOT)} has fewer than {EXAMPLES} examples"
        for option in _options(command):
            if f"`{option}" not in text:
                yield f"{path.relative_to(ROOT)} does not name the option {option}"


def _options(command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group) and command.name != "cli":
        for sub in command.commands.values():
            yield from _options(sub)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from parameter.opts


def broken_links() -> Iterator[str]:
    """Links to files of the project, or to headings in them, that lead nowhere."""
    for page in pages():
        text = _CODE.sub("", page.read_text(encoding="utf-8"))
        for match in _LINK.finditer(text):
            target = match[1] or match[2]
            if not re.match(r"[a-z][a-z0-9+.-]*:", target) and not _resolves(page, target):
                yield f"{page.relative_to(ROOT)} links to {target}, which does not exist"


def _resolves(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return False
    return not anchor or path.suffix != ".md" or anchor in _anchors(path.read_text(encoding="utf-8"))


def _anchors(text: str) -> set[str]:
    """The anchors of a page's headings, made as code-hosting sites make them."""
    anchors: set[str] = set()
    for heading in _HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)):
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number = sum(1 for anchor in anchors if re.fullmatch(re.escape(plain) + r"(-\d+)?", anchor))
        anchors.add(f"{plain}-{number}" if number else plain)
    return anchors


def failing_examples() -> list[str]:
    """Examples of the README that do not do what it says; a test runs those of the command pages."""
    return doc_examples.failures(ROOT / "README.md")


def main() -> int:
    """Print everything that is wrong; 1 if there is anything."""
    problems = [*undocumented(), *broken_links(), *failing_examples()]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
