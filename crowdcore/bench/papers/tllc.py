"""TLLC on Income and Music genre: what completion does to aggregation, and what TLLC needs for it.

The slides of the paper give numbers for the sensitivity on Income alone; all else is drawn there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from crowdcore.artefacts.completion import Completion
from crowdcore.bench import ranks
from crowdcore.bench.accuracy import DataSet, load_named, score
from crowdcore.bench.papers import Table, Told
from crowdcore.bench.papers.mmlc import percent
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.registry import get_method
from crowdcore.simulation import Simulation, simulate

OPTIONS = ("seeds",)
SETS = ("income", "music_genre")
AGGREGATORS = ("mv", "gtic", "dewsmv", "mnldp", "aali", "lagnn", "ds")
RAW, WSLC, TLLC = "raw", "wslc", "tllc"
SEEDS, FEW = 10, 5
"""Seeds of the comparison, and of the studies beside it."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "TLLC": {},
    "without filtering": {"filtering": False},
    "without pretraining": {"pretraining": False},
    "without transfer": {"transfer": False},
    "first class that is within": {"condition": "first within"},
    "always the nearest class": {"condition": "nearest"},
    "networks see features alone": {"others": False},
    "adverse workers as all others": {"robust": False},
    "both of these, as the paper has it": {"others": False, "robust": False},
}
SENSITIVITY = {
    "dimension": (2, (2, 4, 6, 8, 10), (74.94, 71.83, 71.66, 73.33, 72.66)),
    "epochs": (2, (2, 4, 6, 8, 10), (74.94, 72.33, 73.00, 72.16, 72.83)),
    "batch": (32, (8, 16, 32, 64, 128), (71.83, 72.50, 74.94, 73.33, 73.16)),
}
"""A setting, its default, the values that the paper tried, and its accuracies on Income."""

SHARES = (0.0, 0.1, 0.2, 0.3)
"""Of the workers, how many are adversaries."""

SIZES = (1_000, 2_000, 4_000)
"""Items of the crowds by which the cost is measured."""

HOW = (
    "Accuracy in percent on all items: mean ± sample standard deviation over seeds; settings are "
    "the defaults. A tied item counts by the chance that a draw would have been right."
)
RANKS_NOTE = (
    "A block is a data set with an aggregating method; those of one data set are akin, so that "
    "the p values are too small."
)


@dataclass(frozen=True, kw_only=True)
class Filling:
    """A way to complete data, or to leave them as they are."""

    name: str
    varies: bool  # with the seed
    make: Callable[[CrowdData, int], Completion | None]


def tables(folder: Path, told: Told, seeds: int = SEEDS) -> list[Table]:
    """The comparison with its ranks, then what the paper studies beside it."""
    datasets = find(folder)
    few = min(FEW, seeds)
    found = {
        (dataset.name, filling.name): _accuracies(dataset, filling, seeds, told)
        for dataset in datasets
        for filling in FILLINGS
    }
    studies = [_ablations(datasets, few, told)]
    if datasets[0].name == SETS[0]:
        studies.append(_sensitivity(datasets[0], few, told))
    return [
        *(_comparison(dataset, found) for dataset in datasets),
        _ranked(found),
        *studies,
        _source(datasets),
        _adversaries(few, told),
        _cost(told),
    ]


def find(folder: Path) -> list[DataSet]:
    """The paper's data sets that are in the folder."""
    return load_named(folder, SETS)


def complete(data: CrowdData, seed: int, **params: Any) -> Completion:
    """Complete by TLLC, without the networks that are for show."""
    method = get_method("tllc", "complete")
    return method.complete(data, seed=seed, **{"contrast": False, **params})


def aggregated(dataset: DataSet, name: str, completion: Completion | None, seed: int = 0) -> float:
    """The accuracy of an aggregating method."""
    result = get_method(name).fit(dataset.data, seed=seed, completion=completion)
    return score(result, dataset.truth, shared=True)


