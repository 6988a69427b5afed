"""Adverse workers: those whose labels have nothing to do with the others', or oppose them.

A worker is compared with what all others say of the same items, weighed by how far these agree
with everybody else beyond chance. So workers who oppose the rest lose their say before others
are judged by them. Labels alone decide; features and gold play no part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import CrowdData, Floats

MOST_SWEEPS = 30
SETTLED = 1e-4

DOUBT = 2.0
"""Labels at the rate of chance that are added to what each worker gave."""

ODDS = 1.5
"""How much likelier "unrelated" must be than "half as related as is usual".

On 256 simulated crowds (2 to 10 classes, 3 or 5 labels an item, up to 30 % adversaries, 15 %
spammers) this misses 7 % of both and takes 1.3 % of the honest for one of them; odds of 1 make
as many mistakes, but more about the honest, and larger ones make more.
"""

BLOCK = 262_144
"""Labels that are worked on at a time."""

TINY = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Relation:
    """How each worker's labels go with the others'."""

    kappa: Floats  # [W] agreement beyond chance: 1 is perfect, 0 chance, below 0 opposed
    adverse: NDArray[np.bool_]  # [W]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Compared:
    hits: Floats  # [W] labels that the others would have given too
    n: Floats  # [W] labels that could be compared
    chance: Floats  # [W] how often they would agree if the worker answered blindly


def relate(data: CrowdData) -> Relation:
    """Compare every worker with the others until nobody's weight moves."""
    # Ordered, so that the file's order changes no sum.
    order = np.lexsort((data.label, data.worker, data.item))
    item, worker, label = data.item[order], data.worker[order], data.label[order]
    data = replace(data, item=item, worker=worker, label=label, time=None)
    weight = np.ones(data.n_workers)
    for _ in range(MOST_SWEEPS):
        seen = _compare(data, weight)
        share = (seen.hits + DOUBT * seen.chance) / (seen.n + DOUBT)
        kappa = (share - seen.chance) / np.maximum(1 - seen.chance, TINY)
        # Halfway only: weights that depend on each other would swing.
        moved, weight = np.abs(kappa - weight).max(initial=0), (kappa + weight) / 2
        if moved < SETTLED:
            break
    return Relation(kappa=kappa, adverse=_is_adverse(seen, kappa))


def _compare(data: CrowdData, weight: Floats) -> _Compared:
    """Set each label beside the answer of the others, whose votes weigh so much."""
    n_classes = data.n_classes
    cell = data.item.astype(np.int64) * n_classes + data.label
    size = data.n_items * n_classes
    scores = np.bincount(cell, weight[data.worker], minlength=size).reshape(-1, n_classes)
    keys = data.n_workers * n_classes
    counts, hits = np.zeros(keys), np.zeros(data.n_workers)
    expected = np.zeros((n_classes, data.n_workers))
    for at in range(0, data.n_labels, BLOCK):
        part = slice(at, at + BLOCK)
        item, worker, label = data.item[part], data.worker[part], data.label[part]
        others = scores[item]
        row = np.arange(len(item))
        others[row, label] -= weight[worker]
        best = others >= others.max(1, keepdims=True) - TINY
        # Where all classes are alike to the others, they have no answer.
        told = ~best.all(1) & (data.labels_per_item[item] > 1)
        best = best * (told / best.sum(1))[:, None]
        hits += np.bincount(worker, best[row, label], minlength=data.n_workers)
        counts += np.bincount(worker.astype(np.int64) * n_classes + label, told, minlength=keys)
        for code in range(n_classes):
            expected[code] += np.bincount(worker, best[:, code], minlength=data.n_workers)
    given = counts.reshape(-1, n_classes)
    n = given.sum(1)
    chance = np.einsum("wk,kw->w", given, expected) / np.maximum(n, 1) ** 2
    return _Compared(hits=hits, n=n, chance=np.where(n > 0, chance, 1 / n_classes))


def _is_adverse(seen: _Compared, kappa: Floats) -> NDArray[np.bool_]:
    """Whose labels chance explains better than half of the usual relation [W]."""
    above = np.where(kappa > 0, seen.n, 0)
    usual = (above * kappa).sum() / max(1, above.sum())
    chance = np.clip(seen.chance, TINY, 1 - TINY)
    related = np.clip(chance + (1 - chance) * usual / 2, TINY, 1 - TINY)
    odds = seen.hits * np.log(related / chance)
    odds += (seen.n - seen.hits) * np.log((1 - related) / (1 - chance))
    adverse: NDArray[np.bool_] = odds < -np.log(ODDS)
    return adverse
