"""MACE (2013): a worker knows the answer, or spams from a habit of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.cells import Cells
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class MaceConfig(GoldConfig):
    """Settings of MACE."""

    inference: Literal["variational", "EM"] = Field(
        "variational", description="Variational Bayes with priors, or EM with a little smoothing."
    )
    restarts: int = Field(
        10,
        ge=1,
        le=1000,
        description="Starts, of which the one with the highest evidence is kept. The first is "
        "neutral, the others are random.",
    )
    max_iter: int = Field(50, ge=1, le=10_000, description="Most iterations of a start.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when no start gains more, in the mean over labels."
    )
    trust_prior: float = Field(
        0.5,
        gt=0,
        le=100,
        description="Labels that every worker is thought to have known, and as many to have "
        "spammed. Below 1 workers are drawn to either extreme.",
    )
    habit_prior: float = Field(
        10.0,
        gt=0,
        le=1000,
        description="Labels of each class that every worker is thought to have spammed.",
    )
    smoothing: float = Field(
        0.1, ge=0, le=10, description="Labels added to each count by EM, shared by the classes."
    )


@method(
    title="MACE",
    year=2013,
    paper="Hovy et al., NAACL 2013",
    config=MaceConfig,
    quick={"restarts": 3},
)
def mace(labels: Labels, cfg: MaceConfig, run: Run) -> Estimate:
    """Tell workers who know from workers who spam, and learn what the spammers like to give."""
    import torch

    from crowdcore.engine import restarts
    from crowdcore.engine.cells import Cells

    cells = Cells(labels)
    generator = run.generator()
    found: list[tuple[Tensor, ...]] = []
    for size in restarts.batches(cfg.restarts, len(cells.code)):
        shape = (len(cells.key_counts), size)
        known = torch.rand(shape, generator=generator, dtype=labels.dtype, device=labels.device)
        if not found:
            known.select(1, 0).fill_(0.5)  # the neutral start
        found.append(_settle(cells, cfg, run, known))
    bound, cell, rest, trust, habit = (torch.cat(part, 1) for part in zip(*found, strict=True))
    best = bound.argmax(1)
    cell, rest, trust, habit = (
        part.index_select(1, best).squeeze(1) for part in (cell, rest, trust, habit)
    )
    habit = habit.reshape(labels.n_workers, 1, labels.n_classes)
    eye = torch.eye(labels.n_classes, dtype=trust.dtype, device=labels.device)
    weight = trust.reshape(-1, 1, 1)
    return Estimate(
        posterior=cells.spread(cell, rest),
        confusion=weight * eye + (1 - weight) * habit,
        worker_scores={"trust": trust},
        artefacts={"spamming": {"share": 1 - trust, "habit": habit.squeeze(1)}},
    )


def _settle(cells: Cells, cfg: MaceConfig, run: Run, known: Tensor) -> tuple[Tensor, ...]:
    """Iterate starts [W * K, S] side by side; of the best, return all parts, as single columns.

    `known` is the chance that a label which is right was known, and not spammed by luck.
    """
    import torch

    from crowdcore.engine import em, spamming

    labels, given = cells.labels, cells.key_counts.unsqueeze(1)  # [W * K, 1]
    start = cells.pick(em.start(labels, "votes")).unsqueeze(1)
    right = cells.add_cells(start.repeat(1, known.shape[1]))
    last = torch.zeros(known.shape[1], dtype=torch.float64, device=labels.device)
    for _ in run.loop(cfg.max_iter, cfg.inference):
        told = spamming.split(cells, right * known)
        if cfg.inference == "EM":
            model = spamming.likeliest(told, cfg.smoothing)
        else:
            model = spamming.expected(told, cfg.trust_prior, cfg.habit_prior)
        log_known, log_spam = model.log_known, model.log_spam  # [W * K, S]
        odds = torch.logaddexp(log_known, log_spam) - log_spam
        cell, rest, total = cells.normalise(cells.add_keys(odds))
        bound = total + model.slack + (given * log_spam).sum(0, dtype=torch.float64)
        moved, last = (bound - last).abs() / labels.n_labels, bound
        run.log(elbo=bound.amax() / labels.n_labels)
        if run.settled(moved.amax(), cfg.tol):
            break
        # A start that has settled stays, however long the others take.
        moving = moved >= cfg.tol
        known = torch.where(moving, (log_known - log_spam).sigmoid_(), known)
        right = torch.where(moving, cells.add_cells(cell), right)
    # A random start must beat the neutral one by more than it is still moving.
    lead = torch.arange(len(last), device=labels.device).clamp(max=1) * cfg.tol * labels.n_labels
    best = (last - lead).argmax().reshape(1)
    parts = (last.unsqueeze(0), cell, rest, model.trust, model.habit)
    return tuple(part.index_select(1, best) for part in parts)
