"""How far every two of some workers agree, with how many items they share, for every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdcore.annotations import annotation_spans
from crowdcore.audit.comparisons.pair_answers import pair_answers
from crowdcore.audit.sets.answer_pairs import AnswerPairs, sets_of, similarity
from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.results.result import wilson
from crowdcore.spans import TagSet

MAX_WORKERS = 500
"""Workers who are compared with each other at most."""

MEASURES = {
    "classes": "The share of shared items that both gave the same class.",
    "comparisons": "The share of shared pairs of items of which both chose the same.",
    "sets": "Of the classes that either ticked, the share that both did, on average over shared "
    "items (Jaccard).",
    "ratings": "Cohen's kappa with quadratic weights: 1 for equal ratings, 0 for no more than "
    "chance.",
    "sequences": "The F1 of the spans of one against those of the other, in shared texts.",
}
"""What agreement of two workers is, by kind of labels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerPairs:
    """Some workers against each other.

    Attributes
    ----------
    workers
        Names of the workers [m].
    n_shared
        Items, pairs of items or texts that both labelled [m, m].
    agreement
        How far they agree [m, m]; NaN without anything shared, and of oneself.
    measure
        What that number is, in a sentence.
    is_share
        Whether it is a share of what is shared, so that it has an interval.
    """

    workers: tuple[str, ...]
    n_shared: NDArray[np.int64]
    agreement: Floats
    measure: str
    is_share: bool

    def table(self) -> pd.DataFrame:
        """List every pair with something shared: the two workers, how much, how far they agree.

        Returns
        -------
        pandas.DataFrame
            Columns first, second, n_shared, agreement, and for shares agreement_low and
            agreement_high; those who share most first.
        """
        first, second = np.nonzero(np.triu(self.n_shared, 1))
        order = np.argsort(-self.n_shared[first, second], kind="stable")
        first, second = first[order], second[order]
        names = np.array(self.workers, dtype=object)
        shared, agreement = self.n_shared[first, second], self.agreement[first, second]
        columns: dict[str, Any] = {
            "first": names[first],
            "second": names[second],
            "n_shared": shared,
            "agreement": agreement,
        }
        if self.is_share:
            columns["agreement_low"], columns["agreement_high"] = wilson(agreement * shared, shared)
        return pd.DataFrame(columns)


def busiest_workers(data: CrowdData, most: int = MAX_WORKERS) -> list[str]:
    """Return the workers with the most labels, in the order of the data.

    Parameters
    ----------
    data
        Labels of any kind.
    most
        How many.

    Returns
    -------
    list of str
        Their names.
    """
    order = np.argsort(-data.labels_per_worker, kind="stable")[:most]
    return [data.workers[code] for code in np.sort(order) if data.labels_per_worker[code]]


def compare_workers(data: CrowdData, workers: list[str]) -> WorkerPairs:
    """Compare every two of some workers on what both labelled.

    Parameters
    ----------
    data
        Labels of any kind.
    workers
        Their names, at most `MAX_WORKERS`; of several labels of one item the last counts.

    Returns
    -------
    WorkerPairs
        In the order of the names.

    Raises
    ------
    DataError
        If there is no such worker, or there are too many.
    """
    if len(workers) > MAX_WORKERS:
        raise DataError(f"At most {MAX_WORKERS} workers can be compared with each other at a time")
    codes = {name: code for code, name in enumerate(data.workers)}
    if unknown := [name for name in workers if name not in codes]:
        raise DataError(f"There is no worker called {unknown[0]!r}")
    chosen = np.array([codes[name] for name in workers], np.int64)
    position = np.full(data.n_workers, -1)
    position[chosen] = np.arange(len(chosen))
    if data.kind == "sequences":
        n_shared, agreement = _spans(data, position, len(chosen))
    else:
        source = pair_answers(data) if data.kind == "comparisons" else data
        n_shared, agreement = _answers(_last_of_each(source, position), position, len(chosen))
    agreement[n_shared == 0] = np.nan
    np.fill_diagonal(agreement, np.nan)
    np.fill_diagonal(n_shared, 0)
    return WorkerPairs(
        workers=tuple(workers),
        n_shared=n_shared,
        agreement=agreement,
        measure=MEASURES[data.kind],
        is_share=data.kind in ("classes", "comparisons"),
    )


