"""Notes to letters."""

from quill.letter import Letter
from quill.render import Renderer as Renderer

__all__ = ["Letter", "Renderer"]
