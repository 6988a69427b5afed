"""How much likelier the truth of an item becomes right by so many further labels."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats

MAX_FURTHER = 5
"""Further labels of one item that are looked at."""

ITEM_STRENGTH = 4.0
"""How many labels of its own an item needs before its own votes say as much about how often it is
labelled rightly as all other items do: on an item that twenty workers are split over, one more
label tells next to nothing."""


def label_gains(
    posterior: Floats,
    votes: NDArray[np.int64],
    accuracy: float | Floats,
    *,
    strength: float = ITEM_STRENGTH,
) -> Floats:
    """Compute what 1 to `MAX_FURTHER` further labels are expected to bring.

    The likeliest class, the second and all others are told apart. A label is right with a
    probability that is the crowd's at first and moves to what the item's own votes say if that
    class is the truth; errors fall on all other classes alike.

    Parameters
    ----------
    posterior
        The probability of each class of each item [N, K], honest ones.
    votes
        How often each item got each class [N, K].
    accuracy
        How often the labels to come are right on average, one number or one per item [N].
    strength
        See `ITEM_STRENGTH`.

    Returns
    -------
    numpy.ndarray
        By how much the probability that the truth is right grows [N, `MAX_FURTHER`].
    """
    n_items, n_classes = posterior.shape
    if n_classes < 2:  # noqa: PLR2004  (nothing to tell apart)
        return np.zeros((n_items, MAX_FURTHER))
    rows = np.arange(n_items)
    order = np.argsort(-posterior, axis=1, kind="stable")[:, :2]
    top, second = posterior[rows, order[:, 0]], posterior[rows, order[:, 1]]
    rest = np.clip(1 - top - second, 0, 1)
    third = np.sort(posterior, axis=1)[:, -3] if n_classes > 2 else np.zeros(n_items)  # noqa: PLR2004
    n = votes.sum(1)
    usual = np.broadcast_to(np.asarray(accuracy, np.float64), n_items)

    def right(votes_of_truth: NDArray[np.int64]) -> Floats:
        share = (strength * usual + votes_of_truth) / (strength + n)
        return np.asarray(np.clip(share, 1 / n_classes, 0.999))

    if_top, if_second = right(votes[rows, order[:, 0]]), right(votes[rows, order[:, 1]])
    wrong_top, wrong_second = (1 - if_top) / (n_classes - 1), (1 - if_second) / (n_classes - 1)
    if_rest = right(
        ((n - votes[rows[:, None], order].sum(1)) / max(1, n_classes - 2)).astype(np.int64)
    )
    wrong_rest = (1 - if_rest) / (n_classes - 1)
    gains = np.zeros((n_items, MAX_FURTHER))
    for further in range(1, MAX_FURTHER + 1):
        after = np.zeros(n_items)
        for n_top, n_second, n_other, ways in _outcomes(further, n_classes):
            of_top = top * if_top**n_top * wrong_top**n_second
            of_top = of_top * np.clip(1 - if_top - wrong_top, 0, 1) ** n_other
            of_second = second * wrong_second**n_top * if_second**n_second
            of_second = of_second * np.clip(1 - if_second - wrong_second, 0, 1) ** n_other
            share = np.divide(third, rest, out=np.zeros(n_items), where=rest > 0)
            of_rest = rest * share * (wrong_rest ** (n_top + n_second))
            of_rest = of_rest * np.clip(1 - 2 * wrong_rest, 0, 1) ** n_other
            after += ways * np.maximum(np.maximum(of_top, of_second), of_rest)
        gains[:, further - 1] = np.maximum(after - top, 0)
    return gains


def _outcomes(n_labels: int, n_classes: int) -> Iterator[tuple[int, int, int, int]]:
    """Ways in which labels fall on the likeliest class, the second and the others."""
    for n_top in range(n_labels + 1):
        for n_second in range(n_labels + 1 - n_top):
            n_other = n_labels - n_top - n_second
            if n_other and n_classes == 2:  # noqa: PLR2004  (there is no other class)
                continue
            ways = comb(n_labels, n_top) * comb(n_labels - n_top, n_second)
            yield n_top, n_second, n_other, ways


def variance_gains(variance: Floats, noise: float) -> Floats:
    """Compute by how much the squared error of numbers shrinks by 1 to `MAX_FURTHER` ratings.

    Parameters
    ----------
    variance
        Of each truth [N].
    noise
        The variance of a rating about the truth.

    Returns
    -------
    numpy.ndarray
        By how much the variance shrinks [N, `MAX_FURTHER`].
    """
    further = np.arange(1, MAX_FURTHER + 1)
    after = variance[:, None] / (1 + further * variance[:, None] / noise)
    return np.asarray(variance[:, None] - after)


def choose_labels(gains: Floats, n_labels: int, room: NDArray[np.int64] | None = None) -> Floats:
    """Spread labels over items so that the sum of the gains is about as large as can be.

    Gains of one item need not fall: a second label may bring more than the first. So the steepest
    way up is taken: the smallest concave function above the gains.

    Parameters
    ----------
    gains
        What m further labels of each item bring [N, M].
    n_labels
        Labels to spread.
    room
        How many labels each item can get at most [N].

    Returns
    -------
    numpy.ndarray
        Further labels of each item [N], as whole numbers.
    """
    n_items, most = gains.shape
    allowed = np.full(n_items, most) if room is None else np.minimum(room, most)
    capped = np.where(np.arange(1, most + 1) <= allowed[:, None], gains, -np.inf)
    slopes, lengths = _steepest(capped)
    order = np.argsort(-slopes, axis=None, kind="stable")
    size = lengths.ravel()[order]
    useful = (size > 0) & (slopes.ravel()[order] > 0)
    order, size = order[useful], size[useful]
    taken = np.cumsum(size) <= n_labels
    first_beyond = int(taken.sum())
    chosen = np.bincount(order[:first_beyond] // most, size[:first_beyond], n_items)
    left = n_labels - int(chosen.sum())
    # What is left is too little for the next best step: shorter ones further down may fit.
    for index, needed in zip(
        order[first_beyond:].tolist(), size[first_beyond:].tolist(), strict=True
    ):
        if left <= 0:
            break
        item = index // most
        if needed <= left and index % most == _n_steps_taken(chosen[item], lengths[item]):
            chosen[item] += needed
            left -= int(needed)
    return np.asarray(chosen)


def _n_steps_taken(n_labels: float, lengths: NDArray[np.int64]) -> int:
    return int(np.searchsorted(np.cumsum(lengths), n_labels, side="right")) if n_labels else 0


def _steepest(gains: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Slopes and lengths of the pieces of the smallest concave function above each row [N, M]."""
    n_items, most = gains.shape
    points = np.concatenate([np.zeros((n_items, 1)), gains], axis=1)
    slopes, lengths = np.zeros((n_items, most)), np.zeros((n_items, most), np.int64)
    start = np.zeros(n_items, np.int64)
    rows = np.arange(n_items)
    for piece in range(most):
        ahead = np.arange(most + 1) - start[:, None]  # [N, M + 1]
        rise = points - points[rows, start][:, None]
        with np.errstate(invalid="ignore"):
            slope = np.where(ahead > 0, rise / np.maximum(ahead, 1), -np.inf)
        best = slope.argmax(1)
        steep = slope[rows, best]
        goes_on = np.isfinite(steep) & (best > start)
        slopes[:, piece] = np.where(goes_on, steep, 0.0)
        lengths[:, piece] = np.where(goes_on, best - start, 0)
        start = np.where(goes_on, best, start)
    return slopes, lengths
