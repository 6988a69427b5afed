"""How sharply a worker tells items apart, and which side they lean to, by the others' scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdcore.audit.comparisons.held_out import HeldOut
from crowdcore.codes import sum_by
from crowdcore.data import Floats
from crowdcore.engine.bradley_terry import chances

SHARPNESS_SD, LEAN_SD = 1.0, 1.0
"""How far workers are taken to differ before they have answered: standard deviations around
sharpness 1, the average, and lean 0."""

N_STEPS = 25
"""Newton steps at most; most workers need five."""

MAX_STEP = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Habits:
    """Numbers of each worker [W], with standard errors.

    Parameters
    ----------
    sharpness
        1 for the average worker, 0 for answers that do not depend on the items, below 0 for
        reversed ones.
    lean
        Log-odds of choosing the left of two equal items.
    """

    sharpness: Floats
    sharpness_error: Floats
    lean: Floats
    lean_error: Floats


def find_habits(held_out: HeldOut, n_workers: int) -> Habits:
    """Fit two numbers to each worker's answers, all workers at once.

    Parameters
    ----------
    held_out
        The comparisons; only those whose items others know are used.
    n_workers
        How many workers there are.

    Returns
    -------
    Habits
        Those of the average worker, with wide errors, where nothing can be compared.
    """
    rows = held_out.known
    worker, difference = held_out.worker[rows], held_out.difference[rows]
    points = held_out.points[rows]
    sharpness, lean = np.ones(n_workers), np.zeros(n_workers)

    def total(values: Floats) -> Floats:
        return sum_by(worker, values, n_workers)

    for _ in range(N_STEPS):
        felt = sharpness[worker] * difference + lean[worker]
        expected = chances(felt, held_out.tie)
        pull, weight = points - expected.points, expected.information
        first = total(pull * difference) - (sharpness - 1) / SHARPNESS_SD**2
        second = total(pull) - lean / LEAN_SD**2
        a = total(weight * difference**2) + 1 / SHARPNESS_SD**2
        b = total(weight * difference)
        c = total(weight) + 1 / LEAN_SD**2
        determinant = a * c - b * b
        step = np.clip((c * first - b * second) / determinant, -MAX_STEP, MAX_STEP)
        step_lean = np.clip((a * second - b * first) / determinant, -MAX_STEP, MAX_STEP)
        sharpness, lean = sharpness + step, lean + step_lean
        if max(np.abs(step).max(initial=0), np.abs(step_lean).max(initial=0)) < 1e-4:  # noqa: PLR2004
            break
    return Habits(
        sharpness=sharpness,
        sharpness_error=np.sqrt(c / determinant),
        lean=lean,
        lean_error=np.sqrt(a / determinant),
    )
