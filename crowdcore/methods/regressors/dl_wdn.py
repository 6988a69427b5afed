"""DL-WDN for ratings: a doctor net whose heads count by how much their workers rated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import RegressorConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


@method(
    title="Weighted doctor net for ratings (DL-WDN)",
    year=2018,
    paper="Variant in Rodrigues and Pereira, AAAI 2018, of Guan et al., AAAI 2018",
    config=RegressorConfig,
    needs=Needs(features=True, kinds=frozenset({"ratings"})),
    quick={"epochs": 30, "batch": 16, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def dl_wdn(ratings: Ratings, cfg: RegressorConfig, run: Run) -> NumberEstimate:
    """Train one head per worker on a common net, and average them by their numbers of ratings."""
    from crowdcore.engine.learning.item_regressor import ItemRegressor
    from crowdcore.methods.regressors._rater_heads import train_heads

    regressor = ItemRegressor.from_ratings(ratings, cfg, run)
    shares = ratings.worker_counts / ratings.n_labels
    net, bias = train_heads(regressor, shares)
    return regressor.estimate(
        net, method="dl_wdn", worker_scores={"share": shares, "bias": ratings.unit * bias}
    )
