"""Workers who compare items: whether they follow the items, a side, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from crowdcore.audit.comparisons.cycles import Cycles, count_cycles
from crowdcore.audit.comparisons.habits import Habits, find_habits
from crowdcore.audit.comparisons.held_out import HeldOut, hold_out
from crowdcore.audit.comparisons.verdicts import ComparingWorker, judge
from crowdcore.codes import sum_by
from crowdcore.confusion import safe_ratio
from crowdcore.data import Floats
from crowdcore.distributions import Z_95
from crowdcore.export.columns import SCORE, TableColumn, build_table
from crowdcore.results.result import Result, wilson


class ComparingWorkerAudit:
    """Numbers of a result's workers that several columns share, each computed once."""

    def __init__(self, result: Result) -> None:
        self.result, self.data = result, result.data

    @cached_property
    def held_out(self) -> HeldOut:
        """The comparisons beside what the other workers say of their items."""
        return hold_out(self.data, self.result.truth)

    @cached_property
    def habits(self) -> Habits:
        """How sharply workers tell items apart, and which side they lean to."""
        return find_habits(self.held_out, self.data.n_workers)

    @cached_property
    def cycles(self) -> Cycles:
        """How consistent each worker is."""
        return count_cycles(self.held_out, self.data.n_workers, self.data.n_items)

    def total(self, values: NDArray[Any]) -> Floats:
        """Add up values of comparisons by worker [W]."""
        return sum_by(self.data.worker, values, self.data.n_workers)

    @cached_property
    def n_compared(self) -> Floats:
        """Decided comparisons of items of which others made a difference [W]."""
        return self.total(self._usable.astype(np.float64))

    @cached_property
    def _usable(self) -> NDArray[np.bool_]:
        held_out = self.held_out
        return np.asarray(held_out.known & held_out.decided & (held_out.difference != 0))

    @cached_property
    def hits(self) -> Floats:
        """How many of them prefer the item that the others rank higher [W]."""
        held_out = self.held_out
        follows = (held_out.points > 0.5) == (held_out.difference > 0)  # noqa: PLR2004
        return self.total((follows & self._usable).astype(np.float64))

    @cached_property
    def expected_hits(self) -> Floats:
        """How many the average worker would have [W]."""
        better = expit(np.abs(self.held_out.difference))
        return self.total(np.where(self._usable, better, 0.0))

    @cached_property
    def left(self) -> tuple[Floats, Floats, Floats]:
        """Decided comparisons, left choices among them, and those expected of the average [W]."""
        decided = self.held_out.decided
        chosen = decided & (self.held_out.outcome == 0)
        explained = np.where(decided, expit(self.held_out.difference), 0.0)
        return self.total(decided * 1.0), self.total(chosen * 1.0), self.total(explained)

    @cached_property
    def judgements(self) -> list[tuple[str, str]]:
        """The verdict on each worker, with its evidence [W]."""
        return [judge(worker) for worker in _worker_numbers(self)]


