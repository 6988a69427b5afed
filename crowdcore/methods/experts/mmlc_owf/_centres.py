"""Centres of the workers' vectors, coordinate by coordinate: candidates for the oracle worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

if TYPE_CHECKING:
    from torch import Tensor

Rule = Literal["scott", "silverman"]

GRID_POINTS = 512
"""Points between the smallest and the largest value at which a density is computed."""


def mean(values: Tensor, weight: Tensor) -> Tensor:
    """The weighted mean of values [W, E] by weights [W] -> [E]."""
    return weight @ values / weight.sum()


def median(values: Tensor, weight: Tensor) -> Tensor:
    """The weighted median: the middle between the last value of the lower and first of the upper.

    With equal weights it is the usual median.
    """
    ordered, order = values.sort(0)
    share = weight.take(order).cumsum(0) / weight.sum()
    half = 0.5
    slack = 1e-9  # sums of weights are not exact
    lower = (share < half - slack).sum(0, keepdim=True)
    upper = (share <= half + slack).sum(0, keepdim=True).clamp(max=len(values) - 1)
    return ((ordered.gather(0, lower) + ordered.gather(0, upper)) / 2).squeeze(0)


def mode(values: Tensor, weight: Tensor, rule: Rule = "scott", factor: float = 1.0) -> Tensor:
    """The peak of a Gaussian kernel density, whose bandwidth is `factor` times the rule's.

    Values are divided between the two nearest points of a grid, so that the cost does not grow
    with workers times points.
    """
    width = _bandwidth(values, weight, rule) * factor  # [E]
    low, high = values.amin(0), values.amax(0)
    step = (high - low).clamp(min=1e-12) / (GRID_POINTS - 1)
    position = (values - low) / step  # [W, E], 0 to GRID_POINTS - 1
    below = position.floor().clamp(max=GRID_POINTS - 2)
    upper_share = (position - below) * weight.unsqueeze(1)
    mass = values.new_zeros(GRID_POINTS, values.shape[1])
    mass.scatter_add_(0, below.long(), weight.unsqueeze(1) - upper_share)
    mass.scatter_add_(0, below.long() + 1, upper_share)
    grid = torch.arange(GRID_POINTS, dtype=values.dtype, device=values.device)
    squared_distance = (grid.unsqueeze(0) - grid.unsqueeze(1)).square()  # [G, G]
    precision = (step / width.clamp(min=1e-12)).square().reshape(-1, 1, 1) / 2
    kernel = torch.exp(-precision * squared_distance)  # [E, G, G]
    density = torch.bmm(kernel, mass.T.unsqueeze(2)).squeeze(2)  # [E, G]
    return low + density.argmax(1) * step


def _bandwidth(values: Tensor, weight: Tensor, rule: Rule) -> Tensor:
    """The rule's bandwidth of each coordinate [E]; weights reduce the effective number."""
    share = weight / weight.sum()
    concentration = share.square().sum()  # 1 / the effective number of workers
    squares = share @ (values - mean(values, weight)).square()
    variance = squares / (1 - concentration).clamp(min=1e-12)
    number = 1 / concentration if rule == "scott" else 0.75 / concentration
    return variance.sqrt() * number**-0.2
