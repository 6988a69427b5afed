"""How often methods are right on data sets whose truth is known, as papers report it."""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError
from crowdcore.result import TIE, Result

if TYPE_CHECKING:
    from crowdcore.method import Method

ELSEWHERE = -2
"""The code of a true class that no worker ever gave; no method can be right there."""

MOST_NUMBERS = 30
"""More different numbers than this are ratings, not classes."""

HOW = (
    "Labels are used as published: every row counts, repeated ones too. "
    "Gold never reaches a method; it is compared afterwards, over all items of truth.csv that "
    "have labels. A tie goes to the lowest class."
)


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


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The accuracies of one method on one data set, one a seed; or why there are none."""

    dataset: str
    method: str
    accuracies: tuple[float, ...] = ()
    held_out: tuple[float, ...] = ()  # of the classifier, on the items of test.npz
    seconds: tuple[float, ...] = ()
    cpu_seconds: tuple[float, ...] = ()
    reason: str = ""

    @property
    def mean(self) -> float | None:
        """The mean accuracy."""
        return mean(self.accuracies) if self.accuracies else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over the seeds; None for one seed."""
        return stdev(self.accuracies) if len(self.accuracies) > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Turn the cell into plain JSON values."""
        return {
            "dataset": self.dataset,
            "method": self.method,
            "accuracy": self.mean,
            "sd": self.spread,
            "accuracies": list(self.accuracies),
            "held_out": list(self.held_out),
            "seconds": list(self.seconds),
            "cpu_seconds": list(self.cpu_seconds),
            "reason": self.reason,
        }


def find_folders(places: Iterable[Path]) -> list[Path]:
    """Every folder with labels.csv at or below the given ones."""
    found: dict[Path, None] = {}
    for place in places:
        if not place.is_dir():
            raise DataError(f"There is no folder {str(place)!r}")
        folders = sorted(path.parent.resolve() for path in place.rglob("labels.csv"))
        if not folders:
            raise DataError(f"There is no labels.csv in {str(place)!r} or below")
        found.update(dict.fromkeys(folders))
    return list(found)


def short_names(folders: Sequence[Path]) -> list[str]:
    """Name folders by their last part, or by their path where two share it."""
    last = Counter(folder.name for folder in folders)
    return [folder.name if last[folder.name] == 1 else str(folder) for folder in folders]


def load(folder: Path, name: str | None = None) -> DataSet:
    """Read a data set; a `DataError` says why it cannot be used."""
    from crowdcore.io.labels import Cleaning, read_labels

    truth_file, features = folder / "truth.csv", folder / "features.npz"
    if not truth_file.exists():
        raise DataError("It has no truth.csv")
    if _meta(folder).get("label_type") == "numeric":
        raise DataError("Its labels are ratings, not classes")
    data = read_labels(
        folder / "labels.csv",
        features=features if features.exists() else None,
        cleaning=Cleaning(exact_duplicates="keep", contradictions="all"),
    )
    if data.kind != "classes" or _are_ratings(data.classes):
        raise DataError("Its labels are ratings, not classes")
    if data.gold is not None:
        raise DataError("Its labels.csv holds gold answers, which methods must not see")
    answers = _read_truth(truth_file)
    if not answers:
        raise DataError("Its truth.csv has no answers")
    code = {name: index for index, name in enumerate(data.classes)}
    place = {name: index for index, name in enumerate(data.items)}
    truth = np.full(data.n_items, UNKNOWN, np.int32)
    for item, answer in answers.items():
        if item in place:
            truth[place[item]] = code.get(answer, ELSEWHERE)
    unlabelled = sum(item not in place for item in answers)
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
    """Read those of a paper's data sets that are in a folder; it must have one."""
    places = [folder / name for name in names if (folder / name / "truth.csv").exists()]
    if not places:
        raise DataError(
            f"None of the data sets of the paper is in {str(folder)!r}",
            fix=f"Give the folder above {' and '.join(names)}.",
        )
    return [load(place) for place in places]


def score(result: Result, truth: Codes, *, shared: bool = False) -> float:
    """The share of items with a known truth that are right; a tie goes to the lowest class.

    If ties are `shared`, a tied item counts by the chance that a draw would have been right.
    """
    known = np.flatnonzero(truth != UNKNOWN)
    best = result.posterior >= result.posterior.max(1, keepdims=True) - TIE
    answer = np.where(result.tied, best.argmax(1), result.truth)
    right = (answer == truth)[known].astype(float)
    if shared:
        hit = best[known, np.maximum(truth[known], 0)] / best[known].sum(1)
        right = np.where(result.tied[known], hit * (truth[known] >= 0), right)
    return float(right.mean())


