"""Finding rooms by name."""


def find_room(name: str) -> str:
    return name


def fold_name(name: str) -> str:
    return name.lower()
