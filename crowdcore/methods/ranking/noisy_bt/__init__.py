"""Noisy Bradley-Terry: scores, and how often each worker looks and which side they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import method
from crowdcore.methods.ranking._config import RankingConfig
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.comparisons import Comparisons
    from crowdcore.results.ranking import RankingEstimate
    from crowdcore.run import Run


class NoisyBradleyTerryConfig(RankingConfig):
    """Settings of noisy Bradley-Terry."""

    regularisation: float = Field(
        0.1,
        gt=0,
        le=10,
        description="How firmly scores are held near the mean: the precision of a normal prior.",
    )
    careful: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Comparisons that a worker is taken to have looked at before the first.",
    )
    careless: float = Field(
        1.0,
        gt=0,
        le=1000,
        description="Comparisons that a worker is taken to have answered blindly before the first.",
    )
    max_iter: int = Field(200, ge=1, le=10_000, description="Maximum number of iterations.")


@method(
    title="Noisy Bradley-Terry",
    year=2018,
    paper="the model NoisyBradleyTerry of crowd-kit, arXiv:2109.08584",
    config=NoisyBradleyTerryConfig,
    needs=Needs(kinds=frozenset({"comparisons"})),
)
def noisy_bt(comparisons: Comparisons, cfg: NoisyBradleyTerryConfig, run: Run) -> RankingEstimate:
    """Find scores, how often each worker looks, and which side they take where they do not."""
    import numpy as np

    from crowdcore.engine.comparisons import LEFT, RIGHT
    from crowdcore.methods.ranking.noisy_bt._habits import fit_with_habits
    from crowdcore.results.ranking import RankingEstimate

    scores, _, habits = fit_with_habits(
        comparisons,
        run,
        ridge=cfg.regularisation,
        prior=(cfg.careful, cfg.careless),
        tol=cfg.tol,
        max_steps=cfg.max_iter,
    )
    left, right = habits.guess[:, LEFT], habits.guess[:, RIGHT]
    return RankingEstimate(
        truth=scores,
        spread=np.full(comparisons.n_items, np.nan),
        worker_scores={"reliability": habits.reliability, "left_when_blind": left / (left + right)},
        notes=(
            "Noisy Bradley-Terry gives no intervals: what is not known of the workers is not "
            "counted in it. bayesian_bt does.",
        ),
    )
