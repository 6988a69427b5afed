"""How often methods are right on data sets whose truth is known, as papers report it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.bench.datasets import DataSet, HeldOut
from crowdcore.data import UNKNOWN, Codes, DataError
from crowdcore.distributions import TIE_TOLERANCE
from crowdcore.results.result import Result

if TYPE_CHECKING:
    from crowdcore.method import Method


PROTOCOL = (
    "Labels are used as published: every row counts, repeated ones too. "
    "Gold never reaches a method; it is compared afterwards, over all items of truth.csv that "
    "have labels. A tie goes to the lowest class."
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The accuracies of one method on one data set, one per seed; or why there are none."""

    dataset: str
    method: str
    accuracies: tuple[float, ...] = ()
    held_out: tuple[float, ...] = ()  # of the classifier, on the items of test.npz
    seconds: tuple[float, ...] = ()
    cpu_seconds: tuple[float, ...] = ()
    reason: str = ""

    @property
    def mean(self) -> float | None:
        """The mean accuracy."""
        return mean(self.accuracies) if self.accuracies else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over the seeds; None for one seed."""
        return stdev(self.accuracies) if len(self.accuracies) > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Turn the cell into plain JSON values."""
        return {
            "dataset": self.dataset,
            "method": self.method,
            "accuracy": self.mean,
            "sd": self.spread,
            "accuracies": list(self.accuracies),
            "held_out": list(self.held_out),
            "seconds": list(self.seconds),
            "cpu_seconds": list(self.cpu_seconds),
            "reason": self.reason,
        }


def score(result: Result, truth: Codes, *, shared: bool = False) -> float:
    """Compute the share of items with a known truth that are right; a tie goes to the lowest class.

    Parameters
    ----------
    result : Result
        What a method found.
    truth : ndarray
        Class codes [N]; UNKNOWN where the truth is not known.
    shared : bool, default False
        Count a tied item by the chance that a draw would have been right.

    Returns
    -------
    float
        The accuracy, from 0 to 1.
    """
    scored = np.flatnonzero(truth != UNKNOWN)
    best = result.posterior >= result.posterior.max(1, keepdims=True) - TIE_TOLERANCE
    answer = np.where(result.tied, best.argmax(1), result.truth)
    right = (answer == truth)[scored].astype(float)
    if shared:
        hit = best[scored, np.maximum(truth[scored], 0)] / best[scored].sum(1)
        right = np.where(result.tied[scored], hit * (truth[scored] >= 0), right)
    return float(right.mean())


def score_classifier(result: Result, test: HeldOut | None) -> float | None:
    """Compute the share of held-out items that a result's classifier gets right.

    Parameters
    ----------
    result : Result
        What a method found.
    test : HeldOut or None
        Items that nobody labelled.

    Returns
    -------
    float or None
        The accuracy, from 0 to 1; None without a classifier or without held-out items.
    """
    from crowdcore.engine.learning.classifier import Classifier

    classifier = Classifier.from_result(result)
    if classifier is None or test is None:
        return None
    return float((classifier.predict(test.features).argmax(1) == test.truth).mean())


def measure(method: Method, dataset: DataSet, repeats: int, **params: Any) -> Cell:
    """Run a method with seeds 0, 1, …; one that does not depend on its seed runs twice.

    Parameters
    ----------
    method : Method
        The method to run.
    dataset : DataSet
        What to run it on.
    repeats : int
        How many seeds.
    **params
        Settings of the method.

    Returns
    -------
    Cell
        Accuracies and times, or the reason why there are none.
    """
    cell = partial(Cell, dataset=dataset.name, method=method.id)
    if method.needs.gold:
        return cell(reason="It learns from gold, which no method gets to see here.")
    if unmet := method.needs.unmet(dataset.data):
        return cell(reason=" ".join(unmet))
    accuracies: list[float] = []
    held_out: list[float] = []
    seconds: list[float] = []
    cpu_seconds: list[float] = []
    first: Result | None = None
    for seed in range(repeats):
        begun = time.process_time()
        try:
            result = method.fit(dataset.data, seed=seed, **params)
        except DataError as error:
            return cell(reason=str(error))
        if seed == 1 and first is not None and _same(first, result):
            break
        accuracies.append(score(result, dataset.truth))
        if (right := score_classifier(result, dataset.test)) is not None:
            held_out.append(right)
        seconds.append(result.provenance.seconds)
        cpu_seconds.append(time.process_time() - begun)
        first = first or result
    return cell(
        accuracies=tuple(accuracies),
        held_out=tuple(held_out),
        seconds=tuple(seconds),
        cpu_seconds=tuple(cpu_seconds),
    )


def compare(
    methods: Sequence[Method],
    datasets: Sequence[DataSet],
    *,
    repeats: int,
    on_done: Callable[[str], None] = lambda _: None,
) -> list[Cell]:
    """Run every method on every data set.

    Parameters
    ----------
    methods : sequence of Method
        The methods to run.
    datasets : sequence of DataSet
        What to run them on.
    repeats : int
        How many seeds.
    on_done : callable, optional
        Called with a short text after each pair.

    Returns
    -------
    list of Cell
        One cell per pair.
    """
    cells = []
    for dataset in datasets:
        for method in methods:
            cells.append(measure(method, dataset, repeats))
            on_done(f"{method.id} on {dataset.name}")
    return cells


def common_sets(cells: Sequence[Cell]) -> list[str]:
    """Name the data sets on which every method ran that ran anywhere; only these can be averaged.

    Parameters
    ----------
    cells : sequence of Cell
        Outcomes of all pairs.

    Returns
    -------
    list of str
        Names of data sets.
    """
    ran = {cell.method for cell in cells if cell.accuracies}
    names = dict.fromkeys(cell.dataset for cell in cells)
    gaps = {cell.dataset for cell in cells if cell.method in ran and not cell.accuracies}
    return [name for name in names if name not in gaps]


def macro_average(cells: Sequence[Cell], method: str, datasets: Sequence[str]) -> float | None:
    """Compute a method's mean accuracy, every data set counting the same.

    Parameters
    ----------
    cells : sequence of Cell
        Outcomes of all pairs.
    method : str
        The method's id.
    datasets : sequence of str
        Names of the data sets to average.

    Returns
    -------
    float or None
        The mean; None where the method ran on none of them.
    """
    chosen = [cell for cell in cells if cell.method == method and cell.dataset in datasets]
    values = [cell.mean for cell in chosen if cell.mean is not None]
    return mean(values) if values else None


def _same(first: Result, second: Result) -> bool:
    return np.array_equal(first.posterior, second.posterior) and np.array_equal(
        first.truth, second.truth
    )
