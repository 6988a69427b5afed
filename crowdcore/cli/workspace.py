"""`crowdcore workspace`: what is in the workspace, whether it is whole, and how to mend it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.lookup import Root
from crowdcore.cli.terminal import echo_json, table
from crowdcore.wording import NOTHING, count

if TYPE_CHECKING:
    from crowdcore.workspace import Workspace

workspace = typer.Typer(
    help="Look at what the dashboard keeps, check it, and mend it.", no_args_is_help=True
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DAMAGED = 1
"""The exit code of `check` where something is damaged."""


@workspace.command("list")
def list_all(*, root: Root = None, as_json: Json = False) -> None:
    """List projects, data sets and runs with their ids."""
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    rows = []
    for project in home.projects():
        rows.append({"what": "project", "id": project.id, "name": project.name, "state": ""})
        rows += [
            {"what": "data set", "id": dataset.id, "name": dataset.title, "state": dataset.sizes}
            for dataset in home.datasets(project.id)
        ]
        rows += [
            {"what": "run", "id": run.id, "name": run.label, "state": run.status}
            for run in home.runs(project.id)
        ]
    if as_json:
        echo_json(rows)
        return
    header = ["what", "id", "name", "state"]
    lines = [[row[name] for name in header] for row in rows]
    typer.echo(table(header, lines, n_left=len(header)) if rows else "There are no projects yet.")


@workspace.command("worker")
def show_worker(
    name: Annotated[str, typer.Argument(metavar="WORKER", help="The worker's name.")],
    *,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Show what every project says of a worker, and what was decided about them."""
    from crowdcore.workspace import Workspace
    from crowdcore.workspace.history import worker_history

    history = worker_history(Workspace(root), name)
    if as_json:
        echo_json(json.loads(history.to_json(orient="records")))
        return
    header = ["project", "run", "n_labels", "verdict", "accuracy", "decision", "reason", "by"]
    known = history[header].astype(object).where(history[header].notna(), NOTHING)
    rows = [
        [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in known.to_numpy(object).tolist()
    ]
    nobody = f"No project of this workspace has a worker called {name!r}."
    typer.echo(table(header, rows, n_left=len(header)) if rows else nobody)


@workspace.command("add")
def add(
    *,
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="The id of a data set, as `list` prints it.")
    ],
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="More labels, in a file of their own.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of items and known answers.")
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Features of the items: a table, an NPZ, pictures."),
    ] = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Add labels, gold or features to a data set, as its next version; the old one stays."""
    from crowdcore.data import DataError
    from crowdcore.reading.labels.additions import add_features, add_gold, add_labels
    from crowdcore.workspace import Workspace

    if labels is None and gold is None and features is None:
        raise DataError("There is nothing to add", fix="Give --labels, --gold or --features.")
    home = Workspace(root)
    data, added = home.load_data(dataset), dict[str, int]()
    steps = ((add_labels, labels), (add_gold, gold), (add_features, features))
    for step, file in steps:
        if file is not None:
            extended = step(data, file)
            data = extended.data
            added = {**added, **extended.added}
    saved = home.add_version(dataset, data, added)
    if as_json:
        echo_json({"id": saved.id, "version": saved.version, "added": added})
        return
    new = ", ".join(count(number, noun) for noun, number in added.items())
    typer.echo(f"{saved.title} ({saved.id}) has {new} more than before: {saved.sizes}.")


@workspace.command("check")
def check_all(*, root: Root = None, as_json: Json = False) -> None:
    """Compare all files with their checksums; the exit code is 1 if something is damaged."""
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    n_datasets, n_results, problems = _check(home)
    unlisted = home.unlisted()
    if as_json:
        checked = {"datasets": n_datasets, "results": n_results}
        echo_json({"checked": checked, "damaged": problems, "unlisted": unlisted})
    else:
        typer.echo(f"Checked {count(n_datasets, 'data set')} and {count(n_results, 'result')}.")
        for problem in problems:
            typer.echo(problem)
        if unlisted:
            typer.echo(
                f"Not in the catalogue: {', '.join(unlisted)}. "
                "`crowdcore workspace rebuild` lists them."
            )
        if not problems and not unlisted:
            typer.echo("Everything is as it was written.")
    if problems:
        raise typer.Exit(DAMAGED)


def _check(home: "Workspace") -> tuple[int, int, list[str]]:
    """How many data sets and results there are, and a sentence for each that is damaged."""
    from crowdcore.workspace import DamagedError

    n_datasets, n_results, problems = 0, 0, []
    for project in home.projects():
        for dataset in home.datasets(project.id):
            n_datasets += 1
            try:
                home.load_data(dataset.id)
                home.check_original(dataset.id)
            except DamagedError as error:
                problems.append(str(error))
        for run in home.runs(project.id):
            if run.status == "done":
                n_results += 1
                problems += [damage] if (damage := home.damage(run.id)) else []
    return n_datasets, n_results, problems


@workspace.command("rebuild")
def rebuild(*, root: Root = None, as_json: Json = False) -> None:
    """Make the catalogue again from the folders, each of which knows what it is.

    A catalogue that is damaged is kept beside the new one; one that is whole gets what it lacks.
    """
    from dataclasses import asdict

    from crowdcore.data import DataError
    from crowdcore.jobs.launch import stop_daemon_in
    from crowdcore.workspace import folders
    from crowdcore.workspace.rebuild import has_folders
    from crowdcore.workspace.rebuild import rebuild as make_catalogue

    home = folders.default_root() if root is None else root.expanduser().resolve()
    if not has_folders(home):
        raise DataError("There are no projects, data or runs in this folder", file=str(home))
    stop_daemon_in(home)
    rebuilt = make_catalogue(home)
    if as_json:
        echo_json(asdict(rebuilt))
        return
    typer.echo(
        f"Listed {count(rebuilt.projects, 'project')}, {count(rebuilt.datasets, 'data set')} and "
        f"{count(rebuilt.runs, 'run')} that the catalogue did not have."
    )
    if rebuilt.unknown:
        typer.echo(
            f"These folders do not know what they are, and stay as they are: "
            f"{', '.join(rebuilt.unknown)}."
        )
