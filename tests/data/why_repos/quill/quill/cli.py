"""The command."""


def main() -> int:
    return 0


def parse(text: str) -> list[str]:
    return text.split()
