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

MIN_GAIN_SHARE = 1e-4
"""The share of the expected gain that a step must bring (Armijo)."""

BACKTRACKING = 0.3
"""How much shorter the next try is after a step that was not taken."""

Product = Callable[["Tensor", "Tensor"], "Tensor"]
"""The inner product of two points [P]."""

Function = Callable[["Tensor"], tuple["Tensor", "Tensor"]]
"""Gives its value and its gradient [P] at a point [P]."""

Pair = tuple["Tensor", "Tensor", "Tensor"]  # step, change of the gradient, 1 / their product


def lbfgs(
    function: Function,
    point: Tensor,
    *,
    steps: int,
    curvature: Tensor,
    memory: int = 5,
    dot: Product = torch.dot,
) -> tuple[Tensor, Tensor]:
    """Minimise a function by L-BFGS.

    A step that gains too little is not taken, and the next is shorter. No number is read on the
    host, so that a GPU is never waited for.

    Parameters
    ----------
    function : callable
        From a point [P] to its value and its gradient [P]; called `steps` times and once more.
    point : Tensor [P]
        Where to begin.
    steps : int
        Number of steps.
    curvature : Tensor [P]
        A guess, above 0, of the function's second derivatives, which sets the scale of the first
        steps.
    memory : int
        Number of steps from which second derivatives are learnt.
    dot : callable
        The inner product, where a point is spread over several parts.

    Returns
    -------
    point : Tensor [P]
        A lower point.
    value : Tensor
        The function's value there.
    """
    value, gradient = function(point)
    pairs: deque[Pair] = deque(maxlen=memory)
    scale = torch.ones((), dtype=point.dtype, device=point.device)
    length = scale
    for _ in range(steps):
        step = length * _newton_direction(pairs, gradient, scale / curvature, dot)
        trial_value, trial_gradient = function(point - step)
        min_gain = MIN_GAIN_SHARE * dot(step, gradient)
        taken = trial_value <= value - min_gain  # False for a value that is not a number
        change = torch.where(taken, gradient - trial_gradient, 0.0)
        step = torch.where(taken, step, 0.0)
        product = dot(step, change)
        length_of_change = dot(change, change / curvature)
        curved = product > torch.finfo(point.dtype).eps * length_of_change
        # A step without curvature leaves an idle pair behind.
        pairs.append((step, change, torch.where(curved, 1 / product, 0.0)))
        scale = torch.where(curved, product / length_of_change, scale)
        length = torch.where(taken, torch.ones_like(length), BACKTRACKING * length)
        point = point - step
        value = torch.where(taken, trial_value, value)
        gradient = torch.where(taken, trial_gradient, gradient)
    return point, value


def conjugate_gradients(
    function: Function, point: Tensor, *, steps: int, gradient_tol: float
) -> tuple[Tensor, Tensor]:
    """Minimise a function by scipy's conjugate gradients, on the host.

    Parameters
    ----------
    function : callable
        From a point [P] to its value and its gradient [P].
    point : Tensor [P]
        Where to begin.
    steps : int
        Maximum number of steps.
    gradient_tol : float
        Stop where no entry of the gradient is larger.

    Returns
    -------
    point : Tensor [P]
    value : Tensor
    """
    from scipy.optimize import minimize

    def on_host(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = function(torch.from_numpy(x.copy()).to(point))
        return float(value), gradient.double().cpu().numpy()

    start = point.double().cpu().numpy()
    options = {"maxiter": steps}
    end = minimize(on_host, start, jac=True, method="CG", tol=gradient_tol, options=options)
    return torch.from_numpy(end.x).to(point), torch.tensor(end.fun, device=point.device)


def _newton_direction(
    pairs: deque[Pair], gradient: Tensor, inverse: Tensor, dot: Product
) -> Tensor:
    """The gradient, times the inverse second derivatives that the pairs tell of."""
    weights = []
    for step, change, inverse_product in reversed(pairs):
        weight = inverse_product * dot(step, gradient)
        weights.append(weight)
        gradient = gradient - weight * change
    gradient = inverse * gradient
    for (step, change, inverse_product), weight in zip(pairs, reversed(weights), strict=True):
        gradient = gradient + (weight - inverse_product * dot(change, gradient)) * step
    return gradient
