"""The labels of a worker that are worse than their others, so that these can be left out alone."""

from __future__ import annotations

import numpy as np

from crowdcore.audit.judging.labels import Rows
from crowdcore.audit.judging.worker_evidence import WorkerEvidence
from crowdcore.data import CrowdData


def worse_part(data: CrowdData, evidence: WorkerEvidence, code: int) -> Rows:
    """Find the labels that a drifting worker gave late, or a hasty one too fast.

    Parameters
    ----------
    data
        The labels that were judged.
    evidence
        What was found.
    code
        The worker's code.

    Returns
    -------
    numpy.ndarray
        Rows of the data, ascending; none for a worker who is neither. Labels without a time are
        never among the late ones.
    """
    rows = np.flatnonzero(data.worker == code)
    is_worse = np.zeros(len(rows), bool)
    if evidence.is_drifting[code]:
        time = rows.astype(np.float64) if data.time is None else data.time[rows]
        last = np.flatnonzero(evidence.place[rows] == evidence.drift_at[code])[0]
        later = (time == time[last]) & (np.arange(len(rows)) > last)
        is_worse |= later | (time > time[last])
    if evidence.is_hasty[code]:
        is_worse |= evidence.is_fast[rows]
    return rows[is_worse]
