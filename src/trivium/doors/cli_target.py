"""Commands whose first argument may be any text, such as a path that begins with a dash."""

from __future__ import annotations

import click


class TargetCommand(click.Command):
    """Says of an option that there is none how an argument with a dash in front is written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        written = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.possibilities:
                raise
            name = error.option_name
            target = next((text for text in written if text.startswith(name)), name)
            told = f"{error.message} If it is the target, write: -- {target} (or ./{target}, for a file)."
            raise click.NoSuchOption(name, told, ctx=ctx) from None
