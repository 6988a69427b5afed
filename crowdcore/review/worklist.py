"""Which items to look at, ranked by what a look is worth, why, and how many are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.decisions import Decision
from crowdcore.results.result import Result
from crowdcore.review.risk import Risk, item_risk, with_mean
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    import pandas as pd

MAX_REASONS = 2_000
"""Items for which the reason is written, at most: nobody works through more of a list."""

FEW_LABELS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Worklist:
    """Items that a person could look at, the most worthwhile first.

    Parameters
    ----------
    result
        The truths.
    risk
        How likely each of them is wrong.
    weight
        How much hangs on each of them [U], 1 on average.
    order
        Positions of the open ones, the most worthwhile first [O].
    """

    result: Result
    risk: Risk
    weight: Floats
    order: NDArray[np.intp]

    @property
    def n_open(self) -> int:
        """How many items have no known answer."""
        return len(self.order)

    def expected_after(self, n_decisions: int) -> float:
        """Return the expected share of right truths after so many more decisions, in this order.

        Parameters
        ----------
        n_decisions
            Items that a person decides; whoever decides is taken to be right.
        """
        return self._after(self.risk.chance, n_decisions)

    def _after(self, chance: Floats, n_decisions: int) -> float:
        taken = chance[self.order[:n_decisions]].sum()
        return float(1 - (chance.sum() - taken) / max(1, len(chance)))

    def decisions_until(self, target: float) -> tuple[int | None, int | None, int | None]:
        """Say how many more decisions bring the expected share of right truths to a target.

        Parameters
        ----------
        target
            A share, such as 0.95.

        Returns
        -------
        tuple of int or None
            The expected number, and the numbers where truths are as good and as bad as the
            interval of the accuracy allows. None where all open items would not be enough.

        Raises
        ------
        DataError
            If the target is not between 0 and 1.
        """
        if not 0 < target <= 1:
            raise DataError(f"The target is {target:g}", fix="Give a share between 0 and 1.")
        estimates = (self.risk.expected_right, self.risk.high, self.risk.low)
        middle, best, worst = (self._needed(target, mean) for mean in estimates)
        return middle, best, worst

    def _needed(self, target: float, mean: float) -> int | None:
        chance = with_mean(self.risk.chance, self.risk.is_open, 1 - mean)
        left = chance.sum() - np.concatenate([[0.0], np.cumsum(chance[self.order])])
        reached = np.flatnonzero(left <= (1 - target) * len(chance) + 1e-9)
        return int(reached[0]) if len(reached) else None

    def describe(self, target: float) -> str:
        """Say how good the truths are, and how much is left until a target is reached.

        Parameters
        ----------
        target
            The share that should be right.

        Returns
        -------
        str
            Two or three sentences.
        """
        now = f"About {percent(self.risk.expected_right)} of the truths are right. "
        middle, best, worst = self.decisions_until(target)
        basis = self.risk.basis
        if middle == 0:
            said = f"The target of {percent(target, 0)} is reached"
            if worst is None or worst > 0:
                said += ", unless the truths are worse than expected"
            return f"{now}{said}. {basis}"
        if middle is None:
            top = percent(self.expected_after(self.n_open))
            return f"{now}Deciding every open item would reach {top}. {basis}"
        said = f"After {count(middle, 'more decision')} about {percent(target, 0)} would be right"
        if self.risk.low < self.risk.high:
            limits = ["all" if number is None else count(number) for number in (best, worst)]
            said += f" (between {limits[0]} and {limits[1]}, as sure as that is)"
        return f"{now}{said}. {basis}"

    @cached_property
    def _reasons(self) -> _Reasons:
        return _Reasons(self.result)

    def reason(self, position: int) -> str:
        """Say why an item is worth a look.

        Parameters
        ----------
        position
            Of the item, as in `order`.

        Returns
        -------
        str
            A sentence.
        """
        return self._reasons.of(position, self.risk)

    def table(self, limit: int | None = MAX_REASONS) -> pd.DataFrame:
        """List the items, the most worthwhile first.

        Parameters
        ----------
        limit
            Items at most; None for all, of which those after the first `MAX_REASONS` have no
            reason in words.

        Returns
        -------
        pandas.DataFrame
            Columns `item`, `truth`, `wrong` (how likely), `weight`, `worth`, `n_labels` and
            `reason`.
        """
        import pandas as pd

        chosen = self.order if limit is None else self.order[:limit]
        names = np.array(self.risk.names, dtype=object)
        reasons = [self.reason(int(position)) for position in chosen[:MAX_REASONS]]
        return pd.DataFrame(
            {
                "item": names[chosen],
                "truth": self._reasons.truth_texts(chosen),
                "wrong": self.risk.chance[chosen],
                "weight": self.weight[chosen],
                "worth": self.risk.chance[chosen] * self.weight[chosen],
                "n_labels": self.risk.n_labels[chosen],
                "reason": reasons + [""] * (len(chosen) - len(reasons)),
            }
        )


def worklist(
    result: Result,
    decided: Sequence[Decision] = (),
    *,
    used: Sequence[str] = (),
    skipped: Sequence[str] = (),
    weight_column: str | None = None,
    tolerance: float | None = None,
) -> Worklist:
    """Rank the items by what a person's look is worth: how likely wrong × how much hangs on it.

    Parameters
    ----------
    result
        The truths.
    decided
        Truths that people decided; these items are left out, and the others judged by them.
    used
        Ids of the decisions that the run was given.
    skipped
        Names of items to leave out, such as those that somebody was unsure about.
    weight_column
        A column of item-level numbers, such as how often an item is shown: how much hangs on it.
        Without one every item counts the same.
    tolerance
        By how much a rating may be off and still be right.

    Returns
    -------
    Worklist
        Of open items.

    Raises
    ------
    DataError
        If the labels are comparisons, or the column has no numbers.
    """
    risk = item_risk(result, decided, used=used, tolerance=tolerance)
    weight = np.ones(len(risk.chance))
    if weight_column is not None:
        weight = item_weights(result.data, weight_column)
    passed = np.isin(np.array(risk.names, dtype=object), list(skipped))
    open_units = np.flatnonzero(risk.is_open & ~passed)
    worth = risk.chance[open_units] * weight[open_units]
    sure = getattr(result, "confidence", None) if result.data.kind == "classes" else None
    ties = np.zeros(len(open_units)) if sure is None else sure[open_units]
    order = open_units[np.lexsort((ties, -worth))]
    return Worklist(result=result, risk=risk, weight=weight, order=order)


def item_weights(data: CrowdData, column: str) -> Floats:
    """Read how much hangs on each item from a column of numbers, 1 on average.

    Parameters
    ----------
    data
        The labels, with details of the items.
    column
        The name of a detail.

    Returns
    -------
    numpy.ndarray
        Weights [N].

    Raises
    ------
    DataError
        If there is no such column, or it holds something else than numbers from 0 on.
    """
    if column not in data.details or data.kind == "sequences":
        there = ", ".join(map(repr, data.details)) or "none"
        raise DataError(f"There is no item-level column {column!r}", fix=f"Columns: {there}.")
    texts = data.details[column]
    weight = np.array([_number(text) for text in texts])
    if (bad := np.flatnonzero(~(weight >= 0))).size:
        item, text = data.items[bad[0]], texts[bad[0]]
        raise DataError(
            f"What hangs on an item must be a number from 0 on; {column!r} of {item!r} is {text!r}"
        )
    if not weight.any():
        raise DataError(f"Every number of {column!r} is 0")
    return np.asarray(weight / weight.mean())


def numeric_details(data: CrowdData) -> list[str]:
    """List the item-level columns that can say how much hangs on an item.

    Parameters
    ----------
    data
        The labels, with details of the items.
    """
    if data.kind == "sequences":
        return []
    return [
        name
        for name, texts in data.details.items()
        if all(_number(text) >= 0 for text in texts[:50]) and len(set(texts[:50])) > 1
    ]


def _number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return float("nan")


class _Reasons:
    """Why items are in doubt, in the words of their kind of labels."""

    def __init__(self, result: Result) -> None:
        self.result, self.data = result, result.data

    @cached_property
    def _texts(self) -> pd.DataFrame:
        return self.result.truths()

    def truth_texts(self, positions: NDArray[np.intp]) -> list[str]:
        """Return truths as they are written."""
        if self.data.kind == "classes":
            return [str(name) for name in self.data.class_names(self.result.truth[positions])]
        values = self._texts["truth"].iloc[positions]
        return [f"{value:g}" if isinstance(value, float) else str(value) for value in values]

    def of(self, position: int, risk: Risk) -> str:
        """Say why an item is in doubt."""
        n = int(risk.n_labels[position])
        if n == 0:
            return "Nobody labelled it."
        if self.data.kind == "classes":
            return self._of_class(position, n)
        if self.data.kind == "sets":
            return self._of_set(position, n)
        if self.data.kind == "ratings":
            row = self.result
            few = f"Only {count(n, 'rating')}; " if n <= FEW_LABELS else ""
            limits = f"{row.low[position]:.3g} to {row.high[position]:.3g}"
            return f"{few}its truth lies between {limits} (95%), by {count(n, 'rating')}."
        sure = percent(1 - risk.chance[position], 0)
        return f"Its least sure span is {sure} sure, by {count(n, 'worker')}."

    def _of_class(self, item: int, n: int) -> str:
        votes = self.data.votes[item]
        order = np.argsort(-votes, kind="stable")
        given = [code for code in order.tolist() if votes[code]]
        names = self.data.classes
        truth = int(self.result.truth[item])
        split = ", ".join(f"{names[code]} × {votes[code]}" for code in given[:4])
        parts = []
        if self.result.tied[item]:
            parts.append(f"Tied: {split}.")
        elif truth >= 0 and votes[truth] < votes[order[0]]:
            parts.append(f"The truth {names[truth]} is not what most labels say ({split}).")
        elif n == 1:
            parts.append(f"Only one label ({split}).")
        elif len(given) == 1:
            parts.append(f"All {n} labels say {names[given[0]]}, but workers like these err alike.")
        else:
            parts.append(f"Labels are split: {split}.")
        against = self.result.item_scores.get("members_against")
        if against is not None and against[item] >= 1:
            parts.append(f"{count(float(against[item]), 'method')} of the pool would say another.")
        return " ".join(parts)

    def _of_set(self, item: int, n: int) -> str:
        probability = self.result.probability[item]
        doubt = np.argsort(np.abs(probability - 0.5), kind="stable")[:2]
        named = ", ".join(
            f"{self.data.classes[code]} {percent(float(probability[code]), 0)}"
            for code in doubt.tolist()
        )
        return f"Least sure whether these apply: {named}, by {count(n, 'answer')}."
