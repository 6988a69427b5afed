from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdcore.artefacts.completion import Completion
from crowdcore.bench import papers
from crowdcore.bench.datasets import DataSet
from crowdcore.bench.papers import mmlc_df
from crowdcore.registry import fit, get_method
from tests.crowds import featured_crowd


def quickly(data: Any, filler: str, seed: int) -> tuple[Completion, float]:
    method = get_method(filler, "complete")
    return method.complete(data, seed=seed, **method.quick), 0.0


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A small crowd under the name of one of the paper's sets, and fillings that take no time."""
    data = featured_crowd()
    assert data.gold is not None
    small = DataSet(name="music", data=data, truth=data.gold, unlabelled=0)
    monkeypatch.setattr(mmlc_df, "datasets", lambda _: [small])
    monkeypatch.setattr(mmlc_df, "fill", quickly)
    monkeypatch.setattr(mmlc_df, "SEEDS", 2)
    monkeypatch.setattr(mmlc_df, "LEVELS", 4)
    return small


def test_a_part_of_a_completion_is_what_the_threshold_would_have_filled(dataset: DataSet) -> None:
    data, method = dataset.data, get_method("mmlc_df", "complete")
    middle = int(np.median(data.labels_per_worker))
    part = mmlc_df.part_of(quickly(data, "mmlc_df", 0)[0], middle)
    whole = method.complete(data, **{**method.quick, "threshold": middle})
    np.testing.assert_array_equal(part.label, whole.label)
    np.testing.assert_array_equal(part.probability, whole.probability)
    assert part.label.dtype == whole.label.dtype


def test_ours_stand_beside_the_papers_with_densities_and_ranks(dataset: DataSet) -> None:
    told: list[str] = []
    filled, density, ranked = papers.reproduce("mmlc-df", Path(), told.append)
    rows = {row[0]: dict(zip(filled.header, row, strict=False)) for row in filled.rows}
    assert list(rows) == ["mv", "ds", "fds", "hds", "seconds"]
    assert filled.rows[0][-1] == "+7.58 ± 0.45"
    assert rows["mv"]["mmlc_df"][0] in "+-"
    plain = fit(dataset.data, "ds")
    assert rows["ds"]["original"].startswith(f"{100 * (plain.truth == dataset.truth).mean():.2f}")
    thresholds = [int(row[0]) for row in density.rows]
    assert thresholds == sorted(thresholds, reverse=True)
    shares = [float(row[2]) for row in density.rows]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    # Nobody is completed above the highest threshold: the data are as they were.
    assert density.rows[0][1] == "0"
    assert density.rows[0][4] == rows["ds"]["original"]
    assert len(density.figure.data) == 4
    assert {row[0] for row in ranked.rows} == {"original", *mmlc_df.FILLERS}
    assert ranked.figure is not None
    assert told[0] == "g_mv on music, seed 0"
