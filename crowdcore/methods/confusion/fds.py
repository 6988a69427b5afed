"""Fast Dawid-Skene (2018): Dawid-Skene with hard decisions in every step."""

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


class FastDawidSkeneConfig(GoldConfig):
    """Settings of Fast Dawid-Skene."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of iterations.")
    tol: float = Field(
        1e-4,
        ge=0,
        le=1,
        description="Stop when the class shares move by less, summed over classes.",
    )
    hybrid: bool = Field(
        False, description="Decide softly until the class shares move by less than 0.005."
    )


SOFT_UNTIL_CHANGE = 5e-3
"""The hybrid decides hard once the class shares move by no more."""


@method(
    title="Fast Dawid-Skene",
    year=2018,
    paper="arXiv:1803.02781",
    config=FastDawidSkeneConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    excuses={
        "fake_cuda": "Whether to decide softly or hard depends on numbers in every step.",
    },
    spreads=True,
)
def fds(labels: Labels, cfg: FastDawidSkeneConfig, run: Run) -> ClassEstimate:
    """Run Dawid-Skene with one decided class per item in every step, which takes few steps."""
    from crowdcore.engine import em

    generator = run.generator()
    hard = not cfg.hybrid
    posterior = em.initial_posterior(labels, "votes")
    if hard:
        posterior, _ = em.hard_assign(labels, posterior, generator)
    prior = em.class_prior(labels, posterior)
    for _ in run.loop(cfg.max_iter, "Classification EM"):
        confusion = em.normalise_rows(em.given_counts(labels, posterior), 0)
        scores = em.log_scores(labels, prior, confusion)
        if hard:
            posterior, log_likelihood = em.hard_assign(
                labels, scores, generator
            )  # the likelihood of the decisions
        else:
            posterior, log_likelihood = em.normalise(labels, scores)
        before, prior = prior, em.class_prior(labels, posterior)
        run.log(loglik=log_likelihood / labels.n_labels)
        change = float((prior - before).abs().sum())
        if run.settled(change, cfg.tol) and hard:
            break
        hard = hard or change <= SOFT_UNTIL_CHANGE
    soft, _ = em.e_step(labels, before, confusion)
    return ClassEstimate(posterior=soft, truth=posterior.argmax(1), confusion=confusion)
