"""Dirichlet distributions over the rows of a table: priors, expectations, evidence, draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels


def confusion_prior(labels: Labels, right: float, wrong: float) -> Tensor:
    """Pseudo-counts [true, given]: `right` on the diagonal, `wrong` elsewhere."""
    eye = torch.eye(labels.n_classes, dtype=torch.float64, device=labels.device)
    return wrong + (right - wrong) * eye


def expected_log(counts: Tensor, dim: int = -1) -> Tensor:
    """E log p under Dirichlet(counts) along `dim`: psi(c) - psi(sum c)."""
    return torch.digamma(counts) - torch.digamma(counts.sum(dim, keepdim=True))


def log_beta(counts: Tensor, dim: int = -1) -> Tensor:
    """The log of the Dirichlet's normaliser along `dim`, which goes."""
    return torch.lgamma(counts).sum(dim) - torch.lgamma(counts.sum(dim))


def log_evidence(prior: Tensor, counts: Tensor, dim: int = -1) -> Tensor:
    """Log-probability of drawing `counts` along `dim` where the distribution is integrated out.

    The prior is one number for all, or has fewer leading axes; `dim` then counts from the end.
    """
    before = log_beta(prior, dim) if prior.dim() else log_beta(prior.expand(counts.shape[dim]))
    return log_beta(prior + counts, dim) - before


def slack(prior: Tensor, counts: Tensor, log_table: Tensor) -> Tensor:
    """What to add to the E step's log total, for each table of rows, to get the lower bound.

    `log_table` is the `expected_log` of prior + counts; the sum is minus the divergence of the
    rows' distributions from their prior.
    """
    return log_evidence(prior, counts).sum() - (counts * log_table).sum()


def draw(counts: Tensor, generator: torch.Generator | None) -> Tensor:
    """One draw of each row's distribution; `counts` are the Dirichlet's."""
    gamma: Tensor = torch._standard_gamma(counts, generator=generator)
    tiny = torch.finfo(counts.dtype).tiny
    gamma = gamma.clamp(min=tiny)
    return gamma / gamma.sum(-1, keepdim=True)
