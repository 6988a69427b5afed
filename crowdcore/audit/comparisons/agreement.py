"""How far workers agree on which of two items is better."""

from __future__ import annotations

from crowdcore.audit.agreement import Agreement, agreement
from crowdcore.audit.comparisons.pair_answers import pair_answers
from crowdcore.data import CrowdData


def worker_agreement(data: CrowdData, *, seed: int = 0) -> Agreement:
    """Compare every two answers that different workers gave to the same pair of items.

    Parameters
    ----------
    data
        Labels that are comparisons.
    seed
        Of the resamples behind the interval.

    Returns
    -------
    Agreement
        Krippendorff's alpha, where the pairs of items are what is labelled, whichever of the two
        stands on the left.
    """
    return agreement(pair_answers(data), seed=seed)
