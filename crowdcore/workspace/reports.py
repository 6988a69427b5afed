"""The report of a run, with everything that is needed to defend or repeat the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.data import DataError

if TYPE_CHECKING:
    from crowdcore.workspace.workspace import Workspace


def report_html(workspace: Workspace, run_id: str) -> str:
    """Make the report of a finished run.

    Parameters
    ----------
    workspace : Workspace
        The workspace with the run.
    run_id : str
        The run.

    Returns
    -------
    str
        A whole HTML document that needs nothing else.

    Raises
    ------
    DataError
        The run has no result.
    DamagedError
        Files of the result, or of the data, are missing or changed.
    """
    from crowdcore.audit.kinds import audit_of
    from crowdcore.export.report import ReportSource, as_html

    row = workspace.run(run_id)
    result = workspace.load_result(run_id)
    dataset, audit = workspace.dataset(row.dataset_id), audit_of(result.data.kind)
    scored = audit.score(result)
    try:
        agreement = str(audit.agreement(result.data).describe())
    except DataError as error:  # too few labels to tell: the sentence says so
        agreement = str(error)
    return as_html(
        ReportSource(
            project=workspace.project(row.project_id).name,
            run=row.label,
            dataset=dataset.title,
            sizes=dataset.sizes,
            health=result.data.report,
            facts=workspace.provenance(run_id),
            quality=[audit.without_gold()] if scored is None else scored.lines,
            agreement=agreement,
            truths=workspace.truths(run_id, probabilities=False),
            workers=workspace.workers(run_id),
            in_doubt=audit.in_doubt,
            decisions=workspace.decisions(row.project_id),
            used=frozenset(decision.id for decision in row.decisions),
        )
    )
