"""The unsupervised columns of HGNN's Table 6, and iBCC with the gold that HGNN gets.

Each method runs once on all labels, without gold, and is scored on the test part of each of five
folds (the other four fifths); ± is the sample standard deviation over the folds. "iBCC + 20 %"
holds the training fifth of the gold at its answers, which is what a fair comparison with a method
that learns from that gold needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.bench.accuracy import score
from crowdcore.bench.datasets import DataSet, load
from crowdcore.bench.papers import OnDone, Table
from crowdcore.data import UNKNOWN, CrowdData, DataError
from crowdcore.registry import fit

FOLDS = 5
OPTIONS = ("folds",)


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A method as the paper ran it, and the paper's accuracies."""

    title: str
    method: str
    params: dict[str, Any]
    paper: dict[str, float]
    seeds: int = 1  # results of methods that draw are means over seeds


SETS = [
    "bird",
    "flowers",
    "web",
    "rte",
    "sp",
    "sp_amt",
    "zc_all",
    "zc_in",
    "face",
    "product",
    "sentiment",
]


def numbers(text: str) -> dict[str, float]:
    """Read a column of the paper.

    Parameters
    ----------
    text : str
        Numbers, in the order of `SETS`.

    Returns
    -------
    dict of str to float
        The number of each data set.
    """
    return dict(zip(SETS, map(float, text.split()), strict=True))


COLUMNS = [
    Baseline(
        title="MV",
        method="mv",
        params={},
        paper=numbers(".7592 .7600 .7765 .9188 .8896 .9440 .8348 .7441 .6301 .8966 .9320"),
    ),
    Baseline(
        title="GLAD",
        method="glad",
        params={"prior": "moving", "m_steps": 25},
        paper=numbers(".7593 .7950 .7252 .9050 .8872 .9360 .8294 .7304 .6336 .9040 .9510"),
    ),
    Baseline(
        title="iBCC",
        method="ibcc",
        params={},
        paper=numbers(".8889 .8700 .7508 .9275 .9150 .9440 .7951 .7696 .6404 .9383 .9600"),
    ),
    Baseline(
        title="EBCC",
        method="ebcc",
        params={},
        seeds=5,
        paper=numbers(".8610 .7200 .7437 .9313 .9152 .9460 .8632 .7784 .6336 .9349 .9610"),
    ),
]

NOTES = (
    "Each cell: ours ± sample standard deviation over folds (the paper's). Ties go to the lowest "
    "class. EBCC is the mean over five seeds.",
    "GLAD is run as in the code of the benchmarks: no prior, their optimiser, until it has "
    "converged. The paper does not say how its column was made, and it does not return.",
    "iBCC + 20 % uses the training fifth of the gold, as HGNN does; the other columns use none.",
    "web: nine of its workers are the experts from whose answers the gold was made, so a method "
    "that may see gold learns to copy them.",
)


def tables(folder: Path, on_done: OnDone, folds: int = FOLDS) -> list[Table]:
    """Make the columns of Table 6 that use no gold, ours beside the paper's.

    Parameters
    ----------
    folder : Path
        The folder above the data sets.
    on_done : OnDone
        Called after each method.
    folds : int, default FOLDS
        How many of the five folds.

    Returns
    -------
    list of Table
        One table, one row per data set.
    """
    rows = []
    for path in set_folders(folder):
        dataset = load(path)
        trains = folds_of(dataset)[:folds]
        row = [dataset.name]
        for column in COLUMNS:
            accuracies = _unsupervised(dataset, column, trains)
            row.append(
                f"{mean(accuracies):.4f} ± {stdev(accuracies):.4f} ({column.paper[path.name]:.4f})"
            )
            on_done(f"{column.title} on {dataset.name}")
        clamped = _clamped(dataset, trains)
        row.append(f"{mean(clamped):.4f} ± {stdev(clamped):.4f}")
        on_done(f"iBCC with gold on {dataset.name}")
        rows.append(row)
    header = ["data set", *(column.title for column in COLUMNS), "iBCC + 20 % gold"]
    return [Table(title="HGNN, Table 6: baselines", header=header, rows=rows, notes=NOTES)]


def set_folders(folder: Path) -> list[Path]:
    """Find the folders of the paper's data sets.

    Parameters
    ----------
    folder : Path
        The folder above them.

    Returns
    -------
    list of Path
        Those that are there.

    Raises
    ------
    DataError
        None is there.
    """
    folders = [folder / name for name in SETS if (folder / name / "truth.csv").exists()]
    if not folders:
        raise DataError(
            f"None of the data sets of the paper is in {str(folder)!r}",
            fix=f"Give the folder above {', '.join(SETS[:3])}, …",
        )
    return folders


def folds_of(dataset: DataSet) -> list[NDArray[np.int64]]:
    """Split the items with a known truth into the training fifths of the folds.

    Parameters
    ----------
    dataset : DataSet
        A data set with its truth.

    Returns
    -------
    list[ndarray
        Item codes of each fold's training fifth.
    """
    with_truth = np.flatnonzero(dataset.truth != UNKNOWN)
    return list(np.array_split(np.random.default_rng(0).permutation(with_truth), FOLDS))


def test_part(dataset: DataSet, train: NDArray[np.int64]) -> NDArray[np.int32]:
    """Hide the truth of the training items, which must not be scored.

    Parameters
    ----------
    dataset : DataSet
        A data set with its truth.
    train : ndarray
        Item codes of the training fifth.

    Returns
    -------
    ndarray
        The truth [N], UNKNOWN for training items.
    """
    truth = dataset.truth.copy()
    truth[train] = UNKNOWN
    return truth


def with_gold(dataset: DataSet, train: NDArray[np.int64]) -> CrowdData:
    """Give the labels the gold of the training items, and of no others.

    Parameters
    ----------
    dataset : DataSet
        A data set with its truth.
    train : ndarray
        Item codes of the training fifth.

    Returns
    -------
    CrowdData
        The labels with that gold.
    """
    gold = np.full(dataset.data.n_items, UNKNOWN, np.int32)
    gold[train] = np.maximum(dataset.truth[train], UNKNOWN)
    return replace(dataset.data, gold=gold)


def _unsupervised(
    dataset: DataSet, column: Baseline, trains: list[NDArray[np.int64]]
) -> list[float]:
    test_truths = [test_part(dataset, train) for train in trains]
    results = [
        fit(dataset.data, column.method, seed=seed, **column.params) for seed in range(column.seeds)
    ]
    return [mean(score(result, truth) for result in results) for truth in test_truths]


def _clamped(dataset: DataSet, trains: list[NDArray[np.int64]]) -> list[float]:
    return [
        score(fit(with_gold(dataset, train), "ibcc", use_gold=True), test_part(dataset, train))
        for train in trains
    ]
