from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdcore.artefacts.adverse_workers import AdverseWorkers
from crowdcore.artefacts.completion import Completion
from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.bench.papers.tllc import prolific
from crowdcore.data import CrowdData
from crowdcore.methods.completion.tllc import _transfer as transfer
from crowdcore.methods.completion.tllc._transfer import SourceDomain
from crowdcore.registry import fit, get_method
from crowdcore.run import Run
from crowdcore.workspace.result_files import read_result, write_result
from tests.crowds import easy_crowd, golden_crowd
from tests.left_behind import left_behind
from tests.test_completers import with_features


def fill(data: CrowdData, **settings: Any) -> Completion:
    method = get_method("tllc", "complete")
    return method.complete(data, **{**method.quick, **settings})


def right(done: Completion) -> float:
    """The share of filled cells that are what the item is."""
    item, worker = np.nonzero(done.label >= 0)
    assert done.data.gold is not None
    return float((done.label[item, worker] == done.data.gold[item]).mean())


def test_the_source_keeps_what_is_clear_for_its_class() -> None:
    votes = np.array([[4, 0], [3, 1], [2, 2], [0, 3], [1, 2], [0, 0]], float)
    rng = np.random.default_rng(0)
    every = SourceDomain.from_votes(votes, rng, filtering=False)
    assert sorted(every.item) == [0, 1, 2, 3, 4]
    clear = SourceDomain.from_votes(votes, rng)
    assert {0, 3} <= set(clear.item.tolist()) <= {0, 1, 3}
    assert clear.answer[clear.item == 3].tolist() == [1]
    assert clear.n_classes == 2
    assert (np.diff(clear.answer) >= 0).all()


def test_prolific_adversaries_neither_guide_nor_are_completed() -> None:
    dataset, crowd = prolific(0.3, seed=0, items=200)
    liar = np.array([one == "adversary" for one in crowd.character])
    careful, careless = (fill(dataset.data, robust=robust) for robust in (True, False))
    adverse = left_behind(careful, AdverseWorkers).adverse
    assert adverse[liar].all()
    assert (careful.label[:, adverse] == -1).all()
    assert f"{adverse.sum()} of 30 workers" in " ".join(careful.facts["notes"])
    assert not left_behind(careless, AdverseWorkers).adverse.any()
    shares = [
        (get_method("mv").fit(dataset.data, completion=one).truth == dataset.truth).mean()
        for one in (careful, careless)
    ]
    assert shares[0] > shares[1] + 0.05


def test_embeddings_are_kept_for_every_label_and_survive_the_workspace(tmp_path: Path) -> None:
    data = with_features(golden_crowd())
    result = fit(data, "mv", complete="tllc", complete_params=get_method("tllc", "complete").quick)
    write_result(result, tmp_path)
    kept = read_result(tmp_path, data)
    points = left_behind(kept, LabelEmbeddings)
    assert points.without_transfer is not None
    for array in (points.with_transfer, points.without_transfer):
        assert array.shape == (data.n_labels, data.n_classes)
        assert array.dtype == np.float32
        assert np.isfinite(array).all()
    assert not np.allclose(points.with_transfer, points.without_transfer)
    assert left_behind(kept, AdverseWorkers).adverse.shape == (data.n_workers,)


def test_transfer_tells_a_workers_classes_better_apart() -> None:
    data = with_features(easy_crowd())
    done = get_method("tllc", "complete").complete(data)

    def apart(placed: Any) -> float:
        """How much of the scatter lies between a worker's classes, over all workers."""
        key = data.worker * data.n_classes + data.label
        inner = total = 0.0
        for group, codes in ((key, data.n_workers * data.n_classes), (data.worker, data.n_workers)):
            size = np.maximum(np.bincount(group, minlength=codes), 1)[:, None]
            sums = np.zeros((codes, placed.shape[1]))
            np.add.at(sums, group, placed)
            scatter = float(((placed - (sums / size)[group]) ** 2).sum())
            inner, total = (scatter, total) if codes > data.n_workers else (inner, scatter)
        return 1 - inner / total

    points = left_behind(done, LabelEmbeddings)
    assert apart(points.with_transfer) > apart(points.without_transfer) + 0.05


def test_a_networks_input_never_holds_the_workers_own_label() -> None:
    data = with_features(easy_crowd())
    # Another label of the same worker on the same item: what their network sees stays the same,
    # and untuned networks place it where they did.
    label = data.label.copy()
    label[0] = (label[0] + 1) % data.n_classes
    other = dataclasses.replace(data, label=label)
    before, after = (
        left_behind(fill(each, transfer=False, pretraining=False), LabelEmbeddings).with_transfer[0]
        for each in (data, other)
    )
    np.testing.assert_allclose(before, after, atol=1e-6)


@pytest.mark.parametrize("off", ["filtering", "pretraining", "transfer", "others", "robust"])
def test_every_part_can_be_left_out(off: str) -> None:
    data = with_features(easy_crowd())
    whole, less = fill(data), fill(data, **{off: False})
    assert less.n_filled > 0
    assert right(less) > 1 / data.n_classes
    assert not np.array_equal(whole.label, less.label) or off == "robust"


def test_workers_in_parts_are_completed_as_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    data = with_features(easy_crowd())
    whole = fill(data, transfer=False)
    monkeypatch.setattr(transfer, "NUMBERS_PER_CHUNK", 1000)
    parts = fill(data, transfer=False)
    np.testing.assert_array_equal(whole.label, parts.label)
    assert right(fill(data)) > 0.5


def test_conditions_fill_ever_more() -> None:
    data = with_features(easy_crowd())
    sizes = {
        condition: fill(data, condition=condition).n_filled
        for condition in ("nearest within", "first within", "nearest")
    }
    assert sizes["nearest within"] <= sizes["first within"] < sizes["nearest"]
    assert sizes["nearest"] == data.n_items * data.n_workers - data.n_labels


def test_who_gave_one_class_or_one_label_is_no_trouble_and_is_told() -> None:
    data = with_features(easy_crowd())
    keep = (data.worker > 1) | ((data.worker == 1) & (data.label == 0))
    keep[np.flatnonzero(data.worker == 0)[0]] = True
    few = data.only(keep)
    done = fill(few, dimension=2)
    assert "2 workers gave one class only" in " ".join(done.facts["notes"])
    assert (done.label[:, 0] == -1).all()  # one label has no distance to be within
    assert set(np.unique(done.label[:, 1])) <= {-1, 0}
    assert left_behind(done, LabelEmbeddings).with_transfer.shape == (few.n_labels, 2)


def test_a_crowd_that_says_one_thing_begins_at_random_and_is_reported() -> None:
    data = with_features(easy_crowd())
    same = dataclasses.replace(data, label=np.zeros_like(data.label))
    done = fill(same)
    assert "All majorities are of one class" in " ".join(done.facts["notes"])
    assert set(np.unique(done.label)) <= {-1, 0}


def test_without_features_labels_stand_in_and_the_notes_say_so() -> None:
    data = easy_crowd()
    done = fill(data)
    assert "no item features" in " ".join(done.facts["notes"])
    assert right(done) > 0.6


def test_the_work_grows_as_the_labels_do() -> None:
    data = with_features(easy_crowd())
    half = data.only(np.arange(data.n_labels) % 2 == 0)
    steps = []
    for each in (half, data):
        run = Run()
        fill(each, run=run, pairs=100)
        steps.append(sum(row["stage"] == "Workers" for row in run.history))
    assert steps[0] < steps[1] <= 2 * steps[0] + 2
