"""Files whose answers hold several classes, or compare two items."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore import read_labels
from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.simulation.sets import simulate_sets
from tests.crowds import golden_arena


def file_of_sets(separator: str) -> bytes:
    data = simulate_sets(items=40, workers=8, labels_per_item=4, classes=5, seed=1).data
    assert data.sets is not None
    names = np.array(["cat", "dog", "cow", "wild boar", "none of these"])
    lines = ["item,worker,label"]
    for item, worker, label in zip(data.item, data.worker, data.label, strict=True):
        ticked = names[data.sets[label]]
        if separator == "json":
            cell = "[" + ", ".join(f'""{name}""' for name in ticked) + "]"
        else:
            cell = separator.join(ticked)
        lines.append(f'{data.items[item]},{data.workers[worker]},"{cell}"')
    return "\n".join(lines).encode()


@pytest.mark.parametrize("separator", ["|", "; ", "\n", "json"])
def test_several_classes_in_one_cell_are_split(separator: str) -> None:
    data = read_labels(file_of_sets(separator))
    assert data.kind == "sets"
    assert data.classes == ("cat", "cow", "dog", "none of these", "wild boar")
    report = data.report
    assert report.n_classes == 5
    assert [finding.count > 0 for finding in report.findings if finding.id == "several_classes"]
    assert not [finding for finding in report.warnings if finding.id == "spellings"]
    assert sum(report.left_out.values()) + report.n_labels == report.n_answers


def test_ticking_nothing_is_told_from_no_answer() -> None:
    lists = read_labels(file_of_sets("json"))
    assert lists.sets is not None
    n_empty = int((lists.sets.sum(1) == 0)[lists.label].sum())
    assert n_empty > 0  # [] is an answer
    cells = file_of_sets("|")
    left_out = read_labels(cells)
    assert lists.n_labels == left_out.n_labels + n_empty  # a blank cell is none,
    kept = read_labels(cells, cleaning=Cleaning(empty_labels="keep"))
    assert kept.n_labels == lists.n_labels  # unless it is said to be one
    assert kept.sets is not None
    assert int((kept.sets.sum(1) == 0)[kept.label].sum()) == n_empty


def test_class_names_with_a_comma_are_not_split() -> None:
    rows = [f'i{i},w{w},"{["cats, all", "dogs"][i % 2]}"' for i in range(20) for w in range(3)]
    data = read_labels("\n".join(["item,worker,label", *rows]).encode())
    assert data.kind == "classes"
    assert data.classes == ("cats, all", "dogs")


@pytest.mark.parametrize("columns", [("left", "right"), ("model_a", "model_b")])
@pytest.mark.parametrize("answer", ["item", "side"])
def test_comparisons_are_read_with_their_ties(columns: tuple[str, str], answer: str) -> None:
    arena = golden_arena()
    assert arena.other is not None
    lines = [f"{columns[0]},{columns[1]},annotator,winner"]
    for left, right, worker, label in zip(
        arena.item, arena.other, arena.worker, arena.label, strict=True
    ):
        names = (arena.items[left], arena.items[right], "tie")
        said = names[label] if answer == "item" else (*columns, "tie")[label]
        lines.append(f"{names[0]},{names[1]},{arena.workers[worker]},{said}")
    if answer == "item":  # a winner is hardly ever neither of the two
        lines = [line for line in lines if not line.endswith("tie")]
    data = read_labels("\n".join(lines).encode())
    assert data.kind == "comparisons"
    assert data.other is not None
    assert (data.n_items, data.n_workers) == (arena.n_items, arena.n_workers)
    assert data.n_labels == len(lines) - 1
    first = [data.items[data.item[0]], data.items[data.other[0]], int(data.label[0])]
    assert first == [arena.items[arena.item[0]], arena.items[arena.other[0]], arena.label[0]]


def test_what_is_no_comparison_is_counted_and_left_out() -> None:
    arena = golden_arena()
    assert arena.other is not None
    rows = [
        f"{arena.items[a]},{arena.items[b]},{arena.workers[w]},{('left', 'right', 'tie')[o]}"
        for a, b, w, o in zip(arena.item, arena.other, arena.worker, arena.label, strict=True)
    ]
    rows += ["m01,m01,w1,left", "m01,m02,w1,", "m01,m02,,left"]
    data = read_labels("\n".join(["left,right,worker,label", *rows]).encode())
    assert data.n_labels == arena.n_labels
    assert sum(data.report.left_out.values()) == 3
    known = read_labels(
        "\n".join(["left,right,worker,label", *rows]).encode(),
        gold=b"item,score\nm01,1.5\nm02,-2\n",
    )
    assert known.n_gold == 2
    assert known.gold is not None
    assert known.gold[known.items.index("m01")] == 1.5
    with pytest.raises(DataError, match="must be numbers"):
        read_labels(
            "\n".join(["left,right,worker,label", *rows]).encode(), gold=b"item,score\nm01,good\n"
        )
