"""How often a worker is right: a posterior by what the others believe, and what gold corrects.

Uncertain truths enter by their probabilities, so a worker on unclear items gets a wide interval
and no worker is compared with their own vote. Only gold can show errors that the crowd shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdcore.audit.judging.labels import JudgedLabels, Rows
from crowdcore.data import Floats

COVERAGE = 0.95
"""The probability that an interval holds."""

COARSE_POINTS, FINE_POINTS = 33, 67
"""Accuracies at which the likelihood is computed: over all, then where it is not negligible."""

NEGLIGIBLE = 10.0
"""A log-likelihood so far below the largest adds nothing to a posterior."""

LEAST_PROBABILITY = 1e-6
"""No label is less probable than this, whatever the beliefs say."""

MIN_GOLD_ITEMS = 10
"""Gold items with labels from which the crowd's shared errors are estimated."""

SHIFT_SD = 0.10
"""How large shared errors are expected to be, before gold is seen."""

OWN_SHIFT_SD = 0.03
"""How far a worker's part in shared errors may differ from the crowd's, at least."""

GRID_CELLS = 400
"""Cells of the accuracies on which gold and other labels are put together."""

TAILS = np.linspace(0, 1 - COVERAGE, 26)
"""Lower tails among which the shortest interval is looked for."""

QUANTILES = np.linspace(0, 1, 101)
"""Probabilities at which a distribution is kept."""

CHUNK_WORKERS = 2_000
"""Workers whose distribution functions are inverted at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Distributions:
    """Distributions of accuracies, one per worker: piecewise even between the edges."""

    edges: Floats  # [W, E]
    below: Floats  # [W, E] the probability that the accuracy is below each edge

    def quantile(self, probability: Floats) -> Floats:
        """The accuracies [W, P] below which lie these probabilities [P]."""
        quantiles = np.empty((len(self.edges), len(probability)))
        for at in range(0, len(self.edges), CHUNK_WORKERS):
            chunk = slice(at, at + CHUNK_WORKERS)
            quantiles[chunk] = _interpolate(self.below[chunk], self.edges[chunk], probability)
        return quantiles

    def interval(self) -> tuple[Floats, Floats]:
        """The shortest intervals [W] that hold with probability `COVERAGE`.

        Equal tails would never hold a worker who is always right.
        """
        low = self.quantile(TAILS)
        high = self.quantile(TAILS + COVERAGE)
        rows, best = np.arange(len(low)), (high - low).argmin(1)
        return low[rows, best], high[rows, best]

    def probability_below(self, accuracy: float) -> Floats:
        """How probable it is [W] that the accuracy is below a requirement."""
        probability = np.empty(len(self.edges))
        for at in range(0, len(self.edges), CHUNK_WORKERS):
            chunk = slice(at, at + CHUNK_WORKERS)
            at_most = np.array([accuracy])
            probability[chunk] = _interpolate(self.edges[chunk], self.below[chunk], at_most)[:, 0]
        return probability


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedErrors:
    """By how much the crowd's own view of accuracies is too high, by gold."""

    shift: float  # mean of belief minus hit, drawn to 0
    standard_error: float
    own_sd: float  # how much workers differ in it, as far as gold can tell
    n_items: int  # gold items behind it
    n_labels: int

    @property
    def spread(self) -> float:
        """The standard deviation by which one worker's accuracy is widened.

        Workers share errors unequally: by half of the shift, or as much as gold shows.
        """
        expected = (self.shift / 2) ** 2 + OWN_SHIFT_SD**2
        return float(np.sqrt(self.standard_error**2 + max(expected, self.own_sd**2)))


def accuracy_distributions(
    hit: Floats, error: Floats, labels: JudgedLabels, use: np.ndarray
) -> Distributions:
    """Posteriors of accuracies, each flat before any label is seen.

    Parameters
    ----------
    hit
        The others' belief in each given class [L].
    error
        How probable the given class is if the worker errs on this item [L].
    labels
        Whose labels these are.
    use
        Which labels count [L].

    Returns
    -------
    Distributions
        One per worker; even between 0 and 1 for a worker without labels that count.
    """
    worker = labels.worker[use]
    sizes = np.bincount(worker, minlength=labels.n_workers)
    hit, error = hit[use], error[use]
    coarse = np.linspace(0, 1, COARSE_POINTS)
    grid = np.tile(coarse, (labels.n_workers, 1))
    values = _log_likelihoods(hit, error, sizes, grid)
    likely = values > values.max(1, keepdims=True) - NEGLIGIBLE
    step = coarse[1]
    low = np.maximum(0, coarse[likely.argmax(1)] - step)
    high = np.minimum(1, coarse[COARSE_POINTS - 1 - likely[:, ::-1].argmax(1)] + step)
    grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, FINE_POINTS)
    values = _log_likelihoods(hit, error, sizes, grid)
    density = np.exp(values - values.max(1, keepdims=True))
    mass = (density[:, 1:] + density[:, :-1]) / 2
    below = np.zeros_like(density)
    np.cumsum(mass, axis=1, out=below[:, 1:])
    below /= below[:, -1:]
    return Distributions(edges=grid, below=below)


