"""Dawid-Skene (1979): one confusion matrix per worker, fitted by EM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class DawidSkeneConfig(GoldConfig):
    """Settings of Dawid-Skene."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Most EM iterations.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when a label's mean log-likelihood gains less."
    )
    smoothing: float = Field(
        0.01, ge=0, le=10, description="Labels added to each confusion cell, against zeros."
    )
    start: Literal["votes", "quality"] = Field(
        "votes",
        description="Begin from the vote shares, or from workers who are right in 70 % of cases.",
    )


@method(
    title="Dawid-Skene",
    year=1979,
    paper="doi:10.2307/2346806",
    config=DawidSkeneConfig,
)
def ds(labels: Labels, cfg: DawidSkeneConfig, run: Run) -> Estimate:
    """Learn how each worker confuses the classes, and weigh their labels accordingly."""
    from crowdcore.engine import em

    posterior, loglik = em.start(labels, cfg.start), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "EM"):
        counts, totals = tally.count(posterior, loglik)
        prior = totals / totals.sum()  # eq. 2.4
        confusion = em.rows_of(counts, cfg.smoothing)  # eq. 2.3
        posterior, loglik = em.e_step(labels, prior, confusion, posterior)  # eq. 2.5
        run.log(loglik=loglik / labels.n_labels)
        if run.plateaued("loglik", cfg.tol) and not tally.leapt:
            break
    return Estimate(posterior=posterior, confusion=confusion)