FILLINGS = (
    Filling(name=RAW, varies=False, make=lambda data, seed: None),
    Filling(
        name=WSLC,
        varies=False,
        make=lambda data, seed: get_method("wslc", "complete").complete(data, seed=seed),
    ),
    Filling(name=TLLC, varies=True, make=complete),
)

Found = dict[tuple[str, str], dict[str, list[float]]]


def _accuracies(
    dataset: DataSet, filling: Filling, seeds: int, told: Told
) -> dict[str, list[float]]:
    """Of every aggregating method, one a seed; what does not depend on a seed is not repeated."""
    found: dict[str, list[float]] = {name: [] for name in AGGREGATORS}
    for seed in range(seeds):
        completion = filling.make(dataset.data, seed)
        for name, shares in found.items():
            settled = not filling.varies and seed > 1 and shares[0] == shares[1]
            shares.append(shares[0] if settled else aggregated(dataset, name, completion, seed))
        told(f"{filling.name} on {dataset.name}, seed {seed}")
    return found


def _comparison(dataset: DataSet, found: Found) -> Table:
    fillings = [filling.name for filling in FILLINGS]
    of = {filling: found[dataset.name, filling] for filling in fillings}
    rows = [[name, *(percent(of[one][name]) for one in fillings)] for name in AGGREGATORS]
    rows.append(["average", *(percent([mean(map(mean, of[one].values()))]) for one in fillings)])
    title = f"Accuracy after completion: {dataset.name}"
    notes = (HOW, "The paper shows bars without numbers.")
    return Table(title=title, header=["aggregation", *fillings], rows=rows, notes=notes)


def _ranked(found: Found) -> Table:
    names = dict.fromkeys(name for name, _ in found)
    scores = {
        filling.name: [mean(one) for name in names for one in found[name, filling.name].values()]
        for filling in FILLINGS
    }
    table = ranks.compare(scores).table("How the completions rank")
    return replace(table, notes=(*table.notes, RANKS_NOTE))


def _ablations(datasets: list[DataSet], seeds: int, told: Told) -> Table:
    rows = []
    for name, params in ABLATIONS.items():
        row = [name]
        for dataset in datasets:
            done = [complete(dataset.data, seed, **params) for seed in range(seeds)]
            row.append(percent(aggregated(dataset, "mv", one) for one in done))
            row.append(f"{mean(one.n_filled / one.n_cells for one in done):.2f}")
            told(f"{name} on {dataset.name}")
        rows.append(row)
    header = [part for dataset in datasets for part in (dataset.name, "filled")]
    return Table(
        title="Majority vote after TLLC, and what it needs",
        header=["TLLC", *header],
        rows=rows,
        notes=(HOW, f"Seeds 0 to {seeds - 1}; filled is the share of all cells."),
    )


def _sensitivity(dataset: DataSet, seeds: int, told: Told) -> Table:
    rows = []
    for setting, (default, values, paper) in SENSITIVITY.items():
        for value, theirs in zip(values, paper, strict=True):
            params = {} if value == default else {setting: value}
            shares = [
                aggregated(dataset, "mv", complete(dataset.data, seed, **params))
                for seed in range(seeds)
            ]
            rows.append([setting, str(value), percent(shares), f"{theirs:.2f}"])
            told(f"{setting} {value}")
    return Table(
        title=f"Majority vote after TLLC with other settings: {dataset.name}",
        header=["setting", "value", "ours", "paper"],
        rows=rows,
        notes=(HOW, f"Seeds 0 to {seeds - 1}. An epoch draws pairs here; in the paper it has all."),
    )


