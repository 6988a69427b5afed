"""`crowdcore report`: one HTML file to defend or repeat an audit with."""

from pathlib import Path
from typing import Annotated

import typer

from crowdcore.cli.lookup import Root, find_run


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run: its id, or PROJECT#NUMBER.")],
    *,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The HTML file to write.")] = Path(
        "report.html"
    ),
    root: Root = None,
) -> None:
    """Write a self-contained report: data, quality, workers, decisions, settings, how to repeat."""
    from crowdcore.atomic import atomic
    from crowdcore.workspace import Workspace
    from crowdcore.workspace.reports import report_html

    home = Workspace(root)
    text = report_html(home, find_run(home, run).id)
    with atomic(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {out}")
