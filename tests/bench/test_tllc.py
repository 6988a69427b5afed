from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crowdcore.artefacts.completion import Completion
from crowdcore.bench import papers
from crowdcore.bench.datasets import DataSet
from crowdcore.bench.papers import tllc
from crowdcore.cli import app
from crowdcore.data import CrowdData, DataError
from crowdcore.registry import fit, get_method
from tests.crowds import featured_crowd


def quickly(data: CrowdData, seed: int, **params: Any) -> Completion:
    method = get_method("tllc", "complete")
    return method.complete(data, seed=seed, **{**method.quick, "contrast": False, **params})


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A small crowd under the name of one of the paper's sets, and little work."""
    data = featured_crowd()
    assert data.gold is not None
    small = DataSet(name="income", data=data, truth=data.gold, unlabelled=0)
    monkeypatch.setattr(tllc, "find", lambda _: [small])
    monkeypatch.setattr(tllc, "complete", quickly)
    ours = tllc.Filling(name=tllc.TLLC, varies=True, make=quickly)
    monkeypatch.setattr(tllc, "FILLINGS", (*tllc.FILLINGS[:2], ours))
    monkeypatch.setattr(tllc, "AGGREGATORS", ("mv", "ds", "gtic"))
    few = {"TLLC": {}, "without transfer": {"transfer": False}}
    monkeypatch.setattr(tllc, "ABLATIONS", few)
    monkeypatch.setattr(tllc, "SENSITIVITY", {"batch": (32, (32, 64), (74.94, 73.33))})
    monkeypatch.setattr(tllc, "SHARES", (0.2,))
    monkeypatch.setattr(tllc, "SIZES", (100, 200))
    return small


def test_all_tables_come_with_ours_beside_the_papers(dataset: DataSet) -> None:
    told: list[str] = []
    found = papers.reproduce("tllc", Path(), told.append, seeds=2)
    compared, ranked, ablated, sensitive, source, adversaries, cost = found
    rows = {row[0]: dict(zip(compared.header, row, strict=True)) for row in compared.rows}
    assert list(rows) == ["mv", "ds", "gtic", "average"]
    plain = (fit(dataset.data, "mv").truth == dataset.truth)[:150].mean()
    assert float(rows["mv"]["raw"].split()[0]) == pytest.approx(100 * plain, abs=8)
    assert {row[0] for row in ranked.rows} == {"raw", "wslc", "tllc"}
    assert ranked.figure is not None
    assert [row[0] for row in ablated.rows] == ["TLLC", "without transfer"]
    assert [row[3] for row in sensitive.rows] == ["74.94", "73.33"]
    assert source.rows[-1][1] == "all"
    liars = adversaries.rows[0]
    assert liars[0] == "20%"
    assert float(liars[5].split()[0]) > float(liars[2].split()[0])
    assert [row[1] for row in cost.rows] == ["500", "1,000"]
    assert "raw on income, seed 0" in told


def test_filtering_is_told_class_by_class(dataset: DataSet) -> None:
    (before, after) = (float(cell.split()[0]) for cell in tllc._source([dataset]).rows[-1][2:4])
    assert after > before


def test_adversaries_label_more_than_others() -> None:
    few, crowd = tllc.prolific(0.2, seed=0)
    liar = np.array([one == "adversary" for one in crowd.character])
    assert liar.mean() == 0.2
    assert liar[few.data.worker].mean() > 0.25
    assert few.data.gold is None


def test_a_folder_without_the_sets_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="income"):
        tllc.find(tmp_path)


def test_seeds_are_an_option_of_the_command(dataset: DataSet, tmp_path: Path) -> None:
    page = tmp_path / "chart.html"
    arguments = ["bench", "paper", "tllc", str(tmp_path), "--seeds", "2", "--chart", str(page)]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.output
    assert "How the completions rank" in told.output
    assert page.exists()
    other = CliRunner().invoke(app, ["bench", "paper", "mmlc", str(tmp_path), "--seeds", "2"])
    assert other.exit_code == 2
    assert "do not depend on seeds" in other.output
