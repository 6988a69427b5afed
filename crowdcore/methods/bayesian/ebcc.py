"""Enhanced Bayesian classifier combination (2019): classes have subtypes, workers correlate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class EnhancedConfig(GoldConfig):
    """Settings of enhanced Bayesian classifier combination."""

    subtypes: int = Field(10, ge=1, le=100, description="Subtypes that each class is made of.")
    restarts: int = Field(
        40,
        ge=1,
        le=1000,
        description="Random starts, of which the one with the highest evidence is kept. On large "
        "data fewer are tried, and the result says so.",
    )
    right: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Labels that every worker is thought to have got right, in each subtype.",
    )
    wrong: float = Field(
        1.0,
        gt=0,
        le=1000,
        description="Labels that every worker is thought to have given to each other class.",
    )
    sparsity: float = Field(
        0.1,
        gt=0,
        le=100,
        description="Items of a class that are thought to be spread over its subtypes. Small "
        "numbers leave most subtypes unused.",
    )
    max_iter: int = Field(500, ge=1, le=10_000, description="Most sweeps of a start.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop a start when no probability of any item moves by more."
    )


LEAST = 1e-6
"""Items that a class is thought to have which nobody gave; the paper would have none."""

MOST_WORK = 2_000_000_000
"""Most label-columns in one sweep over all starts: about ten seconds."""


@method(
    title="Enhanced Bayesian classifier combination (EBCC)",
    year=2019,
    paper="Li, Rubinstein and Cohn, ICML 2019",
    config=EnhancedConfig,
    quick={"restarts": 4, "subtypes": 3},
)
def ebcc(labels: Labels, cfg: EnhancedConfig, run: Run) -> Estimate:
    """Let workers err alike on subtypes of a class, and keep the best of many random starts."""
    import torch

    from crowdcore.engine import dirichlet, em, restarts, subtypes

    shares = em.start(labels, "votes")
    priors = subtypes.Priors(
        confusion=dirichlet.confusion_prior(labels, cfg.right, cfg.wrong),
        subtype=cfg.sparsity / cfg.subtypes,
        classes=em.class_totals(labels, shares).clamp(min=LEAST),
    )
    columns = labels.n_classes * cfg.subtypes
    tried = restarts.affordable(cfg.restarts, labels.n_labels * columns, MOST_WORK)
    rows = max(labels.n_items, labels.n_workers * labels.n_classes)
    generator = run.generator()
    best, evidence = shares.new_zeros(()), -torch.inf
    for size in restarts.batches(tried, rows * columns):
        shape = (labels.n_items, size, labels.n_classes, cfg.subtypes)
        part = torch.empty(shape, device=labels.device).exponential_(generator=generator)
        part /= part.sum(3, keepdim=True)  # Dirichlet(1)
        part *= shares.to(part.dtype).unsqueeze(1).unsqueeze(3)
        found, posterior = subtypes.settle(
            labels, priors, part, run, max_iter=cfg.max_iter, tol=cfg.tol
        )
        if found > evidence:
            best, evidence = posterior, found
    # The starts ran in single precision; the best one is finished in the data's own.
    best = best.to(labels.dtype)
    for _ in run.loop(cfg.max_iter, "Best start"):
        factors = subtypes.count(labels, priors, best)
        before, best = best, torch.softmax(subtypes.scores(labels, factors), 2).reshape(best.shape)
        if run.settled(em.largest_move(before, best), cfg.tol):
            break
    note = f"The data are large: {tried} of {cfg.restarts} random starts were tried."
    return Estimate(
        posterior=best.sum(3).squeeze(1),
        confusion=subtypes.confusion(priors, factors),
        notes=(note,) if tried < cfg.restarts else (),
    )
