"""Fixed Difficulty EM (2018): workers err more on items of which the crowd is divided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.method import method
from crowdcore.methods.difficulty._config import JointConfig
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


@method(
    title="Fixed Difficulty EM",
    year=2018,
    paper="Xu, Zhang, Zhang and Zhang, Data Difficulty Specified Crowdsourcing",
    config=JointConfig,
    quick={"max_iter": 30},
    leaves=[TrainedNetwork, FeaturePosterior],
)
def fixed_difficulty_em(labels: Labels, cfg: JointConfig, run: Run) -> ClassEstimate:
    """Learn a classifier, and workers' abilities that count more on items the crowd agrees on."""
    from crowdcore.engine.worker_models import AbilityModel
    from crowdcore.methods.difficulty._joint_em import fit_jointly

    joint = fit_jointly(labels, cfg, run, lambda: AbilityModel(labels, cfg.smoothing, "votes"))
    return joint.estimate("fixed_difficulty_em")
