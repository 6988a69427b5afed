"""DL-DN (2018): a net with a head for each worker, who then answer together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


@method(
    title="Doctor net (DL-DN)",
    year=2018,
    paper="Guan et al., AAAI 2018, Who said what: modeling individual labelers",
    config=ClassifierConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def dl_dn(labels: Labels, cfg: ClassifierConfig, run: Run) -> ClassEstimate:
    """Train one head per worker on a common net, and average their probabilities."""
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.methods.classifiers._doctor_net import train_heads

    classifier = ItemClassifier.from_labels(labels, cfg, run, heads=labels.n_workers)
    net, _ = train_heads(classifier)
    return classifier.estimate(net, method="dl_dn")
