"""KOS (2011): messages between items and workers, for two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class MessagePassingConfig(TruthConfig):
    """Settings of KOS."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of rounds of messages.")
    tol: float = Field(
        1e-4, ge=0, le=1, description="Stop when the messages, of size 1, move by less on average."
    )
    per_label: bool = Field(
        True,
        description="Average a worker's message over their labels. The paper adds it up, which "
        "lets those who label much decide alone, unless everybody labels equally much.",
    )
    spread: float = Field(
        0.0,
        ge=0,
        le=10,
        description="Standard deviation of the first messages around 1, drawn with the seed. The "
        "paper draws with 1; with 0 the first round is the majority vote.",
    )


MIN_MESSAGE = 1e-200
"""Messages that have faded below this say nothing any more."""


@method(
    title="KOS message passing",
    year=2011,
    paper="Karger, Oh and Shah, arXiv:1110.3564",
    config=MessagePassingConfig,
    needs=Needs(two_classes=True),
)
def kos(labels: Labels, cfg: MessagePassingConfig, run: Run) -> ClassEstimate:
    """Weigh workers by messages exchanged with the items that they labelled; two classes only."""
    import torch

    data = labels.data
    item, worker = labels.tensor(data.item), labels.tensor(data.worker)
    sign = labels.tensor(2 * data.label - 1, torch.float64)  # [L]; +1 speaks for the second class
    n_other_labels = (labels.worker_counts - 1).clamp(min=1).double().index_select(0, worker)
    item_zeros = sign.new_zeros(labels.n_items)
    worker_zeros = sign.new_zeros(labels.n_workers)
    message = torch.ones_like(sign)  # y, from workers to items
    if cfg.spread:
        noise = torch.randn(sign.shape, generator=run.generator(), device=labels.device)
        message = message + cfg.spread * noise
    for _ in run.loop(cfg.max_iter, "Messages"):
        # A message leaves out what its receiver said.
        answer = item_zeros.index_add(0, item, sign * message)
        agreement = sign * answer.index_select(0, item) - message
        trust = worker_zeros.index_add(0, worker, agreement)
        before, message = message, trust.index_select(0, worker) - agreement
        if cfg.per_label:
            message = message / n_other_labels
        message = message / message.square().mean().sqrt().clamp(min=MIN_MESSAGE)
        if run.settled((message - before).abs().mean(), cfg.tol):
            break
    answer = item_zeros.index_add(0, item, sign * message)
    weight = item_zeros.index_add(0, item, message.abs())
    share = answer / weight.clamp(min=MIN_MESSAGE)  # -1 to 1
    second = (1 + share) / 2
    posterior = torch.stack([1 - second, second], 1)
    reached = (weight > MIN_MESSAGE).unsqueeze(1)
    posterior = torch.where(reached, posterior, labels.shares().double())
    total = worker_zeros.index_add(0, worker, message)
    return ClassEstimate(
        posterior=posterior,
        worker_scores={"message": total / labels.worker_counts.clamp(min=1).double()},
    )
