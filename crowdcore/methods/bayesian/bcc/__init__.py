"""Bayesian classifier combination (2012), by Gibbs sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.artefacts.confusion_interval import ConfusionInterval
from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class SampledConfig(GoldConfig):
    """Settings of Bayesian classifier combination by sampling."""

    burn_in: int = Field(
        200, ge=0, le=100_000, description="Sweeps that are discarded while the chain converges."
    )
    samples: int = Field(800, ge=2, le=100_000, description="Number of sweeps that are kept.")
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
    level: float = Field(
        0.95, ge=0.5, le=0.999, description="Probability that an interval holds the true value."
    )
    tol: float = Field(
        0.01,
        ge=0,
        le=1,
        description="The chain counts as converged when the probabilities of its two halves "
        "differ by less on average.",
    )


@method(
    title="Bayesian classifier combination, sampled (BCC)",
    year=2012,
    paper="Kim and Ghahramani, AISTATS 2012",
    config=SampledConfig,
    quick={"burn_in": 30, "samples": 120},
    leaves=[ConfusionInterval],
    excuses={
        "renaming": "Every worker and item has random draws of their own, which follow the codes.",
    },
)
def bcc(labels: Labels, cfg: SampledConfig, run: Run) -> ClassEstimate:
    """Sample truths and confusion matrices in turn, which gives every matrix an interval."""
    import torch

    from crowdcore.engine import dirichlet, em
    from crowdcore.methods.bayesian.bcc._quantiles import ThinnedDraws

    prior = dirichlet.confusion_prior(labels, cfg.right, cfg.wrong)
    generator = run.generator()
    drawn = em.initial_posterior(labels, "votes")  # the first sweep counts softly

    def sweep() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        counts = prior + em.given_counts(labels, drawn)  # [W, true, given]
        confusion = dirichlet.draw(counts, generator)
        class_prior = dirichlet.draw(1.0 + em.class_totals(labels, drawn), generator)
        posterior, log_likelihood = em.e_step(labels, class_prior, confusion)
        run.log(loglik=log_likelihood / labels.n_labels)
        return posterior, em.draw_classes(posterior, generator), confusion, counts

    for _ in run.loop(cfg.burn_in, "Burn-in"):
        _, drawn, _, _ = sweep()
    halves = [torch.zeros_like(drawn), torch.zeros_like(drawn)]
    matrix = torch.zeros((labels.n_workers, *prior.shape), dtype=prior.dtype, device=labels.device)
    kept = ThinnedDraws(cfg.samples, matrix.shape, labels.device)
    for step in run.loop(cfg.samples, "Sampling"):
        chance, drawn, confusion, counts = sweep()
        halves[2 * step >= cfg.samples] += chance  # their mean is less noisy than that of draws
        matrix += counts / counts.sum(2, keepdim=True)
        kept.add(step, confusion)
        if step == cfg.samples - 1:
            n_first = (cfg.samples + 1) // 2
            difference = halves[0] / n_first - halves[1] / (cfg.samples - n_first)
            run.settled(difference.abs().mean(), cfg.tol)
    posterior = (halves[0] + halves[1]) / cfg.samples
    tail = (1 - cfg.level) / 2
    interval = []
    if kept.kept:
        low, high = kept.quantile(tail), kept.quantile(1 - tail)
        interval = [ConfusionInterval(low=low, high=high)]
    note = "There are too many workers and classes to keep draws for intervals of their matrices."
    return ClassEstimate(
        posterior=posterior,
        confusion=matrix / cfg.samples,
        artefacts=interval,
        notes=() if interval else (note,),
    )
