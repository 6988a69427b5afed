"""Workers who tick several classes: how good, over all and for each class, on what evidence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from crowdcore.audit.sets.answer_pairs import AnswerPairs, sets_of, similarity
from crowdcore.audit.sets.verdicts import SetWorker, judge
from crowdcore.confusion import safe_ratio
from crowdcore.data import Floats
from crowdcore.distributions import Z_95
from crowdcore.export.columns import GIVEN, SCORE, TableColumn, build_table
from crowdcore.results.result import Result, wilson

RECALL, PRECISION = "recall:", "precision:"
"""Prefixes of columns with a worker's rates for each class."""

N_SHUFFLES = 10
"""How often answers are given to other items of the same worker, to see what chance does."""

PRIOR_ANSWERS = 2.0
"""Answers as the crowd's own that widen the interval of a worker with few of them."""


class SetWorkerAudit:
    """Numbers of a result's workers that several columns share, each computed once."""

    def __init__(self, result: Result) -> None:
        self.result, self.data = result, result.data
        self.sets = sets_of(result.data)

    @cached_property
    def pairs(self) -> AnswerPairs:
        """Answers of different workers to one item."""
        return AnswerPairs.of(self.data, np.random.default_rng(0))

    @cached_property
    def answer_similarity(self) -> Floats:
        """How alike each answer is to others' answers to the item [L]; NaN without others."""
        label = self.data.label
        alike = similarity(self.sets, label[self.pairs.first], label[self.pairs.second])
        return self.pairs.mean_by_answer(alike, self.data.n_labels)

    @cached_property
    def n_compared(self) -> NDArray[np.int64]:
        """How many of a worker's answers can be compared [W]."""
        compared = ~np.isnan(self.answer_similarity)
        return np.bincount(self.data.worker[compared], minlength=self.data.n_workers)

    @cached_property
    def similarity(self) -> tuple[Floats, Floats, Floats]:
        """The mean similarity of a worker's answers with others' [W], with its 95 % interval."""
        values, worker = self.answer_similarity, self.data.worker
        compared = ~np.isnan(values)
        values, worker = values[compared], worker[compared]
        n, n_workers = self.n_compared.astype(np.float64), self.data.n_workers
        total = np.bincount(worker, values, minlength=n_workers)
        mean = safe_ratio(total, n)
        crowd = float(values.mean()) if len(values) else 0.0
        crowd_square = float(((values - crowd) ** 2).mean()) if len(values) else 0.0
        squares = np.bincount(worker, (values - np.nan_to_num(mean)[worker]) ** 2, n_workers)
        # Few answers may look alike by luck: two of the crowd's spread widen the interval.
        variance = (squares + PRIOR_ANSWERS * crowd_square) / np.maximum(n + PRIOR_ANSWERS - 1, 1)
        half = Z_95 * np.sqrt(variance / np.maximum(n, 1))
        return mean, np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)

    @cached_property
    def chance(self) -> Floats:
        """The similarity with others that a worker's answers would have on other items [W]."""
        rng, label, worker = np.random.default_rng(1), self.data.label, self.data.worker
        compared = np.flatnonzero(~np.isnan(self.answer_similarity))
        total = np.zeros(self.data.n_workers)
        for _ in range(N_SHUFFLES):
            order = compared[np.lexsort([rng.random(len(compared)), worker[compared]])]
            home = compared[np.argsort(worker[compared], kind="stable")]
            shuffled = label.copy()
            shuffled[home] = label[order]
            alike = similarity(self.sets, shuffled[self.pairs.first], label[self.pairs.second])
            means = self.pairs.mean_by_answer(alike, self.data.n_labels)[compared]
            total += np.bincount(worker[compared], means, minlength=self.data.n_workers)
        return safe_ratio(total / N_SHUFFLES, self.n_compared.astype(np.float64))

    @cached_property
    def class_counts(self) -> tuple[Floats, Floats, Floats]:
        """Ticks that are in the truth, ticks, and classes of the truth: each by class [W, K].

        Only answers to items that somebody else answered count.
        """
        data, truth = self.data, self.result.truth
        compared = np.flatnonzero(~np.isnan(self.answer_similarity))
        by_worker = sparse.csr_array(
            (np.ones(len(compared)), (data.worker[compared], np.arange(len(compared)))),
            shape=(data.n_workers, len(compared)),
        )
        ticked = sparse.csr_array(self.sets.astype(np.float64))[data.label[compared]]
        right = sparse.csr_array(truth.astype(np.float64))[data.item[compared]]
        hits, given, there = (
            (by_worker @ each).toarray() for each in (ticked.multiply(right), ticked, right)
        )
        return hits, given, there

    @cached_property
    def exact(self) -> Floats:
        """The share of comparable answers that are exactly the truth [W]."""
        data = self.data
        compared = ~np.isnan(self.answer_similarity)
        item, label, worker = data.item[compared], data.label[compared], data.worker[compared]
        same = (self.sets[label] == self.result.truth[item]).all(1)
        total = np.bincount(worker, same, minlength=data.n_workers)
        return safe_ratio(total, self.n_compared.astype(np.float64))

    @cached_property
    def judgements(self) -> list[tuple[str, str]]:
        """The verdict on each worker, with its evidence [W]."""
        return [judge(worker) for worker in _worker_numbers(self)]


