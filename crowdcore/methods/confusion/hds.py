"""Homogeneous Dawid-Skene: errors are spread evenly over the other classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class HomogeneousConfig(GoldConfig):
    """Settings of Homogeneous Dawid-Skene."""

    accuracy: Literal["per class", "per worker"] = Field(
        "per class",
        description="One accuracy for each worker and class (what the published code does), or "
        "one for each worker (what the published text says).",
    )
    max_iter: int = Field(20, ge=1, le=10_000, description="Most EM iterations.")
    tol: float = Field(
        1e-4, ge=0, le=1, description="Stop when the log-likelihood gains a smaller share."
    )
    smoothing: float = Field(
        0.01, ge=0, le=10, description="Labels added to each confusion cell, against zeros."
    )


@method(
    title="Homogeneous Dawid-Skene",
    year=2014,
    paper="Li and Yu, arXiv:1411.4086",
    config=HomogeneousConfig,
)
def hds(labels: Labels, cfg: HomogeneousConfig, run: Run) -> Estimate:
    """Learn how often each worker is right, in each class, with all errors alike."""
    import torch

    from crowdcore.engine import em

    posterior, loglik = em.start(labels, "quality"), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "EM"):
        counts, totals = tally.count(posterior, loglik)
        prior, counts = totals / totals.sum(), counts + cfg.smoothing
        hits, total = counts.diagonal(dim1=1, dim2=2), counts.sum(2)
        if cfg.accuracy == "per worker":
            hits, total = hits.sum(1, keepdim=True), total.sum(1, keepdim=True)
        right = hits / total.clamp(min=em.FLOOR)
        # A row that a worker never met is a guess, as in `em.rows_of`.
        right = torch.where(total > em.FLOOR, right, 1 / labels.n_classes)
        right = right.expand(-1, labels.n_classes)
        confusion = em.one_coin(right, labels.n_classes)
        posterior, loglik = em.e_step(labels, prior, confusion, posterior)
        run.log(loglik=loglik / labels.n_labels)
        if run.plateaued("loglik", cfg.tol, relative=True) and not tally.leapt:
            break
    return Estimate(posterior=posterior, confusion=confusion)
