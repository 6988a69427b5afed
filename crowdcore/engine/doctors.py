"""Doctor nets: a head for each worker on one trunk, and how much each counts in the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from crowdcore.engine import nets
from crowdcore.engine.train import Learner, Split, Triples, hold_out

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.classifiers import ItemClassifier

MOST_KEPT = 64_000_000
"""Most numbers (label × head) that are kept: 256 MB in float32."""

ROWS = 4096
"""Labels that all heads are asked about together."""

SHARES_RATE = 0.03
"""The learning rate of the shares: a number a worker may move faster than a net."""


def learn_heads(classifier: ItemClassifier) -> tuple[nets.Net, Split]:
    """Teach each worker's head what that worker said; also gives the labels that were held out."""
    labels, said = classifier.labels, Triples.of(classifier.labels)
    split = hold_out(labels, np.sort(labels.data.item), classifier.cfg.held_out, classifier.run)

    def build() -> Learner:
        net = classifier.fresh()
        heads = _heads(net)

        def loss(rows: Tensor) -> Tensor:
            hidden = net.trunk(classifier.features(said.item.index_select(0, rows)))
            logits = heads.one(hidden, said.worker.index_select(0, rows))
            return cross_entropy(logits, said.given.index_select(0, rows))

        return Learner(module=net, loss=loss)

    return classifier.learn(split, build, "Heads"), split


def learn_shares(classifier: ItemClassifier, net: nets.Net, split: Split) -> nets.Net:
    """Weigh the heads so that the others, jointly, tell what a worker said.

    Nothing but the shares of the net is changed, or can be from then on.
    """
    labels, said = classifier.labels, Triples.of(classifier.labels)
    if labels.n_workers == 1:
        return net  # there are no others
    heads = _heads(net.requires_grad_(requires_grad=False))
    foretold = _Foretold(heads, nets.in_parts(net.trunk, classifier.items.x), said)

    def build() -> Learner:
        heads.share = nn.Parameter(torch.zeros_like(heads.share))

        def loss(rows: Tensor) -> Tensor:
            worker, thought = said.worker.index_select(0, rows), foretold(rows)  # [b], [W, b]
            # Nobody has a say in telling what they said themselves.
            own = torch.full_like(worker, -torch.inf, dtype=thought.dtype).unsqueeze(0)
            shares = heads.share.unsqueeze(1).expand_as(thought)
            shares = shares.scatter_add(0, worker.unsqueeze(0), own).log_softmax(0)
            return -(shares + thought).logsumexp(0).mean()

        return Learner(module=net, loss=loss)

    quick = classifier.cfg.model_copy(update={"rate": SHARES_RATE, "decay": 0.0})
    return replace(classifier, cfg=quick).learn(split, build, "Shares")


class _Foretold:
    """How likely every head thinks some labels are, in logarithms; the heads learn no more.

    What is asked again every epoch is kept, where memory allows it.
    """

    def __init__(self, heads: nets.Heads, hidden: Tensor, said: Triples) -> None:
        self._heads, self._hidden, self._said = heads, hidden, said
        self._kept: Tensor | None = None  # [L, W]
        n_labels = len(said.item)
        if n_labels * len(heads.share) <= MOST_KEPT:
            rows = torch.arange(n_labels, device=hidden.device)
            self._kept = torch.cat([self(part).T for part in torch.split(rows, ROWS)])

    def __call__(self, rows: Tensor) -> Tensor:
        """Ask about the labels at these rows [b] -> [W, b]."""
        if self._kept is not None:
            return self._kept.index_select(0, rows).T
        item, given = (one.index_select(0, rows) for one in (self._said.item, self._said.given))
        asked = given.reshape(1, -1, 1)
        parts = self._heads.every(self._hidden.index_select(0, item))
        thought = [part.gather(2, asked.expand(len(part), -1, 1)) for part in parts]
        return torch.cat(thought).squeeze(2)


def _heads(net: nets.Net) -> nets.Heads:
    assert isinstance(net.head, nets.Heads)
    return net.head
