"""Homogeneous Dawid-Skene: errors are spread evenly over the other classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.needs import CLASSES_OR_TOKENS, Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class HomogeneousConfig(GoldConfig):
    """Settings of Homogeneous Dawid-Skene."""

    accuracy: Literal["per class", "per worker"] = Field(
        "per class",
        description="One accuracy for each worker and class (what the published code does), or "
        "one for each worker (what the published text says).",
    )
    max_iter: int = Field(20, ge=1, le=10_000, description="Maximum number of EM iterations.")
    tol: float = Field(
        1e-4,
        ge=0,
        le=1,
        description="Stop when the log-likelihood gains a smaller share of itself.",
    )
    smoothing: float = Field(
        0.01,
        ge=0,
        le=10,
        description="Labels added to each cell of a confusion matrix, against zeros.",
    )


@method(
    title="Homogeneous Dawid-Skene",
    year=2014,
    paper="Li and Yu, arXiv:1411.4086",
    config=HomogeneousConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def hds(labels: Labels, cfg: HomogeneousConfig, run: Run) -> ClassEstimate:
    """Learn how often each worker is right in each class; errors fall evenly on the others."""
    import torch

    from crowdcore.engine import em

    posterior, log_likelihood = em.initial_posterior(labels, "quality"), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "EM"):
        counts, totals = tally.count(posterior, log_likelihood)
        prior, counts = totals / totals.sum(), counts + cfg.smoothing
        hits, total = counts.diagonal(dim1=1, dim2=2), counts.sum(2)
        if cfg.accuracy == "per worker":
            hits, total = hits.sum(1, keepdim=True), total.sum(1, keepdim=True)
        accuracy = hits / total.clamp(min=em.MIN_PROBABILITY)
        # A row that a worker never met is a guess, as in `em.normalise_rows`.
        accuracy = torch.where(total > em.MIN_PROBABILITY, accuracy, 1 / labels.n_classes)
        accuracy = accuracy.expand(-1, labels.n_classes)
        confusion = em.one_coin_confusion(accuracy, labels.n_classes)
        posterior, log_likelihood = em.e_step(labels, prior, confusion, posterior)
        run.log(loglik=log_likelihood / labels.n_labels)
        if run.plateaued("loglik", cfg.tol, relative=True) and not tally.extrapolated:
            break
    return ClassEstimate(posterior=posterior, confusion=confusion)
