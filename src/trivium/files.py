"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """An open file that takes the place of `path` once the block has ended; after a fault nothing is left of it.

    It gets the rights of the file that it replaces, or those of any new file of this process. Raises: OSError.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")  # not the file's own name, which may be as long as any
    handle = os.open(temporary, _FLAGS, 0o666)  # the system takes off what the umask forbids
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
