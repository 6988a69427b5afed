"""`crowdcore check`: what is wrong with a file of labels."""

from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.frame import count, echo_json
from crowdcore.cli.reading import (
    Contradictions,
    ContradictionsPolicy,
    Fixes,
    GoldColumn,
    GoldFile,
    ItemColumn,
    LabelColumn,
    LabelsFile,
    WorkerColumn,
    read,
)

if TYPE_CHECKING:
    from crowdcore.io.health import Finding, HealthReport


def check(
    *,
    labels: LabelsFile,
    gold: GoldFile = None,
    item: ItemColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    gold_column: GoldColumn = None,
    contradictions: ContradictionsPolicy = Contradictions.LAST,
    fixes: Fixes = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Report the health of labels: duplicates, blanks, odd spellings, contradictions."""
    data = read(
        labels,
        gold=gold,
        item=item,
        worker=worker,
        label=label,
        gold_column=gold_column,
        contradictions=contradictions,
        fixes=fixes,
    )
    if as_json:
        echo_json(data.report.to_json())
        return
    typer.echo("\n".join(_lines(data.report)))


def _lines(report: "HealthReport") -> list[str]:
    lines = [
        f"{report.source}: {count(report.n_rows, 'row')}, {count(report.n_labels, 'label')} of "
        f"{count(report.n_items, 'item')} by {count(report.n_workers, 'worker')}, "
        f"{count(report.n_classes, 'class', 'classes')}",
        "",
        "Columns",
        *(f"  {role}: {reason}" for role, reason in report.reasons.items()),
    ]
    for finding in report.warnings:
        lines += ["", *_finding(finding)]
    fine = [finding.title for finding in report.findings if finding.severity == "ok"]
    if fine:
        lines += ["", f"Nothing found for: {'; '.join(fine)}."]
    return lines


def _finding(finding: "Finding") -> list[str]:
    lines = [f"{finding.severity.capitalize()}: {finding.title} ({finding.count:,})"]
    lines += [f"  {example}" for example in finding.examples]
    lines += [f"  Done: {finding.done}"] if finding.done else []
    flag = f" (--fix {finding.id})" if finding.option else ""
    lines += [f"  Fix: {finding.fix}{flag}"] if finding.fix else []
    return lines
