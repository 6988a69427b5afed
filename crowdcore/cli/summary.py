"""What `crowdcore run` says and writes of a result besides its tables."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdcore.wording import count

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.results.result import Result


def result_record(result: "Result") -> dict[str, Any]:
    """Everything about a run that is not a table."""
    from dataclasses import asdict

    return {
        "provenance": asdict(result.provenance),
        "data": _sizes(result),
        "score": _score(result),
        "expected_accuracy": _expected_accuracy(result),
        "health": _health(result),
        "history": result.history,
    }


def summarise(result: "Result", workers: "pd.DataFrame") -> dict[str, Any]:
    """Sum a result up for `--json` and for the terminal.

    Parameters
    ----------
    result : Result
        What the method inferred.
    workers : DataFrame
        The table of its workers.

    Returns
    -------
    dict of str to object
        Values that JSON can hold.
    """
    provenance = result.provenance
    return {
        "method": provenance.method,
        "title": provenance.title,
        "params": provenance.params,
        "seed": provenance.seed,
        "device": provenance.device,
        "seconds": provenance.seconds,
        "steps": provenance.steps,
        "converged": provenance.converged,
        "notes": list(provenance.notes),
        "data": _sizes(result),
        **result.summary,
        "used_gold": provenance.used_gold,
        "score": _score(result),
        "expected_accuracy": _expected_accuracy(result),
        "workers": dict(Counter(workers["verdict"]).most_common()),
        "health": _health(result),
    }


def _sizes(result: "Result") -> dict[str, Any]:
    data = result.data
    return {
        "kind": data.kind,
        "labels": data.n_labels,
        "items": data.n_items,
        "workers": data.n_workers,
        "classes": list(data.classes),
        "gold": data.n_gold,
        "fingerprint": data.fingerprint,
    }


def _score(result: "Result") -> dict[str, Any] | None:
    from crowdcore.audit.kinds import audit_of

    scored = audit_of(result.data.kind).score(result)
    return None if scored is None else scored.figures


def _expected_accuracy(result: "Result") -> dict[str, Any] | None:
    from dataclasses import asdict

    from crowdcore.confidence.accuracy import expected_accuracy

    expected = expected_accuracy(result)
    return None if expected is None else {**asdict(expected), "sentence": expected.describe()}


def _health(result: "Result") -> list[dict[str, Any]]:
    report = result.data.report
    findings = () if report is None else report.warnings
    return [
        {
            "id": finding.id,
            "severity": finding.severity,
            "title": finding.title,
            "count": finding.count,
            "done": finding.done,
        }
        for finding in findings
    ]


def summary_lines(
    result: "Result", summary: dict[str, Any], labels: Path, check_command: str
) -> list[str]:
    """Say in sentences what a run came to.

    Parameters
    ----------
    result : Result
        What the method inferred.
    summary : dict of str to object
        What `summarise` returned.
    labels : Path
        The file of labels.
    check_command : str
        The command that tells more about the file.

    Returns
    -------
    list of str
        The lines to print.
    """
    from crowdcore.audit.kinds import audit_of

    data, audit = summary["data"], audit_of(result.data.kind)
    end = {None: "", True: ", converged", False: ", stopped before it converged"}
    steps = f"{count(summary['steps'], 'step')}{end[summary['converged']]}, "
    classes = count(len(data["classes"]), "class", "classes") if data["classes"] else data["kind"]
    lines = [
        f"{labels.name}: {count(data['labels'], 'label')} of {count(data['items'], 'item')} by "
        f"{count(data['workers'], 'worker')}, {classes}",
        f"{summary['title']}: {steps if summary['steps'] else ''}"
        f"{summary['seconds']:.2f} s on {summary['device']}, seed {summary['seed']}",
        *summary["notes"],
        result.summary_line,
    ]
    if (scored := audit.score(result)) is not None:
        lines += scored.lines
    elif summary["used_gold"]:
        lines.append(
            f"The method was given the gold of {count(data['gold'], 'item')}, which therefore "
            "cannot tell how good the truths are"
        )
    else:
        lines.append(audit.without_gold())
    if summary["expected_accuracy"] is not None:
        lines.append(summary["expected_accuracy"]["sentence"])
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in summary["workers"].items())
    lines.append(f"Workers: {verdicts}")
    if audit.describe_crowd is not None:
        lines += audit.describe_crowd(result.data)
    if summary["health"]:
        findings = "; ".join(
            f"{finding['title']} ({finding['count']:,})" for finding in summary["health"]
        )
        lines.append(f"Health: {findings}. More: {check_command}")
    return lines
