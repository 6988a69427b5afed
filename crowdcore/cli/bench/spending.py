"""`crowdcore bench spending`: what the worklist and the spend plan bring on sets with a truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.bench.commands import read_datasets
from crowdcore.cli.bench.reading import JsonFile
from crowdcore.cli.terminal import counter, paragraphs, table, write_json

if TYPE_CHECKING:
    from crowdcore.bench.spending import Area


def spending(
    *,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...",
            help="Folders with labels.csv and truth.csv, or above such ones.",
        ),
    ],
    repeats: Annotated[int, typer.Option(min=1, help="Ways to hold labels back per set.")] = 10,
    json_file: JsonFile = None,
) -> None:
    """Measure accuracy against number of answers: worklist and spend plan beside their rivals."""
    from crowdcore.bench.spending import BUYS, LOOKS, PROTOCOL, measure, to_json

    datasets, skipped = read_datasets(folders)
    with counter(len(datasets), "Measuring") as on_done:
        areas = measure(datasets, repeats, on_done)
    typer.echo(_table(areas, "looks", LOOKS))
    typer.echo("")
    typer.echo(_table(areas, "labels", BUYS[1:]))
    typer.echo(paragraphs(["", PROTOCOL, *skipped]))
    if json_file is not None:
        write_json(to_json(areas), json_file)


def _table(areas: "list[Area]", part: str, strategies: tuple[str, ...]) -> str:
    import numpy as np

    found = {(area.dataset, area.strategy): area for area in areas if area.part == part}
    names = list(dict.fromkeys(name for name, _ in found))
    rows = []
    for name in names:
        last = found[name, strategies[-1]]
        cells = [f"{found[name, each].area:+.4f}" for each in strategies]
        extra = [] if part == "looks" else [f"{last.foretold or 0:+.4f} {last.found or 0:+.4f}"]
        rows.append([name, f"{last.start:.3f}", f"{last.end:.3f}", *cells, *extra])
    means = [np.mean([found[name, each].area for name in names]) for each in strategies]
    if names:
        rows.append(["mean", "", "", *[f"{mean:+.4f}" for mean in means]])
        rows[-1] += [""] * (len(rows[0]) - len(rows[-1]))
    heads = [part, "accuracy", "in the end", *(f"{each}, area" for each in strategies)]
    return table([*heads, *([] if part == "looks" else ["foretold, found"])], rows)
