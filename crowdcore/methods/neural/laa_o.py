"""LAA-O (2017): a label-aware autoencoder that knows how ambiguous an item is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class AmbiguityConfig(TruthConfig):
    """Settings of LAA-O."""

    pretraining: int = Field(
        50,
        ge=0,
        le=10_000,
        description="Number of epochs in which the encoder learns the vote shares.",
    )
    epochs: int = Field(
        500, ge=1, le=10_000, description="Number of epochs in which labels are reconstructed."
    )
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")
    prior: float = Field(
        1e-4, ge=0, le=1, description="Weight of the distance from the vote shares in the loss."
    )
    sparsity: float = Field(0.005, ge=0, le=1, description="L1 penalty on encoder and decoder.")
    decay: float = Field(0.5, ge=0, le=10, description="L2 penalty on the layer of the ambiguity.")


@method(
    title="Label-aware autoencoder with ambiguity (LAA-O)",
    year=2017,
    paper="Yin et al., IJCAI 2017, Aggregating crowd wisdoms with label-aware autoencoders",
    config=AmbiguityConfig,
    quick={"pretraining": 20, "epochs": 30, "rate": 0.02},
)
def laa_o(labels: Labels, cfg: AmbiguityConfig, run: Run) -> ClassEstimate:
    """Learn class probabilities and the clarity of each item that reconstruct the labels."""
    from crowdcore.methods.neural._laa import Aspects, Schedule

    model = Aspects(labels, 1, generator=None)
    schedule = Schedule(
        pretraining=cfg.pretraining, epochs=cfg.epochs, rate=cfg.rate, prior=cfg.prior
    )
    posterior = model.fit(run, schedule, sparsity=cfg.sparsity, decay=cfg.decay)
    clarity = model.aspects().detach().squeeze(1)
    return ClassEstimate(posterior=posterior, item_scores={"clarity": clarity})
