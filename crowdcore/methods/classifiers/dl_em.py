"""DL-EM (2016): a classifier and the workers' confusion matrices, learnt in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.nets import Net
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class DeepEMConfig(ClassifierConfig):
    """Settings of DL-EM."""

    smoothing: float = Field(
        0.1, gt=0, le=10, description="Labels added to each confusion cell, against zeros."
    )


@method(
    title="Classifier and confusion matrices by EM (DL-EM)",
    year=2016,
    paper="Albarqouni et al., AggNet, doi:10.1109/TMI.2016.2528120",
    config=DeepEMConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def dl_em(labels: Labels, cfg: DeepEMConfig, run: Run) -> Estimate:
    """Train a classifier on beliefs that join what it says of an item with what workers said."""
    import torch

    from crowdcore.artefacts import alone
    from crowdcore.engine import em
    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.expertise import Confusions
    from crowdcore.engine.train import Learner, hold_out

    classifier = ItemClassifier.of(labels, cfg, run)
    known = np.flatnonzero(labels.data.labels_per_item)
    item = labels.tensor(known)
    workers = Confusions(labels, cfg.smoothing)
    belief = evidence = em.start(labels, "votes")  # [N, K]
    begun = False

    def judge(net: Net, rows: Tensor) -> None:
        """E step with the net as it is, then the workers' part of the M step (below eq. 1)."""
        nonlocal belief, evidence, begun
        if begun:
            belief, _ = em.normalise(labels, classifier.log_probabilities(net) + evidence)
        learnt = torch.zeros_like(labels.counts).index_fill(0, item.index_select(0, rows), 1.0)
        workers.learn(belief, belief, learnt)
        evidence, begun = workers.evidence(), True

    def build() -> Learner:
        nonlocal belief, begun
        net = classifier.fresh()
        belief, begun = em.start(labels, "votes"), False

        def loss(rows: Tensor) -> Tensor:
            """What is learnt follows the beliefs; what is held out must explain its labels."""
            items = item.index_select(0, rows)
            logs: Tensor = net(classifier.features(items)).log_softmax(1)
            if net.training:
                return -(belief.index_select(0, items) * logs).sum(1).mean()  # eq. 1
            return -(evidence.index_select(0, items) + logs).logsumexp(1).mean()

        return Learner(module=net, loss=loss, each_epoch=lambda rows: judge(net, rows))

    split = hold_out(labels, np.arange(len(known)), cfg.held_out, run)
    net = classifier.learn(split, build)
    judge(net, split.everything)
    own = classifier.log_probabilities(net)
    posterior, _ = em.normalise(labels, own + evidence)
    # A classifier that knows items by their labels is not blind to them even alone.
    seen = classifier.items.origin == "features"
    return classifier.estimate(
        net,
        method="dl_em",
        posterior=posterior,
        confusion=workers.confusion(),
        artefacts={alone.NAME: alone.parts(own.exp())} if seen else {},
    )