def score_classifier(result: Result, test: HeldOut | None) -> float | None:
    """The share of held-out items that a result's classifier gets right; None without either."""
    from crowdcore.artefacts.classifier import Classifier

    classifier = Classifier.of(result)
    if classifier is None or test is None:
        return None
    return float((classifier.predict(test.features).argmax(1) == test.truth).mean())


def measure(method: Method, dataset: DataSet, repeats: int, **params: Any) -> Cell:
    """Run a method with seeds 0, 1, …; one that does not depend on its seed runs twice."""
    cell = partial(Cell, dataset=dataset.name, method=method.id)
    if method.needs.gold:
        return cell(reason="It learns from gold, which no method gets to see here.")
    if unmet := method.needs.unmet(dataset.data):
        return cell(reason=" ".join(unmet))
    accuracies: list[float] = []
    held_out: list[float] = []
    seconds: list[float] = []
    cpu_seconds: list[float] = []
    first: Result | None = None
    for seed in range(repeats):
        begun = time.process_time()
        try:
            result = method.fit(dataset.data, seed=seed, **params)
        except DataError as error:
            return cell(reason=str(error))
        if seed == 1 and first is not None and _same(first, result):
            break
        accuracies.append(score(result, dataset.truth))
        if (right := score_classifier(result, dataset.test)) is not None:
            held_out.append(right)
        seconds.append(result.provenance.seconds)
        cpu_seconds.append(time.process_time() - begun)
        first = first or result
    return cell(
        accuracies=tuple(accuracies),
        held_out=tuple(held_out),
        seconds=tuple(seconds),
        cpu_seconds=tuple(cpu_seconds),
    )


def compare(
    methods: Sequence[Method],
    datasets: Sequence[DataSet],
    *,
    repeats: int,
    told: Callable[[str], None] = lambda _: None,
) -> list[Cell]:
    """Run every method on every data set; `told` hears of each finished pair."""
    cells = []
    for dataset in datasets:
        for method in methods:
            cells.append(measure(method, dataset, repeats))
            told(f"{method.id} on {dataset.name}")
    return cells


def common_sets(cells: Sequence[Cell]) -> list[str]:
    """The data sets on which every method ran that ran anywhere; only these can be averaged."""
    ran = {cell.method for cell in cells if cell.accuracies}
    names = dict.fromkeys(cell.dataset for cell in cells)
    gaps = {cell.dataset for cell in cells if cell.method in ran and not cell.accuracies}
    return [name for name in names if name not in gaps]


def macro_average(cells: Sequence[Cell], method: str, datasets: Sequence[str]) -> float | None:
    """A method's mean accuracy, every data set counting the same."""
    chosen = [cell for cell in cells if cell.method == method and cell.dataset in datasets]
    values = [cell.mean for cell in chosen if cell.mean is not None]
    return mean(values) if values else None


def _same(one: Result, two: Result) -> bool:
    return np.array_equal(one.posterior, two.posterior) and np.array_equal(one.truth, two.truth)


def _meta(folder: Path) -> dict[str, Any]:
    path = folder / "meta.json"
    meta: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return meta


def _are_ratings(classes: Sequence[str]) -> bool:
    try:
        numbers = [float(name) for name in classes]
    except ValueError:
        return False
    return len(numbers) > MOST_NUMBERS or any(number % 1 for number in numbers)


def _read_test(path: Path, data: CrowdData) -> HeldOut:
    """Read `x` and `truth` of held-out items, made as the features of the data."""
    from crowdcore.io.features import read_new_features

    features = read_new_features(path, data.recipe).values
    with np.load(path, allow_pickle=False) as file:
        answers = file["truth"].astype(str) if "truth" in file else np.empty(0, str)
    shape = () if data.features is None else data.features.shape[1:]
    if len(answers) != len(features) or features.shape[1:] != shape:
        raise DataError(
            "Its test.npz must hold 'truth' and features 'x' like those of features.npz"
        )
    code = {name: index for index, name in enumerate(data.classes)}
    truth = np.array([code.get(answer, ELSEWHERE) for answer in answers.tolist()], np.int32)
    return HeldOut(features=features, truth=truth)


def _read_truth(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if any(len(row) < 2 for row in rows):  # noqa: PLR2004  (item, truth)
        raise DataError("Its truth.csv must have two columns, item and truth")
    return {item: answer for item, answer, *_ in rows[1:]}
