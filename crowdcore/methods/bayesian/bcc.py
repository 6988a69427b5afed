"""Bayesian classifier combination (2012), by Gibbs sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class SampledConfig(GoldConfig):
    """Settings of Bayesian classifier combination by sampling."""

    burn_in: int = Field(
        200, ge=0, le=100_000, description="Sweeps that are thrown away while the chain settles."
    )
    samples: int = Field(800, ge=2, le=100_000, description="Sweeps that are kept.")
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
    level: float = Field(
        0.95, ge=0.5, le=0.999, description="Probability that an interval holds the true value."
    )
    tol: float = Field(
        0.01,
        ge=0,
        le=1,
        description="The chain counts as converged when its two halves differ by less, in the "
        "mean over all probabilities.",
    )


@method(
    title="Bayesian classifier combination, sampled (BCC)",
    year=2012,
    paper="Kim and Ghahramani, AISTATS 2012",
    config=SampledConfig,
    quick={"burn_in": 30, "samples": 120},
)
def bcc(labels: Labels, cfg: SampledConfig, run: Run) -> Estimate:
    """Sample truths and confusion matrices in turn, which gives each matrix an interval."""
    import torch

    from crowdcore.engine import dirichlet, em
    from crowdcore.engine.samples import Thinned

    prior = dirichlet.confusion_prior(labels, cfg.right, cfg.wrong)
    generator = run.generator()
    drawn = em.start(labels, "votes")  # the first sweep counts in parts

    def sweep() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        counts = prior + em.given_counts(labels, drawn)  # [W, true, given]
        confusion = dirichlet.draw(counts, generator)
        classes = dirichlet.draw(1.0 + em.class_totals(labels, drawn), generator)
        chance, loglik = em.e_step(labels, classes, confusion)
        run.log(loglik=loglik / labels.n_labels)
        return chance, em.draw_classes(chance, generator), confusion, counts

    for _ in run.loop(cfg.burn_in, "Burn-in"):
        _, drawn, _, _ = sweep()
    halves = [torch.zeros_like(drawn), torch.zeros_like(drawn)]
    matrix = torch.zeros((labels.n_workers, *prior.shape), dtype=prior.dtype, device=labels.device)
    kept = Thinned(cfg.samples, matrix.shape, labels.device)
    for step in run.loop(cfg.samples, "Sampling"):
        chance, drawn, confusion, counts = sweep()
        halves[2 * step >= cfg.samples] += chance  # the mean chance is less noisy than the draws
        matrix += counts / counts.sum(2, keepdim=True)
        kept.add(step, confusion)
        if step == cfg.samples - 1:
            first = (cfg.samples + 1) // 2
            apart = halves[0] / first - halves[1] / (cfg.samples - first)
            run.settled(apart.abs().mean(), cfg.tol)
    posterior = (halves[0] + halves[1]) / cfg.samples
    tail = (1 - cfg.level) / 2
    interval = {"low": kept.quantile(tail), "high": kept.quantile(1 - tail)} if kept.kept else {}
    note = "There are too many workers and classes to keep draws for intervals of their matrices."
    return Estimate(
        posterior=posterior,
        confusion=matrix / cfg.samples,
        artefacts={"confusion_interval": interval} if interval else {},
        notes=() if interval else (note,),
    )
