"""Every exception that leaves Trivium on purpose. Those with a room behind the name are defined there.

    TriviumError                            base: has `message` and `hint`
    ├── KipError                            a KIP error: `code`, `name`, `position` (KIP Appendix 4)
    │   └── SyntaxFault (kip.faults)        the text cannot be parsed
    ├── StoreError                          the store cannot be opened or used as asked
    │   ├── NewerStoreError                 the file was written by a newer Trivium
    │   └── ConflictError                   what was asked for does not go with what there is
    ├── NotFoundError                       a context or another named thing does not exist
    ├── EmbeddingError                      the embedder failed: no endpoint, damaged files
    ├── MissingExtraError                   an optional part is not installed; the hint is the install line
    ├── ManifestError (ingest.manifest)     a field of a context holds what it may not
    ├── NoSourcesError (ingest.curate)      there is nothing to curate
    ├── PackError (ingest.pack)             a pack cannot be written or restored
    ├── BusyError (ingest.tasks)            the same work runs already
    ├── TaskCancelled (ingest.tasks)        somebody cancelled the work
    ├── QueryError (knowql.errors)          a query document is refused: `status`, `reason`, `param`
    ├── ConfigError (why.config)            the configuration of a repository cannot be read
    ├── BareRepositoryError (why.git)       a repository of git without a work tree has no files to read
    ├── WhyRequestError (why.request)       a bad argument of `why`
    ├── WhyResponseError (why.response)     an answer of `why` that does not hold to its contract
    ├── IndexMissingError (why.stored)      the context has no repository index
    ├── IndexStaleError (why.stored)        the index no longer describes its repository
    │   └── IndexSettingsError (why.stored) it was built with other settings
    ├── IndexDamagedError (why.stored)      the index does not match its own hash
    ├── MissingModelError (doors.chatting)  no model is configured that could answer
    ├── InsideIndexedError (doors.indexing) the folder is part of a repository that is indexed
    └── NothingToReadError (doors.indexing) the repository has no file that can be read

`trivium` itself exports what the methods of a knowledge base and its contexts raise.

Inside the engine a KIP fault is raised as `KipError`; `execute_kip` turns it into the `error` object of a
response, so callers of the public interface never see it raised for a bad command.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Code(NamedTuple):
    """A row of the standard error table (KIP Appendix 4)."""

    name: str
    hint: str


KIP_CODES: dict[str, Code] = {
    "KIP_1001": Code("InvalidSyntax", "Check brackets, keyword spelling and statement structure."),
    "KIP_1002": Code("InvalidIdentifier", "Identifiers must match [a-zA-Z_][a-zA-Z0-9_]*."),
    "KIP_2001": Code(
        "TypeMismatch", "Run DESCRIBE CONCEPT TYPES or DESCRIBE PROPOSITION TYPES; names are case-sensitive."
    ),
    "KIP_2002": Code(
        "ConstraintViolation", "Supply what the constraint asks for; never write metadata keys that begin with '_'."
    ),
    "KIP_2003": Code("InvalidValueType", "Correct the JSON type of the value."),
    "KIP_3001": Code(
        "ReferenceError", "Bind the variable, or place the block that defines the handle, before its use."
    ),
    "KIP_3002": Code("NotFound", "Use SEARCH or FIND to confirm that the target exists."),
    "KIP_3003": Code("DuplicateExists", "Narrow the WHERE pattern until each variable matches exactly one node."),
    "KIP_3004": Code("ImmutableTarget", "This structure is protected and cannot be changed; leave it out."),
    "KIP_3005": Code(
        "VersionConflict", "Read the element again, merge into its fresh value, and retry with its fresh _version."
    ),
    "KIP_4001": Code(
        "ExecutionTimeout",
        "Do less in one command: narrow its pattern or term, lower LIMIT, shorten paths, or split it.",
    ),
    "KIP_4002": Code("ResourceExhausted", "Use LIMIT and CURSOR to read or write in pages."),
    "KIP_4003": Code("InternalError", "Retry later; if it stays, run `trivium doctor`."),
}


class Position(NamedTuple):
    """Where in the command text: 1-based line and column (in characters), 0-based offset."""

    line: int
    column: int
    offset: int


def printable(text: str) -> str:
    """The text with lone surrogates escaped, so that it can be sent as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def bounded(text: str, room: int = 1_000) -> str:
    """The text with its middle left out if it is long: a message that repeats the input must not flood its reader."""
    return text if len(text) <= room else f"{text[: room // 2]} … {text[-room // 2 :]}"


class TriviumError(Exception):
    """Base of all errors of this package; `str(error)` is the message, `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class KipError(TriviumError):
    """A command failed as KIP Appendix 4 defines; nothing of it has taken effect.

    `at` is the index of the offending token while only the tokens are known; `position` is set once the
    text is at hand (see `trivium.kip.lexer.locate`).
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        *,
        at: int | None = None,
        position: Position | None = None,
    ) -> None:
        super().__init__(message, hint or KIP_CODES[code].hint)
        self.code = code
        self.at = at
        self.position = position

    @property
    def name(self) -> str:
        return KIP_CODES[self.code].name

    def to_dict(self) -> dict[str, Any]:
        """The `error` object of a KIP response (§6.2, Appendix 4)."""
        error: dict[str, Any] = {
            "code": self.code,
            "name": self.name,
            "message": bounded(printable(self.message)),
            "hint": bounded(printable(self.hint or "")),
        }
        if self.position is not None:
            error["position"] = {"line": self.position.line, "column": self.position.column}
        return error


class StoreError(TriviumError):
    """The store cannot be opened or used as asked."""


class NewerStoreError(StoreError):
    """The file was written by a newer Trivium than this one."""


class ConflictError(StoreError):
    """What was asked for does not go with what there is; `reason` names it (KnowQL reference 10.4)."""

    def __init__(self, message: str, hint: str, reason: str) -> None:
        super().__init__(message, hint)
        self.reason = reason


class NotFoundError(TriviumError):
    """A named thing, such as a context, does not exist."""


class EmbeddingError(TriviumError):
    """The embedder failed; search goes on by keyword."""


class MissingExtraError(TriviumError):
    """An optional part is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the extra '{extra}', which is not installed.", f"pip install 'trivium[{extra}]'"
        )
        self.extra = extra
        self.purpose = purpose
