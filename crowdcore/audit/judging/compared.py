"""Every worker's labels against what the rest of the crowd believes, in one pass over the folds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.crowd_fit import CrowdFit, Peculiarities
from crowdcore.audit.judging.labels import JudgedLabels, Rows
from crowdcore.audit.judging.worker_types import Atoms
from crowdcore.data import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Labels against beliefs that the judged worker had no fold in."""

    labels: JudgedLabels
    atoms: Atoms
    n_compared: Rows  # [W]
    log_likelihoods: Floats  # [W, A]
    peculiar: Peculiarities  # of all workers
    hit: NDArray[Any]  # [L] the others' belief in the given class
    error: NDArray[Any]  # [L] how probable the given class is if the worker errs
    untold_hit: NDArray[Any]  # [L] as `hit`, before the item's own gold is told
    untold_error: NDArray[Any]  # [L] as `error`, likewise
    as_crowd: NDArray[Any]  # [L] how probable the given class is from somebody like the crowd
    likeliest: NDArray[np.int32]  # [L] the class that the others believe in most

    @cached_property
    def habit(self) -> Floats:
        """Each worker's own shares of the classes [W, K]."""
        return own_habit(self.labels.given_counts)


def compare(labels: JudgedLabels, fit: CrowdFit) -> Comparison:
    """Compare every label with what the others believe.

    Parameters
    ----------
    labels
        The labels, with groups that speak with one voice.
    fit
        The fit to them.

    Returns
    -------
    Comparison
        The others' beliefs about each label, and likelihoods of each worker's labels.
    """
    atoms = Atoms.from_fit(fit)
    n_workers, k = labels.n_workers, labels.n_classes
    hit, error, untold_hit, untold_error, as_crowd = np.zeros((5, len(labels.item)), labels.dtype)
    likeliest = np.zeros(len(labels.item), np.int32)
    n_compared = np.zeros(n_workers, np.int64)
    logs = np.zeros((n_workers, len(atoms.type)))
    peculiar = _nothing_peculiar(n_workers, k)
    habit = own_habit(labels.given_counts)
    for fold in fit.left_out(labels):
        rows, evidence = fold.rows, fold.evidence
        worker = labels.worker[rows]
        hit[rows], untold_hit[rows] = evidence.hit, fold.untold.hit
        error[rows] = evidence.error(habit, worker)
        untold_error[rows] = fold.untold.error(habit, worker)
        as_crowd[rows] = evidence.expected(0.0)
        likeliest[rows] = evidence.likeliest
        use = labels.comparable[rows]
        workers, index, sizes = np.unique(worker[use], return_inverse=True, return_counts=True)
        if not len(workers):
            continue
        usable = evidence.only(use)
        counts = np.bincount(index * k + usable.given, minlength=len(workers) * k)
        given_counts = counts.reshape(-1, k).astype(np.float64)
        logs[workers], chosen = atoms.log_likelihoods(usable, sizes, given_counts)
        n_compared[workers] = sizes
        for field in fields(Peculiarities):
            getattr(peculiar, field.name)[workers] = getattr(chosen, field.name)
    return Comparison(
        labels=labels,
        atoms=atoms,
        n_compared=n_compared,
        log_likelihoods=logs,
        peculiar=peculiar,
        hit=hit,
        error=error,
        untold_hit=untold_hit,
        untold_error=untold_error,
        as_crowd=as_crowd,
        likeliest=likeliest,
    )


def own_habit(given_counts: Floats) -> Floats:
    """How often workers give each class [W, K], drawn to even shares by half a label each."""
    shares = given_counts + 0.5
    values: Floats = shares / shares.sum(1, keepdims=True)
    return values


def _nothing_peculiar(n_workers: int, n_classes: int) -> Peculiarities:
    codes, shares = np.zeros((3, n_workers), np.int64), np.zeros((3, n_workers))
    return Peculiarities(
        favourite=codes[0],
        surplus=shares[0],
        taken=codes[1],
        taken_for=codes[2],
        n_taken=shares[1],
        n_of_taken=shares[2],
        true_counts=np.zeros((n_workers, n_classes)),
    )
