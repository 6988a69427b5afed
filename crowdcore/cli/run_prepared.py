"""`crowdcore run` on a prepared folder: in one process, in several, or under a launcher."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from crowdcore.cli.terminal import echo_json, progress
from crowdcore.wording import count

if TYPE_CHECKING:
    from crowdcore.run import Device


def is_prepared(path: Path) -> bool:
    """Tell whether a path is a folder that `crowdcore prepare` wrote or began to write."""
    return path.is_dir() and any((path / name).is_file() for name in ("manifest.json", "plan.json"))


def run_prepared(
    folder: Path,
    out: Path | None,
    *,
    method: str | None,
    pairs: list[str],
    seed: int,
    device: "Device",
    worker_options: dict[str, Any],
    n_parts: int,
    as_json: bool,
) -> None:
    """Run a method on a prepared folder, and say what came of it.

    Parameters
    ----------
    folder : Path
        What `crowdcore prepare` wrote.
    out : Path or None
        Where results go.
    method : str or None
        The method's id; the default of the kind of labels unless given.
    pairs : list of str
        Settings as KEY=VALUE.
    seed : int
        The seed of everything random.
    device : str
        What computes.
    worker_options : dict of str to object
        How workers are to be judged.
    n_parts : int
        How many processes work together on this machine.
    as_json : bool
        Whether to print the summary as JSON.

    Raises
    ------
    DataError
        The folder is not finished, or the method and the folder do not fit together.
    """
    from crowdcore.cli.run import parse_params
    from crowdcore.data import DataError
    from crowdcore.jobs import part_processes
    from crowdcore.jobs.prepared_run import PreparedRequest, check_request, run_part
    from crowdcore.methods import DEFAULTS
    from crowdcore.prepared.layout import PreparedFolder
    from crowdcore.prepared.results import STATE
    from crowdcore.registry import get_method
    from crowdcore.run import Cancelled

    if out is None:
        raise DataError("A run on a prepared folder writes its results", fix="Name a --out folder.")
    prepared = PreparedFolder(folder)
    kind = prepared.manifest.kind
    chosen = get_method(method or DEFAULTS[kind], kind=kind)
    request = PreparedRequest(
        folder=folder,
        out=out,
        method=chosen.id,
        params=parse_params(pairs, chosen.config),
        seed=seed,
        device=device,
        worker_options=worker_options,
    )
    check_request(request, prepared)
    n_buckets = len(prepared.manifest.buckets)
    if n_parts > n_buckets:
        raise DataError(f"The folder has {n_buckets} buckets", fix=f"Take --parts {n_buckets}.")
    if n_parts > 1 and not part_processes.is_launched():
        code = part_processes.run_processes(_without_parts(sys.argv[1:]), n_parts, out / STATE)
        raise typer.Exit(code)
    with part_processes.joined_group(device) as parts:
        try:
            if parts.rank:
                run_part(request, parts=parts)
                return
            with progress() as watch:
                record = run_part(request, parts=parts, watch=watch)
        except Cancelled:
            typer.echo("Stopped; the same command goes on from the last kept step.", err=True)
            raise typer.Exit(part_processes.INTERRUPTED) from None
    assert record is not None  # of rank 0
    if as_json:
        echo_json({name: record[name] for name in record if name != "history"})
    else:
        typer.echo("\n".join(_lines(folder, out, record)))


def _without_parts(arguments: Sequence[str]) -> list[str]:
    """The command line as one part gets it."""
    kept, skip = [], False
    for argument in arguments:
        if skip or argument == "--parts" or argument.startswith("--parts="):
            skip = argument == "--parts" and not skip
            continue
        kept.append(argument)
    return kept


def _lines(folder: Path, out: Path, record: dict[str, Any]) -> list[str]:
    data, provenance, summary = record["data"], record["provenance"], record["summary"]
    end = {None: "", True: ", converged", False: ", stopped before it converged"}
    lines = [
        f"{folder.name}: {count(data['labels'], 'label')} of {count(data['items'], 'item')} by "
        f"{count(data['workers'], 'worker')}",
        f"{provenance['title']}: {count(provenance['steps'], 'step')}"
        f"{end[provenance['converged']]}, {provenance['seconds']:.1f} s on "
        f"{provenance['device']} in {count(record['parts'], 'part')}, seed {provenance['seed']}",
        *provenance["notes"],
    ]
    if summary:
        lines.append(
            f"Truths: {data['items'] - summary['undecided']:,} decided, "
            f"{summary['undecided']:,} undecided, {summary['tied']:,} tied; mean confidence "
            f"{summary['mean_confidence']:.3f}"
        )
    if record["score"] is not None:
        figures = ", ".join(
            f"{name} {value:,}" if isinstance(value, int) else f"{name} {value:.4f}"
            for name, value in record["score"].items()
        )
        lines.append(f"Against gold: {figures}")
    verdicts = ", ".join(f"{number:,} {name}" for name, number in record["workers"].items())
    lines.append(f"Workers: {verdicts}")
    if record["health"]:
        findings = "; ".join(f"{f['title']} ({f['count']:,})" for f in record["health"])
        lines.append(f"Health: {findings}")
    return [*lines, f"Wrote truths, workers and result.json to {out}"]
