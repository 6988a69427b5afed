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

from crowdcore.bench.accuracy import score, score_classifier
from crowdcore.bench.datasets import DataSet, HeldOut, load
from crowdcore.bench.papers import OnDone, Table
from crowdcore.bench.variants import Variant, variants_of
from crowdcore.data import DataError
from crowdcore.simulation.classes import simulate

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
"""Labels per item; where there is one, nothing can be aggregated before a net learns."""

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
    "The paper had 8,192 numbers per image and ten variations of each image to learn from; here "
    "are 512 numbers and one. It trained for 50 epochs; here held-out items choose how many. "
    "As published: 50 epochs, nothing held out, and the crowd layer as the paper has it, without "
    "a gain, a pace of its own or decay. An epoch of the paper has ten times as many steps."
)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """One method's scores, one per seed; a test score is NaN where no classifier is left."""

    test: list[float]
    labelled: list[float]
    seconds: list[float]
    cpu_seconds: list[float]


def tables(folder: Path, on_done: OnDone) -> list[Table]:
    """Make Table 1 for LabelMe beside the paper's column, for Music, and for digits.

    Parameters
    ----------
    folder : Path
        The folder above the data sets; those that are missing are left out.
    on_done : OnDone
        Called after each method.

    Returns
    -------
    list of Table
        One table per data set, and one of digits.

    Raises
    ------
    DataError
        Neither data set is there.
    """
    paths = [folder / name for name in SETS if (folder / name / "test.npz").exists()]
    if not paths:
        raise DataError(
            f"None of the data sets is in {str(folder)!r}",
            fix=f"Give the folder above {' and '.join(SETS)}, each with a test.npz.",
        )
    return [*(_real(path, on_done) for path in paths), _digits(on_done)]


def taking_part() -> Iterator[Variant]:
    """List every method of the family; the crowd layer once with each of its layers.

    Returns
    -------
    iterator of Variant
        The methods with their settings.
    """
    return variants_of([FAMILY])


def _real(path: Path, on_done: OnDone) -> Table:
    dataset = load(path)
    paper = LABELME if path.name == SETS[0] else None
    rows = []
    for variant in taking_part():
        scores = _together([_measure(variant, dataset, seed) for seed in range(SEEDS)])
        beside = [] if paper is None else _beside(variant, dataset, paper)
        rows.append(_line(variant.title, scores, beside))
        on_done(f"{variant.title} on {dataset.name}")
    header = ["method", "test", "as published", "paper", "labelled", "seconds", "CPU s"]
    if paper is None:
        header = [name for name in header if name not in ("as published", "paper")]
    title = f"Crowd layer, Table 1: {dataset.name}, {dataset.n_tested:,} test items"
    notes = NOTES if paper is None else (*NOTES, LABELME_NOTE)
    return Table(title=title, header=header, rows=rows, notes=notes)


def _beside(variant: Variant, dataset: DataSet, paper: dict[str, str]) -> list[str]:
    """A method that the paper has, trained as it was there, and the paper's own number."""
    if variant.method.id not in {title.split()[0] for title in paper}:
        return ["–", "–"]
    fields = variant.method.config.model_fields
    params = {name: value for name, value in PUBLISHED.items() if name in fields}
    trained = replace(variant, params={**params, **variant.params})
    scores = _together([_measure(trained, dataset, seed) for seed in range(SEEDS)])
    return [_percent(scores.test), paper.get(variant.title, "–")]


def _line(title: str, scores: Scores, beside: list[str]) -> list[str]:
    times = [f"{mean(values):.1f}" for values in (scores.seconds, scores.cpu_seconds)]
    return [title, _percent(scores.test), *beside, _percent(scores.labelled), *times]


def _digits(on_done: OnDone) -> Table:
    """Digits, which are at hand everywhere; every seed draws a crowd of its own."""
    rows = []
    crowds = {
        (redundancy, seed): digits(redundancy, seed)
        for redundancy in REDUNDANCY
        for seed in range(SEEDS)
    }
    for variant in taking_part():
        line = [variant.title]
        for redundancy in REDUNDANCY:
            scores = _together(
                [_measure(variant, crowds[redundancy, seed], seed) for seed in range(SEEDS)]
            )
            line += [_percent(scores.test), _percent(scores.labelled)]
        rows.append(line)
        on_done(f"{variant.title} on digits")
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
    """Let a simulated crowd label digits, and keep others to test on.

    Parameters
    ----------
    redundancy : int
        Labels per item.
    seed : int
        Seed of the split and of the crowd.

    Returns
    -------
    DataSet
        The labelled digits, with held-out ones.
    """
    from sklearn.datasets import load_digits

    points, truth = load_digits(return_X_y=True)
    points = points.astype(np.float32)  # 64 per image
    order = np.random.default_rng(seed).permutation(len(truth))
    learn, test = order[:DIGITS_LEARNT], order[DIGITS_LEARNT:]
    crowd = simulate(truth=truth[learn], labels_per_item=redundancy, seed=seed, **CROWD)
    data = replace(crowd.data, features=points[learn], feature_names=(), gold=None)
    held_out = HeldOut(features=points[test], truth=truth[test].astype(np.int32))
    return DataSet(name="digits", data=data, truth=crowd.truth, unlabelled=0, test=held_out)


def _measure(variant: Variant, dataset: DataSet, seed: int) -> Scores:
    gold = variant.method.needs.gold
    data = replace(dataset.data, gold=dataset.truth) if gold else dataset.data
    begun = time.process_time()
    result = variant.method.fit(data, seed=seed, **variant.params)
    cpu = time.process_time() - begun
    right = score_classifier(result, dataset.test)
    labelled = np.nan if gold else score(result, dataset.truth)
    wall = result.provenance.seconds
    test = np.nan if right is None else right
    return Scores(test=[test], labelled=[labelled], seconds=[wall], cpu_seconds=[cpu])


def _together(runs: list[Scores]) -> Scores:
    return Scores(
        test=[value for scores in runs for value in scores.test],
        labelled=[value for scores in runs for value in scores.labelled],
        seconds=[value for scores in runs for value in scores.seconds],
        cpu_seconds=[value for scores in runs for value in scores.cpu_seconds],
    )


def _percent(shares: list[float]) -> str:
    if np.isnan(shares).any():
        return "–"
    spread = f" ± {100 * stdev(shares):.2f}" if len(shares) > 1 else ""
    return f"{100 * mean(shares):.2f}{spread}"
