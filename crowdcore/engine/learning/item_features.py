"""What is known about each item besides its labels: features, or what the labels alone tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from crowdcore.wording import count

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.artefacts.spectral import Origin
    from crowdcore.config import LearningConfig
    from crowdcore.engine.labels import Labels
    from crowdcore.engine.ratings import Ratings
    from crowdcore.engine.splits import Split
    from crowdcore.run import Run

MAX_COMPONENTS = 32
"""Principal directions that are kept of who gave which class to an item."""

MIN_DEVIATION = 1e-8
"""A feature that deviates less is constant, and says nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemFeatures:
    """Standardised features of every item, and how to standardise those of new ones.

    Attributes
    ----------
    x : Tensor [N, ...]
        In float32; 0, the mean, where an item has none.
    mean, scale : array [D], or [C, 1, 1] of pictures
        What was subtracted, and what the rest was divided by.
    origin : {"features", "labels"}
        Whether the data bring features, or they were made from the labels.
    notes : tuple of str
        What the result should say about them.
    """

    x: Tensor
    mean: NDArray[Any]
    scale: NDArray[Any]
    origin: Origin
    notes: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one item's features."""
        return tuple(self.x.shape[1:])

    def described_items(self, labels: Labels) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Find the items that features or labels say anything about.

        Returns
        -------
        items : array of int
        notes : tuple of str
            A note about the other items, if there are any.
        """
        features = labels.data.features
        if self.origin == "features" and features is not None:
            described = ~np.isnan(features.reshape(len(features), -1)).any(1)
        else:
            described = labels.data.labels_per_item > 0
        n_others = int(np.count_nonzero(~described))
        note = f"Not completed: {count(n_others, 'item')} without {self.origin}."
        return np.flatnonzero(described), (note,) if n_others else ()


def item_features(labels: Labels, seed: int) -> ItemFeatures:
    """Return the features of the items; made from the labels where the data bring none.

    Parameters
    ----------
    labels : Labels
        The labels, and the items with their features.
    seed : int
        Where the search for principal directions begins.

    Returns
    -------
    ItemFeatures
    """
    features = labels.observed.features
    if features is None:
        note = (
            "These data have no item features: the method knew items only by who said what of "
            f"them ({MAX_COMPONENTS} main directions at most, and vote shares)."
        )
        return standardised(labels, _features_from_labels(labels, seed), "labels", (note,))
    return standardised(labels, features)


def features_per_training(
    labels: Labels, split: Split, cfg: LearningConfig, run: Run
) -> list[ItemFeatures]:
    """Return the items' features for each training; the last is for good.

    Features that are made from labels must not give away the labels that are held out.

    Parameters
    ----------
    labels : Labels
        The labels, and the items with their features.
    split : Split
        The labels to learn from, and those that are held out, as rows of `labels.rows`.
    cfg : LearningConfig
        Whether training is repeated on all labels.
    run : Run
        Whose seed is used.

    Returns
    -------
    list of ItemFeatures
        One, or one for each of two trainings.
    """
    features = item_features(labels, run.seed)
    if features.origin == "features" or not len(split.held_out):
        return [features]
    is_train = np.zeros(labels.n_labels, bool)
    is_train[labels.rows.order[split.train.cpu().numpy()]] = True
    from_fewer = item_features(labels.with_data(labels.data.only(is_train)), run.seed)
    return [from_fewer, features] if cfg.refit else [from_fewer]


def standardised(
    labels: Labels | Ratings,
    values: NDArray[Any],
    origin: Origin = "features",
    notes: tuple[str, ...] = (),
    *,
    together: bool = False,
) -> ItemFeatures:
    """Bring features to mean 0 and deviation 1 over the items that have labels and features.

    Parameters
    ----------
    labels : Labels or Ratings
        Who has labels, and where tensors live.
    values : array [N, ...]
        Features of the items; NaN where an item has none.
    origin : {"features", "labels"}
        Whether the data bring them, or they were made from the labels.
    notes : tuple of str
        What the result should say about them.
    together : bool
        Divide all numbers by one deviation instead of each feature by its own, so that features
        that vary much keep counting for more.

    Returns
    -------
    ItemFeatures
    """
    flat = values.reshape(len(values), -1)
    has_features = ~np.isnan(flat).any(1)
    if n_missing := int((~has_features).sum()):
        average = f"{count(n_missing, 'item')} without features: average ones stand in for them."
        notes = (*notes, average)
    reference = values[has_features & (labels.labels_per_item > 0)]
    if not len(reference):  # nothing to learn from: all features count as average
        reference = np.zeros((1, *values.shape[1:]), np.float32)
    axes = (0,) if values.ndim == 2 else (0, 2, 3)  # noqa: PLR2004  (a picture: by channel)
    mean = reference.mean(axes, dtype=np.float64, keepdims=True)[0]
    scale = reference.std(axes, dtype=np.float64, keepdims=True)[0]
    if together:
        scale = np.full_like(scale, np.sqrt((scale**2).mean()))
    scale = np.where(scale > MIN_DEVIATION, scale, 1.0)
    x = np.nan_to_num((values - mean) / scale).astype(np.float32)
    return ItemFeatures(
        x=labels.tensor(x, torch.float32),
        mean=mean.astype(np.float32),
        scale=scale.astype(np.float32),
        origin=origin,
        notes=notes,
    )


def _features_from_labels(labels: Labels, seed: int) -> NDArray[Any]:
    """Principal directions of the sparse matrix items × (worker, given), and vote shares."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import svds

    data = labels.data
    keys = data.worker.astype(np.int64) * data.n_classes + data.label
    shape = (data.n_items, data.n_workers * data.n_classes)
    given = csr_array((np.ones(data.n_labels), (data.item, keys)), shape=shape)
    shares = data.votes / np.maximum(data.votes.sum(1, keepdims=True), 1)
    n = min(MAX_COMPONENTS, min(shape) - 1)
    if n < 1:
        return np.asarray(shares, np.float32)
    start = np.random.default_rng(seed).random(min(shape))
    vectors, sizes, _ = svds(given, n, tol=1e-10, v0=start)
    # A direction has no sign of its own: its largest entry is made positive.
    vectors *= np.sign(np.take_along_axis(vectors, abs(vectors).argmax(0)[None], 0))
    return np.asarray(np.hstack([(vectors * sizes)[:, ::-1], shares]), np.float32)
