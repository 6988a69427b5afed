"""DL-DN (2018): a net with a head for each worker, who then answer together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


@method(
    title="Doctor net (DL-DN)",
    year=2018,
    paper="Guan et al., AAAI 2018, Who said what: modeling individual labelers",
    config=ClassifierConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def dl_dn(labels: Labels, cfg: ClassifierConfig, run: Run) -> Estimate:
    """Imitate each worker by a head of a common net, and average what the heads say."""
    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.doctors import learn_heads

    classifier = ItemClassifier.of(labels, cfg, run, heads=labels.n_workers)
    net, _ = learn_heads(classifier)
    return classifier.estimate(net, method="dl_dn")
