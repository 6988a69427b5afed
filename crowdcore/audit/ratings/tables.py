"""Tables of ratings: truths, items as pages show them, ratings and workers, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.audit.ratings.judging import Judged, group_medians, judge
from crowdcore.audit.ratings.verdicts import VERDICTS, RatingNumbers
from crowdcore.audit.verdicts import Verdict
from crowdcore.audit.verdicts import judge as judge_by_rules
from crowdcore.confusion import safe_ratio
from crowdcore.data import CrowdData, Floats
from crowdcore.export.columns import SCORE, TableColumn, build_table
from crowdcore.export.tables import ITEM, LABEL_COLUMNS, N_LABELS, LabelSource
from crowdcore.results.result import Result

DISPUTED_RATIO = 1.5
"""An item is disputed whose ratings scatter so many times as widely as is usual."""

FAR_SHARE = 0.25
"""A truth is far from the mean rating beyond this share of the truths' standard deviation."""


def item_means(data: CrowdData) -> Floats:
    """Return the mean rating of each item [N]; NaN without any."""
    sums = np.bincount(data.item, weights=data.label, minlength=data.n_items)
    return safe_ratio(sums, data.labels_per_item)


def item_medians(data: CrowdData) -> Floats:
    """Return the median rating of each item [N]; NaN without any."""
    return group_medians(np.asarray(data.label), data.item, data.n_items)


def item_deviations(data: CrowdData) -> Floats:
    """Return the standard deviation of each item's ratings [N]; NaN below two."""
    distance = (data.label - item_means(data)[data.item]) ** 2
    squares = np.bincount(data.item, weights=distance, minlength=data.n_items)
    return np.sqrt(safe_ratio(squares, data.labels_per_item - 1))


def _number(name: str, title: str, text: str, values: Callable[[Any], Any]) -> TableColumn[Any]:
    return TableColumn(name=name, title=title, help=text, unit="number", values=values)


TRUTH_COLUMNS: tuple[TableColumn[Result], ...] = (
    ITEM,
    _number(
        "truth",
        "Truth",
        "The number that the method inferred; empty where nobody rated the item.",
        lambda result: result.truth,
    ),
    _number(
        "spread",
        "Spread",
        "The standard error of the truth; empty where one rating alone cannot tell it.",
        lambda result: result.spread,
    ),
    _number("low", "Low", "The lower end of the 95 % interval.", lambda result: result.low),
    _number("high", "High", "The upper end of the 95 % interval.", lambda result: result.high),
    N_LABELS,
    _number(
        "mean", "Mean", "The plain mean of the ratings.", lambda result: item_means(result.data)
    ),
    _number(
        "median",
        "Median",
        "The median of the ratings.",
        lambda result: item_medians(result.data),
    ),
    TableColumn(
        name=SCORE,
        title="Scores",
        help="What the method tells of the item in its own terms. Scores of different methods do "
        "not compare.",
        unit="score",
        values=lambda result: result.item_scores,
    ),
)
"""Columns of truths.csv and truths.parquet, for ratings."""


class RatedItems:
    """Answers about rated items that several columns share, each computed once."""

    def __init__(self, result: Result) -> None:
        self.result, self.data = result, result.data

    @cached_property
    def deviation(self) -> Floats:
        """How far each item's ratings scatter [N]."""
        return item_deviations(self.data)

    @property
    def disputed(self) -> NDArray[np.bool_]:
        """Which items' ratings scatter far more widely than is usual [N]."""
        known = self.deviation[~np.isnan(self.deviation)]
        usual = float(np.median(known)) if len(known) else 0.0
        disputed: NDArray[np.bool_] = self.deviation > max(DISPUTED_RATIO * usual, 1e-12)
        return disputed

    @property
    def far(self) -> NDArray[np.bool_]:
        """Which truths lie far from the mean rating [N]."""
        truths = self.result.truth[~np.isnan(self.result.truth)]
        bound = FAR_SHARE * float(truths.std()) if len(truths) else 0.0
        far: NDArray[np.bool_] = np.abs(self.result.truth - item_means(self.data)) > bound
        return far

    @cached_property
    def gold(self) -> Floats:
        """The known numbers [N]; NaN where there is none."""
        gold = self.data.gold
        return np.full(self.data.n_items, np.nan) if gold is None else np.asarray(gold)


