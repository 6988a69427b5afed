"""Guideline problems: classes and items on which even good workers differ, apart from noise.

Bad workers differ from everybody on everything. Where good workers differ from each other, and
more on two classes than their usual error rate explains, the instructions are unclear, or the
classes cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdcore.confidence.accuracy import expected_accuracy
from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.results.result import Result
from crowdcore.spending.measures import honest_posterior
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    import pandas as pd

MAX_CLASSES = 200
"""With more classes only the commonest are compared."""

SURE_Z = 3.0
"""By how many standard errors good workers must differ more than noise."""

MIN_MINORITY, MIN_GOOD = 2, 3
"""Good workers who must say something else, and good workers in all, for an item to be listed."""

MAX_BY_CHANCE = 0.05
"""Items are listed whose split would come about by chance in fewer cases than this."""

DOUBTFUL = 0.2
"""A truth is in doubt if it is wrong with more than this probability."""

CANNOT = {
    "ratings": "Numbers have no classes to confuse. The Truths page lists the items with the "
    "widest spread, and the Workers page who rates high or low.",
    "comparisons": "Comparisons have no classes to confuse. The Truths page shows who beats whom, "
    "and which pairs are open.",
    "sequences": "Which types of spans are taken for each other is told worker by worker on the "
    "Workers page.",
    "sets": "Which classes are ticked for each other is told on the Truths page, by class.",
}
"""Kinds of labels without such problems, and what there is instead."""


@dataclass(frozen=True, kw_only=True)
class MergeEffect:
    """What counting one class as another is expected to change.

    Parameters
    ----------
    n_items
        Items whose truth is one of the two.
    right_before, right_after
        The expected share of right truths, of all items.
    agree_before, agree_after
        How often two good labels of one item are the same.
    n_settled
        Truths that are in doubt now and would not be.
    """

    n_items: int
    right_before: float
    right_after: float
    agree_before: float
    agree_after: float
    n_settled: int

    def describe(self, first: str, second: str) -> str:
        """Say it in a sentence.

        Parameters
        ----------
        first, second
            The names of the classes.
        """
        return (
            f"Counting {first!r} and {second!r} as one class: truths expected to be right "
            f"{percent(self.right_before)} → {percent(self.right_after)}, good workers agree "
            f"{percent(self.agree_before)} → {percent(self.agree_after)}, "
            f"{count(self.n_settled, 'truth')} no longer in doubt. {count(self.n_items, 'item')} "
            "could then no longer be told apart."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class GuidelineProblems:
    """What good workers differ on.

    Parameters
    ----------
    pairs
        One row per pair of classes, the worst first: `first`, `second`, `differ` (how often two
        good labels of such items name one each), `by_noise` (how often they would by the usual
        error rate), `n_differ` (pairs of good labels), `of_good` (the part of all such differences
        that is between good workers), `is_problem`.
    items
        One row per item: `item`, `truth`, `said` (what good workers said), `n_good`, `by_chance`.
    n_good
        Good workers.
    error_rate
        How often a good worker's label is not the truth.
    n_by_chance
        Items that would be listed although nothing but chance splits them.
    basis
        Who counts as good, in a sentence.
    """

    result: Result
    good: NDArray[np.bool_]
    pairs: pd.DataFrame
    items: pd.DataFrame
    n_good: int
    error_rate: float
    n_by_chance: float
    basis: str

    @property
    def n_problems(self) -> int:
        """Pairs of classes on which good workers differ more than noise explains."""
        return int(self.pairs["is_problem"].sum())

    def describe(self) -> str:
        """Say what there is, in a sentence or two."""
        found = (
            "On no two classes do good workers differ more than their usual errors explain."
            if not self.n_problems
            else f"Good workers differ more than by error on {count(self.n_problems, 'pair')} of "
            "classes."
        )
        listed = (
            f"{count(len(self.items), 'item')} split good workers; about "
            f"{count(round(self.n_by_chance))} would by chance."
        )
        return f"{found} {listed} {self.basis}"

    def merge_effect(self, first: str, second: str) -> MergeEffect:
        """Say what counting two classes as one is expected to change.

        Parameters
        ----------
        first, second
            Names of classes.

        Returns
        -------
        MergeEffect

        Raises
        ------
        DataError
            If they are not two classes of the data, or there is no third one.
        """
        data = self.result.data
        if missing := [name for name in (first, second) if name not in data.classes]:
            raise DataError(f"There is no class {missing[0]!r}")
        if first == second:
            raise DataError("A class cannot be merged with itself")
        if data.n_classes <= 2:  # noqa: PLR2004  (nothing would be left to tell apart)
            raise DataError(
                "There are only two classes: merged, they would leave nothing to tell apart",
                fix="Make the instructions clearer instead.",
            )
        one, other = data.classes.index(first), data.classes.index(second)
        posterior, _ = honest_posterior(self.result)
        before = posterior.max(1)
        merged = posterior.copy()
        merged[:, one] += merged[:, other]
        merged[:, other] = 0
        after = merged.max(1)
        expected = expected_accuracy(self.result)
        base = float(before.mean()) if expected is None else expected.estimate
        left = float((1 - after).sum() / max(1e-12, (1 - before).sum()))  # of the expected errors
        right_after = 1 - (1 - base) * min(1.0, left)
        votes = _votes(data, self.good[data.worker])
        n_pairs = _n_pairs(votes.sum(1)).sum()
        same = _n_pairs(votes).sum()
        further = float(votes[:, one] @ votes[:, other])
        in_doubt = 1 - before > DOUBTFUL
        return MergeEffect(
            n_items=int(np.isin(self.result.truth, (one, other)).sum()),
            right_before=base,
            right_after=right_after,
            agree_before=float(same / n_pairs) if n_pairs else float("nan"),
            agree_after=float((same + further) / n_pairs) if n_pairs else float("nan"),
            n_settled=int((in_doubt & (1 - after <= DOUBTFUL)).sum()),
        )


def guideline_problems(
    result: Result, good: Collection[str], *, basis: str = ""
) -> GuidelineProblems:
    """Find classes and items on which good workers differ.

    Parameters
    ----------
    result
        Truths of labels with classes.
    good
        Names of the good workers.
    basis
        How they were told, in a sentence.

    Returns
    -------
    GuidelineProblems

    Raises
    ------
    DataError
        If the labels are no classes, or fewer than two workers are good.
    """
    data = result.data
    if data.kind != "classes":
        raise DataError(CANNOT[data.kind])
    is_good = np.isin(np.array(data.workers, object), list(good))
    if (is_good & (data.labels_per_worker > 0)).sum() < 2:  # noqa: PLR2004  (to differ)
        raise DataError(
            "Fewer than two workers are known to be good, so it cannot be told what good workers "
            "differ on",
            fix="Collect more labels per worker, or keep workers on the Workers page.",
        )
    of_good = is_good[data.worker]
    votes = _votes(data, of_good)
    labelled = of_good & (result.truth[data.item] >= 0)
    wrong = data.label[labelled] != result.truth[data.item[labelled]]
    error = float(wrong.mean()) if labelled.any() else 0.0
    items, n_by_chance = _item_table(result, votes)
    return GuidelineProblems(
        result=result,
        good=is_good,
        pairs=_pair_table(result, votes, error),
        items=items,
        n_good=int(is_good.sum()),
        error_rate=error,
        n_by_chance=n_by_chance,
        basis=basis,
    )


def _votes(data: CrowdData, rows: NDArray[np.bool_]) -> Floats:
    """How often each item got each class in some labels [N, K]."""
    code = data.item[rows].astype(np.int64) * data.n_classes + data.label[rows]
    counts = np.bincount(code, minlength=data.n_items * data.n_classes)
    return counts.reshape(data.n_items, data.n_classes).astype(np.float64)


def _n_pairs(n: Floats) -> Floats:
    return np.asarray(n * (n - 1) / 2)


def _pair_table(result: Result, votes: Floats, error: float) -> pd.DataFrame:
    """Differences of good labels by pair of classes, on items whose truth is one of the two."""
    import pandas as pd

    data, n_classes = result.data, result.data.n_classes
    kept = np.argsort(-data.votes.sum(0), kind="stable")[:MAX_CLASSES]
    kept = np.sort(kept)
    differ, squares = np.zeros((2, len(kept), len(kept)))
    same, asked = np.zeros(len(kept)), np.zeros(len(kept))
    everybody = np.zeros((len(kept), len(kept)))
    by_truth = np.zeros((len(kept), len(kept)))  # pairs that say [the row's class] on its items
    for row, code in enumerate(kept.tolist()):
        items = np.flatnonzero(result.truth == code)
        of_class = votes[items]
        asked[row] = _n_pairs(of_class.sum(1)).sum()
        same[row] = _n_pairs(of_class[:, code]).sum()
        chosen = of_class[:, kept]
        against = chosen * chosen[:, [row]]  # one says the truth, one the column's class
        differ[row] = against.sum(0)
        squares[row] = (against**2).sum(0)
        by_truth[row] = _n_pairs(chosen).sum(0)
        all_votes = data.votes[items][:, kept].astype(np.float64)
        everybody[row] = (all_votes * all_votes[:, [row]]).sum(0)
    first, second = np.triu_indices(len(kept), 1)
    n_differ = differ[first, second] + differ[second, first]
    n_same = same[first] + same[second] + by_truth[first, second] + by_truth[second, first]
    # An error that means nothing falls on other classes as often as these are given at all.
    given = votes.sum(0)[kept] / max(1.0, votes.sum())
    falls = given / np.maximum(1 - given[:, None], 1e-12)  # [truth, given]
    n_noise = 2 * (1 - error) * error * (asked[:, None] * falls)
    n_noise = n_noise[first, second] + n_noise[second, first]
    spread = np.sqrt(squares[first, second] + squares[second, first])
    n_all = everybody[first, second] + everybody[second, first]
    total = n_differ + n_same
    z = np.divide(n_differ - n_noise, spread, out=np.zeros(len(first)), where=spread > 0)
    names = np.array(data.classes, object)[kept]
    share = np.divide(n_differ, total, out=np.zeros(len(first)), where=total > 0)
    frame = pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "differ": share,
            "by_noise": np.divide(n_noise, total, out=np.zeros(len(first)), where=total > 0),
            "n_differ": n_differ.astype(np.int64),
            "of_good": np.divide(n_differ, n_all, out=np.zeros(len(first)), where=n_all > 0),
            "is_problem": (z > SURE_Z) & (n_classes > 2),  # noqa: PLR2004  (else all is one pair)
        }
    )
    frame = frame[frame["n_differ"] > 0]
    excess = frame["n_differ"] - n_noise[frame.index]
    order = np.lexsort((-excess.to_numpy(), ~frame["is_problem"].to_numpy()))
    return frame.iloc[order].reset_index(drop=True)


def _usual_error(result: Result, votes: Floats) -> float:
    """How often good labels err on the class in the middle: unclear classes do not count."""
    n_classes = result.data.n_classes
    decided = result.truth >= 0
    truth, chosen = result.truth[decided], votes[decided]
    given = np.bincount(truth, chosen.sum(1), n_classes)
    right = np.bincount(truth, chosen[np.arange(len(truth)), truth], n_classes)
    there = given > 0
    return float(np.median(1 - right[there] / given[there])) if there.any() else 0.0


def _item_table(result: Result, votes: Floats) -> tuple[pd.DataFrame, float]:
    """Items that good workers are split over, and how many would be so by chance."""
    import pandas as pd
    from scipy.stats import binom

    error = max(_usual_error(result, votes), 1e-6)
    n = votes.sum(1)
    others = n - votes.max(1)
    rows = np.flatnonzero((n >= MIN_GOOD) & (others >= MIN_MINORITY))
    by_chance = binom.sf(others[rows] - 1, n[rows], error)
    order = np.argsort(by_chance, kind="stable")
    rows, by_chance = rows[order], by_chance[order]
    listed = by_chance < MAX_BY_CHANCE
    rows, by_chance = rows[listed], by_chance[listed]
    sizes, counts = np.unique(n[n >= MIN_GOOD], return_counts=True)
    least = np.maximum(binom.isf(MAX_BY_CHANCE, sizes, error) + 1, MIN_MINORITY)
    n_by_chance = float((counts * binom.sf(least - 1, sizes, error)).sum())
    data = result.data
    return pd.DataFrame(
        {
            "item": [data.items[row] for row in rows.tolist()],
            "truth": [str(name) for name in data.class_names(result.truth[rows])],
            "said": [_said(votes[row], data.classes) for row in rows.tolist()],
            "n_good": n[rows].astype(np.int64),
            "by_chance": by_chance,
        }
    ), n_by_chance


def _said(votes: Floats, classes: Sequence[str]) -> str:
    order = np.argsort(-votes, kind="stable")
    return ", ".join(
        f"{classes[code]} × {int(votes[code])}" for code in order.tolist() if votes[code]
    )
