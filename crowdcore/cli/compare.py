"""`crowdcore compare`: what differs between two runs, and which is better on gold."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdcore.cli.lookup import Root, find_run
from crowdcore.cli.terminal import echo_json, table
from crowdcore.wording import count

if TYPE_CHECKING:
    from crowdcore.audit.comparison import Comparison

MAX_LISTED = 10
"""Items and workers that are printed; --out writes all items."""


def compare(
    before: Annotated[
        str, typer.Argument(metavar="BEFORE", help="The earlier run: its id, or PROJECT#NUMBER.")
    ],
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="The later run: its id, or PROJECT#NUMBER.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the changed truths as CSV there.")
    ] = None,
    root: Root = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two runs: settings, truths and verdicts that differ, and the accuracy on gold."""
    from crowdcore.export.writers import write_csv
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    rows = [find_run(home, before), find_run(home, after)]
    comparison = home.compare(rows[0].id, rows[1].id)
    decided = [home.against_decisions(row.id) for row in rows]
    if out is not None:
        write_csv(comparison.items, out)
    if as_json:
        echo_json({**_summary(comparison), "right_of_decided": decided})
        return
    typer.echo("\n".join(_lines(comparison)))
    for row, (n_right, n) in zip(rows, decided, strict=True):
        if n:
            typer.echo(f"{row.label}: {n_right:,} of {n:,} decided truths that it was not given")
    if out is not None:
        typer.echo(f"Wrote {count(len(comparison.items), 'changed truth')} to {out}")


def _summary(comparison: "Comparison") -> dict[str, Any]:
    from dataclasses import asdict

    accuracy = comparison.accuracy
    return {
        "items": comparison.n_items,
        "only_before": comparison.only_before,
        "only_after": comparison.only_after,
        "labels_before": comparison.labels_before,
        "labels_after": comparison.labels_after,
        "thin": comparison.thin,
        "changed_truths": comparison.items.to_dict("records"),
        "changed_verdicts": comparison.workers.to_dict("records"),
        "settings": [list(row) for row in comparison.settings],
        "accuracy": None if accuracy is None else asdict(accuracy),
        "no_accuracy": comparison.no_accuracy,
    }


def _lines(comparison: "Comparison") -> list[str]:
    changed, workers = comparison.items, comparison.workers
    lines = [
        f"{count(len(changed), 'truth')} of {comparison.n_items:,} changed, "
        f"{count(len(workers), 'verdict')} changed, "
        f"{comparison.labels_after - comparison.labels_before:+,} labels, "
        f"{count(len(comparison.thin), 'item')} left with a single label or none"
    ]
    if comparison.accuracy is not None:
        paired = comparison.accuracy
        lines.append(
            f"On gold: {paired.n_before / paired.n:.4f} before, {paired.n_after / paired.n:.4f} "
            f"after ({count(paired.n, 'item')}; {paired.gained:,} gained, {paired.lost:,} lost, "
            f"p = {paired.p_value:.2g})"
        )
    else:
        lines.append(comparison.no_accuracy)
    for header, rows in (
        (["setting", "before", "after"], [list(row) for row in comparison.settings]),
        (["worker", "verdict before", "after"], _cells(workers, "worker", "verdict")),
        (["item", "truth before", "after"], _cells(changed, "item", "truth")),
    ):
        if rows:
            lines += ["", table(header, rows[:MAX_LISTED], n_left=len(header))]
            lines += [f"and {len(rows) - MAX_LISTED:,} more"] if len(rows) > MAX_LISTED else []
    return lines


def _cells(frame: Any, key: str, value: str) -> list[list[str]]:
    names = [key, f"{value}_before", f"{value}_after"]
    return [[str(cell) for cell in row] for row in frame[names].to_numpy().tolist()]
