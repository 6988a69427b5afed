"""Compared items: their ranks, scores and records, who beats whom, and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from crowdcore.artefacts.order import Order
from crowdcore.audit.agreement import Agreement, agreement
from crowdcore.audit.comparisons.pair_answers import pair_answers
from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.engine.comparisons import LEFT, POINTS, RIGHT, TIE
from crowdcore.export.columns import SCORE, TableColumn, as_categories, build_table
from crowdcore.export.tables import LABEL_COLUMNS, LabelSource
from crowdcore.result import Result

NEIGHBOURS = 10
"""How far apart in rank two items may be to be worth a comparison."""

MAX_CANDIDATES = 50_000
"""Pairs whose worth is computed at most: those whose order is the most open."""

N_NODES = 100
"""Equally likely differences of scores over which an expectation is computed."""


class RankedItemAudit:
    """Numbers of a result's items that several columns share, each computed once."""

    def __init__(self, result: Result) -> None:
        self.result, self.data = result, result.data
        if result.data.other is None:
            raise DataError(f"These labels are {result.data.kind}, not comparisons")
        self.left, self.right = result.data.item, result.data.other

    @cached_property
    def record(self) -> tuple[Floats, Floats, Floats]:
        """Wins, losses and ties of each item [N]."""
        n, label = self.data.n_items, self.data.label

        def count(side: Any, outcome: int) -> Floats:
            return np.bincount(side[label == outcome], minlength=n).astype(np.float64)

        wins = count(self.left, LEFT) + count(self.right, RIGHT)
        losses = count(self.left, RIGHT) + count(self.right, LEFT)
        return wins, losses, count(self.left, TIE) + count(self.right, TIE)

    @cached_property
    def order(self) -> Order | None:
        """How sure the order is; None where the method does not say."""
        return self.result.artefact(Order)


def _of_order(name: str) -> Any:
    def values(audit: RankedItemAudit) -> Any:
        return None if audit.order is None else getattr(audit.order, name)

    return values


_TRUTH_COLUMNS: tuple[TableColumn[RankedItemAudit], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The item's name.",
        unit="name",
        values=lambda audit: pd.array(list(audit.data.items), dtype="str"),
    ),
    TableColumn(
        name="rank",
        title="Rank",
        help="The place in the order, 1 being the best.",
        unit="labels",
        values=lambda audit: audit.result.rank,
    ),
    TableColumn(
        name="truth",
        title="Score",
        help="The score in log-odds: one point more wins 73% of comparisons. The mean is 0.",
        unit="score",
        values=lambda audit: audit.result.truth,
    ),
    TableColumn(
        name="low",
        title="Score from",
        help="Lower end of the 95% interval of the score; empty where the method gives none.",
        unit="score",
        values=lambda audit: audit.result.low,
    ),
    TableColumn(
        name="high",
        title="Score to",
        help="Upper end of the 95% interval of the score; empty where the method gives none.",
        unit="score",
        values=lambda audit: audit.result.high,
    ),
    TableColumn(
        name="rank_low",
        title="Rank from",
        help="The best rank within the 95% interval.",
        unit="labels",
        values=_of_order("rank_low"),
    ),
    TableColumn(
        name="rank_high",
        title="Rank to",
        help="The worst rank within the 95% interval.",
        unit="labels",
        values=_of_order("rank_high"),
    ),
    TableColumn(
        name="best",
        title="Best",
        help="The probability that the item is the best of all.",
        unit="share",
        values=_of_order("best"),
    ),
    TableColumn(
        name="above_next",
        title="Above the next",
        help="The probability that the item is better than the next in rank.",
        unit="share",
        values=lambda audit: audit.result.above_next,
    ),
    TableColumn(
        name="elo",
        title="Elo",
        help="The score on the scale of chess ratings: 1000 is the mean, 400 points more wins ten "
        "times as often as it loses.",
        unit="score",
        values=lambda audit: 1000 + 400 / np.log(10) * audit.result.truth,
    ),
    TableColumn(
        name="n_labels",
        title="Comparisons",
        help="How many comparisons of the item took part.",
        unit="labels",
        values=lambda audit: audit.data.labels_per_item,
    ),
    TableColumn(
        name="wins",
        title="Wins",
        help="How many of them the item won.",
        unit="labels",
        values=lambda audit: audit.record[0].astype(np.int64),
    ),
    TableColumn(
        name="losses",
        title="Losses",
        help="How many of them the item lost.",
        unit="labels",
        values=lambda audit: audit.record[1].astype(np.int64),
    ),
    TableColumn(
        name="ties",
        title="Ties",
        help="How many of them had no winner.",
        unit="labels",
        values=lambda audit: audit.record[2].astype(np.int64),
    ),
    TableColumn(
        name=SCORE,
        title="Scores",
        help="What the method tells of the item in its own terms.",
        unit="score",
        values=lambda audit: audit.result.item_scores,
    ),
)


