"""Crowds that rate on a scale, with known truths: strict, narrow, noisy, random workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from crowdcore.data import CrowdData, DataError, Floats

RatingCharacter = Literal[
    "good", "lenient", "strict", "narrow", "wide", "noisy", "random", "one answer", "inverted"
]
RATING_CHARACTERS: tuple[RatingCharacter, ...] = get_args(RatingCharacter)

SHARES: Mapping[RatingCharacter, float] = MappingProxyType(
    {"lenient": 0.08, "strict": 0.08, "narrow": 0.06, "noisy": 0.06, "random": 0.05}
)
"""A usual crowd: the shares of workers who are not good."""

LOWEST, HIGHEST = 0.0, 10.0
"""The ends of the scale."""

TRUTH_MEAN, TRUTH_DEVIATION = 5.0, 1.8
"""The truths: normal, and inside the scale."""

BIAS = 1.3
"""How far a lenient or strict worker is off."""

NOISE = 0.8
"""The usual deviation of errors; a noisy worker's is three times as large."""

FEATURE_NOISE = 1.0
"""The deviation of features around what the truth says of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RatingSimulation:
    """Simulated ratings, and all that an auditor would love to know about them."""

    data: CrowdData  # gold is the truth of every item
    truth: Floats  # [N]
    character: tuple[RatingCharacter, ...]  # [W]
    bias: Floats  # [W]
    slope: Floats  # [W]
    noise: Floats  # [W]


def simulate_ratings(
    *,
    items: int = 300,
    workers: int = 40,
    ratings_per_item: int = 6,
    shares: Mapping[RatingCharacter, float] = SHARES,
    steps: int = 0,
    features: int = 0,
    activity: float = 0.5,
    seed: int = 0,
) -> RatingSimulation:
    """Simulate a crowd that rates items from 0 to 10.

    Parameters
    ----------
    items, workers, ratings_per_item
        How many there are.
    shares
        Shares of the workers who are not good, by character.
    steps
        Round ratings to so many equal steps of the scale; 0 leaves them as they are.
    features
        How many features describe an item; 0 for none. Half of them follow the truth.
    activity
        How uneven the workers are: the r-th busiest works r ** -activity as much as the first.
    seed
        From which all random numbers come.

    Returns
    -------
    RatingSimulation
        The data, with the truths as gold, and what each worker is.

    Raises
    ------
    DataError
        If the numbers do not fit together.

    Examples
    --------
    >>> simulate_ratings(items=20, workers=6, ratings_per_item=3).data.n_labels
    60
    """
    if min(items, workers, ratings_per_item) < 1 or ratings_per_item > workers:
        raise DataError(
            f"{ratings_per_item} ratings per item need as many workers; there are {workers}"
        )
    if unknown := set(shares) - set(RATING_CHARACTERS):
        raise DataError(f"There is no character {min(unknown)!r}")
    if min(shares.values(), default=0) < 0 or sum(shares.values()) > 1:
        raise DataError("Shares of workers lie between 0 and 1, and add to at most 1")
    rng = np.random.default_rng(seed)
    truth = rng.normal(TRUTH_MEAN, TRUTH_DEVIATION, items).clip(LOWEST + 0.5, HIGHEST - 0.5)
    counts = {name: round(share * workers) for name, share in shares.items()}
    named = [name for name, n in counts.items() for _ in range(n)]
    named += ["good"] * max(0, workers - len(named))
    character = tuple(named[position] for position in rng.permutation(workers))
    bias, slope, noise = _habits(character, rng)
    pull = np.log(np.arange(1, workers + 1) ** -float(activity))[rng.permutation(workers)]
    keys = pull + rng.gumbel(size=(items, workers))
    worker = np.argsort(-keys, axis=1)[:, :ratings_per_item].reshape(-1)
    item = np.repeat(np.arange(items), ratings_per_item)
    away = truth[item] - TRUTH_MEAN
    rating = TRUTH_MEAN + bias[worker] + slope[worker] * away
    rating = rating + noise[worker] * rng.standard_normal(len(item))
    who = np.array(character, dtype=object)[worker]
    rating = np.where(who == "random", rng.uniform(LOWEST, HIGHEST, len(item)), rating)
    favourite = rng.integers(4, 9, workers).astype(float)
    rating = np.where(who == "one answer", favourite[worker], rating).clip(LOWEST, HIGHEST)
    if steps:
        rating = np.round(rating / HIGHEST * steps) * (HIGHEST / steps)
    described = None
    if features:
        direction = rng.standard_normal(features) * (np.arange(features) < (features + 1) // 2)
        described = np.outer((truth - TRUTH_MEAN) / TRUTH_DEVIATION, direction)
        described += FEATURE_NOISE * rng.standard_normal(described.shape)
    width = len(str(items)), len(str(workers))
    data = CrowdData(
        item=item.astype(np.int32),
        worker=worker.astype(np.int32),
        label=rating,
        items=tuple(f"item{n + 1:0{width[0]}d}" for n in range(items)),
        workers=tuple(f"worker{n + 1:0{width[1]}d}" for n in range(workers)),
        kind="ratings",
        gold=truth,
        features=None if described is None else described.astype(np.float32),
    )
    return RatingSimulation(
        data=data, truth=truth, character=character, bias=bias, slope=slope, noise=noise
    )


def _habits(
    character: tuple[RatingCharacter, ...], rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """The bias, slope and noise of each worker [W]."""
    who = np.array(character, dtype=object)
    bias, slope, noise = np.zeros(len(who)), np.ones(len(who)), np.full(len(who), NOISE)
    bias[who == "lenient"], bias[who == "strict"] = BIAS, -BIAS
    slope[who == "narrow"], slope[who == "wide"], slope[who == "inverted"] = 0.35, 1.7, -0.9
    noise[who == "noisy"] *= 3
    for name in ("random", "one answer"):
        slope[who == name] = 0.0
    honest = ~np.isin(who, ["random", "one answer"])
    bias += honest * rng.normal(0, 0.15, len(who))
    slope *= np.exp(honest * rng.normal(0, 0.08, len(who)))
    noise *= np.exp(honest * rng.normal(0, 0.15, len(who)))
    return bias, slope, noise
