"""CRF-MA (2014): a conditional random field, and how often each worker is the one to follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import Config
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.sequences import SequenceEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class CRFMultipleAnnotatorsConfig(Config):
    """Settings of CRF-MA."""

    variance: float = Field(
        1.0, gt=0, le=1e6, description="Prior variance of the weights of features and transitions."
    )
    max_iter: int = Field(10, ge=1, le=1000, description="Maximum number of EM steps.")
    steps: int = Field(
        30,
        ge=1,
        le=10_000,
        description="Steps of L-BFGS in the first EM step; later ones take a third.",
    )
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop when no worker's reliability moves by more."
    )


@method(
    title="Conditional random field with many annotators (CRF-MA)",
    year=2014,
    paper="Rodrigues, Pereira and Ribeiro, doi:10.1007/s10994-013-5411-2",
    config=CRFMultipleAnnotatorsConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
    quick={"variance": 100.0, "max_iter": 5},
    leaves=[TrainedNetwork],
    excuses={
        "easy_texts": "It follows whole annotations, so each text keeps the errors of one worker.",
        "fake_cuda": "The chain multiplies slices of a table in place, which shapes alone refuse.",
    },
)
def crf_ma(labels: Labels, cfg: CRFMultipleAnnotatorsConfig, run: Run) -> SequenceEstimate:
    """Learn a CRF from the annotations of whichever worker is most likely right, by EM."""
    from crowdcore.methods.sequences.crf_ma._model import CrowdCRF

    model = CrowdCRF(labels, cfg.variance)
    for step in run.loop(cfg.max_iter, "EM"):
        value = model.fit_weights(cfg.steps if not step else max(1, cfg.steps // 3))
        change = model.weigh_annotations()
        run.log(loss=value)
        if run.settled(change, cfg.tol):
            break
    return model.estimate()
