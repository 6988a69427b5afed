"""DL-TRUE: a net taught by gold numbers; what a perfect crowd would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import RegressorConfig
from crowdcore.errors import DataError
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


@method(
    title="Regressor on gold, an upper bound (DL-TRUE)",
    year=2018,
    paper="Ceiling of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=RegressorConfig,
    needs=Needs(features=True, gold=True, kinds=frozenset({"ratings"})),
    quick={"epochs": 60, "batch": 16, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
    excuses={"unanimous": "Items with gold keep it, whatever workers say."},
)
def dl_true(ratings: Ratings, cfg: RegressorConfig, run: Run) -> NumberEstimate:
    """Train a net on gold numbers alone, as an upper bound."""
    import torch

    from crowdcore.engine.learning.item_regressor import ItemRegressor

    regressor = ItemRegressor.from_ratings(ratings, cfg, run)
    data = ratings.data
    items, gold = np.flatnonzero(data.has_gold), np.asarray(data.gold)
    if ratings.scale == "log" and gold[items].min() <= 0:
        raise DataError(
            f"Logarithms need gold above 0; the least is {gold[items].min():g}",
            fix='Set scale to "linear", or correct this gold.',
        )
    targets = ratings.standardise(gold[items])
    net = regressor.learn_numbers(items, targets)
    index = ratings.tensor(items)
    known = torch.zeros(ratings.n_items, dtype=ratings.dtype, device=ratings.device)
    known = known.index_copy(0, index, targets)
    error = regressor.spread(known)
    truth = regressor.predict(net).index_copy(0, index, targets)
    spread = torch.full_like(truth, error).index_fill(0, index, 0.0)
    note = (
        f"An upper bound, not an aggregation: learnt from the gold of {len(items):,} items, which "
        "keep their gold number, and from no worker."
    )
    return regressor.estimate(
        net, method="dl_true", spread=error, truth=truth, truth_spread=spread, notes=(note,)
    )
