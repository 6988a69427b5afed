"""Adaptive Difficulty EM (2018): workers err more where the item's class is unclear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.method import method
from crowdcore.methods.difficulty._config import JointConfig
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class AdaptiveConfig(JointConfig):
    """Settings of Adaptive Difficulty EM."""

    difficulty: Literal["classifier", "posterior"] = Field(
        "classifier",
        description="What an item's difficulty is computed from: the classifier, as in the paper, "
        "or the classifier and the labels together, as in the authors' code.",
    )


@method(
    title="Adaptive Difficulty EM",
    year=2018,
    paper="Xu, Zhang, Zhang and Zhang, Data Difficulty Specified Crowdsourcing",
    config=AdaptiveConfig,
    quick={"max_iter": 30},
    leaves=[TrainedNetwork, FeaturePosterior],
)
def adaptive_difficulty_em(labels: Labels, cfg: AdaptiveConfig, run: Run) -> ClassEstimate:
    """Learn a classifier, and workers' abilities that count more on items it finds easy."""
    from crowdcore.engine.worker_models import AbilityModel
    from crowdcore.methods.difficulty._joint_em import fit_jointly

    joint = fit_jointly(
        labels, cfg, run, lambda: AbilityModel(labels, cfg.smoothing, cfg.difficulty)
    )
    return joint.estimate("adaptive_difficulty_em")
