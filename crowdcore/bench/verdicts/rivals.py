"""Other ways to judge workers, to be measured beside ours: rules on truths, and peers' scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.workers import worker_table
from crowdcore.data import CrowdData, Floats
from crowdcore.registry import fit
from crowdcore.results.classes import ClassResult
from crowdcore.results.result import wilson

MIN_COMPARED = 5
MIN_FAVOURITE_SHARE = 0.95
MAX_SHARE_OF_CHANCE = 0.9


@dataclass(frozen=True, kw_only=True, eq=False)
class RulesOnTruths:
    """Workers against the truths of a method, which their own votes are part of."""

    hits: Floats  # [W]
    n_compared: Floats  # [W]
    accused: NDArray[np.bool_]  # [W]


def rules_on_truths(data: CrowdData, method: str = "ds") -> RulesOnTruths:
    """Accuse by Wilson intervals on the truths of a method, as this program once did.

    Parameters
    ----------
    data
        Labels of the kind "classes".
    method
        The method that infers the truths.

    Returns
    -------
    RulesOnTruths
        Accused is who gives one class nearly always, or whose interval holds chance, or lies
        below it, and does not reach the crowd's accuracy.
    """
    result: ClassResult = fit(data, method)  # type: ignore[assignment]
    usable = data.labels_per_item[data.item] > 1
    worker, item, given = data.worker[usable], data.item[usable], data.label[usable]
    n = np.bincount(worker, minlength=data.n_workers).astype(np.float64)
    is_hit = result.truth[item] == given
    hits: Floats = np.bincount(worker, weights=is_hit, minlength=data.n_workers).astype(np.float64)
    low, high = wilson(hits, n)
    key = data.worker.astype(np.int64) * data.n_classes + data.label
    counts = np.bincount(key, minlength=data.n_workers * data.n_classes)
    shares = counts.reshape(-1, data.n_classes) / np.maximum(data.labels_per_worker, 1)[:, None]
    chance = shares @ result.posterior.mean(0)
    crowd = hits.sum() / max(1.0, n.sum())
    favourite = shares.argmax(1)
    rows = np.arange(data.n_workers)
    is_favourite = (result.truth[data.item] == favourite[data.worker]).astype(np.float64)
    seen = np.bincount(data.worker, weights=is_favourite, minlength=data.n_workers)
    top = shares[rows, favourite]
    surely = wilson(top * data.labels_per_worker, data.labels_per_worker)[0]
    one_answer = (top >= MIN_FAVOURITE_SHARE) & (
        surely > seen / np.maximum(data.labels_per_worker, 1)
    )
    inverted = high < MAX_SHARE_OF_CHANCE * chance
    random = (low <= chance) & (high < crowd)
    return RulesOnTruths(
        hits=hits, n_compared=n, accused=(n >= MIN_COMPARED) & (one_answer | inverted | random)
    )


def peer_scores(data: CrowdData) -> dict[str, Floats]:
    """Score workers as peers do, the more suspicious the higher.

    Parameters
    ----------
    data
        Labels of the kind "classes".

    Returns
    -------
    dict
        Scores [W] by name: MACE's share of labels given without looking, Raykar and Yu's spammer
        score, and agreement with the majority.
    """
    spamming = fit(data, "mace")
    majority: ClassResult = fit(data, "mv")  # type: ignore[assignment]
    table = worker_table(fit(data, "ds"))
    same = majority.truth[data.item] == data.label
    agreed = np.bincount(data.worker, weights=same, minlength=data.n_workers)
    return {
        "MACE": 1 - spamming.worker_scores["trust"],
        "Raykar and Yu": -table["spammer_score"].to_numpy(),
        "agreement with the majority": -agreed / np.maximum(data.labels_per_worker, 1),
    }