def _of_result(column: TableColumn[RankedItemAudit]) -> TableColumn[Result]:
    return TableColumn(
        name=column.name,
        title=column.title,
        help=column.help,
        unit=column.unit,
        values=lambda result: column.values(RankedItemAudit(result)),
    )


TRUTH_COLUMNS = tuple(_of_result(column) for column in _TRUTH_COLUMNS)
"""Columns of truths.csv for comparisons."""

COLUMNS: tuple[TableColumn[RankedItemAudit], ...] = (
    TableColumn(
        name="win_share",
        title="Won",
        help="Share of the item's comparisons that it won; a tie counts half.",
        unit="share",
        values=lambda audit: (
            (audit.record[0] + 0.5 * audit.record[2]) / np.maximum(audit.data.labels_per_item, 1)
        ),
    ),
    TableColumn(
        name="gold",
        title="Gold",
        help="The known score; empty where there is none.",
        unit="score",
        values=lambda audit: (
            np.full(audit.data.n_items, np.nan) if audit.data.gold is None else audit.data.gold
        ),
    ),
)
"""What a page adds to the scores of items."""


def compare_items(result: Result) -> pd.DataFrame:
    """Set the scores of items beside plain counting, and beside gold.

    Parameters
    ----------
    result
        The scores, and the comparisons that they were inferred from.

    Returns
    -------
    pandas.DataFrame
        One row per item, in the order of the codes, with the columns of `COLUMNS`.
    """
    return build_table(COLUMNS, RankedItemAudit(result))


def worker_agreement(data: CrowdData, *, seed: int = 0) -> Agreement:
    """Compare every two answers that different workers gave to the same pair of items.

    Parameters
    ----------
    data
        Labels that are comparisons.
    seed
        Of the resamples behind the interval.

    Returns
    -------
    Agreement
        Krippendorff's alpha, where the pairs of items are what is labelled, whichever of the two
        stands on the left.
    """
    return agreement(pair_answers(data), seed=seed)


@dataclass(frozen=True, kw_only=True, eq=False)
class Encounters:
    """How some items fared against each other [n, n].

    Parameters
    ----------
    items
        Codes of the items, the best first.
    wins
        How often the item of the row beat the item of the column.
    ties
        How often they tied.
    above
        The probability that the item of the row is better; NaN without intervals.
    """

    items: Any
    wins: Any
    ties: Any
    above: Floats


def encounters(result: Result, items: Any) -> Encounters:
    """Count who beat whom among some items.

    Parameters
    ----------
    result
        The scores, and the comparisons that they were inferred from.
    items
        Codes of the items, in the order of rows and columns.

    Returns
    -------
    Encounters
    """
    audit = RankedItemAudit(result)
    n = len(items)
    place = np.full(result.data.n_items, -1)
    place[items] = np.arange(n)
    left, right, label = place[audit.left], place[audit.right], result.data.label
    inside = (left >= 0) & (right >= 0)
    wins, ties = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for outcome, winner, loser in ((LEFT, left, right), (RIGHT, right, left)):
        rows = inside & (label == outcome)
        np.add.at(wins, (winner[rows], loser[rows]), 1)
    tied = inside & (label == TIE)
    np.add.at(ties, (left[tied], right[tied]), 1)
    first, second = np.divmod(np.arange(n * n), n)
    above = result.above(np.asarray(items)[first], np.asarray(items)[second]).reshape(n, n)
    np.fill_diagonal(above, np.nan)
    return Encounters(items=items, wins=wins, ties=ties + ties.T, above=above)


