"""What a manager asks of labels that nobody gave: how many, how sure, how good, what they changed.

Cells are counted a block of items at a time; nothing here holds items × workers × classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.artefacts.completion import VALUES_PER_CHUNK, Completion
from crowdcore.audit.items import majority_vote
from crowdcore.confusion import safe_ratio
from crowdcore.data import UNKNOWN, Codes, CrowdData, Floats
from crowdcore.results.result import Result

Against = Literal["gold", "truths"]
Counts = NDArray[np.int64]
Indices = NDArray[np.intp]

N_BINS = 20
"""Steps between 0 and 1 in which probabilities are counted."""

MAX_COMPARED_POINTS = 2_000
"""Points whose neighbours are looked at; of more a sample."""

_HALVES = np.arange(np.float16(1).view(np.uint16) + 1, dtype=np.uint16).view(np.float16)
"""Every number from 0 to 1 in half precision; its index is its bits."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CompletionSummary:
    """How much was filled in, with what, and with which probability."""

    observed: Counts  # [K] labels that were given, by class
    filled: Counts  # [K] labels that were filled in, by class
    n_empty: int  # cells that still have no label
    probability_counts: Counts  # [N_BINS] filled cells by probability, from 0 to 1
    mean_probability: float  # of filled cells; NaN where nothing was filled in


def summary(completion: Completion) -> CompletionSummary:
    """Count a completion's cells.

    Parameters
    ----------
    completion
        The matrix of items × workers with its filled labels.

    Returns
    -------
    CompletionSummary
        Counts by class and by probability.
    """
    counts = np.zeros(len(_HALVES), np.int64)
    for rows, label in completion.blocks():
        bits = np.abs(completion.probability[rows][label >= 0]).view(np.uint16)  # -0 is 0
        counts += np.bincount(bits, minlength=len(_HALVES))
    values, total = _HALVES.astype(np.float64), counts.sum()
    return CompletionSummary(
        observed=completion.data.votes.sum(0),
        filled=completion.filled_votes.sum(0),
        n_empty=completion.n_cells - completion.n_observed - completion.n_filled,
        probability_counts=np.histogram(values, N_BINS, (0, 1), weights=counts)[0].astype(np.int64),
        mean_probability=float(values @ counts / total) if total else np.nan,
    )


def worker_quality(result: Result, completion: Completion, against: Against) -> pd.DataFrame:
    """Compare how often workers' own labels are right, and those filled in for them.

    Parameters
    ----------
    result
        The truths that were inferred from the completed labels.
    completion
        The completed labels.
    against
        What labels are held to. Of the truths, those of items with fewer than two observed labels
        and tied ones are left out.

    Returns
    -------
    pandas.DataFrame
        One row per worker. Columns: worker, n_labels, n_filled, and for each of own, filled and
        completed the share that is right (NaN where none can be compared) and the n that were;
        change is completed less own.
    """
    data, reference = completion.data, _reference(result, against)
    is_compared = reference[data.item] != UNKNOWN
    worker = data.worker[is_compared]
    is_right = data.label[is_compared] == reference[data.item[is_compared]]
    own_n = np.bincount(worker, minlength=data.n_workers)
    own_hits = np.bincount(worker[is_right], minlength=data.n_workers)
    filled_n, filled_hits = np.zeros_like(own_n), np.zeros_like(own_n)
    for rows in _blocks(np.flatnonzero(reference != UNKNOWN), data.n_workers):
        label = completion.label[rows]
        filled_n += np.count_nonzero(label >= 0, axis=0)
        filled_hits += np.count_nonzero(label == reference[rows, None], axis=0)
    frame = pd.DataFrame(
        {
            "worker": list(data.workers),
            "n_labels": data.labels_per_worker,
            "n_filled": completion.filled_per_worker,
            "own": safe_ratio(own_hits, own_n),
            "own_n": own_n,
            "filled": safe_ratio(filled_hits, filled_n),
            "filled_n": filled_n,
            "completed": safe_ratio(own_hits + filled_hits, own_n + filled_n),
            "completed_n": own_n + filled_n,
        }
    )
    return frame.assign(change=frame["completed"] - frame["own"])


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemAnswers:
    """What is held of each item, by a method or by a vote."""

    truth: Codes  # [N]; UNKNOWN where undecided or tied
    confidence: Floats  # [N]

    @classmethod
    def from_result(cls, result: Result) -> ItemAnswers:
        """Take a result's truths, but none that was drawn between equals."""
        truth = np.where(result.tied, UNKNOWN, result.truth).astype(np.int32)
        return cls(truth=truth, confidence=result.confidence)

    @classmethod
    def from_votes(cls, data: CrowdData) -> ItemAnswers:
        """Count the observed labels; the confidence is the vote share."""
        share: Floats = data.votes.max(1) / np.maximum(data.labels_per_item, 1)
        return cls(truth=majority_vote(data), confidence=share)


def changes(before: ItemAnswers, after: ItemAnswers) -> dict[str, Indices]:
    """List the items whose answer is another.

    Parameters
    ----------
    before, after
        The answers to compare.

    Returns
    -------
    dict
        Items that were flipped, settled (was open) and opened (is open now); in each list those
        first of which the more decided side is surest.
    """
    open_before, open_after = before.truth == UNKNOWN, after.truth == UNKNOWN
    differs = before.truth != after.truth
    return {
        "flipped": _surest_first(differs & ~open_before & ~open_after, after.confidence),
        "settled": _surest_first(open_before & ~open_after, after.confidence),
        "opened": _surest_first(~open_before & open_after, before.confidence),
    }


