"""`crowdcore prepare`: turn large files of labels into a folder that runs read from the disk."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from crowdcore.cli.options import (
    Contradictions,
    ContradictionsPolicy,
    GoldColumn,
    GoldFile,
    ItemColumn,
    KindOfLabels,
    LabelColumn,
    LabelKinds,
    WorkerColumn,
)
from crowdcore.cli.terminal import echo_json
from crowdcore.wording import count


def prepare(
    *,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="Long tables with the same columns. Parquet is read a few row groups at a time, "
            "other formats one file at a time.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="The folder to write. After a stop the same command goes on where it was.",
        ),
    ],
    gold: GoldFile = None,
    parts: Annotated[
        int,
        typer.Option(min=1, max=256, help="Processes that work side by side; the folder is equal."),
    ] = 1,
    item: ItemColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    gold_column: GoldColumn = None,
    contradictions: ContradictionsPolicy = Contradictions.LAST,
    kind: KindOfLabels = LabelKinds.AUTO,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write labels as codes to a folder, for `crowdcore run` beyond memory or on several machines.

    Items, workers, labels and gold are kept; times, texts and other columns are not.
    """
    from crowdcore.prepared.prepare import prepare as write
    from crowdcore.reading.labels.cleaning import Cleaning

    named = {"item": item, "worker": worker, "label": label, "gold": gold_column}
    folder = write(
        files,
        out,
        roles={role: name for role, name in named.items() if name is not None},
        gold=gold,
        cleaning=Cleaning(contradictions=contradictions.value, kind=kind.value),
        n_processes=parts,
        watch=_told if sys.stderr.isatty() else None,
        command=shlex.join(["crowdcore", "prepare", *map(str, files)]),
    )
    report, manifest = folder.report, folder.manifest
    if as_json:
        echo_json({"folder": str(out), "fingerprint": manifest.fingerprint, **report.to_json()})
        return
    lines = [
        f"{out}: {count(manifest.n_labels, 'label')} of {count(manifest.n_items, 'item')} by "
        f"{count(manifest.n_workers, 'worker')} in {count(len(manifest.buckets), 'bucket')}",
        f"Read {report.roles.item!r} as items, {report.roles.worker!r} as workers, "
        f"{report.roles.label!r} as {manifest.kind}"
        + (f", {report.roles.gold!r} as gold" if report.roles.gold else ""),
        report.accounting,
        *(f"{found.title}: {found.count:,}. {found.done}".strip() for found in report.warnings),
        f"Next: crowdcore run {shlex.quote(str(out))} --out results",
    ]
    typer.echo("\n".join(lines))


def _told(stage: str, done: int, total: int) -> None:
    typer.echo(f"\r{stage}: {done} of {total}   ", nl=done == total, err=True)
