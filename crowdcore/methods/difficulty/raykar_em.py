"""Learning from crowds (2010): a classifier and the workers' confusion matrices, by EM."""

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
    title="Learning from crowds with features (Original EM)",
    year=2010,
    paper="Raykar et al., JMLR 11:1297-1322",
    config=JointConfig,
    quick={"max_iter": 30},
    leaves=[TrainedNetwork, FeaturePosterior],
)
def raykar_em(labels: Labels, cfg: JointConfig, run: Run) -> ClassEstimate:
    """Learn a classifier of items together with each worker's confusion matrix."""
    from crowdcore.engine.worker_models import ConfusionModel
    from crowdcore.methods.difficulty._joint_em import fit_jointly

    joint = fit_jointly(labels, cfg, run, lambda: ConfusionModel(labels, cfg.smoothing))
    return joint.estimate("raykar_em")