def next_pairs(result: Result, *, limit: int = 100) -> pd.DataFrame:
    """List the comparisons that would tell most about the order.

    For every two items near each other in rank it is computed how much one more answer is expected
    to tell about which of them is better, in bits: much where that is open and one answer would
    move it, little where it is sure, or where the two are known to be nearly equal.

    Parameters
    ----------
    result
        The scores, with intervals.
    limit
        Pairs at most.

    Returns
    -------
    pandas.DataFrame
        Columns `first`, `second` (the first ranks higher), `first_rank`, `second_rank`, `above`
        (how likely the first is better), `n_asked` so far, and `bits`; the most telling first.
        Empty where the method gives no intervals.
    """
    audit, ranked = RankedItemAudit(result), result.order
    n = len(ranked)
    first = np.concatenate([np.arange(max(0, n - gap)) for gap in range(1, NEIGHBOURS + 1)])
    gaps = np.repeat(
        np.arange(1, NEIGHBOURS + 1), [max(0, n - gap) for gap in range(1, NEIGHBOURS + 1)]
    )
    one, other = ranked[first], ranked[first + gaps]
    above = result.above(one, other)
    if np.isnan(above).any():
        one, other, above = one[:0], other[:0], above[:0]
    most_open = np.argsort(np.abs(above - 0.5), kind="stable")[:MAX_CANDIDATES]
    one, other = one[most_open], other[most_open]
    difference = result.truth[one] - result.truth[other]
    bits = expected_bits(difference, result.difference_variance(one, other))
    top = np.argsort(-bits, kind="stable")[:limit]
    one, other, bits = one[top], other[top], bits[top]
    low, high = np.minimum(audit.left, audit.right), np.maximum(audit.left, audit.right)
    asked, counts = np.unique(low * np.int64(n) + high, return_counts=True)
    key = np.minimum(one, other) * np.int64(n) + np.maximum(one, other)
    place = np.minimum(np.searchsorted(asked, key), len(asked) - 1)
    names = np.array(result.data.items, dtype=object)
    return pd.DataFrame(
        {
            "first": names[one],
            "second": names[other],
            "first_rank": result.rank[one],
            "second_rank": result.rank[other],
            "above": result.above(one, other),
            "n_asked": np.where(asked[place] == key, counts[place], 0),
            "bits": bits,
        }
    )


def expected_bits(difference: Floats, variance: Floats) -> Floats:
    """Say how much one answer about two items is expected to tell about which is better.

    Parameters
    ----------
    difference, variance
        Of the two scores [P].

    Returns
    -------
    numpy.ndarray
        The mutual information of the answer and the order of the two [P], in bits.
    """
    nodes = ndtri((np.arange(N_NODES) + 0.5) / N_NODES)
    drawn = difference[:, None] + np.sqrt(variance)[:, None] * nodes
    wins, better = expit(drawn), drawn > 0
    likely_win = wins.mean(1)
    win_and_better = (wins * better).mean(1)
    loss_and_better = ((1 - wins) * better).mean(1)
    after_win = _entropy(win_and_better / np.maximum(likely_win, 1e-12))
    after_loss = _entropy(loss_and_better / np.maximum(1 - likely_win, 1e-12))
    bits: Floats = _entropy(better.mean(1)) - likely_win * after_win - (1 - likely_win) * after_loss
    return bits


def _entropy(chance: Floats) -> Floats:
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    return -(chance * np.log2(chance) + (1 - chance) * np.log2(1 - chance))


_SHARED = {column.name: column for column in LABEL_COLUMNS}


def _other(data: CrowdData) -> Any:
    return None if data.other is None else as_categories(data.other, data.items)


def _left_chance(source: LabelSource) -> Floats | None:
    if source.result is None or source.data.other is None:
        return None
    scores = source.result.truth
    return np.asarray(expit(scores[source.data.item] - scores[source.data.other]))


def _agrees(source: LabelSource) -> Any:
    chance = _left_chance(source)
    if chance is None:
        return None
    return (POINTS[source.data.label] - 0.5) * (chance - 0.5) > 0


COMPARISON_LABEL_COLUMNS: tuple[TableColumn[LabelSource], ...] = (
    TableColumn(
        name="left",
        title="Left",
        help="The item on the left.",
        unit="name",
        values=lambda source: as_categories(source.data.item, source.data.items),
    ),
    TableColumn(
        name="right",
        title="Right",
        help="The item on the right.",
        unit="name",
        values=lambda source: _other(source.data),
    ),
    _SHARED["worker"],
    TableColumn(
        name="label",
        title="Answer",
        help="Which of the two the worker preferred: left, right, or tie.",
        unit="class",
        values=lambda source: as_categories(source.data.label, source.data.classes),
    ),
    TableColumn(
        name="left_expected",
        title="Left expected",
        help="How likely the scores make the left item the winner, ties aside.",
        unit="share",
        values=_left_chance,
    ),
    TableColumn(
        name="agrees",
        title="Agrees",
        help="Whether the item with the higher score won.",
        unit="yes or no",
        values=_agrees,
    ),
    _SHARED["time"],
)
"""Columns of labels that are comparisons."""
