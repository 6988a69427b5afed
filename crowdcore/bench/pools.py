"""What choosing a pool of methods by its accuracy is worth on data sets that had no say in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crowdcore.bench.accuracy import DataSet
from crowdcore.data import UNKNOWN, DataError, Floats
from crowdcore.registry import fit

Pool = dict[str, int]  # weights of its members

LARGEST = 5
"""Members of a pool at most, besides the leader."""

CELLS = 10_000_000
"""Pools are scored together as far as their probabilities fit into so many cells."""

VOTES = "mv"
"""The votes themselves are one more voice in every pool of two or more."""

HOW = (
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
        """For each set, the accuracy of the pool that the other sets choose [sets]."""
        n_sets = self.accuracy.shape[1]
        others = (self.accuracy.sum(1, keepdims=True) - self.accuracy) / max(1, n_sets - 1)
        return np.asarray(self.accuracy[others.argmax(0), np.arange(n_sets)])

    def best(self, *, largest: int | None = None) -> int:
        """The place of the pool with the highest mean, of those with so few members."""
        sizes = np.array([len(pool) for pool in self.pools])
        return int(np.where(sizes <= (largest or sizes.max()), self.mean, -np.inf).argmax())

    def place(self, pool: Pool) -> int | None:
        """Where a pool stands; None if it is not among them."""
        return self.pools.index(pool) if pool in self.pools else None


def possible(members: Sequence[str], leader: str) -> Iterator[Pool]:
    """Every pool of these members, each of them alone, and the leader alone."""
    for size in range(1, min(len(members), LARGEST) + 1):
        for chosen in combinations(members, size):
            for weight in dict.fromkeys((0, 1, size)):
                pool = dict.fromkeys(chosen, 1) | ({leader: weight} if weight else {})
                yield pool | ({VOTES: 1} if len(pool) > 1 else {})
    yield {leader: 1}


def compare(
    members: Sequence[str],
    leader: str,
    datasets: Sequence[DataSet],
    told: Callable[[str], None] = lambda _: None,
) -> Pools:
    """Fit every method once on every data set, and score all pools."""
    names, pools = [*members, leader, VOTES], list(possible(members, leader))
    if twice := [name for name in (leader, VOTES) if names.count(name) > 1]:
        raise DataError(f"{twice[0]} is in every pool already", fix="Leave it out of the members.")
    weights = np.array([[pool.get(name, 0) for name in names] for pool in pools], np.float64)
    columns = [_scores(names, weights, dataset, told) for dataset in datasets]
    return Pools(pools=pools, accuracy=np.stack(columns, 1))


def _scores(
    names: Sequence[str], weights: Floats, dataset: DataSet, told: Callable[[str], None]
) -> Floats:
    """How often each pool [pools] is right on the items with a known truth; ties go lowest."""
    import torch

    from crowdcore.engine.pooling import opinion

    known = dataset.truth != UNKNOWN
    opinions = []
    for name in names:
        opinions.append(opinion(torch.from_numpy(fit(dataset.data, name).posterior[known])))
        told(f"{name} on {dataset.name}")
    said = torch.stack(opinions).numpy()  # [methods, n, K]
    truth, right = dataset.truth[known], []
    together = max(1, CELLS // said[0].size)
    for at in range(0, len(weights), together):
        scores = np.tensordot(weights[at : at + together], said, 1)  # [pools, n, K]
        right.append((scores.argmax(2) == truth).mean(1))
    return np.concatenate(right)
