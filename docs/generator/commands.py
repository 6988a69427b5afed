"""The page of commands, from typer."""

from __future__ import annotations

import re

import typer
from typer.cli import get_docs_for_click
from typer.main import get_command

from crowdcore.cli import app

NAME = "crowdcore"


def commands() -> str:
    """Every command with its arguments and options, as typer tells them."""
    command = get_command(app)
    context = typer.Context(command, info_name=NAME)
    text = get_docs_for_click(obj=command, ctx=context, name=NAME, title="The command line")
    text = text.replace("```console\n$ ", "```sh\n")
    return re.sub(r"^(\* `[\w-]+`): .+\.\.\.$", r"\1", text, flags=re.MULTILINE)  # cut by typer
