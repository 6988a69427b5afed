"""How far workers agree on sets of classes: Krippendorff's alpha with MASI and Jaccard distance."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.sets.answer_pairs import AnswerPairs, Measure, sets_of, similarity
from crowdcore.codes import sum_by
from crowdcore.data import CrowdData, Floats
from crowdcore.wording import count

N_RESAMPLES = 1000
"""Resamples of the items behind an interval."""

MAX_SETS = 2000
"""Different answers up to which all are compared for chance agreement; of more, so many answers
are drawn."""

RESAMPLES_PER_CHUNK = 50
"""Resamples that are drawn at a time, to keep memory small."""

MAX_GROUPS = 2000
"""Items beyond this many are resampled in random groups, whose sums vary as their items do."""


@dataclass(frozen=True, kw_only=True)
class SetAgreement:
    """How alike two workers' sets are, how alike by chance, and what that leaves.

    `alpha` is Krippendorff's with MASI distance, `jaccard_alpha` with Jaccard distance: 1 where
    all sets are equal, 0 where they are as alike as sets of random items, and None where it is
    not defined; then `note` says why.
    """

    measure: ClassVar[str] = "Krippendorff's alpha (MASI)"

    alpha: float | None
    interval: tuple[float, float] | None  # 95 %, by resampling items
    jaccard_alpha: float | None
    jaccard_interval: tuple[float, float] | None
    observed: float | None  # mean Jaccard similarity of two answers to one item
    chance: float | None  # and of two answers to any items
    equal: float | None  # share of pairs that are exactly equal
    n_items: int  # with answers of two workers or more
    n_alone: int  # left out: items with answers of one worker only
    n_repeated: int  # answers of a worker who had already answered
    note: str = ""

    def describe(self) -> str:
        """Say what the numbers mean, or why there are none."""
        left_out = ""
        if self.n_alone:
            left_out = f" Left out: {count(self.n_alone, 'item')} with answers of one worker only."
        if self.alpha is None or self.observed is None or self.chance is None:
            return self.note + left_out
        return (
            "Sets are compared by MASI distance; with Jaccard distance alpha is "
            f"{self.jaccard_alpha:.3f}. Two workers give an item exactly the same classes in "
            f"{self.equal:.1%} of cases; of the classes that either ticks, both tick "
            f"{self.observed:.1%}, by chance {self.chance:.1%}.{left_out}"
        )

    def to_json(self) -> dict[str, Any]:
        """Turn the numbers into plain JSON values."""
        return asdict(self)


def agreement(data: CrowdData, *, seed: int = 0) -> SetAgreement:
    """Compare every two answers that different workers gave to the same item.

    Parameters
    ----------
    data
        Labels that are sets.
    seed
        Of draws and resamples.

    Returns
    -------
    SetAgreement
        Alpha with two distances; where it is not defined, a note says why.
    """
    rng = np.random.default_rng(seed)
    pairs = AnswerPairs.of(data, rng)
    shared = np.bincount(data.item[pairs.first], minlength=data.n_items) > 0
    undefined = SetAgreement(
        alpha=None,
        interval=None,
        jaccard_alpha=None,
        jaccard_interval=None,
        observed=None,
        chance=None,
        equal=None,
        n_items=int(shared.sum()),
        n_alone=int(((data.labels_per_item > 0) & ~shared).sum()),
        n_repeated=pairs.n_repeated,
    )
    if not shared.any():
        why = "No item has answers of two workers, so no answers can be compared."
        return replace(undefined, note=why)
    group = _groups(shared, rng)
    masi, jaccard = (
        _distances(data, pairs, shared, group, measure, rng) for measure in ("masi", "jaccard")
    )
    described = replace(
        undefined,
        observed=1 - jaccard.observed,
        chance=1 - jaccard.expected,
        equal=float((data.label[pairs.first] == data.label[pairs.second]).mean()),
    )
    if not masi.expected > 0:
        why = "All answers that can be compared are the same: whether workers look cannot show."
        return replace(described, note=why)
    return replace(
        described,
        alpha=masi.alpha,
        interval=masi.interval(seed),
        jaccard_alpha=jaccard.alpha,
        jaccard_interval=jaccard.interval(seed),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Distances:
    """Sums over groups of items from which alpha follows."""

    within: Floats  # [G] observed disagreement, counted in answers
    answers: Floats  # [G] answers that can be compared
    cells: Floats  # [G, pairs of answers] or [1]: what chance disagreement is made of
    distance: Floats

    @property
    def observed(self) -> float:
        return float(self.within.sum() / self.answers.sum())

    @property
    def expected(self) -> float:
        return float(_expected(self.cells.sum(0), self.distance))

    @property
    def alpha(self) -> float:
        return 1 - self.observed / self.expected

    def interval(self, seed: int) -> tuple[float, float] | None:
        """The middle 95 % of alpha when items are drawn anew; None where there are too few."""
        n_groups = len(self.within)
        if n_groups < 2:  # noqa: PLR2004  (one item cannot vary)
            return None
        rng = np.random.default_rng(seed)
        draws = []
        for _ in range(N_RESAMPLES // RESAMPLES_PER_CHUNK):
            drawn = rng.integers(n_groups, size=(RESAMPLES_PER_CHUNK, n_groups))
            drawn += np.arange(RESAMPLES_PER_CHUNK)[:, None] * n_groups
            weight = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
            observed = (weight @ self.within) / (weight @ self.answers)
            expected = _expected(weight @ self.cells, self.distance)
            possible = np.where(expected > 0, expected, np.nan)
            draws.append(1 - observed / possible)
        alphas = np.concatenate(draws)
        if np.isnan(alphas).all():
            return None
        low, high = np.nanpercentile(alphas, [2.5, 97.5])
        return float(low), float(high)


def _expected(counts: Floats, distance: Floats) -> Floats:
    """The mean distance of two answers drawn without putting the first one back [...]."""
    total = counts.sum(-1)
    apart: Floats = ((counts @ distance) * counts).sum(-1)
    expected: Floats = apart / np.maximum(total * (total - 1), 1)
    return expected


def _groups(shared: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    group = np.zeros(len(shared), np.int64)
    n_items = int(shared.sum())
    group[shared] = rng.permutation(n_items) % min(n_items, MAX_GROUPS)
    return group


def _distances(  # noqa: PLR0917
    data: CrowdData,
    pairs: AnswerPairs,
    shared: NDArray[np.bool_],
    group: NDArray[np.int64],
    measure: Measure,
    rng: np.random.Generator,
) -> _Distances:
    sets = sets_of(data)
    n_groups = int(group.max()) + 1
    away = 1 - similarity(sets, data.label[pairs.first], data.label[pairs.second], measure)
    by_answer = pairs.mean_by_answer(away, data.n_labels)
    compared = shared[data.item] & ~np.isnan(by_answer)
    home = group[data.item[compared]]
    label = data.label[compared]
    kept = np.arange(len(label))
    if len(np.unique(label)) > MAX_SETS:
        kept = rng.choice(len(label), size=MAX_SETS, replace=False)
    used, code = np.unique(label[kept], return_inverse=True)
    cells = np.zeros((n_groups, len(used)))
    np.add.at(cells, (home[kept], code), 1.0)
    rows, columns = np.divmod(np.arange(len(used) ** 2), len(used))
    between = 1 - similarity(sets, used[rows], used[columns], measure)
    return _Distances(
        within=sum_by(home, by_answer[compared], n_groups),
        answers=np.bincount(home, minlength=n_groups).astype(np.float64),
        cells=cells,
        distance=between.reshape(len(used), len(used)),
    )
