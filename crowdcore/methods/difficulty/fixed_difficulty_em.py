"""Fixed Difficulty EM (2018): workers err more on items of which the crowd is divided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.method import JointConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


@method(
    title="Fixed Difficulty EM",
    year=2018,
    paper="Xu, Zhang, Zhang and Zhang, Data Difficulty Specified Crowdsourcing",
    config=JointConfig,
    quick={"max_iter": 30},
)
def fixed_difficulty_em(labels: Labels, cfg: JointConfig, run: Run) -> Estimate:
    """Learn a classifier, and how able workers are on items of which the crowd is agreed."""
    from crowdcore.engine.expertise import Abilities
    from crowdcore.engine.joint import fit_jointly

    found = fit_jointly(labels, cfg, run, lambda: Abilities(labels, cfg.smoothing, "votes"))
    return found.estimate("fixed_difficulty_em")
