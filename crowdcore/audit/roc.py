"""Does a higher probability mean right more often? ROC curves of the truths on gold.

scikit-learn has such curves too, and the tests compare with it. Importing it takes more than a
second, which the Truths page would wait for; the few lines of `_curve` take none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats
from crowdcore.results.result import Result

MAX_POINTS = 400
"""Points of a curve that are kept; more of them look the same."""

AVERAGING_GRID = np.linspace(0, 1, 201)
"""False positive rates at which curves are averaged."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RocCurve:
    """How many of a class are found, against how many others are taken for it."""

    name: str  # the class; "" of an average
    n: int  # items of the class that have gold
    false_positive_rate: Floats  # share of the others that are taken for it
    true_positive_rate: Floats  # share of its items that are found
    auc: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RocCurves:
    """One curve for two classes, that of the second; else one per class, and their average."""

    curves: tuple[RocCurve, ...]
    average: RocCurve | None

    @property
    def macro_auc(self) -> float:
        """The mean area under the curves."""
        return float(np.mean([curve.auc for curve in self.curves]))


def roc_curves(result: Result, probabilities: NDArray[Any] | None = None) -> RocCurves | None:
    """Compare probabilities with gold.

    Parameters
    ----------
    result
        The truths, and data with gold of at least two classes that the method has not used.
    probabilities
        Others than the result's own [N, K].

    Returns
    -------
    RocCurves or None
        The curves, none of classes without gold; None where nothing can be compared.
    """
    data = result.data
    if data.gold is None or result.provenance.used_gold:
        return None
    gold = data.gold[data.has_gold]
    values = (result.posterior if probabilities is None else probabilities)[data.has_gold]
    codes = range(data.n_classes) if data.n_classes != 2 else (1,)  # noqa: PLR2004  (mirror images)
    curves = tuple(
        _curve(data.classes[code], values[:, code], gold == code)
        for code in codes
        if 0 < (gold == code).sum() < len(gold)
    )
    if not curves:
        return None
    return RocCurves(curves=curves, average=_average(curves) if len(curves) > 1 else None)


def _curve(name: str, score: NDArray[Any], is_class: NDArray[np.bool_]) -> RocCurve:
    order = np.argsort(-score, kind="stable")
    n_true, n_false = np.cumsum(is_class[order]), np.cumsum(~is_class[order])
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))  # equal scores come together
    true_rate = np.append(0.0, n_true[ends] / n_true[-1])
    false_rate = np.append(0.0, n_false[ends] / n_false[-1])
    n_points = len(true_rate)
    kept = np.unique(np.linspace(0, n_points - 1, min(n_points, MAX_POINTS)).astype(int))
    return RocCurve(
        name=name,
        n=int(n_true[-1]),
        false_positive_rate=false_rate[kept],
        true_positive_rate=true_rate[kept],
        auc=float(np.trapezoid(true_rate, false_rate)),
    )


def _average(curves: tuple[RocCurve, ...]) -> RocCurve:
    """The mean height of curves at equal false positive rates; every class counts the same."""
    heights = [
        np.interp(AVERAGING_GRID, curve.false_positive_rate, curve.true_positive_rate)
        for curve in curves
    ]
    return RocCurve(
        name="",
        n=sum(curve.n for curve in curves),
        false_positive_rate=np.append(0.0, AVERAGING_GRID),
        true_positive_rate=np.append(0.0, np.mean(heights, axis=0)),
        auc=float(np.mean([curve.auc for curve in curves])),
    )
