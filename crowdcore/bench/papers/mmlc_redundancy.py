"""MMLC's Figure 2: accuracy where no item has more than so many labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from crowdcore.bench.accuracy import DataSet, score
from crowdcore.bench.charts import lines
from crowdcore.bench.papers import Table, Told
from crowdcore.bench.papers.mmlc import BASELINES, datasets, percent
from crowdcore.registry import fit, methods

DRAWS = 3
"""The paper has five."""

FEW = 3
"""Up to so many labels an item, every number of them is tried."""

METHODS = (*BASELINES, "max_mig", "conal", "crowdar", "mmlc_owf")

NOTES = (
    f"Accuracy in percent on the labelled items: mean ± sample standard deviation over {DRAWS} "
    "draws, default settings. Of items with more labels than the column says, as many were kept "
    "at random; all methods get the same draws.",
    "The paper shows this as a figure without numbers, of five draws.",
)


def tables(folder: Path, told: Told) -> list[Table]:
    """One table a data set, one column for each number of labels an item may have."""
    return [_table(dataset, told) for dataset in datasets(folder)]


def levels(most: int) -> list[int]:
    """How many labels an item may have: one, and up to `most` all or, of many, every other."""
    return sorted({1, *range(most, 0, -1 if most <= FEW else -2)})


def thinned(dataset: DataSet, most: int, seed: int) -> DataSet:
    """Keep at most so many labels of each item, drawn at random."""
    data = dataset.data
    order = np.random.default_rng(seed).permutation(data.n_labels)
    order = order[np.argsort(data.item[order], kind="stable")]
    first = np.searchsorted(data.item[order], data.item[order])
    keep = np.zeros(data.n_labels, bool)
    keep[order] = np.arange(data.n_labels) - first < most
    return replace(dataset, data=data.only(keep))


def _table(dataset: DataSet, told: Told) -> Table:
    columns = levels(int(dataset.data.labels_per_item.max()))
    drawn = {most: [thinned(dataset, most, seed) for seed in range(DRAWS)] for most in columns}
    found: dict[str, list[list[float]]] = {}
    for name in METHODS:
        if name not in methods():
            continue
        for most in columns:
            shares = [
                score(fit(one.data, name, seed=seed), one.truth)
                for seed, one in enumerate(drawn[most])
            ]
            found.setdefault(name, []).append(shares)
            told(f"{name} on {dataset.name}, {most} labels")
    rows = [[name, *map(percent, shares)] for name, shares in found.items()]
    title = f"MMLC, Figure 2: {dataset.name}"
    header = ["method", *map(str, columns)]
    return Table(
        title=title,
        header=header,
        rows=rows,
        notes=NOTES,
        figure=lines(title, "Most labels an item", columns, found),
    )
