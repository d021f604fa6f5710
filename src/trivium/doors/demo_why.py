"""The scene of `trivium demo` about a repository: a small one made on the spot, indexed and asked.

Everything happens offline in a temporary folder. With git it has a history; without, the same answers lack commits.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase

NAME = "harbour"
START = {
    "README.md": "# Harbour\n\nGives ships a berth. `Harbour` in `src/harbour/__init__.py` is the way in.\n",
    "src/harbour/__init__.py": '"""Berths for ships."""\n\nfrom harbour.queue import Queue\n\n__all__ = ["Queue"]\n',
    "src/harbour/queue.py": (
        '"""Who is next."""\n\n\nclass Queue:\n    """Ships that wait for a berth."""\n\n'
        "    def __init__(self):\n        self.waiting = []\n\n"
        "    def next(self):\n        return self.waiting.pop(0)\n"
    ),
    "docs/adr/0001-first-come-first-served.md": (
        "---\nstatus: accepted\ndate: 2025-03-02\n---\n\n# Ships are served in order of arrival\n\n"
        "`Queue` in `src/harbour/queue.py` keeps them in a list. Skippers understand it.\n"
    ),
    "CHANGELOG.md": "# Changelog\n\n## 1.0.0\n\n- Ships wait in `src/harbour/queue.py`, first come, first served.\n",
}
TIDES = {
    "src/harbour/tides.py": (
        '"""When there is water enough."""\n\n\ndef depth_at(hour):\n    """Metres at the quay."""\n'
        "    return 4.0 + 2.0 * (hour % 12 < 6)\n"
    ),
    "docs/adr/0002-tide-tables-offline.md": (
        "---\nstatus: accepted\ndate: 2025-06-11\n---\n\n# Tide tables are kept in the program\n\n"
        "The link to the gauge fails in storms, when it matters. `depth_at` in `src/harbour/tides.py` needs no "
        "network.\n"
    ),
    "docs/glossary.md": (
        "# Glossary\n\n- **Draught**: how deep a ship lies in the water; compared with `depth_at`.\n"
        "- **Queue**: the ships that wait for a berth, in the order in which they will get one.\n"
    ),
}
DRAUGHT = {
    "src/harbour/queue.py": (
        '"""Who is next."""\n\nfrom harbour.tides import depth_at\n\n\nclass Queue:\n'
        '    """Ships that wait for a berth."""\n\n    def __init__(self):\n        self.waiting = []\n\n'
        "    def next(self, hour):\n"
        "        fitting = [ship for ship in self.waiting if ship.draught < depth_at(hour)]\n"
        "        return max(fitting, key=lambda ship: ship.draught, default=None)\n"
    ),
    "docs/adr/0001-first-come-first-served.md": START["docs/adr/0001-first-come-first-served.md"].replace(
        "status: accepted", "status: superseded\nsuperseded-by: 0003-deepest-ship-first.md"
    ),
    "docs/adr/0003-deepest-ship-first.md": (
        "---\nstatus: accepted\ndate: 2026-01-20\nsupersedes: 0001-first-come-first-served.md\n---\n\n"
        "# The deepest ship that fits goes first\n\n"
        "High water is short. `Queue` in `src/harbour/queue.py` asks `depth_at` and takes the ship that could not "
        "come later. [Order of arrival](0001-first-come-first-served.md) wasted tides.\n"
    ),
    "CHANGELOG.md": (
        "# Changelog\n\n## 1.1.0\n\n- The deepest ship that fits goes first: `src/harbour/queue.py`.\n"
        + START["CHANGELOG.md"].removeprefix("# Changelog\n")
    ),
}
COMMITS = (
    ("feat: give ships a berth in order of arrival", "2025-03-02T09:00:00+0000", START),
    ("feat(tides): know the depth at the quay", "2025-06-11T10:30:00+0000", TIDES),
    ("feat(queue)!: let the deepest ship that fits go first", "2026-01-20T08:15:00+0000", DRAUGHT),
)

SUPERSEDED = """\
FIND(?now.attributes.title, ?file.name, ?before.attributes.title)
WHERE {
  ?now {type: "Decision"}
  FILTER(?now.attributes.status == "accepted")
  (?now, "affects", ?file)
  FILTER(STARTS_WITH(?file.name, "src/"))
  OPTIONAL { (?now, "supersedes", ?before) }
}
ORDER BY ?file.name, ?now.attributes.title"""


class WhyStage(Protocol):
    """What the scene needs of a stage."""

    def title(self, text: str) -> None:
        """Begin a scene."""
        ...

    def say(self, text: str) -> None:
        """Explain what comes next."""
        ...

    def run(self, command: str, /, **parameters: Any) -> Any:
        """Show and execute a KIP command."""
        ...

    def why(self, context: Context, target: str, kind: str | None = None) -> None:
        """Show what is recorded about a target."""
        ...

    def use(self, context: Context) -> None:
        """Execute further commands in this context."""
        ...


def why(stage: WhyStage, kb: KnowledgeBase) -> None:
    """Make the repository, index it, ask about a path, a symbol and a concept, and join with a KIP query."""
    stage.title("Why")
    stage.say("A second road leads into the same store. Here is a small repository, with decision records and a log.")
    with tempfile.TemporaryDirectory(prefix="trivium-demo-") as folder:
        root = Path(folder) / NAME
        with_history = make_repository(root)
        context = kb.repository_context(root, create=True)
        counts = context.index_repository(root).summary
        stage.say(
            f"`trivium index` read {counts.files} files: {counts.decisions} decisions, {counts.concepts} concepts, "
            f"{counts.changes} changes{'' if with_history else ' (there is no git here, so no commits)'}. "
            "Why is the queue as it is?"
        )
        stage.why(context, "src/harbour/queue.py")
        stage.say("The same for a symbol, and for a word of the glossary:")
        stage.why(context, "depth_at")
        stage.why(context, "Draught", "concept")
        stage.say(
            "All of it is in the graph as well. Which accepted decisions affect the sources, and what did they replace?"
        )
        stage.use(context)
        stage.run(SUPERSEDED)


def make_repository(root: Path) -> bool:
    """Write the sample repository, commit by commit if there is git; tells whether it has a history."""
    root.mkdir(exist_ok=True)
    git = shutil.which("git")
    has_history = git is not None and _git(git, root, "init", "-q")
    for message, date, files in COMMITS:
        for path, text in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        if git is not None and has_history:
            has_history = _git(git, root, "add", "-A") and _git(git, root, "commit", "-q", "-m", message, date=date)
    return has_history


def _git(git: str, root: Path, *arguments: str, date: str = "") -> bool:
    """Run git apart from the settings of its user; whether it worked."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "Harbour Master", f"GIT_{role}_EMAIL": "master@harbour.example"}
        environment |= {f"GIT_{role}_DATE": date} if date else {}
    try:
        done = subprocess.run(
            [git, *arguments], cwd=root, env=environment, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
