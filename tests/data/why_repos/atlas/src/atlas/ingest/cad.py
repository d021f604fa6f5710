"""Reading drawings."""


class CadReader:
    """Reads the layers of a drawing."""
