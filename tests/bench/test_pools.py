"""Pools of methods, and what choosing one is worth elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crowdcore.bench.accuracy import score
from crowdcore.bench.datasets import load
from crowdcore.bench.pools import Pools, compare, possible
from crowdcore.cli import app
from crowdcore.data import DataError
from crowdcore.registry import fit
from crowdcore.simulation.classes import simulate


def _save(folder: Path, seed: int) -> Path:
    crowd = simulate(items=60, workers=8, classes=3, labels_per_item=3, spammers=0.4, seed=seed)
    data, folder = crowd.data, folder / f"crowd{seed}"
    folder.mkdir()
    rows = zip(data.item, data.worker, data.label, strict=True)
    lines = [f"{data.items[i]},{data.workers[w]},{data.classes[c]}" for i, w, c in rows]
    (folder / "labels.csv").write_text("\n".join(["item,worker,label", *lines]))
    answers = zip(data.items, crowd.truth, strict=True)
    lines = [f"{item},{data.classes[code]}" for item, code in answers]
    (folder / "truth.csv").write_text("\n".join(["item,truth", *lines]))
    return folder


def test_every_combination_is_a_pool_with_the_leader_at_three_weights() -> None:
    assert list(possible(["a", "b"], "c")) == [
        {"a": 1},
        {"a": 1, "c": 1, "mv": 1},
        {"b": 1},
        {"b": 1, "c": 1, "mv": 1},
        {"a": 1, "b": 1, "mv": 1},
        {"a": 1, "b": 1, "c": 1, "mv": 1},
        {"a": 1, "b": 1, "c": 2, "mv": 1},
        {"c": 1},
    ]


def test_a_set_that_is_left_out_does_not_choose_its_pool() -> None:
    accuracy = np.array([[1.0, 0.0, 0.0], [0.5, 0.6, 0.7]])
    found = Pools(pools=[{"a": 1}, {"b": 1}], accuracy=accuracy)
    assert found.left_out().tolist() == [0.5, 0.6, 0.7]
    other = Pools(pools=[{"a": 1}, {"b": 1}], accuracy=accuracy[:, :2])
    assert other.left_out().tolist() == [0.5, 0.0]  # each by what is best on the other
    assert found.best() == 1


def test_the_pool_of_auto_scores_as_auto_does(tmp_path: Path) -> None:
    dataset = load(_save(tmp_path, 1))
    found = compare(["hds", "ds", "hbcc"], "mace", [dataset])
    place = found.index({"hds": 1, "ds": 1, "hbcc": 1, "mace": 3, "mv": 1})
    assert place is not None
    assert found.accuracy[place, 0] == score(fit(dataset.data, "auto"), dataset.truth)
    alone = found.index({"ds": 1})
    assert alone is not None
    assert found.accuracy[alone, 0] == score(fit(dataset.data, "ds"), dataset.truth)
    for twice in ("ds", "mv"):
        with pytest.raises(DataError, match=f"{twice} is in every pool already"):
            compare([twice], "ds", [dataset])


def test_the_command_names_the_pools_and_writes_every_score(tmp_path: Path) -> None:
    for seed in (1, 2):
        _save(tmp_path, seed)
    (_save(tmp_path, 3) / "truth.csv").unlink()
    out = tmp_path / "pools.json"
    arguments = [str(tmp_path), "--members", "zc,ds", "--json", str(out)]
    done = CliRunner().invoke(app, ["bench", "pools", *arguments])
    assert done.exit_code == 0, done.output
    assert "highest mean of 8" in done.stdout
    assert "left out" in done.stdout
    assert "crowd3 is skipped: It has no truth.csv" in done.stdout
    written = json.loads(out.read_text())
    assert len(written["pools"]) == 8
    assert set(written["pools"][0]["accuracy"]) == set(written["left_out"]) == {"crowd1", "crowd2"}
