"""What methods that train a tagger share: its network, its batches, its training, its estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.engine.learning import networks
from crowdcore.engine.learning.training import Learner, Training
from crowdcore.engine.splits import Split, hold_out_groups
from crowdcore.engine.texts.tagger import (
    N_FEATURES,
    TOKENS_PER_CHUNK,
    apply_to_texts,
    lay_out,
    n_buckets,
    word_features,
)
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.config import TaggerConfig
    from crowdcore.data import CrowdData
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Some texts, ready for the network, and what workers gave their tokens.

    Attributes
    ----------
    inputs : Tensor [rows, 5]
        Their tokens laid end to end, with gaps.
    rows : Tensor [n]
        The row in which each token stands.
    tokens : Tensor [n]
        The tokens among those of all texts.
    labels : Tensor [m]
        Rows of `Labels.rows` that are about these tokens.
    place : Tensor [m]
        The token of each such label, among `tokens`.
    """

    inputs: Tensor
    rows: Tensor
    tokens: Tensor
    labels: Tensor
    place: Tensor

    def hidden(self, net: networks.Net) -> Tensor:
        """Return the hidden state of the tokens [n, H]."""
        hidden: Tensor = net.trunk(self.inputs)
        return hidden.index_select(0, self.rows)

    def scores(self, net: networks.Net) -> Tensor:
        """Return the network's logits of the tokens' tags [n, K]."""
        scores: Tensor = net.head(self.hidden(net))
        return scores


