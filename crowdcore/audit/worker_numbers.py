"""What is known of each worker, as one record that the rules of verdicts read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.worker_evidence import WorkerEvidence
from crowdcore.data import UNKNOWN
from crowdcore.wording import count

MIN_CARE = 0.5
"""How often a worker looks in the better part of their labels, for the other part to be named."""


class WorkerNumbers(NamedTuple):
    """What is known of one worker, for rules to judge by. Shares are between 0 and 1."""

    n_classes: int
    n_labels: int
    n_compared: int  # labels on items that somebody else labelled too, or that have gold
    accuracy: float  # as the rest of the crowd sees it; by gold where there is enough
    accuracy_low: float
    accuracy_high: float
    by_gold: bool  # whether the interval holds in 95 of 100 cases
    chance: float  # accuracy of the same answers, given without seeing the items
    crowd_accuracy: float  # of a worker in the middle of the crowd
    bad: float  # how probable "random", "one answer" or "inverted" is, together
    kind_of_bad: str  # the likeliest of the three
    is_accused: bool  # on the list whose expected share of wrong entries is bounded
    biased: float  # how probable it is that the errors follow a pattern
    is_biased: bool  # on the list of these
    favourite: str  # the class that the worker gives most above what their items suggest
    n_favourite: int  # how often they give it
    favourite_seen: float  # how often the items that they saw suggest it
    surplus: float  # by how much of their labels they give it more often than the crowd would
    is_confusing: bool  # whether one class taken for another explains the errors better
    taken: str  # the class that they mistake most
    taken_for: str  # for this one
    n_taken: float
    n_of_taken: float
    top_class: str  # the class that they give most often
    n_top: int
    top_seen: float  # how often the items that they saw suggest it
    requirement: float | None  # the accuracy that the manager asks for
    below: float  # how probable it is that the worker is below it
    alike: str  # with whom they answer alike, and how much, as a sentence; "" with nobody
    drift: float  # how probable a fall of care is
    drift_at: int  # after so many comparable labels; 0 where there is none to speak of
    before: float  # the share right before it, and after it
    after: float
    haste: float  # how probable less care on fast labels is
    n_fast: int  # fast labels of a worker who is less careful with them; else 0
    right_fast: float  # the share right among them, and among the others
    right_slow: float
    pattern: float  # how probable it is that answers follow the answer before
    has_pattern: bool

    @property
    def rate(self) -> str:
        """The accuracy with its interval, in words."""
        ends = f"{self.accuracy_low:.0%} to {self.accuracy_high:.0%}"
        if self.by_gold:
            return f"{self.accuracy:.0%} of such items (95% interval {ends})"
        return f"about {self.accuracy:.0%} ({ends}) of such items, as the others see it"

    @property
    def comparable(self) -> str:
        """How many labels can be compared, in words."""
        return count(self.n_compared, "comparable label")


def worker_numbers(
    workers: Sequence[str],
    n_labels: NDArray[np.int64],
    evidence: WorkerEvidence,
    requirement: float | None = None,
) -> Iterator[WorkerNumbers]:
    """Gather what rules judge by, a record per worker.

    Parameters
    ----------
    workers
        The workers' names, in the order of the codes.
    n_labels
        How many labels each has.
    evidence
        What was found in them.
    requirement
        The accuracy that the manager asks for.

    Yields
    ------
    WorkerNumbers
        In the order of the codes.
    """
    rows = np.arange(len(workers))
    classes = np.array(evidence.classes, dtype=object)
    top = evidence.given_counts.argmax(1)
    drifts = evidence.is_drifting & (evidence.care_before >= MIN_CARE)
    hasty = evidence.is_hasty & (evidence.care_slow >= MIN_CARE)
    judged = evidence.accuracy[evidence.n_compared > 0]
    columns = {
        "n_labels": n_labels,
        "n_compared": evidence.n_compared,
        "accuracy": evidence.accuracy,
        "accuracy_low": evidence.low,
        "accuracy_high": evidence.high,
        "chance": evidence.chance,
        "bad": evidence.bad,
        "kind_of_bad": evidence.kind_of_bad,
        "is_accused": evidence.is_accused,
        "biased": evidence.biased,
        "is_biased": evidence.is_biased,
        "favourite": classes[evidence.favourite],
        "n_favourite": evidence.given_counts[rows, evidence.favourite].astype(np.int64),
        "favourite_seen": evidence.true_counts[rows, evidence.favourite],
        "surplus": evidence.surplus,
        "is_confusing": evidence.is_confusing,
        "taken": classes[evidence.taken],
        "taken_for": classes[evidence.taken_for],
        "n_taken": evidence.n_taken,
        "n_of_taken": evidence.n_of_taken,
        "top_class": classes[top],
        "n_top": evidence.given_counts[rows, top].astype(np.int64),
        "top_seen": evidence.true_counts[rows, top],
        "below": np.zeros(len(rows)) if requirement is None else evidence.below(requirement),
        "alike": np.array(_alike_sentences(workers, evidence), dtype=object),
        "drift": evidence.drift,
        "drift_at": np.where(drifts, evidence.drift_at, 0),
        "before": evidence.before,
        "after": evidence.after,
        "haste": evidence.haste,
        "n_fast": np.where(hasty, evidence.n_fast, 0),
        "right_fast": evidence.right_fast,
        "right_slow": evidence.right_slow,
        "pattern": evidence.pattern,
        "has_pattern": evidence.has_pattern,
    }
    crowd_accuracy = float(np.median(judged)) if len(judged) else float("nan")
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield WorkerNumbers(
            **dict(zip(columns, values, strict=True)),
            n_classes=len(classes),
            by_gold=evidence.facts.by_gold,
            crowd_accuracy=crowd_accuracy,
            requirement=requirement,
        )


def _alike_sentences(workers: Sequence[str], evidence: WorkerEvidence) -> list[str]:
    """Say of each worker [W] with whom they answer alike most surely; "" with nobody."""
    sentences = [""] * len(workers)
    order = np.argsort(evidence.pair_expected - evidence.pair_same, kind="stable")
    for pair in order.tolist():
        two = int(evidence.pair_worker[pair]), int(evidence.pair_partner[pair])
        same, shared = int(evidence.pair_same[pair]), int(evidence.pair_shared[pair])
        wrong = int(evidence.pair_same_wrong[pair])
        for worker, partner in (two, two[::-1]):
            if evidence.group[worker] != UNKNOWN and not sentences[worker]:
                sentences[worker] = (
                    f"{same:,} of {shared:,} shared answers equal those of "
                    f"{workers[partner]!r}, where {evidence.pair_expected[pair]:.0f} are "
                    f"expected; {wrong:,} of them {'is' if wrong == 1 else 'are'} the same error. "
                    "Who copied, if anybody did, is unknown."
                )
    return sentences
