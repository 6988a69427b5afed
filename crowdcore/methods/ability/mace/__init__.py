"""MACE (2013): a worker knows the answer, or spams from a habit of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from crowdcore.artefacts.spam_habits import SpamHabits
from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.needs import CLASSES_OR_TOKENS, Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.methods.ability.mace._know_or_spam import KnownSpamCounts, SpamModel
    from crowdcore.run import Run


MAX_LABELS_FOR_RANDOM_STARTS = 250_000
"""On more labels random starts end where the neutral one does, up to a few items in 100,000."""

MAX_DENSE_CLASSES = 8
"""Up to so many classes one start is fastest in a table of all of them."""


class MaceConfig(GoldConfig):
    """Settings of MACE."""

    inference: Literal["variational", "EM"] = Field(
        "variational", description="Variational Bayes with priors, or EM with some smoothing."
    )
    restarts: int = Field(
        10,
        ge=1,
        le=1000,
        description="Number of starts, of which the one with the highest evidence is kept. The "
        "first is neutral, the others are random. On more than 250,000 labels the "
        "neutral one is enough, and the only one.",
    )
    class_prior: bool = Field(
        True, description="Also learn how common the classes are. In the paper all are equal."
    )
    max_iter: int = Field(
        50, ge=1, le=10_000, description="Maximum number of iterations per start."
    )
    tol: float = Field(1e-6, ge=0, le=1, description="Stop when no start gains more per label.")
    trust_prior: float = Field(
        0.5,
        gt=0,
        le=100,
        description="Prior number of labels that every worker knew, and as many that they "
        "spammed. Below 1, workers are drawn to either extreme.",
    )
    habit_prior: float = Field(
        10.0,
        gt=0,
        le=1000,
        description="Prior number of labels of each class that every worker spammed.",
    )
    smoothing: float = Field(
        0.1, ge=0, le=10, description="Labels added to each count by EM, divided among the classes."
    )


@method(
    title="MACE",
    year=2013,
    paper="Hovy et al., NAACL 2013",
    config=MaceConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    quick={"restarts": 3},
    leaves=[SpamHabits],
    spreads=True,
)
def mace(labels: Labels, cfg: MaceConfig, run: Run) -> ClassEstimate:
    """Learn how often each worker knows the answer, and which classes they give otherwise."""
    import torch

    from crowdcore.engine import em
    from crowdcore.engine.given_classes import GivenClasses
    from crowdcore.methods.ability.mace import _know_or_spam as know_or_spam

    def m_step(counts: KnownSpamCounts) -> SpamModel:
        if cfg.inference == "EM":
            return know_or_spam.maximum_likelihood(counts, cfg.smoothing)
        return know_or_spam.variational(counts, cfg.trust_prior, cfg.habit_prior)

    limits: dict[str, Any] = cfg.model_dump(include={"class_prior", "max_iter", "tol"})
    is_large = labels.n_labels > MAX_LABELS_FOR_RANDOM_STARTS
    if is_large and labels.n_classes <= MAX_DENSE_CLASSES and labels.warm_start is None:
        posterior, model = know_or_spam.fit_neutral_start(labels, run, m_step=m_step, **limits)
        return _estimate(labels, posterior, model.trust, model.habit)
    cells = GivenClasses(labels)
    generator = run.generator()
    batches: list[know_or_spam.FittedStarts] = []
    converged: list[bool] = []
    starts = 1 if is_large or labels.warm_start is not None else cfg.restarts
    n_cells = int(labels.parts.max(torch.tensor(len(cells.code))))  # all parts take equal steps
    for size in em.restart_batches(starts, n_cells):
        shape = (len(cells.key_counts), size)
        knew = torch.rand(shape, generator=generator, dtype=labels.dtype, device=labels.device)
        if labels.warm_start is not None:
            right = cells.sum_by_key(cells.from_table(labels.warm_start).unsqueeze(1))
            # From what the earlier posterior says about the workers, and no other start.
            knew = know_or_spam.warm_start(cells, right, m_step, cfg.max_iter)
        elif not batches:
            knew.select(1, 0).fill_(0.5)  # the neutral start
        fitted = know_or_spam.fit_starts(cells, knew, run, m_step=m_step, **limits)
        # A random start must beat the neutral one by more than it may still be moving.
        batches.append(fitted.best(cfg.tol * labels.n_labels))
        converged.append(bool(run.converged))
    run.converged = all(converged)
    best = know_or_spam.FittedStarts.concatenate(batches).best(cfg.tol * labels.n_labels)
    posterior = cells.to_table(best.given.squeeze(1), best.unseen.squeeze(1), best.prior.squeeze(1))
    return _estimate(labels, posterior, best.trust, best.habit)


def _estimate(labels: Labels, posterior: Tensor, trust: Tensor, habit: Tensor) -> ClassEstimate:
    """The result of the best start, whose trust is [W, 1] and whose habits are [W * K, 1]."""
    import torch

    trust, habit = trust.squeeze(1), habit.reshape(-1, labels.n_classes)
    eye = torch.eye(labels.n_classes, dtype=trust.dtype, device=labels.device)
    weight = trust.reshape(-1, 1, 1)
    return ClassEstimate(
        posterior=posterior,
        confusion=weight * eye + (1 - weight) * habit.unsqueeze(1),
        worker_scores={"trust": trust},
        artefacts=[SpamHabits(share=1 - trust, habit=habit)],
    )
