"""The level and the range of truths that are numbers, from gold: no rating can tell them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.data import Floats
from crowdcore.distributions import Z_95
from crowdcore.results.result import Result

MIN_GOLD_ITEMS = 5
"""Fewer gold items than this say too little."""

SLOPE_DEVIATION = 0.5
"""How far the slope is expected to be from 1 before any gold is seen."""

MAX_LEFT_OUT = 500
"""So many gold items are left out, one at a time: more do not change what is concluded."""

MIN_SLOPE = 0.05
"""The order of the truths stays, whatever a few gold items say."""


def anchored(result: Result) -> Result:
    """Move and stretch truths to fit the gold, if that predicts gold that was left out better.

    Parameters
    ----------
    result
        A `NumberResult` whose method has not seen the gold.

    Returns
    -------
    Result
        The mapped truths, or the same ones, with a note that says which and by how much; it can
        no longer be scored on the gold.
    """
    gold, is_log = result.data.gold, result.provenance.params.get("scale") == "log"
    assert gold is not None  # or the settings would have been refused
    forth = np.log if is_log else _same
    usable = result.data.has_gold & np.isfinite(result.truth)
    if is_log:
        usable &= np.where(np.isnan(gold), 0.0, gold) > 0
    truth, known = forth(result.truth[usable]), forth(gold[usable])
    n = int(usable.sum())
    fields, note = {}, f"Only {n} gold items can be compared; {MIN_GOLD_ITEMS} are needed."
    if n >= MIN_GOLD_ITEMS:
        before = _root_mean_square((known - truth)[:MAX_LEFT_OUT])
        after = _root_mean_square(_left_out_errors(truth, known))
        errors = (
            f"on gold items that were left out its error is {after:.3g} instead of {before:.3g}"
        )
        note = (
            f"The truths stay as they are: moved and stretched to fit the {n} gold items, {errors}."
        )
        if after < before:
            shift, slope, noise = _fitted(truth, known)
            fields = _mapped(result, shift, slope, noise / np.sqrt(n), is_log=is_log)
            if (network := result.artefact(TrainedNetwork)) is not None:
                # What is predicted for further items must be on the same scale.
                result = result.with_artefacts(network.moved(shift, slope))
            note = (
                f"The truths were fitted to the {n} gold items (times {slope:.3g}, "
                f"plus {shift:.3g}{', on logarithms' if is_log else ''}): {errors}."
            )
    provenance = replace(result.provenance, used_gold=True, notes=(*result.provenance.notes, note))
    return result.with_fields(provenance=provenance, **fields)


def _mapped(
    result: Result, shift: float, slope: float, error: float, *, is_log: bool
) -> dict[str, Floats]:
    """The truths and their intervals after the map, whose own error counts too."""
    forth, back = (np.log, np.exp) if is_log else (_same, _same)
    with np.errstate(invalid="ignore"):
        truth, low, high = (
            shift + slope * forth(ends) for ends in (result.truth, result.low, result.high)
        )
    wider = np.sqrt(((high - low) / 2) ** 2 + (Z_95 * error) ** 2)
    middle = (low + high) / 2
    scale = back(truth) / result.truth if is_log else 1.0
    spread = np.sqrt(
        (slope * result.spread * scale) ** 2 + (error * (back(truth) if is_log else 1)) ** 2
    )
    return {
        "truth": back(truth),
        "spread": spread,
        "low": back(middle - wider),
        "high": back(middle + wider),
    }


def _fitted(truth: Floats, gold: Floats) -> tuple[float, float, float]:
    """The shift, the slope drawn towards 1, and the deviation of what is left."""
    noise = max(float((gold - truth).std(ddof=1)), 1e-9 * (float(np.ptp(gold)) or 1.0))
    centred = truth - truth.mean()
    pull = noise**2 / SLOPE_DEVIATION**2
    slope = float((centred @ (gold - gold.mean()) + pull) / (centred @ centred + pull))
    slope = max(slope, MIN_SLOPE)
    shift = float(gold.mean() - slope * truth.mean())
    return (
        shift,
        slope,
        float(np.sqrt(((gold - shift - slope * truth) ** 2).sum() / (len(gold) - 1))),
    )


def _left_out_errors(truth: Floats, gold: Floats) -> Floats:
    """Errors of gold items under the map that all other gold items give [n]."""
    keep = ~np.eye(min(len(truth), MAX_LEFT_OUT), len(truth), dtype=bool)
    errors = []
    for item, others in enumerate(keep):
        shift, slope, _ = _fitted(truth[others], gold[others])
        errors.append(gold[item] - shift - slope * truth[item])
    return np.array(errors)


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))


def _same(values: Floats) -> Floats:
    return values
