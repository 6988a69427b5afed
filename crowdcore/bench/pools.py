"""What choosing a pool of methods by its accuracy is worth on data sets that had no say in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crowdcore.bench.datasets import DataSet
from crowdcore.data import UNKNOWN, DataError, Floats
from crowdcore.registry import fit

Pool = dict[str, int]  # weights of its members

MAX_MEMBERS = 5
"""Members of a pool at most, besides the leader."""

CELLS_PER_CHUNK = 10_000_000
"""Pools are scored together as far as their probabilities fit into so many cells."""

VOTES = "mv"
"""The votes themselves are one more voice in every pool of two or more."""

PROTOCOL = (
    "Every set counts the same. A pool is up to five of the members with equal weights, alone or "
    "with the leader, who weighs as much as one of them or as all together, and the votes as one "
    "more voice. Left out: the pool with the highest mean on all other sets, scored on the one "
    "that was left out, for every set in turn. The highest mean of all is what looking for it "
    "found, not what to expect."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pools:
    """Pools, and how often each was right on each data set."""

    pools: list[Pool]
    accuracy: Floats  # [pools, sets]

    @property
    def mean(self) -> Floats:
        """The mean over the sets [pools]."""
        return np.asarray(self.accuracy.mean(1))

    def left_out(self) -> Floats:
        """Return, for each set, the accuracy of the pool that the other sets choose.

        Returns
        -------
        ndarray
            Accuracies [sets].
        """
        n_sets = self.accuracy.shape[1]
        mean_of_others = (self.accuracy.sum(1, keepdims=True) - self.accuracy) / max(1, n_sets - 1)
        return np.asarray(self.accuracy[mean_of_others.argmax(0), np.arange(n_sets)])

    def best(self, *, max_members: int | None = None) -> int:
        """Find the pool with the highest mean.

        Parameters
        ----------
        max_members : int or None, optional
            Among pools of at most so many members; among all by default.

        Returns
        -------
        int
            Its index in `pools`.
        """
        sizes = np.array([len(pool) for pool in self.pools])
        return int(np.where(sizes <= (max_members or sizes.max()), self.mean, -np.inf).argmax())

    def index(self, pool: Pool) -> int | None:
        """Find a pool.

        Parameters
        ----------
        pool : Pool
            Weights of its members.

        Returns
        -------
        int or None
            Its index in `pools`; None if it is not among them.
        """
        return self.pools.index(pool) if pool in self.pools else None


def possible(members: Sequence[str], leader: str) -> Iterator[Pool]:
    """Make every pool of these members, each of them alone, and the leader alone.

    Parameters
    ----------
    members : sequence of str
        Ids of methods.
    leader : str
        The id of the method that may weigh as much as all others.

    Yields
    ------
    Pool
        Weights of the members.
    """
    for size in range(1, min(len(members), MAX_MEMBERS) + 1):
        for chosen in combinations(members, size):
            for weight in dict.fromkeys((0, 1, size)):
                pool = dict.fromkeys(chosen, 1) | ({leader: weight} if weight else {})
                yield pool | ({VOTES: 1} if len(pool) > 1 else {})
    yield {leader: 1}


def compare(
    members: Sequence[str],
    leader: str,
    datasets: Sequence[DataSet],
    on_done: Callable[[str], None] = lambda _: None,
) -> Pools:
    """Fit every method once on every data set, and score all pools.

    Parameters
    ----------
    members : sequence of str
        Ids of methods that may be members.
    leader : str
        The id of the method that may weigh as much as all others.
    datasets : sequence of DataSet
        What to fit them on.
    on_done : callable, optional
        Called after each fit.

    Returns
    -------
    Pools
        All pools with their accuracies.

    Raises
    ------
    DataError
        The leader or the votes are among the members.
    """
    names, pools = [*members, leader, VOTES], list(possible(members, leader))
    if twice := [name for name in (leader, VOTES) if names.count(name) > 1]:
        raise DataError(f"{twice[0]} is in every pool already", fix="Leave it out of the members.")
    weights = np.array([[pool.get(name, 0) for name in names] for pool in pools], np.float64)
    columns = [_scores(names, weights, dataset, on_done) for dataset in datasets]
    return Pools(pools=pools, accuracy=np.stack(columns, 1))


def _scores(
    names: Sequence[str], weights: Floats, dataset: DataSet, on_done: Callable[[str], None]
) -> Floats:
    """How often each pool [pools] is right on the items with a known truth; ties go lowest."""
    import torch

    from crowdcore.methods.pool.auto import log_opinion

    scored = dataset.truth != UNKNOWN
    opinions = []
    for name in names:
        opinions.append(log_opinion(torch.from_numpy(fit(dataset.data, name).posterior[scored])))
        on_done(f"{name} on {dataset.name}")
    probabilities = torch.stack(opinions).numpy()  # [methods, n, K]
    truth, right = dataset.truth[scored], []
    pools_per_chunk = max(1, CELLS_PER_CHUNK // probabilities[0].size)
    for start in range(0, len(weights), pools_per_chunk):
        scores = np.tensordot(
            weights[start : start + pools_per_chunk], probabilities, 1
        )  # [pools, n, K]
        right.append((scores.argmax(2) == truth).mean(1))
    return np.concatenate(right)
