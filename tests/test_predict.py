"""`crowdcore predict`, and the classifier that `crowdcore run` leaves."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crowdcore.cli import app
from crowdcore.cli.result_folder import CLASSIFIER
from crowdcore.data import CrowdData
from crowdcore.engine.learning.classifier import FILE, Classifier
from crowdcore.simulation.classes import simulate
from crowdcore.workspace import Workspace
from tests.engine.learning.test_classifier import TABLE, left_by, of_table
from tests.reading.test_features import npy, npz
from tests.reading.test_pictures import packed, picture

QUICK = ["--method", "dl_mv", "-p", "epochs=3", "-p", "held_out=0"]


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The file of a classifier of texts and numbers."""
    found = Classifier.from_result(left_by(of_table()))
    assert found is not None
    found.save(tmp_path / FILE)
    return tmp_path / FILE


@pytest.fixture
def features(tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    path.write_bytes(TABLE)
    return path


def test_both_call_the_file_the_same() -> None:
    assert CLASSIFIER == FILE


def test_predictions_have_the_columns_of_truths(saved: Path, features: Path) -> None:
    done = call("predict", saved, features)
    assert done.exit_code == 0, done.output
    table = rows(done.stdout)
    assert list(table[0]) == ["item", "truth", "confidence", "p:a", "p:b"]
    data = of_table()
    assert tuple(row["item"] for row in table) == data.items
    assert data.features is not None
    expected = Classifier.load(saved).predict(data.features)
    assert [float(row["p:b"]) for row in table] == pytest.approx(expected[:, 1], abs=1e-12)
    for row in table:
        assert float(row["confidence"]) == max(float(row["p:a"]), float(row["p:b"]))
        assert row["truth"] == ("a" if float(row["p:a"]) > float(row["p:b"]) else "b")


def test_the_table_goes_to_a_file_on_demand(saved: Path, features: Path, tmp_path: Path) -> None:
    out = tmp_path / "predicted.csv"
    done = call("predict", saved, features, "--out", out)
    assert done.exit_code == 0
    assert done.stdout.startswith("40 items: ")
    assert f"Wrote {out}" in done.stdout
    assert rows(out.read_text()) == rows(call("predict", saved, features).stdout)


def test_names_are_exact_unless_they_are_for_spreadsheets(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "evil.csv"
    path.write_bytes(b"item,text,age\n=1+1,a cat,5\n")
    assert rows(call("predict", saved, path).stdout)[0]["item"] == "=1+1"
    marked = call("predict", saved, path, "--for-spreadsheets").stdout
    assert rows(marked)[0]["item"] == "'=1+1"


def test_what_was_left_out_is_told_beside_the_table(saved: Path, tmp_path: Path) -> None:
    data = of_table()
    assert data.features is not None
    (tmp_path / "x.npy").write_bytes(npy(data.features[:2]))
    done = call("predict", saved, tmp_path / "x.npy")
    assert [row["item"] for row in rows(done.stdout)] == ["1", "2"]
    assert "The features have no ids: items are numbered from 1." in done.stderr


def crowd_with_features(folder: Path) -> CrowdData:
    data = simulate(items=40, workers=8, classes=2, labels_per_item=3, features=4, seed=1).data
    names = zip(data.item, data.worker, data.label, strict=True)
    lines = [f"{data.items[i]},{data.workers[w]},{data.classes[k]}" for i, w, k in names]
    (folder / "labels.csv").write_text("\n".join(["item,worker,label", *lines]))
    (folder / "x.npz").write_bytes(npz(item=np.array(data.items), x=data.features))
    return data


def test_a_run_leaves_a_classifier_that_predicts_from_its_folder(tmp_path: Path) -> None:
    crowd_with_features(tmp_path)
    out, x = tmp_path / "out", tmp_path / "x.npz"
    done = call("run", tmp_path / "labels.csv", "--features", x, *QUICK, "--out", out)
    assert done.exit_code == 0, done.output
    assert f"{out / CLASSIFIER}" in done.stdout
    truths = {row["item"]: row for row in rows((out / "truths.csv").read_text())}
    for row in rows(call("predict", out, x).stdout):
        assert float(row["confidence"]) == pytest.approx(float(truths[row["item"]]["confidence"]))
        assert row["truth"] == truths[row["item"]]["truth"]
    # A later run without a classifier must not leave the old one beside its truths.
    call("run", tmp_path / "labels.csv", "--method", "mv", "--out", out)
    assert not (out / CLASSIFIER).exists()
    done = call("predict", out, x)
    assert done.exit_code == 2
    assert "has no classifier" in done.stderr


def test_pictures_go_the_whole_way_from_a_zip_to_predictions(tmp_path: Path) -> None:
    labels = [f"t{n},w{w},{'xy'[n % 2]}" for n in range(6) for w in range(3)]
    (tmp_path / "labels.csv").write_text("\n".join(["item,worker,label", *labels]))
    shown = {f"t{n}__png": picture((40 * n, 9, 250 * (n % 2))) for n in range(6)}
    (tmp_path / "x.zip").write_bytes(packed(**shown))
    out = tmp_path / "out"
    options = ["--features", tmp_path / "x.zip", "--picture-size", "8"]
    done = call("run", tmp_path / "labels.csv", *options, *QUICK, "--out", out)
    assert done.exit_code == 0, done.output
    (tmp_path / "new.zip").write_bytes(packed(n1__png=picture(), n2__png=b"broken"))
    done = call("predict", out, tmp_path / "new.zip")
    assert [row["item"] for row in rows(done.stdout)] == ["n1"]
    assert "Pictures that cannot be read (1): 'n2.png': damaged" in done.stderr


def test_a_run_of_the_workspace_is_found_by_its_id(tmp_path: Path, features: Path) -> None:
    home, data = Workspace(tmp_path / "home"), of_table()
    dataset = home.add_data(home.create_project("P").id, data, name="x")
    with_one, without = (home.queue(dataset.id, "mv", seed=seed).id for seed in (0, 1))
    home.save_result(with_one, left_by(data))
    place = ["--workspace", tmp_path / "home"]
    done = call("predict", with_one, features, *place)
    assert len(rows(done.stdout)) == 40
    done = call("predict", without, features, *place)
    assert (done.exit_code, "has no classifier" in done.stderr) == (2, True)
    done = call("predict", "0" * len(without), features, *place)
    assert (done.exit_code, "no run" in done.stderr) == (2, True)


def test_what_is_made_of_features_is_told_by_check(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    text = ["tweet,worker,label,text", *(f"t{n},{w},x,a cat {n}" for n in range(5) for w in "ab")]
    labels.write_text("\n".join(text))
    done = call("check", labels, "--feature-column", "text")
    assert "Features: 5 items with" in done.stdout
    assert "text 'text': " in done.stdout
    assert "Columns of features that are text (1)" in done.stdout
    assert "Features:" not in call("check", labels).stdout
    (tmp_path / "x.csv").write_text("tweet,a,b\nt0,1,2\nt1,3,4\n")
    done = call("check", labels, "--features", tmp_path / "x.csv")
    assert "Features: 2 items with 2 numbers each" in done.stdout
    assert "Items without features (3)" in done.stdout


WRONG = {
    "no such run": ("nowhere", "new.csv", "There is no file or folder 'nowhere'"),
    "no classifier": ("new.csv", "new.csv", "not a classifier"),
    "no features": (FILE, "nothing.csv", "There is no file"),
    "too few numbers": (FILE, "few.npy", "per item, and these features have 2 numbers"),
    "too few columns": (FILE, "columns.csv", "column is missing"),
    "a folder": (FILE, ".", "This is a folder"),
}


@pytest.mark.usefixtures("saved", "features")
@pytest.mark.parametrize(("run", "source", "says"), WRONG.values(), ids=WRONG.keys())
def test_every_wrong_input_is_one_sentence(
    run: str, source: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.npy").write_bytes(npy(np.zeros((3, 2))))
    Path("columns.csv").write_text("item,age\nn1,5\n")
    done = call("predict", run, source, "--out", "predicted.csv")
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not Path("predicted.csv").exists()


def test_the_features_are_never_overwritten(saved: Path, features: Path) -> None:
    done = call("predict", saved, features, "--out", features)
    assert (done.exit_code, "would overwrite the features" in done.stderr) == (2, True)
    assert features.read_bytes() == TABLE
