"""Checks of the classes that somebody who knows the task would make."""

from __future__ import annotations

import re

import numpy as np

from crowdcore.reading.findings import MAX_EXAMPLES, Finding, make_finding
from crowdcore.reading.labels.coded_labels import CodedLabels
from crowdcore.wording import count

_RARE = 2
_MIN_LABELS = 100
"""Labels from which on a class that comes once or twice is odd."""

_MIN_OWN = 5
_MIN_WORKERS = 3
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}( .*)?"
    r"|\d{1,2}[- ](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*([- ]\d{2,4})?"
    r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[- ]\d{1,4}",
    re.IGNORECASE,
)


def check_classes(labels: CodedLabels) -> list[Finding]:
    """Check the classes.

    Parameters
    ----------
    labels
        The labels as they will be used.

    Returns
    -------
    list of Finding
    """
    return [_rare_classes(labels), _date_labels(labels), _own_words(labels)]


def _rare_classes(labels: CodedLabels) -> Finding:
    """Classes that were given once or twice, where most are given far more often."""
    given = labels.labels_per_class
    used = given[given > 0]
    few = len(labels.row) >= _MIN_LABELS and len(used) and np.median(used) > 10 * _RARE
    rare = np.flatnonzero((given > 0) & (given <= _RARE)) if few else np.empty(0, int)
    return make_finding(
        "rare_classes",
        len(rare),
        examples=(
            f"{labels.classes[at]!r} ({count(int(given[at]), 'label')})"
            for at in rare[:MAX_EXAMPLES].tolist()
        ),
    )


def _date_labels(labels: CodedLabels) -> Finding:
    """Classes that are dates: a column of times was taken, or a spreadsheet turned 1-2 into one."""
    dates = [
        at
        for at, name in enumerate(labels.classes)
        if labels.labels_per_class[at] and _DATE.fullmatch(name.strip())
    ]
    return make_finding(
        "date_labels",
        len(dates),
        severity="warning",
        examples=(repr(labels.classes[at]) for at in dates),
    )


def _own_words(labels: CodedLabels) -> Finding:
    """Workers most of whose answers nobody else gives, as a column of remarks has them."""
    n_workers = len(labels.workers)
    pairs = np.unique(labels.label.astype(np.int64) << 32 | labels.worker)
    givers = np.bincount(pairs >> 32, minlength=len(labels.classes))
    own = np.bincount(labels.worker[givers[labels.label] == 1], minlength=n_workers)
    total = labels.labels_per_worker
    odd = np.flatnonzero((own >= _MIN_OWN) & (2 * own > total))
    some = n_workers >= _MIN_WORKERS and 2 * len(odd) < n_workers
    odd = odd if some else odd[:0]
    return make_finding(
        "own_answers",
        len(odd),
        severity="warning",
        examples=(
            f"worker {labels.workers[at]!r}: {own[at]} of {count(int(total[at]), 'label')}"
            for at in odd[:MAX_EXAMPLES].tolist()
        ),
    )
