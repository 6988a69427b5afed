"""DEWSMV: worker weights found by differential evolution, for votes that are as sure as can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run


class EvolvedWeightsConfig(TruthConfig):
    """Settings of the evolved soft majority vote."""

    population: int = Field(50, ge=4, le=500, description="Weight vectors that evolve together.")
    generations: int = Field(100, ge=1, le=10_000, description="Rounds of evolution.")
    step: float = Field(
        0.5, gt=0, le=2, description="How much of the difference of two vectors is added (F)."
    )
    crossover: float = Field(
        0.9, ge=0, le=1, description="Share of the weights that a trial takes from its mutant (CR)."
    )


AT_ONCE = 4_000_000
"""Votes [N, K, population] that are in memory together; more are counted in turn."""


@method(
    title="Differential-evolution weighted soft vote",
    year=2021,
    paper="Tao et al., after doi:10.1007/978-3-319-97310-4_26",
    config=EvolvedWeightsConfig,
    quick={"generations": 10},
)
def dewsmv(labels: Labels, cfg: EvolvedWeightsConfig, run: Run) -> Estimate:
    """Evolve worker weights until the weighted votes leave as little doubt as possible."""
    import torch

    from crowdcore.engine import votes

    generator = run.generator()
    cells = votes.ballots(labels)
    shape, device = (cfg.population, labels.n_workers), labels.device
    weights = torch.rand(shape, generator=generator, device=device)
    plain = torch.zeros(1, dtype=torch.int64, device=device)  # the first votes with equal weights
    weights = weights.index_fill(0, plain, 1.0)
    fitness = _doubt(labels, cells, weights, run)
    for _ in run.loop(cfg.generations, "Evolution"):
        trial = _cross(weights, cfg, generator)
        found = _doubt(labels, cells, trial, run)
        better = found <= fitness
        weights = torch.where(better.unsqueeze(1), trial, weights)
        fitness = torch.where(better, found, fitness)
        run.log(doubt=fitness.min())
    run.converged = None  # so many generations, whatever comes of them
    best = weights.index_select(0, fitness.argmin().reshape(1)).reshape(-1)
    posterior = votes.shares(labels, labels.weighted_votes(best))
    return Estimate(posterior=posterior, worker_scores={"weight": best})


def _cross(weights: Tensor, cfg: EvolvedWeightsConfig, generator: torch.Generator | None) -> Tensor:
    """Make one trial for each vector [P, W]: DE/rand/1/bin, reflected into 0..1."""
    import torch

    size, device = len(weights), weights.device
    draw = torch.rand((size, size), generator=generator, device=device)
    draw = draw + 2 * torch.eye(size, device=device)  # nobody is their own parent
    one, two, three = (
        weights.index_select(0, parent) for parent in draw.argsort(1).narrow(1, 0, 3).unbind(1)
    )
    mutant = (one + cfg.step * (two - three)).abs()
    mutant = 1 - (1 - mutant).abs()
    chance = torch.rand(weights.shape, generator=generator, device=device)
    # At least one weight comes from the mutant: the one with the smallest chance.
    forced = chance <= chance.amin(1, keepdim=True)
    return torch.where((chance < cfg.crossover) | forced, mutant.clamp(0, 1), weights)


def _doubt(labels: Labels, cells: tuple[Tensor, Tensor], weights: Tensor, run: Run) -> Tensor:
    """How unsure the vote with each weight vector [P, W] is: mean of 1 - max p, plus entropy."""
    import torch
    from torch.nn.functional import embedding_bag

    workers, starts = cells
    size = (labels.n_items, labels.n_classes, -1)
    most = max(1, AT_ONCE // (labels.n_items * labels.n_classes))
    most_entropy = math.log(max(2, labels.n_classes))
    doubts: list[Tensor] = []
    for part in torch.split(weights, most):
        if doubts:
            run.check()  # a generation of a large crowd takes seconds
        table = torch.stack(part.unbind(0), 1)  # [W, P]
        counts = embedding_bag(workers, table, starts, mode="sum").reshape(size)
        total = counts.sum(1, keepdim=True)
        # Where all weights are 0 nothing is known: the doubt is at its largest.
        p = torch.where(total > 0, counts / total.clamp(min=1e-12), 1 / labels.n_classes)
        entropy = -(p * p.clamp(min=1e-12).log()).sum(1) / most_entropy
        doubts.append((1 - p.amax(1) + entropy).mean(0, dtype=torch.float64))
    return torch.cat(doubts)
