"""Agreement of labels that are one class each: percent, alpha, Fleiss' kappa, Gwet's AC1 and AC2.

The formulas are those for any number of labels per item: Krippendorff (2011) for alpha, Gwet
(Handbook of Inter-Rater Reliability, 4th ed., ch. 2 to 5) for the others. Two labels of one worker
are no pair anywhere: nobody is a witness to themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.agreements.class_counts import ClassCounts, ClassLabels, Votes
from crowdcore.audit.agreements.coefficient import (
    Coefficient,
    class_row,
    intervals,
    item_groups,
)
from crowdcore.codes import sum_by
from crowdcore.data import Floats

NAMES = ("percent", "alpha", "Fleiss' kappa", "Gwet's AC1")

NAMES_OF_NUMBERS = ("alpha, ordinal", "Gwet's AC2")
"""Measures beside these where classes are numbers."""

MIN_STEPS = 3
"""Of fewer classes none are nearer to each other than others."""

MEANINGS = {
    "percent": "How often two labels of an item are the same, on average over items.",
    "alpha": "Krippendorff's alpha: how far agreement goes beyond what labels drawn from all "
    "labels would give; items count by their labels.",
    "Fleiss' kappa": "As alpha, but items count equally and chance is that of two labels drawn "
    "with the shares of the classes.",
    "Gwet's AC1": "How far agreement goes beyond chance, where only labels that are hard to give "
    "are taken to be guessed; it does not fall because one class is common.",
    "alpha, ordinal": "Alpha where classes that are near in order count as less different; for "
    "classes whose order means something.",
    "Gwet's AC2": "AC1 where classes that are near each other count as partly the same, by the "
    "square of their distance; for classes whose order means something.",
}

NOTHING_SHARED = "No item has labels of two workers, so no labels can be compared."
ONE_CLASS = "All labels that can be compared are of one class: whether workers look cannot show."


@dataclass(frozen=True, kw_only=True, eq=False)
class NominalAgreement:
    """All measures of labels that are one class each.

    Attributes
    ----------
    coefficients
        Percent, alpha, Fleiss' kappa and AC1; ordinal alpha and AC2 where classes are numbers.
    class_rows
        One row per class that occurs, with `CLASS_COLUMNS`.
    item_agreement
        The share of pairs that agree of each item [N]; NaN where there is none.
    n_items, n_alone, n_repeated
        Items that can be compared, items with labels of one worker, and repeated labels.
    largest_share
        The share of the most common class, by labels.
    """

    coefficients: tuple[Coefficient, ...]
    class_rows: list[dict[str, Any]]
    item_agreement: Floats
    n_items: int
    n_alone: int
    n_repeated: int
    largest_share: float


def measure_classes(labels: ClassLabels, *, seed: int = 0) -> NominalAgreement:
    """Measure the agreement of labels that are one class each.

    Parameters
    ----------
    labels
        What was given to which item, by whom.
    seed
        Of the resamples behind the intervals.

    Returns
    -------
    NominalAgreement
        Every measure with an interval, or a note why it is not defined.
    """
    counts = ClassCounts(labels)
    size, shared = counts.votes.size, counts.pairs > 0
    tally = np.bincount(labels.label, minlength=len(labels.classes))
    values = _numbers(labels.classes)
    if (tally > 0).sum() < MIN_STEPS:
        values = None
    names = NAMES if values is None else (*NAMES, *NAMES_OF_NUMBERS)
    alike = counts.alike()
    item_agreement = np.full(labels.n_items, np.nan)
    item_agreement[shared] = alike[shared] / counts.pairs[shared]
    coefficients = tuple(_undefined(name, NOTHING_SHARED) for name in names)
    class_rows: list[dict[str, Any]] = []
    if shared.any():
        rng = np.random.default_rng(seed)
        sums = _Sums(counts, shared, alike, values)
        table = sums.by_group(labels, rng)
        total = table.sum(0)
        measured, ends = sums.measures(total[None])[0], intervals(table, sums.measures, rng)
        steps = sums.steps(total)
        coefficients = tuple(
            _coefficient(name, measured[k], ends[k], steps[name]) for k, name in enumerate(names)
        )
        class_rows = sums.class_rows(labels.classes, total, measured, ends)
    return NominalAgreement(
        coefficients=coefficients,
        class_rows=class_rows,
        item_agreement=item_agreement,
        n_items=int(shared.sum()),
        n_alone=int(((size > 0) & ~shared).sum()),
        n_repeated=counts.n_repeated,
        largest_share=float(tally.max() / max(tally.sum(), 1)),
    )


def _undefined(name: str, why: str) -> Coefficient:
    return Coefficient(name=name, value=None, note=why, meaning=MEANINGS[name])


def _coefficient(
    name: str,
    value: float,
    ends: tuple[float, float] | None,
    steps: tuple[tuple[str, str], ...],
) -> Coefficient:
    if not np.isfinite(value):
        return Coefficient(
            name=name, value=None, note=ONE_CLASS, meaning=MEANINGS[name], steps=steps
        )
    return Coefficient(
        name=name, value=float(value), interval=ends, meaning=MEANINGS[name], steps=steps
    )


def _numbers(classes: tuple[str, ...]) -> Floats | None:
    """Classes as numbers, where all of them are; None otherwise."""
    try:
        values = np.array([float(name) for name in classes])
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


class _Sums:
    """Sums over items from which every measure follows, so that groups of items can be resampled.

    Columns: shared items, items, agreement of shared items, the same counted in labels; where
    classes are numbers, both once more by ordinal and by squared distance; then by class: shares
    of items, labels of shared items, agreeing pairs and pairs, both counted in labels.
    """

    def __init__(
        self, counts: ClassCounts, shared: NDArray[np.bool_], alike: Floats, values: Floats | None
    ) -> None:
        self.counts, self.shared = counts, shared
        size = counts.votes.size
        scale = np.zeros(len(shared))
        scale[shared] = 1 / counts.pairs[shared]
        self.scale = scale * size  # pairs as labels: an item counts by its number of labels
        self.plain = [
            shared.astype(np.float64),
            (size > 0).astype(np.float64),
            alike * scale,
            alike * self.scale,
        ]
        self.weights: list[Floats] = []
        if values is not None:
            votes = counts.votes
            pooled = sum_by(votes.label, votes.number * shared[votes.owner], len(values))
            for weights in (_squared(np.cumsum(pooled) - pooled / 2), _squared(values)):
                near = counts.alike(weights)
                self.plain += [near * scale, near * self.scale]
                self.weights.append(weights)

    def by_group(self, labels: ClassLabels, rng: np.random.Generator) -> Floats:
        """Add up the sums of groups of items, or of clusters of them [G, C]."""
        size = self.counts.votes.size
        if labels.cluster is None:
            group, n_groups = item_groups(size > 0, rng)
        else:
            n_clusters = int(labels.cluster.max()) + 1
            per_cluster, n_groups = item_groups(np.ones(n_clusters, bool), rng)
            group = per_cluster[labels.cluster]
        self.k = len(labels.classes)
        votes, own = self.counts.votes, self.counts.own
        shape = (n_groups, self.k)

        def by_class(entries: Votes, home: NDArray[np.int64], values: Floats) -> Floats:
            cell = group[home] * self.k + entries.label
            return sum_by(cell, values, n_groups * self.k).reshape(shape)

        home, number = votes.owner, votes.number
        own_home = self.counts.own_item[own.owner]
        own_scale, own_number = self.scale[own_home], own.number
        classes = [
            by_class(votes, home, number / size[home]),
            by_class(votes, home, number * self.shared[home]),
            by_class(votes, home, number * (number - 1) * self.scale[home])
            - by_class(own, own_home, own_number * (own_number - 1) * own_scale),
            by_class(votes, home, number * (size[home] - 1) * self.scale[home])
            - by_class(own, own_home, own_number * (own.size[own.owner] - 1) * own_scale),
        ]
        plain = np.stack([sum_by(group, column, n_groups) for column in self.plain], axis=1)
        table: Floats = np.concatenate([plain, *classes], axis=1)
        self.used = classes[0].sum(0) > 0
        self.q = int(self.used.sum())
        return table

    def _split(self, sums: Floats) -> tuple[Floats, list[Floats]]:
        """The plain sums [R, 4 or 8], and those by class, each [R, K]."""
        first = len(self.plain)
        parts = (sums[:, first + k * self.k : first + (k + 1) * self.k] for k in range(4))
        return sums[:, :first], list(parts)

    def measures(self, sums: Floats) -> Floats:
        """Make the measures, then agreement and alpha by class, from added sums [R, C]."""
        plain, (shares, labels, both, first) = self._split(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = shares / plain[:, 1:2]
            percent = plain[:, 2] / plain[:, 0]
            total = labels.sum(1)
            measured = [
                percent,
                _beyond(plain[:, 3] / total, _drawn(labels)),
                _beyond(percent, (share**2).sum(1)),
                _beyond(percent, self._gwet_chance(share)),
            ]
            if self.weights:
                ordinal, squared = self.weights
                measured += [
                    _beyond(plain[:, 5] / total, _drawn(labels, ordinal)),
                    _beyond(plain[:, 6] / plain[:, 0], self._gwet_chance(share, squared)),
                ]
            # One class against the rest: pairs in which just one of the two gives it disagree.
            apart = 2 * (first - both) / total[:, None]
            expected = 2 * labels * (total[:, None] - labels) / (total * (total - 1))[:, None]
            against_rest = np.where(expected > 0, 1 - apart / expected, np.nan)
            by_class = both / first
        return np.concatenate([np.stack(measured, axis=1), by_class, against_rest], axis=1)

    def _gwet_chance(self, share: Floats, weights: Floats | None = None) -> Floats:
        """Chance agreement of Gwet's AC1 and AC2 [R]; NaN where only one class occurs."""
        if self.q < 2:  # noqa: PLR2004  (nothing to mistake it for)
            return np.full(len(share), np.nan)
        total = self.q if weights is None else weights[np.ix_(self.used, self.used)].sum()
        chance: Floats = total * (share * (1 - share)).sum(1) / (self.q * (self.q - 1))
        return chance

    def steps(self, sums: Floats) -> dict[str, tuple[tuple[str, str], ...]]:
        """Say how each measure was computed, with the numbers."""
        plain, (shares, labels, _, _) = self._split(sums[None])
        total = float(labels.sum())
        share = shares / plain[:, 1:2]
        percent = float(plain[0, 2] / plain[0, 0])
        n_shared, n_items = int(plain[0, 0]), int(plain[0, 1])
        by_labels = float(plain[0, 3] / total)
        mean = ("agreement, mean over items", f"{percent:.4f} ({n_shared:,} items)")
        shares_of = (
            "shares of the classes, mean over items",
            f"{', '.join(f'{value:.3f}' for value in share[0][self.used][:8])}"
            f"{' …' if self.q > 8 else ''} ({n_items:,} items)",  # noqa: PLR2004
        )
        formula = ("value", "(agreement − chance) / (1 − chance)")
        steps = {
            "percent": (mean,),
            "alpha": (
                ("agreement, items by their labels", f"{by_labels:.4f} ({total:,.0f} labels)"),
                (
                    "chance: two labels drawn from all of them",
                    f"{float(_drawn(labels)[0]):.4f}",
                ),
                formula,
            ),
            "Fleiss' kappa": (
                mean,
                shares_of,
                ("chance: squares of the shares, added up", f"{float((share**2).sum()):.4f}"),
                formula,
            ),
            "Gwet's AC1": (
                mean,
                shares_of,
                (
                    f"chance: share × (1 − share), added up, / ({self.q} − 1)",
                    f"{float(self._gwet_chance(share)[0]):.4f}",
                ),
                formula,
            ),
        }
        if self.weights:
            ordinal, squared = self.weights
            steps["alpha, ordinal"] = (
                ("agreement by rank, items by their labels", f"{float(plain[0, 5] / total):.4f}"),
                (
                    "chance: two labels drawn from all of them",
                    f"{float(_drawn(labels, ordinal)[0]):.4f}",
                ),
                formula,
            )
            steps["Gwet's AC2"] = (
                (
                    "agreement by squared distance, mean over items",
                    f"{float(plain[0, 6] / plain[0, 0]):.4f}",
                ),
                shares_of,
                (
                    f"chance: weights / ({self.q} × ({self.q} − 1)) × share × (1 − share)",
                    f"{float(self._gwet_chance(share, squared)[0]):.4f}",
                ),
                formula,
            )
        return steps

    def class_rows(
        self,
        classes: tuple[str, ...],
        sums: Floats,
        measured: Floats,
        ends: list[tuple[float, float] | None],
    ) -> list[dict[str, Any]]:
        """One row per class that occurs."""
        n_measures = len(measured) - 2 * self.k
        _, (_, labels, _, _) = self._split(sums[None])
        return [
            class_row(
                classes[code],
                labels[0, code],
                measured[n_measures + code],
                ends[n_measures + code],
                measured[n_measures + self.k + code],
            )
            for code in np.flatnonzero(self.used)
        ]


def _beyond(observed: Floats, chance: Floats) -> Floats:
    """Agreement beyond chance, as a share of what chance leaves; NaN where it leaves nothing."""
    room = np.where(1 - chance > 1e-12, 1 - chance, np.nan)  # noqa: PLR2004
    return 1 - (1 - observed) / room


def _drawn(labels: Floats, weights: Floats | None = None) -> Floats:
    """How alike two labels are that are drawn from all without putting the first back [R]."""
    total = labels.sum(1)
    near = labels if weights is None else labels @ weights
    alike: Floats = ((near * labels).sum(1) - total) / (total * (total - 1))
    return alike


def _squared(values: Floats) -> Floats:
    """How alike classes are by the square of their distance; of mid-ranks that is ordinal."""
    apart = (values[:, None] - values) ** 2
    largest = apart.max()
    weights: Floats = 1 - apart / largest if largest > 0 else np.ones_like(apart)
    return weights