def _last_of_each(data: CrowdData, position: NDArray[np.int64]) -> CrowdData:
    """The last label that each chosen worker gave each item."""
    rows = np.flatnonzero(position[data.worker] >= 0)
    cell = data.item[rows].astype(np.int64) * data.n_workers + data.worker[rows]
    _, last = np.unique(cell[::-1], return_index=True)
    return data.only(rows[len(rows) - 1 - last])


def _counts(row: NDArray[Any], column: NDArray[Any], m: int, values: Any = None) -> Any:
    """A sparse table of rows by chosen workers."""
    _, row = np.unique(row, return_inverse=True)
    shape = (int(row.max(initial=-1)) + 1, m)
    return csr_array((np.ones(len(row)) if values is None else values, (row, column)), shape)


def _answers(
    data: CrowdData, position: NDArray[np.int64], m: int
) -> tuple[NDArray[np.int64], Floats]:
    """Shared items and agreement of the chosen workers [m, m], one label per item and worker."""
    worker, item = position[data.worker], data.item.astype(np.int64)
    given = _counts(item, worker, m)
    n_shared = (given.T @ given).toarray()
    shared = np.maximum(n_shared, 1)
    if data.kind == "sets":
        pairs = AnswerPairs.of(data, np.random.default_rng(0))
        alike = similarity(sets_of(data), data.label[pairs.first], data.label[pairs.second])
        cell = worker[pairs.first] * m + worker[pairs.second]
        n_pairs = np.bincount(cell, minlength=m * m)
        total = np.bincount(cell, alike, minlength=m * m) / np.maximum(n_pairs, 1)
        agreement = total.reshape(m, m)
    elif data.kind == "ratings":
        value = np.asarray(data.label, np.float64) - float(np.mean(data.label))
        rated = _counts(item, worker, m, value)
        squared = _counts(item, worker, m, value**2)
        mean = (rated.T @ given).toarray() / shared  # [a, b]: of a, on what b rated too
        square = (squared.T @ given).toarray() / shared
        product = (rated.T @ rated).toarray() / shared
        apart = square + square.T - 2 * product
        chance = square + square.T - 2 * mean * mean.T
        with np.errstate(invalid="ignore", divide="ignore"):
            agreement = np.where(chance > 1e-12, 1 - apart / chance, np.nan)  # noqa: PLR2004
    else:
        answer = _counts(item * max(1, data.n_classes) + data.label, worker, m)
        agreement = (answer.T @ answer).toarray() / shared
    return n_shared.astype(np.int64), agreement


def _spans(
    data: CrowdData, position: NDArray[np.int64], m: int
) -> tuple[NDArray[np.int64], Floats]:
    """Shared texts, and the F1 of spans in them [m, m]."""
    tag_set = TagSet(data.classes)
    marked = annotation_spans(data, tag_set)
    order = marked.order
    seen = np.unique(order.text * np.int64(m + 1) + position[order.worker] + 1)
    text, worker = seen // (m + 1), seen % (m + 1) - 1
    texts = _table(text[worker >= 0], worker[worker >= 0], m, len(marked.annotations_per_text))
    n_shared = (texts.T @ texts).toarray()
    keep = position[marked.worker] >= 0
    mine = position[marked.worker[keep]]
    keys = marked.spans.keys(len(tag_set.types))[keep]
    _, first = np.unique(keys * np.int64(1), return_inverse=True)
    unique = np.unique(first * np.int64(m) + mine)
    spans = _counts(unique // m, unique % m, m)
    per_text = _table(marked.text[keep], mine, m, len(marked.annotations_per_text))
    own = (per_text.T @ texts).toarray()  # [a, b]: spans of a in texts that b annotated
    both = (spans.T @ spans).toarray()
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(own + own.T > 0, 2 * both / (own + own.T), np.nan)
    return n_shared.astype(np.int64), f1


def _table(row: NDArray[Any], column: NDArray[Any], m: int, n_rows: int) -> Any:
    return csr_array((np.ones(len(row)), (row, column)), (n_rows, m))
