"""`crowdcore bench verdicts`: how far verdicts on workers can be trusted."""

from pathlib import Path
from typing import Annotated

import typer

from crowdcore.cli.bench.commands import read_datasets
from crowdcore.cli.bench.reading import JsonFile
from crowdcore.cli.terminal import counter, paragraphs, table, write_json


def verdicts(
    *,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER...]",
            help="Folders with labels.csv and truth.csv, or above such ones.",
        ),
    ] = None,
    crowds: Annotated[
        int, typer.Option(min=0, help="Simulated crowds of each kind; 0 leaves them out.")
    ] = 96,
    json_file: JsonFile = None,
) -> None:
    """Tell how often verdicts are wrong and intervals hold, on simulated and real crowds."""
    from crowdcore.bench.verdicts import real, simulated

    datasets, skipped = read_datasets(folders) if folders else ([], [])
    tables = []
    if crowds:
        with counter(None, "Judging") as on_done:
            tables += simulated.tables(crowds, on_done)
    if datasets:
        with counter(2 * len(datasets), "Judging") as on_done:
            tables += real.tables(datasets, on_done)
    for result_table in tables:
        typer.echo(f"{result_table.title}\n")
        typer.echo(table(list(result_table.header), [list(row) for row in result_table.rows]))
        typer.echo(paragraphs(["", *result_table.notes, ""]))
    typer.echo(paragraphs(skipped))
    if json_file is not None:
        write_json([result_table.to_json() for result_table in tables], json_file)
