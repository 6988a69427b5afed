"""How well checking some items by hand would tell how often truths are right."""

from __future__ import annotations

import math

from crowdcore.results.result import wilson

SIZES = (30, 100, 400)
"""Numbers of checked items that a person who plans a check may choose from."""


def margin(n_checked: int, accuracy: float = 0.5) -> float:
    """Return how far from the truth the accuracy found by a check may lie.

    Parameters
    ----------
    n_checked : int
        Items that are drawn at random and checked.
    accuracy : float, optional
        The share of them that is right. One half gives the widest interval, so that without
        it the margin is the worst case.

    Returns
    -------
    float
        Half the width of the 95 % Wilson interval, as a share.

    Examples
    --------
    >>> round(margin(100), 3)
    0.096
    >>> round(margin(100, accuracy=0.9), 3)
    0.06
    """
    low, high = wilson(accuracy * n_checked, n_checked)
    return float(high - low) / 2


def describe_margins() -> str:
    """Say in a sentence how many checked items would give which interval.

    Returns
    -------
    str
        The worst-case margins for `SIZES`, in points, rounded up.
    """
    margins = ", ".join(f"{n:,} items to ±{math.ceil(100 * margin(n))} points" for n in SIZES)
    return f"Checking items drawn at random would tell it: {margins} (95%, at worst)."
