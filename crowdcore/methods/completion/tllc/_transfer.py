"""Transfer from the crowd to its workers: the networks' inputs, and what they learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import one_hot

from crowdcore.engine.learning.supervision import clear_majorities
from crowdcore.methods.completion.tllc import _siamese as siamese
from crowdcore.methods.completion.tllc._centroids import Centroids

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.methods.completion.tllc._siamese import PairTask, Weights
    from crowdcore.run import Run

NUMBERS_PER_CHUNK = 8_000_000
"""Numbers that are worked on together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkInput:
    """A network's input for an item: its features, and the labels of other workers."""

    x: Tensor  # [N, D] features, each from 0 to 1
    votes: Tensor | None  # [N, K] of workers who are not adverse; None for features alone

    @classmethod
    def from_features(cls, features: Tensor, votes: Tensor, *, with_votes: bool) -> NetworkInput:
        """Scale the features [N, D] to 0..1; one that never varies is 0."""
        low, high = features.amin(0), features.amax(0)
        width = torch.where(high > low, high - low, 1.0)
        return cls(x=(features - low) / width, votes=votes if with_votes else None)

    @property
    def width(self) -> int:
        """The size of the input."""
        return self.x.shape[1] + (0 if self.votes is None else self.votes.shape[1])

    def __call__(self, item: Tensor, excluded: Tensor | None = None) -> Tensor:
        """The inputs of items [...] -> [..., D]; `excluded` [..., K] are votes to leave out."""
        features = self.x[item]
        if self.votes is None:
            return features
        votes = self.votes[item] if excluded is None else self.votes[item] - excluded
        # One vote in equal parts is added: few votes are less certain, and none say nothing.
        total = votes.sum(-1, keepdim=True) + 1
        return torch.cat([features, (votes + 1 / votes.shape[-1]) / total], -1)


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceDomain:
    """The source domain: items whose majority is clear, and the majority's answer."""

    item: NDArray[np.int64]  # ordered by answer
    answer: NDArray[np.int64]

    @classmethod
    def from_votes(
        cls, votes: NDArray[Any], rng: np.random.Generator, *, filtering: bool = True
    ) -> SourceDomain:
        """Items whose majority has at least the share that is usual for its class (eqs. 1-5)."""
        top, total = votes.max(1), votes.sum(1)
        # Ties are drawn.
        answer = np.where(votes == top[:, None], 1 + rng.random(votes.shape), 0).argmax(1)
        share, labelled = top / np.maximum(total, 1), total > 0
        chosen = clear_majorities(share, answer, labelled) if filtering else labelled
        item = np.flatnonzero(chosen)
        item = item[np.argsort(answer[item], kind="stable")]
        return cls(item=item, answer=answer[item])

    @property
    def n_classes(self) -> int:
        """How many classes there are items of."""
        return len(np.unique(self.answer))

    def task(
        self, labels: Labels, network_input: NetworkInput, pairs: int, *, batch: int, rate: float
    ) -> PairTask:
        """So many pairs per item, for one network."""
        item, answer = labels.tensor(self.item), labels.tensor(self.answer)
        return siamese.PairTask(
            rows=siamese.RowsByClass.from_codes(answer * 0, answer, 1, labels.n_classes),
            inputs=lambda rows: network_input(item[rows]),
            steps=[-(-pairs * len(item) // batch)],
            batch=batch,
            rate=rate,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerOrder:
    """The labels ordered by worker, and the workers by how many labels tune their networks."""

    network_input: NetworkInput
    worker: NDArray[np.int64]  # [W] codes in this order
    label_index: NDArray[np.int64]  # [L] of the labels, ordered by worker, class and item
    n_labels: NDArray[np.int64]  # [W] labels of each worker
    n_tuning: NDArray[np.int64]  # [W] labels that tune; 0 of who is adverse or gave one class
    item: Tensor  # [L], and so on: the ordered labels
    code: Tensor
    in_votes: Tensor  # whether the label is among the votes of the networks' input

    @classmethod
    def from_labels(
        cls, labels: Labels, network_input: NetworkInput, adverse: NDArray[np.bool_]
    ) -> WorkerOrder:
        """Order labels and workers, so that the file's order plays no part."""
        data = labels.data
        key = np.unique(data.worker.astype(np.int64) * data.n_classes + data.label)
        classes = np.bincount(key // data.n_classes, minlength=data.n_workers)
        tunable = (classes > 1) & ~adverse
        n_tuning = np.where(tunable, data.labels_per_worker, 0)
        worker = np.argsort(-n_tuning, kind="stable")
        rank = np.empty_like(worker)
        rank[worker] = np.arange(len(worker))
        order = np.lexsort((data.item, data.label, rank[data.worker]))
        return cls(
            network_input=network_input,
            worker=worker,
            label_index=order,
            n_labels=data.labels_per_worker[worker],
            n_tuning=n_tuning[worker],
            item=labels.tensor(data.item[order].astype(np.int64)),
            code=labels.tensor(data.label[order].astype(np.int64)),
            in_votes=labels.tensor(~adverse[data.worker[order]]),
        )

    def chunks(self, numbers: int, classes: int) -> Iterator[WorkerChunk]:
        """Workers whose networks, of so many numbers each, fit into memory together."""
        step = max(1, NUMBERS_PER_CHUNK // numbers)
        ends = np.cumsum(self.n_labels)
        for begin in range(0, len(self.worker), step):
            end = min(begin + step, len(self.worker))
            labels = slice(int(ends[begin] - self.n_labels[begin]), int(ends[end - 1]))
            yield WorkerChunk(order=self, workers=slice(begin, end), labels=labels, classes=classes)


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerChunk:
    """Some workers, whose networks are trained together."""

    order: WorkerOrder
    workers: slice
    labels: slice
    classes: int

    @property
    def n(self) -> int:
        """How many workers."""
        return int(self.workers.stop - self.workers.start)

    @property
    def label_index(self) -> NDArray[np.int64]:
        """Where the labels of these workers are in the data."""
        return self.order.label_index[self.labels]

    @property
    def owner(self) -> Tensor:
        """The worker of each label, counted in this chunk."""
        sizes = self.order.n_labels[self.workers]
        return torch.from_numpy(np.repeat(np.arange(self.n), sizes)).to(self.order.item.device)

    def inputs(self, rows: Tensor) -> Tensor:
        """The network's input for the item of each label, without that label itself."""
        rows = rows + self.labels.start
        label = one_hot(self.order.code[rows], self.classes)
        excluded = label * self.order.in_votes[rows].unsqueeze(-1)
        return self.order.network_input(self.order.item[rows], excluded)

    def tune(self, weights: Weights, pairs: int, *, batch: int, rate: float, run: Run) -> None:
        """Train every network on its worker's labels, so many pairs per label."""
        codes = self.order.code[self.labels]
        steps = -(-pairs * self.order.n_tuning[self.workers] // batch)
        task = siamese.PairTask(
            rows=siamese.RowsByClass.from_codes(self.owner, codes, self.n, self.classes),
            inputs=self.inputs,
            steps=steps.tolist(),
            batch=batch,
            rate=rate,
        )
        siamese.train(weights, task, run, "Workers")

    def embed(self, weights: Weights) -> Tensor:
        """The embedding of each label's item by its worker's network [labels, E]."""
        sizes = torch.from_numpy(self.order.n_labels[self.workers]).to(self.order.item.device)
        width = self.order.network_input.width + weights[0].shape[2]
        with torch.no_grad():
            return siamese.embed_rows(weights, sizes, self.inputs, NUMBERS_PER_CHUNK // width)

    def centroids(self, embedded: Tensor) -> Centroids:
        """The workers' classes, from the embeddings of their labels' items."""
        codes = self.order.code[self.labels]
        return Centroids.from_embedding(embedded, self.owner, codes, (self.n, self.classes))
