"""Ways between rooms."""


class Router:
    """Finds the shortest way."""

    def route(self, start: str, end: str) -> list[str]:
        return [start, end]


def detour(way: list[str]) -> list[str]:
    return way
