"""Centres of a cloud of workers, coordinate by coordinate: where the oracle worker is sought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

if TYPE_CHECKING:
    from torch import Tensor

Rule = Literal["scott", "silverman"]

GRID = 512
"""Places between the least and the largest value where a density is looked at."""


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

    Values are shared out between the two nearest places of a grid, so that the cost does not
    grow with workers times places.
    """
    width = _bandwidth(values, weight, rule) * factor  # [E]
    low, high = values.amin(0), values.amax(0)
    step = (high - low).clamp(min=1e-12) / (GRID - 1)
    at = (values - low) / step  # [W, E], 0 to GRID - 1
    below = at.floor().clamp(max=GRID - 2)
    part = (at - below) * weight.unsqueeze(1)
    mass = values.new_zeros(GRID, values.shape[1])
    mass.scatter_add_(0, below.long(), weight.unsqueeze(1) - part)
    mass.scatter_add_(0, below.long() + 1, part)
    place = torch.arange(GRID, dtype=values.dtype, device=values.device)
    apart = (place.unsqueeze(0) - place.unsqueeze(1)).square()  # [GRID, GRID]
    narrow = (step / width.clamp(min=1e-12)).square().reshape(-1, 1, 1) / 2
    density = torch.bmm(torch.exp(-narrow * apart), mass.T.unsqueeze(2)).squeeze(2)  # [E, GRID]
    return low + density.argmax(1) * step


def _bandwidth(values: Tensor, weight: Tensor, rule: Rule) -> Tensor:
    """The rule's bandwidth of each coordinate [E]; weights reduce the effective number."""
    share = weight / weight.sum()
    together = share.square().sum()  # 1 / the effective number of workers
    spread = share @ (values - mean(values, weight)).square() / (1 - together).clamp(min=1e-12)
    number = 1 / together if rule == "scott" else 0.75 / together
    return spread.sqrt() * number**-0.2
