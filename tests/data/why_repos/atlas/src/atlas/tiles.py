"""Tiles of a floor plan."""


class TileStore:
    """Tiles by level and place."""

    def fetch(self, level: int) -> bytes:
        return b""


def render_tile(level: int) -> bytes:
    return b""
