"""The speed of sound by depth."""


class Profile:
    """Speeds, from the surface down."""


def load_profile(path: str) -> Profile:
    return Profile()
