"""Does 0.97 mean 97 %? Temperatures, fitted on gold or on labels that were held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore import gold_anchor
from crowdcore.confusion import crowd_shrunk, given_counts
from crowdcore.data import CrowdData, DataError, Floats, Kind
from crowdcore.distributions import TIE_TOLERANCE
from crowdcore.engine.splits import MIN_LABELS_PER_ITEM, one_label_per_item
from crowdcore.results.result import Result

TEMPERATURES = np.exp(np.linspace(-1.0, 3.0, 81))
"""Temperatures to try."""

HELD_OUT_SHARE = 0.1
"""The share of the labels that is held out, where so many items have enough."""

MIN_HELD_OUT_LABELS = 50
"""Fewer labels than this tell nothing of the temperature."""

MIN_GOLD_ITEMS: Mapping[Kind, int] = {
    "classes": 30,
    "ratings": gold_anchor.MIN_GOLD_ITEMS,
    "sets": 30,
}
"""Fewer items with gold than this tell nothing of the temperature, or of the level of ratings."""

LEAST_PROBABILITY = TIE_TOLERANCE
"""What is added to probabilities before their logarithm is taken."""


def tempered(posterior: Floats, temperature: float) -> Floats:
    """Soften or sharpen distributions; the order of the classes stays.

    Parameters
    ----------
    posterior
        Distributions [N, K].
    temperature
        Above 1 softens, below 1 sharpens.

    Returns
    -------
    numpy.ndarray
        Distributions [N, K].
    """
    logs = np.log(np.clip(posterior, 1e-12, 1)) / temperature
    logs -= logs.max(1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(1, keepdims=True)
    return logs


def calibrated(
    result: Result,
    basis: Literal["labels", "gold"],
    refit: Callable[[CrowdData], Result],
    rng: np.random.Generator,
) -> Result:
    """Temper a result's posterior so that it fits gold, or labels that were held out.

    Labels can only show errors that workers do not share: where the whole crowd is wrong in the
    same way, the probabilities stay too high, and the note says so.

    Parameters
    ----------
    result
        The result to calibrate.
    basis
        What the probabilities are to fit.
    refit
        Fits the same method on fewer labels.
    rng
        Chooses the labels that are held out.

    Returns
    -------
    Result
        The same truths with other probabilities, and a note.

    Raises
    ------
    DataError
        If there is too little gold, or too few labels to hold some out.
    """
    if basis == "gold":
        log_likelihoods = _log_likelihoods_of_gold(result)
    else:
        log_likelihoods = _log_likelihoods_of_labels(result, refit, rng)
    temperature = float(TEMPERATURES[log_likelihoods.argmax()])
    is_given = _gold_was_given(result)
    posterior = tempered(result.posterior, temperature)
    posterior[is_given] = result.posterior[is_given]  # known answers stay known
    note = f"Probabilities were calibrated on held-out labels (temperature {temperature:.2f}). "
    note += "Errors that the whole crowd shares cannot be seen without gold."
    if basis == "gold":
        note = f"Probabilities were calibrated on gold (temperature {temperature:.2f}); "
        note += "compared with the same gold they look better than they are."
    provenance = replace(
        result.provenance,
        temperature=temperature,
        notes=(*result.provenance.notes, note),
    )
    return result.with_fields(posterior=posterior, provenance=provenance)


def check_gold(n_gold: int, *, used: bool, minimum: int) -> None:
    """Refuse to calibrate on gold that is too little, or that the method has used.

    Parameters
    ----------
    n_gold
        How many items have gold.
    used
        Whether the method learns from it.
    minimum
        How many items are needed.

    Raises
    ------
    DataError
        If it cannot be used.
    """
    if used:
        raise DataError(
            "Gold that the method has used cannot calibrate it",
            fix='Calibrate on "labels", or switch use_gold off.',
        )
    if n_gold < minimum:
        raise DataError(
            f"Calibration needs {minimum} items with gold; there are {n_gold}",
            fix="Add gold, or calibrate in another way.",
        )


def _log_likelihoods_of_labels(
    result: Result, refit: Callable[[CrowdData], Result], rng: np.random.Generator
) -> Floats:
    """Log-likelihood of held-out labels at each temperature."""
    data = result.data
    held_out = _held_out_labels(data, rng, _gold_was_given(result))
    keep = np.ones(data.n_labels, bool)
    keep[held_out] = False
    without = refit(data.only(keep))
    confusion = crowd_shrunk(given_counts(without))
    likelihood = confusion[data.worker[held_out], :, data.label[held_out]]  # [H, true]
    posterior = without.posterior[data.item[held_out]]

    def log_likelihood(temperature: float) -> float:
        probability = (tempered(posterior, temperature) * likelihood).sum(1)
        return float(np.log(probability + LEAST_PROBABILITY).sum())

    return np.array([log_likelihood(temperature) for temperature in TEMPERATURES])


def _log_likelihoods_of_gold(result: Result) -> Floats:
    """Log-likelihood of the gold at each temperature."""
    has_gold = result.data.has_gold
    check_gold(
        result.data.n_gold,
        used=result.provenance.used_gold,
        minimum=MIN_GOLD_ITEMS[result.data.kind],
    )
    assert result.data.gold is not None  # or there would be too little
    posterior, gold = result.posterior[has_gold], result.data.gold[has_gold]

    def log_likelihood(temperature: float) -> float:
        probability = tempered(posterior, temperature)[np.arange(len(gold)), gold]
        return float(np.log(probability + LEAST_PROBABILITY).sum())

    return np.array([log_likelihood(temperature) for temperature in TEMPERATURES])


def _gold_was_given(result: Result) -> NDArray[np.bool_]:
    """Which items [N] have gold that the method used; nothing there needs calibrating."""
    return result.data.has_gold & result.provenance.used_gold


def _held_out_labels(
    data: CrowdData, rng: np.random.Generator, gold_was_given: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """One label of some of the items that have enough, never two of one item."""
    candidates = one_label_per_item(data, rng, ~gold_was_given)
    if len(candidates) < MIN_HELD_OUT_LABELS:
        raise DataError(
            f"Calibration holds out labels of items with at least {MIN_LABELS_PER_ITEM}; "
            f"{len(candidates)} items have so many, {MIN_HELD_OUT_LABELS} are needed",
            fix="Switch calibration off, or calibrate on gold.",
        )
    n_held_out = max(MIN_HELD_OUT_LABELS, int(HELD_OUT_SHARE * data.n_labels))
    return candidates[:n_held_out]
