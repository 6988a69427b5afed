"""Fast Dawid-Skene (2018): Dawid-Skene with hard decisions in every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class FastDawidSkeneConfig(GoldConfig):
    """Settings of Fast Dawid-Skene."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Most iterations.")
    tol: float = Field(
        1e-4, ge=0, le=1, description="Stop when the class shares move less, summed over classes."
    )
    hybrid: bool = Field(
        False, description="Decide softly until the class shares move by less than 0.005."
    )


SOFT_UNTIL = 5e-3


@method(
    title="Fast Dawid-Skene",
    year=2018,
    paper="arXiv:1803.02781",
    config=FastDawidSkeneConfig,
)
def fds(labels: Labels, cfg: FastDawidSkeneConfig, run: Run) -> Estimate:
    """Run Dawid-Skene with one decided class per item and step, which takes few steps."""
    from crowdcore.engine import em

    generator = run.generator()
    hard = not cfg.hybrid
    posterior = em.start(labels, "votes")
    if hard:
        posterior, _ = em.decide(posterior, generator)
    prior = em.class_prior(labels, posterior)
    for _ in run.loop(cfg.max_iter, "Classification EM"):
        confusion = em.rows_of(em.given_counts(labels, posterior), 0)
        scores = em.log_scores(labels, prior, confusion)
        if hard:
            posterior, loglik = em.decide(scores, generator)  # the likelihood of the decisions
        else:
            posterior, loglik = em.normalise(labels, scores)
        before, prior = prior, em.class_prior(labels, posterior)
        run.log(loglik=loglik / labels.n_labels)
        moved = float((prior - before).abs().sum())
        if run.settled(moved, cfg.tol) and hard:
            break
        hard = hard or moved <= SOFT_UNTIL
    soft, _ = em.e_step(labels, before, confusion)
    return Estimate(posterior=soft, truth=posterior.argmax(1), confusion=confusion)
