"""Simulated workers at work: the order and the times of labels, and those whose care changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError, Floats

Habit = Literal["drifting", "tiring", "hasty", "pattern"]
HABITS: tuple[Habit, ...] = get_args(Habit)

USUAL_SECONDS = 12.0
"""How long a label takes, in the middle."""

WORKER_SPREAD, ITEM_SPREAD, LABEL_SPREAD = 0.4, 0.3, 0.4
"""Standard deviations of log durations between workers, items and labels."""

CLICK_THROUGH = 0.12
"""What part of the usual time a label takes that is given without looking, by the hasty."""

HASTY_SHARE = 0.5
"""How many of a hasty worker's labels are given so."""

LABELS_PER_SESSION = 60
EPOCH = 1_700_000_000.0
DAY = 86_400.0


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedCrowd:
    """Labels with times, and which workers have which habit from which label on."""

    data: CrowdData
    habit: tuple[Habit | None, ...]  # [W]
    begins: Codes  # [W] number of the label from which care is gone; UNKNOWN where it stays
    careless: NDArray[np.bool_]  # [L] labels that were given without looking


def add_times(
    data: CrowdData,
    honest: NDArray[np.bool_],
    *,
    drifting: float = 0.0,
    tiring: float = 0.0,
    hasty: float = 0.0,
    patterns: float = 0.0,
    seed: int = 0,
) -> TimedCrowd:
    """Let every worker go through their items one after the other.

    Parameters
    ----------
    data
        Labels of the kind "classes".
    honest
        Among whom those with a habit are chosen.
    drifting, tiring, hasty, patterns
        Shares of the workers: who stop looking about half-way; who look less and less; who click
        through half of their labels, all over or in one go; whose answers go round the classes.
    seed
        The seed of everything random.

    Returns
    -------
    TimedCrowd
        The same labels but for those given without looking, with times and durations.

    Raises
    ------
    DataError
        If there are fewer honest workers than the shares ask for.
    """
    rng = np.random.default_rng(seed)
    shares: dict[Habit, float] = {
        "drifting": drifting,
        "tiring": tiring,
        "hasty": hasty,
        "pattern": patterns,
    }
    habit = _assign_habits(rng, honest, shares)
    worker, k = data.worker, data.n_classes
    position, size = _work_order(rng, data)
    progress = position / np.maximum(1, size[worker])
    cut = rng.uniform(0.35, 0.65, data.n_workers)
    burst = rng.uniform(0.1, 0.9 - HASTY_SHARE, data.n_workers)
    all_over = rng.integers(2, size=data.n_workers) == 1
    draw = rng.random(data.n_labels)
    chosen = np.array([name or "" for name in habit])[worker]
    careless = (chosen == "drifting") & (progress >= cut[worker])
    careless |= (chosen == "tiring") & (draw < (progress - 0.2) / 0.6)
    in_burst = (progress >= burst[worker]) & (progress < burst[worker] + HASTY_SHARE)
    careless |= (chosen == "hasty") & np.where(all_over[worker], draw < HASTY_SHARE, in_burst)
    careless |= chosen == "pattern"
    blind = rng.integers(k, size=data.n_labels)
    offset = rng.integers(k, size=data.n_workers)
    blind = np.where(chosen == "pattern", (position + offset[worker]) % k, blind)
    label = np.where(careless, blind, data.label)
    seconds = _durations(rng, data)
    seconds[careless & (chosen == "hasty")] *= CLICK_THROUGH
    begins = np.full(data.n_workers, UNKNOWN, np.int32)
    drifters = np.flatnonzero(np.array([name == "drifting" for name in habit]))
    begins[drifters] = np.ceil(cut[drifters] * size[drifters]).astype(np.int32)
    return TimedCrowd(
        data=replace(
            data, label=label, time=_clock(rng, data, position, seconds), duration=seconds
        ),
        habit=habit,
        begins=begins,
        careless=careless,
    )


def _assign_habits(
    rng: np.random.Generator, honest: NDArray[np.bool_], shares: dict[Habit, float]
) -> tuple[Habit | None, ...]:
    numbers = {name: round(share * len(honest)) for name, share in shares.items()}
    pool = rng.permutation(np.flatnonzero(honest))
    if sum(numbers.values()) > len(pool):
        raise DataError(f"There are {len(pool)} honest workers to change, fewer than asked for")
    habits: list[Habit | None] = [None] * len(honest)
    for name, number in numbers.items():
        taken, pool = pool[:number], pool[number:]
        for worker in taken:
            habits[worker] = name
    return tuple(habits)


def _work_order(
    rng: np.random.Generator, data: CrowdData
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each label in its worker's random order [L], and labels per worker [W]."""
    order = np.lexsort((rng.random(data.n_labels), data.worker))
    size = data.labels_per_worker
    starts = np.cumsum(size) - size
    position = np.empty(data.n_labels, np.int64)
    position[order] = np.arange(data.n_labels) - starts[data.worker[order]]
    return position, size


def _durations(rng: np.random.Generator, data: CrowdData) -> Floats:
    logs = rng.normal(0, WORKER_SPREAD, data.n_workers)[data.worker]
    logs += rng.normal(0, ITEM_SPREAD, data.n_items)[data.item]
    logs += rng.normal(0, LABEL_SPREAD, data.n_labels)
    seconds: Floats = USUAL_SECONDS * np.exp(logs)
    return seconds


def _clock(
    rng: np.random.Generator, data: CrowdData, position: NDArray[np.int64], seconds: Floats
) -> Floats:
    """When each label was sent in: one after the other, a session per day."""
    order = np.lexsort((position, data.worker))
    worker = data.worker[order]
    passed = np.cumsum(seconds[order])
    size = data.labels_per_worker
    first = (np.cumsum(size) - size)[worker]
    before = np.concatenate([[0.0], passed])[first]
    begin = EPOCH + rng.uniform(0, 7 * DAY, data.n_workers)[worker]
    time = np.empty(data.n_labels)
    time[order] = begin + passed - before + DAY * (position[order] // LABELS_PER_SESSION)
    return time
