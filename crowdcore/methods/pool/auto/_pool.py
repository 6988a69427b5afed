"""The pool itself: its members, fitted one after the other, and what they say together."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.artefacts.pool_members import PoolMembers
from crowdcore.data import Floats
from crowdcore.distributions import as_array, likeliest_classes
from crowdcore.results.classes import ClassEstimate, ClassResult
from crowdcore.results.result import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

MEMBERS: tuple[tuple[str, int], ...] = (("hds", 1), ("ds", 1), ("hbcc", 1), ("mace", 3))
"""Members with their weights, the cheap ones first: as much for the three that model errors by
matrices, from coarse to rich, as for the one that models spamming."""

VOTES_WEIGHT = 1
"""The weight of the votes themselves, which decide where the two kinds of members stand against
each other, both sure: without it the last digits of their probabilities would."""

MIN_OTHER_PROBABILITY = 0.01
"""No member can veto a class: all other classes together have at least this probability."""

NEEDS_LISTED_LABELS = "mace"
"""The member that must list all labels; of a large completed matrix they can only be counted."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Members and what they say together.

    Parameters
    ----------
    results, weights
        Of the members.
    skipped
        Ids of members for which there was no time.
    posterior
        What they and the votes say [N, K].
    """

    results: list[ClassResult]
    weights: list[int]
    skipped: list[str]
    posterior: Tensor

    @cached_property
    def truth(self) -> NDArray[np.integer]:
        """The classes that the pool chooses [N]."""
        return likeliest_classes(self.probabilities)[0]

    @cached_property
    def probabilities(self) -> Floats:
        """The posterior on the host [N, K]."""
        return as_array(self.posterior, np.float64)

    def members(self, labels: Labels, truth: NDArray[np.integer]) -> PoolMembers:
        """Describe the members, and how far they agree with some truths and each other."""
        truths = [truth, *(result.truth for result in self.results)]
        n_same = np.array([[np.sum(a == b) for b in truths] for a in truths[1:]])
        return PoolMembers(
            names=[result.provenance.method for result in self.results],
            titles=[result.provenance.title for result in self.results],
            weights=np.array(self.weights),
            votes=VOTES_WEIGHT,
            skipped=self.skipped,
            agreement=over_parts(labels, n_same) / labels.n_all_items,
        )

    def members_against(self, truth: NDArray[np.integer]) -> Floats:
        """Count the members that choose another class than some truths [N]."""
        against = np.stack([result.truth != truth for result in self.results])
        return np.asarray(against.sum(0), np.float64)

    def as_result(self, labels: Labels, run: Run) -> Result:
        """Make a result of the pool, as if nothing but it had been asked."""
        from crowdcore.registry import get_method

        method = get_method("auto")
        estimate = ClassEstimate(
            posterior=self.posterior,
            item_scores={"members_against": self.members_against(self.truth)},
            artefacts=[self.members(labels, self.truth)],
        )
        return Result.checked(
            estimate,
            data=labels.observed,
            method=method,
            config=method.configure({}),
            run=run,
            began=time.perf_counter(),
            used_gold=labels.use_gold,
        )


def fit_pool(labels: Labels, run: Run, *, max_seconds: float) -> Pool:
    """Fit the members and multiply what they say, each to the power of its weight.

    Parameters
    ----------
    labels
        The labels.
    run
        Counts the members.
    max_seconds
        After which no further member is started.

    Returns
    -------
    Pool
    """
    from crowdcore.engine import em

    start = time.perf_counter()
    members = [
        (name, weight) for name, weight in MEMBERS if labels.listable or name != NEEDS_LISTED_LABELS
    ]
    results: list[ClassResult] = []
    for step in run.loop(len(members), "Members"):
        name = members[step][0]
        results.append(fit_member(labels, name, {"use_gold": labels.use_gold}, run.part(name)))
        run.log(seconds=time.perf_counter() - start)
        if labels.parts.agree(time.perf_counter() - start > max_seconds):
            break
    weights = [weight for _, weight in members[: len(results)]]
    scores = log_opinion(labels.shares()) * VOTES_WEIGHT
    for result, weight in zip(results, weights, strict=True):
        posterior = labels.tensor(result.posterior, labels.dtype)
        scores.add_(log_opinion(posterior), alpha=weight)
    scores /= VOTES_WEIGHT + sum(weights)
    posterior, _ = em.normalise(labels, scores)
    skipped = [name for name, _ in members[len(results) :]]
    return Pool(results=results, weights=weights, skipped=skipped, posterior=posterior)


def fit_member(labels: Labels, name: str, params: dict[str, object], run: Run) -> ClassResult:
    """Fit a method on labels whose sorted copies are shared by all members."""
    from crowdcore.registry import get_method

    member, start = get_method(name), time.perf_counter()
    config = member.configure(params)
    result = Result.checked(
        member.function(labels, config, run),
        data=labels.observed,
        method=member,
        config=config,
        run=run,
        began=start,
        used_gold=labels.use_gold,
    )
    assert isinstance(result, ClassResult)  # members work on classes
    return result


def over_parts(labels: Labels, counts: NDArray[np.integer] | np.integer) -> NDArray[np.int64]:
    """Add counts of this part's items up over all parts."""
    return as_array(labels.parts.sum(labels.tensor(np.asarray(counts, np.int64))))


def log_opinion(posterior: Tensor) -> Tensor:
    """What a member adds to the pool, in logarithms [N, K]."""
    return posterior.clamp(min=MIN_OTHER_PROBABILITY / max(1, posterior.shape[1] - 1)).log()
