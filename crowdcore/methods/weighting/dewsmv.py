"""DEWSMV: worker weights found by differential evolution, for votes that are as sure as can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class EvolvedWeightsConfig(TruthConfig):
    """Settings of the evolved soft majority vote."""

    population: int = Field(
        50, ge=4, le=500, description="Number of weight vectors that evolve together."
    )
    generations: int = Field(100, ge=1, le=10_000, description="Number of generations.")
    step: float = Field(
        0.5, gt=0, le=2, description="Share of the difference of two vectors that is added (F)."
    )
    crossover: float = Field(
        0.9, ge=0, le=1, description="Share of the weights that a trial takes from its mutant (CR)."
    )


VOTES_PER_CHUNK = 4_000_000
"""Votes [N, K, population] that are in memory together; more are counted in turn."""


@method(
    title="Differential-evolution weighted soft vote",
    year=2021,
    paper="Tao et al., after doi:10.1007/978-3-319-97310-4_26",
    config=EvolvedWeightsConfig,
    quick={"generations": 10},
    excuses={
        "renaming": "Every worker's weights are random draws, which follow the codes.",
        "easy_crowd": "It looks for votes without doubt, and finds a few workers whom nobody "
        "contradicts.",
    },
)
def dewsmv(labels: Labels, cfg: EvolvedWeightsConfig, run: Run) -> ClassEstimate:
    """Evolve worker weights that make the weighted votes as certain as possible."""
    import torch

    from crowdcore.engine import votes

    generator = run.generator()
    cells = votes.ballots(labels)
    shape, device = (cfg.population, labels.n_workers), labels.device
    weights = torch.rand(shape, generator=generator, device=device)
    first = torch.zeros(1, dtype=torch.int64, device=device)
    weights = weights.index_fill(0, first, 1.0)  # the first vector has equal weights
    fitness = _doubt(labels, cells, weights, run)
    for _ in run.loop(cfg.generations, "Evolution"):
        trial = _cross(weights, cfg, generator)
        trial_fitness = _doubt(labels, cells, trial, run)
        better = trial_fitness <= fitness
        weights = torch.where(better.unsqueeze(1), trial, weights)
        fitness = torch.where(better, trial_fitness, fitness)
        run.log(doubt=fitness.min())
    run.converged = None  # so many generations, whatever comes of them
    best = weights.index_select(0, fitness.argmin().reshape(1)).reshape(-1)
    posterior = votes.weighted_shares(labels, labels.weighted_votes(best))
    return ClassEstimate(posterior=posterior, worker_scores={"weight": best})


def _cross(weights: Tensor, cfg: EvolvedWeightsConfig, generator: torch.Generator | None) -> Tensor:
    """Make one trial for each vector [P, W]: DE/rand/1/bin, reflected into 0..1."""
    import torch

    size, device = len(weights), weights.device
    draw = torch.rand((size, size), generator=generator, device=device)
    draw = draw + 2 * torch.eye(size, device=device)  # nobody is their own parent
    base, plus, minus = (
        weights.index_select(0, parent) for parent in draw.argsort(1).narrow(1, 0, 3).unbind(1)
    )
    mutant = (base + cfg.step * (plus - minus)).abs()
    mutant = 1 - (1 - mutant).abs()
    chance = torch.rand(weights.shape, generator=generator, device=device)
    # At least one weight comes from the mutant: the one with the smallest chance.
    forced = chance <= chance.amin(1, keepdim=True)
    return torch.where((chance < cfg.crossover) | forced, mutant.clamp(0, 1), weights)


def _doubt(labels: Labels, cells: tuple[Tensor, Tensor], weights: Tensor, run: Run) -> Tensor:
    """How uncertain the vote with each weight vector [P, W] is: mean of 1 - max p, plus entropy."""
    import torch
    from torch.nn.functional import embedding_bag

    workers, starts = cells
    size = (labels.n_items, labels.n_classes, -1)
    vectors_per_chunk = max(1, VOTES_PER_CHUNK // (labels.n_items * labels.n_classes))
    max_entropy = math.log(max(2, labels.n_classes))
    doubts: list[Tensor] = []
    for vectors in torch.split(weights, vectors_per_chunk):
        if doubts:
            run.check()  # a generation of a large crowd takes seconds
        table = torch.stack(vectors.unbind(0), 1)  # [W, P]
        counts = embedding_bag(workers, table, starts, mode="sum").reshape(size)
        total = counts.sum(1, keepdim=True)
        # Where all weights are 0 nothing is known: the doubt is at its largest.
        p = torch.where(total > 0, counts / total.clamp(min=1e-12), 1 / labels.n_classes)
        entropy = -(p * p.clamp(min=1e-12).log()).sum(1) / max_entropy
        doubts.append((1 - p.amax(1) + entropy).mean(0, dtype=torch.float64))
    return torch.cat(doubts)
