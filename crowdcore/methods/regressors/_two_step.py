"""Truths first, then a net that learns them from the items' features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.registry import get_method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import Floats
    from crowdcore.engine.learning.item_regressor import ItemRegressor
    from crowdcore.engine.learning.networks import Net


def infer_truths(
    aggregator: str, regressor: ItemRegressor
) -> tuple[NDArray[np.int64], Floats, tuple[str, ...]]:
    """Infer truths by another method; returns the rated items, their truths, and notes."""
    data, run = regressor.ratings.data, regressor.run
    method = get_method(aggregator, kind="ratings")
    for _ in run.loop(1, "Truths to learn"):
        result = method.fit(data, run=run.part(aggregator), scale=regressor.ratings.scale)
        run.log(labels=data.n_labels)
    items = np.flatnonzero((data.labels_per_item > 0) & np.isfinite(result.truth))
    note = (
        f"It learnt the truths of {result.provenance.title} for {len(items):,} items; an item's "
        "own ratings count through these alone."
    )
    return items, result.truth[items], (note, *result.provenance.notes)


def train_on_truths(aggregator: str, regressor: ItemRegressor) -> tuple[Net, tuple[str, ...]]:
    """Train a net on the truths that another method infers; also returns notes about them."""
    items, truths, notes = infer_truths(aggregator, regressor)
    return regressor.learn_numbers(items, regressor.ratings.standardise(truths)), notes
