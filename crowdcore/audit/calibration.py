"""Does 0.97 mean 97 %? Temperatures, reliability, and a result's estimate of its own accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.workers import crowd_shrunk, given_counts
from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.result import CONFIDENCE, TIE, Result, wilson

if TYPE_CHECKING:
    import pandas as pd

TEMPERATURES = np.exp(np.linspace(-1.0, 3.0, 81))
HELD_OUT = 0.1
FEWEST_LABELS, FEWEST_GOLD = 50, 30
FEWEST_PER_ITEM = 3
"""Labels an item must have for one of them to be held out."""

DROP = 1.92
"""A log-likelihood so far below its maximum bounds a 95 % interval: half of chi-square's 3.84."""

BINS = 10


def tempered(posterior: Floats, temperature: float) -> Floats:
    """Soften (above 1) or sharpen (below 1) distributions; their order stays."""
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
    """Temper a result's posterior; `refit` fits the same method on fewer labels.

    Labels can only show errors that workers do not share: where the whole crowd is wrong in the
    same way, the estimate of the accuracy is too high, and the note says so.
    """
    logliks = _gold_fit(result) if basis == "gold" else _label_fit(result, refit, rng)
    best = int(logliks.argmax())
    likely = TEMPERATURES[logliks >= logliks[best] - DROP]
    told = _told(result)
    posterior = tempered(result.posterior, TEMPERATURES[best])
    posterior[told] = result.posterior[told]  # known answers stay known
    note = (
        f"Probabilities were calibrated on held-out labels (temperature {TEMPERATURES[best]:.2f}). "
    )
    note += "Errors that the whole crowd shares cannot be seen without gold."
    if basis == "gold":
        note = f"Probabilities were calibrated on gold (temperature {TEMPERATURES[best]:.2f}); "
        note += "compared with the same gold they look better than they are."
    provenance = replace(
        result.provenance,
        temperature=float(TEMPERATURES[best]),
        expected_accuracy=_expected_accuracy(result, float(TEMPERATURES[best]), likely),
        notes=(*result.provenance.notes, note),
    )
    return replace(result, posterior=posterior, provenance=provenance)


def reliability(result: Result) -> pd.DataFrame | None:
    """Confidence against accuracy on gold, in bins of confidence; None without gold to compare.

    Columns: low, high, n, confidence, accuracy, accuracy_low, accuracy_high.
    """
    import pandas as pd

    known = result.data.has_gold
    if result.data.gold is None or not known.any() or result.provenance.used_gold:
        return None
    confidence = result.confidence[known]
    right = result.truth[known] == result.data.gold[known]
    edges = np.linspace(1 / result.data.n_classes, 1, BINS + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, BINS - 1)
    n = np.bincount(place, minlength=BINS)
    hits = np.bincount(place, weights=right, minlength=BINS)
    low, high = wilson(hits, n)
    size = np.maximum(n, 1)
    frame = pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "n": n,
            "confidence": np.bincount(place, weights=confidence, minlength=BINS) / size,
            "accuracy": hits / size,
            "accuracy_low": low,
            "accuracy_high": high,
        }
    )
    return frame[frame["n"] > 0].reset_index(drop=True)


def calibration_error(bins: pd.DataFrame) -> float:
    """The expected calibration error: mean gap between confidence and accuracy."""
    gap = (bins["confidence"] - bins["accuracy"]).abs()
    return float((gap * bins["n"]).sum() / bins["n"].sum())


def check_gold(n_gold: int, *, used: bool) -> None:
    """Refuse to calibrate on gold that is too little, or that the method has used."""
    if used:
        raise DataError(
            "Gold that the method has used cannot calibrate it",
            fix='Calibrate on "labels", or switch use_gold off.',
        )
    if n_gold < FEWEST_GOLD:
        raise DataError(
            f"Calibration needs {FEWEST_GOLD} items with gold; there are {n_gold}",
            fix='Add gold, or calibrate on "labels".',
        )


def _label_fit(
    result: Result, refit: Callable[[CrowdData], Result], rng: np.random.Generator
) -> Floats:
    """Log-likelihood of held-out labels at each temperature."""
    data = result.data
    held = _held_out(data, rng, _told(result))
    keep = np.ones(data.n_labels, bool)
    keep[held] = False
    rest = refit(data.only(keep))
    confusion = crowd_shrunk(given_counts(rest))
    given = confusion[data.worker[held], :, data.label[held]]  # [held, true]
    posterior = rest.posterior[data.item[held]]
    return np.array(
        [np.log((tempered(posterior, t) * given).sum(1) + TIE).sum() for t in TEMPERATURES]
    )


def _gold_fit(result: Result) -> Floats:
    """Log-likelihood of the gold at each temperature."""
    known = result.data.has_gold
    check_gold(result.data.n_gold, used=result.provenance.used_gold)
    assert result.data.gold is not None  # or there would be too little
    posterior, gold = result.posterior[known], result.data.gold[known]
    rows = np.arange(len(gold))
    return np.array([np.log(tempered(posterior, t)[rows, gold] + TIE).sum() for t in TEMPERATURES])


def _told(result: Result) -> NDArray[np.bool_]:
    """Which items [N] have an answer that the method was told; nothing there needs calibrating."""
    return result.data.has_gold & result.provenance.used_gold


def _held_out(
    data: CrowdData, rng: np.random.Generator, told: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """One label of some of the items that have enough, never two of one item."""
    order = rng.permutation(data.n_labels)
    _, first = np.unique(data.item[order], return_index=True)
    able = order[first]
    able = able[data.labels_per_item[data.item[able]] >= FEWEST_PER_ITEM]
    able = able[~told[data.item[able]]]
    if len(able) < FEWEST_LABELS:
        raise DataError(
            f"Calibration holds out labels of items with at least {FEWEST_PER_ITEM}; "
            f"{len(able)} items have so many, {FEWEST_LABELS} are needed",
            fix="Switch calibration off, or calibrate on gold.",
        )
    most = max(FEWEST_LABELS, int(HELD_OUT * data.n_labels))
    return rng.permutation(able)[:most]


def _expected_accuracy(
    result: Result, temperature: float, likely: Floats
) -> tuple[float, float, float]:
    """Mean confidence, with an interval for the temperature and for the items' own luck.

    Items whose answer was told do not count.
    """
    labelled = (result.data.labels_per_item > 0) & ~_told(result)
    means = []
    for t in (temperature, likely[-1], likely[0]):
        top = tempered(result.posterior[labelled], float(t)).max(1)
        luck = CONFIDENCE * float(np.sqrt((top * (1 - top)).sum())) / len(top)
        means.append((float(top.mean()), luck))
    (point, _), (low, luck_low), (high, luck_high) = means
    return point, max(0.0, low - luck_low), min(1.0, high + luck_high)
