"""`crowdcore bench accuracy --kind`: ratings, sets and comparisons against known answers."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from crowdcore.cli.terminal import counter, paragraphs, table, write_json

if TYPE_CHECKING:
    from crowdcore.data import Kind


def tabulate_kind(
    kind: "Kind", folders: list[Path], methods: str | None, repeats: int, json_file: Path | None
) -> None:
    """Tabulate how near methods for a kind other than classes come to known answers.

    Parameters
    ----------
    kind
        What the labels are.
    folders
        Folders of rated data sets, or above such ones; sets and comparisons are simulated.
    methods
        Ids of methods, with commas between them; all if not given.
    repeats
        How many crowds are simulated.
    json_file
        Where to write the numbers too.
    """
    from crowdcore.bench.datasets import find_folders
    from crowdcore.bench.kinds import COLUMNS, PROTOCOL, compare_kind
    from crowdcore.data import DataError

    if kind in ("classes", "ratings") and not folders:
        raise DataError(f"There are no {kind} to measure on", fix="Give folders of data sets.")
    if kind in ("sets", "comparisons") and folders:
        raise DataError(f"{kind.capitalize()} are simulated here", fix="Leave the folders out.")
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    paths = find_folders(folders) if folders else []
    with counter(None, "Fitting") as on_done:
        rows, skipped = compare_kind(kind, paths, names=names, repeats=repeats, on_done=on_done)
    columns = COLUMNS[kind]
    lines = [
        [row.dataset, row.method]
        + [_number(row.figures[name]) for name in columns]
        + [f"{row.cpu_seconds:.2f}"]
        for row in rows
    ]
    typer.echo(table(["data set", "method", *columns, "CPU s"], lines, n_left=2))
    typer.echo(paragraphs(["", PROTOCOL[kind], *skipped]))
    if json_file is not None:
        write_json([row.to_json() for row in rows], json_file)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
