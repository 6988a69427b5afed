from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from crowdcore.data import DataError
from crowdcore.engine.kept_counts import KeptCounts
from crowdcore.engine.prepared_labels import PreparedLabels
from crowdcore.jobs import prepared_results
from crowdcore.jobs.prepared_run import PreparedRequest, run_part
from crowdcore.prepared.layout import PreparedFolder
from crowdcore.prepared.part import PreparedPart
from crowdcore.prepared.prepare import prepare
from crowdcore.registry import fit, get_method
from crowdcore.run import Cancelled, Run
from tests.prepared.test_parts import everything, write_labels

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> PreparedFolder:
    where = tmp_path_factory.mktemp("prepared")
    write_labels(where / "labels.csv", gold_items=40)
    return prepare([where / "labels.csv"], where / "out")


def truths(out: Path) -> pd.DataFrame:
    paths = sorted((out / "truths").glob("bucket=*.parquet"))
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


@pytest.mark.parametrize("name", ["ds", "auto"])
def test_a_run_writes_what_a_fit_in_memory_finds(
    folder: PreparedFolder, tmp_path: Path, name: str
) -> None:
    record = run_part(PreparedRequest(folder=folder.path, out=tmp_path, method=name, device="cpu"))
    expected = fit(everything(folder), name)
    written, table = truths(tmp_path), expected.truths()
    assert written["item"].tolist() == table["item"].tolist()
    assert written["truth"].tolist() == table["truth"].tolist()
    assert written.columns.tolist() == table.columns.tolist()
    np.testing.assert_allclose(written["p:cat"], table["p:cat"], atol=1e-6)
    workers = pd.read_parquet(tmp_path / "workers.parquet")
    assert workers["verdict"].tolist() == expected.workers()["verdict"].tolist()
    assert (tmp_path / "_SUCCESS").exists()
    assert not (tmp_path / ".state").exists()
    stored = json.loads((tmp_path / "result.json").read_text())
    score = expected.score()
    assert record is not None
    assert score is not None
    assert stored["score"]["correct"] == score.correct
    assert stored["data"]["labels"] == expected.data.n_labels


def test_workers_of_a_large_crowd_are_judged_by_a_sample(
    folder: PreparedFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared_results, "MAX_JUDGED_LABELS", 600)
    record = run_part(PreparedRequest(folder=folder.path, out=tmp_path, method="mv"))
    assert record is not None
    assert any("drawn at random" in note for note in record["provenance"]["notes"])
    workers = pd.read_parquet(tmp_path / "workers.parquet")
    assert workers["n_labels"].sum() == folder.manifest.n_labels
    assert workers["n_compared"].sum() <= 600


def test_what_needs_all_labels_is_refused_in_a_sentence(
    folder: PreparedFolder, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="needs all labels in memory"):
        run_part(PreparedRequest(folder=folder.path, out=tmp_path, method="ebcc"))
    params = {"calibrate": "labels"}
    with pytest.raises(DataError, match="calibrate"):
        run_part(PreparedRequest(folder=folder.path, out=tmp_path, method="ds", params=params))


@pytest.mark.parametrize("name", ["ds", "ibcc", "lfc"])
def test_a_fit_goes_on_from_the_counts_that_were_kept(
    folder: PreparedFolder, tmp_path: Path, name: str
) -> None:
    method = get_method(name)

    def run_until(stop_at: int | None) -> tuple[Any, Run]:
        run = Run(device="cpu", should_stop=lambda: run.steps == stop_at)
        labels = PreparedLabels(PreparedPart(folder, folder.share(0, 1)), CPU)
        labels.kept = KeptCounts(tmp_path, run, writes=True, device=CPU, every=0)
        return method.function(labels, method.configure({"tol": 0, "max_iter": 12}), run), run

    with pytest.raises(Cancelled):
        run_until(7)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "step-000005.npz",
        "step-000006.npz",
    ]
    labels = PreparedLabels(PreparedPart(folder, folder.share(0, 1)), CPU)
    whole_run = Run(device="cpu")
    whole = method.function(labels, method.configure({"tol": 0, "max_iter": 12}), whole_run)
    resumed, run = run_until(None)
    assert run.steps == whole_run.steps == 12
    assert [row["step"] for row in run.history] == list(range(12))
    assert torch.equal(resumed.posterior, whole.posterior)


def command(folder: PreparedFolder, out: Path, *more: str) -> list[str]:
    base = [sys.executable, "-m", "crowdcore", "run", str(folder.path), "--out", str(out)]
    return [*base, "--method", "ds", "--device", "cpu", *more]


def test_two_processes_find_the_same_and_one_that_is_killed_is_done_without(
    folder: PreparedFolder, tmp_path: Path
) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = run_part(PreparedRequest(folder=folder.path, out=tmp_path / "one", method="ds"))
    process = subprocess.Popen(
        command(folder, tmp_path / "two", "--parts", "2", "--json"),
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    import psutil

    deadline = time.monotonic() + 60
    children: list[psutil.Process] = []
    while len(children) < 2 and time.monotonic() < deadline:
        children = psutil.Process(process.pid).children()
        time.sleep(0.05)
    children[1].kill()  # rank 1, wherever it is
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    assert b"A part was killed" in errors
    record = json.loads(output)
    assert done is not None
    assert record["parts"] == 2
    assert record["summary"]["tied"] == done["summary"]["tied"]
    pd.testing.assert_frame_equal(truths(tmp_path / "one"), truths(tmp_path / "two"), atol=1e-5)