def _by_class(audit: SetWorkerAudit, values: Floats) -> dict[str, Floats]:
    return dict(zip(audit.data.classes, values.T, strict=True))


COLUMNS: tuple[TableColumn[SetWorkerAudit], ...] = (
    TableColumn(
        name="worker",
        title="Worker",
        help="The worker's name.",
        unit="name",
        values=lambda audit: list(audit.data.workers),
    ),
    TableColumn(
        name="n_labels",
        title="Answers",
        help="How many answers the worker gave.",
        unit="labels",
        values=lambda audit: audit.data.labels_per_worker,
    ),
    TableColumn(
        name="n_compared",
        title="Compared",
        help="How many of them are to items that somebody else answered too.",
        unit="labels",
        values=lambda audit: audit.n_compared,
    ),
    TableColumn(
        name="similarity",
        title="Similarity",
        help="Share of the classes, in the worker's or another worker's answer to the same item, "
        "that are in both (Jaccard); the mean over answers.",
        unit="share",
        values=lambda audit: audit.similarity[0],
    ),
    TableColumn(
        name="similarity_low",
        title="Similarity from",
        help="Lower end of the 95% interval of the similarity.",
        unit="share",
        values=lambda audit: audit.similarity[1],
    ),
    TableColumn(
        name="similarity_high",
        title="Similarity to",
        help="Upper end of the 95% interval of the similarity.",
        unit="share",
        values=lambda audit: audit.similarity[2],
    ),
    TableColumn(
        name="chance",
        title="By chance",
        help="The similarity that the same answers would have with others' answers to other items.",
        unit="share",
        values=lambda audit: audit.chance,
    ),
    TableColumn(
        name="exact",
        title="Exactly right",
        help="Share of the comparable answers that are exactly the truth.",
        unit="share",
        values=lambda audit: audit.exact,
    ),
    TableColumn(
        name="precision",
        title="Ticks that are right",
        help="Share of the worker's ticks that are in the truth.",
        unit="share",
        values=lambda audit: safe_ratio(audit.class_counts[0].sum(1), audit.class_counts[1].sum(1)),
    ),
    TableColumn(
        name="recall",
        title="Classes found",
        help="Share of the classes in the truth that the worker ticked.",
        unit="share",
        values=lambda audit: safe_ratio(audit.class_counts[0].sum(1), audit.class_counts[2].sum(1)),
    ),
    TableColumn(
        name="classes_per_answer",
        title="Classes per answer",
        help="How many classes the worker ticks on average.",
        unit="score",
        values=lambda audit: safe_ratio(
            np.bincount(
                audit.data.worker, audit.sets.sum(1)[audit.data.label], audit.data.n_workers
            ),
            audit.data.labels_per_worker.astype(np.float64),
        ),
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
        help="What the method tells of the worker in its own terms, such as an ability. Scores of "
        "different methods do not compare.",
        unit="score",
        values=lambda audit: audit.result.worker_scores,
    ),
    TableColumn(
        name=RECALL,
        title="Classes found, by class",
        help="Share of the items of a class, among those the worker saw, where they ticked it.",
        unit="share",
        values=lambda audit: _by_class(
            audit, safe_ratio(audit.class_counts[0], audit.class_counts[2])
        ),
    ),
    TableColumn(
        name=PRECISION,
        title="Ticks that are right, by class",
        help="Share of the worker's ticks of a class that are in the truth.",
        unit="share",
        values=lambda audit: _by_class(
            audit, safe_ratio(audit.class_counts[0], audit.class_counts[1])
        ),
    ),
    TableColumn(
        name=GIVEN,
        title="Ticks by class",
        help="What part of the worker's answers holds each class.",
        unit="share",
        values=lambda audit: _by_class(audit, _given_shares(audit)),
    ),
)
"""Columns of workers.csv for sets."""


