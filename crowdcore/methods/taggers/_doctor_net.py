"""Doctor nets of texts: a tagger with one head per worker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from torch.nn.functional import cross_entropy

from crowdcore.engine.learning.head_shares import heads_of, learn_shares
from crowdcore.engine.splits import Split
from crowdcore.engine.texts.tagger import apply_to_texts

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.texts.text_tagger import TextBatch, TextTagger

LABELS_PER_STEP = 8192
"""Tags of a mini-batch in which the shares of heads are learnt."""


def train_heads(tagger: TextTagger) -> tuple[Net, Split]:
    """Train each worker's head on that worker's tags; also gives the texts held out."""
    observed = tagger.labels.rows

    def build() -> Learner:
        net = tagger.new_net()
        heads = heads_of(net)

        def loss(batch: TextBatch) -> Tensor:
            hidden = batch.hidden(net).index_select(0, batch.place)
            logits = heads.logits(hidden, observed.worker.index_select(0, batch.labels))
            return cross_entropy(logits, observed.given.index_select(0, batch.labels))

        return tagger.learner(net, loss)

    split = tagger.split(tagger.annotated)
    return tagger.learn(split, build, "Heads"), split


def train_shares(tagger: TextTagger, net: Net, split: Split) -> Net:
    """Weigh the heads by the tags of the texts learnt from; nothing but shares is changed."""
    labels = tagger.labels
    text_of_label = np.repeat(
        np.arange(len(tagger.offsets) - 1), np.diff(tagger.first_label[tagger.offsets])
    )
    is_held_out = np.isin(text_of_label, split.held_out.cpu().numpy())
    rows = Split(
        train=labels.tensor(np.flatnonzero(~is_held_out)),
        held_out=labels.tensor(np.flatnonzero(is_held_out)),
    )
    hidden = apply_to_texts(net.trunk, tagger.features, tagger.offsets)
    cfg = tagger.cfg.model_copy(update={"batch": LABELS_PER_STEP})
    return learn_shares(net, hidden, labels, replace(tagger.training, cfg=cfg), rows)
