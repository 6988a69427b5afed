"""What a manager asks of labels that nobody gave: how many, how sure, how good, what they changed.

Cells are counted a block of items at a time; nothing here holds items × workers × classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.completion import AT_ONCE, Completion
from crowdcore.audit.items import majority_vote
from crowdcore.data import UNKNOWN, Codes, CrowdData, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from crowdcore.result import Result

Against = Literal["gold", "truths"]
Counts = NDArray[np.int64]
Places = NDArray[np.intp]

BINS = 20
"""Steps between 0 and 1 in which sureness is counted."""

_HALVES = np.arange(np.float16(1).view(np.uint16) + 1, dtype=np.uint16).view(np.float16)
"""Every number from 0 to 1 in half precision; its place is its bits."""

MOST_COMPARED = 2_000
"""Points whose neighbours are looked at; of more a sample."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Summary:
    """How much was filled in, with what, and how surely."""

    observed: Counts  # [K] labels that were given, by class
    filled: Counts  # [K] labels that were filled in, by class
    empty: int  # cells that still have no label
    sureness: Counts  # [BINS] filled cells by probability, from 0 to 1
    mean_sureness: float  # NaN where nothing was filled in


def summary(completion: Completion) -> Summary:
    """Count a completion's cells."""
    halves = np.zeros(len(_HALVES), np.int64)
    for rows, label in completion.blocks():
        bits = np.abs(completion.probability[rows][label >= 0]).view(np.uint16)  # -0 is 0
        halves += np.bincount(bits, minlength=len(_HALVES))
    values, total = _HALVES.astype(np.float64), halves.sum()
    return Summary(
        observed=completion.data.votes.sum(0),
        filled=completion.filled_votes.sum(0),
        empty=completion.n_cells - completion.n_observed - completion.n_filled,
        sureness=np.histogram(values, BINS, (0, 1), weights=halves)[0].astype(np.int64),
        mean_sureness=float(values @ halves / total) if total else np.nan,
    )


def worker_quality(result: Result, completion: Completion, against: Against) -> pd.DataFrame:
    """One row a worker: how often their own labels are right, those filled in, and all together.

    Columns: worker, n_labels, n_filled, and for each of own, filled and completed the share that
    is right (NaN where none can be compared) and the n that were; change is completed less own.
    Against the truths, items with fewer than two observed labels and tied ones are left out.
    """
    import pandas as pd

    data, known = completion.data, _reference(result, against)
    own = known[data.item] != UNKNOWN
    worker, right = data.worker[own], data.label[own] == known[data.item[own]]
    own_n = np.bincount(worker, minlength=data.n_workers)
    own_hits = np.bincount(worker[right], minlength=data.n_workers)
    filled_n, filled_hits = np.zeros_like(own_n), np.zeros_like(own_n)
    for rows in _blocks(np.flatnonzero(known != UNKNOWN), data.n_workers):
        label = completion.label[rows]
        filled_n += np.count_nonzero(label >= 0, axis=0)
        filled_hits += np.count_nonzero(label == known[rows, None], axis=0)
    frame = pd.DataFrame(
        {
            "worker": list(data.workers),
            "n_labels": data.labels_per_worker,
            "n_filled": completion.filled_per_worker,
            "own": _shares(own_hits, own_n),
            "own_n": own_n,
            "filled": _shares(filled_hits, filled_n),
            "filled_n": filled_n,
            "completed": _shares(own_hits + filled_hits, own_n + filled_n),
            "completed_n": own_n + filled_n,
        }
    )
    return frame.assign(change=frame["completed"] - frame["own"])


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """What is held of each item, by whatever way."""

    truth: Codes  # [N]; UNKNOWN where undecided or tied
    confidence: Floats  # [N]


def answers_of(result: Result) -> Answers:
    """What a result holds, without truths that were drawn between equals."""
    truth = np.where(result.tied, UNKNOWN, result.truth).astype(np.int32)
    return Answers(truth=truth, confidence=result.confidence)


def votes_of(data: CrowdData) -> Answers:
    """What plain counting of the observed labels holds; the confidence is the vote share."""
    share: Floats = data.votes.max(1) / np.maximum(data.labels_per_item, 1)
    return Answers(truth=majority_vote(data), confidence=share)


