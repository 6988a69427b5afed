from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore import fit
from crowdcore.artefacts.completion import Completion
from crowdcore.audit import completion as audit
from crowdcore.audit.completion import ItemAnswers
from crowdcore.data import UNKNOWN
from tests.completing import filled, sparse_pets
from tests.crowds import golden_crowd

CAT, DOG = 0, 1
TRUTH = np.array([CAT, DOG, CAT, DOG, CAT, DOG])[:, None]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work on a few items at a time, so that what is added up over blocks is tested."""
    monkeypatch.setattr("crowdcore.artefacts.completion.COUNTED_VALUES_PER_CHUNK", 20)
    monkeypatch.setattr("crowdcore.audit.completion.VALUES_PER_CHUNK", 10)


def random_completion() -> Completion:
    data, rng = golden_crowd(), np.random.default_rng(0)
    shape = (data.n_items, data.n_workers)
    label = rng.integers(-data.n_classes, data.n_classes, shape).clip(min=-1)
    return filled(data, label, rng.random(shape))


def test_a_summary_counts_cells_by_class_and_by_sureness() -> None:
    data = sparse_pets()
    sure = np.where(TRUTH == DOG, 1.0, 0.5)
    counted = audit.summary(filled(data, np.where(TRUTH == DOG, DOG, CAT), sure))
    assert counted.observed.tolist() == [5, 9]
    assert counted.filled.tolist() == [7, 9]
    assert counted.n_empty == 0
    assert counted.probability_counts[10] == 7  # 0.5 opens its bin
    assert counted.probability_counts[-1] == 9  # and 1 is in the last one
    assert counted.probability_counts.sum() == 16
    assert counted.mean_probability == pytest.approx(12.5 / 16)


def test_where_nothing_was_filled_in_nothing_is_sure() -> None:
    counted = audit.summary(filled(sparse_pets(), -1))
    assert counted.filled.tolist() == [0, 0]
    assert counted.n_empty == 16
    assert np.isnan(counted.mean_probability)


def test_sureness_is_binned_as_by_numpy() -> None:
    completion = random_completion()
    sure = completion.probability[completion.label >= 0].astype(np.float64)
    counted = audit.summary(completion)
    assert (
        counted.probability_counts.tolist() == np.histogram(sure, audit.N_BINS, (0, 1))[0].tolist()
    )
    assert counted.mean_probability == pytest.approx(sure.mean())


def test_quality_is_that_of_own_filled_and_all_labels_on_gold() -> None:
    data = sparse_pets()
    frame = audit.worker_quality(fit(data, "mv"), filled(data, TRUTH), "gold").set_index("worker")
    assert frame["own"]["turned"] == 0
    assert frame["filled"]["turned"] == 1
    assert frame["completed"]["turned"] == 0.5
    assert frame["change"]["turned"] == 0.5
    assert frame["own_n"].to_dict() == {"ann": 4, "bob": 2, "cy": 3, "turned": 2, "new": 0}
    assert frame["filled_n"].to_dict() == {"ann": 0, "bob": 2, "cy": 1, "turned": 2, "new": 4}
    assert np.isnan(frame["own"]["new"])
    assert np.isnan(frame["change"]["new"])
    assert frame["completed"]["new"] == 1
    assert frame["n_filled"]["ann"] == 1


def test_against_truths_lone_labels_and_ties_do_not_count() -> None:
    data = replace(sparse_pets(), gold=None)
    result = fit(data, "mv")
    assert result.tied[4]
    frame = audit.worker_quality(result, filled(data, TRUTH), "truths").set_index("worker")
    assert frame["own_n"]["ann"] == 4  # not the tied i4
    assert frame["own_n"]["new"] == 0  # nobody else saw i5
    assert frame["filled_n"]["new"] == 4
    without = audit.worker_quality(result, filled(data, TRUTH), "gold")
    assert (without["own_n"] == 0).all()


def test_quality_equals_that_of_the_list() -> None:
    completion = random_completion()
    data = completion.data
    frame = audit.worker_quality(fit(data, "mv"), completion, "gold")
    listed = completion.listed()
    assert data.gold is not None
    right = listed.label == data.gold[listed.item]
    hits = np.bincount(listed.worker[right], minlength=data.n_workers)
    np.testing.assert_allclose(
        frame["completed"], hits / np.bincount(listed.worker, minlength=data.n_workers)
    )


def answers(truth: list[int], confidence: list[float]) -> ItemAnswers:
    return ItemAnswers(truth=np.array(truth, np.int32), confidence=np.array(confidence))


def test_changes_are_flips_and_what_was_or_is_open() -> None:
    before = answers([CAT, CAT, DOG, UNKNOWN, DOG, UNKNOWN], [0.9, 0.9, 0.6, 0.5, 0.8, 0.5])
    after = answers([CAT, DOG, CAT, CAT, UNKNOWN, UNKNOWN], [0.9, 0.7, 0.8, 0.9, 0.5, 0.5])
    changed = audit.changes(before, after)
    assert {name: rows.tolist() for name, rows in changed.items()} == {
        "flipped": [2, 1],  # the surest first
        "settled": [3],
        "opened": [4],
    }


def test_flips_are_held_to_gold() -> None:
    data = sparse_pets()
    before = answers([DOG, CAT, CAT, DOG, CAT, DOG], [0.6] * 6)
    after = answers([CAT, DOG, DOG, DOG, DOG, CAT], [0.8] * 6)
    rows = audit.changes(before, after)["flipped"]
    assert len(rows) == 5
    score = audit.score_flips(data, before, after, rows)
    assert (score.n, score.gained, score.lost) == (3, 2, 1)
    assert audit.score_flips(replace(data, gold=None), before, after, rows).n == 0


def test_a_truth_drawn_between_equals_is_no_answer() -> None:
    data = sparse_pets()
    result, votes = fit(data, "mv"), audit.ItemAnswers.from_votes(data)
    assert audit.ItemAnswers.from_result(result).truth[4] == UNKNOWN
    np.testing.assert_array_equal(audit.ItemAnswers.from_result(result).truth, votes.truth)
    assert votes.confidence[0] == pytest.approx(2 / 3)


def test_a_piece_of_the_matrix_tells_observed_from_filled() -> None:
    data = sparse_pets()
    workers, items = np.array([3, 0]), np.array([5, 2, 0])
    piece = audit.matrix_piece(filled(data, TRUTH, 0.9), workers, items)
    assert piece.label.tolist() == [[DOG, DOG, DOG], [DOG, CAT, CAT]]
    assert piece.observed.tolist() == [[False, True, True], [False, True, True]]
    assert piece.probability[0, 0] == pytest.approx(0.9, abs=1e-3)
    empty = audit.matrix_piece(filled(data, -1), workers, items)
    assert empty.label[:, 0].tolist() == [UNKNOWN, UNKNOWN]


def test_every_cell_of_the_matrix_is_that_of_the_list() -> None:
    completion = random_completion()
    data, listed = completion.data, completion.listed()
    rng = np.random.default_rng(1)
    workers, items = rng.permutation(data.n_workers), rng.permutation(data.n_items)
    expected = np.full((data.n_workers, data.n_items), UNKNOWN)
    expected[listed.worker, listed.item] = listed.label
    piece = audit.matrix_piece(completion, workers, items)
    np.testing.assert_array_equal(piece.label, expected[np.ix_(workers, items)])
    assert piece.observed.sum() == completion.n_observed


def test_workers_who_answer_alike_stand_together() -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, (2, 40))
    group = rng.permutation([0] * 6 + [1] * 6)
    label = kinds[group]
    label[rng.random(label.shape) < 0.3] = UNKNOWN
    order = audit.order_by_similarity(label)
    assert sorted(order.tolist()) == list(range(12))
    assert (np.diff(group[order]) != 0).sum() == 1
    assert audit.order_by_similarity(label[:2]).tolist() == [0, 1]
    assert len(audit.order_by_similarity(np.full((4, 3), UNKNOWN))) == 4


def test_neighbours_are_alike_where_classes_lie_apart() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, UNKNOWN], [30, 30, 5]).astype(np.int32)
    apart = rng.normal(size=(65, 3)) + 20 * codes[:, None]
    near, chance = audit.same_class_neighbours(apart, codes)
    assert near == 1
    assert chance == pytest.approx(29 / 59)
    mixed, _ = audit.same_class_neighbours(rng.normal(size=(65, 3)), codes)
    assert mixed < 0.75
    assert np.isnan(audit.same_class_neighbours(apart[:1], codes[:1])[0])
