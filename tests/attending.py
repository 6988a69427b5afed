"""Results that leave attention and an embedding behind, made by hand."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from crowdcore.artefacts.attention import AttentionMap
from crowdcore.artefacts.embedding import Embedding
from crowdcore.confusion import worker_confusion
from crowdcore.data import Floats
from crowdcore.results.result import Result


def attending(
    result: Result,
    *,
    kind: Literal["additive", "dot"] = "dot",
    neighbourhood: Literal["full", "two_hop"] = "full",
    sides: tuple[str, ...] = ("workers", "items"),
    weighs_labels: bool = True,
) -> Result:
    """Give a result the artefacts of a graph network: alike workers attend to each other."""
    data = result.data
    rng = np.random.default_rng(0)
    states = {
        "workers": _spread(worker_confusion(result).reshape(data.n_workers, -1), rng),
        "items": _spread(np.hstack([result.posterior, data.votes]), rng),
    }
    pairs = {side: _pair(states[side], kind) if side in sides else (None, None) for side in states}
    right = result.truth[data.item] == data.label
    attention = AttentionMap(
        data=data,
        kind=kind,
        slope=0.0,
        neighbourhood=neighbourhood,
        workers_query=pairs["workers"][0],
        workers_key=pairs["workers"][1],
        items_query=pairs["items"][0],
        items_key=pairs["items"][1],
        of_worker=_softmax(right * 1.0, data.worker) if weighs_labels else None,
        of_item=_softmax(right * 1.0, data.item) if weighs_labels else None,
    )
    embedding = Embedding(workers=states["workers"], items=states["items"])
    return result.with_artefacts(attention, embedding)


def _spread(points: Floats, rng: np.random.Generator, size: int = 8) -> Floats:
    points = points - points.mean(0)
    points = points / max(float(points.std()), 1e-9)
    mixed: Floats = points @ rng.normal(size=(points.shape[1], size)) / points.shape[1] ** 0.5
    return mixed + 0.05 * rng.normal(size=mixed.shape)


def _pair(states: Floats, kind: str) -> tuple[Any, Any]:
    if kind == "dot":
        return states, states / states.shape[1] ** 0.5
    return states[:, 0], states[:, 1]


def _softmax(score: Floats, group: Any) -> Floats:
    weight = np.exp(score)
    shares: Floats = weight / np.bincount(group, weights=weight)[group]
    return shares
