"""`crowdcore export`: from a folder of results, and from a run of the workspace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdcore.workspace import Workspace
from tests.cli.calling import call, rows
from tests.dashboard.results import save_run
from tests.export.finished import LONG, MTURK, finished


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_bytes(LONG)
    done = call("run", tmp_path / "labels.csv", "--method", "mv", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    return tmp_path / "out"


def test_the_given_file_comes_back_with_truths(results: Path, tmp_path: Path) -> None:
    done = call("export", results, "--out", tmp_path / "back")
    assert done.exit_code == 0, done.output
    assert "3 items, 0 without a truth" in done.output
    written = rows(tmp_path / "back" / "labels-with-truths.csv")
    assert [row["truth"] for row in written] == ["cat"] * 3 + ["dog"] * 2 + ["cat"] * 2
    assert list(written[0])[:4] == ["task", "text", "worker", "label"]


def test_labels_that_moved_are_asked_for_and_other_labels_refused(
    results: Path, tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").rename(tmp_path / "moved.csv")
    done = call("export", results, "--out", tmp_path / "back")
    assert done.exit_code == 2
    assert "--labels" in done.output
    done = call("export", results, "--labels", tmp_path / "moved.csv", "--out", tmp_path / "back")
    assert done.exit_code == 0, done.output
    (tmp_path / "other.csv").write_bytes(LONG.replace(b"t3", b"t4"))
    done = call("export", results, "--labels", tmp_path / "other.csv", "--out", tmp_path / "back")
    assert done.exit_code == 2
    assert "not those that the run was made of" in done.output


def test_a_folder_of_an_earlier_version_and_other_folders_are_told(
    results: Path, tmp_path: Path
) -> None:
    record = json.loads((results / "result.json").read_text())
    del record["reading"]
    (results / "result.json").write_text(json.dumps(record))
    assert "Run again" in call("export", results).output
    (tmp_path / "empty").mkdir()
    assert "no result.json" in call("export", tmp_path / "empty").output
    assert "no export called" in call("export", results, "--as", "word").output


def test_a_run_of_the_workspace_goes_back_to_mturk(tmp_path: Path) -> None:
    home = Workspace(tmp_path / "home")
    run = save_run(home, finished(MTURK, "batch.csv").data, "mv", excluded=["W3"])
    place: list[str | Path] = ["--workspace", tmp_path / "home", "--out", tmp_path]
    done = call("export", run.id, "--as", "mturk", *place)
    assert done.exit_code == 0, done.output
    assert "1 worker left out" in done.output
    written = rows(tmp_path / "batch-reviewed.csv")
    assert [row["WorkerId"] for row in written if row["Reject"]] == ["W3", "W3"]
    done = call("export", "Pets#1", "--as", "mturk", "--reject", "W2", *place)
    written = rows(tmp_path / "batch-reviewed.csv")
    assert {row["WorkerId"] for row in written if row["Reject"]} == {"W2", "W3"}
    assert call("export", "Pets#1", "--reject", "W9", *place).exit_code == 2
