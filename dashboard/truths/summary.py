"""All items together: the numbers on top, and how sure the truths are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.audit.reliability import calibration_error
from crowdcore.audit.spot_check import describe_margins, margin
from crowdcore.results.result import wilson
from crowdcore.wording import count, interval, percent
from dashboard import cache, layout, widgets
from dashboard.charts.roc import MAX_CURVES, roc_chart
from dashboard.charts.truths import confidence_histogram, reliability_curve
from dashboard.text import escape_md
from dashboard.truths import pool

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.audit.roc import RocCurves
    from crowdcore.workspace import RunRow

MAX_PIXELS = 385
"""Height from which the table of classes scrolls."""

WORTH_SAYING = 0.02
"""How much surer than right truths must be for the page to say so."""


def draw_metrics(run: RunRow, items: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    row = st.container(horizontal=True)
    widgets.metric(row, "Items", count(len(items)))
    widgets.metric(
        row,
        "Mean confidence",
        percent(items["confidence"].mean()),
        help="The mean probability of the likeliest class. A method can be sure and wrong: "
        "compare with gold where there is some.",
    )
    widgets.metric(
        row,
        "Changed vs. majority",
        count(items["changed"].sum()),
        help="Truths that differ from what plain counting of labels says.",
    )
    widgets.metric(
        row,
        "Tied",
        count(items["tied"].sum()),
        help="Items where two or more classes are equally likely. Their truth is a matter of "
        "the method's tie rule, not of the labels.",
    )
    _draw_expected(row, run)
    _draw_accuracy(row, run, items)


def _draw_expected(row: DeltaGenerator, run: RunRow) -> None:
    """Say how many truths are probably right, with the wide interval that labels allow."""
    expected = cache.expected_accuracy(run.id)
    if expected is None:
        return
    limits = interval(expected.low, expected.high)
    source = "other crowds and gold" if expected.n_checked else "as far as other crowds can tell"
    widgets.metric(
        row,
        "Expected accuracy",
        percent(expected.estimate, 0),
        help=f"{expected.describe()} {describe_margins()}",
        note=f"{limits}, {source}",
    )


def _draw_accuracy(row: DeltaGenerator, run: RunRow, items: pd.DataFrame) -> None:
    """Say how often truths are right on gold, else how many checked items would tell."""
    n_gold, n_right = int((items["right"] >= 0).sum()), int((items["right"] == 1).sum())
    facts = cache.provenance(run.id)
    value = "no gold"
    note: str | None = f"100 checked items: ±{math.ceil(100 * margin(100))} points"
    why = f"How often truths are right is not known without gold. {describe_margins()}"
    if n_gold and facts.get("used_gold"):
        value, note = "not known", f"the method was given its {count(n_gold)} answers"
        why = (
            "Truths that a method was told cannot show how often it is right. Run it without "
            "gold to see that."
        )
    elif n_gold:
        low, high = wilson(n_right, n_gold)
        value = percent(n_right / n_gold)
        note = f"{interval(float(low), float(high))}, n = {count(n_gold)}"
        why = (
            f"{count(n_right)} of {count(n_gold)} items with gold are right, with the 95% "
            "interval. Undecided counts as wrong."
        )
    widgets.metric(row, "Accuracy vs. gold", value, help=why, note=note)


def draw_sureness(run: RunRow, items: pd.DataFrame) -> None:
    """Show how sure the truths are, and whether they are right to be."""
    st.subheader("How sure the truths are", anchor=False)
    bins, curves, members = cache.reliability(run.id), cache.roc(run.id), pool.members_of(run)
    features, answers = pool.features_of(run), pool.answers_of(run)
    contents = {
        "Distribution": items,
        "Against gold": bins,
        "ROC": curves,
        "Methods": members,
        "Features": features,
        "Answers": answers,
    }
    views = [name for name, content in contents.items() if content is not None]
    view: str | None = views[0]
    if len(views) > 1:
        view = st.segmented_control(
            "View", views, default=views[0], key="truths_view", label_visibility="collapsed"
        )
    if curves is not None and view == "ROC":
        _draw_roc(run, *curves)
    elif bins is not None and view == "Against gold":
        _draw_reliability(bins)
    elif members is not None and view == "Methods":
        pool.draw(members)
    elif features is not None and view == "Features":
        pool.draw_features(features)
    elif answers is not None and view == "Answers":
        pool.draw_answers(run, answers)
    else:
        _draw_distribution(items)


def _draw_reliability(bins: pd.DataFrame) -> None:
    widgets.chart(
        reliability_curve(bins, theme=layout.theme()),
        key="truths_reliability",
        alt="How often truths are right on gold, by their confidence",
    )
    st.caption(
        "Below the dotted line the method is surer than it should be. Confidence and accuracy "
        f"are {100 * calibration_error(bins):.1f} points apart on average (the expected "
        "calibration error)."
    )


def _draw_distribution(items: pd.DataFrame) -> None:
    labelled = items[items["n_labels"] > 0]
    widgets.chart(
        confidence_histogram(
            labelled["confidence"].to_numpy(), labelled["right"].to_numpy(), theme=layout.theme()
        ),
        key="truths_histogram",
        alt="Number of items by confidence of their truth",
    )
    note = "The further right, the surer. "
    if n_unlabelled := len(items) - len(labelled):
        note += f"{count(n_unlabelled, 'item')} without labels left out. "
    st.caption(note + _overconfidence(items))


def _draw_roc(run: RunRow, truths: RocCurves, classifier: RocCurves | None) -> None:
    """Show how well the probabilities tell classes apart, with the areas under the curves."""
    classes = cache.result(run.id).data.classes
    widgets.chart(
        roc_chart(truths, classifier, classes, theme=layout.theme()),
        key="truths_roc",
        alt="ROC curves of the truths on gold",
    )
    note = (
        "The share of a class that is found, against the share of the others that is taken for "
        "it, as the probability that is asked for falls. In brackets the area under the curve "
        "(AUC): 1 is perfect, 0.5 is chance. "
    )
    if truths.average is None:
        st.caption(f"{note}The class is {escape_md(truths.curves[0].name, limit=40)}.")
        return
    is_cut = len(truths.curves) > MAX_CURVES
    thin = f"the {MAX_CURVES} worst are drawn thin" if is_cut else "their curves are thin"
    st.caption(f"{note}Each class is set against all others; {thin}, the average thick.")
    _draw_areas(truths, classifier)


def _draw_areas(truths: RocCurves, classifier: RocCurves | None) -> None:
    """List the classes, those told apart worst first."""
    cells = {
        "class": [curve.name for curve in truths.curves],
        "n": [curve.n for curve in truths.curves],
        "auc": [curve.auc for curve in truths.curves],
    }
    if classifier is not None:
        cells["alone"] = [curve.auc for curve in classifier.curves]
    column = st.column_config
    widgets.table(
        pd.DataFrame(cells).sort_values("auc", kind="stable"),
        key="truths_areas",
        alt="Areas under the curves by class",
        height=MAX_PIXELS,
        columns={
            "class": column.TextColumn("Class"),
            "n": column.NumberColumn("Gold items", width=80),
            "auc": column.NumberColumn("AUC", format="%.3f", width=70),
            "alone": column.NumberColumn("Classifier alone", format="%.3f", width=110),
        },
    )


def _overconfidence(items: pd.DataFrame) -> str:
    """Say so where the truths are surer than they are right; "" where they are not."""
    gold = items[items["right"] >= 0]
    if gold.empty:
        return ""
    sure, hits = float(gold["confidence"].mean()), int((gold["right"] == 1).sum())
    beyond_luck = sure > float(wilson(hits, len(gold))[1])
    if not beyond_luck or sure - hits / len(gold) < WORTH_SAYING:
        return ""
    return (
        f"On gold it is {percent(sure)} sure and {percent(hits / len(gold))} right: "
        "surer than it should be."
    )
