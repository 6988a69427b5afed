"""Results of comparisons: a score for every item, and how sure their order is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.order import Order
from crowdcore.data import Floats
from crowdcore.results.numbers import NumberEstimate, NumberResult
from crowdcore.results.result import Score
from crowdcore.wording import percent

SURE = 0.95
"""The probability from which on the order of two items is called sure."""

MIN_FOR_CORRELATION = 3
"""Fewer items than this have no correlation worth the name."""


@dataclass(frozen=True, kw_only=True)
class RankingEstimate(NumberEstimate):
    """Scores that a method infers from comparisons; see `NumberEstimate`."""

    def to_result(self, **common: Any) -> RankingResult:
        """Check the scores and give them their intervals; see `Estimate.to_result`."""
        numbers = super().to_result(**common)
        answers = {name: getattr(numbers, name) for name in NumberResult.answers}
        return RankingResult(**answers, **common)


@dataclass(frozen=True, kw_only=True)
class RankingScore(Score):
    """How far an order agrees with the known one; scores have no scale of their own.

    Parameters
    ----------
    n
        How many items have gold.
    tau, rho
        Kendall's and Spearman's correlation with the known scores.
    pairs_right
        The share of all pairs of items, with different known scores, that are in the right order.
    """

    tau: float
    rho: float
    pairs_right: float

    @classmethod
    def from_scores(cls, scores: Floats, gold: Floats) -> RankingScore:
        """Compare an order with the known one.

        Parameters
        ----------
        scores, gold
            What was inferred and what is known [n].

        Returns
        -------
        RankingScore
            All measures; NaN below three items or where nothing varies.
        """
        from scipy import stats

        if len(gold) < MIN_FOR_CORRELATION or not (np.ptp(gold) > 0 and np.ptp(scores) > 0):
            return cls(n=len(gold), tau=math.nan, rho=math.nan, pairs_right=math.nan)
        # Tau-b counts ties in; the share of right pairs follows from the plain difference.
        tau = float(stats.kendalltau(scores, gold, variant="b").statistic)
        return cls(
            n=len(gold),
            tau=tau,
            rho=float(stats.spearmanr(scores, gold).statistic),
            pairs_right=(1 + tau) / 2,
        )

    @property
    def figures(self) -> dict[str, float | int]:
        """The measures by name, as they are written to files."""
        return {"n": self.n, "tau": self.tau, "rho": self.rho, "pairs_right": self.pairs_right}

    @property
    def headline(self) -> str:
        """The measure that counts most, in a few words."""
        return f"{percent(self.pairs_right)} of pairs in the right order"

    @property
    def lines(self) -> list[str]:
        """The measures in sentences."""
        return [
            f"Against gold: {self.pairs_right:.4f} of the pairs are in the right order; Kendall's "
            f"tau {self.tau:.4f}, Spearman {self.rho:.4f} ({self.n:,} items)"
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class RankingResult(NumberResult):
    """Scores of compared items: log-odds, one point more wins 73 % of comparisons."""

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The items, the best first [N]."""
        return np.argsort(-self.truth, kind="stable")

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """The rank of each item, 1 being the best [N]."""
        rank = np.empty(len(self.truth), np.int64)
        rank[self.order] = np.arange(1, len(rank) + 1)
        return rank

    def above(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> Floats:
        """Return the probability that items are better than others.

        Parameters
        ----------
        first, second
            Codes of the items [P].

        Returns
        -------
        numpy.ndarray
            Probabilities [P]; NaN where the method gives no intervals. Where there are too many
            items for a covariance, scores are taken to err independently, which is cautious.
        """
        from scipy.special import ndtr

        variance = self.difference_variance(first, second)
        difference = self.truth[first] - self.truth[second]
        return np.asarray(ndtr(difference / np.sqrt(np.maximum(variance, 1e-300))))

    def difference_variance(
        self, first: NDArray[np.integer], second: NDArray[np.integer]
    ) -> Floats:
        """Return the variance of differences of scores [P]; NaN where there are no intervals."""
        order = self.artefact(Order)
        if order is None:
            apart: Floats = self.spread[first] ** 2 + self.spread[second] ** 2
            return apart
        covariance = order.covariance.astype(np.float64)
        own = np.diag(covariance)
        variance: Floats = own[first] + own[second] - 2 * covariance[first, second]
        return variance

    @cached_property
    def above_next(self) -> Floats:
        """The probability that each item is better than the next in rank [N]; NaN for the last."""
        sure = np.full(len(self.truth), np.nan)
        sure[self.order[:-1]] = self.above(self.order[:-1], self.order[1:])
        return sure

    @property
    def summary(self) -> dict[str, float | int]:
        """How many neighbours in the order are surely in that order, and the usual spread."""
        neighbours = self.above_next[np.isfinite(self.above_next)]
        spread = self.spread[np.isfinite(self.spread)]
        return {
            "sure_neighbours": int((neighbours >= SURE).sum()),
            "neighbours": max(0, len(self.truth) - 1),
            "median_spread": float(np.median(spread)) if len(spread) else math.nan,
        }

    @property
    def summary_line(self) -> str:
        """The same numbers in a sentence."""
        best = self.data.items[self.order[0]]
        numbers = self.summary
        if math.isnan(float(numbers["median_spread"])):
            return f"Ranking: {best} is first; this method does not say how sure the order is"
        return (
            f"Ranking: {best} is first; {numbers['sure_neighbours']:,} of "
            f"{numbers['neighbours']:,} neighbours are surely in this order (95 %), median spread "
            f"of a score {numbers['median_spread']:.3g}"
        )

    def score(self) -> RankingScore | None:  # type: ignore[override]
        """Compare the order with the known one.

        Returns
        -------
        RankingScore or None
            None where there is no gold.
        """
        if not self.can_be_scored or self.data.gold is None:
            return None
        has_gold = self.data.has_gold
        return RankingScore.from_scores(self.truth[has_gold], self.data.gold[has_gold])
