"""Doctor nets: one head per worker on a common trunk, and the weight of each in the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from crowdcore.engine import networks
from crowdcore.engine.splits import Split, hold_out_groups
from crowdcore.engine.training import Learner

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.item_classifier import ItemClassifier
    from crowdcore.engine.labels import LabelRows

MAX_KEPT_NUMBERS = 64_000_000
"""Numbers (label × head) that are kept: 256 MB in float32."""

LABELS_PER_CHUNK = 4096
"""Labels that all heads predict together."""

SHARES_RATE = 0.03
"""The learning rate of the shares: one number per worker may move faster than a net."""


def train_heads(classifier: ItemClassifier) -> tuple[networks.Net, Split]:
    """Train each worker's head on that worker's labels; also gives the labels held out."""
    labels, observed = classifier.labels, classifier.labels.rows
    item_of_row = labels.data.item[observed.order]
    split = hold_out_groups(labels, item_of_row, classifier.cfg.held_out, classifier.run)

    def build() -> Learner:
        net = classifier.new_net()
        heads = _heads(net)

        def loss(rows: Tensor) -> Tensor:
            hidden = net.trunk(classifier.features(observed.item.index_select(0, rows)))
            logits = heads.logits(hidden, observed.worker.index_select(0, rows))
            return cross_entropy(logits, observed.given.index_select(0, rows))

        return Learner(module=net, loss=loss)

    return classifier.learn(split, build, "Heads"), split


def train_shares(classifier: ItemClassifier, net: networks.Net, split: Split) -> networks.Net:
    """Weigh the heads so that those of the others, jointly, predict what a worker gave.

    Nothing but the shares of the net is changed, or can be from then on.
    """
    labels, observed = classifier.labels, classifier.labels.rows
    if labels.n_workers == 1:
        return net  # there are no others
    heads = _heads(net.requires_grad_(requires_grad=False))
    hidden = networks.apply_in_chunks(net.trunk, classifier.items.x)
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

    shares_cfg = classifier.cfg.model_copy(update={"rate": SHARES_RATE, "decay": 0.0})
    return replace(classifier, cfg=shares_cfg).learn(split, build, "Shares")


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


def _heads(net: networks.Net) -> networks.Heads:
    assert isinstance(net.head, networks.Heads)
    return net.head
