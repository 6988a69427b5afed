"""`crowdcore check`: what is wrong with a file of labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdcore.cli.options import (
    Contradictions,
    ContradictionsPolicy,
    FeatureColumns,
    FeaturesFile,
    Fixes,
    GoldColumn,
    GoldFile,
    ItemColumn,
    KindOfLabels,
    LabelColumn,
    LabelKinds,
    LabelsFile,
    PictureSize,
    QuestionName,
    ReadingNumber,
    Unmarked,
    WorkerColumn,
    read,
)
from crowdcore.cli.terminal import echo_json, table
from crowdcore.wording import count

if TYPE_CHECKING:
    from crowdcore.audit.agreements.panel import AgreementPanel
    from crowdcore.data import CrowdData
    from crowdcore.reading.findings import Finding
    from crowdcore.reading.labels.health import HealthReport


AGREEMENT_FILES = ("agreement-classes.csv", "agreement-items.csv", "agreement-pairs.csv")


def check(
    *,
    labels: LabelsFile,
    gold: GoldFile = None,
    features: FeaturesFile = None,
    item: ItemColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    gold_column: GoldColumn = None,
    contradictions: ContradictionsPolicy = Contradictions.LAST,
    feature_columns: FeatureColumns = None,
    picture_size: PictureSize = None,
    reading: ReadingNumber = None,
    question: QuestionName = None,
    fixes: Fixes = None,
    unmarked: Unmarked = None,
    kind: KindOfLabels = LabelKinds.AUTO,
    agreement: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write agreement by class, by item and by pair of workers as CSV there.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Report the health of labels: agreement, duplicates, odd spellings, features and more."""
    from crowdcore.audit.agreements.panel import measure_agreement
    from crowdcore.audit.kinds import audit_of

    data = read(
        labels,
        gold=gold,
        features=features,
        feature_columns=feature_columns,
        picture_size=picture_size,
        item=item,
        worker=worker,
        label=label,
        gold_column=gold_column,
        contradictions=contradictions,
        reading=reading,
        question=question,
        fixes=fixes,
        unmarked=unmarked,
        kind=kind,
    )
    agreed = audit_of(data.kind).agreement(data)
    panel = measure_agreement(data)
    if agreement is not None:
        _write_agreement(data, panel, agreement)
    if as_json:
        measures = {**panel.to_json(), **agreed.to_json()}
        echo_json({**data.report.to_json(), "agreement": measures})
        return
    typer.echo("\n".join(_lines(data.report, agreed, panel)))
    if agreement is not None:
        typer.echo(f"Wrote {', '.join(AGREEMENT_FILES)} to {agreement}")


def _write_agreement(data: "CrowdData", panel: "AgreementPanel", folder: Path) -> None:
    """Write agreement by class, by item and by pair of the busiest workers."""
    from crowdcore.audit.agreements.worker_pairs import busiest_workers, compare_workers
    from crowdcore.export.writers import write_csv

    folder.mkdir(parents=True, exist_ok=True)
    pairs = compare_workers(data, busiest_workers(data)).table()
    for name, frame in zip(AGREEMENT_FILES, (panel.by_class, panel.by_item, pairs), strict=True):
        write_csv(frame, folder / name)


def _lines(report: "HealthReport", agreed: Any, panel: "AgreementPanel") -> list[str]:
    lines = [
        f"{report.source}: {count(report.n_rows, 'row')}, {count(report.n_labels, 'label')} of "
        f"{count(report.n_items, 'item')} by {count(report.n_workers, 'worker')}, "
        f"{count(report.n_classes, 'class', 'classes') if report.n_classes else 'ratings'}",
        *([report.accounting] if report.left_out else []),
        *([f"Features: {report.features}"] if report.features else []),
        f"Agreement: {_alpha(agreed)}{agreed.describe()}",
        *([panel.paradox] if panel.paradox else []),
        "",
        *_measures(panel),
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


def _measures(panel: "AgreementPanel") -> list[str]:
    """The measures of agreement as a table."""
    rows = [
        [
            entry.name,
            "–" if entry.value is None else f"{entry.value:.3f}",
            "–" if entry.interval is None else "{:.3f} to {:.3f}".format(*entry.interval),
        ]
        for entry in panel.coefficients
    ]
    undefined = {entry.note: entry.name for entry in panel.coefficients if entry.value is None}
    return [
        *table(["agreement", "value", "95 % interval"], rows).splitlines(),
        *(f"Not defined: {note}" for note in undefined),
    ]


def _alpha(agreed: Any) -> str:
    if agreed.alpha is None:
        return ""
    interval = ""
    if agreed.interval is not None:
        low, high = agreed.interval
        interval = f" (95 % interval {low:.3f} to {high:.3f})"
    measure = getattr(agreed, "measure", "Krippendorff's alpha")
    return f"{measure} {agreed.alpha:.3f}{interval}. "


def _finding(finding: "Finding") -> list[str]:
    lines = [f"{finding.severity.capitalize()}: {finding.title} ({finding.count:,})"]
    lines += [f"  {example}" for example in finding.examples]
    lines += [f"  Done: {finding.done}"] if finding.done else []
    flag = f" (--fix {finding.id})" if finding.option else ""
    lines += [f"  Fix: {finding.fix}{flag}"] if finding.fix else []
    return lines
