"""The trimmed mean of each item's ratings."""

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


class TrimmedConfig(RatingConfig):
    """Settings of the trimmed mean."""

    share: float = Field(
        0.2, ge=0, lt=0.5, description="Share of an item's ratings that is dropped at either end."
    )


@method(
    title="Trimmed mean",
    year=1963,
    paper="Tukey and McLaughlin, Sankhya A 25",
    config=TrimmedConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
)
def trimmed(ratings: Ratings, cfg: TrimmedConfig, run: Run) -> NumberEstimate:
    """Average the ratings of each item after dropping the lowest and the highest ones."""
    import numpy as np
    import torch
    from scipy.special import stdtrit

    from crowdcore.methods.ratings import _items

    ordered = _items.SortedItems.from_values(ratings, ratings.values)
    n, owner = ordered.counts, ordered.owner()
    cut = (cfg.share * n).long()
    rank = torch.arange(len(ordered.values), device=ratings.device) - ordered.starts.index_select(
        0, owner
    )
    kept = (rank >= cut.index_select(0, owner)) & (rank < (n - cut).index_select(0, owner))
    zeros = torch.zeros_like(ratings.counts)
    n_kept = (n - 2 * cut).clamp(min=1)
    truth = zeros.index_add(0, owner, ordered.values * kept) / n_kept
    # The standard error is that of the ratings with the dropped ones moved in (Winsorised).
    ends = [ordered.at(rank).index_select(0, owner) for rank in (cut, (n - cut - 1).clamp(min=0))]
    moved = torch.minimum(torch.maximum(ordered.values, ends[0]), ends[1])
    centre = zeros.index_add(0, owner, moved) / n.clamp(min=1)
    squares = zeros.index_add(0, owner, (moved - centre.index_select(0, owner)) ** 2)
    deviation = (squares / (n - 1).clamp(min=1)).sqrt()
    spread = deviation * n.sqrt() / n_kept
    counts = ratings.data.labels_per_item
    freedom = counts - 2 * (cfg.share * counts).astype(np.int64) - 1
    quantile = ratings.tensor(stdtrit(np.maximum(freedom, 1), 0.975), ratings.dtype)
    return ratings.estimate(
        _items.unknown_where_unrated(ratings, truth),
        torch.where(n_kept > 1, spread, torch.full_like(spread, torch.nan)),
        quantile=quantile,
    )
