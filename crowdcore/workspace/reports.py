"""The report of a run, with everything that is needed to defend or repeat the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from crowdcore.audit.overviews.overview import make_overview
    from crowdcore.export.report import ReportSource, as_html
    from crowdcore.workspace.overviews import overview_source

    row = workspace.run(run_id)
    source = overview_source(workspace, run_id)
    result, project = source.result, workspace.project(row.project_id).name
    dataset, audit = workspace.dataset(row.dataset_id), audit_of(result.data.kind)
    scored = audit.score(result)
    decisions = workspace.decisions(row.project_id)
    kept = {made.id: made for made in decisions}  # with the evidence, which a run does not copy
    return as_html(
        ReportSource(
            project=project,
            run=row.label,
            dataset=dataset.title,
            sizes=dataset.sizes,
            health=result.data.report,
            facts=workspace.provenance(run_id),
            quality=[audit.without_gold()] if scored is None else scored.lines,
            overview=make_overview(source),
            agreement=source.agreement,
            comparison=source.comparison,
            previous=source.previous,
            truths=workspace.truths(run_id, probabilities=False),
            workers=source.workers,
            in_doubt=audit.in_doubt,
            decisions=decisions,
            used=[kept.get(made.id, made) for made in row.decisions],
            name=f"{project}#{row.number}",
        )
    )
