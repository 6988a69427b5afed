"""Scores, and workers who answer a share of their comparisons by habit, without looking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.special import expit, logit, softmax

from crowdcore.engine.bradley_terry import MAX_TIE, bounded, centred, chances, first_tie, next_tie
from crowdcore.engine.comparisons import TIE, Comparisons
from crowdcore.engine.squarem import Squarem

if TYPE_CHECKING:
    from crowdcore.data import Floats
    from crowdcore.run import Run

FIRST_RELIABILITY = 0.8
"""The share of comparisons at which workers are taken to look before anything is known."""

MAX_LOGIT = 30.0
"""Beyond these log-odds a share is 0 or 1 as far as numbers tell."""

HABIT_COUNT = 1.0
"""Comparisons of each outcome that every worker's habit starts with."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Habits:
    """What is known of workers.

    Parameters
    ----------
    reliability : array [W]
        The share of comparisons at which each looks.
    guess : array [W, 3]
        How often they choose left, right and a tie where they do not look.
    """

    reliability: Floats
    guess: Floats


def fit_with_habits(
    comparisons: Comparisons,
    run: Run,
    *,
    ridge: float,
    prior: tuple[float, float],
    tol: float,
    max_steps: int,
) -> tuple[Floats, float, Habits]:
    """Find the scores, and how often each worker looks and what they do otherwise.

    Each step improves a lower bound of the posterior (EM), and SQUAREM goes on in the direction of
    the steps: how far scores are apart and how often workers look are hard to tell from each other,
    so that plain steps would creep.

    Parameters
    ----------
    comparisons : Comparisons
        The outcomes.
    run : Run
        Watches and cancels.
    ridge : float
        The precision of a normal prior on scores, above 0.
    prior : tuple of float
        Comparisons that every worker is taken to have looked at, and not, before the first.
    tol : float
        Stop once scores move by less than this share of their standard errors.
    max_steps : int
        Steps at most.

    Returns
    -------
    scores : array [N]
    tie : float
        The weight of ties; 0 where there are none.
    habits : Habits
    """
    graph, state = comparisons.graph, _State.first(comparisons)
    squarem = Squarem(enabled=True)
    for _ in run.loop(max_steps, "Scores and workers"):
        image, value, size = _em_step(comparisons, state, ridge, prior)
        run.log(log_posterior=value, move=size)
        if size < tol and not squarem.extrapolated:
            state = image
            run.converged = True
            break
        point = squarem.next(torch.from_numpy(image.packed()), torch.tensor(value))
        state = state.unpacked(point.numpy())
    return centred(state.scores, graph), state.tie, state.habits()


@dataclass(frozen=True, kw_only=True, eq=False)
class _State:
    """Scores [N], log-odds of looking [W], logits of guesses [W, outcomes], log-weight of ties."""

    scores: Floats
    looks: Floats
    guess: Floats
    log_tie: float

    @classmethod
    def first(cls, comparisons: Comparisons) -> _State:
        n_outcomes = 3 if comparisons.n_ties else 2
        return cls(
            scores=np.zeros(comparisons.n_items),
            looks=np.full(comparisons.n_workers, logit(FIRST_RELIABILITY)),
            guess=np.zeros((comparisons.n_workers, n_outcomes)),
            log_tie=float(np.log(max(first_tie(comparisons), 1e-300))),
        )

    @property
    def tie(self) -> float:
        return float(np.exp(self.log_tie)) if self.guess.shape[1] > TIE else 0.0

    def habits(self) -> Habits:
        guess = np.zeros((len(self.looks), 3))
        guess[:, : self.guess.shape[1]] = softmax(self.guess, 1)
        return Habits(reliability=expit(self.looks), guess=guess)

    def packed(self) -> Floats:
        return np.concatenate([self.scores, self.looks, self.guess.ravel(), [self.log_tie]])

    def unpacked(self, point: Floats) -> _State:
        n, w = len(self.scores), len(self.looks)
        return _State(
            scores=point[:n],
            looks=np.clip(point[n : n + w], -MAX_LOGIT, MAX_LOGIT),
            guess=np.clip(point[n + w : -1].reshape(self.guess.shape), -MAX_LOGIT, MAX_LOGIT),
            log_tie=min(float(np.log(MAX_TIE)), float(point[-1])),
        )


def _em_step(
    comparisons: Comparisons, state: _State, ridge: float, prior: tuple[float, float]
) -> tuple[_State, float, float]:
    """One step; the log-posterior where it starts, and how far it leads in standard errors."""
    graph, worker, outcome = comparisons.graph, comparisons.worker, comparisons.outcome
    n_outcomes, habits = state.guess.shape[1], state.habits()
    expected = chances(graph.differences(state.scores), state.tie)
    seen = expected.of(outcome)
    seen *= habits.reliability[worker]
    by_habit = ((1 - habits.reliability)[:, None] * habits.guess).ravel()
    cell = comparisons.worker_outcome
    total = by_habit[cell]
    total += seen
    looked = np.divide(seen, total, out=seen)  # the chance that the worker looked
    value = float(np.log(total, out=total).sum())
    value += _log_prior(state.scores, habits, ridge, prior, n_outcomes)

    system = graph.system(looked * expected.information, ridge)
    pull = comparisons.points - expected.points
    pull *= looked
    move = bounded(system.solve(graph.sum_to_items(pull) - ridge * state.scores))
    looked_given = np.bincount(cell, looked, 3 * comparisons.n_workers).reshape(-1, 3)
    guessed = (comparisons.given - looked_given)[:, :n_outcomes] + HABIT_COUNT
    n_looked = looked_given.sum(1)
    n_guessed = comparisons.given.sum(1) - n_looked
    log_tie = state.log_tie
    if n_outcomes > TIE:
        n_ties = float(looked_given[:, TIE].sum())
        log_tie = float(np.log(next_tie(state.tie, n_ties, looked, expected)))
    image = _State(
        scores=state.scores + move,
        looks=np.log(n_looked + prior[0]) - np.log(n_guessed + prior[1]),
        guess=np.log(guessed / guessed.sum(1, keepdims=True)),
        log_tie=log_tie,
    )
    return image, value, system.relative_size(move)


def _log_prior(
    scores: Floats, habits: Habits, ridge: float, prior: tuple[float, float], n_outcomes: int
) -> float:
    looks, guess = habits.reliability, habits.guess[:, :n_outcomes]
    of_workers = prior[0] * np.log(looks) + prior[1] * np.log1p(-looks)
    value = of_workers.sum() + HABIT_COUNT * np.log(guess).sum() - 0.5 * ridge * (scores @ scores)
    return float(value)
