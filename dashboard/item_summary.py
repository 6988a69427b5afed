"""All items together: the numbers on top, and how sure the truths are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.audit.calibration import calibration_error
from crowdcore.result import wilson
from dashboard import opening, pool, reads
from dashboard.charts.roc import MOST_CURVES, roc_chart
from dashboard.charts.truths import confidence_histogram, reliability_curve
from dashboard.text import count, escape_md, interval, percent

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.audit.roc import RocCurves
    from crowdcore.workspace import RunRow


WORTH_SAYING = 0.02
"""How much surer than right truths must be for the page to say so."""


def draw_metrics(run: RunRow, items: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    row = st.container(horizontal=True)
    row.metric("Items", count(len(items)), border=True, height="stretch")
    row.metric(
        "Mean confidence",
        percent(items["confidence"].mean()),
        border=True,
        height="stretch",
        help="The mean probability of the likeliest class. A method can be sure and wrong: "
        "compare with gold where there is some.",
    )
    row.metric(
        "Changed vs. majority",
        count(items["changed"].sum()),
        border=True,
        height="stretch",
        help="Truths that differ from what plain counting of labels says.",
    )
    row.metric(
        "Tied",
        count(items["tied"].sum()),
        border=True,
        height="stretch",
        help="Items where two or more classes are equally likely. Their truth is a matter of "
        "the method's tie rule, not of the labels.",
    )
    _accuracy(run, items, row)


def _accuracy(run: RunRow, items: pd.DataFrame, box: DeltaGenerator) -> None:
    """Say how often truths are right: on gold, else by the run's own estimate."""
    known = items["right"] >= 0
    n, hits = int(known.sum()), int((items["right"] == 1).sum())
    facts = reads.provenance(run.id)
    label, value, below = "Accuracy vs. gold", "no gold", None
    why = "Add a gold column or file on the Data page to see how often truths are right."
    if n and facts.get("used_gold"):
        value, below = "not known", f"the method was given its {count(n)} answers"
        why = "Truths that a method was told cannot show how often it is right. Run it without "
        why += "gold to see that."
    elif n:
        low, high = wilson(hits, n)
        value = percent(hits / n)
        below = f"{interval(float(low), float(high))}, n = {count(n)}"
        why = f"{count(hits)} of {count(n)} items with gold are right, with the 95% interval. "
        why += "Undecided counts as wrong."
    elif facts.get("expected_accuracy"):
        point, low, high = facts["expected_accuracy"]
        label, value, below = "Expected accuracy", percent(point), interval(low, high)
        why = "Estimated from labels held out of the fit, with its 95% interval. Errors that "
        why += "the whole crowd shares cannot be seen without gold."
    box.metric(
        label,
        value,
        border=True,
        height="stretch",
        help=why,
        delta=below,
        delta_color="off",
        delta_arrow="off",
    )


def draw_sureness(run: RunRow, items: pd.DataFrame) -> None:
    """Show how sure the truths are, and whether they are right to be."""
    st.subheader("How sure the truths are", anchor=False)
    bins, curves, members = reads.reliability(run.id), reads.roc(run.id), pool.members_of(run)
    offered = {"Distribution": True, "Against gold": bins, "ROC": curves, "Methods": members}
    views = [name for name, found in offered.items() if found is not None]
    view: str | None = views[0]
    if len(views) > 1:
        view = st.segmented_control(
            "View", views, default=views[0], key="truths_view", label_visibility="collapsed"
        )
    if curves is not None and view == "ROC":
        _roc(run, *curves)
    elif bins is not None and view == "Against gold":
        _reliability(bins)
    elif members is not None and view == "Methods":
        pool.draw(members)
    else:
        _distribution(items)


def _reliability(bins: pd.DataFrame) -> None:
    st.plotly_chart(
        reliability_curve(bins, theme=opening.theme()),
        key="truths_reliability",
        config={"displayModeBar": False},
        alt="How often truths are right on gold, by their confidence",
    )
    st.caption(
        "Below the dotted line the method is surer than it should be. Confidence and accuracy "
        f"are {100 * calibration_error(bins):.1f} points apart on average (the expected "
        "calibration error)."
    )


def _distribution(items: pd.DataFrame) -> None:
    labelled = items[items["n_labels"] > 0]
    st.plotly_chart(
        confidence_histogram(
            labelled["confidence"].to_numpy(), labelled["right"].to_numpy(), theme=opening.theme()
        ),
        key="truths_histogram",
        config={"displayModeBar": False},
        alt="Number of items by confidence of their truth",
    )
    words = "The further right, the surer. "
    if unlabelled := len(items) - len(labelled):
        words += f"{count(unlabelled, 'item')} without labels left out. "
    st.caption(words + _overconfidence(items))


def _roc(run: RunRow, truths: RocCurves, alone: RocCurves | None) -> None:
    """Show how well the probabilities tell classes apart, with the areas under the curves."""
    classes = reads.result(run.id).data.classes
    st.plotly_chart(
        roc_chart(truths, alone, classes, theme=opening.theme()),
        key="truths_roc",
        config={"displayModeBar": False},
        alt="ROC curves of the truths on gold",
    )
    words = "What part of a class is found, against what part of the others is taken for it, as "
    words += "the probability that is asked for falls. In brackets the area under the curve (AUC): "
    words += "1 is perfect, 0.5 is chance. "
    if truths.average is None:
        st.caption(words + f"The class is {escape_md(truths.curves[0].name, limit=40)}.")
        return
    drawn = f"the {MOST_CURVES} worst are drawn thin"
    words += "Each class is set against all others; "
    words += drawn if len(truths.curves) > MOST_CURVES else "their curves are thin"
    st.caption(words + ", the average over classes thick.")
    _areas(truths, alone)


def _areas(truths: RocCurves, alone: RocCurves | None) -> None:
    """List the classes, those told apart worst first."""
    cells = {
        "class": [curve.name for curve in truths.curves],
        "n": [curve.n for curve in truths.curves],
        "auc": [curve.auc for curve in truths.curves],
    }
    if alone is not None:
        cells["alone"] = [curve.auc for curve in alone.curves]
    column = st.column_config
    st.dataframe(
        pd.DataFrame(cells).sort_values("auc", kind="stable"),
        key="truths_areas",
        hide_index=True,
        height="content" if len(truths.curves) <= MOST_CURVES else 380,
        column_config={
            "class": column.TextColumn("Class"),
            "n": column.NumberColumn("Gold items", width=80),
            "auc": column.NumberColumn("AUC", format="%.3f", width=70),
            "alone": column.NumberColumn("Classifier alone", format="%.3f", width=110),
        },
        alt="Areas under the curves by class",
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
