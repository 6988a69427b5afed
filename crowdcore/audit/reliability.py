"""How often results are right that say they are sure: confidence against gold."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowdcore.results.result import Result, wilson

N_BINS = 10
"""Steps between chance and certainty in which confidence is counted."""


def reliability(result: Result) -> pd.DataFrame | None:
    """Compare confidence with accuracy on gold, in bins of confidence.

    Parameters
    ----------
    result
        The truths, and data with gold that the method has not used.

    Returns
    -------
    pandas.DataFrame or None
        One row per bin that holds an item. Columns: low, high, n, confidence, accuracy,
        accuracy_low, accuracy_high. None without gold to compare.
    """
    has_gold = result.data.has_gold
    if result.data.gold is None or not has_gold.any() or result.provenance.used_gold:
        return None
    confidence = result.confidence[has_gold]
    right = result.truth[has_gold] == result.data.gold[has_gold]
    edges = np.linspace(1 / result.data.n_classes, 1, N_BINS + 1)
    index = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, N_BINS - 1)
    n = np.bincount(index, minlength=N_BINS)
    hits = np.bincount(index, weights=right, minlength=N_BINS)
    low, high = wilson(hits, n)
    size = np.maximum(n, 1)
    frame = pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "n": n,
            "confidence": np.bincount(index, weights=confidence, minlength=N_BINS) / size,
            "accuracy": hits / size,
            "accuracy_low": low,
            "accuracy_high": high,
        }
    )
    return frame[frame["n"] > 0].reset_index(drop=True)


def calibration_error(bins: pd.DataFrame) -> float:
    """Return the expected calibration error: the mean gap between confidence and accuracy.

    Parameters
    ----------
    bins
        What `reliability` returns.
    """
    gap = (bins["confidence"] - bins["accuracy"]).abs()
    return float((gap * bins["n"]).sum() / bins["n"].sum())
