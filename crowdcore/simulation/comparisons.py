"""Arenas with a known order: items that workers compare two at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from crowdcore.data import OUTCOMES, Codes, CrowdData, DataError, Floats

Habit = Literal["careful", "sharp", "blunt", "left", "right", "random", "reversed"]
HABITS: tuple[Habit, ...] = get_args(Habit)

SHARPNESS: dict[Habit, float] = {"sharp": 1.5, "blunt": 0.4, "random": 0.0, "reversed": -1.0}
"""How sharply such workers tell items apart; all others are 1."""

LEAN: dict[Habit, float] = {"left": 1.5, "right": -1.5}
"""Log-odds of the left of two equal items; all others have 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Arena:
    """Simulated comparisons, and all that an auditor would love to know about them."""

    data: CrowdData  # gold is the score of every item
    scores: Floats  # [N] of the average answer
    habit: tuple[Habit, ...]  # [W]


def simulate_arena(
    *,
    items: int = 30,
    workers: int = 40,
    comparisons: int = 3000,
    spread: float = 1.0,
    ties: float = 0.3,
    sharp: float = 0.1,
    blunt: float = 0.1,
    sided: float = 0.1,
    random: float = 0.1,
    reversed: float = 0.0,
    seed: int = 0,
) -> Arena:
    """Simulate comparisons of items whose scores are known.

    Parameters
    ----------
    items, workers, comparisons
        How many there are.
    spread
        The standard deviation of the scores, in log-odds.
    ties
        The weight of ties beside wins between equal items; 0 for none.
    sharp, blunt
        Shares of the workers who tell items apart better, or worse, than others.
    sided
        The share of workers who prefer one side: half the left, half the right.
    random, reversed
        Shares of the workers who answer blindly, or the wrong way round.
    seed
        From which all random numbers come.

    Returns
    -------
    Arena
        The data, with the scores as gold, and what each worker is.

    Raises
    ------
    DataError
        If the numbers do not fit together.

    Examples
    --------
    >>> simulate_arena(items=5, workers=4, comparisons=20).data.n_labels
    20
    """
    if items < 2 or workers < 1 or comparisons < 1:  # noqa: PLR2004
        raise DataError("An arena needs two items, a worker and a comparison at least")
    shares = {"sharp": sharp, "blunt": blunt, "sided": sided, "random": random,
              "reversed": reversed}  # fmt: skip
    if min(shares.values()) < 0 or sum(shares.values()) > 1 + 1e-9:
        raise DataError("Shares of workers lie between 0 and 1 and add up to at most 1")
    rng = np.random.default_rng(seed)
    bounds = np.rint(np.cumsum([0.0, *shares.values()]) * workers + 1e-9).astype(int)
    sizes = dict(zip(shares, np.diff(bounds).tolist(), strict=True))
    names: list[Habit] = []
    names += ["sharp"] * sizes["sharp"]
    names += ["blunt"] * sizes["blunt"]
    names += ["left"] * ((sizes["sided"] + 1) // 2)
    names += ["right"] * (sizes["sided"] // 2)
    names += ["random"] * sizes["random"]
    names += ["reversed"] * sizes["reversed"]
    names += ["careful"] * (workers - len(names))
    habit = tuple(names[index] for index in rng.permutation(workers))
    sharpness = np.array([SHARPNESS.get(name, 1.0) for name in habit])
    lean = np.array([LEAN.get(name, 0.0) for name in habit])
    scores = rng.normal(scale=spread, size=items)
    scores -= scores.mean()
    left = rng.integers(items, size=comparisons).astype(np.int32)
    right = ((left + rng.integers(1, items, size=comparisons)) % items).astype(np.int32)
    worker = rng.integers(workers, size=comparisons).astype(np.int32)
    felt = sharpness[worker] * (scores[left] - scores[right]) + lean[worker]
    average = float(sharpness[worker].mean())
    data = CrowdData(
        item=left,
        other=right,
        worker=worker,
        label=_outcomes(rng, felt, ties),
        items=_names("m", items),
        workers=_names("w", workers),
        classes=OUTCOMES,
        kind="comparisons",
        gold=scores * average,
    )
    return Arena(data=data, scores=scores * average, habit=habit)


def _outcomes(rng: np.random.Generator, felt: Floats, ties: float) -> Codes:
    """Draw outcomes by Davidson's model."""
    win, lose = np.exp(felt / 2), np.exp(-felt / 2)
    total = win + lose + ties
    draw = rng.random(len(felt)) * total
    return np.where(draw < win, 0, np.where(draw < win + lose, 1, 2)).astype(np.int32)


def _names(prefix: str, n: int) -> tuple[str, ...]:
    width = len(str(n))
    return tuple(f"{prefix}{number:0{width}d}" for number in range(1, n + 1))
