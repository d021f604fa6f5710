"""A letter and its parts."""


class Letter:
    """Address, salutation and body."""

    def sign(self, name: str) -> None: ...

    def _seal(self) -> None: ...


def greet(name: str) -> str:
    return f"Dear {name}"