def _source(datasets: list[DataSet]) -> Table:
    """How right majorities are before and after filtering, class by class."""
    from crowdcore.engine.adverse import relate
    from crowdcore.engine.transfer import Source

    rows = []
    for dataset in datasets:
        data, parts = dataset.data, []
        for keep in (np.ones(data.n_workers, bool), ~relate(data).adverse):
            votes = data.only(keep[data.worker]).votes.astype(np.float64)
            for filtering in (False, True):
                rng = np.random.default_rng(0)
                parts.append(Source.of(votes, rng, filtering=filtering))
        for code, name in [*enumerate(data.classes), (UNKNOWN, "all")]:
            cells = [_right(dataset, one, code) for one in parts]
            rows.append([dataset.name, name, *cells])
    return Table(
        title="Right majorities in the source domain, before and after filtering",
        header=["data set", "class", "all workers", "filtered", "without adverse", "filtered"],
        rows=rows,
        notes=("In percent of the items with that majority, whose number is in brackets.",),
    )


def _right(dataset: DataSet, source: Any, code: int) -> str:
    chosen = slice(None) if code == UNKNOWN else source.answer == code
    right = dataset.truth[source.item[chosen]] == source.answer[chosen]
    return f"{100 * right.mean():.1f} ({len(right):,})" if len(right) else "– (0)"


def prolific(share: float, seed: int, items: int = 400) -> tuple[DataSet, Simulation]:
    """A crowd in which adversaries label twice as much as others: these lose half of theirs."""
    crowd = simulate(
        items=items, workers=30, labels_per_item=7, adversaries=share, spammers=0.0, seed=seed
    )
    honest = np.array([one != "adversary" for one in crowd.character])
    lost = np.random.default_rng(seed).random(crowd.data.n_labels) < 0.5  # noqa: PLR2004  (half)
    data = crowd.data.only(~(honest[crowd.data.worker] & lost))
    bare = replace(data, gold=None)
    return DataSet(name="simulated", data=bare, truth=crowd.truth, unlabelled=0), crowd


def _adversaries(seeds: int, told: Told) -> Table:
    rows = [_with_adversaries(share, seeds, told) for share in SHARES]
    return Table(
        title="Majority vote with prolific adversaries",
        header=[
            "adversaries",
            "of labels",
            RAW,
            WSLC,
            "TLLC, not robust",
            "TLLC",
            "found",
            "wrong",
        ],
        rows=rows,
        notes=(
            HOW,
            f"Simulated crowds of 30 workers and 4 classes, seeds 0 to {seeds - 1}; adversaries "
            "label twice as much as others. Found are those who were left out, wrong the honest "
            "ones among these.",
        ),
    )


def _with_adversaries(share: float, seeds: int, told: Told) -> list[str]:
    shares: dict[str, list[float]] = {}
    given, found, liars, wrong = [], 0, 0, 0
    for seed in range(seeds):
        dataset, crowd = prolific(share, seed)
        adversary = np.array([one == "adversary" for one in crowd.character])
        given.append(adversary[dataset.data.worker].mean())
        done = {filling.name: filling.make(dataset.data, seed) for filling in FILLINGS[:2]}
        done["not robust"] = complete(dataset.data, seed, robust=False)
        done[TLLC] = ours = complete(dataset.data, seed)
        for name, completion in done.items():
            shares.setdefault(name, []).append(aggregated(dataset, "mv", completion))
        adverse = ours.artefacts["workers"]["adverse"]
        found, liars = found + int((adverse & adversary).sum()), liars + int(adversary.sum())
        wrong += int((adverse & ~adversary).sum())
    told(f"{share:.0%} adversaries")
    cells = [percent(one) for one in shares.values()]
    return [f"{share:.0%}", f"{mean(given):.0%}", *cells, f"{found} of {liars}", str(wrong)]


def _cost(told: Told) -> Table:
    rows = []
    for items in SIZES:
        data = simulate(items=items, workers=50).data
        begun = time.process_time()
        get_method("tllc", "complete").complete(data)
        seconds = time.process_time() - begun
        rows.append([f"{items:,}", f"{data.n_labels:,}", f"{seconds:.1f}"])
        told(f"{items:,} items")
    return Table(
        title="What TLLC costs",
        header=["items", "labels", "seconds"],
        rows=rows,
        notes=("The processor's seconds; 50 workers, 16 features, default settings.",),
    )
