from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crowdcore.bench import papers
from crowdcore.bench.accuracy import load
from crowdcore.bench.papers import hgnn_baselines
from crowdcore.cli import app
from crowdcore.data import DataError
from crowdcore.registry import fit
from tests.crowds import golden_crowd


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The committed crowd under the name of one of the paper's data sets."""
    data, place = golden_crowd(), tmp_path / "bird"
    place.mkdir()
    triples = zip(data.item, data.worker, data.label, strict=True)
    labels = [("task", "worker", "label")]
    labels += [(data.items[i], data.workers[w], data.classes[k]) for i, w, k in triples]
    assert data.gold is not None
    truth = [("task", "truth")]
    truth += [(name, data.classes[k]) for name, k in zip(data.items, data.gold, strict=True)]
    with (place / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(labels)
    with (place / "truth.csv").open("w", newline="") as file:
        csv.writer(file).writerows(truth)
    return tmp_path


def test_a_papers_table_has_ours_beside_theirs(folder: Path) -> None:
    told: list[str] = []
    (table,) = papers.reproduce("hgnn-baselines", folder, told.append)
    (row,) = table.rows
    assert row[0] == "bird"
    cells = dict(zip(table.header, row, strict=True))
    majority = fit(golden_crowd(), "mv").score()
    assert majority is not None
    # Every item is in the test part of four of the five folds, so the mean is the accuracy.
    assert cells["MV"].startswith(f"{majority.accuracy:.4f} ± ")
    assert cells["MV"].endswith("(0.7592)")
    assert len(told) == len(table.header) - 1


def test_the_gold_of_a_fold_is_not_scored(folder: Path) -> None:
    dataset = load(folder / "bird")
    folds = hgnn_baselines.folds_of(dataset)
    assert sorted(item for fold in folds for item in fold) == list(range(dataset.data.n_items))
    for train in folds:
        assert (hgnn_baselines.test_part(dataset, train)[train] == -1).all()


def test_unknown_papers_and_missing_data_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no paper 'hgn'"):
        papers.reproduce("hgn", tmp_path, lambda _: None)
    with pytest.raises(DataError, match="None of the data sets"):
        papers.reproduce("hgnn-baselines", tmp_path, lambda _: None)


def test_the_command_prints_the_table_and_writes_json(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "tables.json"
    command = ["bench", "paper", "hgnn-baselines", str(folder), "--json", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "iBCC + 20 % gold" in done.output
    assert json.loads(out.read_text())[0]["rows"][0][0] == "bird"
