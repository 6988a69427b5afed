from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crowdcore.bench import attention_cost, papers
from crowdcore.bench.datasets import load
from crowdcore.bench.papers import hgnn, hgnn_baselines
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


def test_fewer_folds_are_less_work_where_a_paper_has_folds(folder: Path) -> None:
    (few,) = papers.reproduce("hgnn-baselines", folder, lambda _: None, folds=2)
    (all_of_them,) = papers.reproduce("hgnn-baselines", folder, lambda _: None, folds=None)
    assert few.rows != all_of_them.rows


def test_an_option_that_a_paper_does_not_have_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hgnn_baselines, "OPTIONS", ())
    with pytest.raises(DataError, match="hgnn-baselines do not depend on folds"):
        papers.reproduce("hgnn-baselines", folder, lambda _: None, folds=2)


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


def test_the_help_names_every_paper() -> None:
    text = " ".join(CliRunner().invoke(app, ["bench", "paper", "--help"]).output.split())
    assert "hgnn" in papers.names()
    for name in papers.names():
        assert name in text


def here(work: Callable[..., Any], *arguments: Any) -> Any:
    """Measure in this process, which has everything imported."""
    return work(*arguments)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few epochs, few nodes, one process."""
    for setups in (hgnn.SETUPS, hgnn.ABLATIONS):
        for name, setup in list(setups.items()):
            params = setup.params if name in ("ibcc", "ebcc") else {**setup.params, "epochs": 2}
            monkeypatch.setitem(setups, name, replace(setup, params=params))
    monkeypatch.setattr(hgnn, "PROCESSES", 1)
    monkeypatch.setattr(attention_cost, "SMALL", 50)
    monkeypatch.setattr(attention_cost, "LARGE", 100)
    monkeypatch.setattr(attention_cost, "_in_own_process", here)


@pytest.mark.usefixtures("quick")
def test_hgnn_has_ours_beside_the_papers_in_every_table(folder: Path) -> None:
    told: list[str] = []
    six, seven, three, four, speed = papers.reproduce("hgnn", folder, told.append, folds=2)
    cells = dict(zip(six.header, six.rows[0], strict=True))
    assert cells["data set"] == "bird"
    assert cells["paper"] == "0.8610 ± 0.0508"
    assert six.notes[0].startswith(("0 of 1 sets", "1 of 1 sets"))
    assert seven.rows[0][1].endswith("(0.8472)")
    assert [len(table.header) for table in (seven, three, four)] == [7, 3, 4]
    assert three.rows[0][1] == four.rows[0][1] == seven.rows[0][6]  # one and the same fits
    assert [row[0] for row in speed.rows] == ["layer, 50 nodes", "layer, 100 nodes"]
    assert [row[0] for row in six.rows] == ["bird", "mean"]
    alone, mean = (dict(zip(six.header, row, strict=True)) for row in six.rows)
    assert mean["paper"] == "0.8610"
    assert alone["EBCC"].startswith(mean["EBCC"])
    # Of 15 setups two need no fold.
    assert len(told) == 13 * 2 + 2 + 1


def test_a_set_can_be_scored_without_the_workers_that_its_gold_came_from(folder: Path) -> None:
    place = folder / "bird"
    names, n_items = load(place).data.workers, load(place).data.n_items
    row = hgnn.CrowdSubset(name="bird, no experts", path=place, without=names[:2])
    job = hgnn.Job(row=row, setup=hgnn.SETUPS["ibcc"], folds=(0,))
    left = hgnn.read(row)
    assert set(left.data.worker) == set(range(2, len(names)))
    assert 0 < left.n_scored <= n_items
    assert 0.5 < hgnn.run(job).last[0] <= 1


def test_the_test_gold_chooses_one_epoch_for_all_folds() -> None:
    epochs = np.array([[0.5, 0.7, 0.9], [0.5, 0.8, 0.4]])
    cell = hgnn.FoldAccuracies(last=np.zeros(2), epochs=epochs)
    assert cell.best().tolist() == [0.7, 0.8]  # not the best of each fold
