"""`trivium models`: what may compose answers, and whether it can be used here."""

from __future__ import annotations

import click

from trivium.doors.cli_options import Choices, pass_choices, settings_told, with_json
from trivium.doors.cli_output import print_json, printable


@click.command()
@with_json
@pass_choices
def models(choices: Choices) -> None:
    """List the models that `trivium ask --model` takes, with their tiers and whether each can be used.

    Nothing is asked over the network. Models are set by TRIVIUM_LLM_… and TRIVIUM_LOCAL_MODEL; see docs/models.md.
    """
    from trivium.models.catalogue import Catalogue
    from trivium.settings import Settings

    with settings_told():
        catalogue = Catalogue.from_settings(Settings.from_environment())
    found = catalogue.to_dict()
    named = {item["id"]: catalogue.find(item["id"]) for item in found["models"]}
    faults = {id_: model.fault for id_, model in named.items() if model is not None and model.fault is not None}
    if choices.json:
        print_json(found)
        return
    for item in found["models"]:
        tiers = [tier for tier, name in found["tiers"].items() if name == item["id"]]
        told = f"not available: {faults[item['id']]}" if item["id"] in faults else "available"
        shown = f" (tier {', '.join(tiers)})" if tiers else ""
        click.echo(printable(f"{item['id']}{shown}: {told}"))
