"""MMLC's Table 2 and Figure 5 on LabelMe and Music: what filling in labels does to aggregation.

Every filling is made once a seed; the density study takes parts of the same predictions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev

import numpy as np

from crowdcore.artefacts.completion import Completion
from crowdcore.bench import ranks
from crowdcore.bench.accuracy import score
from crowdcore.bench.charts import lines
from crowdcore.bench.datasets import DataSet
from crowdcore.bench.papers import OnDone, Table
from crowdcore.bench.papers.mmlc import BASELINES, datasets, percent
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.registry import get_method

SEEDS = 10
LEVELS = 8
"""Thresholds of the density study."""

FILLERS = ("g_mv", "g_irt", "tdg4crowd", "mmlc_df")
ORIGINAL = "original"

PAPER = {
    "labelme": {
        "mv": ("76.76", "-0.03 ± 0.41", "-2.87 ± 0.58", "+1.88 ± 0.41", "+3.89 ± 0.17"),
        "ds": ("79.73", "-2.87 ± 0.77", "+0.06 ± 0.26", "-1.05 ± 0.37", "+1.72 ± 0.20"),
        "fds": ("77.78", "+0.07 ± 0.92", "+0.20 ± 0.62", "+0.93 ± 0.23", "+3.38 ± 0.21"),
        "hds": ("76.66", "-0.23 ± 0.44", "+0.18 ± 0.33", "+2.02 ± 0.32", "+2.48 ± 0.36"),
    },
    "music": {
        "mv": ("71.42", "-0.95 ± 0.35", "+6.72 ± 0.23", "+5.73 ± 0.28", "+7.58 ± 0.45"),
        "ds": ("77.14", "-5.95 ± 0.31", "+0.27 ± 0.43", "+1.57 ± 0.13", "+2.41 ± 0.41"),
        "fds": ("77.57", "-6.47 ± 0.64", "+0.41 ± 0.57", "+0.81 ± 0.08", "+1.57 ± 0.22"),
        "hds": ("78.01", "-7.25 ± 0.87", "+0.52 ± 0.43", "+0.70 ± 0.25", "+0.12 ± 0.54"),
    },
}

NOTES = (
    f"Accuracy in percent on the labelled items, and its change by filling in labels: mean ± "
    f"sample standard deviation over seeds 0 to {SEEDS - 1}, default settings; no gold was used.",
    "Seconds are the processor's for one filling, without aggregation.",
    "MMLC-owf itself is left out: a completed matrix has 10 to 23 times the labels to learn from.",
)
DENSITY_NOTES = (
    "Only workers with more labels than the threshold were completed by MMLC-df; the first row is "
    "the data as they were. The predictions are the same in all rows.",
    "The paper shows this as a figure without numbers.",
)
RANKS_NOTE = (
    "A block is a data set with an aggregating method; those of one data set are akin, so that "
    "the p values are too small."
)


@dataclass(frozen=True, kw_only=True)
class Study:
    """Accuracies on a data set, a seed each."""

    dataset: DataSet
    accuracies: dict[tuple[str, str], list[float]]  # (filler, aggregating method) -> shares
    seconds: dict[str, float]
    density: list[tuple[int, int, float]]  # threshold, workers that are completed, density
    by_density: dict[str, list[list[float]]]  # aggregating method -> threshold -> shares


def tables(folder: Path, on_done: OnDone) -> list[Table]:
    """Make Table 2 and Figure 5 for each data set, and rank the fillings.

    Parameters
    ----------
    folder : Path
        The folder above the data sets.
    on_done : OnDone
        Called after each filling.

    Returns
    -------
    list of Table
        Per data set a table and a density study; then the ranks.
    """
    studies = [_study(dataset, on_done) for dataset in datasets(folder)]
    filled = [_filled_table(study) for study in studies]
    return [*filled, *map(_density, studies), _ranked(studies)]


def part_of(completion: Completion, threshold: int) -> Completion:
    """Restrict a completion to the workers with more labels than a threshold.

    Parameters
    ----------
    completion : Completion
        Labels that were filled in.
    threshold : int
        Workers with at most so many labels of their own are not completed.

    Returns
    -------
    Completion
        The same predictions for fewer workers.
    """
    idle = completion.data.labels_per_worker <= threshold
    label = np.where(idle, np.int8(UNKNOWN), completion.label)
    probability = np.where(idle, np.float16(0), completion.probability)
    return replace(completion, label=label, probability=probability)


def fill(data: CrowdData, filler: str, seed: int) -> tuple[Completion, float]:
    """Fill in labels with default settings.

    Parameters
    ----------
    data : CrowdData
        The labels that were given.
    filler : str
        The completing method's id.
    seed : int
        Its seed.

    Returns
    -------
    tuple[Completion, float]
        The completion, and the processor's seconds.
    """
    begun = time.process_time()
    completion = get_method(filler, "complete").complete(data, seed=seed)
    return completion, time.process_time() - begun


def _study(dataset: DataSet, on_done: OnDone) -> Study:
    thresholds = _thresholds(dataset)
    accuracies: dict[tuple[str, str], list[float]] = {}
    seconds_by_filler: dict[str, list[float]] = {}
    by_density: dict[str, list[list[float]]] = {
        name: [[] for _ in thresholds] for name in BASELINES
    }
    density: list[tuple[int, int, float]] = []
    for seed in range(SEEDS):
        completions: dict[str, Completion] = {}
        for filler in FILLERS:
            completions[filler], seconds = fill(dataset.data, filler, seed)
            seconds_by_filler.setdefault(filler, []).append(seconds)
            on_done(f"{filler} on {dataset.name}, seed {seed}")
        for filler in (ORIGINAL, *FILLERS):
            for name, share in _aggregated(dataset, completions.get(filler), seed):
                accuracies.setdefault((filler, name), []).append(share)
        restricted = [part_of(completions["mmlc_df"], threshold) for threshold in thresholds]
        density = [
            _sizes(completion, threshold)
            for completion, threshold in zip(restricted, thresholds, strict=True)
        ]
        for level, completion in enumerate(restricted):
            for name, share in _aggregated(dataset, completion, seed):
                by_density[name][level].append(share)
        on_done(f"densities of {dataset.name}, seed {seed}")
    return Study(
        dataset=dataset,
        accuracies=accuracies,
        seconds={filler: mean(seconds) for filler, seconds in seconds_by_filler.items()},
        density=density,
        by_density=by_density,
    )


def _thresholds(dataset: DataSet) -> list[int]:
    """From that which completes nobody down to 0, with about as many workers between each two."""
    counts = dataset.data.labels_per_worker
    middle = np.quantile(counts, np.linspace(1, 0, LEVELS)[:-1], method="lower")
    return list(dict.fromkeys([*map(int, middle), 0]))


def _sizes(completion: Completion, threshold: int) -> tuple[int, int, float]:
    workers = int(np.count_nonzero(completion.data.labels_per_worker > threshold))
    return threshold, workers, completion.density[1]


def _aggregated(
    dataset: DataSet, completion: Completion | None, seed: int
) -> Iterator[tuple[str, float]]:
    """The accuracy of every aggregating method."""
    for name in BASELINES:
        result = get_method(name).fit(dataset.data, seed=seed, completion=completion)
        yield name, score(result, dataset.truth)


def _filled_table(study: Study) -> Table:
    paper = PAPER[study.dataset.name]
    header = [
        "method",
        ORIGINAL,
        "paper",
        *(cell for filler in FILLERS for cell in (filler, "paper")),
    ]
    rows = []
    for name in BASELINES:
        before = study.accuracies[ORIGINAL, name]
        row = [name, percent(before), paper[name][0]]
        for filler, theirs in zip(FILLERS, paper[name][1:], strict=True):
            row += [_change(before, study.accuracies[filler, name]), theirs]
        rows.append(row)
    seconds = [cell for filler in FILLERS for cell in (f"{study.seconds[filler]:.1f}", "")]
    rows.append(["seconds", "", "", *seconds])
    title = f"MMLC, Table 2: {study.dataset.name}"
    return Table(title=title, header=header, rows=rows, notes=NOTES)


def _change(before: list[float], after: list[float]) -> str:
    """By how many points the accuracy changed, seed by seed."""
    points = [100 * (new - old) for old, new in zip(before, after, strict=True)]
    return f"{mean(points):+.2f} ± {stdev(points):.2f}"


def _density(study: Study) -> Table:
    rows = [
        [f"{threshold:,}", f"{workers:,}", f"{density:.3f}"]
        + [percent(study.by_density[name][level]) for name in BASELINES]
        for level, (threshold, workers, density) in enumerate(study.density)
    ]
    title = f"MMLC, Figure 5: {study.dataset.name}"
    return Table(
        title=title,
        header=["threshold", "workers completed", "density", *BASELINES],
        rows=rows,
        notes=DENSITY_NOTES,
        figure=lines(
            title,
            "Share of cells with a label",
            [row[2] for row in study.density],
            study.by_density,
        ),
    )


def _ranked(studies: list[Study]) -> Table:
    """Compare the fillings by their mean accuracies."""
    scores = {
        filler: [mean(study.accuracies[filler, name]) for study in studies for name in BASELINES]
        for filler in (ORIGINAL, *FILLERS)
    }
    table = ranks.compare(scores).table("How the fillings rank")
    return replace(table, notes=(*table.notes, RANKS_NOTE))
