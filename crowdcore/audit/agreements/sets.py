"""Agreement of labels that are sets of classes: alpha by two distances, and class by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from crowdcore.audit.agreements.coefficient import (
    Coefficient,
    class_row,
    intervals,
    item_groups,
)
from crowdcore.audit.sets import agreement as set_agreement
from crowdcore.audit.sets.answer_pairs import AnswerPairs, sets_of, similarity
from crowdcore.data import CrowdData, Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class SetMeasures:
    """All measures of labels that are sets; `class_rows` as those of single classes."""

    coefficients: tuple[Coefficient, ...]
    class_rows: list[dict[str, Any]]
    item_agreement: Floats  # [N] mean Jaccard similarity of two answers; NaN without a pair
    n_items: int
    n_alone: int
    n_repeated: int


def measure_sets(data: CrowdData, *, seed: int = 0) -> SetMeasures:
    """Measure the agreement of labels that are sets of classes.

    Parameters
    ----------
    data
        Labels that are sets.
    seed
        Of draws and resamples.

    Returns
    -------
    SetMeasures
        Every measure, or a note why it is not defined.
    """
    agreed = set_agreement.agreement(data, seed=seed)
    rng = np.random.default_rng(seed)
    pairs = AnswerPairs.of(data, rng)
    alike = similarity(sets_of(data), data.label[pairs.first], data.label[pairs.second])
    item = data.item[pairs.first]
    n_pairs = np.bincount(item, minlength=data.n_items)
    total = np.bincount(item, alike, minlength=data.n_items)
    item_agreement = np.full(data.n_items, np.nan)
    np.divide(total, n_pairs, out=item_agreement, where=n_pairs > 0)
    return SetMeasures(
        coefficients=_coefficients(agreed),
        class_rows=_by_class(data, rng) if agreed.n_items else [],
        item_agreement=item_agreement,
        n_items=agreed.n_items,
        n_alone=agreed.n_alone,
        n_repeated=agreed.n_repeated,
    )


def _coefficients(agreed: set_agreement.SetAgreement) -> tuple[Coefficient, ...]:
    observed = (
        ("mean Jaccard similarity of two answers to an item", _number(agreed.observed)),
        ("of two answers to any items", _number(agreed.chance)),
    )
    return (
        Coefficient(
            name="percent",
            value=agreed.equal,
            note=agreed.note,
            meaning="How often two workers give an item exactly the same classes.",
            steps=(("pairs of answers that are equal", _number(agreed.equal)),),
        ),
        Coefficient(
            name="alpha, MASI",
            value=agreed.alpha,
            interval=agreed.interval,
            note=agreed.note,
            meaning="Krippendorff's alpha where sets that contain each other are near (Passonneau "
            "2006).",
            steps=(
                ("distance", "1 − Jaccard × 1, 2/3 if one set holds the other, 1/3, or 0"),
                ("value", "1 − observed / expected distance"),
            ),
        ),
        Coefficient(
            name="alpha, Jaccard",
            value=agreed.jaccard_alpha,
            interval=agreed.jaccard_interval,
            note=agreed.note,
            meaning="Krippendorff's alpha by the share of classes that two sets have in common.",
            steps=(*observed, ("value", "1 − (1 − observed) / (1 − chance)")),
        ),
    )


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.4f}"


def _by_class(data: CrowdData, rng: np.random.Generator) -> list[dict[str, Any]]:
    """How far workers agree on ticking each class; of several answers of a worker the last."""
    cell = data.item.astype(np.int64) * data.n_workers + data.worker
    _, last = np.unique(cell[::-1], return_index=True)
    rows = data.n_labels - 1 - last
    size = np.bincount(data.item[rows], minlength=data.n_items).astype(np.float64)
    sets = sets_of(data)
    answers = csr_array(
        (np.ones(len(rows)), (data.item[rows], data.label[rows])), (data.n_items, len(sets))
    )
    ticks = answers @ sets.astype(np.float64)  # [N, K]
    shared = size > 1
    group, n_groups = item_groups(shared, rng)
    ticks, size, group = ticks[shared], size[shared], group[shared]
    both = ticks * (ticks - 1) / (size - 1)[:, None]  # in labels, as alpha counts
    columns = np.concatenate([ticks, both, size[:, None]], axis=1)
    table = np.zeros((n_groups, columns.shape[1]))
    np.add.at(table, group, columns)
    k = data.n_classes

    def measures(sums: Floats) -> Floats:
        ticked, agreeing, total = sums[:, :k], sums[:, k : 2 * k], sums[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = 2 * (ticked - agreeing) / total
            expected = 2 * ticked * (total - ticked) / (total * (total - 1))
            alpha = np.where(expected > 0, 1 - apart / expected, np.nan)
            return np.concatenate([agreeing / ticked, alpha], axis=1)

    total = table.sum(0)
    measured, ends = measures(total[None])[0], intervals(table, measures, rng)
    return [
        class_row(data.classes[code], total[code], measured[code], ends[code], measured[k + code])
        for code in np.flatnonzero(total[:k] > 0)
    ]
