"""What is known of each item besides its labels: features, or what the labels alone tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.artefacts.spectral import Origin
    from crowdcore.engine.train import Split
    from crowdcore.labels import Labels
    from crowdcore.method import LearningConfig
    from crowdcore.run import Run

MOST_COMPONENTS = 32
"""Directions that are kept of who said what of an item."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """Standardised features of every item, and how to standardise those of new ones."""

    x: Tensor  # [N, ...] float32; 0, the mean, where an item has none
    mean: NDArray[Any]  # [D], or [C, 1, 1] of pictures
    scale: NDArray[Any]
    origin: Origin
    notes: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one item's features."""
        return tuple(self.x.shape[1:])

    def told(self, labels: Labels) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """The items of which features or labels tell anything, and a note about the others."""
        features = labels.data.features
        if self.origin == "features" and features is not None:
            known = ~np.isnan(features.reshape(len(features), -1)).any(1)
        else:
            known = labels.data.labels_per_item > 0
        bare = int(np.count_nonzero(~known))
        note = f"{bare:,} items of which nothing is known were not completed."
        return np.flatnonzero(known), (note,) if bare else ()


def known_items(labels: Labels, seed: int) -> Items:
    """The features of the items; made from the labels where the data bring none."""
    given = labels.observed.features
    if given is None:
        note = (
            "These data have no item features: the method knew items only by who said what of "
            f"them ({MOST_COMPONENTS} main directions at most, and vote shares)."
        )
        return _standardised(labels, _from_labels(labels, seed), "labels", (note,))
    bare = int(np.isnan(given).reshape(len(given), -1).any(1).sum())
    note = f"{bare:,} items have no features; they were given average ones."
    return _standardised(labels, given, "features", (note,) if bare else ())


def views_of(labels: Labels, split: Split, cfg: LearningConfig, run: Run) -> list[Items]:
    """What is known of the items in each training; the last is for good.

    Features that are made from labels must not give away the labels that are held out.
    """
    items = known_items(labels, run.seed)
    if items.origin == "features" or not len(split.watch):
        return [items]
    data = labels.data
    order = np.lexsort((data.label, data.worker, data.item))  # of the rows, as in Triples
    learnt = np.zeros(data.n_labels, bool)
    learnt[order[split.learn.cpu().numpy()]] = True
    fewer = known_items(labels.of(data.only(learnt)), run.seed)
    return [fewer, items] if cfg.refit else [fewer]


def _standardised(
    labels: Labels, values: NDArray[Any], origin: Origin, notes: tuple[str, ...]
) -> Items:
    """Mean 0 and deviation 1 over the items that have labels and features."""
    flat = values.reshape(len(values), -1)
    there = ~np.isnan(flat).any(1)
    learnt = values[there & (labels.labels_per_item > 0)]
    if not len(learnt):  # nothing to learn from: all features count as average
        learnt = np.zeros((1, *values.shape[1:]), np.float32)
    across = (0,) if values.ndim == 2 else (0, 2, 3)  # noqa: PLR2004  (a picture: by channel)
    mean = learnt.mean(across, dtype=np.float64, keepdims=True)[0]
    scale = learnt.std(across, dtype=np.float64, keepdims=True)[0]
    scale = np.where(scale > 1e-8, scale, 1.0)  # noqa: PLR2004  (a constant tells nothing)
    x = np.nan_to_num((values - mean) / scale).astype(np.float32)
    return Items(
        x=labels.tensor(x, torch.float32),
        mean=mean.astype(np.float32),
        scale=scale.astype(np.float32),
        origin=origin,
        notes=notes,
    )


def _from_labels(labels: Labels, seed: int) -> NDArray[Any]:
    """Main directions of the sparse matrix items × (worker, given), and vote shares."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import svds

    data = labels.data
    keys = data.worker.astype(np.int64) * data.n_classes + data.label
    shape = (data.n_items, data.n_workers * data.n_classes)
    said = csr_array((np.ones(data.n_labels), (data.item, keys)), shape=shape)
    shares = data.votes / np.maximum(data.votes.sum(1, keepdims=True), 1)
    n = min(MOST_COMPONENTS, min(shape) - 1)
    if n < 1:
        return np.asarray(shares, np.float32)
    start = np.random.default_rng(seed).random(min(shape))
    left, size, _ = svds(said, n, tol=1e-10, v0=start)
    # A direction has no sign of its own: its largest part is made positive.
    left *= np.sign(np.take_along_axis(left, abs(left).argmax(0)[None], 0))
    return np.asarray(np.hstack([(left * size)[:, ::-1], shares]), np.float32)
