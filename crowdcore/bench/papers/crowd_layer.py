"""The crowd layer's Table 1 on LabelMe, Music likewise, and digits that a simulated crowd labelled.

Every method of the family of classifiers takes part, with its default settings. No method sees
a true answer, but for the ceiling, which learns from nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from crowdcore.bench.accuracy import DataSet, HeldOut, load, score, score_classifier
from crowdcore.bench.papers import Table, Told
from crowdcore.bench.rows import Row, rows_of
from crowdcore.data import DataError
from crowdcore.simulation import simulate

SEEDS = 5
FAMILY = "classifiers"
SETS = ("labelme", "music")

LABELME = {
    "dl_mv": "76.74 ± 1.21",
    "dl_ds": "80.79 ± 1.07",
    "dl_em": "82.68 ± 0.98",
    "dl_dn": "81.89 ± 1.11",
    "dl_wdn": "82.41 ± 0.78",
    "crowd_layer vw": "81.05 ± 0.90",
    "crowd_layer vw+b": "81.89 ± 0.89",
    "crowd_layer mw": "83.15 ± 0.88",
    "dl_true": "90.04 ± 0.65",
}
"""The paper's Table 1: test accuracy over 30 runs, of 8,192 features and augmented images."""

PUBLISHED = {"epochs": 50, "held_out": 0.0, "decay": 0.0, "pace": 1.0, "gain": False}
"""How the paper trained; what of it a method knows. Batch, rate and dropout are the defaults."""

DIGITS_LEARNT = 1000
REDUNDANCY = (3, 1)
"""Labels an item; where there is one, nothing can be aggregated before a net learns."""

CROWD: dict[str, Any] = {
    "workers": 20, "classes": 10, "careless": 0.3, "spammers": 0.2, "class_bias": 0.2,
}  # fmt: skip

NOTES = (
    "Accuracy in percent: mean ± sample standard deviation over seeds 0 to 4, default settings. "
    "Test: the classifier alone, on items that nobody labelled. Labelled: the truths of the items "
    "that it learnt from. A dash: the method leaves no classifier, or was told these answers.",
    "dl_true learns from the true answers and is a ceiling; all others see labels alone.",
)
LABELME_NOTE = (
    "The paper had 8,192 numbers an image and ten variations of each image to learn from; here "
    "are 512 numbers and one. It trained for 50 epochs; here held-out items choose how many. "
    "As published: 50 epochs, nothing held out, and the crowd layer as the paper has it, without "
    "a gain, a pace of its own or decay. An epoch of the paper has ten times as many steps."
)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """One method's scores, one a seed; a test score is NaN where no classifier is left."""

    test: list[float]
    labelled: list[float]
    seconds: list[float]
    cpu_seconds: list[float]


def tables(folder: Path, told: Told) -> list[Table]:
    """LabelMe beside the paper's column, Music, and digits; the sets that the folder has."""
    places = [folder / name for name in SETS if (folder / name / "test.npz").exists()]
    if not places:
        raise DataError(
            f"None of the data sets is in {str(folder)!r}",
            fix=f"Give the folder above {' and '.join(SETS)}, each with a test.npz.",
        )
    return [*(_real(place, told) for place in places), _digits(told)]


def taking_part() -> Iterator[Row]:
    """Every method of the family; the crowd layer once with each of its layers."""
    return rows_of([FAMILY])


def _real(place: Path, told: Told) -> Table:
    dataset = load(place)
    paper = LABELME if place.name == SETS[0] else None
    rows = []
    for row in taking_part():
        found = _together([_measure(row, dataset, seed) for seed in range(SEEDS)])
        beside = [] if paper is None else _beside(row, dataset, paper)
        rows.append(_line(row.title, found, beside))
        told(f"{row.title} on {dataset.name}")
    header = ["method", "test", "as published", "paper", "labelled", "seconds", "CPU s"]
    if paper is None:
        header = [name for name in header if name not in ("as published", "paper")]
    title = f"Crowd layer, Table 1: {dataset.name}, {dataset.n_tested:,} test items"
    notes = NOTES if paper is None else (*NOTES, LABELME_NOTE)
    return Table(title=title, header=header, rows=rows, notes=notes)


