from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crowdcore.bench import papers
from crowdcore.bench.datasets import DataSet
from crowdcore.bench.papers import mmlc, mmlc_redundancy
from crowdcore.bench.variants import Variant
from crowdcore.cli import app
from crowdcore.data import DataError
from crowdcore.registry import fit, get_method
from tests.crowds import featured_crowd


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A small crowd under the name of one of the paper's sets, and fits that take little time."""
    data = featured_crowd()
    assert data.gold is not None
    small = DataSet(name="music", data=data, truth=data.gold, unlabelled=0)

    def quickly(data: Any, method: str, *, seed: int, **params: Any) -> Any:
        return fit(data, method, seed=seed, **{**get_method(method).quick, **params})

    for module in (mmlc, mmlc_redundancy):
        monkeypatch.setattr(module, "datasets", lambda _: [small])
        monkeypatch.setattr(module, "fit", quickly)
    monkeypatch.setattr(mmlc, "SEEDS", 2)
    monkeypatch.setattr(mmlc_redundancy, "DRAWS", 2)
    return small


def test_the_table_has_all_oracles_and_a_bound_that_is_called_one(
    dataset: DataSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        mmlc, "compared_variants", lambda: [Variant(title="mv", method=get_method("mv"), params={})]
    )
    (table,) = papers.reproduce("mmlc", Path(), lambda _: None)
    rows = {row[0]: row for row in table.rows}
    assert next(iter(rows)) == "mv"
    assert sum(name.startswith("mmlc_owf ") for name in rows) == 6
    assert rows["mmlc_owf kde"][2] == "79.14 ± 0.21"
    assert "has seen all gold" in list(rows)[-1]
    assert "±" in rows["mmlc_owf kde"][1]


def test_every_classifier_that_needs_no_gold_takes_part() -> None:
    titles = [row.title for row in mmlc.compared_variants()]
    assert titles[:4] == ["mv", "ds", "fds", "hds"]
    assert {"crowd_layer mw", "unionnet b", "raykar_em", "fixed_difficulty_em"} <= set(titles)
    assert "dl_true" not in titles


def test_a_folder_without_the_sets_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="labelme"):
        mmlc.datasets(tmp_path)


def test_thinning_keeps_at_most_so_many_labels_of_every_item(dataset: DataSet) -> None:
    before = dataset.data.labels_per_item
    for most in (1, 2, 3):
        after = mmlc_redundancy.thinned(dataset, most, 0).data.labels_per_item
        np.testing.assert_array_equal(after, np.minimum(before, most))
    one, two = (mmlc_redundancy.thinned(dataset, 1, seed).data for seed in (0, 1))
    assert not np.array_equal(one.worker, two.worker)


def test_levels_begin_with_one_label_and_end_with_all() -> None:
    assert mmlc_redundancy.levels(1) == [1]
    assert mmlc_redundancy.levels(3) == [1, 2, 3]
    assert mmlc_redundancy.levels(4) == [1, 2, 4]
    assert mmlc_redundancy.levels(7) == [1, 3, 5, 7]


def test_redundancy_can_be_drawn(
    dataset: DataSet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mmlc_redundancy, "METHODS", ("mv", "ds"))
    page = tmp_path / "chart.html"
    told = CliRunner().invoke(
        app, ["bench", "paper", "mmlc-redundancy", str(tmp_path), "--chart", str(page)]
    )
    assert told.exit_code == 0, told.output
    assert "Figure 2: music" in told.output
    assert "Most labels per item" in page.read_text(encoding="utf-8")


def test_tables_without_charts_say_so(tmp_path: Path) -> None:
    bare = papers.Table(title="t", header=["a"], rows=[])
    with pytest.raises(DataError, match="without charts"):
        papers.write_charts([bare], tmp_path / "chart.html")
