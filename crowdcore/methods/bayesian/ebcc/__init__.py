"""Enhanced Bayesian classifier combination (2019): classes have subtypes, workers correlate."""

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


class EnhancedConfig(GoldConfig):
    """Settings of enhanced Bayesian classifier combination."""

    subtypes: int = Field(10, ge=1, le=100, description="Number of subtypes per class.")
    restarts: int = Field(
        40,
        ge=1,
        le=1000,
        description="Number of random starts, of which the one with the highest evidence is kept. "
        "On large data fewer are tried, and the result says so.",
    )
    right: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Prior number of right labels per worker and subtype.",
    )
    wrong: float = Field(
        1.0,
        gt=0,
        le=1000,
        description="Prior number of wrong labels per worker, class and other class.",
    )
    sparsity: float = Field(
        0.1,
        gt=0,
        le=100,
        description="Prior number of items per class, divided among its subtypes. Small numbers "
        "leave most subtypes unused.",
    )
    max_iter: int = Field(500, ge=1, le=10_000, description="Maximum number of sweeps per start.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop a start when no item's probabilities move by more."
    )


MIN_CLASS_ITEMS = 1e-6
"""Prior number of items of a class that nobody gave; in the paper there are none."""

MAX_SWEEP_WORK = 2_000_000_000
"""Label-columns in one sweep over all starts: about ten seconds."""


@method(
    title="Enhanced Bayesian classifier combination (EBCC)",
    year=2019,
    paper="Li, Rubinstein and Cohn, ICML 2019",
    config=EnhancedConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    quick={"restarts": 4, "subtypes": 3},
    excuses={
        "renaming": "Every item has random starts of its own, which follow the codes.",
        "fake_cuda": "Random starts that have settled drop out, and numbers decide which.",
    },
)
def ebcc(labels: Labels, cfg: EnhancedConfig, run: Run) -> ClassEstimate:
    """Learn subtypes of the classes on which workers err alike; the best of many random starts."""
    import torch

    from crowdcore.engine import dirichlet, em
    from crowdcore.methods.bayesian.ebcc import _subtypes as subtypes

    shares = em.initial_posterior(labels, "votes")
    priors = subtypes.Priors(
        confusion=dirichlet.confusion_prior(labels, cfg.right, cfg.wrong),
        subtype=cfg.sparsity / cfg.subtypes,
        classes=em.class_totals(labels, shares).clamp(min=MIN_CLASS_ITEMS),
    )
    columns = labels.n_classes * cfg.subtypes
    n_tried = em.affordable_restarts(cfg.restarts, labels.n_labels * columns, MAX_SWEEP_WORK)
    rows = max(labels.n_items, labels.n_workers * labels.n_classes)
    generator = run.generator()
    best, evidence = shares.new_zeros(()), -torch.inf
    for size in em.restart_batches(n_tried, rows * columns):
        shape = (labels.n_items, size, labels.n_classes, cfg.subtypes)
        begun = torch.empty(shape, device=labels.device).exponential_(generator=generator)
        begun /= begun.sum(3, keepdim=True)  # Dirichlet(1)
        begun *= shares.to(begun.dtype).unsqueeze(1).unsqueeze(3)
        batch_evidence, posterior = subtypes.fit_starts(
            labels, priors, begun, run, max_iter=cfg.max_iter, tol=cfg.tol
        )
        if batch_evidence > evidence:
            best, evidence = posterior, batch_evidence
    # The starts ran in single precision; the best one is finished in the data's own.
    best = best.to(labels.dtype)
    for _ in run.loop(cfg.max_iter, "Best start"):
        factors = subtypes.count(labels, priors, best)
        before, best = best, torch.softmax(subtypes.scores(labels, factors), 2).reshape(best.shape)
        if run.settled(em.max_change(labels, before, best), cfg.tol):
            break
    note = f"The data are large: {n_tried} of {cfg.restarts} random starts were tried."
    return ClassEstimate(
        posterior=best.sum(3).squeeze(1),
        confusion=subtypes.confusion(priors, factors),
        notes=(note,) if n_tried < cfg.restarts else (),
    )
