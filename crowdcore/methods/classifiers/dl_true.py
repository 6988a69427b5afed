"""DL-TRUE: a classifier of items taught by gold; what a perfect crowd would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


@method(
    title="Classifier on gold, an upper bound (DL-TRUE)",
    year=2018,
    paper="Ceiling of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=ClassifierConfig,
    needs=Needs(gold=True),
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
    excuses={
        "easy_crowd": "It learns from the gold of a third of the items alone, and these items have "
        "no features.",
    },
)
def dl_true(labels: Labels, cfg: ClassifierConfig, run: Run) -> ClassEstimate:
    """Train a classifier of items on gold answers alone, as an upper bound."""
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.supervision import hold_at_gold

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    data = labels.data
    items = np.flatnonzero(data.has_gold)
    net = classifier.learn_answers(items, np.asarray(data.gold)[items])
    posterior = hold_at_gold(labels, classifier.log_probabilities(net).exp())
    note = (
        f"An upper bound, not an aggregation: learnt from the gold of {len(items):,} items, which "
        "keep their gold answer, and from no worker."
    )
    return classifier.estimate(net, method="dl_true", posterior=posterior, notes=(note,))
