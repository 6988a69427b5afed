"""Doctor nets: one head per worker on a common trunk, and the weight of each in the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn.functional import cross_entropy

from crowdcore.engine.learning import networks
from crowdcore.engine.learning.head_shares import heads_of, learn_shares
from crowdcore.engine.learning.training import Learner
from crowdcore.engine.splits import Split, hold_out_groups

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.learning.item_classifier import ItemClassifier


def train_heads(classifier: ItemClassifier) -> tuple[networks.Net, Split]:
    """Train each worker's head on that worker's labels; also gives the labels held out."""
    labels, observed = classifier.labels, classifier.labels.rows
    item_of_row = labels.data.item[observed.order]
    split = hold_out_groups(labels, item_of_row, classifier.cfg.held_out, classifier.run)

    def build() -> Learner:
        net = classifier.new_net()
        heads = heads_of(net)

        def loss(rows: Tensor) -> Tensor:
            hidden = net.trunk(classifier.features(observed.item.index_select(0, rows)))
            logits = heads.logits(hidden, observed.worker.index_select(0, rows))
            return cross_entropy(logits, observed.given.index_select(0, rows))

        return Learner(module=net, loss=loss)

    return classifier.learn(split, build, "Heads"), split


def train_shares(classifier: ItemClassifier, net: networks.Net, split: Split) -> networks.Net:
    """Weigh the heads; nothing but their shares is changed, or can be from then on."""
    hidden = networks.apply_in_chunks(net.trunk, classifier.items.x)
    return learn_shares(net, hidden, classifier.labels, classifier.training, split)
