"""Agreement on spans of text: the F1 of one worker against another, and tokens class by class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.annotations import annotation_spans
from crowdcore.audit.agreements.class_counts import ClassLabels
from crowdcore.audit.agreements.coefficient import (
    Coefficient,
    class_row,
    intervals,
    item_groups,
)
from crowdcore.audit.agreements.nominal import measure_classes
from crowdcore.audit.spans.agreement import span_agreement
from crowdcore.audit.spans.texts import text_names
from crowdcore.data import CrowdData, Floats
from crowdcore.spans import TagSet

NO_CHANCE = (
    "Spans can begin and end anywhere, so hardly any agree by chance and F1 needs no correction "
    "(Hripcsak and Rothschild 2005)."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SpanMeasures:
    """All measures of spans; `class_rows` as those of single classes, by type of span."""

    coefficients: tuple[Coefficient, ...]
    class_rows: list[dict[str, Any]]
    texts: list[str]
    n_annotations: NDArray[np.int64]  # [S]
    item_agreement: Floats  # [S] F1; NaN without two annotations or without a span
    n_items: int
    n_alone: int


def measure_spans(data: CrowdData, *, seed: int = 0) -> SpanMeasures:
    """Measure the agreement of labels that mark spans.

    Parameters
    ----------
    data
        Labels of the kind "sequences".
    seed
        Of the resamples behind the intervals.

    Returns
    -------
    SpanMeasures
        The F1 of spans, and what tokens say; every measure, or a note why it is not defined.
    """
    agreed = span_agreement(data)
    tag_set = TagSet(data.classes)
    marked = annotation_spans(data, tag_set)
    per_text, n_types = marked.annotations_per_text, len(tag_set.types)
    keys = marked.spans.keys(n_types)
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    votes = np.bincount(index, minlength=len(first))
    agreeing = np.zeros((len(per_text), n_types))
    possible = np.zeros((len(per_text), n_types))
    np.add.at(agreeing, (marked.text[first], marked.spans.type[first]), votes * (votes - 1))
    np.add.at(possible, (marked.text, marked.spans.type), per_text[marked.text] - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        item_agreement = np.where(per_text > 1, agreeing.sum(1) / possible.sum(1), np.nan)
    compared = per_text[marked.text] > 1
    n_marks = np.bincount(marked.spans.type[compared], minlength=n_types)
    offsets = np.asarray(data.offsets)
    tokens = measure_classes(
        ClassLabels(
            item=data.item,
            worker=data.worker,
            label=data.label,
            n_items=data.n_items,
            classes=data.classes,
            cluster=np.searchsorted(offsets, np.arange(data.n_items), side="right") - 1,
        ),
        seed=seed,
    )
    f1 = Coefficient(
        name="span F1",
        value=agreed.alpha,
        interval=agreed.interval,
        note=NO_CHANCE if agreed.alpha is not None else agreed.describe(),
        meaning="Where one worker marked a span, how often another marked exactly the same one.",
        steps=(
            ("ordered pairs of workers who marked the same span", f"{agreeing.sum():,.0f}"),
            ("ordered pairs in which the first marked one", f"{possible.sum():,.0f}"),
            ("value", "the one divided by the other"),
        ),
    )
    of_tokens = tuple(
        replace(entry, name=f"{entry.name} of tokens", meaning=f"By token. {entry.meaning}")
        for entry in tokens.coefficients
    )
    return SpanMeasures(
        coefficients=(f1, *of_tokens),
        class_rows=_by_type(tag_set, agreeing, possible, n_marks, per_text > 1, seed),
        texts=text_names(data),
        n_annotations=per_text,
        item_agreement=item_agreement,
        n_items=agreed.n_items,
        n_alone=agreed.n_alone,
    )


def _by_type(  # noqa: PLR0917
    tag_set: TagSet,
    agreeing: Floats,
    possible: Floats,
    n_marks: NDArray[np.int64],
    shared: NDArray[np.bool_],
    seed: int,
) -> list[dict[str, Any]]:
    """The F1 of each type of span, with its interval by drawing texts anew."""
    rng = np.random.default_rng(seed)
    n_types = len(tag_set.types)
    if not shared.any():
        return []
    group, n_groups = item_groups(shared, rng)
    table = np.zeros((n_groups, 2 * n_types))
    np.add.at(table, group[shared], np.concatenate([agreeing, possible], axis=1)[shared])

    def measures(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums[:, :n_types] / sums[:, n_types:]

    total = table.sum(0)
    measured, ends = measures(total[None])[0], intervals(table, measures, rng)
    return [
        class_row(tag_set.types[code], n_marks[code], measured[code], ends[code])
        for code in np.flatnonzero(total[n_types:] > 0)
    ]
