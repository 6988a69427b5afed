"""DL-TRUE: a tagger of texts taught by gold; what a perfect crowd would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import TaggerConfig
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


@method(
    title="Tagger on gold, an upper bound (DL-TRUE)",
    year=2018,
    paper="Ceiling of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=TaggerConfig,
    needs=Needs(gold=True, kinds=frozenset({"sequences"})),
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
    excuses={
        "unanimous_spans": "It learns from the gold of a third of the texts and looks at no label.",
    },
)
def dl_true(labels: Labels, cfg: TaggerConfig, run: Run) -> ClassEstimate:
    """Train a tagger on gold tags alone, as an upper bound."""
    from crowdcore.data import DataError
    from crowdcore.engine.learning.supervision import hold_at_gold
    from crowdcore.engine.texts.text_tagger import TextTagger

    tagger = TextTagger.from_labels(labels, cfg, run)
    data = labels.data
    texts = np.flatnonzero(np.minimum.reduceat(data.has_gold, tagger.offsets[:-1]))
    if not len(texts):
        raise DataError("No text has gold for all of its tokens", fix="Add gold of whole texts.")
    net = tagger.learn_tags(texts, np.asarray(data.gold))
    posterior = hold_at_gold(labels, tagger.log_probabilities(net).exp())
    note = (
        f"An upper bound, not an aggregation: learnt from the gold of {len(texts):,} texts, which "
        "keep their gold tags, and from no worker."
    )
    return tagger.estimate(net, method="dl_true", posterior=posterior, notes=(note,))
