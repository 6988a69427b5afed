"""DL-TRUE: a classifier of items taught by gold; what a perfect crowd would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.method import ClassifierConfig, Needs, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


@method(
    title="Classifier on gold, an upper bound (DL-TRUE)",
    year=2018,
    paper="Ceiling of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=ClassifierConfig,
    needs=Needs(gold=True),
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def dl_true(labels: Labels, cfg: ClassifierConfig, run: Run) -> Estimate:
    """Train a classifier of items on their gold answers, and on nothing that workers said."""
    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.teacher import hold_at_gold

    classifier = ItemClassifier.of(labels, cfg, run)
    data = labels.data
    known = np.flatnonzero(data.has_gold)
    net = classifier.learn_answers(known, np.asarray(data.gold)[known])
    posterior = hold_at_gold(labels, classifier.log_probabilities(net).exp())
    note = (
        f"An upper bound, not an aggregation: learnt from the gold of {len(known):,} items, which "
        "keep their gold answer, and from no worker."
    )
    return classifier.estimate(net, method="dl_true", posterior=posterior, notes=(note,))