COLUMNS: tuple[TableColumn[ComparingWorkerAudit], ...] = (
    TableColumn(
        name="worker",
        title="Worker",
        help="The worker's name.",
        unit="name",
        values=lambda audit: list(audit.data.workers),
    ),
    TableColumn(
        name="n_labels",
        title="Comparisons",
        help="How many comparisons the worker made.",
        unit="labels",
        values=lambda audit: audit.data.labels_per_worker,
    ),
    TableColumn(
        name="n_compared",
        title="Compared",
        help="How many of them have a winner and are of items that others compared too.",
        unit="labels",
        values=lambda audit: audit.n_compared.astype(np.int64),
    ),
    TableColumn(
        name="agreement",
        title="Agreement",
        help="How often the worker prefers the item that the other workers rank higher.",
        unit="share",
        values=lambda audit: safe_ratio(audit.hits, audit.n_compared),
    ),
    TableColumn(
        name="agreement_low",
        title="Agreement from",
        help="Lower end of the 95% interval of the agreement.",
        unit="share",
        values=lambda audit: wilson(audit.hits, audit.n_compared)[0],
    ),
    TableColumn(
        name="agreement_high",
        title="Agreement to",
        help="Upper end of the 95% interval of the agreement.",
        unit="share",
        values=lambda audit: wilson(audit.hits, audit.n_compared)[1],
    ),
    TableColumn(
        name="expected_agreement",
        title="Expected",
        help="The agreement that an average worker would have on the same comparisons.",
        unit="share",
        values=lambda audit: safe_ratio(audit.expected_hits, audit.n_compared),
    ),
    TableColumn(
        name="sharpness",
        title="Sharpness",
        help="How sharply the worker tells items apart, by the others' scores: 1 is average, 0 is "
        "blind, below 0 is reversed.",
        unit="score",
        values=lambda audit: audit.habits.sharpness,
    ),
    TableColumn(
        name="sharpness_low",
        title="Sharpness from",
        help="Lower end of the 95% interval of the sharpness.",
        unit="score",
        values=lambda audit: audit.habits.sharpness - Z_95 * audit.habits.sharpness_error,
    ),
    TableColumn(
        name="sharpness_high",
        title="Sharpness to",
        help="Upper end of the 95% interval of the sharpness.",
        unit="score",
        values=lambda audit: audit.habits.sharpness + Z_95 * audit.habits.sharpness_error,
    ),
    TableColumn(
        name="left_share",
        title="Left between equals",
        help="How often the worker would choose the left of two equal items.",
        unit="share",
        values=lambda audit: expit(audit.habits.lean),
    ),
    TableColumn(
        name="left_low",
        title="Left from",
        help="Lower end of the 95% interval of that share.",
        unit="share",
        values=lambda audit: expit(audit.habits.lean - Z_95 * audit.habits.lean_error),
    ),
    TableColumn(
        name="left_high",
        title="Left to",
        help="Upper end of the 95% interval of that share.",
        unit="share",
        values=lambda audit: expit(audit.habits.lean + Z_95 * audit.habits.lean_error),
    ),
    TableColumn(
        name="tie_share",
        title="Ties",
        help="Share of the worker's comparisons without a winner.",
        unit="share",
        values=lambda audit: (
            1 - safe_ratio(audit.left[0], audit.data.labels_per_worker.astype(np.float64))
        ),
    ),
    TableColumn(
        name="triads",
        title="Triples",
        help="Triples of items of which the worker compared every two.",
        unit="labels",
        values=lambda audit: np.rint(audit.cycles.triads).astype(np.int64),
    ),
    TableColumn(
        name="cyclic_share",
        title="Circles",
        help="Share of these triples that go round in a circle: a over b, b over c, c over a.",
        unit="share",
        values=lambda audit: safe_ratio(audit.cycles.cyclic, audit.cycles.triads),
    ),
    TableColumn(
        name="expected_cyclic_share",
        title="Circles expected",
        help="The share that an average worker would have on the same triples; blind answers have "
        "a quarter.",
        unit="share",
        values=lambda audit: safe_ratio(audit.cycles.expected, audit.cycles.triads),
    ),
    TableColumn(
        name="verdict",
        title="Verdict",
        help="What these numbers say about the worker, in a word or two.",
        unit="text",
        values=lambda audit: [verdict for verdict, _ in audit.judgements],
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
"""Columns of workers.csv for comparisons."""


def worker_table(result: Result) -> pd.DataFrame:
    """Judge the workers of a result of comparisons.

    Parameters
    ----------
    result
        The scores, and the comparisons that they were inferred from.

    Returns
    -------
    pandas.DataFrame
        One row per worker, in the order of the codes, with the columns of `COLUMNS`.
    """
    return build_table(COLUMNS, ComparingWorkerAudit(result))


def _worker_numbers(audit: ComparingWorkerAudit) -> Iterator[ComparingWorker]:
    """Gather what rules judge by, a record per worker."""
    habits, cycles = audit.habits, audit.cycles
    low, high = wilson(audit.hits, audit.n_compared)
    n_decided, n_left, explained = audit.left
    # Triads share answers, so there are no more independent ones than answers.
    independent = np.minimum(cycles.triads, cycles.answers)
    cyclic = np.nan_to_num(safe_ratio(cycles.cyclic, cycles.triads))
    columns = {
        "n_labels": audit.data.labels_per_worker,
        "n_compared": audit.n_compared.astype(np.int64),
        "agreement": safe_ratio(audit.hits, audit.n_compared),
        "agreement_low": low,
        "agreement_high": high,
        "expected_agreement": safe_ratio(audit.expected_hits, audit.n_compared),
        "sharpness": habits.sharpness,
        "sharpness_low": habits.sharpness - Z_95 * habits.sharpness_error,
        "sharpness_high": habits.sharpness + Z_95 * habits.sharpness_error,
        "left_share": expit(habits.lean),
        "left_low": expit(habits.lean - Z_95 * habits.lean_error),
        "left_high": expit(habits.lean + Z_95 * habits.lean_error),
        "n_left": n_left.astype(np.int64),
        "n_decided": n_decided.astype(np.int64),
        "expected_left": np.nan_to_num(safe_ratio(explained, n_decided)),
        "triads": cycles.triads,
        "cyclic": cyclic,
        "cyclic_low": wilson(cyclic * independent, independent)[0],
        "expected_cyclic": np.nan_to_num(safe_ratio(cycles.expected, cycles.triads)),
        "repeated": cycles.repeated,
        "flipped": cycles.flipped,
    }
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield ComparingWorker(**dict(zip(columns, values, strict=True)))
