"""Dawid-Skene (1979): one confusion matrix per worker, fitted by EM."""

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


class DawidSkeneConfig(GoldConfig):
    """Settings of Dawid-Skene."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of EM iterations.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when the mean log-likelihood per label gains less."
    )
    smoothing: float = Field(
        0.01,
        ge=0,
        le=10,
        description="Labels added to each cell of a confusion matrix, against zeros.",
    )
    start: Literal["votes", "quality"] = Field(
        "votes",
        description="Start from the vote shares, or from workers who are right in 70 % of cases.",
    )


@method(
    title="Dawid-Skene",
    year=1979,
    paper="doi:10.2307/2346806",
    config=DawidSkeneConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def ds(labels: Labels, cfg: DawidSkeneConfig, run: Run) -> ClassEstimate:
    """Learn each worker's confusion matrix, and weigh their labels accordingly."""
    from crowdcore.engine import em

    posterior, log_likelihood = em.initial_posterior(labels, cfg.start), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "EM"):
        counts, totals = tally.count(posterior, log_likelihood)
        prior = totals / totals.sum()  # eq. 2.4
        confusion = em.normalise_rows(counts, cfg.smoothing)  # eq. 2.3
        posterior, log_likelihood = em.e_step(labels, prior, confusion, posterior)  # eq. 2.5
        run.log(loglik=log_likelihood / labels.n_labels)
        if run.plateaued("loglik", cfg.tol) and not tally.extrapolated:
            break
    return ClassEstimate(posterior=posterior, confusion=confusion)
