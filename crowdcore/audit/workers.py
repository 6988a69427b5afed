"""What a manager asks of a worker: how good, how sure, and on what evidence."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd

from crowdcore.audit.judging.worker_evidence import WorkerEvidence, worker_evidence
from crowdcore.audit.verdicts import Verdict, judge
from crowdcore.audit.worker_numbers import WorkerNumbers, worker_numbers
from crowdcore.audit.worker_scores import confusion_scores
from crowdcore.confusion import safe_ratio
from crowdcore.data import UNKNOWN, Codes, CrowdData, Floats
from crowdcore.export.columns import GIVEN, SCORE, TableColumn, build_table
from crowdcore.results.result import Result


class WorkerAudit:
    """Numbers of a result's workers that several columns share, each computed once.

    Parameters
    ----------
    result
        The truths, and the labels that they were inferred from.
    evidence
        What verdicts rest on; None judges the labels anew.
    requirement
        The accuracy that the manager asks for.
    rows_in_order
        Whether rows stand in the order of work where there are no times.
    """

    def __init__(
        self,
        result: Result,
        *,
        evidence: WorkerEvidence | None = None,
        requirement: float | None = None,
        rows_in_order: bool = False,
    ) -> None:
        self.result = result
        self.data = result.data
        self.requirement = requirement
        if evidence is None:
            evidence = worker_evidence(result.data, rows_in_order=rows_in_order)
        self.evidence = evidence

    @cached_property
    def gold_hits(self) -> tuple[Floats, Floats]:
        """Labels that equal gold, and labels of items with gold [W]."""
        return _gold_hits(self.data)

    @cached_property
    def given_shares(self) -> Floats:
        """What part of each worker's labels is each class [W, K]; NaN for one without labels."""
        return _given_shares(self.data)

    @cached_property
    def truth_shares(self) -> Floats:
        """How common each class is among the truths of labelled items [K]."""
        return _truth_shares(self.result)

    @cached_property
    def scores(self) -> tuple[Floats, Floats]:
        """The spammer score and the expected-cost quality [W]."""
        return confusion_scores(self.result, self.truth_shares)

    @cached_property
    def judgements(self) -> list[tuple[WorkerNumbers, Verdict, str]]:
        """What is known of each worker, the verdict, and its evidence [W]."""
        data = self.data
        workers = worker_numbers(
            data.workers, data.labels_per_worker, self.evidence, self.requirement
        )
        return [(worker, *judge(worker)) for worker in workers]


COLUMNS: tuple[TableColumn[WorkerAudit], ...] = (
    TableColumn(
        name="worker",
        title="Worker",
        help="The worker's name.",
        unit="name",
        values=lambda audit: list(audit.data.workers),
    ),
    TableColumn(
        name="n_labels",
        title="Labels",
        help="How many labels the worker gave.",
        unit="labels",
        values=lambda audit: audit.data.labels_per_worker,
    ),
    TableColumn(
        name="n_compared",
        title="Compared",
        help="How many of them are on items that somebody else labelled too, or that have gold.",
        unit="labels",
        values=lambda audit: audit.evidence.n_compared,
    ),
    TableColumn(
        name="accuracy",
        title="Accuracy",
        help="How often the worker is right, as the rest of the crowd sees it: their own votes "
        "have no part in it. With ten or more gold items, corrected by these.",
        unit="share",
        values=lambda audit: audit.evidence.accuracy,
    ),
    TableColumn(
        name="accuracy_low",
        title="Accuracy from",
        help="Lower end of the interval of the accuracy. Only with ten or more gold items does it "
        "hold in 95 of 100 cases.",
        unit="share",
        values=lambda audit: audit.evidence.low,
    ),
    TableColumn(
        name="accuracy_high",
        title="Accuracy to",
        help="Upper end of the interval of the accuracy, likewise.",
        unit="share",
        values=lambda audit: audit.evidence.high,
    ),
    TableColumn(
        name="agreement",
        title="Agreement",
        help="With others, on the same items.",
        unit="share",
        values=lambda audit: _agreement(audit.data),
    ),
    TableColumn(
        name="spammer_score",
        title="Informative",
        help="Raykar and Yu's spammer score: 0 if the answers do not depend on the truth, "
        "1 if they follow it. An inverted worker is informative too.",
        unit="score",
        values=lambda audit: audit.scores[0],
    ),
    TableColumn(
        name="cost_quality",
        title="Quality",
        help="Ipeirotis, Provost and Wang: 1 minus the expected cost of the labels, after "
        "undoing bias, over a spammer's.",
        unit="score",
        values=lambda audit: audit.scores[1],
    ),
    TableColumn(
        name="gold_n",
        title="Labels on gold",
        help="How many of the worker's labels are on items with a known answer.",
        unit="labels",
        values=lambda audit: audit.gold_hits[1].astype(np.int64),
    ),
    TableColumn(
        name="gold_accuracy",
        title="Accuracy on gold",
        help="Share of the worker's labels on items with a known answer that equal it.",
        unit="share",
        values=lambda audit: safe_ratio(*audit.gold_hits),
    ),
    TableColumn(
        name="verdict",
        title="Verdict",
        help="What the evidence says about the worker, in a word or two.",
        unit="text",
        values=lambda audit: [verdict.name for _, verdict, _ in audit.judgements],
    ),
    TableColumn(
        name="probability",
        title="Sure",
        help="How probable the verdict is; for undecided, how probable it is that the worker "
        "guesses. Empty where no probability can be given.",
        unit="share",
        values=lambda audit: [
            verdict.probability(worker) for worker, verdict, _ in audit.judgements
        ],
    ),
    TableColumn(
        name="advice",
        title="Advice",
        help="What to do about it.",
        unit="text",
        values=lambda audit: [verdict.advice for _, verdict, _ in audit.judgements],
    ),
    TableColumn(
        name="evidence",
        title="Evidence",
        help="The numbers behind the verdict, as a sentence.",
        unit="text",
        values=lambda audit: [evidence for _, _, evidence in audit.judgements],
    ),
    TableColumn(
        name="group",
        title="Group",
        help="The number of the group of workers who answer alike; empty for all others.",
        unit="text",
        values=lambda audit: [
            "" if number == UNKNOWN else str(number + 1) for number in audit.evidence.group.tolist()
        ],
    ),
    TableColumn(
        name="requirement",
        title="Requirement",
        help="The accuracy that was asked for when the worker was judged; empty where none was.",
        unit="share",
        values=lambda audit: np.full(
            audit.data.n_workers, np.nan if audit.requirement is None else audit.requirement
        ),
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
        name=GIVEN,
        title="Labels by class",
        help="What part of the worker's labels is each class.",
        unit="share",
        values=lambda audit: dict(zip(audit.data.classes, audit.given_shares.T, strict=True)),
    ),
)
"""Columns of workers.csv and workers.parquet."""


