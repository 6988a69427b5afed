import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crowdcore.bench.accuracy import (
    Cell,
    common_sets,
    macro_average,
    measure,
    score,
    score_classifier,
)
from crowdcore.bench.datasets import NEVER_GIVEN, find_folders, load, short_names
from crowdcore.cli import app
from crowdcore.data import DataError
from crowdcore.needs import Needs
from crowdcore.registry import get_method


def write(folder: Path, labels: str, truth: str | None = None, meta: Any = None) -> Path:
    """Write rows such as "1 a x, 1 b y" as a data set."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [",".join(row.split()) for row in labels.split(", ")]
    (folder / "labels.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    if truth is not None:
        answers = [",".join(row.split()) for row in truth.split(", ") if row]
        (folder / "truth.csv").write_text("task,truth\n" + "\n".join(answers) + "\n")
    if meta is not None:
        (folder / "meta.json").write_text(json.dumps(meta))
    return folder


# Item 1 is clear, 2 is tied (x is the lowest), 3 is clear but wrong, 4 has no truth.
TINY = "1 a x, 1 b x, 1 c y, 2 a x, 2 b y, 3 a y, 3 b y, 3 c x, 4 a y"


def test_ties_go_to_the_lowest_class_and_only_known_items_count(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "tiny", TINY, "1 x, 2 x, 3 x"))
    assert dataset.n_scored == 3
    assert measure(get_method("mv"), dataset, 1).accuracies == (2 / 3,)
    other = load(write(tmp_path / "tiny", TINY, "1 x, 2 y, 3 x"))
    assert measure(get_method("mv"), other, 1).accuracies == (1 / 3,)


def test_gold_never_reaches_a_method(tmp_path: Path) -> None:
    assert load(write(tmp_path / "tiny", TINY, "1 x, 2 x")).data.gold is None
    folder = tmp_path / "leaky"
    folder.mkdir()
    (folder / "labels.csv").write_text("item,worker,label,gold\n1,a,x,x\n1,b,y,x\n2,a,y,y\n")
    (folder / "truth.csv").write_text("item,truth\n1,x\n2,y\n")
    with pytest.raises(DataError, match="holds gold answers, which methods must not see"):
        load(folder)


def test_a_method_that_cannot_run_says_why(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "tiny", TINY, "1 x, 2 x"))
    for needs, sentence in [(Needs(gold=True), "learns from gold"), (Needs(features=True), "feat")]:
        cell = measure(replace(get_method("mv"), needs=needs), dataset, 3)
        assert (cell.accuracies, cell.mean, cell.spread) == ((), None, None)
        assert sentence in cell.reason


def test_repeated_rows_count_as_published(tmp_path: Path) -> None:
    labels = "1 a y, 1 a y, 1 b x, 2 a x, 2 a y, 2 b x"
    dataset = load(write(tmp_path / "twice", labels, "1 y, 2 x"))
    assert dataset.data.n_labels == 6
    assert measure(get_method("mv"), dataset, 1).accuracies == (1.0,)


def test_a_true_class_that_nobody_gave_is_a_miss(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "set", TINY, "1 x, 3 z, 9 x"))
    assert set(dataset.truth) == {0, -1, NEVER_GIVEN}
    assert dataset.data.classes == ("x", "y")
    assert dataset.unlabelled == 1
    assert measure(get_method("mv"), dataset, 1).mean == 0.5


def test_shared_ties_count_by_the_chance_of_a_draw(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "tiny", TINY, "1 x, 2 y, 3 x"))
    result = get_method("mv").fit(dataset.data)
    assert score(result, dataset.truth) == 1 / 3
    assert score(result, dataset.truth, shared=True) == 0.5
    elsewhere = np.where(dataset.truth >= 0, NEVER_GIVEN, dataset.truth)
    assert score(result, elsewhere, shared=True) == 0


@pytest.mark.parametrize(
    ("labels", "truth", "meta", "sentence"),
    [
        (TINY, None, None, "It has no truth.csv"),
        (TINY, "", None, "truth.csv has no answers"),
        (TINY, "77 x", None, "None of the items of truth.csv has a label"),
        ("1 a 0.5, 1 b 2, 2 a 3", "1 2", None, "ratings, not classes"),
        ("1 a 1, 1 b 2", "1 2", {"label_type": "numeric"}, "ratings, not classes"),
        (", ".join(f"{n} a {n}" for n in range(40)), "1 1", None, "ratings, not classes"),
    ],
)
def test_a_folder_that_cannot_be_scored_says_why(
    tmp_path: Path, labels: str, truth: str | None, meta: Any, sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        load(write(tmp_path / "set", labels, truth, meta))


def test_folders_are_found_below_and_named_apart(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, TINY) for name in ("one/a", "one/b", "two/a")]
    found = find_folders([tmp_path, tmp_path / "one"])
    assert found == paths
    assert short_names(found) == [str(paths[0]), "b", str(paths[2])]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no labels\.csv"):
        find_folders([tmp_path / "empty"])
    with pytest.raises(DataError, match="There is no folder"):
        find_folders([tmp_path / "nowhere"])


def test_a_method_that_ignores_its_seed_is_scored_once(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "tiny", TINY, "1 x, 2 x, 3 x"))
    assert len(measure(get_method("ds"), dataset, 4).accuracies) == 1
    assert measure(get_method("ds"), dataset, 4).spread is None


def test_a_method_that_needs_its_seed_gets_a_mean_and_a_spread(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{i} {w} {rng.choice(['x', 'y'])}" for i in range(60) for w in "ab"]
    dataset = load(
        write(tmp_path / "noise", ", ".join(rows), ", ".join(f"{i} x" for i in range(60)))
    )
    cell = measure(get_method("fds"), dataset, 4)
    assert len(cell.accuracies) == 4
    assert cell.mean == pytest.approx(np.mean(cell.accuracies))
    assert cell.spread == pytest.approx(np.std(cell.accuracies, ddof=1))


def with_features(folder: Path, **test: Any) -> Path:
    """Thirty items whose first feature tells the class, and a test set."""
    rng = np.random.default_rng(0)
    truth = np.arange(30) % 2
    rows = [f"{i} {w} {'xy'[k]}" for i, k in enumerate(truth) for w in "abc"]
    write(folder, ", ".join(rows), ", ".join(f"{i} {'xy'[k]}" for i, k in enumerate(truth)))
    x = rng.normal(size=(30, 3)) + 4 * truth[:, None] * [1, 0, 0]
    np.savez(folder / "features.npz", task=np.arange(30).astype(str), x=x)
    if test:
        np.savez(folder / "test.npz", **test)
    return folder


def test_a_classifier_is_scored_on_held_out_items(tmp_path: Path) -> None:
    x = np.array([[0.0, 0, 0], [4, 0, 0], [4, 0, 0]])
    folder = with_features(tmp_path / "set", task=list("abc"), x=x, truth=["x", "y", "z"])
    dataset = load(folder)
    assert dataset.test is not None
    assert dataset.test.truth.tolist() == [0, 1, NEVER_GIVEN]
    assert dataset.test.features.shape == (3, 3)
    quick = get_method("dl_mv").fit(dataset.data, epochs=60, held_out=0)
    assert score_classifier(quick, dataset.test) == pytest.approx(2 / 3)
    assert score_classifier(get_method("mv").fit(dataset.data), dataset.test) is None
    assert load(with_features(tmp_path / "none")).test is None


def test_held_out_items_have_a_row_of_their_own(tmp_path: Path) -> None:
    x = np.array([[0.0, 0, 0], [4, 0, 0], [4, 0, 0]])
    place = with_features(tmp_path / "set", task=list("abc"), x=x, truth=["x", "y", "z"])
    dataset = load(place)
    right = score_classifier(get_method("dl_mv").fit(dataset.data), dataset.test)
    arguments = ["bench", "accuracy", str(tmp_path), "--methods", "mv,dl_mv", "--repeats", "1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    row = next(line for line in done.stdout.splitlines() if line.startswith("set, held out"))
    assert row.split()[3:5] == ["3", "-"]  # a vote leaves no classifier
    assert row.split()[5] == f"{right:.4f}"
    assert "items of test.npz" in done.stdout


@pytest.mark.parametrize(
    "test",
    [
        {"x": np.zeros((2, 3))},
        {"x": np.zeros((2, 3)), "truth": ["x"]},
        {"x": np.zeros((2, 4)), "truth": ["x", "y"]},
    ],
)
def test_a_test_set_that_does_not_fit_says_so(tmp_path: Path, test: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"test\.npz must hold 'truth' and features 'x'"):
        load(with_features(tmp_path / "set", **test))


def test_the_average_is_over_the_sets_that_all_could_run_on() -> None:
    cells = [
        Cell(dataset="one", method="a", accuracies=(0.5, 0.7)),
        Cell(dataset="two", method="a", accuracies=(0.8,)),
        Cell(dataset="one", method="b", accuracies=(0.9,)),
        Cell(dataset="two", method="b", reason="It needs item features."),
        Cell(dataset="one", method="c", reason="It needs gold."),
        Cell(dataset="two", method="c", reason="It needs gold."),
    ]
    assert common_sets(cells) == ["one"]
    assert macro_average(cells, "a", ["one"]) == pytest.approx(0.6)
    assert macro_average(cells, "a", ["one", "two"]) == pytest.approx(0.7)
    assert macro_average(cells, "c", ["one"]) is None


def test_the_table_ends_with_the_average_and_tells_what_was_left_out(tmp_path: Path) -> None:
    write(tmp_path / "data" / "easy", TINY, "1 x, 2 x, 3 y")
    write(tmp_path / "data" / "hard", TINY, "1 y, 2 x, 3 x, 9 x")
    write(tmp_path / "data" / "plain", TINY)
    out = tmp_path / "table.json"
    done = CliRunner().invoke(
        app,
        ["bench", "accuracy", str(tmp_path / "data"), "--methods", "mv,wawa", "--json", str(out)],
    )
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["data", "set", "items", "mv", "wawa"]
    assert lines[2].split()[:3] == ["easy", "3", "1.0000"]
    assert lines[3].split()[:3] == ["hard", "3", "0.3333"]
    assert lines[4].split()[:2] == ["average", "0.6667"]
    assert "plain is skipped: It has no truth.csv." in done.stdout
    assert "hard: 1 true answer of items that nobody labelled." in done.stdout
    cells = json.loads(out.read_text())
    assert [(one["dataset"], one["method"]) for one in cells[:2]] == [
        ("easy", "mv"),
        ("easy", "wawa"),
    ]
    assert cells[0]["accuracy"] == 1.0


def test_a_folder_without_data_is_a_sentence(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["bench", "accuracy", str(tmp_path), "--methods", "mv"])
    assert done.exit_code == 2
    assert "There is no labels.csv in" in done.stderr
