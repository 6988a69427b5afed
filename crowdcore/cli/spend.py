"""`crowdcore spend`: which labels to buy next, of whom, and which were not worth their price."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.items import AsJson, RunName
from crowdcore.cli.lookup import Root, find_run
from crowdcore.cli.terminal import echo_json, table
from crowdcore.wording import percent

if TYPE_CHECKING:
    from crowdcore.spending.plan import SpendPlan

MAX_LISTED = 10


def spend(
    run: RunName,
    *,
    budget: Annotated[float, typer.Option(help="Money to spend.")],
    price: Annotated[float, typer.Option(help="What one label costs.")],
    labels_per_worker: Annotated[
        int | None,
        typer.Option(
            min=1, help="Labels of one worker at most; twice an equal share if not given."
        ),
    ] = None,
    ask_all: Annotated[
        bool, typer.Option("--ask-all", help="Ask workers in doubt too, but nobody left out.")
    ] = False,
    platform: Annotated[
        str, typer.Option("--as", metavar="PLATFORM", help="mturk, toloka, appen or csv.")
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the files of the batch there.")
    ] = None,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Plan the next batch of labels for a budget, and say what it is expected to bring."""
    from crowdcore.data import DataError
    from crowdcore.export.targets import write_files
    from crowdcore.spending.batch import batch_files
    from crowdcore.spending.past import past_labels
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    row = find_run(home, run)
    plan = home.plan_spending(
        row.id, budget=budget, price=price, labels_per_worker=labels_per_worker, ask_all=ask_all
    )
    paths = []
    if out is not None:
        paths = write_files(batch_files(platform, home.finished(row.id), plan), out)
    if as_json:
        echo_json(_plain(plan))
        return
    typer.echo("\n".join(plan.describe()))
    typer.echo(_items(plan))
    try:
        typer.echo("\n".join(past_labels(home.load_result(row.id)).describe(price)))
    except DataError as error:
        typer.echo(f"{error.problem}.")
    if paths:
        typer.echo(f"Wrote {', '.join(str(path) for path in paths)}")


def _plain(plan: "SpendPlan") -> dict[str, object]:
    return {
        "labels": plan.n_labels,
        "cost": plan.cost,
        "measure": None if plan.measure is None else asdict(plan.measure),
        "items": plan.items.to_dict("records"),
        "workers": plan.workers.to_dict("records"),
        "assignments": plan.assignments.to_dict("records"),
    }


def _items(plan: "SpendPlan") -> str:
    rows = []
    for row in plan.items.head(MAX_LISTED).to_dict("records"):
        name = f"{row['first']} / {row['second']}" if "second" in row else row["item"]
        rows.append([name, str(row["n_labels"]), str(row["n_further"]), f"{row['gain']:.3f}"])
    listed = table(["item", "labels so far", "further", "expected gain"], rows)
    best = ", ".join(
        f"{row['worker']} ({percent(row['quality'], 0)}) × {row['n_further']}"
        for row in plan.workers.head(MAX_LISTED).to_dict("records")
    )
    return f"{listed}\nAsk first: {best}"
