"""`crowdcore dashboard`: the app in a browser."""

from pathlib import Path
from typing import Annotated

import typer


def dashboard(
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="The port to listen on; the first free one if not set."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; the default is this machine only.")
    ] = "127.0.0.1",
    workspace: Annotated[
        Path | None, typer.Option(help="Where projects are kept, instead of the usual folder.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser window.")
    ] = False,
) -> None:
    """Open the dashboard."""
    from dashboard.server.launch import main as launch

    launch(port=port, workspace=workspace, host=host, browser=not no_browser)
