"""`crowdcore bench reading`: files read without help, against what a right reading is."""

from pathlib import Path
from typing import Annotated

import typer

from crowdcore.cli.terminal import counter, paragraphs, table, write_json

JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write the numbers as JSON.")
]
_READ_AS_CHARACTERS = 90


def reading(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder of files with a manifest.csv.")
    ],
    json_file: JsonFile = None,
) -> None:
    """Read files without any hint, and compare with what a right reading is."""
    from crowdcore.bench.reading import PROTOCOL, judge_file, read_manifest, summary

    rows = read_manifest(folder)
    outcomes = []
    with counter(len(rows), "Reading") as on_done:
        for row in rows:
            outcomes.append(judge_file(folder, row))
            on_done(row["file"])
    cells = [
        [
            outcome.file,
            outcome.outcome,
            outcome.kind,
            "-" if outcome.counts is None else outcome.counts.short(),
            "-" if outcome.wanted is None else outcome.wanted.short(),
            f"{outcome.seconds:.1f}",
            outcome.read_as[:_READ_AS_CHARACTERS],
        ]
        for outcome in outcomes
    ]
    header = ["file", "outcome", "kind", "found", "wanted", "s", "read as"]
    typer.echo(table(header, cells, n_left=len(header)))
    typer.echo(paragraphs(["", PROTOCOL, "", summary(outcomes)]))
    if json_file is not None:
        write_json([outcome.to_json() for outcome in outcomes], json_file)
