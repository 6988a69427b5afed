"""Adaptive Difficulty EM (2018): workers err more where the item's class is unclear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.method import JointConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class AdaptiveConfig(JointConfig):
    """Settings of Adaptive Difficulty EM."""

    difficulty: Literal["classifier", "posterior"] = Field(
        "classifier",
        description="What an item's difficulty is read from: the classifier, as in the paper, or "
        "the classifier and the labels together, as in the authors' code.",
    )


@method(
    title="Adaptive Difficulty EM",
    year=2018,
    paper="Xu, Zhang, Zhang and Zhang, Data Difficulty Specified Crowdsourcing",
    config=AdaptiveConfig,
    quick={"max_iter": 30},
)
def adaptive_difficulty_em(labels: Labels, cfg: AdaptiveConfig, run: Run) -> Estimate:
    """Learn a classifier, and how able workers are where it finds an item easy."""
    from crowdcore.engine.expertise import Abilities
    from crowdcore.engine.joint import fit_jointly

    found = fit_jointly(labels, cfg, run, lambda: Abilities(labels, cfg.smoothing, cfg.difficulty))
    return found.estimate("adaptive_difficulty_em")
