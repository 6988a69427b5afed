"""DL-DS: a classifier of items that takes Dawid-Skene's answers for true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


@method(
    title="Classifier on Dawid-Skene's truths (DL-DS)",
    year=2018,
    paper="Baseline of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=ClassifierConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def dl_ds(labels: Labels, cfg: ClassifierConfig, run: Run) -> Estimate:
    """Train a classifier of items on the classes that Dawid-Skene infers."""
    from crowdcore.engine.classifiers import ItemClassifier

    classifier = ItemClassifier.of(labels, cfg, run)
    net, note = classifier.learn_from("ds")
    return classifier.estimate(net, method="dl_ds", notes=(note,))
