"""Truths first, then a classifier of items that learns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.data import UNKNOWN
from crowdcore.registry import fit

if TYPE_CHECKING:
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.networks import Net


def train_on_truths(aggregator: str, classifier: ItemClassifier, **params: Any) -> tuple[Net, str]:
    """Train a net on the truths that another method infers; also returns a note about it."""
    data, run = classifier.labels.data, classifier.run
    for _ in run.loop(1, "Truths to learn"):
        result = fit(data, aggregator, run=run.part(aggregator), **params)
        run.log(labels=data.n_labels)
    items = np.flatnonzero((data.labels_per_item > 0) & (result.truth != UNKNOWN))
    n_tied = int(result.tied[items].sum())
    note = (
        f"The classifier learnt the truths of {result.provenance.title} for {len(items):,} "
        f"items; {n_tied:,} of them were ties, broken at random."
    )
    return classifier.learn_answers(items, result.truth[items]), note
