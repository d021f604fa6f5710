"""`index --watch`: rebuild after changes, by polling (reference 11)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event

from trivium.why.config import Config
from trivium.why.discover import discover
from trivium.why.fingerprint import history_state
from trivium.why.note_files import discover_memory

MAX_WAITS = 20


def watch(
    root: str | Path,
    config: Config,
    on_change: Callable[[], Config | None],
    *,
    stop: Event,
    interval: float = 0.5,
    seen: tuple[object, ...] | None = None,
) -> None:
    """Call `on_change` after the working tree, the history or the configuration changed, until `stop` is set.

    A burst of changes gives one call, made when nothing has changed for one interval, or after `MAX_WAITS` intervals
    of constant change. `on_change` may return a Config to go on with. What happens during `on_change` gives another
    call. Errors that `on_change` raises end the watch and reach the caller. `interval` is in seconds; `seen` is the
    `snapshot` to compare with first, by default that of now.
    """
    root = Path(root)
    if seen is None:
        seen = snapshot(root, config)
    while not stop.wait(interval):
        now = snapshot(root, config)
        if now == seen:
            continue
        for _ in range(MAX_WAITS):
            if stop.wait(interval):
                return
            before, now = now, snapshot(root, config)
            if now == before:
                break
        seen = now
        renewed = on_change()
        if renewed is not None and renewed != config:
            config = renewed
            seen = snapshot(root, config)


def snapshot(root: Path, config: Config) -> tuple[object, ...]:
    """The state that is compared: names, sizes and times of files, notes and configuration, and the history."""
    discovery = discover(root, config)
    history = history_state(root, config) if config.entities else None
    return (discovery.files, discovery.told(), history, discover_memory(root, config), _configuration(config))


def _configuration(config: Config) -> tuple[int, int] | None:
    try:
        found = Path(config.path or "").stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
