"""One measure of agreement with its interval, and the resampling behind intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats

N_RESAMPLES = 1000
"""Resamples of the items behind an interval."""

MAX_GROUPS = 2000
"""Items beyond this many are resampled in random groups, whose sums vary as their items do."""

RESAMPLES_PER_CHUNK = 50
"""Resamples that are drawn at a time, to keep memory small."""


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A measure of agreement: 1 where all agree, 0 where no more than by chance.

    Attributes
    ----------
    name
        What it is called.
    value, interval
        The value and its 95 % interval, by resampling items; None where it is not defined.
    note
        Why it is not defined, or what to bear in mind.
    meaning
        What it says, in a sentence.
    steps
        How it was computed: what each number is, and the number.
    """

    name: str
    value: float | None
    interval: tuple[float, float] | None = None
    note: str = ""
    meaning: str = ""
    steps: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The value with its interval, or why there is none."""
        if self.value is None:
            return self.note
        interval = ""
        if self.interval is not None:
            interval = f" ({self.interval[0]:.2f} to {self.interval[1]:.2f})"
        return f"{self.value:.3f}{interval}"


def item_groups(
    usable: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """Put items into groups that are resampled together.

    Parameters
    ----------
    usable
        Which items take part [N].
    rng
        By which items are put into groups.

    Returns
    -------
    group, n_groups
        The group of each item [N], 0 for those that take no part, and how many groups there are.
    """
    n_items = int(usable.sum())
    n_groups = min(n_items, MAX_GROUPS)
    group = np.zeros(len(usable), np.int64)
    group[usable] = rng.permutation(n_items) % max(n_groups, 1)
    return group, n_groups


def resampled(table: Floats, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw groups anew and add up their sums.

    Parameters
    ----------
    table
        Sums of each group [G, columns].
    rng
        By which groups are drawn.

    Yields
    ------
    numpy.ndarray
        The sums of some resamples [resamples, columns], until there are `N_RESAMPLES`.
    """
    n_groups = len(table)
    for _ in range(N_RESAMPLES // RESAMPLES_PER_CHUNK):
        drawn = rng.integers(n_groups, size=(RESAMPLES_PER_CHUNK, n_groups))
        drawn += np.arange(RESAMPLES_PER_CHUNK)[:, None] * n_groups
        weight = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        yield weight.astype(np.float64) @ table


def intervals(
    table: Floats, measures: Callable[[Floats], Floats], rng: np.random.Generator
) -> list[tuple[float, float] | None]:
    """Return the middle 95 % of measures when groups of items are drawn anew.

    Parameters
    ----------
    table
        Sums of each group [G, columns].
    measures
        Makes the measures from added sums: [resamples, columns] to [resamples, measures].
    rng
        By which groups are drawn.

    Returns
    -------
    list
        The interval of each measure; None where a single group cannot vary, or where no resample
        defines it.
    """
    if len(table) < 2:  # noqa: PLR2004  (one item cannot vary)
        n_measures = measures(table.sum(0)[None]).shape[1]
        return [None] * n_measures
    draws = np.concatenate([measures(sums) for sums in resampled(table, rng)])
    ends: list[tuple[float, float] | None] = []
    for column in draws.T:
        defined = column[np.isfinite(column)]
        if len(defined):
            low, high = np.quantile(defined, [0.025, 0.975])
            ends.append((float(low), float(high)))
        else:
            ends.append(None)
    return ends


CLASS_COLUMNS = ("class", "n_labels", "agreement", "agreement_low", "agreement_high", "alpha")
"""What is known of the agreement on a class: labels of it, how often another worker gives it who
labels the same, the ends of that interval, and alpha of the class against the rest."""


def class_row(
    name: str,
    n_labels: float,
    agreement: float,
    interval: tuple[float, float] | None,
    alpha: float = np.nan,
) -> dict[str, Any]:
    """Make a row of `CLASS_COLUMNS`.

    Parameters
    ----------
    name
        The class.
    n_labels
        Labels of it that can be compared.
    agreement, interval
        How often another worker gives it too, and its 95 % interval.
    alpha
        Of the class against the rest; NaN where that is not defined.

    Returns
    -------
    dict
        The row.
    """
    low, high = interval if interval is not None else (np.nan, np.nan)
    values = (name, int(n_labels), float(agreement), low, high, float(alpha))
    return dict(zip(CLASS_COLUMNS, values, strict=True))
