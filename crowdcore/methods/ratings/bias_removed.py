"""Mean ratings after each worker's bias is taken off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import RatingConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


class BiasRemovedConfig(RatingConfig):
    """Settings of bias removal."""

    max_iter: int = Field(
        100, ge=1, le=10_000, description="Most alternations between truths and biases."
    )


@method(
    title="Mean with bias removed",
    year=2014,
    paper="ITU-T P.913, 12.4",
    config=BiasRemovedConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
)
def bias_removed(ratings: Ratings, cfg: BiasRemovedConfig, run: Run) -> NumberEstimate:
    """Average each item after taking off how much higher or lower each worker rates."""
    import torch

    from crowdcore.methods.ratings import _items

    total, _ = ratings.worker_sums
    n_items, n_workers = ratings.counts.clamp(min=1), ratings.worker_counts.clamp(min=1)
    truth, bias = ratings.mean, torch.zeros_like(n_workers)
    for _ in run.loop(cfg.max_iter, "Rounds"):
        bias = (total - ratings.sum_over_workers(truth)[0]) / n_workers
        bias = bias - (bias * ratings.worker_counts).sum() / ratings.n_labels
        offset = ratings.sum_over_items(bias)[0] / n_items
        before, truth = truth, ratings.mean - offset
        if run.settled((truth - before).abs().max(), 1e-10):
            break
    corrected = ratings.values - ratings.of_worker(bias)
    return ratings.estimate(
        _items.unknown_where_unrated(ratings, truth),
        _items.deviation(ratings, corrected, truth) / ratings.counts.sqrt(),
        quantile=_items.student_quantile(ratings),
        worker_scores={"bias": ratings.unit * bias},
    )
