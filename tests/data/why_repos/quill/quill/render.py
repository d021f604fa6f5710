"""Letters as pages."""


class Renderer:
    """Writes pages."""

    def page(self, number: int) -> str:
        return str(number)


DEFAULT_MARGIN = 20
