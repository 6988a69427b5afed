from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore.audit.judging import crowd_fit
from crowdcore.audit.judging.coin_fit import CoinFit
from crowdcore.audit.judging.confusion_fit import ConfusionFit
from crowdcore.audit.judging.crowd_fit import CrowdFit, fit_crowd, worker_folds
from crowdcore.audit.judging.labels import JudgedLabels
from crowdcore.data import CrowdData
from tests.audit.judging.crowds import mixed_crowd, with_gold, without_gold


def judged_labels(classes: int = 3) -> JudgedLabels:
    return JudgedLabels.from_data(without_gold(mixed_crowd(classes).data))


def left_out_hits(fit: CrowdFit, labels: JudgedLabels) -> np.ndarray:
    hits = np.zeros(len(labels.item))
    for fold in fit.left_out(labels):
        hits[fold.rows] = fold.evidence.hit
    return hits


def test_the_last_label_of_a_worker_on_an_item_counts() -> None:
    data = CrowdData.from_triples(
        [("i", "u", "a"), ("i", "v", "a"), ("i", "u", "b"), ("j", "u", "a")]
    )
    labels = JudgedLabels.from_data(data)
    assert labels.row.tolist() == [2, 3, 1]
    assert labels.given.tolist() == [1, 0, 0]
    assert labels.comparable.tolist() == [True, False, True]


def test_folds_hold_every_worker_once_and_keep_groups_together() -> None:
    labels = judged_labels()
    group = np.array([3, 17, 40])
    folds = worker_folds(labels.with_groups([group]))
    assert len(folds) == 10
    assert sorted(np.concatenate(folds).tolist()) == list(range(60))
    assert sum(set(group) <= set(fold.tolist()) for fold in folds) == 1


def test_nobodys_fold_depends_on_who_else_is_there() -> None:
    data = mixed_crowd().data
    folds, fewer = (
        worker_folds(JudgedLabels.from_data(version))
        for version in (data, data.only(data.worker != 7))
    )
    assert [fold[fold != 7].tolist() for fold in folds] == [fold.tolist() for fold in fewer]


@pytest.mark.parametrize("model", [ConfusionFit, CoinFit])
def test_beliefs_hardly_depend_on_the_judged_workers_own_labels(
    model: type[ConfusionFit] | type[CoinFit],
) -> None:
    labels = judged_labels()
    worker = int(np.diff(labels.starts).argmax())
    own = np.flatnonzero(labels.worker == worker)
    given = labels.given.copy()
    given[own] = (given[own] + 1) % 3
    changed = replace(labels, given=given)
    likeliest = []
    for version in (labels, changed):
        for fold in model.from_labels(version).left_out(version):
            rows = np.isin(fold.rows, own)
            if rows.any():
                likeliest.append(np.asarray(fold.evidence.likeliest)[rows])
    assert np.mean(likeliest[0] == likeliest[1]) > 0.98


@pytest.mark.parametrize("model", [ConfusionFit, CoinFit])
def test_beliefs_of_the_others_are_right_about_as_often_as_they_say(
    model: type[ConfusionFit] | type[CoinFit],
) -> None:
    simulation, labels = mixed_crowd(), judged_labels()
    right, total = 0.0, 0
    for fold in model.from_labels(labels).left_out(labels):
        truth = simulation.truth[labels.item[fold.rows]]
        right += float((np.asarray(fold.evidence.likeliest) == truth).sum())
        total += len(truth)
    assert right / total > 0.85


@pytest.mark.parametrize("model", [ConfusionFit, CoinFit])
def test_gold_is_believed_and_can_be_left_untold(
    model: type[ConfusionFit] | type[CoinFit],
) -> None:
    simulation = mixed_crowd()
    labels = JudgedLabels.from_data(with_gold(simulation.data, simulation.truth, 100))
    for fold in model.from_labels(labels).left_out(labels):
        known = labels.has_gold[fold.rows]
        right = labels.given[fold.rows] == simulation.truth[labels.item[fold.rows]]
        assert np.allclose(np.asarray(fold.evidence.hit)[known & right], 0.999)
        assert (np.asarray(fold.evidence.hit)[known & ~right] < 0.01).all()
        assert not np.allclose(np.asarray(fold.untold.hit)[known & right], 0.999)
        assert np.array_equal(
            np.asarray(fold.untold.hit)[~known], np.asarray(fold.evidence.hit)[~known]
        )


def test_a_copy_is_no_second_opinion() -> None:
    """Where two workers speak with one voice, neither is compared with the other."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    triples = []
    for item in range(200):
        triples += [(item, worker, truth[item]) for worker in ("a", "b", "c")]
        triples += [(item, worker, 1 - truth[item]) for worker in ("x", "y")]
    data = CrowdData.from_triples(triples)
    labels = JudgedLabels.from_data(data)
    twins = np.array([data.workers.index(name) for name in ("x", "y")])
    alone, grouped = labels, labels.with_groups([twins])
    rows = np.flatnonzero(np.isin(labels.worker, twins))
    assert grouped.weight[rows].tolist() == [0.5] * len(rows)
    hits = [left_out_hits(fit_crowd(version), version)[rows] for version in (alone, grouped)]
    assert hits[1].max() < 1e-3  # three agree, nobody else speaks for the twins
    assert (grouped.comparable == alone.comparable).all()


def test_many_classes_are_fitted_by_accuracies(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = judged_labels()
    assert isinstance(fit_crowd(labels), ConfusionFit)
    assert isinstance(fit_crowd(judged_labels(11)), CoinFit)
    assert isinstance(fit_crowd(judged_labels(10)), ConfusionFit)
    monkeypatch.setattr(crowd_fit, "MAX_MATRIX_CELLS", 60 * 9 - 1)
    assert isinstance(fit_crowd(labels), CoinFit)


def test_skill_goes_from_guessing_to_always_right() -> None:
    for fit in (ConfusionFit.from_labels(judged_labels()), CoinFit.from_labels(judged_labels())):
        skills = [fit.skill(tilt) for tilt in (-20.0, -1.0, 0.0, 1.0, 20.0)]
        assert skills == sorted(skills)
        assert skills[0] == 0
        assert skills[-1] == pytest.approx(1, abs=1e-3)