def worker_table(
    result: Result,
    *,
    evidence: WorkerEvidence | None = None,
    requirement: float | None = None,
    rows_in_order: bool = False,
) -> pd.DataFrame:
    """Judge the workers of a result.

    Parameters
    ----------
    result
        The truths, and the labels that they were inferred from.
    evidence
        What verdicts rest on, where it is known already.
    requirement
        The accuracy that the manager asks for; without one nobody is weak.
    rows_in_order
        Whether rows stand in the order of work where there are no times.

    Returns
    -------
    pandas.DataFrame
        One row per worker, in the order of the codes, with the columns of `COLUMNS`.
    """
    audit = WorkerAudit(
        result, evidence=evidence, requirement=requirement, rows_in_order=rows_in_order
    )
    return build_table(COLUMNS, audit)


def with_requirement(
    table: pd.DataFrame, evidence: WorkerEvidence, requirement: float
) -> pd.DataFrame:
    """Judge the workers of a table again, now against a requirement.

    Parameters
    ----------
    table
        What `worker_table` made.
    evidence
        What its verdicts rest on.
    requirement
        The accuracy that the manager asks for.

    Returns
    -------
    pandas.DataFrame
        The table with other verdicts.
    """
    workers = list(
        worker_numbers(
            table["worker"].tolist(), table["n_labels"].to_numpy(), evidence, requirement
        )
    )
    judged = [judge(worker) for worker in workers]
    return table.assign(
        verdict=[verdict.name for verdict, _ in judged],
        probability=[
            verdict.probability(worker)
            for worker, (verdict, _) in zip(workers, judged, strict=True)
        ],
        advice=[verdict.advice for verdict, _ in judged],
        evidence=[sentence for _, sentence in judged],
        requirement=requirement,
    )


def _gold_hits(data: CrowdData) -> tuple[Floats, Floats]:
    """Labels that equal gold, and labels of items with gold [W]."""
    on_gold = data.has_gold[data.item]
    worker = data.worker[on_gold]
    gold = np.zeros(0) if data.gold is None else data.gold[data.item[on_gold]]
    right = (data.label[on_gold] == gold).astype(np.float64)
    return _sums(worker, right, data.n_workers), _sums(worker, np.ones(len(worker)), data.n_workers)


def _agreement(data: CrowdData) -> Floats:
    """Mean share of an item's other labels that equal the worker's; NaN where nobody else was."""
    n_others = data.labels_per_item[data.item] - 1
    shared = n_others > 0
    item, label, worker = data.item[shared], data.label[shared], data.worker[shared]
    same: Floats = (data.votes[item, label] - 1) / n_others[shared]
    total = _sums(worker, same, data.n_workers)
    return safe_ratio(total, _sums(worker, np.ones(len(worker)), data.n_workers))


def _sums(worker: Codes, values: Floats, n_workers: int) -> Floats:
    """Add values [labels] up by worker [W]."""
    sums: Floats = np.bincount(worker, weights=values, minlength=n_workers).astype(np.float64)
    return sums


def _given_shares(data: CrowdData) -> Floats:
    """What part of each worker's labels is each class [W, K]; NaN for a worker without labels."""
    key = data.worker.astype(np.int64) * data.n_classes + data.label
    counts = np.bincount(key, minlength=data.n_workers * data.n_classes)
    with np.errstate(invalid="ignore"):
        shares: Floats = counts.reshape(-1, data.n_classes) / data.labels_per_worker[:, None]
    return shares


def _truth_shares(result: Result) -> Floats:
    """How common each class is among the truths of labelled items [K]."""
    labelled = result.data.labels_per_item > 0
    shares: Floats = result.posterior[labelled].mean(0)
    return shares
