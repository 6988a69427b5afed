"""`crowdcore bench scale`: what labels cost from a file to files, by stage and size."""

from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from crowdcore.cli.bench.reading import JsonFile
from crowdcore.cli.terminal import counter, paragraphs, table, write_json


def scale(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="For the files, which stay there.")
    ],
    labels: Annotated[
        list[float] | None,
        typer.Option("--labels", "-n", help="A number of labels, such as 1e7; may be repeated."),
    ] = None,
    parts: Annotated[
        list[int] | None,
        typer.Option("--parts", min=2, help="Also run in so many parts; may be repeated."),
    ] = None,
    kill: Annotated[
        bool, typer.Option("--kill", help="Also kill one of two parts, and see them go on.")
    ] = False,
    json_file: JsonFile = None,
) -> None:
    """Measure CPU seconds and peak memory of preparing and running, end to end."""
    from crowdcore.bench import scale as bench

    sizes = [int(size) for size in labels or [1e6, 1e7]]
    costs, notes = [], []
    with counter(None, "Measuring") as on_done:
        for size in sizes:
            own = folder / f"{size:.0e}".replace("+0", "")
            costs += bench.measure(size, own, parts=parts or (), kill=kill, on_done=on_done)
            for other in [*(f"results-{n}" for n in parts or ()), *(["results-killed"] * kill)]:
                n_differing, largest = bench.differing_truths(own, "results-1", other)
                notes.append(
                    f"{size:,} labels, {other}: {n_differing:,} truths differ from those of one "
                    f"part, confidences by at most {largest:.1e}."
                )
    rows = [
        [
            cost.stage,
            f"{cost.n_labels:,}",
            f"{cost.cpu_seconds:.1f}",
            "-" if isnan(cost.seconds) else f"{cost.seconds:.0f}",
            "-" if isnan(cost.gigabytes) else f"{cost.gigabytes:.2f}",
        ]
        for cost in costs
    ]
    typer.echo(table(["stage", "labels", "CPU s", "wall s", "peak GB"], rows))
    if len(sizes) > 1:
        notes.append(
            f"The fit grows with labels to the power {bench.exponent(costs, '  fit'):.2f}."
        )
    typer.echo(paragraphs(["", *notes, bench.PUBLISHED]))
    if json_file is not None:
        write_json([cost.to_json() for cost in costs], json_file)
