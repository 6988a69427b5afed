"""ZenCrowd (2012): one reliability per worker, fitted by EM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class ZenCrowdConfig(GoldConfig):
    """Settings of ZenCrowd."""

    max_iter: int = Field(20, ge=1, le=10_000, description="Most EM iterations.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when a label's mean log-likelihood gains less."
    )
    reliability: float = Field(
        0.8, gt=0, lt=1, description="How often a worker is thought to be right at the start."
    )
    class_prior: bool = Field(
        False, description="Also estimate how common the classes are, instead of equally so."
    )


EDGE = 1e-6


@method(
    title="ZenCrowd",
    year=2012,
    paper="doi:10.1145/2187836.2187900",
    config=ZenCrowdConfig,
)
def zc(labels: Labels, cfg: ZenCrowdConfig, run: Run) -> Estimate:
    """Learn one reliability per worker; errors fall on the other classes evenly."""
    import torch

    from crowdcore.engine import em
    from crowdcore.engine.leaps import Leaps

    size, device = labels.n_workers, labels.device
    reliability = torch.full((size,), cfg.reliability, dtype=labels.dtype, device=device)
    seen = labels.worker_counts > 0
    if labels.warm is not None:
        hits = labels.hits(labels.warm) / labels.worker_counts
        reliability = torch.where(seen, hits, reliability).clamp(EDGE, 1 - EDGE)
    prior = torch.full((labels.n_classes,), 1 / labels.n_classes, device=device).double()
    leaps = Leaps(on=labels.warm is not None)
    for _ in run.loop(cfg.max_iter, "EM"):
        confusion = em.one_coin(reliability, labels.n_classes)
        posterior, loglik = em.e_step(labels, prior, confusion)
        leapt = leaps.leapt  # to the reliability that this posterior comes of
        hits = labels.hits(posterior) / labels.worker_counts
        reliability = leaps.next(torch.where(seen, hits, reliability), loglik)
        reliability = reliability.clamp(EDGE, 1 - EDGE)
        if cfg.class_prior:
            prior = em.class_prior(labels, posterior)
        run.log(loglik=loglik / labels.n_labels)
        if run.plateaued("loglik", cfg.tol) and not leapt:
            break
    return Estimate(posterior=posterior, worker_scores={"reliability": reliability})
