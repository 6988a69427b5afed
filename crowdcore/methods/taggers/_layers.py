"""The layers on a tagger, one map per worker: those of the paper, and confusion matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import nn

from crowdcore.engine.learning.crowd_layer import CrowdLayer
from crowdcore.registry import fit

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.methods.taggers.crowd_layer import TextCrowdLayerConfig
    from crowdcore.run import Run

SMOOTHING = 0.1
"""Tags added to each cell of the matrices that layers begin at."""

MIN_SHARE = 1e-6
"""The smallest share of a matrix whose logarithm is taken."""


class ConfusionLayer(nn.Module):
    """Passes tag probabilities [n, K] through a confusion matrix of each worker.

    Parameters
    ----------
    confusion : Tensor [W, true, given]
        The matrices to begin at.
    """

    def __init__(self, confusion: Tensor) -> None:
        super().__init__()
        self.logits = nn.Parameter(confusion.float().clamp(min=MIN_SHARE).log())

    def forward(self, shares: Tensor, worker: Tensor) -> Tensor:
        """Log-probabilities of what `worker` [n] gives to tokens with these probabilities."""
        matrices = self.logits.softmax(2).index_select(0, worker)
        given: Tensor = torch.einsum("nk,nkl->nl", shares, matrices)
        return given.clamp(min=MIN_SHARE).log()


def make_layers(labels: Labels, cfg: TextCrowdLayerConfig, run: Run) -> Callable[[], nn.Module]:
    """Return what makes fresh layers as the settings want them."""
    if cfg.layer != "confusion":
        kind, size = cfg.layer, (labels.n_workers, labels.n_classes)
        return lambda: CrowdLayer(kind, *size, pace=cfg.pace, gain=cfg.gain).to(labels.device)
    for _ in run.loop(1, "Dawid-Skene"):
        result = fit(labels.data, "ds", run=run.part("ds"), smoothing=SMOOTHING)
        run.log(labels=labels.n_labels)
    assert result.confusion is not None
    start = labels.tensor(result.confusion)
    return lambda: ConfusionLayer(start).to(labels.device)
