"""Projects and runs of the workspace by what a person types: an id, a name, a number."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from crowdcore.workspace import Project, RunRow, Workspace

Root = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="FOLDER",
        help="Where projects are kept, instead of the usual folder.",
    ),
]


def find_project(home: "Workspace", text: str) -> "Project":
    """Find a project by its id, the beginning of its id, or its name.

    Parameters
    ----------
    home : Workspace
        The workspace.
    text : str
        What was typed.

    Returns
    -------
    Project
        The only one that fits.

    Raises
    ------
    DataError
        None fits, or several.
    """
    from crowdcore.data import DataError

    projects = home.projects()
    fitting = [project for project in projects if text in (project.name, project.id)]
    fitting = fitting or [project for project in projects if text and project.id.startswith(text)]
    if len(fitting) != 1:
        names = ", ".join(repr(project.name) for project in projects) or "none"
        problem = "Several projects are" if fitting else "No project is"
        raise DataError(f"{problem} called {text!r}", fix=f"Projects: {names}.")
    return fitting[0]


def find_run(home: "Workspace", text: str) -> "RunRow":
    """Find a run by its id, the beginning of its id, or PROJECT#NUMBER.

    Parameters
    ----------
    home : Workspace
        The workspace.
    text : str
        What was typed, such as "Birds#3".

    Returns
    -------
    RunRow
        The only one that fits.

    Raises
    ------
    DataError
        None fits, or several.
    """
    from crowdcore.data import DataError

    project_name, sign, number = text.rpartition("#")
    if sign and number.isdecimal():
        runs = home.runs(find_project(home, project_name).id)
        fitting = [run for run in runs if run.number == int(number)]
    else:
        runs = [run for project in home.projects() for run in home.runs(project.id)]
        fitting = [run for run in runs if text and run.id.startswith(text)]
    if len(fitting) != 1:
        problem = "Several runs begin with" if fitting else "There is no run"
        raise DataError(
            f"{problem} {text!r}",
            fix="Give its id, or PROJECT#NUMBER; `crowdcore workspace list` shows them.",
        )
    return fitting[0]
