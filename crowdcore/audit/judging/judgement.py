"""Judge the workers of a crowd: who looks, who does not, how sure that is, and on which labels.

Everything rests on the labels and on gold alone, so a verdict does not depend on the method that
a run used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.accuracy import (
    Distributions,
    SharedErrors,
    accuracy_distributions,
    corrected,
    shared_errors,
)
from crowdcore.audit.judging.accusations import MIN_PROBABILITY, Accusations, accuse
from crowdcore.audit.judging.compared import Comparison, compare
from crowdcore.audit.judging.copying import (
    FEW_GROUPED,
    MAX_GROUPED,
    AlikePairs,
    Meetings,
    alike_pairs,
)
from crowdcore.audit.judging.crowd_fit import CrowdFit, fit_crowd
from crowdcore.audit.judging.labels import Flags, JudgedLabels, Rows
from crowdcore.audit.judging.time_evidence import TimeEvidence, time_evidence
from crowdcore.audit.judging.worker_types import (
    BLIND,
    INVERTED,
    MIN_LABELS,
    ONE_ANSWER,
    TypeShares,
    type_shares,
)
from crowdcore.data import CrowdData, Floats

MIN_BIASED = 0.80
"""Nobody is called biased on a lower probability."""

GROUP_ROUNDS = 3
"""How often groups are looked for anew, each time with the known ones speaking once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """What is known of every worker; arrays are in the order of the codes."""

    labels: JudgedLabels
    comparison: Comparison
    accuracy: Distributions
    shared_errors: SharedErrors | None  # None with too little gold
    types: TypeShares
    accused: Accusations
    biased: Accusations
    pairs: AlikePairs
    groups: tuple[Rows, ...]  # workers who answer alike; none where there are schools of thought
    schools: tuple[Rows, ...]  # the same, where they hold too much of the crowd to be copies
    time: TimeEvidence

    @property
    def judged(self) -> Flags:
        """Who has enough comparable labels to be judged [W]."""
        return _judged(self.comparison)

    @property
    def kind_of_bad(self) -> NDArray[Any]:
        """Of those who may be bad, which kind is the likeliest [W]: a type's code."""
        probability = self.types.probability
        random = probability[:, BLIND] + self.types.low_skill
        parts = np.stack([random, probability[:, ONE_ANSWER], probability[:, INVERTED]])
        kinds: NDArray[Any] = np.array([BLIND, ONE_ANSWER, INVERTED])[parts.argmax(0)]
        return kinds

    @property
    def chance(self) -> Floats:
        """How often each worker's answers would be right if given blindly [W]."""
        true = self.comparison.peculiar.true_counts
        total = true.sum(1, keepdims=True)
        shares = np.divide(true, total, out=np.zeros_like(true), where=total > 0)
        chance: Floats = (shares * self.comparison.habit).sum(1)
        return chance

    @property
    def weight(self) -> NDArray[Any]:
        """How much each judged label speaks for answering without looking [L], as log-odds."""
        labels = self.labels
        blind = self.comparison.habit[labels.worker, labels.given]
        logs: NDArray[Any] = np.log(blind) - np.log(np.maximum(self.comparison.as_crowd, 1e-6))
        return np.where(labels.comparable, logs, 0.0)


def judge_crowd(data: CrowdData, *, rows_in_order: bool = False) -> Judgement:
    """Judge every worker by what the others say, and by gold.

    Parameters
    ----------
    data
        Labels of the kind "classes", of two classes or more.
    rows_in_order
        Whether labels stand in the order in which they were given; only then, or with times,
        are workers looked at over time.

    Returns
    -------
    Judgement
        Probabilities, intervals, groups and times, from which verdicts are read.
    """
    labels = JudgedLabels.from_data(data)
    fit = fit_crowd(labels)
    pairs, groups, schools = _groups(labels, fit)
    if groups:  # nobody is judged by their own copies
        labels = labels.with_groups(groups)
        fit = fit_crowd(labels)
    comparison = compare(labels, fit)
    types = type_shares(
        comparison.atoms,
        comparison.log_likelihoods,
        comparison.n_compared,
        comparison.peculiar.surplus,
    )
    judged = _judged(comparison)
    accused = accuse(types.bad, judged, min_probability=MIN_PROBABILITY)
    accuracy, errors = _accuracy(comparison)
    return Judgement(
        labels=labels,
        comparison=comparison,
        accuracy=accuracy,
        shared_errors=errors,
        types=types,
        accused=accused,
        biased=accuse(types.biased, judged & ~accused.accused, min_probability=MIN_BIASED),
        pairs=pairs,
        groups=groups,
        schools=schools,
        time=time_evidence(data, comparison, rows_in_order=rows_in_order),
    )


def _judged(comparison: Comparison) -> Flags:
    """Who has enough comparable labels [W]; nobody where there is one class, and nothing to err."""
    return (comparison.n_compared >= MIN_LABELS) & (comparison.labels.n_classes > 1)


Groups = tuple[Rows, ...]


def _groups(labels: JudgedLabels, fit: CrowdFit) -> tuple[AlikePairs, Groups, Groups]:
    """Look for groups until letting the known ones speak once shows no more.

    The second groups are schools of thought: what looks like copies, but of too many workers.
    """
    meetings = Meetings.from_labels(labels)
    groups: list[Rows] = []
    most = max(MAX_GROUPED * labels.n_active, FEW_GROUPED)
    for _ in range(GROUP_ROUNDS):
        pairs = alike_pairs(labels.with_groups(groups), fit, meetings)
        updated = pairs.groups(labels.n_workers)
        settled = [group.tolist() for group in updated] == [group.tolist() for group in groups]
        groups = updated
        if settled or sum(map(len, groups)) > most:
            break
        fit = fit_crowd(labels.with_groups(groups))
    if sum(map(len, groups)) > most:
        return pairs, (), tuple(groups)
    return pairs, tuple(groups), ()


def _accuracy(comparison: Comparison) -> tuple[Distributions, SharedErrors | None]:
    """Distributions of accuracies, corrected by gold where there is enough."""
    labels = comparison.labels
    has_gold = labels.has_gold
    if not has_gold.any():
        use = labels.comparable
        return accuracy_distributions(comparison.hit, comparison.error, labels, use), None
    hit, error = comparison.untold_hit, comparison.untold_error
    by_crowd = accuracy_distributions(hit, error, labels, labels.comparable & ~has_gold)
    rows = np.flatnonzero(has_gold)
    accuracy = by_crowd.quantile(np.array([0.5]))[:, 0][labels.worker[rows]]
    right = accuracy * hit[rows]
    belief = right / np.maximum(right + (1 - accuracy) * error[rows], 1e-12)
    is_hit = (labels.given == labels.gold[labels.item]) & has_gold
    errors = shared_errors(
        belief, is_hit[rows].astype(np.float64), labels.item[rows], labels.worker[rows]
    )
    if errors is None:
        plain = accuracy_distributions(comparison.hit, comparison.error, labels, labels.comparable)
        return plain, None
    hits, total = (labels.worker_sums(values) for values in (is_hit, has_gold))
    return corrected(by_crowd, errors, hits, total), errors
