"""Each worker against the truths without their own ratings: bias, slope, noise, intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.ratings.verdicts import MIN_COMPARED_RATINGS
from crowdcore.confusion import safe_ratio
from crowdcore.data import CrowdData, Floats

MAX_ROUNDS, TOLERANCE = 200, 1e-5
"""Of the fit that workers are judged by."""

OUTLIER_DEVIATIONS = 4.0
"""A rating so many of the worker's own deviations from what they would give is an outlier."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """Ratings beside what the other workers' ratings say of the same items.

    Attributes
    ----------
    data
        The ratings.
    others, others_variance
        The truth of each rating's item without that rating, and its variance [L]; NaN where
        nobody else rated the item.
    centre, truth_deviation
        The mean of all truths, and their standard deviation.
    bias_variance, noise_variance, error_variance
        How far workers differ in level, how far single ratings scatter, and how far truths may
        be off: components of the variance of a rating.
    """

    data: CrowdData
    others: Floats
    others_variance: Floats
    centre: float
    truth_deviation: float
    bias_variance: float
    noise_variance: float
    error_variance: float

    @cached_property
    def comparable(self) -> NDArray[np.bool_]:
        """Which ratings can be compared with somebody else's [L]."""
        return ~np.isnan(self.others)

    def _sum(self, values: Floats) -> Floats:
        rows = self.comparable
        n_workers = self.data.n_workers
        worker = self.data.worker[rows]
        sums = np.bincount(worker, weights=values[rows], minlength=n_workers)
        return np.asarray(sums, np.float64)

    @cached_property
    def n_compared(self) -> NDArray[np.int64]:
        """How many of each worker's ratings can be compared [W]."""
        return np.bincount(self.data.worker[self.comparable], minlength=self.data.n_workers)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Per worker: mean of the others' truths and of their ratings, and sums around them."""
        x, y = self.others - self.centre, self.data.label - self.centre
        mean_x, mean_y = (safe_ratio(self._sum(values), self.n_compared) for values in (x, y))
        x, y = x - mean_x[self.data.worker], y - mean_y[self.data.worker]
        return mean_x, mean_y, self._sum(x**2), self._sum(x * y), self._sum(y**2)

    @cached_property
    def slope(self) -> Floats:
        """How much higher a worker rates where the others' truth is higher by 1 [W]."""
        _, _, squares, products, _ = self._moments
        return safe_ratio(products, squares)

    @cached_property
    def bias(self) -> Floats:
        """How much higher than others a worker rates an average item [W]."""
        mean_x, mean_y, _, _, _ = self._moments
        return mean_y - self.slope * mean_x

    @cached_property
    def residual_variance(self) -> Floats:
        """The variance around the worker's own line [W]; NaN below three ratings."""
        _, _, squares, products, totals = self._moments
        left = totals - safe_ratio(products**2, squares)
        return safe_ratio(np.maximum(left, 0), np.maximum(self.n_compared - 2, 0))

    @cached_property
    def _through_others(self) -> Floats:
        """The part of that variance which is the others' uncertainty [W]."""
        mean = safe_ratio(self._sum(self.others_variance), self.n_compared)
        return self.slope**2 * mean

    @cached_property
    def noise(self) -> Floats:
        """The standard deviation of each worker's errors [W], without what others add."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(np.maximum(self.residual_variance - self._through_others, 0))

    @cached_property
    def noise_interval(self) -> tuple[Floats, Floats]:
        """The 95 % interval of the noise [W], by the chi-square distribution."""
        from scipy.special import gammaincinv

        freedom = np.maximum(self.n_compared - 2, 1)
        ends = []
        for tail in (0.975, 0.025):
            variance = self.residual_variance * freedom / (2 * gammaincinv(freedom / 2, tail))
            with np.errstate(invalid="ignore"):
                ends.append(np.sqrt(np.maximum(variance - self._through_others, 0)))
        return ends[0], ends[1]

    @cached_property
    def _quantile(self) -> Floats:
        from scipy.special import stdtrit

        quantile: Floats = stdtrit(np.maximum(self.n_compared - 2, 1), 0.975)
        return quantile

    @cached_property
    def slope_interval(self) -> tuple[Floats, Floats]:
        """The 95 % interval of the slope [W], by Student's distribution."""
        _, _, squares, _, _ = self._moments
        half = self._quantile * np.sqrt(safe_ratio(self.residual_variance, squares))
        return self.slope - half, self.slope + half

    @cached_property
    def bias_interval(self) -> tuple[Floats, Floats]:
        """The 95 % interval of the bias [W], by Student's distribution."""
        mean_x, _, squares, _, _ = self._moments
        share = safe_ratio(np.ones(len(squares)), self.n_compared) + safe_ratio(mean_x**2, squares)
        half = self._quantile * np.sqrt(self.residual_variance * share)
        return self.bias - half, self.bias + half

    @cached_property
    def residual(self) -> Floats:
        """Each rating less what its worker would give by their own line [L]."""
        worker = self.data.worker
        expected = self.bias[worker] + self.slope[worker] * (self.others - self.centre)
        residual: Floats = self.data.label - self.centre - expected
        return residual

    @cached_property
    def outliers(self) -> NDArray[np.int64]:
        """How many ratings of each worker lie far from all their others [W].

        The deviation is a robust one: a single wild rating would widen the usual one.
        """
        rows = np.flatnonzero(self.comparable & ~np.isnan(self.residual))
        size = np.abs(self.residual[rows])
        middle = group_medians(size, self.data.worker[rows], self.data.n_workers)
        bound = OUTLIER_DEVIATIONS * 1.4826 * np.maximum(middle, 0.1 * (self.truth_deviation or 1))
        far = rows[size > bound[self.data.worker[rows]]]
        return np.bincount(self.data.worker[far], minlength=self.data.n_workers)

    @property
    def components(self) -> Floats:
        """Variances of truths, biases, noise and errors of the truths [4]."""
        truths = self.truth_deviation**2
        return np.array([truths, self.bias_variance, self.noise_variance, self.error_variance])


