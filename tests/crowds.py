"""Small crowds that the tests share."""

from __future__ import annotations

import csv
import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.results.result import Result
from crowdcore.simulation.comparisons import simulate_arena

GOLDEN = Path(__file__).parent / "golden"


@cache
def golden_crowd(n_classes: int = 3) -> CrowdData:
    """The committed crowd behind every golden number; of two classes, the second is the rest."""
    with (GOLDEN / "classes" / "labels.csv").open(newline="") as file:
        triples = [(row["item"], row["worker"], row["label"]) for row in csv.DictReader(file)]
    with (GOLDEN / "classes" / "truth.csv").open(newline="") as file:
        gold = {row["item"]: row["truth"] for row in csv.DictReader(file)}
    data = CrowdData.from_triples(triples, gold=gold)
    if n_classes == data.n_classes:
        return data
    assert data.gold is not None
    label, truth = data.label.clip(max=1), data.gold.clip(max=1)
    return dataclasses.replace(data, label=label, gold=truth, classes=(data.classes[0], "rest"))


@cache
def golden_ratings() -> CrowdData:
    """The committed crowd behind the golden numbers of ratings, with features."""
    with (GOLDEN / "ratings" / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (GOLDEN / "ratings" / "truth.csv").open(newline="") as file:
        truths = list(csv.DictReader(file))
    items = {row["item"]: code for code, row in enumerate(truths)}
    workers = {name: code for code, name in enumerate(sorted({row["worker"] for row in rows}))}
    features = [[float(row[f"f{n}"]) for n in range(1, 5)] for row in truths]
    return CrowdData(
        item=np.array([items[row["item"]] for row in rows]),
        worker=np.array([workers[row["worker"]] for row in rows]),
        label=np.array([float(row["label"]) for row in rows]),
        items=tuple(items),
        workers=tuple(workers),
        kind="ratings",
        gold=np.array([float(row["truth"]) for row in truths]),
        features=np.array(features, np.float32),
    )


def with_some_gold(data: CrowdData, share: int = 3) -> CrowdData:
    """Keep the gold of every third item, for methods that learn from it."""
    assert data.gold is not None
    unknown = np.nan if data.kind == "ratings" else UNKNOWN
    gold = np.where(np.arange(data.n_items) % share == 0, data.gold, unknown)
    return dataclasses.replace(data, gold=gold)


def unseen(result: Result) -> NDArray[np.bool_]:
    """The items by which a result may be judged: all, or those whose gold was not used."""
    return ~(result.data.has_gold & result.provenance.used_gold)


def draw(
    confusion: Floats, truth: NDArray[np.int64], per_item: int, rng: np.random.Generator
) -> CrowdData:
    """Let workers with these matrices [W, true, given] label items with these truths."""
    n_workers, n_classes = confusion.shape[0], confusion.shape[1]
    worker = np.concatenate([rng.permutation(n_workers)[:per_item] for _ in truth])
    item = np.repeat(np.arange(len(truth)), per_item)
    rows = confusion[worker, truth[item]].cumsum(1)
    label = (rng.random(len(item))[:, None] > rows).sum(1).clip(max=n_classes - 1)
    return CrowdData(
        item=item.astype(np.int32),
        worker=worker.astype(np.int32),
        label=label,
        items=tuple(f"i{i}" for i in range(len(truth))),
        workers=tuple(f"w{w}" for w in range(n_workers)),
        classes=tuple("abcdefghij"[:n_classes]),
        gold=truth,
    )


def without_tied_items(data: CrowdData) -> CrowdData:
    """Keep the items whose majority is clear, so that no tie rule plays a part."""
    votes = np.sort(data.votes, axis=1)
    clear = np.flatnonzero(votes[:, -1] > votes[:, -2])
    new = np.full(data.n_items, -1)
    new[clear] = np.arange(len(clear))
    keep = new[data.item] >= 0
    assert data.gold is not None
    return CrowdData(
        item=new[data.item[keep]],
        worker=data.worker[keep],
        label=data.label[keep],
        items=tuple(data.items[i] for i in clear),
        workers=data.workers,
        classes=data.classes,
        gold=data.gold[clear],
    )


@cache
def easy_crowd(n_classes: int = 3) -> CrowdData:
    """Twenty decent workers; no tied items."""
    rng = np.random.default_rng(5)
    right = rng.uniform(0.6, 0.95, 20)[:, None, None]
    eye = np.eye(n_classes)
    confusion = right * eye + (1 - right) / (n_classes - 1) * (1 - eye)
    truth = rng.integers(0, n_classes, 150)
    return without_tied_items(draw(confusion, truth, 7, rng))


@cache
def lopsided_crowd(n_classes: int = 3) -> tuple[CrowdData, Floats]:
    """Workers who take many of class 0 for class 1, never the other way round."""
    rng = np.random.default_rng(7)
    confusion = np.tile(0.9 * np.eye(n_classes) + 0.1 / n_classes, (10, 1, 1))
    confusion[:, 0, :] = 0.05 / n_classes
    confusion[:, 0, 0], confusion[:, 0, 1] = 0.65, 0.3
    confusion /= confusion.sum(2, keepdims=True)
    truth = rng.integers(0, n_classes, 400)
    return draw(confusion, truth, 8, rng), confusion


@cache
def featured_crowd(n_classes: int = 3) -> CrowdData:
    """Items around a corner for each class; the last ten have features but no labels."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, 160)
    features = 1.5 * np.eye(n_classes, 4)[truth] + rng.normal(size=(160, 4))
    item = np.repeat(np.arange(150), 3)
    right = rng.random(450) < 0.7
    label = np.where(
        right, truth[item], (truth[item] + rng.integers(1, n_classes, 450)) % n_classes
    )
    return CrowdData(
        item=item,
        worker=rng.integers(0, 6, 450),
        label=label,
        items=tuple(f"i{i}" for i in range(160)),
        workers=tuple("uvwxyz"),
        classes=tuple("abcd"[:n_classes]),
        gold=truth,
        features=features.astype(np.float32),
    )


def with_twins(data: CrowdData, n: int) -> CrowdData:
    """Give each of the first items, the first one twice, a twin with the same labels and gold."""
    item, worker, label = [data.item], [data.worker], [data.label]
    whose = [*range(n), 0]
    for place, one in enumerate(whose):
        own = np.flatnonzero(data.item == one)[::-1]
        item.append(np.full(len(own), data.n_items + place, data.item.dtype))
        worker.append(data.worker[own])
        label.append(data.label[own])
    return dataclasses.replace(
        data,
        item=np.concatenate(item),
        worker=np.concatenate(worker),
        label=np.concatenate(label),
        items=(*data.items, *(f"twin {place}" for place in range(len(whose)))),
        gold=None if data.gold is None else np.append(data.gold, data.gold[whose]),
    )


def golden_arena() -> CrowdData:
    """Comparisons of twelve items by eight workers, one of them blind and one leaning left."""
    return simulate_arena(
        items=12, workers=8, comparisons=400, sided=0.125, random=0.125, sharp=0, blunt=0, seed=5
    ).data
