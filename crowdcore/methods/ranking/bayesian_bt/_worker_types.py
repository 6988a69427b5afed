"""Workers of a few types: how sharply they tell items apart, and which side they lean to.

A worker of discrimination a and lean b answers as if the difference d of two scores were a * d + b:
a = 1 is the average answer, 0 is blind, below 0 is reversed, and b > 0 leans to the left. Numbers
for every worker beside a score for every item are too much to be fitted to few comparisons each:
scores come out too far apart. So workers are of types, whose shares are learnt, and what is not
known of a worker is averaged over.

All that depends on a worker's type depends on the difference of two scores smoothly. So it is
tabled at a few differences and interpolated, and a step costs as much as without workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy import sparse
from scipy.special import logsumexp

from crowdcore.engine.bradley_terry import (
    MAX_TIE,
    FittedScores,
    bounded,
    centred,
    chances,
    first_tie,
)
from crowdcore.engine.comparisons import POINTS, TIE, Comparisons
from crowdcore.engine.pair_graph import MAX_DENSE_ITEMS
from crowdcore.engine.squarem import Squarem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import Floats
    from crowdcore.engine.pair_graph import System
    from crowdcore.run import Run

DISCRIMINATIONS = (-1.5, -0.8, -0.3, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.2, 3.5)
LEANS = (-3.0, -1.5, -0.7, -0.25, 0.0, 0.25, 0.7, 1.5, 3.0)

AVERAGE = (1.0, 0.0)
AVERAGE_SHARE = 0.2
"""The type of the average worker, and its share before anything is known."""

N_ROUNDS = 3
"""How often the scores are found; in between it is learnt how widely they vary."""

FIRST_RIDGE = 1.0
"""The precision of the prior of scores before it is learnt."""

PRIOR_ITEMS, PRIOR_VARIANCE = 2.0, 1.0
"""How widely scores vary is learnt as if so many more items had this mean square: with a few
comparisons they would else be taken to be all equal."""

MIN_LOG_SHARE = -30.0
"""No type is ever impossible."""

KNOTS = np.linspace(-7.0, 7.0, 57)
"""Differences of scores at which tables are made; beyond them a comparison is as good as sure."""

WORKERS_AT_ONCE = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """Scores [N], log-shares of the types [T], and the log-weight of ties."""

    scores: Floats
    log_shares: Floats
    log_tie: float
    has_ties: bool

    @classmethod
    def first(cls, comparisons: Comparisons) -> State:
        """Begin with equal scores, and with workers who are much like the average."""
        average = (_discrimination() == AVERAGE[0]) & (_lean() == AVERAGE[1])
        shares = np.where(average, AVERAGE_SHARE, (1 - AVERAGE_SHARE) / (len(average) - 1))
        return cls(
            scores=np.zeros(comparisons.n_items),
            log_shares=np.log(shares),
            log_tie=float(np.log(max(first_tie(comparisons), 1e-300))),
            has_ties=comparisons.n_ties > 0,
        )

    @property
    def tie(self) -> float:
        """The weight of ties; 0 where there are none."""
        return float(np.exp(self.log_tie)) if self.has_ties else 0.0

    def packed(self) -> Floats:
        """Return all numbers as one vector."""
        return np.concatenate([self.scores, self.log_shares, [self.log_tie]])

    def unpacked(self, point: Floats) -> State:
        """Return the state that a vector stands for."""
        n = len(self.scores)
        log_shares = np.maximum(point[n:-1], MIN_LOG_SHARE)
        return State(
            scores=point[:n],
            log_shares=log_shares - logsumexp(log_shares),
            log_tie=min(float(np.log(MAX_TIE)), float(point[-1])),
            has_ties=self.has_ties,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Workers:
    """What is known of workers: means and standard deviations [W] of the two numbers."""

    discrimination: Floats
    discrimination_sd: Floats
    lean: Floats
    lean_sd: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Expectation:
    """What the comparisons say at a state.

    Parameters
    ----------
    pull : array [L]
        In which direction each comparison pulls the difference of its scores.
    information : array [L]
        How firmly it does so.
    type_counts : array [T]
        How many workers are of each type.
    workers : Workers
        What is known of each worker.
    mean_discrimination : float
        Over comparisons.
    tie_gradient, tie_information : float
        Which way, and how firmly, ties pull their weight.
    log_likelihood : float
        Averaged over types.
    """

    pull: Floats
    information: Floats
    type_counts: Floats
    workers: Workers
    mean_discrimination: float
    tie_gradient: float
    tie_information: float
    log_likelihood: float


def _discrimination() -> Floats:
    return np.repeat(DISCRIMINATIONS, len(LEANS))


def _lean() -> Floats:
    return np.tile(LEANS, len(DISCRIMINATIONS))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tables:
    """What follows from a type and a difference, at the knots [T, 3 outcomes × knots]."""

    log_chance: Floats
    pull: Floats
    information: Floats
    tie_chance: Floats

    @classmethod
    def at(cls, tie: float) -> _Tables:
        slope = _discrimination()[:, None, None]
        felt = slope * KNOTS + _lean()[:, None, None]  # [T, 1, knots]
        expected = chances(felt, tie)
        outcomes = [np.maximum(expected.of(code), 1e-300) for code in range(3)]
        log_chance = np.log(np.concatenate(outcomes, 1))
        pull = slope * (POINTS[None, :, None] - expected.points)
        shape = pull.shape
        information = np.broadcast_to(slope**2 * expected.information, shape)
        tie_chance = np.broadcast_to(expected.of(TIE), shape)
        flat = [each.reshape(shape[0], -1) for each in (log_chance, pull, information, tie_chance)]
        return cls(log_chance=flat[0], pull=flat[1], information=flat[2], tie_chance=flat[3])


def expect(comparisons: Comparisons, state: State) -> Expectation:
    """Find out each worker's type, and with it what every comparison says."""
    tables = _Tables.at(state.tie)
    cell, share = _cells(comparisons, state)
    n, n_types, width = len(comparisons), len(state.log_shares), 3 * len(KNOTS)
    pull, information = np.empty(n), np.empty(n)
    type_counts = np.zeros(n_types)
    known = np.zeros((comparisons.n_workers, 4))
    values = np.stack([_discrimination(), _lean()], 1)
    log_likelihood = tie_gradient = tie_information = 0.0
    for workers, rows in _blocks(comparisons):
        here, upper = cell[rows] - workers.start * width, share[rows]
        size = (workers.stop - workers.start) * width
        counts = np.bincount(here, 1 - upper, size) + np.bincount(here + 1, upper, size + 1)[:size]
        counts = counts.reshape(-1, width)
        joint = counts @ tables.log_chance.T + state.log_shares
        top = logsumexp(joint, 1)
        posterior = np.exp(joint - top[:, None])  # [workers, T]
        log_likelihood += float(top.sum())
        type_counts += posterior.sum(0)
        means = posterior @ values
        known[workers, :2] = means
        known[workers, 2:] = np.sqrt(np.maximum(posterior @ values**2 - means**2, 0))
        for table, into in ((tables.pull, pull), (tables.information, information)):
            flat = (posterior @ table).ravel()
            low = flat[here]
            into[rows] = low + upper * (flat[np.minimum(here + 1, size - 1)] - low)
        if state.has_ties:
            chance = posterior @ tables.tie_chance
            tie_gradient += float(counts[:, TIE * len(KNOTS) :].sum() - (counts * chance).sum())
            tie_information += float((counts * chance * (1 - chance)).sum())
    weight = np.bincount(comparisons.worker, minlength=comparisons.n_workers)
    return Expectation(
        pull=pull,
        information=information,
        type_counts=type_counts,
        workers=Workers(
            discrimination=known[:, 0],
            discrimination_sd=known[:, 2],
            lean=known[:, 1],
            lean_sd=known[:, 3],
        ),
        mean_discrimination=float(known[:, 0] @ weight / n),
        tie_gradient=tie_gradient,
        tie_information=tie_information,
        log_likelihood=log_likelihood,
    )


