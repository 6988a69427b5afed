"""What the projects of a workspace say of one worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdcore.data import DataError
from crowdcore.workspace.errors import DamagedError

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.workspace.workspace import Workspace

COLUMNS = (
    *("project", "run", "n_labels", "verdict", "accuracy", "accuracy_low", "accuracy_high"),
    *("decision", "reason", "by", "run_id"),
)
"""Columns of a history."""


def latest_runs(workspace: Workspace) -> list[str]:
    """List the newest finished run of each project, those of pools' members apart.

    Parameters
    ----------
    workspace : Workspace
        The workspace.

    Returns
    -------
    list of str
        Ids of runs, in the order of the projects.
    """
    latest = []
    for project in workspace.projects():
        runs = workspace.runs(project.id)
        done = [run for run in runs if run.status == "done" and run.member_of is None]
        if done:
            latest.append(max(done, key=lambda run: run.number).id)
    return latest


def worker_history(workspace: Workspace, name: str) -> pd.DataFrame:
    """Look up a worker in every project of a workspace, by their name.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    name : str
        The worker, as the files call them: two people of one name cannot be told apart.

    Returns
    -------
    DataFrame
        One row per project that knows the name, with `COLUMNS`; `decision` is what was decided
        last, "" if nothing. A project whose files are damaged has a row that says so.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for run_id in latest_runs(workspace):
        run = workspace.run(run_id)
        row: dict[str, Any] = {
            "project": workspace.project(run.project_id).name,
            "run": run.label,
            "run_id": run.id,
        }
        try:
            table = workspace.workers(run_id)
            known = table[table["worker"] == name]
            made = workspace.standing(run.project_id).workers.get(name)
        except (DamagedError, DataError):
            rows.append({**row, "verdict": "not readable"})
            continue
        if known.empty:
            continue
        numbers = known.iloc[0]
        row.update({key: numbers[key] for key in COLUMNS if key in table})
        if name in run.excluded:
            row["verdict"] = "excluded"
        if made is not None:
            row.update(decision=made.action, reason=made.reason, by=made.by)
        rows.append(row)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    texts = ["decision", "reason", "by"]
    frame[texts] = frame[texts].astype(object).fillna("")
    return frame
