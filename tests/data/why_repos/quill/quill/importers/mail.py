"""Notes out of mail."""


def parse(text: str) -> list[str]:
    return text.split("\n")


def read_mailbox(path: str) -> list[str]:
    return [path]
