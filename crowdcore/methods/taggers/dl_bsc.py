"""DL-BSC: a tagger of texts that takes the truths of Bayesian sequence combination for true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import TaggerConfig
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


@method(
    title="Tagger on BSC's truths (DL-BSC)",
    year=2019,
    paper="Simpson and Gurevych, doi:10.18653/v1/D19-1101, and a tagger",
    config=TaggerConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def dl_bsc(labels: Labels, cfg: TaggerConfig, run: Run) -> ClassEstimate:
    """Train a tagger on the truths that Bayesian sequence combination infers."""
    from crowdcore.engine.texts.text_tagger import TextTagger
    from crowdcore.methods.taggers._two_step import train_on_truths

    tagger = TextTagger.from_labels(labels, cfg, run)
    net, note = train_on_truths("bsc", tagger)
    return tagger.estimate(net, method="dl_bsc", notes=(note,))
