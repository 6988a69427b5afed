"""Label-aware autoencoders: labels -> class probabilities -> the same labels again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import softplus
from torch.utils.checkpoint import checkpoint

from crowdcore.engine.learning.one_hot import linear
from crowdcore.engine.learning.training import FullBatchLearner, FullBatchLosses, full_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

NUMBERS_PER_CHUNK = 4_000_000
"""Reconstructed numbers (label x class x class x aspect) that are in memory together."""

MIN_SHARE = 1e-10
"""Added to vote shares whose logarithm is taken."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and how fast an autoencoder learns."""

    pretraining: int
    epochs: int
    rate: float
    prior: float  # weight of the distance from the vote shares


def train(
    labels: Labels,
    run: Run,
    schedule: Schedule,
    *,
    parameters: Iterable[Tensor],
    encode: Callable[[], Tensor],
    loss: Callable[[Tensor], Tensor],
) -> Tensor:
    """Learn the votes first, then to reconstruct labels; returns the class probabilities [N, K].

    `encode` gives log probabilities [N, K]; `loss` is what these cost beside the prior.
    """
    weights = list(parameters)
    votes = labels.shares()
    target = votes if labels.warm_start is None else labels.warm_start

    def pretraining_loss() -> Tensor:
        return -(target * encode()).sum(1).mean()

    def training_loss() -> Tensor:
        log_q = encode()
        distance = (
            (log_q.exp() * (log_q - (votes + MIN_SHARE).log())).sum(1).mean()
        )  # KL(q || votes)
        return loss(log_q.exp()) + schedule.prior * distance

    stages = [
        ("Pretraining", schedule.pretraining, pretraining_loss),
        ("Training", schedule.epochs, training_loss),
    ]
    for stage, epochs, cost in stages:

        def backward(cost: Callable[[], Tensor] = cost) -> FullBatchLosses:
            value = cost()
            value.backward()  # type: ignore[no-untyped-call]
            return FullBatchLosses(value)

        optimiser = torch.optim.Adam(weights, lr=schedule.rate)
        learner = FullBatchLearner(optimiser=optimiser, backward=backward)
        full_batch(run, [learner], epochs=epochs, stage=stage)
    with torch.no_grad():
        return encode().exp().index_fill(0, labels.unlabelled, 1 / labels.n_classes)


class Aspects:
    """The autoencoder whose weights are mixed, item by item, by non-negative latent aspects z."""

    def __init__(self, labels: Labels, n_aspects: int, generator: torch.Generator | None) -> None:
        self.labels, self.n = labels, n_aspects
        keys, classes = labels.n_workers * labels.n_classes, labels.n_classes

        kind, device = labels.dtype, labels.device

        def biases(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=kind, device=device).requires_grad_()

        def weights(*shape: int) -> Tensor:
            if n_aspects == 1:
                return biases(*shape)
            # Aspects that start alike would stay alike.
            draw = torch.randn(shape, generator=generator, dtype=kind, device=device)
            return (0.01 * draw.clamp(-2, 2)).requires_grad_()

        self.latent = [weights(keys, n_aspects), biases(n_aspects)]  # C, c
        self.encoder = [weights(keys, n_aspects * classes), biases(n_aspects * classes)]  # A, a
        shape = (labels.n_workers, n_aspects, classes)
        self.decoder = [weights(*shape, classes), biases(*shape)]  # B [.., true, given], b
        self.codes = [labels.rows.item, labels.rows.worker, labels.rows.given]

    @property
    def parameters(self) -> list[Tensor]:
        """Everything that is learnt."""
        return [*self.latent, *self.encoder, *self.decoder]

    def aspects(self) -> Tensor:
        """How much of each aspect an item has: z [N, M]."""
        return softplus(linear(self.labels, self.latent[0]) + self.latent[1])

    def encode(self) -> Tensor:
        """Log probabilities of the classes [N, K]."""
        by_aspect = linear(self.labels, self.encoder[0]) + self.encoder[1]
        by_aspect = by_aspect.reshape(-1, self.n, self.labels.n_classes)
        return (self.aspects().unsqueeze(2) * by_aspect).sum(1).log_softmax(1)

    def fit(self, run: Run, schedule: Schedule, *, sparsity: float, decay: float) -> Tensor:
        """Learn everything; returns the class probabilities [N, K]."""
        workers, classes = self.labels.n_workers, self.labels.n_classes

        def loss(q: Tensor) -> Tensor:
            absolute = torch.stack([p.abs().sum() for p in (*self.encoder, *self.decoder)]).sum()
            squares = torch.stack([p.square().sum() for p in self.latent]).sum() / 2
            error = self.reconstruction(q) + sparsity / (workers * classes**2) * absolute
            return error + decay / (workers * self.n**2) * squares

        return train(
            self.labels, run, schedule, parameters=self.parameters, encode=self.encode, loss=loss
        )

    def reconstruction(self, q: Tensor) -> Tensor:
        """Mean cross-entropy of the labels, each class weighed by its probability q [N, K]."""
        z, classes = self.aspects(), self.labels.n_classes
        logits = self.decoder[0] + self.decoder[1].unsqueeze(2)  # [W, M, true, given]
        labels_per_chunk = max(1, NUMBERS_PER_CHUNK // (classes * classes * self.n))
        total = q.new_zeros(())
        for codes in zip(*(torch.split(c, labels_per_chunk) for c in self.codes), strict=True):
            # Recomputed in the backward pass, so that memory stays bounded.
            total = total + checkpoint(
                _cross_entropy, q, z, logits, codes, use_reentrant=False, preserve_rng_state=False
            )
        return total / (self.labels.n_items * self.labels.n_workers * classes)


def _cross_entropy(q: Tensor, z: Tensor, logits: Tensor, codes: tuple[Tensor, ...]) -> Tensor:
    """Sum over labels [B] of what the decoder for each class says, weighed by q."""
    item, worker, given = codes
    of_label = logits.index_select(0, worker)  # [B, M, true, given]
    mixed = (z.index_select(0, item).reshape(len(item), -1, 1, 1) * of_label).sum(1)
    classes = mixed.shape[1]
    index = given.reshape(-1, 1, 1).expand(-1, classes, 1)
    log_p = mixed.gather(2, index).squeeze(2) - mixed.logsumexp(2)  # [B, true]
    return -(q.index_select(0, item) * log_p).sum()
