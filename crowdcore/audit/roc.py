"""Does a higher probability mean right more often? ROC curves of the truths on gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats

if TYPE_CHECKING:
    from crowdcore.result import Result

MOST_POINTS = 400
"""Points of a curve that are kept; more of them look the same."""

GRID = np.linspace(0, 1, 201)
"""False alarms at which curves are averaged."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RocCurve:
    """How many of a class are found, against how many others are taken for it."""

    name: str  # the class; "" of an average
    n: int  # items of the class that have gold
    false: Floats  # share of the others that are taken for it
    true: Floats  # share of its items that are found
    auc: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RocCurves:
    """One curve for two classes, that of the second; else one for each class, and their average."""

    curves: tuple[RocCurve, ...]
    average: RocCurve | None

    @property
    def macro_auc(self) -> float:
        """The mean area under the curves."""
        return float(np.mean([curve.auc for curve in self.curves]))


def roc_curves(result: Result, probabilities: NDArray[Any] | None = None) -> RocCurves | None:
    """Compare a result's probabilities [N, K], or others, with gold; None where that cannot be.

    There must be gold of at least two classes that the method has not seen. Classes without gold
    have no curve.
    """
    data = result.data
    known = data.has_gold
    if data.gold is None or result.provenance.used_gold:
        return None
    gold = data.gold[known]
    values = (result.posterior if probabilities is None else probabilities)[known]
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
    found, alarms = np.cumsum(is_class[order]), np.cumsum(~is_class[order])
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))  # equal scores come together
    true = np.append(0.0, found[ends] / found[-1])
    false = np.append(0.0, alarms[ends] / alarms[-1])
    kept = np.unique(np.linspace(0, len(true) - 1, min(len(true), MOST_POINTS)).astype(int))
    return RocCurve(
        name=name,
        n=int(found[-1]),
        false=false[kept],
        true=true[kept],
        auc=float(np.trapezoid(true, false)),
    )


def _average(curves: tuple[RocCurve, ...]) -> RocCurve:
    """The mean height of curves at equal shares of false alarms; every class counts the same."""
    true = np.mean([np.interp(GRID, curve.false, curve.true) for curve in curves], axis=0)
    return RocCurve(
        name="",
        n=sum(curve.n for curve in curves),
        false=np.append(0.0, GRID),
        true=np.append(0.0, true),
        auc=float(np.mean([curve.auc for curve in curves])),
    )
