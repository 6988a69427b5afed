"""DL-DN (2018): a tagger with a head for each worker, who then answer together."""

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
    title="Doctor net of texts (DL-DN)",
    year=2018,
    paper="Guan et al., AAAI 2018, Who said what: modeling individual labelers",
    config=TaggerConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
    excuses={
        "easy_texts": "Heads copy the errors of their workers, and the average keeps them.",
    },
)
def dl_dn(labels: Labels, cfg: TaggerConfig, run: Run) -> ClassEstimate:
    """Train one head per worker on a common tagger, and average their probabilities."""
    from crowdcore.engine.texts.text_tagger import TextTagger
    from crowdcore.methods.taggers._doctor_net import train_heads

    tagger = TextTagger.from_labels(labels, cfg, run, heads=labels.n_workers)
    net, _ = train_heads(tagger)
    return tagger.estimate(net, method="dl_dn")
