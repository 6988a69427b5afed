"""Bayesian Bradley-Terry: priors learnt from the data, workers averaged over, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.artefacts.order import Order
from crowdcore.method import method
from crowdcore.methods.ranking._config import RankingConfig
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.comparisons import Comparisons
    from crowdcore.results.ranking import RankingEstimate
    from crowdcore.run import Run


class BayesianBradleyTerryConfig(RankingConfig):
    """Settings of Bayesian Bradley-Terry."""

    max_iter: int = Field(
        100, ge=1, le=10_000, description="Maximum number of iterations in each of three rounds."
    )


@method(
    title="Bayesian Bradley-Terry",
    year=2026,
    paper="Bradley-Terry with workers' discrimination as in am-ELO, arXiv:2505.03475",
    config=BayesianBradleyTerryConfig,
    needs=Needs(kinds=frozenset({"comparisons"})),
    leaves=[Order],
)
def bayesian_bt(
    comparisons: Comparisons, cfg: BayesianBradleyTerryConfig, run: Run
) -> RankingEstimate:
    """Find scores with intervals; workers differ in sharpness and in the side they lean to."""
    from crowdcore.methods.ranking.bayesian_bt._worker_types import fit_with_types

    fitted, workers = fit_with_types(comparisons, run, tol=cfg.tol, max_steps=cfg.max_iter)
    return fitted.estimate(
        run,
        worker_scores={
            "discrimination": workers.discrimination,
            "discrimination_error": workers.discrimination_sd,
            "lean_to_left": workers.lean,
            "lean_error": workers.lean_sd,
        },
    )
