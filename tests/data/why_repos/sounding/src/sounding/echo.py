"""Echoes."""


class Echo:
    """One pulse that came back."""

    def depth(self, speed: float) -> float:
        return speed / 2


def listen(port: str) -> list[Echo]:
    return []
