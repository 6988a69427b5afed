"""The five numbers of an overview, each with its interval and where to see what is behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.audit.kinds import audit_of
from crowdcore.audit.overviews.source import OPEN_ITEMS, OverviewSource, item_noun
from crowdcore.audit.spot_check import describe_margins
from crowdcore.wording import NOTHING, count, interval, percent

if TYPE_CHECKING:
    from crowdcore.audit.agreements.panel import AgreementPanel
    from crowdcore.results.result import Score

NOT_KNOWN = "not known"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One of the numbers, and where to see what is behind it.

    Attributes
    ----------
    title, value, note
        What it is, the number, and its interval or what it is a part of.
    meaning
        What it says and rests on, in sentences.
    page, query
        The page of the dashboard that shows it, and what to select there.
    """

    title: str
    value: str
    note: str
    meaning: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)


def make_figures(source: OverviewSource, n_open: int) -> tuple[Figure, ...]:
    """Make the five numbers.

    Parameters
    ----------
    source
        What is known of the run.
    n_open
        Items that need a person.

    Returns
    -------
    tuple of Figure
        How right the truths are, workers in doubt, items to look at, agreement, what changed.
    """
    return (
        _quality(source),
        _doubt(source),
        _open(source, n_open),
        _agreement(source.agreement),
        _change(source),
    )


def _quality(source: OverviewSource) -> Figure:
    """How right the truths are, by gold, else by what other crowds tell."""
    scored, expected = source.result.score(), source.expected
    if scored is not None:
        title, value, note = _against_gold(scored)
        meaning = f"{'. '.join(scored.lines)}."
    elif expected is not None:
        by = "by other crowds and gold" if expected.n_checked else "as far as other crowds can tell"
        title, value = "Expected to be right", percent(expected.estimate, 0)
        note = f"{interval(expected.low, expected.high)}, {by}"
        meaning = f"{expected.describe()} {describe_margins()}"
    elif source.result.provenance.used_gold:
        title, value, note = "How right", NOT_KNOWN, "the method was given the gold"
        meaning = "A method that was given the gold cannot be scored by it."
    else:
        title, value, note = "How right", NOT_KNOWN, "no gold"
        meaning = audit_of(source.kind).without_gold()
    return Figure(title=title, value=value, note=note, meaning=meaning, page="truths")


def _against_gold(scored: Score) -> tuple[str, str, str]:
    """The measure that counts most: what it is, its value, its interval."""
    figures = scored.figures
    of = f"{scored.n:,} with gold"
    for name, title in (("accuracy", "Right against gold"), ("f1", "Span F1 against gold")):
        if name in figures:
            limits = interval(figures["low"], figures["high"])
            return title, percent(figures[name]), f"{limits}, {of}"
    if "rmse" in figures:
        low, high = _rmse_interval(figures["rmse"], scored.n)
        return "RMSE against gold", f"{figures['rmse']:.3g}", f"{low:.3g} to {high:.3g}, {of}"
    return "Pairs in the right order", percent(figures["pairs_right"]), of


def _rmse_interval(rmse: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a root mean square of n errors, if these are about normal."""
    from scipy.stats import chi2

    low, high = (float(rmse * np.sqrt(n / chi2.ppf(end, n))) for end in (0.975, 0.025))
    return low, high


def _doubt(source: OverviewSource) -> Figure:
    doubtful, audit = source.doubtful, audit_of(source.kind)
    n_labels = source.workers["n_labels"].sum()
    n_active = int(np.count_nonzero(source.result.data.labels_per_worker))
    share = doubtful["n_labels"].sum() / max(1, n_labels)
    tally = doubtful["verdict"].astype(str).value_counts()
    listed = ", ".join(f"{number:,} {name}" for name, number in tally.items() if number)
    meaning = [f"Verdicts that speak against a worker: {', '.join(audit.in_doubt)}."]
    if listed:
        meaning.insert(0, f"{listed}.")
    return Figure(
        title="Workers in doubt",
        value=f"{count(len(doubtful))} of {count(n_active)}",
        note=f"{percent(share)} of the labels",
        meaning=" ".join(meaning),
        page="workers",
    )


def _open(source: OverviewSource, n_open: int) -> Figure:
    rule, noun = OPEN_ITEMS[source.kind], item_noun(source.kind)
    note = f"{percent(n_open / max(1, len(source.items)))} of all"
    meaning = f"{noun.capitalize()}s {rule.meaning}."
    if "confidence" in source.items:
        wrong = float(np.nansum(1 - source.items["confidence"].to_numpy(float)))
        meaning += (
            f" By their confidence about {wrong:,.0f} of all truths are wrong; a method can be "
            "surer than it is right."
        )
    return Figure(
        title=f"{noun.capitalize()}s to look at",
        value=count(n_open),
        note=note,
        meaning=meaning,
        page="truths",
        query={"show": rule.preset},
    )


def _agreement(panel: AgreementPanel) -> Figure:
    main = panel.main
    note = "" if main.interval is None else "{:.2f} to {:.2f}".format(*main.interval)
    if panel.percent is not main and panel.percent.value is not None:
        note = f"{note}, {percent(panel.percent.value, 0)} agree" if note else ""
    return Figure(
        title=f"Agreement ({main.name})",
        value=NOTHING if main.value is None else f"{main.value:.2f}",
        note=note or "not defined",
        meaning=f"{main.meaning} {panel.describe()} {panel.paradox}".strip(),
        page="agreement",
    )


def _change(source: OverviewSource) -> Figure:
    compared = source.comparison
    if compared is None:
        return Figure(
            title="Changed truths",
            value=NOTHING,
            note="this is the first",
            meaning="A further run, such as one without some workers, is compared with this one.",
            page="compare",
        )
    meaning = [
        f"{count(len(compared.items), 'truth')} of {compared.n_items:,} and "
        f"{count(len(compared.workers), 'verdict')} differ from {source.previous}."
    ]
    paired = compared.accuracy
    if paired is not None:
        meaning.append(
            f"On gold {paired.gained:,} gained, {paired.lost:,} lost (p = {paired.p_value:.2g})."
        )
    meaning.append(
        "Run differently: " + ", ".join(name for name, *_ in compared.settings) + "."
        if compared.settings
        else "Nothing was run differently."
    )
    return Figure(
        title="Changed truths",
        value=count(len(compared.items)),
        note=f"{percent(len(compared.items) / max(1, compared.n_items))} since "
        f"{source.previous.partition(' ')[0]}",
        meaning=" ".join(meaning),
        page="compare",
    )
