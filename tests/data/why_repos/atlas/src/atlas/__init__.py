"""Maps of indoor places."""

from .routing import Router
from .tiles import TileStore

__all__ = ["Router", "TileStore"]