def worker_table(result: Result) -> pd.DataFrame:
    """Judge the workers of a result of sets.

    Parameters
    ----------
    result
        The truths, and the answers that they were inferred from.

    Returns
    -------
    pandas.DataFrame
        One row per worker, in the order of the codes, with the columns of `COLUMNS`.
    """
    return build_table(COLUMNS, SetWorkerAudit(result))


def _given_shares(audit: SetWorkerAudit) -> Floats:
    """What part of each worker's answers holds each class [W, K]."""
    data = audit.data
    ones = np.ones(data.n_labels)
    shape = (data.n_workers, len(audit.sets))
    answers = sparse.coo_array((ones, (data.worker, data.label)), shape=shape).tocsr()
    ticks = (answers @ sparse.csr_array(audit.sets.astype(np.float64))).toarray()
    total = np.broadcast_to(data.labels_per_worker[:, None], ticks.shape)
    return safe_ratio(ticks, total.astype(np.float64))


def _worker_numbers(audit: SetWorkerAudit) -> Iterator[SetWorker]:
    """Gather what rules judge by, a record per worker."""
    data, n_sets = audit.data, len(audit.sets)
    mean, low, high = audit.similarity
    hits, given, there = (counts.sum(1) for counts in audit.class_counts)
    precision, recall = safe_ratio(hits, given), safe_ratio(hits, there)
    precision_low, precision_high = wilson(hits, given)
    recall_low, recall_high = wilson(hits, there)
    favourite, share, seen = _favourites(audit, n_sets)
    n_compared = audit.n_compared
    columns = {
        "n_labels": data.labels_per_worker,
        "n_compared": n_compared,
        "similarity": mean,
        "similarity_low": low,
        "similarity_high": high,
        "chance": audit.chance,
        "favourite": data.class_names(favourite),
        "favourite_share": share,
        "favourite_seen": seen,
        "precision": precision,
        "precision_low": precision_low,
        "precision_high": precision_high,
        "recall": recall,
        "recall_low": recall_low,
        "recall_high": recall_high,
    }
    crowd = float(np.nansum(mean * n_compared) / max(1, n_compared.sum()))
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield SetWorker(
            **dict(zip(columns, values, strict=True)),
            crowd_similarity=crowd,
            crowd_precision=float(hits.sum() / max(1, given.sum())),
            crowd_recall=float(hits.sum() / max(1, there.sum())),
        )


def _favourites(audit: SetWorkerAudit, n_sets: int) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Each worker's commonest answer, its share, and its share of others' answers there [W]."""
    data, pairs = audit.data, audit.pairs
    keys, counts = np.unique(data.worker * np.int64(n_sets) + data.label, return_counts=True)
    worker, label = np.divmod(keys, n_sets)
    order = np.lexsort([counts, worker])
    last = np.flatnonzero(np.diff(worker[order], append=-1))
    favourite = np.zeros(data.n_workers, np.int64)
    share = np.zeros(data.n_workers)
    favourite[worker[order][last]] = label[order][last]
    share[worker[order][last]] = counts[order][last]
    share /= np.maximum(data.labels_per_worker, 1)
    who = data.worker[pairs.first]
    same = data.label[pairs.second] == favourite[who]
    seen = np.bincount(who, same, minlength=data.n_workers)
    n_pairs = np.bincount(who, minlength=data.n_workers)
    return favourite, share, seen / np.maximum(n_pairs, 1)
