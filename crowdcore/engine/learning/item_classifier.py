"""What methods that train a classifier of items share: its net, its training, its estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn
from torch.nn.functional import cross_entropy

from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.engine.learning import networks
from crowdcore.engine.learning.item_features import ItemFeatures, item_features
from crowdcore.engine.learning.training import Learner, Training
from crowdcore.engine.splits import Split, hold_out_groups
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.config import ClassifierConfig
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemClassifier:
    """A net from the items' features to their classes, as a method's settings describe it.

    Attributes
    ----------
    labels : Labels
        The labels.
    run : Run
        Counts epochs, and can stop the training.
    cfg : ClassifierConfig
        Sizes and training settings.
    items : ItemFeatures
        Features of the items.
    description : dict
        What the net is built from.
    """

    labels: Labels
    run: Run
    cfg: ClassifierConfig
    items: ItemFeatures
    description: dict[str, Any]

    @classmethod
    def from_labels(
        cls, labels: Labels, cfg: ClassifierConfig, run: Run, *, heads: int = 0
    ) -> ItemClassifier:
        """Describe the net that suits the items.

        Parameters
        ----------
        labels : Labels
            The labels, and the items with their features.
        cfg : ClassifierConfig
            Sizes and training settings.
        run : Run
            Counts epochs, and can stop the training.
        heads : int
            Number of heads that answer jointly; 0 for a single one.

        Returns
        -------
        ItemClassifier
        """
        items = item_features(labels, run.seed)
        hidden = (cfg.hidden,) if cfg.hidden else ()
        description = networks.describe(
            items.shape, labels.n_classes, hidden=hidden, dropout=cfg.dropout, heads=heads
        )
        return cls(labels=labels, run=run, cfg=cfg, items=items, description=description)

    @property
    def training(self) -> Training:
        """The training loop with the method's settings."""
        return Training(labels=self.labels, run=self.run, cfg=self.cfg)

    def new_net(self) -> networks.Net:
        """Build the net with new weights."""
        return networks.build(self.description).to(self.labels.device)

    def features(self, item: Tensor) -> Tensor:
        """Return the features of some items, which may repeat [n, ...]."""
        return self.items.x.index_select(0, item)

    def log_probabilities(self, net: nn.Module) -> Tensor:
        """Return a net's log-probabilities of every item's classes [N, K]."""
        return networks.apply_in_chunks(net, self.items.x).to(self.labels.dtype).log_softmax(1)

    def learn_answers(self, items: NDArray[Any], answers: NDArray[Any]) -> networks.Net:
        """Train a net on items whose classes are taken for certain.

        Parameters
        ----------
        items : array of int [T]
            The items to learn from.
        answers : array of int [T]
            Their classes.

        Returns
        -------
        Net
        """
        item = self.labels.tensor(items.astype(np.int64))
        answer = self.labels.tensor(answers.astype(np.int64))
        split = hold_out_groups(self.labels, np.arange(len(items)), self.cfg.held_out, self.run)

        def build() -> Learner:
            net = self.new_net()

            def loss(rows: Tensor) -> Tensor:
                x = self.features(item.index_select(0, rows))
                return cross_entropy(net(x), answer.index_select(0, rows))

            return Learner(module=net, loss=loss)

        return self.learn(split, build)

    def learn(
        self, split: Split, build: Callable[[], Learner], stage: str = "Training"
    ) -> networks.Net:
        """Train a learner whose module is the net itself."""
        net = self.training.learn(split, build, stage).module
        assert isinstance(net, networks.Net)
        return net

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
        """Make the method's estimate, with the net for further items.

        A net that knows items only by their labels has nothing to say about items without labels,
        and nothing to leave behind.

        Parameters
        ----------
        net : Net
            The trained net.
        method : str
            The method's id.
        posterior : Tensor [N, K], optional
            The net's own, if not given.
        artefacts : sequence of Artefact
            What else the method leaves.
        notes : tuple of str
            What the result should say.
        **fields
            Further fields of the estimate.

        Returns
        -------
        ClassEstimate
        """
        if posterior is None:
            posterior = self.log_probabilities(net).exp()
        if self.items.origin == "labels":
            posterior = posterior.index_fill(0, self.labels.unlabelled, 1 / self.labels.n_classes)
        else:
            network = TrainedNetwork.from_state(
                self.description,
                net.state_dict(),
                mean=self.items.mean,
                scale=self.items.scale,
                classes=self.labels.data.classes,
                method=method,
            )
            artefacts = [*artefacts, network]
        notes = (*self.items.notes, *notes)
        return ClassEstimate(posterior=posterior, artefacts=artefacts, notes=notes, **fields)