def changes(before: Answers, after: Answers) -> dict[str, Places]:
    """The items whose answer is another: flipped, settled (was open), opened (is open now).

    Each lists those first of which the more decided side is surest.
    """
    open_before, open_after = before.truth == UNKNOWN, after.truth == UNKNOWN
    differ = before.truth != after.truth
    return {
        "flipped": _surest(differ & ~open_before & ~open_after, after.confidence),
        "settled": _surest(open_before & ~open_after, after.confidence),
        "opened": _surest(~open_before & open_after, before.confidence),
    }


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How flipped answers compare with gold."""

    n: int  # flipped items with gold
    gained: int  # wrong before, right now
    lost: int  # right before, wrong now


def judged(data: CrowdData, before: Answers, after: Answers, rows: Places) -> Verdict:
    """Hold both answers of some items to gold."""
    rows = rows[data.has_gold[rows]]
    gold = np.zeros(0) if data.gold is None else data.gold[rows]
    was, now = before.truth[rows] == gold, after.truth[rows] == gold
    return Verdict(n=len(rows), gained=int((now & ~was).sum()), lost=int((was & ~now).sum()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Some workers' labels of some items, [workers, items], in the order that was asked for."""

    label: NDArray[Any]  # UNKNOWN where there is none
    observed: NDArray[np.bool_]
    probability: NDArray[np.float16]  # of filled labels


def cells(completion: Completion, workers: Places, items: Places) -> Cells:
    """Cut a piece out of the matrix; of a pair that was labelled twice the last label stands."""
    data = completion.data
    label = completion.label[np.ix_(items, workers)].T.copy()
    row, column = (np.full(n, UNKNOWN) for n in (data.n_workers, data.n_items))
    row[workers], column[items] = np.arange(len(workers)), np.arange(len(items))
    seen = np.flatnonzero((row[data.worker] >= 0) & (column[data.item] >= 0))
    at = row[data.worker[seen]], column[data.item[seen]]
    label[at] = data.label[seen]
    observed = np.zeros(label.shape, bool)
    observed[at] = True
    probability = completion.probability[np.ix_(items, workers)].T
    return Cells(label=label, observed=observed, probability=probability)


def by_likeness(label: NDArray[Any]) -> Places:
    """An order of workers [m] in which those with alike labels [m, n] stand together."""
    m = len(label)
    if m < 3:  # noqa: PLR2004  (any order of two is as good)
        return np.arange(m)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    given = (label >= 0).astype(np.float32)
    both, same = given @ given.T, np.zeros((m, m), np.float32)
    for code in np.unique(label[label >= 0]):
        one = (label == code).astype(np.float32)
        same += one @ one.T
    # As far apart as usual where nothing is known: by one shared label of the usual agreement.
    usual = same.sum() / max(1.0, float(both.sum()))
    apart = 1 - (same + usual) / (both + 1)
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    order: Places = leaves_list(tree).astype(np.intp)
    return order


def neighbours_alike(points: NDArray[Any], codes: Codes) -> tuple[float, float]:
    """How often a point's nearest other point is of the same class, and how often by chance.

    Points without a class are left out; NaN where fewer than two have one.
    """
    rows = np.flatnonzero(codes != UNKNOWN)
    if len(rows) > MOST_COMPARED:
        rows = np.random.default_rng(0).choice(rows, MOST_COMPARED, replace=False)
    n = len(rows)
    if n < 2:  # noqa: PLR2004  (a point and its neighbour)
        return np.nan, np.nan
    x, own = points[rows].astype(np.float64), codes[rows]
    square = (x * x).sum(1)
    apart = square[:, None] + square - 2 * x @ x.T
    np.fill_diagonal(apart, np.inf)
    size = np.bincount(own)
    chance = (size * (size - 1)).sum() / (n * (n - 1))
    return float((own[apart.argmin(1)] == own).mean()), float(chance)


def _reference(result: Result, against: Against) -> Codes:
    """What labels are held to [N]; UNKNOWN where an item is not to be compared."""
    data = result.data
    if against == "gold":
        none = np.full(data.n_items, UNKNOWN, np.int32)
        return none if data.gold is None else data.gold
    told = (data.labels_per_item > 1) & ~result.tied
    return np.where(told, result.truth, UNKNOWN).astype(np.int32)


def _blocks(rows: Places, width: int) -> Iterator[Places]:
    step = max(1, AT_ONCE // max(1, width))
    for at in range(0, len(rows), step):
        yield rows[at : at + step]


def _shares(part: Counts, whole: Counts) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return share


def _surest(mask: NDArray[np.bool_], confidence: Floats) -> Places:
    rows = np.flatnonzero(mask)
    return rows[np.argsort(-confidence[rows], kind="stable")]
