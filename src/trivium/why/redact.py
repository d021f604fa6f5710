"""Text that looks like a secret is replaced before a restricted service hands it out (reference 12)."""

from __future__ import annotations

import re
from typing import Any

MARK = "[redacted]"

_WHOLE = re.compile(
    r"""
      -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----[^-]{0,20000}(?:-----END\ [A-Z ]{0,40}PRIVATE\ KEY-----)?
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{20,255}
    | \bgithub_pat_[A-Za-z0-9_]{20,255}
    | \bglpat-[A-Za-z0-9_-]{16,255}
    | \bnpm_[A-Za-z0-9]{30,64}
    | \bpypi-[A-Za-z0-9_-]{40,512}
    | \bxox[a-z]-[A-Za-z0-9-]{10,255}
    | \b[sr]k[-_](?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,255}
    | \bAIza[A-Za-z0-9_-]{30,64}
    | \beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}
    """,
    re.VERBOSE,
)
_NAMED = re.compile(
    r"""((?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|token)
    ["']?\s{0,3}[:=]\s{0,3}["']?)(?=[^\s"'`,;]{8})(?=[^\s"'`,;]{0,200}[0-9])[^\s"'`,;]{8,512}""",
    re.VERBOSE | re.IGNORECASE,
)
_BEARER = re.compile(r"(\bBearer\s{1,3})[A-Za-z0-9._~+/-]{16,4096}=*", re.IGNORECASE)
_LOGIN = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,128}:)[^\s/@]{1,256}(?=@)", re.IGNORECASE)


def redact(text: str) -> str:
    """The text with everything in it that looks like a key, a token or a password replaced by `[redacted]`.

    >>> redact("log in with postgres://app:hunter2@db/main")
    'log in with postgres://app:[redacted]@db/main'
    """
    text = _WHOLE.sub(MARK, text)
    for named in (_NAMED, _BEARER, _LOGIN):
        text = named.sub(rf"\g<1>{MARK}", text)
    return text


def redact_values(value: Any) -> Any:
    """The same structure with every string value redacted; member names stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_values(item) for item in value]
    if isinstance(value, dict):
        return {key: redact_values(item) for key, item in value.items()}
    return value
