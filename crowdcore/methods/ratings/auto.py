"""The average of the mean and the Gaussian worker model: the cautious default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.config import RatingConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


class AutoConfig(RatingConfig):
    """Settings of the average."""


@method(
    title="Automatic (mean and Gaussian model)",
    year=2026,
    paper="crowdcore; see docs/benchmarks.md",
    config=AutoConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
    excuses={"fake_cuda": "It reads back what its members found; they are tested themselves."},
)
def auto(ratings: Ratings, cfg: AutoConfig, run: Run) -> NumberEstimate:
    """Average the plain mean and the Gaussian worker model, and say where they part."""
    import numpy as np

    from crowdcore.registry import get_method
    from crowdcore.results.numbers import NumberEstimate

    members = tuple(
        get_method(name, kind="ratings").fit(ratings.data, run=run.part(name), scale=cfg.scale)
        for name in ("mean", "gauss")
    )
    mean, gauss = members
    is_rated = ~np.isnan(mean.truth)
    truth = np.where(is_rated, (mean.truth + gauss.truth) / 2, gauss.truth)
    # The two rest on the same ratings, so their errors add up rather than cancel out.
    spread = np.where(np.isnan(mean.spread), gauss.spread, (mean.spread + gauss.spread) / 2)
    parting = np.where(is_rated, np.abs(mean.truth - gauss.truth), 0.0)
    half = np.where(is_rated, np.maximum(gauss.high - gauss.low, 0) / 2 + parting / 2, np.nan)
    low, high = truth - half, truth + half
    low, high = np.where(is_rated, low, gauss.low), np.where(is_rated, high, gauss.high)
    widest = np.median(parting[is_rated]) if is_rated.any() else 0.0
    return NumberEstimate(
        truth=truth,
        spread=spread,
        low=low,
        high=high,
        worker_scores=gauss.worker_scores,
        item_scores={"parting": parting},
        members=members,
        notes=(
            "A truth is the average of the mean rating and of the Gaussian worker model, which is "
            f"safer than either: they part by {widest:.3g} on half of the items or more (the "
            "score parting). " + " ".join(gauss.provenance.notes),
        ),
    )
