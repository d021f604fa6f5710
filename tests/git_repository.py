"""Real git repositories for tests, untouched by the settings of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class GitRepository:
    """A repository with a work tree at `root`; `start=False` makes only the folder."""

    def __init__(self, root: Path, *, start: bool = True) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        if start:
            self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, date: str = "2026-01-10T23:30:00-0800") -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= PERSON | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": "2026-02-01T00:00:00+0000"}
        return subprocess.run(
            ["git", *arguments], cwd=self.root, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def write(self, path: str, text: str | bytes = "x\n") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def commit(self, message: str, *paths: str, date: str = "2026-01-10T23:30:00-0800") -> str:
        """Write `paths` anew, stage everything and commit; the full id."""
        for path in paths:
            self.write(path, f"{message} in {path}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message, date=date)
        return self.git("rev-parse", "HEAD")
