"""Dirichlet distributions over the rows of a table: priors, expectations, evidence, draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels


def confusion_prior(labels: Labels, right: float, wrong: float) -> Tensor:
    """Return pseudo-counts [true, given]: `right` on the diagonal, `wrong` elsewhere."""
    eye = torch.eye(labels.n_classes, dtype=torch.float64, device=labels.device)
    return wrong + (right - wrong) * eye


def expected_log(counts: Tensor, dim: int = -1) -> Tensor:
    """Return E log p under Dirichlet(counts) along `dim`: psi(c) - psi(sum c)."""
    return torch.digamma(counts) - torch.digamma(counts.sum(dim, keepdim=True))


def log_beta(counts: Tensor, dim: int = -1) -> Tensor:
    """Return the log of the Dirichlet's normaliser along `dim`, which is summed over."""
    return torch.lgamma(counts).sum(dim) - torch.lgamma(counts.sum(dim))


def log_evidence(prior: Tensor, counts: Tensor, dim: int = -1) -> Tensor:
    """Return the log-probability of drawing counts where the distribution is integrated out.

    Parameters
    ----------
    prior : Tensor
        Pseudo-counts: one number for all, or with fewer leading axes than the counts; `dim` then
        counts from the end.
    counts : Tensor
        What was drawn.
    dim : int
        The axis of the distributions, which is summed over.

    Returns
    -------
    Tensor
    """
    before = log_beta(prior, dim) if prior.dim() else log_beta(prior.expand(counts.shape[dim]))
    return log_beta(prior + counts, dim) - before


def elbo_term(prior: Tensor, counts: Tensor, log_table: Tensor) -> Tensor:
    """Return what to add to the E step's log total, per table of rows, to get the lower bound.

    Parameters
    ----------
    prior : Tensor
        Pseudo-counts of the rows.
    counts : Tensor [..., K]
        Soft counts of the rows.
    log_table : Tensor [..., K]
        The `expected_log` of prior + counts, which the E step used.

    Returns
    -------
    Tensor
        Minus the divergence of the rows' distributions from their prior.
    """
    return log_evidence(prior, counts).sum() - (counts * log_table).sum()


def draw(counts: Tensor, generator: torch.Generator | None) -> Tensor:
    """Draw one distribution for each row of Dirichlet counts [..., K]."""
    gamma: Tensor = torch._standard_gamma(counts, generator=generator)
    tiny = torch.finfo(counts.dtype).tiny
    gamma = gamma.clamp(min=tiny)
    return gamma / gamma.sum(-1, keepdim=True)
