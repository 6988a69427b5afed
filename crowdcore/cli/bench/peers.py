"""`crowdcore bench peers`: the environment of the peers, apart from all else."""

from pathlib import Path
from typing import Annotated

import typer


def peers(
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to make it, instead of the cache folder."),
    ] = None,
) -> None:
    """Make the environment that `bench speed --peers` needs: the peers, apart from all else."""
    from crowdcore.bench.peers import PACKAGES, default_folder, is_ready, make_environment

    folder = into or default_folder()
    if not is_ready(folder):
        typer.echo(f"Installing {', '.join(PACKAGES)} into {folder} …", err=True)
        make_environment(folder)
    typer.echo(f"The peers are ready in {folder}.")
