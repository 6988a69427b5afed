"""`crowdcore overview`: a run at a glance, and what to do next."""

from typing import Annotated

import typer

from crowdcore.cli.lookup import Root, find_run
from crowdcore.cli.terminal import echo_json, table


def overview(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run: its id, or PROJECT#NUMBER.")],
    *,
    root: Root = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Sum up a run: how right, who is in doubt, what to look at, agreement, what to do next."""
    from crowdcore.workspace import Workspace
    from crowdcore.workspace.overviews import overview as make

    home = Workspace(root)
    summary = make(home, find_run(home, run).id)
    if as_json:
        echo_json(summary.to_json())
        return
    rows = [[figure.title, figure.value, figure.note] for figure in summary.figures]
    lines = [summary.sentence, "", table(["number", "value", "interval"], rows, n_left=3), ""]
    lines += [
        f"{number}. {step.title}: {step.why}" for number, step in enumerate(summary.steps, start=1)
    ]
    typer.echo("\n".join(lines))
