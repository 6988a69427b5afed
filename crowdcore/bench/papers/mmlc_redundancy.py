"""MMLC's Figure 2: accuracy where no item has more than so many labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from crowdcore.bench.accuracy import score
from crowdcore.bench.charts import lines
from crowdcore.bench.datasets import DataSet
from crowdcore.bench.papers import OnDone, Table
from crowdcore.bench.papers.mmlc import BASELINES, datasets, percent
from crowdcore.registry import fit, methods

DRAWS = 3
"""The paper has five."""

MAX_LABELS_ALL_TRIED = 3
"""Up to so many labels per item, every number of them is tried."""

METHODS = (*BASELINES, "max_mig", "conal", "crowdar", "mmlc_owf")

NOTES = (
    f"Accuracy in percent on the labelled items: mean ± sample standard deviation over {DRAWS} "
    "draws, default settings. Of items with more labels than the column says, as many were kept "
    "at random; all methods get the same draws.",
    "The paper shows this as a figure without numbers, of five draws.",
)


def tables(folder: Path, on_done: OnDone) -> list[Table]:
    """Make Figure 2 as tables, one column for each number of labels that an item may have.

    Parameters
    ----------
    folder : Path
        The folder above the data sets.
    on_done : OnDone
        Called after each method and column.

    Returns
    -------
    list of Table
        One table per data set.
    """
    return [_table(dataset, on_done) for dataset in datasets(folder)]


def levels(max_labels: int) -> list[int]:
    """List how many labels an item may have: 1, and up to the largest number all or every other.

    Parameters
    ----------
    max_labels : int
        The largest number of labels per item.

    Returns
    -------
    list of int
        In ascending order.
    """
    return sorted({1, *range(max_labels, 0, -1 if max_labels <= MAX_LABELS_ALL_TRIED else -2)})


def thinned(dataset: DataSet, max_labels: int, seed: int) -> DataSet:
    """Keep at most so many labels of each item, drawn at random.

    Parameters
    ----------
    dataset : DataSet
        A data set with its truth.
    max_labels : int
        Labels per item to keep.
    seed : int
        Seed of the draw.

    Returns
    -------
    DataSet
        The data set with fewer labels.
    """
    data = dataset.data
    order = np.random.default_rng(seed).permutation(data.n_labels)
    order = order[np.argsort(data.item[order], kind="stable")]
    first = np.searchsorted(data.item[order], data.item[order])
    keep = np.zeros(data.n_labels, bool)
    keep[order] = np.arange(data.n_labels) - first < max_labels
    return replace(dataset, data=data.only(keep))


def _table(dataset: DataSet, on_done: OnDone) -> Table:
    columns = levels(int(dataset.data.labels_per_item.max()))
    drawn = {
        max_labels: [thinned(dataset, max_labels, seed) for seed in range(DRAWS)]
        for max_labels in columns
    }
    accuracies: dict[str, list[list[float]]] = {}
    for name in METHODS:
        if name not in methods():
            continue
        for max_labels in columns:
            shares = [
                score(fit(sample.data, name, seed=seed), sample.truth)
                for seed, sample in enumerate(drawn[max_labels])
            ]
            accuracies.setdefault(name, []).append(shares)
            on_done(f"{name} on {dataset.name}, {max_labels} labels")
    rows = [[name, *map(percent, shares)] for name, shares in accuracies.items()]
    title = f"MMLC, Figure 2: {dataset.name}"
    header = ["method", *map(str, columns)]
    return Table(
        title=title,
        header=header,
        rows=rows,
        notes=NOTES,
        figure=lines(title, "Most labels per item", columns, accuracies),
    )