def _cells(comparisons: Comparisons, state: State) -> tuple[NDArray[np.int64], Floats]:
    """Worker, outcome and lower knot of each comparison as one code [L]; how far beyond it [L]."""
    position = comparisons.graph.differences(state.scores)
    position -= KNOTS[0]
    position /= KNOTS[1] - KNOTS[0]
    np.clip(position, 0, len(KNOTS) - 1.001, out=position)
    cell = position.astype(np.int64)
    position -= cell
    cell += comparisons.worker_outcome * len(KNOTS)
    return cell, position


def _blocks(comparisons: Comparisons) -> Iterator[tuple[slice, slice]]:
    """Workers, and the rows of their comparisons, which are in order of the workers."""
    for start in range(0, comparisons.n_workers, WORKERS_AT_ONCE):
        stop = min(start + WORKERS_AT_ONCE, comparisons.n_workers)
        first, last = np.searchsorted(comparisons.worker, [start, stop])
        yield slice(start, stop), slice(int(first), int(last))


def em_step(
    comparisons: Comparisons, state: State, ridge: float
) -> tuple[State, Expectation, float]:
    """Take one step.

    Returns
    -------
    image : State
        Where the step leads.
    now : Expectation
        What the comparisons say where it starts.
    size : float
        How far scores move, in standard errors.
    """
    graph, now = comparisons.graph, expect(comparisons, state)
    system = graph.system(now.information, ridge)
    move = bounded(system.solve(graph.sum_to_items(now.pull) - ridge * state.scores))
    shares = now.type_counts + 1 / len(now.type_counts)
    log_tie = state.log_tie
    if state.has_ties:
        step = now.tie_gradient / max(now.tie_information, 1e-9)
        log_tie = min(float(np.log(MAX_TIE)), log_tie + float(np.clip(step, -1, 1)))
    scores = state.scores + move
    # How far scores are apart is what the average answer sees, as far as tables reach.
    scale = float(np.clip(now.mean_discrimination, 0.5, 2.0))
    if scale < 1 or np.ptp(scores) * scale < KNOTS[-1]:
        scores = scores * scale
    image = State(
        scores=scores,
        log_shares=np.log(shares / shares.sum()),
        log_tie=log_tie,
        has_ties=state.has_ties,
    )
    return image, now, system.relative_size(image.scores - state.scores)


