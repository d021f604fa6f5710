from sounding.echo import Echo as Echo

__all__ = ["Echo"]