def documents_of(data: CrowdData) -> NDArray[np.int64]:
    """Return the code of the document that each text is a part of [S]."""
    starts = np.asarray(data.offsets, np.int64)[:-1]
    names = np.asarray(data.details.get("document", data.items), object)[starts]
    _, code = np.unique(names.astype(str), return_inverse=True)
    return np.asarray(code, np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class TextTagger:
    """A network from the words of texts to tags, as a method's settings describe it.

    Attributes
    ----------
    labels : Labels
        Labels of the kind "sequences".
    run : Run
        Counts epochs, and can stop the training.
    cfg : TaggerConfig
        Sizes and training settings.
    features : array of int [N, 5]
        What is seen of each token.
    description : dict
        What the network is built from.
    """

    labels: Labels
    run: Run
    cfg: TaggerConfig
    features: NDArray[np.int64]
    description: dict[str, Any]

    @classmethod
    def from_labels(
        cls, labels: Labels, cfg: TaggerConfig, run: Run, *, heads: int = 0
    ) -> TextTagger:
        """Describe the network that suits the texts.

        Parameters
        ----------
        labels : Labels
            Labels of the kind "sequences".
        cfg : TaggerConfig
            Sizes and training settings.
        run : Run
            Counts epochs, and can stop the training.
        heads : int
            Number of heads that answer jointly; 0 for a single one.

        Returns
        -------
        TextTagger
        """
        data = labels.data
        tokens = data.details.get("token", data.items)
        buckets = n_buckets(tokens)
        description = networks.describe_tagger(
            labels.n_classes,
            shape=(N_FEATURES,),
            buckets=buckets,
            width=cfg.width,
            dropout=cfg.dropout,
            heads=heads,
        )
        return cls(
            labels=labels,
            run=run,
            cfg=cfg,
            features=word_features(tokens, buckets),
            description=description,
        )

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each text starts among the tokens, and the last one ends [S + 1]."""
        return np.asarray(self.labels.data.offsets, np.int64)

    @cached_property
    def first_label(self) -> NDArray[np.int64]:
        """Where the labels of each token begin among `Labels.rows` [N + 1]."""
        return np.concatenate([[0], np.cumsum(self.labels.data.labels_per_item)])

    @cached_property
    def annotated(self) -> NDArray[np.int64]:
        """The texts that somebody annotated, at least in part."""
        return np.flatnonzero(np.diff(self.first_label[self.offsets]))

    @property
    def training(self) -> Training:
        """The training loop with the method's settings."""
        return Training(labels=self.labels, run=self.run, cfg=self.cfg)

    def new_net(self) -> networks.Net:
        """Build the network with new weights."""
        return networks.build(self.description).to(self.labels.device)

    def batch(self, texts: Tensor) -> TextBatch:
        """Lay some texts end to end, with what workers gave their tokens."""
        laid_out = lay_out(texts.cpu().numpy(), self.offsets)
        first = self.first_label[laid_out.tokens]
        n_labels = self.first_label[laid_out.tokens + 1] - first
        place = np.repeat(np.arange(len(first)), n_labels)
        begin = np.cumsum(n_labels) - n_labels
        arrays = (
            laid_out.inputs(self.features),
            laid_out.rows,
            laid_out.tokens,
            (first - begin)[place] + np.arange(len(place)),
            place,
        )
        return TextBatch(*(self.labels.tensor(array) for array in arrays))

    def learner(
        self,
        net: networks.Net,
        loss: Callable[[TextBatch], Tensor],
        *,
        module: torch.nn.Module | None = None,
        each_epoch: Callable[[Tensor], None] | None = None,
    ) -> Learner:
        """Make a learner whose rows are texts.

        Parameters
        ----------
        net : Net
            The network.
        loss : callable
            From a batch of texts to its mean loss.
        module : torch.nn.Module, optional
            What holds all weights; the network, if not given.
        each_epoch : callable, optional
            Called before every epoch with the texts that are learnt from.

        Returns
        -------
        Learner
        """
        mean_length = max(1, len(self.features) // max(1, len(self.offsets) - 1))
        return Learner(
            module=net if module is None else module,
            loss=lambda texts: loss(self.batch(texts)),
            rows_per_chunk=max(1, TOKENS_PER_CHUNK // mean_length),
            **({} if each_epoch is None else {"each_epoch": each_epoch}),
        )

    def split(self, texts: NDArray[np.int64]) -> Split:
        """Hold out a share of the documents that some texts are from; rows are texts."""
        documents = documents_of(self.labels.data)[texts]
        split = hold_out_groups(self.labels, documents, self.cfg.held_out, self.run)
        chosen = self.labels.tensor(texts)
        return Split(
            train=chosen.index_select(0, split.train),
            held_out=chosen.index_select(0, split.held_out),
        )

    def learn(
        self, split: Split, build: Callable[[], Learner], stage: str = "Training"
    ) -> networks.Net:
        """Train a learner whose module is the network itself."""
        net = self.training.learn(split, build, stage).module
        assert isinstance(net, networks.Net)
        return net

    def learn_tags(
        self, texts: NDArray[np.int64], tags: NDArray[Any], stage: str = "Training"
    ) -> networks.Net:
        """Train a network on texts whose tags are taken for certain.

        Parameters
        ----------
        texts : array of int
            The texts to learn from.
        tags : array of int [N]
            The tags of all tokens; those of other texts are not looked at.
        stage : str
            What the run calls the training.

        Returns
        -------
        Net
        """
        wanted = self.labels.tensor(np.asarray(tags, np.int64))

        def build() -> Learner:
            net = self.new_net()

            def loss(batch: TextBatch) -> Tensor:
                scores, expected = batch.scores(net), wanted.index_select(0, batch.tokens)
                if net.training:
                    return cross_entropy(scores, expected)
                # Held-out texts stop the training by their errors: a net grows too sure of its
                # probabilities long before it finds fewer spans.
                return (scores.argmax(1) != expected).float().mean()

            return self.learner(net, loss)

        return self.learn(self.split(texts), build, stage)

    def log_probabilities(self, net: networks.Net) -> Tensor:
        """Return the log-probabilities of every token's tags [N, K]."""
        scores = apply_to_texts(net, self.features, self.offsets)
        return scores.to(self.labels.dtype).log_softmax(1)

    def estimate(
        self,
        net: networks.Net,
        *,
        method: str,
        posterior: Tensor | None = None,
        artefacts: Sequence[Artefact] = (),
        notes: tuple[str, ...] = (),
        **fields: Any,
    ) -> ClassEstimate:
        """Make the method's estimate, with the tagger for further texts.

        Parameters
        ----------
        net : Net
            The trained network.
        method : str
            The method's id.
        posterior : Tensor [N, K], optional
            The network's own, if not given.
        artefacts : sequence of Artefact
            What else the method leaves.
        notes : tuple of str
            What the result should say.
        **fields
            Further fields of the estimate.

        Returns
        -------
        ClassEstimate
            Its tags are made to fit together when it becomes a result.
        """
        if posterior is None:
            posterior = self.log_probabilities(net).exp()
        tagger = TrainedNetwork.from_state(
            self.description,
            net.state_dict(),
            mean=np.zeros(N_FEATURES),
            scale=np.ones(N_FEATURES),
            classes=self.labels.data.classes,
            method=method,
        )
        return ClassEstimate(
            posterior=posterior, artefacts=[*artefacts, tagger], notes=notes, **fields
        )
