"""Rated data sets with known numbers, as benchmarks read them from folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.bench.datasets import read_truth
from crowdcore.data import CrowdData, DataError, Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOutRatings:
    """Items that nobody rated, with features, to ask a trained network about."""

    features: NDArray[np.float32]  # [n, D]
    truth: Floats  # [n]


@dataclass(frozen=True, kw_only=True, eq=False)
class RatedSet:
    """Ratings without gold, and the numbers to compare with afterwards."""

    name: str
    data: CrowdData
    truth: Floats  # [N]; NaN where it is not known
    test: HeldOutRatings | None = None  # from test.npz, where there is one

    @property
    def n_scored(self) -> int:
        """How many items have a known number."""
        return int(np.isfinite(self.truth).sum())


def load_rated(folder: Path, name: str | None = None) -> RatedSet:
    """Read a rated data set with its known numbers.

    Parameters
    ----------
    folder : Path
        Holds labels.csv and truth.csv; features.npz and test.npz are read where they exist.
    name : str or None, optional
        What to call it; by default, as the folder.

    Returns
    -------
    RatedSet
        Ratings without gold, and the numbers.

    Raises
    ------
    DataError
        Files are missing, or labels or truths are no numbers.
    """
    from crowdcore.reading.labels.read import Cleaning, read_labels

    truth_file, features = folder / "truth.csv", folder / "features.npz"
    if not truth_file.exists():
        raise DataError("It has no truth.csv")
    data = read_labels(
        folder / "labels.csv",
        features=features if features.exists() else None,
        cleaning=Cleaning(exact_duplicates="keep", contradictions="all", kind="ratings"),
    )
    if data.gold is not None:
        raise DataError("Its labels.csv holds gold answers, which methods must not see")
    codes = {item: code for code, item in enumerate(data.items)}
    truth = np.full(data.n_items, np.nan)
    try:
        for item, answer in read_truth(truth_file).items():
            if item in codes:
                truth[codes[item]] = float(answer)
    except ValueError:
        raise DataError("A truth of its truth.csv is no number") from None
    if not np.isfinite(truth).any():
        raise DataError("None of the items of truth.csv has a rating")
    return RatedSet(
        name=name or folder.name, data=data, truth=truth, test=_read_test(folder / "test.npz", data)
    )


def _read_test(path: Path, data: CrowdData) -> HeldOutRatings | None:
    if not path.exists() or data.features is None:
        return None
    with np.load(path, allow_pickle=False) as file:
        held: dict[str, Any] = {name: file[name] for name in ("x", "truth") if name in file}
    if len(held) < 2 or held["x"].shape[1:] != data.features.shape[1:]:  # noqa: PLR2004  (x, truth)
        raise DataError(
            "Its test.npz must hold 'truth' and features 'x' like those of features.npz"
        )
    return HeldOutRatings(
        features=held["x"].astype(np.float32), truth=held["truth"].astype(np.float64)
    )