ITEM_COLUMNS: tuple[TableColumn[RatedItems], ...] = (
    _number(
        "deviation",
        "Scatter",
        "The standard deviation of the item's ratings.",
        lambda items: items.deviation,
    ),
    TableColumn(
        name="disputed",
        title="Disputed",
        help="Whether the ratings scatter far more widely than is usual.",
        unit="yes or no",
        values=lambda items: items.disputed,
    ),
    TableColumn(
        name="far",
        title="Far from mean",
        help="Whether the truth lies far from the plain mean of the ratings.",
        unit="yes or no",
        values=lambda items: items.far,
    ),
    _number(
        "gold", "Gold", "The known number; empty where there is none.", lambda items: items.gold
    ),
    _number(
        "error",
        "Error",
        "The truth less the known number.",
        lambda items: items.result.truth - items.gold,
    ),
)
"""What a page adds to the truths of rated items."""


def compare_items(result: Result) -> pd.DataFrame:
    """Compare the truths of items with their ratings and with gold.

    Parameters
    ----------
    result
        The truths, and the ratings that they were inferred from.

    Returns
    -------
    pandas.DataFrame
        One row per item, with the columns of `ITEM_COLUMNS`.
    """
    return build_table(ITEM_COLUMNS, RatedItems(result))


def _beside_result(values: Callable[[Result], Any]) -> Callable[[LabelSource], Any]:
    return lambda source: None if source.result is None else values(source.result)


RATING_COLUMNS: tuple[TableColumn[LabelSource], ...] = (
    *(column for column in LABEL_COLUMNS if column.name in ("item", "worker", "label")),
    _number(
        "truth",
        "Truth",
        "The number that the method inferred for the item.",
        _beside_result(lambda result: result.truth[result.data.item]),
    ),
    _number(
        "error",
        "Error",
        "The rating less the truth.",
        _beside_result(lambda result: result.data.label - result.truth[result.data.item]),
    ),
    *(column for column in LABEL_COLUMNS if column.name == "time"),
)
"""Columns of ratings beside a result."""


