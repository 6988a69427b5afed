"""Results whose truths are numbers on a scale: ratings, and the scores that comparisons give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crowdcore.data import Floats
from crowdcore.distributions import Z_95, as_array
from crowdcore.errors import ResultError
from crowdcore.results.result import Estimate, Result, Score
from crowdcore.wording import percent

if TYPE_CHECKING:
    from torch import Tensor

MIN_FOR_CORRELATION = 3
"""Fewer items than this have no correlation worth the name."""


@dataclass(frozen=True, kw_only=True)
class NumberEstimate(Estimate):
    """Numbers that a method infers, as tensors or arrays, in the order of the codes.

    Parameters
    ----------
    truth
        The number of each item [N]; NaN where nothing is known of it.
    spread
        The standard error of each truth [N]; NaN where the labels do not tell it.
    low, high
        The ends of the 95 % intervals [N]; None takes 1.96 spreads on either side.
    """

    truth: Tensor | Floats  # [N]
    spread: Tensor | Floats  # [N]
    low: Tensor | Floats | None = None  # [N]
    high: Tensor | Floats | None = None  # [N]

    def to_result(self, **common: Any) -> NumberResult:
        """Check the numbers and give them their intervals; see `Estimate.to_result`."""
        n_items = common["data"].n_items
        truth, spread = (
            _checked(getattr(self, name), n_items, name) for name in ("truth", "spread")
        )
        if (spread < 0).any():
            raise ResultError("spread: a standard error is negative")
        low, high = truth - Z_95 * spread, truth + Z_95 * spread
        if self.low is not None and self.high is not None:
            low, high = _checked(self.low, n_items, "low"), _checked(self.high, n_items, "high")
        if (low > high).any():
            raise ResultError("low, high: an interval ends before it begins")
        return NumberResult(truth=truth, spread=spread, low=low, high=high, **common)


@dataclass(frozen=True, kw_only=True)
class NumberScore(Score):
    """How far truths lie from gold.

    Parameters
    ----------
    n
        How many items have gold and a truth.
    undecided
        How many more have gold but no truth.
    rmse, mae
        Root of the mean squared error, and mean absolute error.
    r2
        The share of the gold's variance that the truths explain; NaN where gold does not vary.
    r, rho
        Pearson's and Spearman's correlation; NaN below three items or where nothing varies.
    coverage
        The share of the items with an interval whose 95 % interval holds the gold.
    n_intervals
        How many items have an interval.
    """

    undecided: int
    rmse: float
    mae: float
    r2: float
    r: float
    rho: float
    coverage: float
    n_intervals: int

    @classmethod
    def from_numbers(cls, truth: Floats, gold: Floats, low: Floats, high: Floats) -> NumberScore:
        """Compare numbers with the known ones.

        Parameters
        ----------
        truth, gold
            What was inferred and what is known [n]; a truth may be NaN.
        low, high
            The ends of the 95 % intervals [n]; NaN where there is none.

        Returns
        -------
        NumberScore
            All measures.
        """
        decided = np.isfinite(truth)
        has_interval = decided & np.isfinite(low) & np.isfinite(high)
        inside = (low <= gold) & (gold <= high)
        error = (truth - gold)[decided]
        n = int(decided.sum())
        variation = float(((gold[decided] - gold[decided].mean()) ** 2).sum()) if n else 0.0
        return cls(
            n=n,
            undecided=len(truth) - n,
            rmse=float(np.sqrt((error**2).mean())) if n else math.nan,
            mae=float(np.abs(error).mean()) if n else math.nan,
            r2=1 - float((error**2).sum()) / variation if variation > 0 else math.nan,
            r=_correlation(truth[decided], gold[decided]),
            rho=_correlation(_ranks(truth[decided]), _ranks(gold[decided])),
            coverage=float(inside[has_interval].mean()) if has_interval.any() else math.nan,
            n_intervals=int(has_interval.sum()),
        )

    @property
    def figures(self) -> dict[str, float | int]:
        """The measures by name, as they are written to files."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def headline(self) -> str:
        """The measure that counts most, in a few words."""
        return f"RMSE {self.rmse:.3g} against gold"

    @property
    def lines(self) -> list[str]:
        """The measures in sentences."""
        lines = [
            f"Against gold: RMSE {self.rmse:.4g}, MAE {self.mae:.4g}, R² {self.r2:.4f}, "
            f"r {self.r:.4f}, Spearman {self.rho:.4f} ({self.n:,} items)"
        ]
        if self.n_intervals:
            lines.append(
                f"{percent(self.coverage)} of the 95 % intervals hold the gold "
                f"({self.n_intervals:,} items)"
            )
        if self.undecided:
            lines.append(f"{self.undecided:,} items with gold have no truth and are not scored")
        return lines


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberResult(Result):
    """Numbers of items, each with a spread and an interval.

    Parameters
    ----------
    truth
        The number of each item [N]; NaN where nothing is known of it.
    spread
        The standard error of each truth [N]; NaN where the labels do not tell it.
    low, high
        The ends of the 95 % intervals [N]; NaN where there is none.
    """

    truth: Floats  # [N]
    spread: Floats  # [N]
    low: Floats  # [N]
    high: Floats  # [N]

    answers: ClassVar[tuple[str, ...]] = ("truth", "spread", "low", "high")

    @property
    def summary(self) -> dict[str, float | int]:
        """Items without a truth, and what is usual for a truth and its spread."""
        spread = self.spread[np.isfinite(self.spread)]
        truth = self.truth[np.isfinite(self.truth)]
        return {
            "undecided": int(np.isnan(self.truth).sum()),
            "mean_truth": float(truth.mean()) if len(truth) else math.nan,
            "median_spread": float(np.median(spread)) if len(spread) else math.nan,
        }

    @property
    def summary_line(self) -> str:
        """The same numbers in a sentence."""
        numbers = self.summary
        decided = self.data.n_items - int(numbers["undecided"])
        return (
            f"Truths: {decided:,} decided, {numbers['undecided']:,} undecided; mean "
            f"{numbers['mean_truth']:.4g}, median spread {numbers['median_spread']:.3g}"
        )

    def score(self) -> NumberScore | None:
        """Measure how far the truths lie from the known numbers.

        Returns
        -------
        NumberScore or None
            None where there is no gold, or where the method has seen it.
        """
        if not self.can_be_scored or self.data.gold is None:
            return None
        has_gold = self.data.has_gold
        numbers = (self.truth, self.data.gold, self.low, self.high)
        return NumberScore.from_numbers(*(array[has_gold] for array in numbers))


def _checked(value: Any, n_items: int, name: str) -> Floats:
    array = as_array(value, np.float64)
    if array.shape != (n_items,):
        raise ResultError(f"{name}: shape {array.shape} instead of {(n_items,)}")
    if np.isinf(array).any():
        raise ResultError(f"{name}: a number is infinite")
    return array


def _correlation(first: Floats, second: Floats) -> float:
    if len(first) < MIN_FOR_CORRELATION or not (np.ptp(first) > 0 and np.ptp(second) > 0):
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, ties at their mean."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[index]
    return ranks
