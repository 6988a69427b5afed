"""DL-EM (2016): a tagger and the workers' confusion matrices, learnt in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import TaggerConfig
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.texts.text_tagger import TextBatch
    from crowdcore.run import Run


class TaggerEMConfig(TaggerConfig):
    """Settings of DL-EM for texts."""

    smoothing: float = Field(
        0.1, gt=0, le=10, description="Tags added to each cell of a confusion matrix."
    )


@method(
    title="Tagger and confusion matrices by EM (DL-EM)",
    year=2016,
    paper="Albarqouni et al., AggNet, doi:10.1109/TMI.2016.2528120",
    config=TaggerEMConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork, FeaturePosterior],
)
def dl_em(labels: Labels, cfg: TaggerEMConfig, run: Run) -> ClassEstimate:
    """Train a tagger and the workers' confusion matrices in turn, by EM."""
    import torch

    from crowdcore.engine import em
    from crowdcore.engine.texts.text_tagger import TextTagger
    from crowdcore.engine.worker_models import ConfusionModel

    tagger = TextTagger.from_labels(labels, cfg, run)
    text_of_token = np.repeat(np.arange(len(tagger.offsets) - 1), np.diff(tagger.offsets))
    text = labels.tensor(text_of_token)
    workers = ConfusionModel(labels, cfg.smoothing)
    posterior = label_log_likelihood = em.initial_posterior(labels, "votes")  # [N, K]
    started = False

    def em_step(net: Net, texts: Tensor) -> None:
        """E step with the net as it is, then the workers' part of the M step."""
        nonlocal posterior, label_log_likelihood, started
        if started:
            scores = tagger.log_probabilities(net) + label_log_likelihood
            posterior, _ = em.normalise(labels, scores)
        of_text = torch.zeros(len(tagger.offsets) - 1, dtype=labels.dtype, device=labels.device)
        counts = of_text.index_fill(0, texts, 1.0).index_select(0, text)
        workers.m_step(posterior, posterior, counts)
        label_log_likelihood, started = workers.log_likelihood(), True

    def build() -> Learner:
        nonlocal posterior, started
        net = tagger.new_net()
        posterior, started = em.initial_posterior(labels, "votes"), False

        def loss(batch: TextBatch) -> Tensor:
            """In training the net follows the posterior; held-out texts must explain labels."""
            log_prior = batch.scores(net).log_softmax(1)
            if net.training:
                return -(posterior.index_select(0, batch.tokens) * log_prior).sum(1).mean()
            scores = label_log_likelihood.index_select(0, batch.tokens) + log_prior
            return -scores.logsumexp(1).mean()

        return tagger.learner(net, loss, each_epoch=lambda texts: em_step(net, texts))

    split = tagger.split(tagger.annotated)
    net = tagger.learn(split, build)
    em_step(net, split.all_rows)
    log_prior = tagger.log_probabilities(net)
    posterior, _ = em.normalise(labels, log_prior + label_log_likelihood)
    return tagger.estimate(
        net,
        method="dl_em",
        posterior=posterior,
        confusion=workers.confusion(),
        artefacts=[FeaturePosterior(probabilities=log_prior.exp())],
    )
