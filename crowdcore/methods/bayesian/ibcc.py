"""Independent Bayesian classifier combination (2012), by mean field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class IndependentConfig(GoldConfig):
    """Settings of independent Bayesian classifier combination."""

    right: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Labels that every worker is thought to have got right, in each class.",
    )
    wrong: float = Field(
        1.0,
        gt=0,
        le=1000,
        description="Labels that every worker is thought to have given to each other class.",
    )
    class_prior: float = Field(
        1.0, gt=0, le=1000, description="Items of each class that are thought to have been seen."
    )
    max_iter: int = Field(500, ge=1, le=10_000, description="Most sweeps.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop when no probability of any item moves by more."
    )


@method(
    title="Bayesian classifier combination (iBCC)",
    year=2012,
    paper="Kim and Ghahramani, AISTATS 2012; Simpson et al., doi:10.1007/978-3-642-36406-8_1",
    config=IndependentConfig,
)
def ibcc(labels: Labels, cfg: IndependentConfig, run: Run) -> Estimate:
    """Learn each worker's confusion matrix and how unsure it is, by variational Bayes."""
    from crowdcore.engine import dirichlet, em

    prior = dirichlet.confusion_prior(labels, cfg.right, cfg.wrong)
    posterior, bound = em.start(labels, "votes"), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts, classes = tally.count(posterior, bound)
        counts = counts.double()  # [W, true, given]
        log_confusion = dirichlet.expected_log(prior + counts)
        log_prior = dirichlet.expected_log(cfg.class_prior + classes)
        before = posterior
        posterior, total = em.e_step_of_logs(labels, log_prior, log_confusion)
        bound = total + dirichlet.slack(prior, counts, log_confusion)
        bound += dirichlet.slack(prior.new_full((), cfg.class_prior), classes, log_prior)
        run.log(elbo=bound / labels.n_labels)
        if run.settled(em.largest_move(before, posterior), cfg.tol) and not tally.leapt:
            break
    counts += prior
    return Estimate(posterior=posterior, confusion=counts / counts.sum(2, keepdim=True))
