"""A head per worker on a common net, and the one head that their weighted answers make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.functional import mse_loss

from crowdcore.engine.learning import networks
from crowdcore.engine.learning.training import Learner

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.learning.item_regressor import ItemRegressor


def train_heads(regressor: ItemRegressor, shares: Tensor) -> tuple[networks.Net, Tensor]:
    """Train each worker's head on that worker's ratings, then average them by shares [W].

    Heads are linear, so their average is a head too: the returned net has a single one.

    Returns
    -------
    net : Net
        The common trunk, with the average head.
    bias : Tensor [W]
        How much higher than the average each head lies over all rated items, standardised.
    """
    ratings, observed = regressor.ratings, regressor.ratings.rows
    value, share = observed.value.to(torch.float32), shares.to(torch.float32)

    def build() -> Learner:
        net = regressor.new_net(heads=ratings.n_workers)
        heads = _heads(net)

        def loss(rows: Tensor) -> Tensor:
            hidden = net.trunk(regressor.features(observed.item.index_select(0, rows)))
            told = heads.logits(hidden, observed.worker.index_select(0, rows)).squeeze(1)
            return mse_loss(told, value.index_select(0, rows))

        def stopped(rows: Tensor) -> None:
            regressor.remember(_averaged(net, share), observed.item)(rows)

        return Learner(module=net, loss=loss, stopped=stopped)

    net = regressor.training.learn(regressor.split_ratings(), build).module
    assert isinstance(net, networks.Net)
    averaged = _averaged(net, share)
    hidden = networks.apply_in_chunks(net.trunk, regressor.items.x)
    is_rated = (ratings.counts > 0).to(hidden.dtype)
    centre = (is_rated @ hidden) / is_rated.sum()  # [H]
    with torch.no_grad():
        told = centre @ _heads(net).weight.squeeze(2).T + _heads(net).bias.reshape(-1)  # [W]
    return averaged, (told - told @ share).to(ratings.dtype)


def _averaged(net: networks.Net, share: Tensor) -> networks.Net:
    """The same trunk with one head, the average of all by their shares [W]."""
    heads, head = _heads(net), nn.Linear(_heads(net).in_features, 1)
    with torch.no_grad():
        change = torch.einsum("w,whk->kh", share, heads.weight)
        head.weight = nn.Parameter(heads.common.weight + change)
        head.bias = nn.Parameter(heads.common.bias + share @ heads.bias.squeeze(1))
    return networks.Net(net.trunk, head).eval()


def _heads(net: networks.Net) -> networks.Heads:
    assert isinstance(net.head, networks.Heads)
    return net.head
