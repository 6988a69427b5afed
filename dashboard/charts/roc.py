"""ROC curves: how well probabilities tell the classes apart, on gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from dashboard.charts.palette import Theme, class_colours, finish, ink, plain, quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdcore.audit.roc import RocCurve, RocCurves

MAX_CURVES = 10
"""Classes that get a curve of their own, those told apart worst; more cannot be held apart."""

_DASHES = ("solid", "dash", "dot", "dashdot")  # so that colour is never alone


def roc_chart(
    truths: RocCurves, classifier: RocCurves | None, classes: Sequence[str], *, theme: Theme
) -> go.Figure:
    """Draw a result's curves, and beside them what its classifier can do without the labels.

    Of two classes there is one curve; of more, one for each class and their average.
    """
    figure = go.Figure(
        go.Scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            line={"dash": "dot", "width": 1, "color": quiet(theme)},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    if truths.average is not None:
        colours = class_colours(len(classes), theme)
        for curve in shown_curves(truths):
            code = list(classes).index(curve.name)
            dash = _DASHES[code // 10 % len(_DASHES)]
            line = {"width": 1.2, "color": colours[code], "dash": dash}
            figure.add_trace(_line(curve, plain(curve.name, 40), line, named=False))
    main = truths.average or truths.curves[0]
    figure.add_trace(_line(main, _title("truths", truths), {"width": 3, "color": ink(theme)}))
    if classifier is not None:
        line = {"width": 2, "color": class_colours(6, theme)[5], "dash": "dash"}
        curve = classifier.average or classifier.curves[0]
        figure.add_trace(_line(curve, _title("classifier alone", classifier), line))
    figure.update_layout(showlegend=True)
    figure.update_xaxes(
        range=[-0.01, 1.01], dtick=0.25, tickformat=".0%", title="others taken for it"
    )
    figure.update_yaxes(range=[-0.01, 1.02], dtick=0.25, tickformat=".0%", title="found")
    return finish(figure, theme=theme, height=360)


def shown_curves(curves: RocCurves) -> list[RocCurve]:
    """Return the classes' curves that are drawn: all of a few, else those told apart worst."""
    worst = sorted(curves.curves, key=lambda curve: curve.auc)[:MAX_CURVES]
    return [curve for curve in curves.curves if curve in worst]


def _title(name: str, curves: RocCurves) -> str:
    average = "" if curves.average is None else ", average"
    return f"{name}{average} ({curves.macro_auc:.3f})"


def _line(curve: RocCurve, name: str, line: dict[str, object], *, named: bool = True) -> go.Scatter:
    facts = f"{name}<br>AUC {curve.auc:.3f}, {curve.n:,} items<br>"
    return go.Scatter(
        x=curve.false_positive_rate,
        y=curve.true_positive_rate,
        mode="lines",
        name=name,
        line=line,
        showlegend=named,
        hovertemplate=facts + "%{y:.1%} found, %{x:.1%} of others too<extra></extra>",
    )
