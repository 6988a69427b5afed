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

from crowdcore.artefacts.adverse_workers import AdverseWorkers
from crowdcore.artefacts.artefact import pick
from crowdcore.artefacts.completion import Completion
from crowdcore.bench import ranks
from crowdcore.bench.accuracy import score
from crowdcore.bench.datasets import DataSet, load_named
from crowdcore.bench.papers import OnDone, Table
from crowdcore.bench.papers.mmlc import percent
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.registry import get_method
from crowdcore.simulation.classes import Simulation, simulate

OPTIONS = ("seeds",)
SETS = ("income", "music_genre")
AGGREGATORS = ("mv", "gtic", "dewsmv", "mnldp", "aali", "lagnn", "ds")
RAW, WSLC, TLLC = "raw", "wslc", "tllc"
SEEDS, STUDY_SEEDS = 10, 5
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

PROTOCOL = (
    "Accuracy in percent on all items: mean ± sample standard deviation over seeds; settings are "
    "the defaults. A tied item counts by the chance that a draw would have been right."
)
RANKS_NOTE = "Blocks (set with method) of one data set are akin, so the p values are too small."


@dataclass(frozen=True, kw_only=True)
class Filling:
    """A way to complete data, or to leave them as they are."""

    name: str
    varies: bool  # with the seed
    make: Callable[[CrowdData, int], Completion | None]


def tables(folder: Path, on_done: OnDone, seeds: int = SEEDS) -> list[Table]:
    """Make the comparison with its ranks, then what the paper studies beside it.

    Parameters
    ----------
    folder : Path
        The folder above the data sets.
    on_done : OnDone
        Called after each finished piece.
    seeds : int, default SEEDS
        Seeds of the comparison.

    Returns
    -------
    list of Table
        Comparison, ranks, ablations, sensitivity, source domain, adversaries and cost.
    """
    datasets = find(folder)
    study_seeds = min(STUDY_SEEDS, seeds)
    accuracies = {
        (dataset.name, filling.name): _accuracies(dataset, filling, seeds, on_done)
        for dataset in datasets
        for filling in FILLINGS
    }
    studies = [_ablations(datasets, study_seeds, on_done)]
    if datasets[0].name == SETS[0]:
        studies.append(_sensitivity(datasets[0], study_seeds, on_done))
    return [
        *(_comparison(dataset, accuracies) for dataset in datasets),
        _ranked(accuracies),
        *studies,
        _source(datasets),
        _adversaries(study_seeds, on_done),
        _cost(on_done),
    ]


def find(folder: Path) -> list[DataSet]:
    """Read the paper's data sets that are in the folder.

    Parameters
    ----------
    folder : Path
        The folder above the data sets.

    Returns
    -------
    list of DataSet
        At least one data set.

    Raises
    ------
    DataError
        None is there.
    """
    return load_named(folder, SETS)


def complete(data: CrowdData, seed: int, **params: Any) -> Completion:
    """Complete by TLLC, without the networks that only the pages show.

    Parameters
    ----------
    data : CrowdData
        The labels that were given.
    seed : int
        The seed.
    **params
        Settings of TLLC.

    Returns
    -------
    Completion
        The labels that were filled in.
    """
    method = get_method("tllc", "complete")
    return method.complete(data, seed=seed, **{"contrast": False, **params})


def aggregated(dataset: DataSet, name: str, completion: Completion | None, seed: int = 0) -> float:
    """Compute the accuracy of an aggregating method.

    Parameters
    ----------
    dataset : DataSet
        A data set with its truth.
    name : str
        The method's id.
    completion : Completion or None
        Labels that were filled in, if any.
    seed : int, default 0
        The method's seed.

    Returns
    -------
    float
        The accuracy, from 0 to 1; ties count by chance.
    """
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

Accuracies = dict[tuple[str, str], dict[str, list[float]]]


def _accuracies(
    dataset: DataSet, filling: Filling, seeds: int, on_done: OnDone
) -> dict[str, list[float]]:
    """Of every aggregating method, one per seed; what does not depend on a seed is not repeated."""
    shares_by_method: dict[str, list[float]] = {name: [] for name in AGGREGATORS}
    for seed in range(seeds):
        completion = filling.make(dataset.data, seed)
        for name, shares in shares_by_method.items():
            settled = not filling.varies and seed > 1 and shares[0] == shares[1]
            shares.append(shares[0] if settled else aggregated(dataset, name, completion, seed))
        on_done(f"{filling.name} on {dataset.name}, seed {seed}")
    return shares_by_method


def _comparison(dataset: DataSet, accuracies: Accuracies) -> Table:
    fillings = [filling.name for filling in FILLINGS]
    shares = {filling: accuracies[dataset.name, filling] for filling in fillings}
    rows = [
        [name, *(percent(shares[filling][name]) for filling in fillings)] for name in AGGREGATORS
    ]
    rows.append(
        ["average", *(percent([mean(map(mean, shares[filling].values()))]) for filling in fillings)]
    )
    title = f"Accuracy after completion: {dataset.name}"
    notes = (PROTOCOL, "The paper shows bars without numbers.")
    return Table(title=title, header=["aggregation", *fillings], rows=rows, notes=notes)


def _ranked(accuracies: Accuracies) -> Table:
    names = dict.fromkeys(name for name, _ in accuracies)
    scores = {
        filling.name: [
            mean(shares) for name in names for shares in accuracies[name, filling.name].values()
        ]
        for filling in FILLINGS
    }
    table = ranks.compare(scores).table("How the completions rank")
    return replace(table, notes=(*table.notes, RANKS_NOTE))


