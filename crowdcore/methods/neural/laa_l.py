"""LAA-L (2017): a label-aware autoencoder whose weights depend on latent aspects of an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class AspectsConfig(TruthConfig):
    """Settings of LAA-L."""

    aspects: int = Field(2, ge=2, le=20, description="Number of latent aspects of an item.")
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
    decay: float = Field(0.5, ge=0, le=10, description="L2 penalty on the layer of the aspects.")


@method(
    title="Label-aware autoencoder with aspects (LAA-L)",
    year=2017,
    paper="Yin et al., IJCAI 2017, Aggregating crowd wisdoms with label-aware autoencoders",
    config=AspectsConfig,
    quick={"pretraining": 20, "epochs": 30, "rate": 0.02},
    excuses={
        "renaming": "The weights of every worker and class start at random draws.",
    },
)
def laa_l(labels: Labels, cfg: AspectsConfig, run: Run) -> ClassEstimate:
    """Learn class probabilities and latent aspects of the items that reconstruct the labels."""
    from crowdcore.methods.neural._laa import Aspects, Schedule

    model = Aspects(labels, cfg.aspects, run.generator())
    schedule = Schedule(
        pretraining=cfg.pretraining, epochs=cfg.epochs, rate=cfg.rate, prior=cfg.prior
    )
    posterior = model.fit(run, schedule, sparsity=cfg.sparsity, decay=cfg.decay)
    aspects = model.aspects().detach().unbind(1)
    scores = {f"aspect {index + 1}": aspect for index, aspect in enumerate(aspects)}
    return ClassEstimate(posterior=posterior, item_scores=scores)
