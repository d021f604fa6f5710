"""Addresses by which somebody is reached: e-mail, telephone, links; and the words for using one."""

from __future__ import annotations

import re

from trivium.search.segment import fold

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
URL = re.compile(r"https?://[^\s)>\]\"']+")
PHONE = re.compile(r"(?<![\w.])\+?\(?\d[\d ()/.\u00a0-]{5,20}\d(?!\w)")
PHONED = re.compile(
    r"\b(?:phone\w*|telephon\w*|tel|mobile|fax|call\w*|dial|ring|hotline|telefon\w*|anruf\w*|handy|appel\w*"
    r"|llam\w+|movil|chiam\w+|cellulare|ligue|bel|телефон\w*|звон\w+)\b|电话|電話|手机"
)
"""How a text tells that a number is one to call."""
REACH = frozenset(
    fold(
        "reach contact call phone write mail email message get in touch find erreichen erreiche kontaktieren anrufen"
        " schreiben contacter joindre appeler ecrire contactar llamar escribir contattare chiamare bereiken связаться"
    ).split()
)
"""What one does with an address, which what gives it need not say."""


def is_reached(text: str) -> bool:
    """Whether a text has an address or a number by which somebody is reached.

    >>> [is_reached(text) for text in ("Privacy: privacy@example.com", "IT, tel. 0711 555-210", "since 2024-05-06")]
    [True, True, False]
    """
    return EMAIL.search(text) is not None or (PHONED.search(fold(text)) is not None and PHONE.search(text) is not None)
