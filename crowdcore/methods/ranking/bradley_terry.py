"""Bradley-Terry: scores by which who beats whom becomes likeliest, with Davidson's ties."""

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


class BradleyTerryConfig(RankingConfig):
    """Settings of Bradley-Terry."""

    regularisation: float = Field(
        0.01,
        gt=0,
        le=10,
        description="How firmly scores are held near the mean, so that an item that never lost has "
        "a score at all: the precision of a normal prior.",
    )
    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of iterations.")


@method(
    title="Bradley-Terry",
    year=1952,
    paper="Bradley and Terry, doi:10.2307/2334029; ties: Davidson 1970, doi:10.2307/2283595",
    config=BradleyTerryConfig,
    needs=Needs(kinds=frozenset({"comparisons"})),
    leaves=[Order],
)
def bradley_terry(comparisons: Comparisons, cfg: BradleyTerryConfig, run: Run) -> RankingEstimate:
    """Find the scores that make the outcomes likeliest; every worker counts the same."""
    from crowdcore.engine.bradley_terry import fit_scores

    fitted = fit_scores(
        comparisons, run, ridge=cfg.regularisation, tol=cfg.tol, max_steps=cfg.max_iter
    )
    return fitted.estimate(run)
