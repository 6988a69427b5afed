"""How far workers agree who rate: alpha, intraclass correlations, pairs of workers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.agreements.coefficient import Coefficient
from crowdcore.data import CrowdData, Floats
from crowdcore.wording import count

N_RESAMPLES = 500
"""Resamples of the items behind an interval."""

MAX_GROUPS = 2000
"""Items beyond this many are resampled in random groups, whose sums vary as their items do."""

MAX_VALUES = 2000
MAX_PAIRS = 20_000_000
"""Beyond so many different values, or pairs of ratings, the ratio alpha is that of logarithms."""

MIN_SHARED_ITEMS = 10
"""Two workers with fewer items in common are not compared."""


@dataclass(frozen=True, kw_only=True)
class RatingAgreement:
    """How far ratings of the same item agree."""

    coefficients: tuple[Coefficient, ...]
    n_items: int  # with two ratings or more
    n_alone: int  # items with a single rating, which are left out

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha for numbers on an interval scale."""
        return self.coefficients[0].value

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95 % interval."""
        return self.coefficients[0].interval

    def describe(self) -> str:
        """Say what the numbers rest on, or why there are none."""
        left_out = ""
        if self.n_alone:
            left_out = f" Left out: {count(self.n_alone, 'item')} with a single rating."
        if self.alpha is None:
            return self.coefficients[0].note + left_out
        others = [
            f"{coefficient.name} {coefficient.value:.2f} "
            f"({coefficient.interval[0]:.2f} to {coefficient.interval[1]:.2f})"
            for coefficient in self.coefficients[1:]
            if coefficient.value is not None and coefficient.interval is not None
        ]
        return (
            f"From {count(self.n_items, 'item')} with two ratings or more; "
            f"{'; '.join(others)}.{left_out}"
        )

    def to_json(self) -> dict[str, Any]:
        """Turn the numbers into plain JSON values."""
        return asdict(self)


def agreement(data: CrowdData, *, seed: int = 0) -> RatingAgreement:
    """Measure how far ratings of the same item agree.

    Parameters
    ----------
    data
        Ratings.
    seed
        Of the resamples behind the intervals.

    Returns
    -------
    RatingAgreement
        Alpha for interval, ordinal and ratio scales, and the intraclass correlations of one
        rating and of the mean rating; each with an interval, or a note why it is not defined.
    """
    shared = data.labels_per_item > 1
    rows = shared[data.item]
    value = np.asarray(data.label, np.float64)[rows]
    _, item = np.unique(data.item[rows], return_inverse=True)
    sizes = np.bincount(item)
    if not len(value) or np.ptp(value) == 0:
        why = "No item has two ratings, so nothing can be compared."
        if len(value):
            why = "All ratings that can be compared are the same: whether workers look cannot show."
        names = ("alpha, interval", "alpha, ordinal", "alpha, ratio", "ICC(1)", "ICC(k)")
        coefficients = tuple(Coefficient(name=name, value=None, note=why) for name in names)
    else:
        rng = np.random.default_rng(seed)
        weights = _resamples(len(sizes), rng)
        sums = _item_sums(value, item)
        ranks = _item_sums(_mid_ranks(value), item)
        coefficients = (
            _with_interval("alpha, interval", _alpha, sums, weights),
            _with_interval("alpha, ordinal", _alpha, ranks, weights),
            _ratio(value, item, weights),
            _with_interval("ICC(1)", lambda sums, weight: _icc(sums, weight)[0], sums, weights),
            _with_interval("ICC(k)", lambda sums, weight: _icc(sums, weight)[1], sums, weights),
        )
    return RatingAgreement(
        coefficients=coefficients,
        n_items=int(shared.sum()),
        n_alone=int((data.labels_per_item == 1).sum()),
    )


def reliability(components: Floats, per_item: float) -> dict[str, float | None]:
    """Tell how reliable ratings and truths are, from components of the variance.

    Parameters
    ----------
    components
        Variances of truths, of workers' biases, of noise, and of the errors of the truths.
    per_item
        How many ratings an item has on average.

    Returns
    -------
    dict
        The share of the variance that is the truths': of one rating, of one rating without
        biases, of the mean of an item's ratings, and of the inferred truths; None where there is
        no variance.
    """
    truths, bias, noise, error = map(float, components)
    if truths <= 0:
        return dict.fromkeys(("one", "unbiased", "mean", "truths"))
    return {
        "one": truths / (truths + bias + noise),
        "unbiased": truths / (truths + noise),
        "mean": truths / (truths + (bias + noise) / max(per_item, 1)),
        "truths": min(1.0, max(0.0, 1 - error / truths)),
    }


@dataclass(frozen=True, kw_only=True)
class RaterPair:
    """Two workers on the items that both rated.

    Attributes
    ----------
    n_shared
        How many items both rated.
    difference, low, high
        The mean of the first's rating less the second's, and the limits between which 95 % of the
        differences lie (Bland and Altman); None below `MIN_SHARED_ITEMS` items.
    kappa
        Cohen's kappa with quadratic weights; None where neither varies.
    """

    n_shared: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    kappa: float | None = None


def compare_raters(data: CrowdData, first: int, second: int) -> RaterPair:
    """Compare two workers on the items that both rated.

    Parameters
    ----------
    data
        Ratings.
    first, second
        Codes of the workers; of several ratings of an item the mean counts.

    Returns
    -------
    RaterPair
        Too few shared items leave all but their number empty.
    """
    means = []
    for worker in (first, second):
        rows = data.worker == worker
        n = np.bincount(data.item[rows], minlength=data.n_items)
        sums = np.bincount(data.item[rows], weights=data.label[rows], minlength=data.n_items)
        means.append(np.where(n > 0, sums / np.maximum(n, 1), np.nan))
    a, b = means
    both = ~np.isnan(a) & ~np.isnan(b)
    n_shared = int(both.sum())
    if n_shared < MIN_SHARED_ITEMS:
        return RaterPair(n_shared=n_shared)
    a, b = a[both], b[both]
    difference, deviation = float((a - b).mean()), float((a - b).std(ddof=1))
    chance = float(a.var() + b.var() + (a.mean() - b.mean()) ** 2)
    kappa = 1 - float(((a - b) ** 2).mean()) / chance if chance > 0 else None
    half = 1.96 * deviation
    return RaterPair(
        n_shared=n_shared,
        difference=difference,
        low=difference - half,
        high=difference + half,
        kappa=kappa,
    )


def _resamples(n_items: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """The group of each item, and how often each group is drawn in each resample [R, G]."""
    n_groups = min(n_items, MAX_GROUPS)
    group = np.arange(n_items) if n_groups == n_items else rng.integers(0, n_groups, n_items)
    drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), N_RESAMPLES)
    return group, drawn.astype(np.float64)


def _item_sums(value: Floats, item: NDArray[np.int64]) -> Floats:
    """Per item: 1, size, sum, squares, disagreement, within, squared size, between [items, 8]."""
    size = np.bincount(item).astype(np.float64)
    value = value - value.mean()
    total = np.bincount(item, weights=value)
    squares = np.bincount(item, weights=value**2)
    within = np.maximum(squares - total**2 / size, 0)
    disagreement = size * within / (size - 1)
    between = total**2 / size
    return np.stack(
        [np.ones_like(size), size, total, squares, disagreement, within, size**2, between], axis=1
    )


def _alpha(sums: Floats, _: Any = None) -> Floats:
    """Krippendorff's alpha from added sums [..., 8]."""
    n, total, squares, disagreement = (sums[..., column] for column in (1, 2, 3, 4))
    expected = (squares - total**2 / n) / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: Floats = 1 - disagreement / n / expected
    return alpha


