"""The verb doctor."""

from __future__ import annotations

import typer

from multirater.cli.options import Json
from multirater.cli.tables import print_json


def doctor(json: Json = False) -> None:
    """Show what is installed, what is missing for which verb, and the machine.

    Put what it prints into a report of a bug. The status is 1 when the core is not whole.
    """
    from multirater.doctor import doctor as examine

    found = examine()
    if json:
        print_json(found.as_json())
    else:
        print(found.as_text())
    if not found.is_sound:
        raise typer.Exit(1)


VERBS = (doctor,)
