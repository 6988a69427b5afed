"""DL-DS: a classifier of items that takes Dawid-Skene's answers for true."""

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
    title="Classifier on Dawid-Skene's truths (DL-DS)",
    year=2018,
    paper="Baseline of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=ClassifierConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
    excuses={
        "fake_cuda": "The truths to learn are read back; how they are learnt dl_true shows.",
    },
)
def dl_ds(labels: Labels, cfg: ClassifierConfig, run: Run) -> ClassEstimate:
    """Train a classifier of items on the classes that Dawid-Skene infers."""
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.methods.classifiers._two_step import train_on_truths

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    net, note = train_on_truths("ds", classifier)
    return classifier.estimate(net, method="dl_ds", notes=(note,))
