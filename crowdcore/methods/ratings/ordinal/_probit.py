"""The ordered probit: P(y <= k) = Phi((c_k - b_w - a_w u_i) / s_w), its most likely values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from crowdcore.engine.learning.training import FullBatchLearner, FullBatchLosses, full_batch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.data import Floats
    from crowdcore.engine.ratings import Ratings
    from crowdcore.run import Run

MAX_STEPS = 20
"""More different ratings than this are grouped."""

GROUPS = 11
"""Into so many steps that occur about equally often: one far rating must not take the scale."""

FAR = 40.0
"""A cut point that lies beyond all others."""

BIAS_VARIANCE, SLOPE_VARIANCE, NOISE_VARIANCE = 0.25, 0.09, 0.5
"""Variances of the priors: of biases, and of the logarithms of slopes and noises."""

LOG_NOISE = -0.3
"""The mean of the prior of the noises' logarithms."""

CAREFUL_NOISE = 0.3
"""The noise of the careful worker whose expected rating is the truth."""

HALF_LOG_2_PI = 0.9189385332046727


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """The steps of the scale.

    Attributes
    ----------
    of_row : Tensor [L]
        The step of each rating, from 0.
    value : Tensor [K]
        The standardised rating that each step stands for.
    share : array [K]
        How often each occurs.
    notes : tuple of str
        What the result should say about them.
    """

    of_row: Tensor
    value: Tensor
    share: Floats
    notes: tuple[str, ...] = ()


def steps_of(ratings: Ratings) -> Steps:
    """Find the steps of the scale: the different ratings, or groups where these are many."""
    given = ratings.standard_by_item
    value, step = np.unique(given, return_inverse=True)
    notes: tuple[str, ...] = ()
    if len(value) > MAX_STEPS:
        edges = np.quantile(given, np.arange(1, GROUPS) / GROUPS)
        used, step = np.unique(np.searchsorted(edges, given), return_inverse=True)
        value = np.bincount(step, given) / np.bincount(step)
        notes = (
            f"The ratings have more than {MAX_STEPS} different values; they were grouped into "
            f"{len(used)} steps that occur about equally often, each standing for its mean.",
        )
    return Steps(
        of_row=ratings.tensor(step.astype(np.int64)),
        value=ratings.tensor(value, ratings.dtype),
        share=np.bincount(step) / len(step),
        notes=notes,
    )


