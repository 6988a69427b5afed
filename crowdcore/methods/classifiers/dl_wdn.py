"""DL-WDN (2018): a doctor net whose heads count by how well they tell what others said."""

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
    title="Weighted doctor net (DL-WDN)",
    year=2018,
    paper="Guan et al., AAAI 2018, Who said what: modeling individual labelers",
    config=ClassifierConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def dl_wdn(labels: Labels, cfg: ClassifierConfig, run: Run) -> ClassEstimate:
    """Train one head per worker on a common net, and learn the weight of each head."""
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.networks import Heads
    from crowdcore.methods.classifiers._doctor_net import train_heads, train_shares

    classifier = ItemClassifier.from_labels(labels, cfg, run, heads=labels.n_workers)
    net = train_shares(classifier, *train_heads(classifier))
    assert isinstance(net.head, Heads)
    shares = net.head.share.softmax(0)
    return classifier.estimate(net, method="dl_wdn", worker_scores={"share": shares})
