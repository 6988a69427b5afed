"""DL-MV: a classifier of items that takes the majority's answers for true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


@method(
    title="Classifier on majority votes (DL-MV)",
    year=2018,
    paper="Baseline of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=ClassifierConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def dl_mv(labels: Labels, cfg: ClassifierConfig, run: Run) -> Estimate:
    """Train a classifier of items on the classes that most workers gave."""
    from crowdcore.engine.classifiers import ItemClassifier

    classifier = ItemClassifier.of(labels, cfg, run)
    net, note = classifier.learn_from("mv", ties="random")
    return classifier.estimate(net, method="dl_mv", notes=(note,))
