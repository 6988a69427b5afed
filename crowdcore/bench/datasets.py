"""Data sets with a known truth, as benchmarks read them from folders."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError

NEVER_GIVEN = -2
"""The code of a true class that no worker ever gave; no method can be right there."""


MAX_NUMERIC_CLASSES = 30
"""More different numbers than this are ratings, not classes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Items that nobody labelled, with features, to ask a trained classifier about."""

    features: NDArray[np.float32]  # [n, ...]
    truth: Codes  # [n]; ELSEWHERE for a class nobody gave


@dataclass(frozen=True, kw_only=True, eq=False)
class DataSet:
    """Labels without gold, and the truth to compare with afterwards."""

    name: str
    data: CrowdData
    truth: Codes  # [N]; UNKNOWN where it is not known, ELSEWHERE for a class nobody gave
    unlabelled: int  # true answers of items that nobody labelled
    test: HeldOut | None = None  # from test.npz, where there is one

    @property
    def n_scored(self) -> int:
        """How many items have a truth."""
        return int((self.truth != UNKNOWN).sum())

    @property
    def n_tested(self) -> int:
        """How many items were held out."""
        return 0 if self.test is None else len(self.test.truth)

    def without_features(self) -> DataSet:
        """Return the same labels and truths, as if nothing else were known of the items."""
        plain = replace(self.data, features=None, feature_names=(), recipe=None)
        return replace(self, data=plain, test=None)


def find_folders(roots: Iterable[Path]) -> list[Path]:
    """Find every folder with labels.csv at or below the given ones.

    Parameters
    ----------
    roots : iterable of Path
        Where to look.

    Returns
    -------
    list of Path
        The folders, each once.

    Raises
    ------
    DataError
        A root is no folder, or nothing is found at or below it.
    """
    unique: dict[Path, None] = {}
    for root in roots:
        if not root.is_dir():
            raise DataError(f"There is no folder {str(root)!r}")
        folders = sorted(path.parent.resolve() for path in root.rglob("labels.csv"))
        if not folders:
            raise DataError(f"There is no labels.csv in {str(root)!r} or below")
        unique.update(dict.fromkeys(folders))
    return list(unique)


def short_names(folders: Sequence[Path]) -> list[str]:
    """Name folders by their last part, or by their path where two share it.

    Parameters
    ----------
    folders : sequence of Path
        Folders of data sets.

    Returns
    -------
    list of str
        One name per folder, in the same order.
    """
    last = Counter(folder.name for folder in folders)
    return [folder.name if last[folder.name] == 1 else str(folder) for folder in folders]


def load(folder: Path, name: str | None = None) -> DataSet:
    """Read a data set with its truth.

    Parameters
    ----------
    folder : Path
        Holds labels.csv and truth.csv; features.npz and test.npz are read where they exist.
    name : str or None, optional
        What to call it; by default, as the folder.

    Returns
    -------
    DataSet
        Labels without gold, and the truth.

    Raises
    ------
    DataError
        Files are missing, or the data are no classes to compare with.
    """
    from crowdcore.reading.labels.read import Cleaning, read_labels

    truth_file, features = folder / "truth.csv", folder / "features.npz"
    if not truth_file.exists():
        raise DataError("It has no truth.csv")
    if _meta(folder).get("label_type") == "numeric":
        raise DataError("Its labels are ratings, not classes")
    data = read_labels(
        folder / "labels.csv",
        features=features if features.exists() else None,
        cleaning=Cleaning(exact_duplicates="keep", contradictions="all", kind="classes"),
    )
    if data.kind != "classes" or _are_ratings(data.classes):
        raise DataError("Its labels are ratings, not classes")
    if data.gold is not None:
        raise DataError("Its labels.csv holds gold answers, which methods must not see")
    answers = read_truth(truth_file)
    if not answers:
        raise DataError("Its truth.csv has no answers")
    class_codes = {name: index for index, name in enumerate(data.classes)}
    item_codes = {name: index for index, name in enumerate(data.items)}
    truth = np.full(data.n_items, UNKNOWN, np.int32)
    for item, answer in answers.items():
        if item in item_codes:
            truth[item_codes[item]] = class_codes.get(answer, NEVER_GIVEN)
    unlabelled = sum(item not in item_codes for item in answers)
    if unlabelled == len(answers):
        raise DataError("None of the items of truth.csv has a label")
    test = folder / "test.npz"
    return DataSet(
        name=name or folder.name,
        data=data,
        truth=truth,
        unlabelled=unlabelled,
        test=_read_test(test, data) if test.exists() and data.n_features else None,
    )


def load_named(folder: Path, names: Sequence[str]) -> list[DataSet]:
    """Read those of a paper's data sets that are in a folder.

    Parameters
    ----------
    folder : Path
        The folder above the data sets.
    names : sequence of str
        Names of the paper's data sets.

    Returns
    -------
    list of DataSet
        The data sets that are there.

    Raises
    ------
    DataError
        None is there.
    """
    paths = [folder / name for name in names if (folder / name / "truth.csv").exists()]
    if not paths:
        raise DataError(
            f"None of the data sets of the paper is in {str(folder)!r}",
            fix=f"Give the folder above {' and '.join(names)}.",
        )
    return [load(path) for path in paths]


def _meta(folder: Path) -> dict[str, Any]:
    path = folder / "meta.json"
    meta: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return meta


def _are_ratings(classes: Sequence[str]) -> bool:
    try:
        numbers = [float(name) for name in classes]
    except ValueError:
        return False
    return len(numbers) > MAX_NUMERIC_CLASSES or any(number % 1 for number in numbers)


def _read_test(path: Path, data: CrowdData) -> HeldOut:
    """Read `x` and `truth` of held-out items, made as the features of the data."""
    from crowdcore.reading.features.read import read_new_features

    features = read_new_features(path, data.recipe).values
    with np.load(path, allow_pickle=False) as file:
        answers = file["truth"].astype(str) if "truth" in file else np.empty(0, str)
    shape = () if data.features is None else data.features.shape[1:]
    if len(answers) != len(features) or features.shape[1:] != shape:
        raise DataError(
            "Its test.npz must hold 'truth' and features 'x' like those of features.npz"
        )
    class_codes = {name: index for index, name in enumerate(data.classes)}
    truth = np.array(
        [class_codes.get(answer, NEVER_GIVEN) for answer in answers.tolist()], np.int32
    )
    return HeldOut(features=features, truth=truth)


def read_truth(path: Path) -> dict[str, str]:
    """Read the true answers of items.

    Parameters
    ----------
    path : Path
        A CSV file with a header and two columns, item and truth.

    Returns
    -------
    dict of str to str
        The answers by item.

    Raises
    ------
    DataError
        A row has no second column.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if any(len(row) < 2 for row in rows):  # noqa: PLR2004  (item, truth)
        raise DataError("Its truth.csv must have two columns, item and truth")
    return {item: answer for item, answer, *_ in rows[1:]}