def system_of(comparisons: Comparisons, state: State, now: Expectation, ridge: float) -> System:
    """Build the second derivatives of the scores.

    Where there are few items, what is not known of the workers counts too: it is eliminated from
    the joint second derivatives of scores, discriminations and leans.
    """
    if comparisons.n_items > MAX_DENSE_ITEMS:
        return comparisons.graph.system(now.information, ridge)
    worker, known = comparisons.worker, now.workers
    difference = comparisons.graph.differences(state.scores)
    slope = known.discrimination[worker]
    weight = chances(slope * difference + known.lean[worker], state.tie).information
    shares = np.exp(state.log_shares)
    a, b, c = (
        comparisons.sum_by_worker(values)
        for values in (weight * difference**2, weight * difference, weight)
    )
    a, c = a + _precision(shares, _discrimination()), c + _precision(shares, _lean())
    determinant = a * c - b * b
    by_slope = _by_item_and_worker(comparisons, slope * weight * difference)
    by_lean = _by_item_and_worker(comparisons, slope * weight)
    known_with = by_slope @ (by_slope * (c / determinant)).T
    known_with += by_lean @ (by_lean * (a / determinant)).T
    mixed = by_slope @ (by_lean * (b / determinant)).T
    system = comparisons.graph.system(slope**2 * weight, ridge)
    return system.minus(known_with - mixed - mixed.T)


def _precision(shares: Floats, values: Floats) -> float:
    mean = float(shares @ values)
    return 1 / max(float(shares @ (values - mean) ** 2), 1e-6)


def _by_item_and_worker(comparisons: Comparisons, values: Floats) -> sparse.csr_array:
    """Add up what comparisons say for left items and against right ones, by worker [N, W]."""
    rows = np.concatenate([comparisons.left, comparisons.right])
    columns = np.concatenate([comparisons.worker, comparisons.worker])
    shape = (comparisons.n_items, comparisons.n_workers)
    both = np.concatenate([values, -values])
    return sparse.coo_array((both, (rows, columns)), shape=shape).tocsr()


def fit_with_types(
    comparisons: Comparisons, run: Run, *, tol: float, max_steps: int
) -> tuple[FittedScores, Workers]:
    """Find the scores and what is known of the workers; learn how widely scores vary.

    Parameters
    ----------
    comparisons : Comparisons
        The outcomes.
    run : Run
        Watches and cancels.
    tol : float
        Stop once scores move by less than this share of their standard errors.
    max_steps : int
        Steps at most in each round; after each the prior of the scores is learnt anew.

    Returns
    -------
    fitted : FittedScores
    workers : Workers
    """
    state, ridge = State.first(comparisons), FIRST_RIDGE
    for number in range(1, N_ROUNDS + 1):
        squarem = Squarem(enabled=True)
        for _ in run.loop(max_steps, f"Round {number} of {N_ROUNDS}"):
            image, now, size = em_step(comparisons, state, ridge)
            value = now.log_likelihood - 0.5 * ridge * float(state.scores @ state.scores)
            run.log(log_posterior=value, move=size)
            if size < tol and not squarem.extrapolated:
                state = image
                run.converged = True
                break
            point = squarem.next(torch.from_numpy(image.packed()), torch.tensor(value))
            state = state.unpacked(point.numpy())
        now = expect(comparisons, state)
        fitted = FittedScores(
            scores=centred(state.scores, comparisons.graph),
            tie=state.tie,
            system=system_of(comparisons, state, now, ridge),
            ridge=ridge,
            graph=comparisons.graph,
        )
        if number < N_ROUNDS:
            ridge = _learnt_ridge(fitted, run)
    return fitted, now.workers


def _learnt_ridge(fitted: FittedScores, run: Run) -> float:
    """Return one over the variance of scores, less what is only their uncertainty (MacKay)."""
    well_known = float((1 - fitted.ridge * fitted.variances(run.rng)).sum())
    square = float(fitted.scores @ fitted.scores)
    return (max(well_known, 0.0) + PRIOR_ITEMS) / (square + PRIOR_ITEMS * PRIOR_VARIANCE)
