"""Softmax regression on soft targets, by Newton's method; logistic where there are two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from crowdcore.data import DataError

if TYPE_CHECKING:
    from torch import Tensor

MOST_CELLS = 250_000_000
"""Most second derivatives of all classes together: 2 GB."""

STEPS = 5
"""Steps that are taken with the same second derivatives, which cost far more than a step."""

SHORTER = 0.3
"""How much shorter the next try is after a step that was not taken."""

HAIR = 1e-6
"""What holds the intercepts, which the ridge leaves free."""


class SoftmaxRegression:
    """Linear logits of items [N, K], held near zero by a ridge; begins with all classes alike."""

    def __init__(self, x: Tensor, counts: Tensor, outputs: int, *, ridge: float) -> None:
        """Features x [N, D]; `counts` [N] says how much each item matters."""
        self.x = torch.cat([x.flatten(1), x.new_ones(len(x), 1)], 1).to(counts.dtype)
        self.counts = counts
        width = self.x.shape[1]
        if outputs * width**2 > MOST_CELLS:
            raise DataError(
                f"Logistic regression from {width - 1:,} features to {outputs:,} classes needs "
                f"{8 * outputs * width**2 / 2**30:.0f} GB",
                fix="Set classifier to network, or give fewer features.",
            )
        self.hold = self.x.new_full((width,), ridge).index_fill(
            0, torch.tensor([width - 1], device=x.device), HAIR
        )
        self.coefficients = self.x.new_zeros(width, outputs)  # the last row: intercepts

    def log_probabilities(self) -> Tensor:
        """What the regression thinks of every item, in logarithms [N, K]."""
        return (self.x @ self.coefficients).log_softmax(1)

    def fit(self, targets: Tensor, *, rounds: int = 1) -> None:
        """Climb towards the best coefficients for soft targets [N, K], from where it stands.

        A step that does not gain is not taken, and the next is shorter. No number is read on the
        host, so that a GPU is never waited for.
        """
        value = self._value(self.coefficients, targets)
        for _ in range(rounds):
            factor = torch.linalg.cholesky(self._curvature())
            length = torch.ones_like(value)
            for _ in range(STEPS):
                slope = self._slope(targets).T.unsqueeze(2)  # [K, D + 1, 1]
                step = torch.cholesky_solve(slope, factor).squeeze(2).T
                trial = self.coefficients + length * step
                reached = self._value(trial, targets)
                better = reached > value  # False for a value that is not a number
                self.coefficients = torch.where(better, trial, self.coefficients)
                value = torch.where(better, reached, value)
                length = torch.where(better, 1.0, SHORTER * length)

    def _value(self, coefficients: Tensor, targets: Tensor) -> Tensor:
        logs = (self.x @ coefficients).log_softmax(1)
        fits = (self.counts.unsqueeze(1) * targets * logs).sum()
        return fits - 0.5 * (self.hold.unsqueeze(1) * coefficients**2).sum()

    def _slope(self, targets: Tensor) -> Tensor:
        missed = self.counts.unsqueeze(1) * (targets - self.log_probabilities().exp())
        return self.x.T @ missed - self.hold.unsqueeze(1) * self.coefficients

    def _curvature(self) -> Tensor:
        """Minus the second derivatives of each class on its own [K, D + 1, D + 1].

        Classes push each other: K / (K - 1) times as much curvature allows for that, exactly
        where there are two classes, and on average where there are more.
        """
        shares = self.log_probabilities().exp()
        outputs = shares.shape[1]
        pushed = outputs / max(1, outputs - 1)
        spread = pushed * self.counts.unsqueeze(1) * shares * (1 - shares)
        each = [(self.x * column.unsqueeze(1)).T @ self.x for column in spread.unbind(1)]
        return torch.stack(each) + torch.diag(self.hold)