class OrderedProbit:
    """Hidden numbers of items, cut points, and each worker's bias, slope and noise.

    Parameters
    ----------
    ratings : Ratings
        The ratings, which must not all be the same.
    steps : Steps
        Their steps.
    """

    def __init__(self, ratings: Ratings, steps: Steps) -> None:
        from scipy.special import ndtri

        self.ratings, self.steps = ratings, steps
        begun = np.exp(LOG_NOISE)
        cuts = ndtri(steps.share.cumsum()[:-1]) * np.hypot(1, begun)
        gaps = np.diff(cuts).clip(min=1e-3)
        zeros = torch.zeros_like(ratings.worker_counts)
        self.item = ratings.mean.clone()  # u [N]
        self.bias, self.log_slope = zeros.clone(), zeros.clone()  # b, log a [W]
        self.log_noise = zeros + LOG_NOISE  # log s [W]
        self.first_cut = ratings.tensor(cuts[:1], ratings.dtype)
        self.log_gaps = ratings.tensor(np.log(gaps), ratings.dtype)  # [K - 2]

    @property
    def weights(self) -> list[Tensor]:
        """All that is learnt."""
        habits = [self.bias, self.log_slope, self.log_noise]
        return [self.item, *habits, self.first_cut, self.log_gaps]

    def learn(self, run: Run, *, steps: int, rate: float) -> None:
        """Find the most likely values by Adam, all ratings in every step."""
        for weight in self.weights:
            weight.requires_grad_()
        optimiser = torch.optim.Adam(self.weights, lr=rate)

        def backward() -> FullBatchLosses:
            loss = self._negative_log_posterior() / self.ratings.n_labels
            loss.backward()  # type: ignore[no-untyped-call]
            return FullBatchLosses(loss=loss)

        full_batch(run, [FullBatchLearner(optimiser=optimiser, backward=backward)], epochs=steps)
        for weight in self.weights:
            weight.requires_grad_(False)

    def answers(self) -> tuple[Tensor, Tensor]:
        """Return the ratings that a careful worker would give [N], and their standard errors.

        The worker has no bias, and the slope that the workers who tell most share.
        """
        place = self._anchor() * self.item
        error = self._anchor() * self._information() ** -0.5
        high, low = (self._expected(place + sign * error) for sign in (1, -1))
        return self._expected(place), ((high - low) / 2).abs()

    def habits(self) -> dict[str, Tensor]:
        """Return what was learnt of the workers [W], in units of the hidden numbers."""
        return {
            "latent_bias": self.bias,
            "latent_slope": self.log_slope.exp() / self._anchor(),
            "latent_noise": self.log_noise.exp(),
        }

    def _cuts(self) -> Tensor:
        """The cut points, with one beyond either end [K + 1]."""
        inner = torch.cat([self.first_cut, self.first_cut + self.log_gaps.exp().cumsum(0)])
        far = torch.full_like(self.first_cut, FAR)
        return torch.cat([-far, inner, far])

    def _limits(self) -> tuple[Tensor, Tensor]:
        """The ends of each rating's step, as its worker sees it [L]."""
        of_item, of_worker = self.ratings.of_item, self.ratings.of_worker
        centre = of_worker(self.bias) + of_worker(self.log_slope.exp()) * of_item(self.item)
        noise, cuts = of_worker(self.log_noise.exp()), self._cuts()
        low, high = (cuts.index_select(0, self.steps.of_row + end) for end in (0, 1))
        return (low - centre) / noise, (high - centre) / noise

    def _negative_log_posterior(self) -> Tensor:
        low, high = self._limits()
        # In the lower tail differences of Phi stay exact; the upper one is mirrored.
        mirrored = low + high > 0
        low, high = torch.where(mirrored, -high, low), torch.where(mirrored, -low, high)
        log_high, log_low = torch.special.log_ndtr(high), torch.special.log_ndtr(low)
        gap = (log_low - log_high).clamp(max=-1e-9)
        log_likelihood = log_high + torch.log1p(-gap.exp())
        priors = (
            (self.item**2).sum()
            + (self.bias**2).sum() / BIAS_VARIANCE
            + (self.log_slope**2).sum() / SLOPE_VARIANCE
            + ((self.log_noise - LOG_NOISE) ** 2).sum() / NOISE_VARIANCE
        )
        loss: Tensor = -log_likelihood.sum() + priors / 2
        return loss

    def _information(self) -> Tensor:
        """The precision of each hidden number, workers taken for known [N]."""
        low, high = self._limits()
        density = [torch.exp(-(end**2) / 2 - HALF_LOG_2_PI) for end in (low, high)]
        share = (torch.special.ndtr(high) - torch.special.ndtr(low)).clamp(min=1e-9)
        # Minus the second derivative of the logarithm of Phi(high) - Phi(low).
        slope = (density[1] - density[0]) / share
        bend = (high * density[1] - low * density[0]) / share
        squared = (self.log_slope - self.log_noise).mul(2).exp()
        return 1 + self.ratings.sum_by_item(
            self.ratings.of_worker(squared) * (slope**2 + bend).clamp(min=0)
        )

    def _anchor(self) -> Tensor:
        """The slope that the workers who tell most share."""
        slope, noise = self.log_slope.exp(), self.log_noise.exp()
        weight = self.ratings.worker_counts * slope**2 / noise**2
        anchor: Tensor = (weight * slope).sum() / weight.sum().clamp(min=1e-12)
        return anchor

    def _expected(self, place: Tensor) -> Tensor:
        """The expected rating of a careful worker for hidden numbers [N]."""
        below = torch.special.ndtr((self._cuts() - place.unsqueeze(1)) / CAREFUL_NOISE)  # [N, K+1]
        expected: Tensor = below.diff(dim=1) @ self.steps.value
        return expected