@lru_cache(maxsize=2)
def judge(data: CrowdData) -> Judged:
    """Fit the Gaussian model, and take each rating's own part out of its item's truth.

    Parameters
    ----------
    data
        Ratings.

    Returns
    -------
    Judged
        What the workers are judged by.
    """
    import torch

    from crowdcore.engine import rating_model
    from crowdcore.engine.ratings import Ratings
    from crowdcore.run import Run

    ratings = Ratings(data, torch.device("cpu"))
    others, variance = np.full(data.n_labels, np.nan), np.full(data.n_labels, np.nan)
    centre, deviation, bias, noise, error = ratings.centre, 0.0, 0.0, 0.0, 0.0
    if data.labels_per_worker.max() < MIN_COMPARED_RATINGS:  # nobody can be judged
        others, variance = _mean_of_others(data)
    elif not ratings.is_constant:
        model = rating_model.fit(ratings, Run(), max_iter=MAX_ROUNDS, tol=TOLERANCE)
        order, unit = ratings.rows.order, ratings.unit
        without, its_variance = (values.numpy() for values in model.without_own())
        others[order] = ratings.centre + unit * without
        variance[order] = unit**2 * its_variance
        rated = data.labels_per_item > 0
        centre = float(ratings.centre + unit * model.m)
        deviation = float(unit * model.item_variance.sqrt())
        bias, error = (
            float(unit**2 * value) for value in (model.bias_spread, model.v.numpy()[rated].mean())
        )
        weight = ratings.worker_counts / ratings.n_labels
        noise = float(unit**2 * (weight / model.precision).sum())
    alone = data.labels_per_item[data.item] < 2  # noqa: PLR2004  (somebody else's rating)
    others[alone], variance[alone] = np.nan, np.nan
    return Judged(
        data=data,
        others=others,
        others_variance=variance,
        centre=centre,
        truth_deviation=deviation,
        bias_variance=bias,
        noise_variance=noise,
        error_variance=error,
    )


def _mean_of_others(data: CrowdData) -> tuple[Floats, Floats]:
    """The mean of each rating's item without that rating [L], with no variance."""
    sums = np.bincount(data.item, weights=data.label, minlength=data.n_items)
    others = (sums[data.item] - data.label) / np.maximum(data.labels_per_item[data.item] - 1, 1)
    return others, np.zeros(data.n_labels)


def group_medians(values: Floats, group: NDArray[np.integer], n_groups: int) -> Floats:
    """Return the median of each group; NaN for an empty one."""
    order = np.lexsort((values, group))
    sizes = np.bincount(group, minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    medians = np.full(n_groups, np.nan)
    full = sizes > 0
    low, high = starts + (sizes - 1) // 2, starts + sizes // 2
    ordered = values[order]
    medians[full] = (ordered[low[full]] + ordered[high[full]]) / 2
    return medians
