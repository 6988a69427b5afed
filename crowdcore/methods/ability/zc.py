"""ZenCrowd (2012): one reliability per worker, fitted by EM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.needs import CLASSES_OR_TOKENS, Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class ZenCrowdConfig(GoldConfig):
    """Settings of ZenCrowd."""

    max_iter: int = Field(20, ge=1, le=10_000, description="Maximum number of EM iterations.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when the mean log-likelihood per label gains less."
    )
    reliability: float = Field(
        0.8, gt=0, lt=1, description="Probability that a worker is right, at the start."
    )
    class_prior: bool = Field(
        False, description="Also learn how common the classes are, instead of taking them as equal."
    )


MARGIN = 1e-6
"""Reliabilities stay so far from 0 and 1."""


@method(
    title="ZenCrowd",
    year=2012,
    paper="doi:10.1145/2187836.2187900",
    config=ZenCrowdConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def zc(labels: Labels, cfg: ZenCrowdConfig, run: Run) -> ClassEstimate:
    """Learn one reliability per worker; errors fall evenly on the other classes."""
    import torch

    from crowdcore.engine import em
    from crowdcore.engine.squarem import Squarem

    size, device = labels.n_workers, labels.device
    reliability = torch.full((size,), cfg.reliability, dtype=labels.dtype, device=device)
    has_labels = labels.worker_counts > 0
    if labels.warm_start is not None:
        hits = labels.hits(labels.warm_start) / labels.worker_counts
        reliability = torch.where(has_labels, hits, reliability).clamp(MARGIN, 1 - MARGIN)
    prior = torch.full((labels.n_classes,), 1 / labels.n_classes, device=device).double()
    squarem = Squarem(enabled=labels.warm_start is not None)
    for _ in run.loop(cfg.max_iter, "EM"):
        confusion = em.one_coin_confusion(reliability, labels.n_classes)
        posterior, log_likelihood = em.e_step(labels, prior, confusion)
        extrapolated = squarem.extrapolated  # the reliability that this posterior comes from
        hits = labels.hits(posterior) / labels.worker_counts
        reliability = squarem.next(torch.where(has_labels, hits, reliability), log_likelihood)
        reliability = reliability.clamp(MARGIN, 1 - MARGIN)
        if cfg.class_prior:
            prior = em.class_prior(labels, posterior)
        run.log(loglik=log_likelihood / labels.n_labels)
        if run.plateaued("loglik", cfg.tol) and not extrapolated:
            break
    return ClassEstimate(posterior=posterior, worker_scores={"reliability": reliability})
