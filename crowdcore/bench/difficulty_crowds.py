"""Simulated crowds that find some items hard: two Gaussians, and handwritten digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, Floats

POINTS_SEED, LABELS_SEED = 1228, 1234
"""The paper's draws of the points and of the labels."""

SENSITIVITY = np.array([0.8, 0.6, 0.6, 0.7, 0.6])
SPECIFICITY = np.array([0.6, 0.7, 0.6, 0.7, 0.7])
"""Of the five experts, on points that are far from the boundary."""

POINTS_PER_CLASS = 500
"""Points of a class, both to learn from and to test on."""

DIGITS_LEARNT = 1000
"""Digits that the crowd labels; the others are to test on."""

WORKERS, LABELS_PER_DIGIT = 20, 5

ABILITY = (2.0, 6.0)
"""Abilities of the workers who label digits; on the easiest of ten, right in 45 % to 98 %."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Crowd:
    """Labels with features and gold, and further items to test a classifier on."""

    data: CrowdData
    features: NDArray[np.float32]
    truth: NDArray[np.int64]


def gaussian_crowd(points_seed: int = POINTS_SEED, labels_seed: int = LABELS_SEED) -> Crowd:
    """Simulate two Gaussians, and five experts who err more the nearer a point is to the boundary.

    Parameters
    ----------
    points_seed : int, default POINTS_SEED
        Seed of the points.
    labels_seed : int, default LABELS_SEED
        Seed of the labels.

    Returns
    -------
    Crowd
        Labels of the experts, and points to test a classifier on.
    """
    draw = np.random.RandomState(points_seed)  # the paper's own draws
    learn, test = _points(draw), _points(draw)
    truth = np.repeat([1, 0], POINTS_PER_CLASS)
    easy = 4 * (_logistic(learn.sum(1)) - 0.5) ** 2
    strength = np.log(np.stack([SPECIFICITY, SENSITIVITY]))  # [class, expert]
    strength -= np.log(1 - np.stack([SPECIFICITY, SENSITIVITY]))
    right = _logistic(strength[truth] * easy[:, None])  # eqs. 1-2, [N, expert]
    positive = np.where(truth[:, None] == 1, right, 1 - right)
    luck = np.random.RandomState(labels_seed).random_sample(right.shape)
    given = (luck >= 1 - positive).astype(np.int64)
    item, worker = (axis.ravel() for axis in np.indices(given.shape))
    data = _crowd_data(
        triples=(item, worker, given.ravel()),
        truth=truth,
        features=learn,
        n_workers=given.shape[1],
        n_classes=2,
    )
    return Crowd(data=data, features=test, truth=truth)


def digit_crowd(seed: int, *, look_alikes: bool) -> Crowd:
    """Simulate workers who err more the less clear a handwritten digit is to a reference.

    Parameters
    ----------
    seed : int
        Seed of the split, the workers and the labels.
    look_alikes : bool
        Draw wrong labels by the reference's probabilities instead of evenly.

    Returns
    -------
    Crowd
        Labels of the workers, and digits to test a classifier on.
    """
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    pixels, answers = load_digits(return_X_y=True)
    x, truth = (pixels / 16).astype(np.float32), answers.astype(np.int64)
    reference = _reference(x, truth)
    order = rng.permutation(len(x))
    learn, test = order[:DIGITS_LEARNT], order[DIGITS_LEARNT:]
    classes = reference.shape[1]
    easy = ((reference - 1 / classes) ** 2).sum(1) * classes / (classes - 1)
    ability = rng.uniform(*ABILITY, WORKERS)
    item = np.repeat(np.arange(DIGITS_LEARNT), LABELS_PER_DIGIT)
    worker = rng.permuted(np.tile(np.arange(WORKERS), (DIGITS_LEARNT, 1)), axis=1)
    worker = worker[:, :LABELS_PER_DIGIT].ravel()
    shown = learn[item]
    right = _logistic(ability[worker] * easy[shown] - np.log(classes - 1))
    wrong = reference[shown] if look_alikes else np.ones((len(item), classes))
    chance = _answers(right, wrong, truth[shown])
    given = (rng.random((len(item), 1)) > chance.cumsum(1)).sum(1).clip(max=classes - 1)
    data = _crowd_data(
        triples=(item, worker, given),
        truth=truth[learn],
        features=x[learn],
        n_workers=WORKERS,
        n_classes=classes,
    )
    return Crowd(data=data, features=x[test], truth=truth[test])


def _points(draw: np.random.RandomState) -> NDArray[np.float32]:
    """Points around (1, 1), then as many around (-1, -1)."""
    groups = [
        np.stack([draw.randn(POINTS_PER_CLASS) + centre, draw.randn(POINTS_PER_CLASS) + centre], 1)
        for centre in (1, -1)
    ]
    return np.concatenate(groups).astype(np.float32)


def _reference(x: NDArray[np.float32], truth: NDArray[np.int64]) -> Floats:
    """How near each digit [n, K] is to the class means of the four fifths it is not part of."""
    fold_of = np.random.default_rng(0).permutation(len(x)) % 5
    probabilities = np.empty((len(x), int(truth.max()) + 1))
    for fold in range(5):
        in_fold = fold_of == fold
        means = np.stack(
            [x[~in_fold & (truth == k)].mean(0) for k in range(probabilities.shape[1])]
        )
        similarity = -((x[in_fold][:, None] - means) ** 2).sum(2)
        weights = np.exp(similarity - similarity.max(1, keepdims=True))
        probabilities[in_fold] = weights / weights.sum(1, keepdims=True)
    return probabilities


def _answers(right: Floats, wrong: Floats, truth: NDArray[np.int64]) -> Floats:
    """The chance of each answer [L, K]: `right` for the truth, the rest shared by `wrong`."""
    rows = np.arange(len(truth))
    chance = wrong.copy()
    chance[rows, truth] = 0
    chance *= ((1 - right) / chance.sum(1))[:, None]
    chance[rows, truth] = right
    return chance


def _crowd_data(
    *,
    triples: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    truth: NDArray[np.int64],
    features: NDArray[np.float32],
    n_workers: int,
    n_classes: int,
) -> CrowdData:
    item, worker, given = triples
    return CrowdData(
        item=item,
        worker=worker,
        label=given,
        items=tuple(f"i{n}" for n in range(len(truth))),
        workers=tuple(f"w{n + 1}" for n in range(n_workers)),
        classes=tuple(str(n) for n in range(n_classes)),
        gold=truth,
        features=features,
    )


def _logistic(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-values))