def _icc(sums: Floats, _: Any = None) -> tuple[Floats, Floats]:
    """The intraclass correlations of one rating, and of the mean rating."""
    n_items, n, total, within, square_sizes, between = (
        sums[..., column] for column in (0, 1, 2, 5, 6, 7)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_between = (between - total**2 / n) / (n_items - 1)
        mean_within = within / (n - n_items)
        size = (n - square_sizes / n) / (n_items - 1)
        coefficient = (mean_between - mean_within) / (mean_between + (size - 1) * mean_within)
        return coefficient, 1 - mean_within / mean_between


def _with_interval(
    name: str, measure: Any, sums: Floats, weights: tuple[NDArray[np.int64], Floats]
) -> Coefficient:
    value = float(measure(sums.sum(0), None))
    if not np.isfinite(value):
        note = "Not defined: ratings of different items do not differ."
        return Coefficient(name=name, value=None, note=note)
    group, drawn = weights
    by_group = np.stack([np.bincount(group, weights=column) for column in sums.T], axis=1)
    if len(by_group) < drawn.shape[1]:  # the last groups may be empty
        by_group = np.pad(by_group, ((0, drawn.shape[1] - len(by_group)), (0, 0)))
    resampled = measure(drawn @ by_group, None)
    resampled = resampled[np.isfinite(resampled)]
    ends = np.quantile(resampled, [0.025, 0.975]) if len(resampled) else (np.nan, np.nan)
    return Coefficient(name=name, value=value, interval=(float(ends[0]), float(ends[1])))


def _mid_ranks(value: Floats) -> Floats:
    """Ranks of pooled values, ties at their middle: Krippendorff's ordinal metric is theirs."""
    _, index, counts = np.unique(value, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - counts / 2)[index]
    return ranks


def _ratio(
    value: Floats, item: NDArray[np.int64], weights: tuple[NDArray[np.int64], Floats]
) -> Coefficient:
    name = "alpha, ratio"
    if value.min() <= 0:
        note = "Only for ratings above 0, whose ratios mean something."
        return Coefficient(name=name, value=None, note=note)
    distinct, code, counts = np.unique(value, return_inverse=True, return_counts=True)
    sizes = np.bincount(item).astype(np.float64)
    if len(distinct) > MAX_VALUES or (sizes**2).sum() > MAX_PAIRS:
        measured = _with_interval(name, _alpha, _item_sums(np.log(value), item), weights)
        note = "Too many values for the ratio metric: the alpha of logarithms, which is close."
        return Coefficient(name=name, value=measured.value, interval=measured.interval, note=note)
    metric = ((distinct[:, None] - distinct) / (distinct[:, None] + distinct)) ** 2
    order = np.argsort(item, kind="stable")
    item, code = item[order], code[order]
    distance = np.zeros(len(sizes))
    for step in range(1, int(sizes.max())):
        near = item[step:] == item[:-step]
        first, second = code[:-step][near], code[step:][near]
        distance += np.bincount(
            item[step:][near], weights=metric[first, second], minlength=len(sizes)
        )
    disagreement = 2 * distance / (sizes - 1)
    n = sizes.sum()
    expected = float(counts @ metric @ counts) / (n * (n - 1))
    # The expected part hardly moves from resample to resample; the observed one does.
    group, drawn = weights
    n_groups = drawn.shape[1]
    by_group = np.stack(
        [np.bincount(group, weights=part, minlength=n_groups) for part in (disagreement, sizes)]
    )
    resampled = 1 - (drawn @ by_group[0]) / (drawn @ by_group[1]) / expected
    ends = np.quantile(resampled, [0.025, 0.975])
    alpha = 1 - float(disagreement.sum()) / n / expected
    return Coefficient(name=name, value=alpha, interval=(float(ends[0]), float(ends[1])))
