"""The weights of heads that imitate workers: jointly they must tell what the others said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import nn

from crowdcore.engine.learning import networks
from crowdcore.engine.learning.training import Learner

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import LabelRows, Labels
    from crowdcore.engine.learning.training import Training
    from crowdcore.engine.splits import Split

MAX_KEPT_NUMBERS = 64_000_000
"""Numbers (label × head) that are kept: 256 MB in float32."""

LABELS_PER_CHUNK = 4096
"""Labels that all heads predict together."""

SHARES_RATE = 0.03
"""The learning rate of the shares: one number per worker may move faster than a net."""


def heads_of(net: networks.Net) -> networks.Heads:
    """Return a net's heads, one per worker."""
    assert isinstance(net.head, networks.Heads)
    return net.head


def learn_shares(
    net: networks.Net, hidden: Tensor, labels: Labels, training: Training, split: Split
) -> networks.Net:
    """Weigh the heads so that those of the others, jointly, predict what a worker gave.

    Nothing but the shares of the net is changed, or can be from then on.

    Parameters
    ----------
    net : Net
        A net with a trained head for each worker.
    hidden : Tensor [N, H]
        What its trunk makes of all items.
    labels : Labels
        What workers gave.
    training : Training
        The training loop; its learning rate is replaced.
    split : Split
        Rows of labels to learn from, and those that decide when to stop.

    Returns
    -------
    Net
        The same net.
    """
    observed = labels.rows
    if labels.n_workers == 1:
        return net  # there are no others
    heads = heads_of(net.requires_grad_(requires_grad=False))
    log_likelihood = _LabelLogLikelihood(heads, hidden, observed)

    def build() -> Learner:
        heads.share = nn.Parameter(torch.zeros_like(heads.share))

        def loss(rows: Tensor) -> Tensor:
            worker, by_head = observed.worker.index_select(0, rows), log_likelihood(rows)  # [W, b]
            # A worker's own head does not count.
            excluded = torch.full_like(worker, -torch.inf, dtype=by_head.dtype).unsqueeze(0)
            shares = heads.share.unsqueeze(1).expand_as(by_head)
            shares = shares.scatter_add(0, worker.unsqueeze(0), excluded).log_softmax(0)
            return -(shares + by_head).logsumexp(0).mean()

        return Learner(module=net, loss=loss)

    shares_cfg = training.cfg.model_copy(update={"rate": SHARES_RATE, "decay": 0.0})
    learned = replace(training, cfg=shares_cfg).learn(split, build, "Shares").module
    assert isinstance(learned, networks.Net)
    return learned


class _LabelLogLikelihood:
    """Log-likelihood of some labels by every head; the heads learn no more.

    What is needed again every epoch is kept, where memory allows it.
    """

    def __init__(self, heads: networks.Heads, hidden: Tensor, observed: LabelRows) -> None:
        self._heads, self._hidden, self._observed = heads, hidden, observed
        self._kept: Tensor | None = None  # [L, W]
        n_labels = len(observed.item)
        if n_labels * len(heads.share) <= MAX_KEPT_NUMBERS:
            rows = torch.arange(n_labels, device=hidden.device)
            chunks = torch.split(rows, LABELS_PER_CHUNK)
            self._kept = torch.cat([self(chunk).T for chunk in chunks])

    def __call__(self, rows: Tensor) -> Tensor:
        """Of the labels at these rows [b] -> [W, b]."""
        if self._kept is not None:
            return self._kept.index_select(0, rows).T
        item = self._observed.item.index_select(0, rows)
        given = self._observed.given.index_select(0, rows).reshape(1, -1, 1)
        by_head = self._heads.log_probabilities(self._hidden.index_select(0, item))
        of_label = [heads.gather(2, given.expand(len(heads), -1, 1)) for heads in by_head]
        return torch.cat(of_label).squeeze(2)
