"""Softmax regression on soft targets, by Newton's method; logistic where there are two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from crowdcore.data import DataError

if TYPE_CHECKING:
    from torch import Tensor

MAX_CURVATURE_NUMBERS = 250_000_000
"""Second derivatives of all classes together: 2 GB."""

STEPS_PER_CURVATURE = 5
"""Steps that are taken with the same second derivatives, which cost far more than a step."""

BACKTRACKING = 0.3
"""How much shorter the next try is after a step that was not taken."""

INTERCEPT_RIDGE = 1e-6
"""What holds the intercepts, which the ridge leaves free."""


class SoftmaxRegression:
    """Linear logits of items [N, K], held near zero by a ridge; begins with all classes alike."""

    def __init__(self, x: Tensor, counts: Tensor, outputs: int, *, ridge: float) -> None:
        """Features x [N, D]; `counts` [N] says how much each item matters."""
        self.x = torch.cat([x.flatten(1), x.new_ones(len(x), 1)], 1).to(counts.dtype)
        self.counts = counts
        width = self.x.shape[1]
        if outputs * width**2 > MAX_CURVATURE_NUMBERS:
            raise DataError(
                f"Logistic regression from {width - 1:,} features to {outputs:,} classes needs "
                f"{8 * outputs * width**2 / 2**30:.0f} GB",
                fix="Set classifier to network, or give fewer features.",
            )
        self.ridge = self.x.new_full((width,), ridge).index_fill(
            0, torch.tensor([width - 1], device=x.device), INTERCEPT_RIDGE
        )
        self.coefficients = self.x.new_zeros(width, outputs)  # the last row: intercepts

    def log_probabilities(self) -> Tensor:
        """Log-probabilities of every item's classes [N, K]."""
        return (self.x @ self.coefficients).log_softmax(1)

    def fit(self, targets: Tensor, *, rounds: int = 1) -> None:
        """Move the coefficients towards the best ones for soft targets [N, K].

        A step that does not gain is not taken, and the next is shorter. No number is read on the
        host, so that a GPU is never waited for.
        """
        value = self._value(self.coefficients, targets)
        for _ in range(rounds):
            factor = torch.linalg.cholesky(self._curvature())
            length = torch.ones_like(value)
            for _ in range(STEPS_PER_CURVATURE):
                gradient = self._gradient(targets).T.unsqueeze(2)  # [K, D + 1, 1]
                step = torch.cholesky_solve(gradient, factor).squeeze(2).T
                trial = self.coefficients + length * step
                trial_value = self._value(trial, targets)
                better = trial_value > value  # False for a value that is not a number
                self.coefficients = torch.where(better, trial, self.coefficients)
                value = torch.where(better, trial_value, value)
                length = torch.where(better, 1.0, BACKTRACKING * length)

    def _value(self, coefficients: Tensor, targets: Tensor) -> Tensor:
        logs = (self.x @ coefficients).log_softmax(1)
        log_likelihood = (self.counts.unsqueeze(1) * targets * logs).sum()
        return log_likelihood - 0.5 * (self.ridge.unsqueeze(1) * coefficients**2).sum()

    def _gradient(self, targets: Tensor) -> Tensor:
        residual = self.counts.unsqueeze(1) * (targets - self.log_probabilities().exp())
        return self.x.T @ residual - self.ridge.unsqueeze(1) * self.coefficients

    def _curvature(self) -> Tensor:
        """Minus the second derivatives of each class on its own [K, D + 1, D + 1].

        Classes push each other: K / (K - 1) times as much curvature allows for that, exactly
        where there are two classes, and on average where there are more.
        """
        shares = self.log_probabilities().exp()
        outputs = shares.shape[1]
        factor = outputs / max(1, outputs - 1)
        weights = factor * self.counts.unsqueeze(1) * shares * (1 - shares)
        each = [(self.x * column.unsqueeze(1)).T @ self.x for column in weights.unbind(1)]
        return torch.stack(each) + torch.diag(self.ridge)