@dataclass(frozen=True, kw_only=True)
class FlipScore:
    """How changed answers compare with gold."""

    n: int  # changed items with gold
    gained: int  # wrong before, right now
    lost: int  # right before, wrong now


def score_flips(
    data: CrowdData, before: ItemAnswers, after: ItemAnswers, items: Indices
) -> FlipScore:
    """Hold both answers of some items to gold.

    Parameters
    ----------
    data
        The data with gold.
    before, after
        The answers to compare.
    items
        Codes of the items; those without gold do not count.
    """
    items = items[data.has_gold[items]]
    gold = np.zeros(0) if data.gold is None else data.gold[items]
    was_right, is_right = before.truth[items] == gold, after.truth[items] == gold
    return FlipScore(
        n=len(items),
        gained=int((is_right & ~was_right).sum()),
        lost=int((was_right & ~is_right).sum()),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixPiece:
    """Some workers' labels of some items, [workers, items], in the order that was asked for."""

    label: NDArray[Any]  # UNKNOWN where there is none
    observed: NDArray[np.bool_]
    probability: NDArray[np.float16]  # of filled labels


def matrix_piece(completion: Completion, workers: Indices, items: Indices) -> MatrixPiece:
    """Cut a piece out of the matrix; of a pair that was labelled twice the last label stands.

    Parameters
    ----------
    completion
        The completed labels.
    workers, items
        Codes of the rows and columns, in the order to be shown.

    Returns
    -------
    MatrixPiece
        Arrays [workers, items].
    """
    data = completion.data
    label = completion.label[np.ix_(items, workers)].T.copy()
    row, column = (np.full(n, UNKNOWN) for n in (data.n_workers, data.n_items))
    row[workers], column[items] = np.arange(len(workers)), np.arange(len(items))
    inside = np.flatnonzero((row[data.worker] >= 0) & (column[data.item] >= 0))
    cell = row[data.worker[inside]], column[data.item[inside]]
    label[cell] = data.label[inside]
    observed = np.zeros(label.shape, bool)
    observed[cell] = True
    probability = completion.probability[np.ix_(items, workers)].T
    return MatrixPiece(label=label, observed=observed, probability=probability)


def order_by_similarity(label: NDArray[Any]) -> Indices:
    """Order workers so that those with similar labels stand together.

    Parameters
    ----------
    label
        Labels [workers, items]; UNKNOWN where there is none.

    Returns
    -------
    numpy.ndarray
        The workers' order [workers], the leaves of a tree of average linkage.
    """
    n_workers = len(label)
    if n_workers < 3:  # noqa: PLR2004  (any order of two is as good)
        return np.arange(n_workers)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    given = (label >= 0).astype(np.float32)
    n_shared, n_same = given @ given.T, np.zeros((n_workers, n_workers), np.float32)
    for code in np.unique(label[label >= 0]):
        is_class = (label == code).astype(np.float32)
        n_same += is_class @ is_class.T
    # As far apart as usual where nothing is known: by one shared label of the usual agreement.
    usual = n_same.sum() / max(1.0, float(n_shared.sum()))
    distance = 1 - (n_same + usual) / (n_shared + 1)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    order: Indices = leaves_list(tree).astype(np.intp)
    return order


def same_class_neighbours(points: NDArray[Any], codes: Codes) -> tuple[float, float]:
    """Tell how well points of a class stand together.

    Parameters
    ----------
    points
        Points [n, dimensions].
    codes
        Their classes [n]; points with UNKNOWN are left out.

    Returns
    -------
    share
        How often a point's nearest other point is of the same class; NaN with fewer than two.
    chance
        How often it would be if classes were dealt out at random.
    """
    rows = np.flatnonzero(codes != UNKNOWN)
    if len(rows) > MAX_COMPARED_POINTS:
        rows = np.random.default_rng(0).choice(rows, MAX_COMPARED_POINTS, replace=False)
    n = len(rows)
    if n < 2:  # noqa: PLR2004  (a point and its neighbour)
        return np.nan, np.nan
    x, classes = points[rows].astype(np.float64), codes[rows]
    square = (x * x).sum(1)
    distance = square[:, None] + square - 2 * x @ x.T
    np.fill_diagonal(distance, np.inf)
    size = np.bincount(classes)
    chance = (size * (size - 1)).sum() / (n * (n - 1))
    return float((classes[distance.argmin(1)] == classes).mean()), float(chance)


def _reference(result: Result, against: Against) -> Codes:
    """What labels are held to [N]; UNKNOWN where an item is not to be compared."""
    data = result.data
    if against == "gold":
        return np.full(data.n_items, UNKNOWN, np.int32) if data.gold is None else data.gold
    is_settled = (data.labels_per_item > 1) & ~result.tied
    return np.where(is_settled, result.truth, UNKNOWN).astype(np.int32)


def _blocks(rows: Indices, width: int) -> Iterator[Indices]:
    step = max(1, VALUES_PER_CHUNK // max(1, width))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _surest_first(mask: NDArray[np.bool_], confidence: Floats) -> Indices:
    rows = np.flatnonzero(mask)
    return rows[np.argsort(-confidence[rows], kind="stable")]
