"""MACE (2013): a worker knows the answer, or spams from a habit of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.engine.spamming import Model, Told
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
    class_prior: bool = Field(
        True, description="Also learn how common the classes are. The paper has them equally so."
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

    from crowdcore.engine import restarts, spamming
    from crowdcore.engine.cells import Cells

    def learn(told: Told) -> Model:
        if cfg.inference == "EM":
            return spamming.likeliest(told, cfg.smoothing)
        return spamming.expected(told, cfg.trust_prior, cfg.habit_prior)

    cells = Cells(labels)
    generator = run.generator()
    found: list[spamming.Fitted] = []
    ended: list[bool] = []
    starts = cfg.restarts if labels.warm is None else 1
    for size in restarts.batches(starts, len(cells.code)):
        shape = (len(cells.key_counts), size)
        known = torch.rand(shape, generator=generator, dtype=labels.dtype, device=labels.device)
        if labels.warm is not None:
            right = cells.add_cells(cells.pick(labels.warm).unsqueeze(1))
            known = spamming.recalled(cells, right, learn, cfg.max_iter)  # and no other start
        elif not found:
            known.select(1, 0).fill_(0.5)  # the neutral start
        fitted = spamming.settle(
            cells,
            known,
            run,
            learn=learn,
            class_prior=cfg.class_prior,
            max_iter=cfg.max_iter,
            tol=cfg.tol,
        )
        # A random start must beat the neutral one by more than it may still be moving.
        found.append(fitted.best(cfg.tol * labels.n_labels))
        ended.append(bool(run.converged))
    run.converged = all(ended)
    best = spamming.Fitted.joined(found).best(cfg.tol * labels.n_labels)
    trust, habit = best.trust.squeeze(1), best.habit.reshape(-1, labels.n_classes)
    eye = torch.eye(labels.n_classes, dtype=trust.dtype, device=labels.device)
    weight = trust.reshape(-1, 1, 1)
    return Estimate(
        posterior=cells.spread(best.cell.squeeze(1), best.rest.squeeze(1), best.prior.squeeze(1)),
        confusion=weight * eye + (1 - weight) * habit.unsqueeze(1),
        worker_scores={"trust": trust},
        artefacts={"spamming": {"share": 1 - trust, "habit": habit}},
    )
