"""Compared items: their ranks, scores and records, and who beats whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from crowdcore.artefacts.order import Order
from crowdcore.data import DataError, Floats
from crowdcore.engine.comparisons import LEFT, RIGHT, TIE
from crowdcore.export.columns import SCORE, TableColumn, build_table
from crowdcore.results.result import Result


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
    index = np.full(result.data.n_items, -1)
    index[items] = np.arange(n)
    left, right, label = index[audit.left], index[audit.right], result.data.label
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
