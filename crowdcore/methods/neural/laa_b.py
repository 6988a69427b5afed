"""LAA-B (2017): a label-aware autoencoder with one layer either way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class AutoencoderConfig(TruthConfig):
    """Settings of LAA-B."""

    pretraining: int = Field(
        50,
        ge=0,
        le=10_000,
        description="Number of epochs in which the encoder learns the vote shares.",
    )
    epochs: int = Field(
        100, ge=1, le=10_000, description="Number of epochs in which labels are reconstructed."
    )
    rate: float = Field(0.005, gt=0, le=1, description="Learning rate of Adam.")
    prior: float = Field(
        1e-4, ge=0, le=1, description="Weight of the distance from the vote shares in the loss."
    )
    sparsity: float = Field(0.005, ge=0, le=1, description="L1 penalty on the encoder's weights.")


@method(
    title="Label-aware autoencoder (LAA-B)",
    year=2017,
    paper="Yin et al., IJCAI 2017, Aggregating crowd wisdoms with label-aware autoencoders",
    config=AutoencoderConfig,
    quick={"pretraining": 20, "epochs": 20, "rate": 0.02},
)
def laa_b(labels: Labels, cfg: AutoencoderConfig, run: Run) -> ClassEstimate:
    """Learn class probabilities from which the labels can be reconstructed best."""
    import torch

    from crowdcore.engine.learning.one_hot import linear
    from crowdcore.methods.neural._laa import Schedule, train

    workers, classes = labels.n_workers, labels.n_classes

    def zeros(*shape: int) -> Tensor:
        return torch.zeros(shape, dtype=labels.dtype, device=labels.device).requires_grad_()

    encoder, bias = zeros(workers * classes, classes), zeros(classes)
    decoder, given = zeros(workers, classes, classes), zeros(workers, classes, 1)  # [.., true]

    def encode() -> Tensor:
        return (linear(labels, encoder) + bias).log_softmax(1)

    def loss(q: Tensor) -> Tensor:
        table = (decoder + given).log_softmax(1).reshape(-1, classes)  # [W * given, true]
        error = -(q * linear(labels, table)).sum(1).mean() / (workers * classes)
        return error + cfg.sparsity / (workers * classes**2) * encoder.abs().sum()

    schedule = Schedule(
        pretraining=cfg.pretraining, epochs=cfg.epochs, rate=cfg.rate, prior=cfg.prior
    )
    weights = [encoder, bias, decoder, given]
    posterior = train(labels, run, schedule, parameters=weights, encode=encode, loss=loss)
    return ClassEstimate(posterior=posterior)
