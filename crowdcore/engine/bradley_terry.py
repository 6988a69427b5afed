"""Bradley-Terry models: scores of items from who won against whom.

With a score s for every item and d = s_left - s_right, Davidson's form of the model has

    P(left) : P(tie) : P(right)  =  exp(d / 2) : tie : exp(-d / 2),

which is Bradley and Terry's where there are no ties. Scores are found by Newton's method: each step
solves a sparse system of the graph of comparisons, whose inverse is the covariance at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from crowdcore.artefacts.order import Order
from crowdcore.engine.comparisons import LEFT, TIE, Comparisons
from crowdcore.results.ranking import RankingEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import Codes, Floats
    from crowdcore.engine.pair_graph import PairGraph, System
    from crowdcore.run import Run

MAX_MOVE = 2.0
"""How far a score may move in one step: far from the end, the quadratic is no guide."""

MAX_TIE = 1e4
"""The largest weight of ties: where nothing but ties occurs, it would grow without end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Chances:
    """What is expected of comparisons that somebody looks at.

    Parameters
    ----------
    points : array [L]
        The points that the left item can expect.
    ties : array [L] or None
        The chance of a tie; None where ties do not occur.
    """

    points: Floats
    ties: Floats | None

    @property
    def information(self) -> Floats:
        """The variance of the points [L]: what a comparison tells of the difference of scores."""
        variance = self.points * (1 - self.points)
        if self.ties is not None:
            variance -= 0.25 * self.ties
        return variance

    def of(self, outcome: Codes | int) -> Floats:
        """Return the chance of an outcome [L]: the same one for all, or one for each."""
        half_ties = 0.0 if self.ties is None else 0.5 * self.ties
        if isinstance(outcome, int):
            if outcome == TIE:
                return np.zeros_like(self.points) if self.ties is None else self.ties
            return (self.points if outcome == LEFT else 1 - self.points) - half_ties
        chance = np.where(outcome == LEFT, self.points, 1 - self.points)
        if self.ties is not None:
            chance -= half_ties
            np.copyto(chance, self.ties, where=outcome == TIE)
        return chance


def chances(differences: Floats, tie: float) -> Chances:
    """Compute what is expected of comparisons.

    Parameters
    ----------
    differences : array [L]
        The left item's score minus the right one's.
    tie : float
        The weight of ties; 0 where there are none.

    Returns
    -------
    Chances
    """
    if not tie:
        return Chances(points=expit(differences), ties=None)
    weaker = np.exp(-0.5 * np.abs(differences))
    total = 1 + weaker * (weaker + tie)
    better = (1 + 0.5 * tie * weaker) / total
    points = np.where(differences >= 0, better, 1 - better)
    return Chances(points=points, ties=tie * weaker / total)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedScores:
    """Scores of items, and how sure they are.

    Parameters
    ----------
    scores : array [N]
        Log-odds: an item with a score one higher wins 73 % of comparisons. The mean over the
        largest group of comparable items is 0.
    tie : float
        The weight of ties; 0 where there are none.
    system : System
        The second derivatives: its inverse is the covariance.
    ridge : float
        The precision of the normal prior on scores.
    graph : PairGraph
        Who was compared with whom.
    """

    scores: Floats
    tie: float
    system: System
    ridge: float
    graph: PairGraph

    @property
    def _level_variance(self) -> Floats:
        """The variance of the common level of the largest group, which no comparison tells [N]."""
        in_largest = _largest_component(self.graph)
        return np.where(in_largest, 1 / (self.ridge * max(1, in_largest.sum())), 0.0)

    def covariance(self) -> Floats:
        """Return the covariance of the scores [N, N]; only where there are few items."""
        level = np.sqrt(self._level_variance)
        covariance: Floats = self.system.covariance() - np.outer(level, level)
        return covariance

    def variances(self, rng: np.random.Generator) -> Floats:
        """Return the variance of each score [N]."""
        least = np.finfo(float).eps
        return np.maximum(self.system.variances(rng) - self._level_variance, least)

    def estimate(self, run: Run, notes: Sequence[str] = (), **fields: Any) -> RankingEstimate:
        """Make the estimate that a method returns: scores, intervals and the order.

        Parameters
        ----------
        run : Run
            From which random draws come.
        notes : sequence of str
            Sentences that a reader of the result must see.
        **fields
            Further fields of the estimate.

        Returns
        -------
        RankingEstimate
        """
        artefacts = []
        if self.system.is_dense:
            covariance = self.covariance()
            variances = np.maximum(np.diag(covariance), np.finfo(float).eps)
            artefacts.append(Order.from_normal(self.scores, covariance, self.tie, run.rng))
        else:
            variances = self.variances(run.rng)
        return RankingEstimate(
            truth=self.scores,
            spread=np.sqrt(variances),
            artefacts=artefacts,
            notes=(*notes, *self._component_notes()),
            **fields,
        )

    def _component_notes(self) -> list[str]:
        n_groups = self.graph.n_components
        if n_groups == 1:
            return []
        largest = int(np.bincount(self.graph.component).max())
        return [
            f"The items fall into {n_groups:,} groups that were never compared with each other; "
            f"the largest has {largest:,} items. How items of different groups compare is a guess."
        ]


