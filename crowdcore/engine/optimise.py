"""Minimise a smooth function of very many numbers: by L-BFGS, or by conjugate gradients."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

ENOUGH = 1e-4
"""The share of the expected gain that a step must bring (Armijo)."""

SHORTER = 0.3
"""How much shorter the next try is after a step that was not taken."""

Function = Callable[["Tensor"], tuple["Tensor", "Tensor"]]
"""Gives its value and its gradient [P] at a point [P]."""

Pair = tuple["Tensor", "Tensor", "Tensor"]  # step, change of the gradient, 1 / their product


def descend(
    function: Function,
    point: Tensor,
    *,
    steps: int,
    curvature: Tensor,
    memory: int = 5,
) -> tuple[Tensor, Tensor]:
    """Return a lower point [P] and its value, after `steps` calls of the function and one.

    `curvature` [P] > 0 is a guess of the function's second derivatives, which sets the scale
    of the first steps. A step that gains too little is not taken, and the next is shorter. No
    number is read on the host, so that a GPU is never waited for.
    """
    value, slope = function(point)
    pairs: deque[Pair] = deque(maxlen=memory)
    scale = torch.ones((), dtype=point.dtype, device=point.device)
    length = scale
    for _ in range(steps):
        direction = _newton(pairs, slope, scale / curvature)
        step = length * direction
        trial_value, trial_slope = function(point - step)
        gain = ENOUGH * (step @ slope)
        taken = trial_value <= value - gain  # False for a value that is not a number
        bend = torch.where(taken, slope - trial_slope, 0.0)
        step = torch.where(taken, step, 0.0)
        product = step @ bend
        curved = product > torch.finfo(point.dtype).eps * (bend @ (bend / curvature))
        # A step without curvature leaves an idle pair behind.
        pairs.append((step, bend, torch.where(curved, 1 / product, 0.0)))
        scale = torch.where(curved, product / (bend @ (bend / curvature)), scale)
        length = torch.where(taken, torch.ones_like(length), SHORTER * length)
        point = point - step
        value = torch.where(taken, trial_value, value)
        slope = torch.where(taken, trial_slope, slope)
    return point, value


def conjugate(
    function: Function, point: Tensor, *, steps: int, flat: float
) -> tuple[Tensor, Tensor]:
    """Return the point [P] that scipy's conjugate gradients reach, and its value.

    They stop after so many steps, or where no slope is steeper than `flat`.
    """
    from scipy.optimize import minimize

    def both(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = function(torch.from_numpy(at.copy()).to(point))
        return float(value), slope.double().cpu().numpy()

    start = point.double().cpu().numpy()
    found = minimize(both, start, jac=True, method="CG", tol=flat, options={"maxiter": steps})
    return torch.from_numpy(found.x).to(point), torch.tensor(found.fun, device=point.device)


def _newton(pairs: deque[Pair], slope: Tensor, inverse: Tensor) -> Tensor:
    """The gradient, times the inverse second derivatives that the pairs tell of."""
    weights = []
    for step, bend, share in reversed(pairs):
        weight = share * (step @ slope)
        weights.append(weight)
        slope = slope - weight * bend
    slope = inverse * slope
    for (step, bend, share), weight in zip(pairs, reversed(weights), strict=True):
        slope = slope + (weight - share * (bend @ slope)) * step
    return slope
