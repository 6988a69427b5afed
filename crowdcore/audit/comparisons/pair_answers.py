"""Comparisons as labels of pairs of items, whichever of the two stood on the left."""

from __future__ import annotations

import numpy as np

from crowdcore.data import CrowdData, DataError
from crowdcore.engine.comparisons import TIE
from crowdcore.engine.pair_graph import PairGraph


def pair_answers(data: CrowdData) -> CrowdData:
    """Turn comparisons into labels of pairs.

    Parameters
    ----------
    data
        Labels that are comparisons.

    Returns
    -------
    CrowdData
        Its items are the compared pairs, named "A or B"; "left" is the answer for the one that
        comes first in the data.

    Raises
    ------
    DataError
        If the labels are of another kind.
    """
    if data.other is None:
        raise DataError(f"These labels are {data.kind}, not comparisons")
    graph = PairGraph(data.item, data.other, data.n_items)
    turned = data.item > data.other
    winner = np.where(turned & (data.label != TIE), 1 - data.label, data.label)
    first, second = (np.array(data.items, object)[codes] for codes in (graph.first, graph.second))
    return CrowdData(
        item=graph.pair.astype(np.int32),
        worker=data.worker,
        label=winner,
        items=tuple(f"{one} or {other}" for one, other in zip(first, second, strict=True)),
        workers=data.workers,
        classes=data.classes,
    )
