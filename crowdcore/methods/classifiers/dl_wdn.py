"""DL-WDN (2018): a doctor net whose heads count by how well they tell what others said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


@method(
    title="Weighted doctor net (DL-WDN)",
    year=2018,
    paper="Guan et al., AAAI 2018, Who said what: modeling individual labelers",
    config=ClassifierConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def dl_wdn(labels: Labels, cfg: ClassifierConfig, run: Run) -> Estimate:
    """Imitate each worker by a head of a common net, and learn how much each head counts."""
    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.doctors import learn_heads, learn_shares
    from crowdcore.engine.nets import Heads

    classifier = ItemClassifier.of(labels, cfg, run, heads=labels.n_workers)
    net = learn_shares(classifier, *learn_heads(classifier))
    assert isinstance(net.head, Heads)
    shares = net.head.share.softmax(0)
    return classifier.estimate(net, method="dl_wdn", worker_scores={"share": shares})