def fit_scores(
    comparisons: Comparisons, run: Run, *, ridge: float, tol: float, max_steps: int
) -> FittedScores:
    """Find the scores where every worker counts the same.

    Parameters
    ----------
    comparisons : Comparisons
        The outcomes.
    run : Run
        Watches and cancels.
    ridge : float
        The precision of a normal prior on scores, above 0.
    tol : float
        Stop once scores move by less than this share of their standard errors.
    max_steps : int
        Steps at most.

    Returns
    -------
    FittedScores
    """
    graph, counts, points = comparisons.by_pair()
    scores, tie = np.zeros(comparisons.n_items), first_tie(comparisons)
    expected = chances(graph.differences(scores), tie)
    for _ in run.loop(max_steps, "Scores"):
        system = graph.system(counts * expected.information, ridge)
        gradient = graph.sum_to_items(points - counts * expected.points) - ridge * scores
        move = bounded(system.solve(gradient))
        scores += move
        expected = chances(graph.differences(scores), tie)
        if comparisons.n_ties:
            tie = next_tie(tie, comparisons.n_ties, counts, expected)
            expected = chances(graph.differences(scores), tie)
        size = system.relative_size(move)
        run.log(move=size)
        if size < tol:
            run.converged = True
            break
    return FittedScores(
        scores=centred(scores, graph),
        tie=tie,
        system=graph.system(counts * expected.information, ridge),
        ridge=ridge,
        graph=graph,
    )


def first_tie(comparisons: Comparisons) -> float:
    """Return the weight of ties that would explain their number if all items were equal."""
    ties = comparisons.n_ties
    return min(MAX_TIE, 2 * ties / max(1, len(comparisons) - ties))


def next_tie(tie: float, n_ties: float, counts: Floats, expected: Chances) -> float:
    """Take one step towards the weight by which as many ties are expected as there are."""
    chance = expected.of(TIE)
    gradient = n_ties - float((counts * chance).sum())
    information = float((counts * chance * (1 - chance)).sum())
    return min(MAX_TIE, tie * float(np.exp(np.clip(gradient / max(information, 1e-9), -1, 1))))


def bounded(move: Floats) -> Floats:
    """Keep every score from moving too far in one step."""
    return np.clip(move, -MAX_MOVE, MAX_MOVE)


def centred(scores: Floats, graph: PairGraph) -> Floats:
    """Shift scores so that the largest group of comparable items has a mean of 0."""
    shifted: Floats = scores - scores[_largest_component(graph)].mean()
    return shifted


def _largest_component(graph: PairGraph) -> NDArray[np.bool_]:
    return np.asarray(graph.component == np.bincount(graph.component).argmax())
