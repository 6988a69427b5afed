"""Sections of the audit report that say how sure, how agreed, what was left out, what changed."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from crowdcore.export.html import paragraphs, table
from crowdcore.terms import TERMS
from crowdcore.wording import NOTHING, count, percent

if TYPE_CHECKING:
    from crowdcore.audit.agreements.panel import AgreementPanel
    from crowdcore.audit.comparison import Comparison
    from crowdcore.audit.overviews.overview import Overview
    from crowdcore.decisions import Decision

PACKAGES = ("crowdcore", "numpy", "scipy", "pandas", "pyarrow")
"""Packages beside torch whose versions a report names."""

MAX_CLASSES = 60
"""Classes that the table of agreement lists."""


def figures(overview: Overview) -> str:
    """Return the five numbers of the overview, each with its interval and what it rests on.

    Parameters
    ----------
    overview
        The run at a glance.

    Returns
    -------
    str
        HTML.
    """
    rows = [
        [figure.title, figure.value, figure.note, figure.meaning] for figure in overview.figures
    ]
    return table(["number", "value", "interval", "what it rests on"], rows)


def agreement(panel: AgreementPanel) -> str:
    """Return every measure of agreement, by class too.

    Parameters
    ----------
    panel
        How far the workers agree whose labels the run used.

    Returns
    -------
    str
        HTML.
    """
    rows = [
        [
            entry.name,
            NOTHING if entry.value is None else f"{entry.value:.3f}",
            "{:.3f} to {:.3f}".format(*entry.interval) if entry.interval else NOTHING,
            f"Not defined. {entry.note}" if entry.value is None else entry.meaning,
        ]
        for entry in panel.coefficients
    ]
    sentences = [panel.describe(), *([panel.paradox] if panel.paradox else [])]
    parts = [paragraphs(sentences), table(["measure", "value", "95 % interval", "meaning"], rows)]
    if panel.by_class.empty:
        parts.append(paragraphs([panel.no_classes] if panel.no_classes else []))
    else:
        listed = panel.by_class.sort_values("agreement", kind="stable").head(MAX_CLASSES)
        cells = [
            [
                str(row["class"]),
                f"{row['n_labels']:,}",
                f"{percent(row['agreement'])} ({percent(row['agreement_low'])} to "
                f"{percent(row['agreement_high'])})",
                NOTHING if row["alpha"] != row["alpha"] else f"{row['alpha']:.2f}",
            ]
            for row in listed.to_dict("records")
        ]
        header = ["class", "labels", "another worker gives it too", "alpha against the rest"]
        parts += [paragraphs(["By class, the least agreed first:"]), table(header, cells)]
    return "".join(parts)


def left_out(excluded: Sequence[str], decisions: Iterable[Decision]) -> str:
    """Return the workers whose labels were left out, why, and what was known when it was decided.

    Parameters
    ----------
    excluded
        Whom the run leaves out.
    decisions
        The decisions that the run goes by.

    Returns
    -------
    str
        HTML.
    """
    if not excluded:
        return "<p>Nobody: the labels of all workers were used.</p>"
    made = {entry.subject: entry for entry in decisions if entry.action == "exclude"}
    rows = [_left_out(name, made.get(name)) for name in excluded]
    header = ["worker", "reason", "note", "decided by", "when (UTC)", "evidence at that time"]
    return table(header, rows)


def _left_out(name: str, made: Decision | None) -> list[str]:
    if made is None:
        return [name, "left out when the run was started; no decision is kept", "", "", "", ""]
    when = made.time[:16].replace("T", " ")
    return [name, made.reason, made.note, made.by, when, evidence_text(made.evidence)]


def evidence_text(evidence: Mapping[str, Any]) -> str:
    """Say what a run had said of the subject of a decision when it was made.

    Parameters
    ----------
    evidence
        The frozen copy of a decision.

    Returns
    -------
    str
        Its verdict and evidence, or its truth and confidence; "" without any.
    """
    if not evidence:
        return ""
    if "verdict" in evidence:
        n_labels = f"{count(evidence['n_labels'], 'label')}; " if "n_labels" in evidence else ""
        return f"{evidence['verdict']}; {n_labels}{evidence.get('evidence', '')}".strip("; ")
    if "truth" in evidence:
        sure = evidence.get("confidence")
        confidence = "" if sure is None else f", {percent(float(sure))} sure"
        return f"the run said {evidence['truth']}{confidence}"
    return ", ".join(f"{name} {value}" for name, value in evidence.items() if value is not None)


def changes(comparison: Comparison | None, previous: str) -> str:
    """Return what differs from the run before.

    Parameters
    ----------
    comparison, previous
        What differs, and what the run before is called; None for a first run.

    Returns
    -------
    str
        HTML.
    """
    if comparison is None:
        return "<p>This is the first run of the project.</p>"
    sentences = [
        f"Since {previous}: {count(len(comparison.items), 'truth')} of {comparison.n_items:,} and "
        f"{count(len(comparison.workers), 'verdict')} changed, "
        f"{comparison.labels_after - comparison.labels_before:+,} labels, "
        f"{count(len(comparison.thin), 'item')} left with a single label or none."
    ]
    paired = comparison.accuracy
    if paired is None:
        sentences.append(comparison.no_accuracy)
    else:
        sentences.append(
            f"On the {paired.n:,} items with gold {paired.n_before:,} were right before and "
            f"{paired.n_after:,} are now: {paired.gained:,} gained, {paired.lost:,} lost (sign "
            f"test, p = {paired.p_value:.2g})."
        )
    rows = [list(row) for row in comparison.settings]
    return paragraphs(sentences) + (table(["setting", "before", "now"], rows) if rows else "")


def versions(facts: Mapping[str, Any]) -> str:
    """Return what the run and this report were made with.

    Parameters
    ----------
    facts
        The provenance of the run.

    Returns
    -------
    str
        HTML.
    """
    rows = [["the run: crowdcore", str(facts["version"])], ["the run: torch", str(facts["torch"])]]
    rows += [[f"this report: {name}", version(name)] for name in PACKAGES]
    rows.append(["this report: Python", platform.python_version()])
    return table(["made with", "version"], rows)


def terms() -> str:
    """Return a sentence for each term, as HTML."""
    return table(["term", "meaning"], [[name, meaning] for name, meaning in TERMS.items()])
