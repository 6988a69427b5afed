"""Transfer from the crowd to its workers: what networks see, and whom and what they learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import one_hot

from crowdcore.engine import siamese
from crowdcore.engine.centroids import Centroids

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.siamese import Lessons, Weights
    from crowdcore.labels import Labels
    from crowdcore.run import Run

AT_ONCE = 8_000_000
"""Numbers that are worked on together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sight:
    """What a network is shown of an item: its features, and what others said of it."""

    x: Tensor  # [N, D] features, each from 0 to 1
    votes: Tensor | None  # [N, K] of the workers who guide; None if networks see features alone

    @classmethod
    def of(cls, features: Tensor, votes: Tensor, *, others: bool) -> Sight:
        """Scale the features [N, D]; one that never varies is 0."""
        low, high = features.amin(0), features.amax(0)
        reach = torch.where(high > low, high - low, 1.0)
        return cls(x=(features - low) / reach, votes=votes if others else None)

    @property
    def width(self) -> int:
        """How many numbers a network is shown."""
        return self.x.shape[1] + (0 if self.votes is None else self.votes.shape[1])

    def __call__(self, item: Tensor, own: Tensor | None = None) -> Tensor:
        """The numbers of items [...] -> [..., D]; `own` [..., K] are votes to leave out."""
        seen = self.x[item]
        if self.votes is None:
            return seen
        votes = self.votes[item] if own is None else self.votes[item] - own
        # One vote in equal parts is added: few votes are less sure, and none tell nothing.
        total = votes.sum(-1, keepdim=True) + 1
        return torch.cat([seen, (votes + 1 / votes.shape[-1]) / total], -1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """The source domain: items whose majority is clear, and the majority's answer."""

    item: NDArray[np.int64]  # ordered by answer
    answer: NDArray[np.int64]

    @classmethod
    def of(cls, votes: NDArray[Any], rng: np.random.Generator, *, filtering: bool = True) -> Source:
        """Items whose majority has at least the share that is usual for its class (eqs. 1-5)."""
        top, total = votes.max(1), votes.sum(1)
        # Ties are drawn.
        answer = np.where(votes == top[:, None], 1 + rng.random(votes.shape), 0).argmax(1)
        share, seen = top / np.maximum(total, 1), total > 0
        n = np.bincount(answer[seen], minlength=votes.shape[1])
        usual = np.bincount(answer[seen], share[seen], minlength=len(n)) / np.maximum(n, 1)
        # A hair below the mean: items that all have the same share are all at it.
        item = np.flatnonzero(seen & (share >= usual[answer] - 1e-6) if filtering else seen)
        item = item[np.argsort(answer[item], kind="stable")]
        return cls(item=item, answer=answer[item])

    @property
    def n_classes(self) -> int:
        """How many classes there are items of."""
        return len(np.unique(self.answer))

    def lessons(
        self, labels: Labels, sight: Sight, pairs: int, *, batch: int, rate: float
    ) -> Lessons:
        """So many pairs an item, for one network."""
        item, answer = labels.tensor(self.item), labels.tensor(self.answer)
        return siamese.Lessons(
            rows=siamese.Rows.of(answer * 0, answer, 1, labels.n_classes),
            shown=lambda rows: sight(item[rows]),
            steps=[-(-pairs * len(item) // batch)],
            batch=batch,
            rate=rate,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Crew:
    """The labels ordered by worker, and the workers by how many labels tune their networks."""

    sight: Sight
    worker: NDArray[np.int64]  # [W] codes in this order
    order: NDArray[np.int64]  # [L] places of the labels, ordered by worker, class and item
    sizes: NDArray[np.int64]  # [W] labels of each worker
    lessons: NDArray[np.int64]  # [W] labels that tune; 0 of who is adverse or gave one class
    item: Tensor  # [L], and so on: the ordered labels
    code: Tensor
    guides: Tensor  # whether the label is among the votes that networks see

    @classmethod
    def of(cls, labels: Labels, sight: Sight, adverse: NDArray[np.bool_]) -> Crew:
        """Order labels and workers, so that the file's order plays no part."""
        data = labels.data
        key = np.unique(data.worker.astype(np.int64) * data.n_classes + data.label)
        classes = np.bincount(key // data.n_classes, minlength=data.n_workers)
        able = (classes > 1) & ~adverse
        lessons = np.where(able, data.labels_per_worker, 0)
        worker = np.argsort(-lessons, kind="stable")
        rank = np.empty_like(worker)
        rank[worker] = np.arange(len(worker))
        order = np.lexsort((data.item, data.label, rank[data.worker]))
        return cls(
            sight=sight,
            worker=worker,
            order=order,
            sizes=data.labels_per_worker[worker],
            lessons=lessons[worker],
            item=labels.tensor(data.item[order].astype(np.int64)),
            code=labels.tensor(data.label[order].astype(np.int64)),
            guides=labels.tensor(~adverse[data.worker[order]]),
        )

    def parts(self, numbers: int, classes: int) -> Iterator[Part]:
        """Workers whose networks, of so many numbers each, fit into memory together."""
        step = max(1, AT_ONCE // numbers)
        ends = np.cumsum(self.sizes)
        for at in range(0, len(self.worker), step):
            end = min(at + step, len(self.worker))
            labels = slice(int(ends[at] - self.sizes[at]), int(ends[end - 1]))
            yield Part(crew=self, workers=slice(at, end), labels=labels, classes=classes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Some workers of a crew, whose networks are trained together."""

    crew: Crew
    workers: slice
    labels: slice
    classes: int

    @property
    def n(self) -> int:
        """How many workers."""
        return int(self.workers.stop - self.workers.start)

    @property
    def places(self) -> NDArray[np.int64]:
        """Where the labels of these workers are in the data."""
        return self.crew.order[self.labels]

    @property
    def owner(self) -> Tensor:
        """The worker of each label, counted in this part."""
        sizes = self.crew.sizes[self.workers]
        return torch.from_numpy(np.repeat(np.arange(self.n), sizes)).to(self.crew.item.device)

    def shown(self, rows: Tensor) -> Tensor:
        """What a worker's network sees of the item of each label, without that label itself."""
        rows = rows + self.labels.start
        own = one_hot(self.crew.code[rows], self.classes) * self.crew.guides[rows].unsqueeze(-1)
        return self.crew.sight(self.crew.item[rows], own)

    def tune(self, weights: Weights, pairs: int, *, batch: int, rate: float, run: Run) -> None:
        """Train every network on its worker's labels, so many pairs a label."""
        codes = self.crew.code[self.labels]
        steps = -(-pairs * self.crew.lessons[self.workers] // batch)
        lessons = siamese.Lessons(
            rows=siamese.Rows.of(self.owner, codes, self.n, self.classes),
            shown=self.shown,
            steps=steps.tolist(),
            batch=batch,
            rate=rate,
        )
        siamese.train(weights, lessons, run, "Workers")

    def embed(self, weights: Weights) -> Tensor:
        """Where each label's item lies in its worker's embedding [labels, E]."""
        sizes = torch.from_numpy(self.crew.sizes[self.workers]).to(self.crew.item.device)
        width = self.crew.sight.width + weights[0].shape[2]
        with torch.no_grad():
            return siamese.embed_rows(weights, sizes, self.shown, AT_ONCE // width)

    def centroids(self, placed: Tensor) -> Centroids:
        """The workers' classes, from where their labels' items lie."""
        codes = self.crew.code[self.labels]
        return Centroids.of(placed, self.owner, codes, (self.n, self.classes))
