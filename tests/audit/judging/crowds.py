"""Small simulated crowds on which workers are judged, with what is true about them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.judgement import Judgement, judge_crowd
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.simulation.classes import Simulation, simulate

BAD = ("random", "one answer", "adversary")


@cache
def mixed_crowd(classes: int = 3, seed: int = 0) -> Simulation:
    """Sixty workers of every character, about fifty labels each."""
    return simulate(
        items=600,
        workers=60,
        classes=classes,
        labels_per_item=5,
        spammers=0.15,
        adversaries=0.05,
        copiers=0.03,
        features=0,
        seed=seed,
    )


@cache
def judged_crowd(classes: int = 3, seed: int = 0) -> Judgement:
    """The same, judged without gold."""
    return judge_crowd(without_gold(mixed_crowd(classes, seed).data))


def without_gold(data: CrowdData) -> CrowdData:
    """The labels alone."""
    return replace(data, gold=None)


def with_gold(data: CrowdData, truth: NDArray[np.int32], n_items: int, seed: int = 0) -> CrowdData:
    """The labels with the truth of some random items as gold."""
    known = np.random.default_rng(seed).permutation(data.n_items)[:n_items]
    gold = np.full(data.n_items, UNKNOWN)
    gold[known] = truth[known]
    return replace(data, gold=gold)


def workers_called(simulation: Simulation, *names: str) -> NDArray[np.intp]:
    """The codes of workers with these characters."""
    return np.flatnonzero(np.isin(np.array(simulation.character), names))


def share_right(simulation: Simulation) -> NDArray[np.float64]:
    """The share of each worker's labels that is right."""
    data = simulation.data
    hits = np.bincount(
        data.worker, weights=data.label == simulation.truth[data.item], minlength=data.n_workers
    )
    return np.asarray(hits / np.maximum(1, data.labels_per_worker))
