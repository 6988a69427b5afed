"""Learning from crowds (2010): a classifier and the workers' confusion matrices, by EM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.method import JointConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


@method(
    title="Learning from crowds with features (Original EM)",
    year=2010,
    paper="Raykar et al., JMLR 11:1297-1322",
    config=JointConfig,
    quick={"max_iter": 30},
)
def raykar_em(labels: Labels, cfg: JointConfig, run: Run) -> Estimate:
    """Learn a classifier of items together with how each worker confuses the classes."""
    from crowdcore.engine.expertise import Confusions
    from crowdcore.engine.joint import fit_jointly

    found = fit_jointly(labels, cfg, run, lambda: Confusions(labels, cfg.smoothing))
    return found.estimate("raykar_em")
