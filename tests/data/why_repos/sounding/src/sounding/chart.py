"""Soundings on a chart."""


def draw(depths: list[float]) -> str:
    return ""


def reduce_tide(depth: float, tide: float) -> float:
    return depth - tide
