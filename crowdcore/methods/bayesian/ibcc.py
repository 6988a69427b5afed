"""Independent Bayesian classifier combination (2012), by mean field."""

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


class IndependentConfig(GoldConfig):
    """Settings of independent Bayesian classifier combination."""

    right: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Prior number of right labels per worker and class.",
    )
    wrong: float = Field(
        1.0,
        gt=0,
        le=1000,
        description="Prior number of wrong labels per worker, class and other class.",
    )
    class_prior: float = Field(1.0, gt=0, le=1000, description="Prior number of items per class.")
    max_iter: int = Field(500, ge=1, le=10_000, description="Maximum number of sweeps.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop when no item's probabilities move by more."
    )


@method(
    title="Bayesian classifier combination (iBCC)",
    year=2012,
    paper="Kim and Ghahramani, AISTATS 2012; Simpson et al., doi:10.1007/978-3-642-36406-8_1",
    config=IndependentConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def ibcc(labels: Labels, cfg: IndependentConfig, run: Run) -> ClassEstimate:
    """Learn each worker's confusion matrix with its uncertainty, by variational Bayes."""
    from crowdcore.engine import dirichlet, em

    prior = dirichlet.confusion_prior(labels, cfg.right, cfg.wrong)
    posterior, bound = em.initial_posterior(labels, "votes"), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts, totals = tally.count(posterior, bound)
        counts = counts.double()  # [W, true, given]
        log_confusion = dirichlet.expected_log(prior + counts)
        log_prior = dirichlet.expected_log(cfg.class_prior + totals)
        before = posterior
        posterior, log_total = em.e_step_from_logs(labels, log_prior, log_confusion)
        bound = log_total + dirichlet.elbo_term(prior, counts, log_confusion)
        bound += dirichlet.elbo_term(prior.new_full((), cfg.class_prior), totals, log_prior)
        run.log(elbo=bound / labels.n_labels)
        if (
            run.settled(em.max_change(labels, before, posterior), cfg.tol)
            and not tally.extrapolated
        ):
            break
    counts += prior
    return ClassEstimate(posterior=posterior, confusion=counts / counts.sum(2, keepdim=True))