def _beside(row: Row, dataset: DataSet, paper: dict[str, str]) -> list[str]:
    """A method that the paper has, trained as it was there, and the paper's own number."""
    if row.method.id not in {title.split()[0] for title in paper}:
        return ["–", "–"]
    known = row.method.config.model_fields
    params = {name: value for name, value in PUBLISHED.items() if name in known}
    trained = replace(row, params={**params, **row.params})
    found = _together([_measure(trained, dataset, seed) for seed in range(SEEDS)])
    return [_percent(found.test), paper.get(row.title, "–")]


def _line(title: str, found: Scores, beside: list[str]) -> list[str]:
    times = [f"{mean(one):.1f}" for one in (found.seconds, found.cpu_seconds)]
    return [title, _percent(found.test), *beside, _percent(found.labelled), *times]


def _digits(told: Told) -> Table:
    """Digits, which are at hand everywhere; every seed draws a crowd of its own."""
    rows = []
    crowds = {
        (redundancy, seed): digits(redundancy, seed)
        for redundancy in REDUNDANCY
        for seed in range(SEEDS)
    }
    for row in taking_part():
        line = [row.title]
        for redundancy in REDUNDANCY:
            found = _together(
                [_measure(row, crowds[redundancy, seed], seed) for seed in range(SEEDS)]
            )
            line += [_percent(found.test), _percent(found.labelled)]
        rows.append(line)
        told(f"{row.title} on digits")
    header = ["method"]
    for redundancy in REDUNDANCY:
        kind = f"{redundancy} label{'s' if redundancy > 1 else ''}"
        header += [f"test, {kind}", f"labelled, {kind}"]
    crowd = (
        f"{DIGITS_LEARNT:,} images of 64 points to learn from, the other 797 to test on; "
        f"{CROWD['workers']} simulated workers, a fifth of them spammers."
    )
    return Table(
        title="Simulated crowds on digits", header=header, rows=rows, notes=(crowd, *NOTES)
    )


def digits(redundancy: int, seed: int) -> DataSet:
    """Digits that a simulated crowd labelled, and others to test on."""
    from sklearn.datasets import load_digits

    points, truth = load_digits(return_X_y=True)
    points = points.astype(np.float32)  # 64 an image
    order = np.random.default_rng(seed).permutation(len(truth))
    learn, test = order[:DIGITS_LEARNT], order[DIGITS_LEARNT:]
    crowd = simulate(truth=truth[learn], labels_per_item=redundancy, seed=seed, **CROWD)
    data = replace(crowd.data, features=points[learn], feature_names=(), gold=None)
    held_out = HeldOut(features=points[test], truth=truth[test].astype(np.int32))
    return DataSet(name="digits", data=data, truth=crowd.truth, unlabelled=0, test=held_out)


def _measure(row: Row, dataset: DataSet, seed: int) -> Scores:
    gold = row.method.needs.gold
    data = replace(dataset.data, gold=dataset.truth) if gold else dataset.data
    begun = time.process_time()
    result = row.method.fit(data, seed=seed, **row.params)
    cpu = time.process_time() - begun
    right = score_classifier(result, dataset.test)
    labelled = np.nan if gold else score(result, dataset.truth)
    wall = result.provenance.seconds
    test = np.nan if right is None else right
    return Scores(test=[test], labelled=[labelled], seconds=[wall], cpu_seconds=[cpu])


def _together(found: list[Scores]) -> Scores:
    return Scores(
        test=[value for one in found for value in one.test],
        labelled=[value for one in found for value in one.labelled],
        seconds=[value for one in found for value in one.seconds],
        cpu_seconds=[value for one in found for value in one.cpu_seconds],
    )


def _percent(shares: list[float]) -> str:
    if np.isnan(shares).any():
        return "–"
    spread = f" ± {100 * stdev(shares):.2f}" if len(shares) > 1 else ""
    return f"{100 * mean(shares):.2f}{spread}"
