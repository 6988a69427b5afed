"""A run at a glance, from what the workspace holds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from crowdcore.data import DataError

if TYPE_CHECKING:
    from crowdcore.audit.overviews.overview import Overview
    from crowdcore.audit.overviews.source import OverviewSource
    from crowdcore.workspace.records import RunRow
    from crowdcore.workspace.workspace import Workspace


def previous_run(runs: Sequence[RunRow], row: RunRow) -> RunRow | None:
    """Find the run that a run is compared with at first.

    Parameters
    ----------
    runs : sequence of RunRow
        The runs of the project.
    row : RunRow
        The later run.

    Returns
    -------
    RunRow or None
        The run that it began from, else the last finished one before it that is no member of a
        pool; None where it is the first.
    """
    done = [run for run in runs if run.status == "done" and run.number < row.number]
    begun = [run for run in done if run.id == row.warm_from]
    whole = [run for run in done if run.member_of is None]
    return max(begun or whole, key=lambda run: run.number, default=None)


def unused_decisions(workspace: Workspace, row: RunRow) -> int:
    """Count the decisions that hold and change the data, and that a run does not go by.

    Parameters
    ----------
    workspace : Workspace
        The workspace with the run.
    row : RunRow
        The run.

    Returns
    -------
    int
        How many; those that it goes by and that no longer hold count too.
    """
    holding = {made.id for made in workspace.standing(row.project_id, row.dataset_id).changing_data}
    return len(holding ^ {made.id for made in row.decisions})


def overview(workspace: Workspace, run_id: str) -> Overview:
    """Sum up a finished run.

    Parameters
    ----------
    workspace : Workspace
        The workspace with the run.
    run_id : str
        The run.

    Returns
    -------
    Overview
        One sentence, five numbers, and what to do next.

    Raises
    ------
    DataError
        The run has no result.
    DamagedError
        Files of the result, or of the data, are missing or changed.
    """
    from crowdcore.audit.overviews.overview import make_overview

    return make_overview(overview_source(workspace, run_id))


def overview_source(workspace: Workspace, run_id: str) -> OverviewSource:
    """Read all that an overview is made of.

    Parameters
    ----------
    workspace : Workspace
        The workspace with the run.
    run_id : str
        The run.

    Returns
    -------
    OverviewSource
        Compared with the run before, where they share items.

    Raises
    ------
    DataError
        The run has no result.
    DamagedError
        Files of the result, or of the data, are missing or changed.
    """
    import pandas as pd

    from crowdcore.audit.agreements.panel import measure_agreement
    from crowdcore.audit.kinds import audit_of
    from crowdcore.audit.overviews.source import OverviewSource
    from crowdcore.confidence.accuracy import expected_accuracy
    from crowdcore.workspace.answers import drawing_chances

    row = workspace.run(run_id)
    result = workspace.load_result(run_id)
    before = previous_run(workspace.runs(row.project_id), row)
    comparison = None
    if before is not None:
        with suppress(DataError):  # of other data, with no item in common
            comparison = workspace.compare(before.id, row.id)
    report = workspace.report(row.dataset_id)
    compared = audit_of(result.data.kind).compare_items(result)
    return OverviewSource(
        result=result,
        items=pd.concat([workspace.truths(run_id, probabilities=False), compared], axis=1),
        workers=workspace.workers(run_id),
        agreement=measure_agreement(result.data),
        expected=expected_accuracy(result, drawing_chances(row.decisions)),
        comparison=comparison,
        previous="" if before is None or comparison is None else before.label,
        excluded=row.excluded,
        decided=tuple(workspace.standing(row.project_id).workers),
        n_unused=unused_decisions(workspace, row),
        warnings=() if report is None else report.serious,
    )
