"""`crowdcore audit-sample`: items drawn by chance tell how right a run is."""

from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.items import AsJson, By, RunName, Tolerance, decide_items
from crowdcore.cli.lookup import Root, find_run
from crowdcore.cli.terminal import echo_json
from crowdcore.wording import count

if TYPE_CHECKING:
    from crowdcore.workspace.item_review import Audit

audit_sample = typer.Typer(
    help="Draw items by chance, decide them, and get an unbiased accuracy with its interval.",
    no_args_is_help=True,
)

SampleName = Annotated[
    str,
    typer.Argument(metavar="SAMPLE", help="The name or id that `audit-sample show` lists."),
]


@audit_sample.command("draw")
def draw(
    run: RunName,
    *,
    by: By,
    margin: Annotated[
        float | None,
        typer.Option(help="Half the width of the 95% interval that is wanted, such as 0.05."),
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="Items to draw, instead.")] = None,
    stratified: Annotated[
        bool, typer.Option("--stratified", help="Draw more of those that are less sure.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the drawing.")] = 0,
    tolerance: Tolerance = None,
    root: Root = None,
) -> None:
    """Draw a sample of a run's items, and keep it with the decisions."""
    from crowdcore.data import DataError
    from crowdcore.review.audit_sample import MIN_SIZE, sample_size
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    row = find_run(home, run)
    if (margin is None) == (size is None):
        raise DataError("Give either --margin or --size")
    if size is None:
        assert margin is not None
        risk = home.worklist(row.id, tolerance=tolerance).risk
        size = sample_size(margin, n_items=len(risk.chance), accuracy=risk.expected_right)
        size = max(size, MIN_SIZE)
    audit = home.draw_audit(
        row.id,
        size,
        by=by,
        design="stratified" if stratified else "random",
        seed=seed,
        tolerance=tolerance,
    )
    typer.echo(f"Drew {count(size, 'item')} as {audit.name!r}.")
    typer.echo(f"Decide them: crowdcore audit-sample decide {row.id} '{audit.name}' --by NAME")


@audit_sample.command("decide")
def decide(
    run: RunName,
    sample: SampleName,
    *,
    by: By,
    show_labels: Annotated[
        bool,
        typer.Option("--show-labels", help="Show labels; they are hidden so that nobody is led."),
    ] = False,
    root: Root = None,
) -> None:
    """Decide the items of a sample one by one, without seeing labels."""
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    row = find_run(home, run)
    audit = home.find_audit(row.id, sample)
    data = home.load_result(audit.run).data
    codes = {name: code for code, name in enumerate(data.items)}
    n_left = len(audit.left)
    items = (
        (codes[name], f"{n_left - number} of {n_left} left")
        for number, name in enumerate(audit.left)
    )
    decide_items(
        home, home.run(audit.run), data, items, by=by, blind=not show_labels, audit=audit.id
    )
    typer.echo(home.find_audit(row.id, audit.id).estimate.describe())


@audit_sample.command("show")
def show(run: RunName, *, root: Root = None, as_json: AsJson = False) -> None:
    """List the samples of a run's data, and what they tell so far."""
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    audits = home.audits(find_run(home, run).id)
    if as_json:
        echo_json([_plain(audit) for audit in audits])
        return
    if not audits:
        typer.echo("No sample was drawn yet.")
    for audit in audits:
        label = home.run(audit.run).label
        typer.echo(f"{audit.name} of {label} ({audit.sample.design}): {audit.estimate.describe()}")


def _plain(audit: "Audit") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "id": audit.id,
        "name": audit.name,
        "run": audit.run,
        "design": audit.sample.design,
        **asdict(audit.estimate),
        "left": audit.left,
    }
