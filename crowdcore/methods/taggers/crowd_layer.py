"""Crowd layer (2018) for texts: a tagger that learns from all workers through a layer each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import TaggerConfig
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.texts.text_tagger import TextBatch
    from crowdcore.run import Run


class TextCrowdLayerConfig(TaggerConfig):
    """Settings of the crowd layer for texts."""

    layer: Literal["confusion", "mw", "vw+b", "vw", "vb"] = Field(
        "confusion",
        description="What a worker does to the tag probabilities: passes them through a confusion "
        "matrix that begins at Dawid-Skene's (confusion); or, as in the paper, multiplies them by "
        "any matrix (mw), weighs them (vw), shifts them (vb), or both (vw+b).",
    )
    vote_epochs: int = Field(
        2,
        ge=0,
        le=1000,
        description="Passes in which the tagger learns the vote by token, before it learns "
        "through the layers.",
    )
    pace: float = Field(
        10.0,
        gt=0,
        le=1000,
        description="Factor by which the layers of the paper learn faster than the tagger.",
    )
    gain: bool = Field(
        True,
        description="Also learn a factor that is common to all workers, in the layers of the "
        "paper; the paper has none.",
    )


@method(
    title="Crowd layer for texts",
    year=2018,
    paper="Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=TextCrowdLayerConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
    quick={"epochs": 40, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def crowd_layer(labels: Labels, cfg: TextCrowdLayerConfig, run: Run) -> ClassEstimate:
    """Train a tagger from everybody's tags, through one layer per worker that models errors."""
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.annotations import vote_by_token
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.texts.text_tagger import TextTagger
    from crowdcore.methods.taggers._layers import make_layers

    tagger = TextTagger.from_labels(labels, cfg, run)
    new_layer = make_layers(labels, cfg, run)
    observed = labels.rows
    vote = labels.tensor(vote_by_token(labels.data).astype("int64"))

    def build() -> Learner:
        net, layer, epoch = tagger.new_net(), new_layer(), 0

        def count_epoch(texts: Tensor) -> None:
            nonlocal epoch
            epoch += 1

        def loss(batch: TextBatch) -> Tensor:
            scores = batch.scores(net)
            if net.training and epoch <= cfg.vote_epochs:
                return cross_entropy(scores, vote.index_select(0, batch.tokens))
            shares = scores.softmax(1).index_select(0, batch.place)
            logits = layer(shares, observed.worker.index_select(0, batch.labels))
            return cross_entropy(logits, observed.given.index_select(0, batch.labels))

        module = nn.ModuleDict({"net": net, "layer": layer})
        return tagger.learner(net, loss, module=module, each_epoch=count_epoch)

    split = tagger.split(tagger.annotated)
    net = tagger.training.learn(split, build).module.get_submodule("net")
    assert isinstance(net, Net)
    return tagger.estimate(net, method="crowd_layer")
