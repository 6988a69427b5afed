"""How much shorter a fit is that begins from the last result, after a small change of the data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdcore.bench.datasets import DataSet
from crowdcore.bench.speed import crowd
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.method import Method
from crowdcore.results.result import Result

N_GOLD = 10
"""Answers that the user gives."""

PROTOCOL = (
    "Steps from scratch > steps from the last result (how many times less CPU time; items whose "
    "truth differs). Default settings, one fit each. From scratch, too, a fit ends before its "
    "numbers stand still, and where there are several fixed points either may end at another one."
)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What the last result saw, what is to be fitted now, and with which settings."""

    name: str
    before: CrowdData
    after: CrowdData
    params: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Gain:
    """One method after one change."""

    data: str
    method: str
    change: str
    cold_steps: int
    warm_steps: int
    cold_seconds: float  # of CPU
    warm_seconds: float
    truths: int  # items whose truth differs


def changes(dataset: DataSet, seed: int = 0) -> Iterator[Change]:
    """Change data as users do: labels that come, workers who go, answers that are given.

    Parameters
    ----------
    dataset : DataSet
        A data set with its truth.
    seed : int, default 0
        Seed of what is drawn.

    Yields
    ------
    Change
        The data before and after.
    """
    data, rng = replace(dataset.data, gold=None), np.random.default_rng(seed)
    kept = np.sort(rng.permutation(data.n_labels)[data.n_labels // 100 :])
    fewer = replace(data, item=data.item[kept], worker=data.worker[kept], label=data.label[kept])
    yield Change(name="1 % more labels", before=fewer, after=data, params={})
    by_labels = np.argsort(data.labels_per_worker)
    for name, index in (("median", len(by_labels) // 2), ("busiest", -1)):
        remaining = data.without_workers([data.workers[by_labels[index]]])
        yield Change(name=f"{name} worker off", before=data, after=remaining, params={})
    gold = np.full(data.n_items, UNKNOWN, np.int32)
    answered = rng.permutation(np.flatnonzero(dataset.truth >= 0))[:N_GOLD]
    gold[answered] = dataset.truth[answered]
    on_done = replace(data, gold=gold)
    yield Change(name=f"{N_GOLD} answers", before=data, after=on_done, params={"use_gold": True})


def compare(
    methods: Sequence[Method],
    datasets: Sequence[DataSet],
    on_done: Callable[[str], None] = lambda _: None,
) -> list[Gain]:
    """Fit every method after every change, from scratch and from the last result.

    Parameters
    ----------
    methods : sequence of Method
        The methods to fit.
    datasets : sequence of DataSet
        What to fit them on.
    on_done : callable, optional
        Called after each pair of fits.

    Returns
    -------
    list of Gain
        One per data set, change and method.
    """
    gains = []
    for dataset in datasets:
        for change in changes(dataset):
            for method in methods:
                gains.append(_gain(dataset.name, method, change))
                on_done(f"{method.id} on {dataset.name}")
    return gains


def simulated(n_labels: int, n_classes: int) -> DataSet:
    """Simulate a crowd as the benchmark of speed does.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    n_classes : int
        Number of classes.

    Returns
    -------
    DataSet
        The crowd with its truth.
    """
    made = crowd(n_labels, n_classes, seed=0)
    name = f"{n_labels:,} simulated"
    return DataSet(name=name, data=made.data, truth=made.truth, unlabelled=0)


def _gain(name: str, method: Method, change: Change) -> Gain:
    first = method.fit(change.before)
    cold, cold_seconds = _timed(lambda: method.fit(change.after, **change.params))
    warm, warm_seconds = _timed(
        lambda: method.fit(change.after, warm_start=first.warm_start, **change.params)
    )
    return Gain(
        data=name,
        method=method.id,
        change=change.name,
        cold_steps=cold.provenance.steps,
        warm_steps=warm.provenance.steps,
        cold_seconds=cold_seconds,
        warm_seconds=warm_seconds,
        truths=int((cold.truth != warm.truth).sum()),
    )


def _timed(fit: Callable[[], Result]) -> tuple[Result, float]:
    began = time.process_time()
    result = fit()
    return result, time.process_time() - began
