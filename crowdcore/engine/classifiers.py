"""What methods that train a classifier of items share: its net, its lessons, what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn
from torch.nn.functional import cross_entropy

from crowdcore.artefacts import classifier
from crowdcore.data import UNKNOWN
from crowdcore.engine import nets
from crowdcore.engine.items import Items, known_items
from crowdcore.engine.train import Learner, Split, Training, hold_out
from crowdcore.registry import fit
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.method import ClassifierConfig
    from crowdcore.run import Run


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemClassifier:
    """A net from the items' features to their classes, as a method's settings describe it."""

    labels: Labels
    run: Run
    cfg: ClassifierConfig
    items: Items
    description: dict[str, Any]

    @classmethod
    def of(
        cls, labels: Labels, cfg: ClassifierConfig, run: Run, *, heads: int = 0
    ) -> ItemClassifier:
        """Describe the net that suits the items; with `heads` as many answer jointly."""
        items = known_items(labels, run.seed)
        hidden = (cfg.hidden,) if cfg.hidden else ()
        description = nets.describe(
            items.shape, labels.n_classes, hidden=hidden, dropout=cfg.dropout, heads=heads
        )
        return cls(labels=labels, run=run, cfg=cfg, items=items, description=description)

    @property
    def training(self) -> Training:
        """The training loop with the method's settings."""
        return Training(labels=self.labels, run=self.run, cfg=self.cfg)

    def fresh(self) -> nets.Net:
        """The net with new weights."""
        return nets.build(self.description).to(self.labels.device)

    def features(self, item: Tensor) -> Tensor:
        """The features of some items, which may repeat [n, ...]."""
        return self.items.x.index_select(0, item)

    def log_probabilities(self, net: nn.Module) -> Tensor:
        """What a net thinks of every item, in logarithms [N, K]."""
        return nets.in_parts(net, self.items.x).to(self.labels.dtype).log_softmax(1)

    def learn_answers(self, known: NDArray[Any], answers: NDArray[Any]) -> nets.Net:
        """Train a net on items `known` [T] whose classes are taken to be `answers` [T]."""
        item = self.labels.tensor(known.astype(np.int64))
        answer = self.labels.tensor(answers.astype(np.int64))
        split = hold_out(self.labels, np.arange(len(known)), self.cfg.held_out, self.run)

        def build() -> Learner:
            net = self.fresh()

            def loss(rows: Tensor) -> Tensor:
                x = self.features(item.index_select(0, rows))
                return cross_entropy(net(x), answer.index_select(0, rows))

            return Learner(module=net, loss=loss)

        return self.learn(split, build)

    def learn(
        self, split: Split, build: Callable[[], Learner], stage: str = "Training"
    ) -> nets.Net:
        """Train a learner whose module is the net itself."""
        net = self.training.learn(split, build, stage).module
        assert isinstance(net, nets.Net)
        return net

    def learn_from(self, aggregator: str, **params: Any) -> tuple[nets.Net, str]:
        """Train a net on the truths that another method infers; also says that in a sentence."""
        data = self.labels.data
        for _ in self.run.loop(1, "Truths to learn"):
            result = fit(data, aggregator, run=self.run.part(aggregator), **params)
            self.run.log(labels=data.n_labels)
        known = np.flatnonzero((data.labels_per_item > 0) & (result.truth != UNKNOWN))
        tied = int(result.tied[known].sum())
        note = (
            f"The classifier was taught the truths of {result.provenance.title} for {len(known):,} "
            f"items; {tied:,} of them were ties, broken at random."
        )
        return self.learn_answers(known, result.truth[known]), note

    def estimate(
        self,
        net: nets.Net,
        *,
        method: str,
        posterior: Tensor | None = None,
        artefacts: Mapping[str, Any] = MappingProxyType({}),
        notes: tuple[str, ...] = (),
        **more: Any,
    ) -> Estimate:
        """The posterior, the net's own if no other is given, and the net for further items.

        A net that knows items only by their labels has nothing to say of items without labels,
        and nothing to leave behind.
        """
        if posterior is None:
            posterior = self.log_probabilities(net).exp()
        if self.items.origin == "labels":
            posterior = posterior.index_fill(0, self.labels.unlabelled, 1 / self.labels.n_classes)
            left = dict(artefacts)
        else:
            parts = classifier.parts(
                net=self.description,
                state=net.state_dict(),
                mean=self.items.mean,
                scale=self.items.scale,
                classes=self.labels.data.classes,
                method=method,
            )
            left = {**artefacts, classifier.NAME: parts}
        notes = (*self.items.notes, *notes)
        return Estimate(posterior=posterior, artefacts=left, notes=notes, **more)
