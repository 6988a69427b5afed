"""The audit report: one HTML file that needs nothing else, prints well, and can be defended.

It holds no script and asks for nothing from any address, so it can be sent and archived.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.export import report_sections
from crowdcore.export.html import paragraphs, section, table
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.agreements.panel import AgreementPanel
    from crowdcore.audit.comparison import Comparison
    from crowdcore.audit.overviews.overview import Overview
    from crowdcore.decisions import Decision
    from crowdcore.reading.labels.health import HealthReport

MAX_WORKERS, MAX_ITEMS = 200, 50
"""Rows of the tables; the report says how many more there are."""

BINS = 10
"""Bars of the histogram of confidence."""

_STYLE = """
body { font: 15px/1.5 "Source Sans 3", "Segoe UI", Helvetica, Arial, sans-serif; color: #1b2733;
  max-width: 60rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.8rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2rem;
  border-bottom: 1px solid #cfd8e0; padding-bottom: .2rem; }
.facts { color: #52606d; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #e4e9ee;
  vertical-align: top; }
td.long, p { overflow-wrap: anywhere; } th { color: #52606d; font-weight: 600; }
code, pre { font-family: "Source Code Pro", Menlo, Consolas, monospace; font-size: .85rem; }
pre { background: #f2f5f8; padding: .8rem; white-space: pre-wrap; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: #52606d; }
@media print { body { margin: 0; max-width: none; font-size: 11pt; } h2 { break-after: avoid; }
  tr, svg, figure { break-inside: avoid; } thead { display: table-header-group; }
  section { break-inside: auto; } a { color: inherit; } @page { margin: 16mm; } }
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportSource:
    """What a report is made of.

    Parameters
    ----------
    project, run, dataset
        What the project, the run and the data set are called.
    sizes
        How large the data are, in words.
    health
        The health report of the data; None where they were not read from a file.
    facts
        The provenance, with `excluded` workers.
    quality
        Sentences on how right the truths are, and how that is known.
    overview
        The run at a glance.
    agreement
        How far the workers agree whose labels were used.
    comparison, previous
        What differs from the run before, and what that is called; None for a first run.
    truths, workers
        The tables of the run.
    in_doubt
        Verdicts that speak against a worker.
    decisions
        The ledger of the project.
    used
        The decisions that the run goes by.
    name
        How the command line finds the run.
    """

    project: str
    run: str
    dataset: str
    sizes: str
    health: HealthReport | None
    facts: Mapping[str, Any]
    quality: Sequence[str]
    overview: Overview
    agreement: AgreementPanel
    comparison: Comparison | None
    previous: str
    truths: pd.DataFrame
    workers: pd.DataFrame
    in_doubt: Sequence[str]
    decisions: Sequence[Decision]
    used: Sequence[Decision]
    name: str


def as_html(source: ReportSource) -> str:
    """Write a report.

    Parameters
    ----------
    source
        What it is made of.

    Returns
    -------
    str
        A whole HTML document.
    """
    facts, excluded = source.facts, list(source.facts.get("excluded", ()))
    parts = [
        f"<h1>{escape(source.project)}: audit of labels</h1>",
        f'<p class="facts">{escape(source.run)} · {escape(str(facts["created"]))} · crowdcore '
        f"{escape(str(facts['version']))}</p>",
        section("In short", _summary(source)),
        section("Data", _data(source)),
        section("How right the truths are", paragraphs(source.quality) + _confidence(source)),
        section("Agreement", report_sections.agreement(source.agreement)),
        section("Workers", _workers(source)),
        section("Workers left out", report_sections.left_out(excluded, source.used)),
        section("Decisions", _decisions(source)),
        section("What changed", report_sections.changes(source.comparison, source.previous)),
        section("Items to look at", _items(source)),
        section("Method and settings", _method(source)),
        section("Versions", report_sections.versions(facts)),
        section("Terms", report_sections.terms()),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(source.project)}: audit of labels</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _summary(source: ReportSource) -> str:
    excluded = list(source.facts.get("excluded", ()))
    sentences = [
        f"{source.facts['title']}: {source.overview.sentence}",
        f"Left out: {', '.join(excluded)}." if excluded else "Nobody was left out.",
    ]
    return paragraphs(sentences) + report_sections.figures(source.overview)


def _data(source: ReportSource) -> str:
    sentences = [f"{source.dataset}: {source.sizes}."]
    rows: list[list[str]] = []
    reading = ""
    if source.health is not None:
        sentences.append(source.health.accounting)
        rows = [
            [finding.title, f"{finding.count:,}", finding.severity, finding.done or "–"]
            for finding in source.health.findings
            if finding.count
        ]
        n_clear = len(source.health.findings) - len(rows)
        sentences.append(f"{count(n_clear, 'check')} of the file found nothing.")
        rows_of = {role: reason for role, reason in source.health.reasons.items() if reason}
        reading = table(["column", "how it was read"], list(rows_of.items()))
    sentences.append(f"Fingerprint of what the method was given: {source.facts['data']}")
    findings = table(["finding", "how many", "severity", "what was done"], rows) if rows else ""
    return paragraphs(sentences) + findings + reading


def _workers(source: ReportSource) -> str:
    workers = source.workers
    tally = workers["verdict"].value_counts()
    verdicts = ", ".join(f"{number:,} {name}" for name, number in tally.items())
    doubtful = workers[workers["verdict"].isin(list(source.in_doubt))]
    rows = [
        [
            str(row["worker"]),
            str(row["verdict"]),
            f"{row['n_labels']:,}",
            _rate(row),
            str(row.get("evidence", "")),
        ]
        for row in doubtful.head(MAX_WORKERS).to_dict("records")
    ]
    more = len(doubtful) - len(rows)
    header = ["worker", "verdict", "labels", "accuracy", "evidence"]
    return (
        paragraphs([f"Verdicts: {verdicts}."])
        + _accuracies(workers)
        + (table(header, rows) if rows else "<p>Nobody is in doubt.</p>")
        + (f"<p>and {more:,} more.</p>" if more else "")
    )


def _rate(row: Mapping[Any, Any]) -> str:
    accuracy = row.get("accuracy")
    if accuracy is None or not np.isfinite(accuracy):
        return "–"
    low, high = row.get("accuracy_low"), row.get("accuracy_high")
    interval = "" if low is None else f" ({percent(low, 0)} to {percent(high, 0)})"
    return f"{percent(accuracy, 0)}{interval}"


def _decisions(source: ReportSource) -> str:
    if not source.decisions:
        return "<p>Nothing was decided.</p>"
    used = {decision.id for decision in source.used}
    rows = [
        [
            decision.sentence,
            decision.reason,
            decision.note,
            decision.by,
            decision.time[:16].replace("T", " "),
            "yes" if decision.id in used else "no",
            report_sections.evidence_text(decision.evidence),
        ]
        for decision in source.decisions
    ]
    header = ["decision", "reason", "note", "by", "when (UTC)", "used by this run", "evidence"]
    return table(header, rows)


def _items(source: ReportSource) -> str:
    truths = source.truths
    if "confidence" not in truths:
        return "<p>Truths of this kind carry a spread instead of a confidence; see the table.</p>"
    unsure = truths.sort_values("confidence", kind="stable").head(MAX_ITEMS)
    rows = [
        [str(row["item"]), str(row["truth"]), percent(row["confidence"]), f"{row['n_labels']:,}"]
        for row in unsure.to_dict("records")
    ]
    note = f"The {len(rows):,} least sure truths of {len(truths):,}."
    return paragraphs([note]) + table(["item", "truth", "confidence", "labels"], rows)


def _method(source: ReportSource) -> str:
    facts = source.facts
    rows = [[name, str(value)] for name, value in facts["params"].items()]
    rows += [[name, str(facts[name])] for name in ("seed", "device", "version", "torch", "steps")]
    options = " ".join(f"-p {name}={json.dumps(value)}" for name, value in facts["params"].items())
    command = f"crowdcore run LABELS --method {facts['method']} --seed {facts['seed']} {options}"
    if completion := facts.get("completion"):
        command += f" --complete {completion['method']}"
    commands = [
        f"crowdcore decide export {json.dumps(source.project)} --out decisions.jsonl",
        f"{command} --decisions decisions.jsonl",
        f"crowdcore report {json.dumps(source.name)}",
    ]
    notes = paragraphs(facts.get("notes", ()))
    again = (
        "The decisions as a file, the same result from the same file of labels with them, and this "
        "report once more:"
    )
    return (
        f"<p>{escape(str(facts['title']))}</p>{notes}{table(['setting', 'value'], rows)}"
        f"<p>{again}</p><pre>{escape(chr(10).join(commands))}</pre>"
    )


def _confidence(source: ReportSource) -> str:
    """A histogram of the confidence of truths, as a drawing."""
    if "confidence" not in source.truths:
        return ""
    counts, _ = np.histogram(source.truths["confidence"].dropna(), bins=BINS, range=(0, 1))
    top = max(int(counts.max()), 1)
    bars = "".join(
        f'<rect x="{40 + 54 * k}" y="{130 - 110 * n / top:.1f}" width="50" '
        f'height="{110 * n / top:.1f}" fill="#0b6aa2"><title>{n:,}</title></rect>'
        f'<text x="{65 + 54 * k}" y="{124 - 110 * n / top:.1f}" text-anchor="middle">'
        f"{f'{n:,}' if n else ''}</text>"
        f'<text x="{40 + 54 * k}" y="146" text-anchor="middle">{10 * k}%</text>'
        for k, n in enumerate(counts)
    )
    label = "How many truths have which confidence"
    return (
        f'<figure><svg viewBox="0 0 600 165" role="img" aria-label="{label}">{bars}'
        f'<text x="310" y="162" text-anchor="middle">{label}</text></svg></figure>'
    )


def _accuracies(workers: pd.DataFrame) -> str:
    """Accuracies of workers with their intervals, the lowest first, as a drawing."""
    columns = ["accuracy", "accuracy_low", "accuracy_high"]
    if any(name not in workers for name in columns):
        return ""
    known = workers.dropna(subset=columns).sort_values("accuracy", kind="stable")
    if known.empty:
        return ""
    step = 540 / len(known)
    dots = "".join(
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{140 - 120 * low:.1f}" y2="{140 - 120 * high:.1f}" '
        f'stroke="#9fb3c4"/><circle cx="{x:.1f}" cy="{140 - 120 * share:.1f}" r="2.5" '
        f'fill="#0b6aa2"><title>{escape(str(name))}: {percent(share)}</title></circle>'
        for x, name, share, low, high in zip(
            45 + step * (np.arange(len(known)) + 0.5),
            known["worker"],
            *(known[name] for name in columns),
            strict=True,
        )
    )
    axis = "".join(
        f'<text x="36" y="{144 - 120 * share:.0f}" text-anchor="end">{percent(share, 0)}</text>'
        for share in (0, 0.5, 1)
    )
    label = "Accuracy of the workers with its interval, the lowest first"
    return (
        f'<figure><svg viewBox="0 0 600 165" role="img" aria-label="{label}">{axis}{dots}'
        f'<text x="310" y="162" text-anchor="middle">{label}</text></svg></figure>'
    )
