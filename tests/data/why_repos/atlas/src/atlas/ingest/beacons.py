"""Positions from radio beacons."""


def position(signals: dict[str, float]) -> tuple[float, float]:
    return (0.0, 0.0)
