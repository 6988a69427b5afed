"""How far workers agree beyond chance: Krippendorff's alpha for classes, with an interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, Floats
from crowdcore.wording import count

N_RESAMPLES = 1000
"""Resamples of the items behind an interval."""

MAX_GROUPS = 2000
"""Items beyond this many are resampled in random groups, whose sums vary as their items do."""

RESAMPLES_PER_CHUNK = 50
"""Resamples that are drawn at a time, to keep memory small."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How often two workers agree on an item, how often by chance, and what that leaves.

    `alpha` is 1 where all agree, 0 where they agree as often as answers drawn at random, and
    None where it is not defined; then `note` says why. An item counts by its number of labels.
    """

    alpha: float | None
    interval: tuple[float, float] | None  # 95 %, by resampling items
    observed: float | None  # share of agreeing pairs
    chance: float | None
    n_items: int  # with labels of two workers or more
    n_alone: int  # left out: items with labels of one worker only
    n_repeated: int  # labels of a worker who had already labelled the item
    note: str = ""

    measure: ClassVar[str] = "Krippendorff's alpha"

    def describe(self) -> str:
        """Say what the numbers mean, or why there are none."""
        left_out = ""
        if self.n_alone:
            left_out = f" Left out: {count(self.n_alone, 'item')} with labels of one worker only."
        if self.alpha is None or self.observed is None or self.chance is None:
            return self.note + left_out
        return (
            f"Two labels of an item agree in {self.observed:.1%} of cases; by chance they would "
            f"in {self.chance:.1%}.{left_out}"
        )

    def to_json(self) -> dict[str, Any]:
        """Turn the numbers into plain JSON values."""
        return asdict(self)


def agreement(data: CrowdData, *, seed: int = 0) -> Agreement:
    """Compare every two labels that different workers gave to the same item.

    Parameters
    ----------
    data
        Labels of classes.
    seed
        Of the resamples behind the interval.

    Returns
    -------
    Agreement
        Krippendorff's alpha; where it is not defined, a note says why.
    """
    size, same, pairs, n_repeated = _pairs(data)
    shared = pairs > 0
    sums = np.zeros(data.n_items)  # an item's agreement, counted in labels
    sums[shared] = size[shared] * same[shared] / pairs[shared]
    counts = np.bincount(data.label[shared[data.item]], minlength=data.n_classes)
    undefined = Agreement(
        alpha=None,
        interval=None,
        observed=None,
        chance=None,
        n_items=int(shared.sum()),
        n_alone=int(((size > 0) & ~shared).sum()),
        n_repeated=n_repeated,
    )
    if not shared.any():
        why = "No item has labels of two workers, so no labels can be compared."
        return replace(undefined, note=why)
    alpha, observed, chance = map(float, _alpha(sums.sum(), counts))
    compared = replace(undefined, observed=observed, chance=chance)
    if np.isnan(alpha):
        why = "All labels that can be compared are of one class: whether workers look cannot show."
        return replace(compared, note=why)
    interval = _interval(data, shared, sums, np.random.default_rng(seed))
    return replace(compared, alpha=alpha, interval=interval)


def _pairs(
    data: CrowdData,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Of each item: labels, ordered pairs that agree, ordered pairs; and how many are repeats.

    Two labels of one worker are no pair: nobody is a witness to themselves.
    """
    size = data.labels_per_item
    same = np.einsum("ik,ik->i", data.votes, data.votes) - size
    pairs = size * (size - 1)
    cell = data.item * np.int64(data.n_workers)
    cell += data.worker
    repeated, n_times = _more_than_once(cell)
    if not len(repeated):
        return size, same, pairs, 0
    item = repeated // data.n_workers
    np.subtract.at(pairs, item, n_times * (n_times - 1))
    rows = np.flatnonzero(np.isin(cell, repeated))
    answers, n_alike = _more_than_once(cell[rows] * data.n_classes + data.label[rows])
    item = answers // (data.n_workers * data.n_classes)
    np.subtract.at(same, item, n_alike * (n_alike - 1))
    return size, same, pairs, int((n_times - 1).sum())


def _more_than_once(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The codes that occur several times, and how often."""
    ordered = np.sort(codes)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    repeated, n_further = np.unique(twice, return_counts=True)
    return repeated, n_further + 1


def _alpha(agreed: Any, counts: NDArray[np.number]) -> tuple[Floats, Floats, Floats]:
    """Alpha, observed and chance agreement, from agreement in labels [...] and counts [..., K].

    Alpha is NaN where all labels are of one class.
    """
    counts = counts.astype(np.float64)
    total = counts.sum(-1)
    observed = agreed / total
    # Two labels drawn without putting the first one back, as Krippendorff does.
    chance = (counts * (counts - 1)).sum(-1) / (total * (total - 1))
    possible = 1 - chance
    room = np.where(possible > 0, possible, np.nan)
    return 1 - (1 - observed) / room, observed, chance


def _interval(
    data: CrowdData, shared: NDArray[np.bool_], sums: Floats, rng: np.random.Generator
) -> tuple[float, float] | None:
    """The middle 95 % of alpha when items are drawn anew; None where there are too few."""
    n_items = int(shared.sum())
    n_groups = min(n_items, MAX_GROUPS)
    if n_groups < 2:  # noqa: PLR2004  (one item cannot vary)
        return None
    group = np.zeros(data.n_items, np.int64)
    group[shared] = rng.permutation(n_items) % n_groups
    usable = shared[data.item]
    cell = group[data.item[usable]] * data.n_classes + data.label[usable]
    counts = np.bincount(cell, minlength=n_groups * data.n_classes).reshape(n_groups, -1)
    agreed = np.bincount(group[shared], weights=sums[shared], minlength=n_groups)
    table = np.column_stack([counts, agreed])  # [G, K + 1]
    draws = []
    for _ in range(N_RESAMPLES // RESAMPLES_PER_CHUNK):
        drawn = rng.integers(n_groups, size=(RESAMPLES_PER_CHUNK, n_groups))
        drawn += np.arange(RESAMPLES_PER_CHUNK)[:, None] * n_groups
        weight = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        total = weight.astype(np.float64) @ table
        draws.append(_alpha(total[:, -1], total[:, :-1])[0])
    low, high = np.nanpercentile(np.concatenate(draws), [2.5, 97.5])
    return float(low), float(high)