def _ablations(datasets: list[DataSet], seeds: int, on_done: OnDone) -> Table:
    rows = []
    for name, params in ABLATIONS.items():
        row = [name]
        for dataset in datasets:
            completions = [complete(dataset.data, seed, **params) for seed in range(seeds)]
            row.append(percent(aggregated(dataset, "mv", made) for made in completions))
            row.append(f"{mean(made.n_filled / made.n_cells for made in completions):.2f}")
            on_done(f"{name} on {dataset.name}")
        rows.append(row)
    header = [column for dataset in datasets for column in (dataset.name, "filled")]
    return Table(
        title="Majority vote after TLLC, and what it needs",
        header=["TLLC", *header],
        rows=rows,
        notes=(PROTOCOL, f"Seeds 0 to {seeds - 1}; filled is the share of all cells."),
    )


def _sensitivity(dataset: DataSet, seeds: int, on_done: OnDone) -> Table:
    rows = []
    for setting, (default, values, paper) in SENSITIVITY.items():
        for value, theirs in zip(values, paper, strict=True):
            params = {} if value == default else {setting: value}
            shares = [
                aggregated(dataset, "mv", complete(dataset.data, seed, **params))
                for seed in range(seeds)
            ]
            rows.append([setting, str(value), percent(shares), f"{theirs:.2f}"])
            on_done(f"{setting} {value}")
    return Table(
        title=f"Majority vote after TLLC with other settings: {dataset.name}",
        header=["setting", "value", "ours", "paper"],
        rows=rows,
        notes=(
            PROTOCOL,
            f"Seeds 0 to {seeds - 1}. An epoch draws pairs here; in the paper it has all.",
        ),
    )


def _source(datasets: list[DataSet]) -> Table:
    """How right majorities are before and after filtering, class by class."""
    from crowdcore.engine.adversaries import compare_with_others
    from crowdcore.methods.completion.tllc._transfer import SourceDomain

    rows = []
    for dataset in datasets:
        data, sources = dataset.data, []
        for keep in (np.ones(data.n_workers, bool), ~compare_with_others(data).adverse):
            votes = data.only(keep[data.worker]).votes.astype(np.float64)
            for filtering in (False, True):
                rng = np.random.default_rng(0)
                sources.append(SourceDomain.from_votes(votes, rng, filtering=filtering))
        for code, name in [*enumerate(data.classes), (UNKNOWN, "all")]:
            cells = [_right(dataset, source, code) for source in sources]
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
    """Simulate adversaries who label twice as much as others: these lose half of their labels.

    Parameters
    ----------
    share : float
        Share of adversaries among the workers.
    seed : int
        Seed of the crowd.
    items : int, default 400
        Number of items.

    Returns
    -------
    tuple[DataSet, Simulation]
        The data set, and the crowd with who was what.
    """
    crowd = simulate(
        items=items, workers=30, labels_per_item=7, adversaries=share, spammers=0.0, seed=seed
    )
    honest = np.array([character != "adversary" for character in crowd.character])
    lost = np.random.default_rng(seed).random(crowd.data.n_labels) < 0.5  # noqa: PLR2004  (half)
    data = crowd.data.only(~(honest[crowd.data.worker] & lost))
    without_gold = replace(data, gold=None)
    return DataSet(name="simulated", data=without_gold, truth=crowd.truth, unlabelled=0), crowd


def _adversaries(seeds: int, on_done: OnDone) -> Table:
    rows = [_with_adversaries(share, seeds, on_done) for share in SHARES]
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
            PROTOCOL,
            f"Simulated crowds of 30 workers and 4 classes, seeds 0 to {seeds - 1}; adversaries "
            "label twice as much as others. Found are those who were left out, wrong the honest "
            "ones among these.",
        ),
    )


def _with_adversaries(share: float, seeds: int, on_done: OnDone) -> list[str]:
    shares: dict[str, list[float]] = {}
    label_shares, n_found, n_adversaries, n_wrong = [], 0, 0, 0
    for seed in range(seeds):
        dataset, crowd = prolific(share, seed)
        adversary = np.array([character == "adversary" for character in crowd.character])
        label_shares.append(adversary[dataset.data.worker].mean())
        completions = {filling.name: filling.make(dataset.data, seed) for filling in FILLINGS[:2]}
        completions["not robust"] = complete(dataset.data, seed, robust=False)
        completions[TLLC] = ours = complete(dataset.data, seed)
        for name, completion in completions.items():
            shares.setdefault(name, []).append(aggregated(dataset, "mv", completion))
        left_out = pick(ours.artefacts, AdverseWorkers)
        assert left_out is not None
        adverse = left_out.adverse
        n_found, n_adversaries = (
            n_found + int((adverse & adversary).sum()),
            n_adversaries + int(adversary.sum()),
        )
        n_wrong += int((adverse & ~adversary).sum())
    on_done(f"{share:.0%} adversaries")
    cells = [percent(values) for values in shares.values()]
    return [
        f"{share:.0%}",
        f"{mean(label_shares):.0%}",
        *cells,
        f"{n_found} of {n_adversaries}",
        str(n_wrong),
    ]


def _cost(on_done: OnDone) -> Table:
    rows = []
    for items in SIZES:
        data = simulate(items=items, workers=50).data
        begun = time.process_time()
        get_method("tllc", "complete").complete(data)
        seconds = time.process_time() - begun
        rows.append([f"{items:,}", f"{data.n_labels:,}", f"{seconds:.1f}"])
        on_done(f"{items:,} items")
    return Table(
        title="What TLLC costs",
        header=["items", "labels", "seconds"],
        rows=rows,
        notes=("The processor's seconds; 50 workers, 16 features, default settings.",),
    )