class RatingAudit:
    """Numbers of a result's workers that several columns share, each computed once."""

    def __init__(self, result: Result) -> None:
        self.result, self.data = result, result.data

    @cached_property
    def judged(self) -> Judged:
        """Ratings beside what others say of the same items."""
        return judge(self.data)

    @cached_property
    def favourite(self) -> tuple[Floats, Floats]:
        """The value that each worker gives most often, and how often [W]."""
        values, code = np.unique(self.data.label, return_inverse=True)
        cell, n = np.unique(
            self.data.worker.astype(np.int64) * len(values) + code, return_counts=True
        )
        worker = cell // len(values)
        order = np.lexsort((n, worker))
        last = order[np.flatnonzero(np.diff(worker[order], append=-1))]
        favourite, share = np.full((2, self.data.n_workers), np.nan)
        favourite[worker[last]] = values[cell[last] % len(values)]
        share[worker[last]] = n[last] / self.data.labels_per_worker[worker[last]]
        return favourite, share

    @cached_property
    def on_gold(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Ratings of items with gold, their mean error and its root mean square [W]."""
        has_gold = self.data.has_gold[self.data.item]
        worker, n_workers = self.data.worker[has_gold], self.data.n_workers
        n = np.bincount(worker, minlength=n_workers)
        if self.data.gold is None:
            return n, *np.full((2, n_workers), np.nan)
        error = self.data.label[has_gold] - self.data.gold[self.data.item[has_gold]]
        bias = safe_ratio(np.bincount(worker, weights=error, minlength=n_workers), n)
        squares = np.bincount(worker, weights=error**2, minlength=n_workers)
        return n, bias, np.sqrt(safe_ratio(squares, n))

    @cached_property
    def judgements(self) -> list[tuple[Verdict, str]]:
        """The verdict on each worker, with its evidence [W]."""
        return [judge_by_rules(worker, VERDICTS) for worker in self._numbers()]

    def _numbers(self) -> Iterator[RatingNumbers]:
        judged = self.judged
        noise = judged.noise[judged.n_compared > 2]  # noqa: PLR2004  (a line and an error)
        usual = float(np.nanmedian(noise)) if np.isfinite(noise).any() else np.nan
        columns: Iterator[Any] = zip(
            judged.n_compared.tolist(),
            judged.slope.tolist(),
            *(ends.tolist() for ends in judged.slope_interval),
            judged.bias.tolist(),
            *(ends.tolist() for ends in judged.bias_interval),
            judged.noise.tolist(),
            *(ends.tolist() for ends in judged.noise_interval),
            *(values.tolist() for values in self.favourite),
            strict=True,
        )
        crowd = (usual, judged.truth_deviation)
        for row in columns:
            yield RatingNumbers._make((*row[:-2], *crowd, *row[-2:]))


def _with_interval(name: str, title: str, text: str) -> tuple[TableColumn[RatingAudit], ...]:
    """Three columns: a number of the judgement, and the ends of its 95 % interval."""
    return (
        _number(name, title, text, lambda audit: getattr(audit.judged, name)),
        _number(
            f"{name}_low",
            f"{title}, low",
            f"The lower end of the 95 % interval of {name}.",
            lambda audit: getattr(audit.judged, f"{name}_interval")[0],
        ),
        _number(
            f"{name}_high",
            f"{title}, high",
            f"The upper end of the 95 % interval of {name}.",
            lambda audit: getattr(audit.judged, f"{name}_interval")[1],
        ),
    )


WORKER_COLUMNS: tuple[TableColumn[RatingAudit], ...] = (
    TableColumn(
        name="worker",
        title="Worker",
        help="The worker's name.",
        unit="name",
        values=lambda audit: list(audit.data.workers),
    ),
    TableColumn(
        name="n_labels",
        title="Ratings",
        help="How many ratings the worker gave.",
        unit="labels",
        values=lambda audit: audit.data.labels_per_worker,
    ),
    TableColumn(
        name="n_compared",
        title="Compared",
        help="How many of them are of items that somebody else rated too.",
        unit="labels",
        values=lambda audit: audit.judged.n_compared,
    ),
    *_with_interval(
        "bias",
        "Bias",
        "How much higher than others the worker rates an average item, whose truth is taken "
        "without their own rating.",
    ),
    *_with_interval(
        "slope",
        "Slope",
        "How much more the worker gives where others see 1 more: 1 is usual, 0 is no relation.",
    ),
    *_with_interval(
        "noise",
        "Noise",
        "The standard deviation of the worker's errors after bias and slope are taken off.",
    ),
    TableColumn(
        name="outliers",
        title="Outliers",
        help="Ratings far from all that the worker else gives, likely typing errors.",
        unit="labels",
        values=lambda audit: audit.judged.outliers,
    ),
    _number(
        "favourite",
        "Favourite",
        "The value that the worker gives most often.",
        lambda audit: audit.favourite[0],
    ),
    TableColumn(
        name="favourite_share",
        title="Favourite, share",
        help="How often they give it.",
        unit="share",
        values=lambda audit: audit.favourite[1],
    ),
    TableColumn(
        name="gold_n",
        title="On gold",
        help="How many of the ratings are of items with gold.",
        unit="labels",
        values=lambda audit: audit.on_gold[0],
    ),
    _number(
        "gold_bias",
        "Bias on gold",
        "The mean of rating less gold.",
        lambda audit: audit.on_gold[1],
    ),
    _number(
        "gold_rmse",
        "RMSE on gold",
        "The root of the mean squared distance from gold.",
        lambda audit: audit.on_gold[2],
    ),
    TableColumn(
        name="verdict",
        title="Verdict",
        help="What the numbers say of the worker.",
        unit="text",
        values=lambda audit: [verdict.name for verdict, _ in audit.judgements],
    ),
    TableColumn(
        name="evidence",
        title="Evidence",
        help="The numbers behind the verdict, as a sentence.",
        unit="text",
        values=lambda audit: [evidence for _, evidence in audit.judgements],
    ),
    TableColumn(
        name=SCORE,
        title="Scores",
        help="What the method tells of the worker in its own terms. Scores of different methods "
        "do not compare.",
        unit="score",
        values=lambda audit: audit.result.worker_scores,
    ),
)
"""Columns of workers.csv, for ratings."""


def worker_table(result: Result) -> pd.DataFrame:
    """Make a table of workers who rate.

    Parameters
    ----------
    result
        Of any method for ratings.

    Returns
    -------
    pandas.DataFrame
        One row per worker, with the columns of `WORKER_COLUMNS`.
    """
    return build_table(WORKER_COLUMNS, RatingAudit(result))