def _log_likelihoods(hit: Floats, error: Floats, sizes: Rows, grid: Floats) -> Floats:
    """Sums of log(a hit + (1 - a) error) over each worker's labels, for accuracies [W, G]."""
    values = np.zeros_like(grid)
    busy = np.flatnonzero(sizes)
    if not len(busy):
        return values
    starts = (np.cumsum(sizes) - sizes)[busy]
    gain = hit - error
    for column in range(grid.shape[1]):
        accuracy = np.repeat(grid[busy, column].astype(hit.dtype), sizes[busy])
        accuracy *= gain
        accuracy += error
        np.maximum(accuracy, LEAST_PROBABILITY, out=accuracy)
        np.log(accuracy, out=accuracy)
        values[busy, column] = np.add.reduceat(accuracy, starts, dtype=np.float64)
    return values


def shared_errors(belief: Floats, is_hit: Floats, item: Rows, worker: Rows) -> SharedErrors | None:
    """Compare beliefs with gold, on labels of gold items.

    Parameters
    ----------
    belief
        How probable each label [G] is to be right, before its item's gold is told.
    is_hit
        Whether each label equals the gold answer [G].
    item, worker
        Of each label [G]: errors of one item come together, and workers differ.

    Returns
    -------
    SharedErrors or None
        None with fewer than `MIN_GOLD_ITEMS` items.
    """
    items, index = np.unique(item, return_inverse=True)
    if len(items) < MIN_GOLD_ITEMS:
        return None
    excess = belief - is_hit
    mean = float(excess.mean())
    by_item = np.bincount(index, weights=excess - mean)
    n_items = len(items)
    variance = float((by_item**2).sum()) / len(excess) ** 2 * n_items / (n_items - 1)
    pull = SHIFT_SD**2 / (SHIFT_SD**2 + variance)
    return SharedErrors(
        shift=mean * pull,
        standard_error=float(np.sqrt(variance * pull)),
        own_sd=_own_sd(excess - mean, worker),
        n_items=n_items,
        n_labels=len(excess),
    )


def _own_sd(residual: Floats, worker: Rows) -> float:
    """The standard deviation of workers' mean residuals, less what their few labels explain.

    Products of two residuals of one worker, on different items, have this variance as their mean.
    """
    _, index = np.unique(worker, return_inverse=True)
    sums = np.bincount(index, weights=residual)
    squares = np.bincount(index, weights=residual**2)
    sizes = np.bincount(index).astype(np.float64)
    pairs = float((sizes * (sizes - 1)).sum())
    return float(np.sqrt(max(0.0, (sums**2 - squares).sum() / pairs))) if pairs else 0.0


def corrected(
    by_crowd: Distributions, errors: SharedErrors, gold_hits: Floats, gold_labels: Floats
) -> Distributions:
    """Take shared errors off what the crowd sees, and add what gold shows of each worker.

    Parameters
    ----------
    by_crowd
        From labels on items without gold.
    errors
        By how much these are too high.
    gold_hits, gold_labels
        Right labels, and all labels, on gold items [W].

    Returns
    -------
    Distributions
        On a common grid.
    """
    edges = np.linspace(0, 1, GRID_CELLS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    n_workers = len(by_crowd.edges)
    distance = centres[:, None] - errors.shift - centres[None, :]  # [by_crowd, real]
    kernel = np.exp(-0.5 * (distance / errors.spread) ** 2)
    logs = gold_hits[:, None] * np.log(centres) + (gold_labels - gold_hits)[:, None] * np.log1p(
        -centres
    )
    likelihood = np.exp(logs - logs.max(1, keepdims=True))
    below = np.zeros((n_workers, GRID_CELLS + 1))
    for at in range(0, n_workers, CHUNK_WORKERS):
        chunk = slice(at, at + CHUNK_WORKERS)
        mass = np.diff(_interpolate(by_crowd.edges[chunk], by_crowd.below[chunk], edges), axis=1)
        mass = (mass @ kernel) * likelihood[chunk]
        np.cumsum(mass, axis=1, out=below[chunk, 1:])
    below /= below[:, -1:]
    return Distributions(edges=np.broadcast_to(edges, below.shape), below=below)


def _interpolate(x: Floats, y: Floats, at: Floats) -> Floats:
    """Values [W, P] of piecewise linear functions, each through its points x, y [W, E]."""
    n_points = x.shape[1]
    right = np.empty((len(x), len(at)), np.int64)
    for column, value in enumerate(at):
        right[:, column] = (x < value).sum(1)
    right = np.clip(right, 1, n_points - 1)
    x0, x1 = (np.take_along_axis(x, index, 1) for index in (right - 1, right))
    y0, y1 = (np.take_along_axis(y, index, 1) for index in (right - 1, right))
    width = np.where(x1 > x0, x1 - x0, 1.0)
    share = np.clip((at - x0) / width, 0, 1)
    values: Floats = y0 + share * (y1 - y0)
    return values
