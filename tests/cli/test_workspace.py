"""`crowdcore workspace`: listing, checking and mending what the dashboard keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdcore.workspace import Workspace
from tests.cli.calling import call
from tests.workspace.samples import made_result, small_data


@pytest.fixture
def home(tmp_path: Path) -> Workspace:
    home = Workspace(tmp_path)
    project = home.create_project("Birds")
    dataset = home.add_data(project.id, small_data(), name="labels.csv")
    home.save_result(home.queue(dataset.id, "mv").id, made_result(small_data()))
    return home


def test_everything_is_listed_with_its_id(home: Workspace) -> None:
    done = call("workspace", "list", "--workspace", home.root)
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.stdout.splitlines()[2:]] == ["project", "data", "run"]
    assert "5 labels of 4 items by 2 workers" in done.stdout
    listed = json.loads(call("workspace", "list", "--workspace", home.root, "--json").stdout)
    assert {row["id"] for row in listed} >= {home.projects()[0].id}


def test_a_check_tells_of_damage_and_of_what_is_not_listed(home: Workspace) -> None:
    done = call("workspace", "check", "--workspace", home.root)
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        ["Checked 1 data set and 1 result.", "Everything is as it was written."],
    )
    (truth,) = home.root.glob("runs/*/result/truth.npy")
    truth.write_bytes(truth.read_bytes()[:-1] + b"\x01")
    (labels,) = home.root.glob("data/*/labels.parquet")
    labels.unlink()
    done = call("workspace", "check", "--workspace", home.root)
    assert done.exit_code == 1
    assert "the truths (truth.npy)" in done.stdout
    assert "the labels (labels.parquet)" in done.stdout
    checked = json.loads(call("workspace", "check", "--workspace", home.root, "--json").stdout)
    assert (len(checked["damaged"]), checked["unlisted"]) == (2, [])


def test_a_lost_catalogue_is_made_again(home: Workspace) -> None:
    before = home.projects()
    home.catalogue.path.unlink()
    refused = call("workspace", "list", "--workspace", home.root)
    assert refused.exit_code == 2
    assert "its catalogue is missing or empty" in refused.stderr
    assert "crowdcore workspace rebuild" in refused.stderr
    done = call("workspace", "rebuild", "--workspace", home.root)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Listed 1 project, 1 data set and 1 run that the catalogue did")
    assert Workspace(home.root).projects() == before
    again = json.loads(call("workspace", "rebuild", "--workspace", home.root, "--json").stdout)
    assert again == {"projects": 0, "datasets": 0, "runs": 0, "unknown": []}


def test_a_folder_without_a_workspace_is_not_made_one_by_a_rebuild(tmp_path: Path) -> None:
    done = call("workspace", "rebuild", "--workspace", tmp_path)
    assert (done.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "There are no projects, data or runs in this folder" in done.stderr


def test_gold_features_and_labels_are_added_as_a_version(home: Workspace, tmp_path: Path) -> None:
    dataset = home.datasets(home.projects()[0].id)[0]
    item = home.load_data(dataset.id).items[0]
    labels, gold, features = (tmp_path / f"{name}.csv" for name in ("labels", "gold", "features"))
    labels.write_text(f"item,worker,label\n{item},zoe,yes\n", encoding="utf-8")
    gold.write_text(f"item,answer\n{item},no\n", encoding="utf-8")
    features.write_text(f"item,a,b\n{item},1,2\nc,3,4\n", encoding="utf-8")
    files = ("--labels", labels, "--gold", gold, "--features", features)
    answer = call("workspace", "add", dataset.id, *files, "--workspace", home.root)
    assert answer.exit_code == 0, answer.output
    newest = home.datasets(dataset.project_id)[0]
    assert (newest.version, newest.n_labels) == (2, dataset.n_labels + 1)
    assert newest.n_features == 2
    assert "1 label, 1 worker, 1 changed gold answer, 2 item features" in answer.output
    nothing = call("workspace", "add", dataset.id, "--workspace", home.root)
    assert nothing.exit_code == 2
