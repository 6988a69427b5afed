"""The Gaussian model of ratings: workers with a bias, a slope and a precision, by mean field.

A standardised rating is y = m + b_w + a_w u_i + e with e ~ N(0, 1 / l_w); u_i ~ N(0, t²),
b_w ~ N(0, s_b²), a_w ~ N(1, s_a²), l_w ~ Gamma(A, B). The truth of an item is m + u_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from crowdcore.engine.ratings import RatingRows, Ratings
    from crowdcore.run import Run

MIN_VARIANCE = 1e-5
"""The least variance of a prior, of standardised ratings."""

MIN_NOISE = 1e-4
"""The least variance of a worker's errors: one who gives a single value has none, and would get
all weight in the world."""

MIN_SHAPE = 0.5
MAX_SHAPE = 50.0
"""Bounds of the shape of the precisions' prior: workers are neither all alike nor all different."""

DEGREES = 4.0
"""Degrees of freedom of heavy-tailed errors."""

MIN_MEAN_SLOPE = 0.1
"""A mean slope below this says that the crowd follows nothing, and is not divided by."""


@dataclass(kw_only=True)
class RatingModel:
    """What the model has learnt, on standardised ratings; `fit` makes one.

    Attributes
    ----------
    m
        The mean of the truths [1].
    u, v
        Each item's distance from the mean, and its variance [N].
    bias, bias_variance, slope, slope_variance
        Each worker's [W].
    shape, rate
        Of each worker's precision [W].
    tail_weight
        How much each rating counts [L]; None where errors are Gaussian.
    item_variance, bias_spread, slope_spread
        t², s_b², s_a².
    """

    ratings: Ratings
    m: Tensor
    u: Tensor
    v: Tensor
    bias: Tensor
    bias_variance: Tensor
    slope: Tensor
    slope_variance: Tensor
    shape: Tensor
    rate: Tensor
    item_variance: Tensor
    bias_spread: Tensor
    slope_spread: Tensor
    prior_shape: Tensor
    prior_rate: Tensor
    tail_weight: Tensor | None = None

    @property
    def precision(self) -> Tensor:
        """Each worker's expected precision [W]."""
        return self.shape / self.rate

    @property
    def truth(self) -> Tensor:
        """The standardised truths [N]."""
        return self.m + self.u

    @property
    def noise(self) -> Tensor:
        """The standard deviation of each worker's errors [W]."""
        return self.precision.clamp(min=1e-12) ** -0.5

    def spread(self) -> Tensor:
        """The standard errors of the truths [N], with what is not known of the workers.

        Beside the items' own variance: that of their raters' biases and slopes, and that of the
        level and the range, which rest on the workers being right on average.
        """
        weight = (self.precision * self.slope) ** 2
        through_bias, through_slope = self.ratings.sum_over_items(
            weight * self.bias_variance, weight * self.slope_variance
        )
        own = self.v + self.v**2 * (through_bias + self.u**2 * through_slope)
        n = self.ratings.worker_counts
        informed = n * self.precision * self.slope**2
        level, reach = ((by**2).sum() / by.sum().clamp(min=1e-12) ** 2 for by in (n, informed))
        level = torch.where(self.bias_variance.sum() > 0, level * self.bias_spread, 0.0)
        reach = torch.where(self.slope_variance.sum() > 0, reach * self.slope_spread, 0.0)
        return (own + level + self.u**2 * reach).sqrt()

    def step(self, *, bias: bool, slope: bool, heavy_tails: bool) -> None:
        """Update everything once."""
        self._update_items()
        sums: tuple[Tensor, ...] = self._worker_sums()
        if bias:
            self._update_bias(sums)
        if slope:
            sums = self._update_slope(sums)
        self._update_precision(sums)
        if heavy_tails:
            self._update_tails()
        self._update_priors(bias=bias, slope=slope)

    def anchor_to_informed(self) -> None:
        """Stretch the truths so that the workers who tell most have a mean slope of 1."""
        weight = self.ratings.worker_counts * self.precision * self.slope**2
        self._stretch((weight * self.slope).sum() / weight.sum().clamp(min=1e-12))

    def without_own(self) -> tuple[Tensor, Tensor]:
        """The truth of each rating's item without that rating [L], and its variance.

        Both sums of an item lose the rating's own term.
        """
        rows, of_item, of_worker = self._by_rating()
        counts = of_worker(self.precision) * (
            self.tail_weight if self.tail_weight is not None else 1.0
        )
        slope, spread = (
            of_worker(self.slope),
            of_worker(self.slope_variance),
        )
        information = 1 / of_item(self.v)
        target = information * of_item(self.u)
        residual = rows.value - self.m - of_worker(self.bias)
        left = (information - counts * (slope**2 + spread)).clamp(min=1e-12)
        return self.m + (target - counts * slope * residual) / left, 1 / left

    def _by_rating(
        self,
    ) -> tuple[RatingRows, Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
        """The ratings one by one, and how each gets a number of its item or worker."""
        return self.ratings.rows, self.ratings.of_item, self.ratings.of_worker

    def _update_items(self) -> None:
        """Posterior of the items: precision-weighted, bias-free, slope-corrected ratings."""
        weight = self.precision * self.slope
        square = self.precision * (self.slope**2 + self.slope_variance)
        if self.tail_weight is None:
            level, information = self.ratings.sum_over_items(weight * (self.m + self.bias), square)
            given = self.ratings.weigh_over_items(weight) - level
        else:
            rows, _, of_worker = self._by_rating()
            residual = rows.value - of_worker(self.m + self.bias)
            given = self.ratings.sum_by_item(self.tail_weight * of_worker(weight) * residual)
            information = self.ratings.sum_by_item(self.tail_weight * of_worker(square))
        total = 1 / self.item_variance + information
        self.u, self.v = given / total, 1 / total

    def _worker_sums(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Per worker: n, Σy, Σy², Σu, Σ(u² + v), Σyu; weighted where tails are heavy."""
        if self.tail_weight is None:
            y, squares = self.ratings.worker_sums
            u, square = self.ratings.sum_over_workers(self.u, self.u**2 + self.v)
            products = self.ratings.weigh_over_workers(self.u)
            return self.ratings.worker_counts, y, squares, u, square, products
        (rows, of_item, _), weight = self._by_rating(), self.tail_weight
        add = self.ratings.sum_by_worker
        u, square = of_item(self.u), of_item(self.u**2 + self.v)
        value = rows.value
        return (
            add(weight),
            add(weight * value),
            add(weight * value**2),
            add(weight * u),
            add(weight * square),
            add(weight * value * u),
        )

    def _update_bias(self, sums: tuple[Tensor, ...]) -> None:
        n, y, _, u, _, _ = sums
        total = 1 / self.bias_spread + n * self.precision
        self.bias = self.precision * (y - n * self.m - self.slope * u) / total
        self.bias_variance = 1 / total
        shift = (self.ratings.worker_counts * self.bias).sum() / self.ratings.n_labels
        self.bias = self.bias - shift
        self.m = self.m + shift

    def _update_slope(self, sums: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Update the slopes, and return the sums of the truths as they are stretched."""
        n, y, squares, u, square, product = sums
        total = 1 / self.slope_spread + self.precision * square
        given = product - (self.m + self.bias) * u
        self.slope = (1 / self.slope_spread + self.precision * given) / total
        self.slope_variance = 1 / total
        mean = (self.ratings.worker_counts * self.slope).sum() / self.ratings.n_labels
        factor = torch.where(mean > MIN_MEAN_SLOPE, mean, torch.ones_like(mean))
        self._stretch(factor)
        return n, y, squares, factor * u, factor**2 * square, factor * product

    def _stretch(self, factor: Tensor) -> None:
        """Give the truths a wider range and the workers lower slopes: nothing observed changes."""
        self.slope, self.slope_variance = self.slope / factor, self.slope_variance / factor**2
        self.u, self.v = self.u * factor, self.v * factor**2
        self.item_variance = self.item_variance * factor**2

    def _update_precision(self, sums: tuple[Tensor, ...]) -> None:
        n, y, squares, u, square, product = sums
        level = self.m + self.bias
        error = (
            squares
            - 2 * level * y
            + n * level**2
            - 2 * self.slope * (product - level * u)
            + n * self.bias_variance
            + (self.slope**2 + self.slope_variance) * square
        )
        self.shape = self.prior_shape + n / 2
        self.rate = self.prior_rate + torch.maximum(error, MIN_NOISE * n) / 2

    def _update_tails(self) -> None:
        """Let ratings far from what is expected count less."""
        rows, of_item, of_worker = self._by_rating()
        slope = of_worker(self.slope)
        expected = of_worker(self.m + self.bias) + slope * of_item(self.u)
        error = (
            (rows.value - expected) ** 2
            + of_worker(self.bias_variance)
            + slope**2 * of_item(self.v)
            + of_worker(self.slope_variance) * of_item(self.u**2 + self.v)
        )
        self.tail_weight = (DEGREES + 1) / (DEGREES + of_worker(self.precision) * error)

    def _update_priors(self, *, bias: bool, slope: bool) -> None:
        """Learn the priors from all items and from the workers who rated something."""
        rated, active = self.ratings.counts > 0, self.ratings.worker_counts > 0
        spread = torch.stack([((self.u**2 + self.v) * rated).sum(), rated.sum().double()])
        total, n_rated = self.ratings.parts.sum(spread)
        self.item_variance = (total / n_rated.clamp(min=1)).clamp(min=MIN_VARIANCE)
        if bias:
            self.bias_spread = _mean(self.bias**2 + self.bias_variance, active)
            self.bias_spread = self.bias_spread.clamp(min=MIN_VARIANCE)
        if slope:
            self.slope_spread = _mean((self.slope - 1) ** 2 + self.slope_variance, active)
            self.slope_spread = self.slope_spread.clamp(min=MIN_VARIANCE)
        precision = _mean(self.precision, active)
        log = _mean(torch.digamma(self.shape) - torch.log(self.rate), active)
        gap = (torch.log(precision) - log).clamp(min=1e-9)
        root = ((gap - 3) ** 2 + 24 * gap).sqrt()
        self.prior_shape = ((3 - gap + root) / (12 * gap)).clamp(MIN_SHAPE, MAX_SHAPE)
        self.prior_rate = self.prior_shape / precision


def fit(
    ratings: Ratings,
    run: Run,
    *,
    max_iter: int,
    tol: float,
    bias: bool = True,
    slope: bool = True,
    heavy_tails: bool = False,
    informed: bool = True,
) -> RatingModel:
    """Fit the model from the mean ratings.

    Parameters
    ----------
    ratings : Ratings
        The ratings; they must not all be the same.
    run : Run
        Watches the fit.
    max_iter, tol
        Most rounds, and how much no truth may move in the last one, in standard deviations of
        all ratings.
    bias, slope
        Whether workers have a bias and a slope of their own.
    heavy_tails
        Whether errors have Student's distribution.
    informed
        Whether the workers who tell most have a mean slope of 1 in the end; else all of them.

    Returns
    -------
    RatingModel
        The posterior of everything.
    """
    zeros = torch.zeros(ratings.n_workers, dtype=ratings.dtype, device=ratings.device)
    unit = torch.ones((), dtype=ratings.dtype, device=ratings.device)
    n = ratings.worker_counts
    model = RatingModel(
        ratings=ratings,
        m=unit * 0,
        u=ratings.mean,
        v=torch.full_like(ratings.mean, 0.1),
        bias=zeros,
        bias_variance=zeros,
        slope=torch.ones_like(zeros),
        slope_variance=zeros,
        shape=2 + n / 2,
        rate=(2 + n / 2) / 2,  # a precision of 2 over the variance of all ratings
        item_variance=unit * 1,
        bias_spread=unit * 0.5,
        slope_spread=unit * 0.25,
        prior_shape=unit * 2,
        prior_rate=unit * 1,
        tail_weight=torch.ones_like(ratings.values) if heavy_tails else None,
    )
    for _ in run.loop(max_iter, "Rounds"):
        before = model.truth
        model.step(bias=bias, slope=slope, heavy_tails=heavy_tails)
        moves = (model.truth - before).abs()
        change = ratings.parts.max(moves.max() if len(moves) else moves.sum())
        run.log(change=change)
        if run.settled(change, tol):
            break
    if slope and informed:
        model.anchor_to_informed()
    return model


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum() / mask.sum().clamp(min=1)
