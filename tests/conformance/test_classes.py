"""Promises of methods whose labels are one class each."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from crowdcore.confusion import worker_confusion
from crowdcore.data import UNKNOWN, CrowdData, Kind
from crowdcore.method import Method
from crowdcore.needs import Needs
from crowdcore.registry import fit
from crowdcore.results.result import Result
from tests.crowds import easy_crowd, lopsided_crowd, unseen, with_some_gold

KIND: Kind = "classes"
WORSE_THAN_MAJORITY = 0.02


def suited(method: Method, data: CrowdData) -> CrowdData:
    """Give the method two classes, and gold for a third of the items, where it needs them."""
    data = easy_crowd(2) if method.needs.two_classes else data
    return with_some_gold(data) if method.needs.gold else data


def run_on(method: Method, data: CrowdData, **extra: Any) -> Result:
    return method.fit(data, **{**method.quick, **extra})


def test_renaming_renames_the_answers(method: Method) -> None:
    data = suited(method, easy_crowd())
    rng = np.random.default_rng(2)
    item, worker = rng.permutation(data.n_items), rng.permutation(data.n_workers)
    cls = rng.permutation(data.n_classes)
    assert data.gold is not None
    renamed = dataclasses.replace(
        data,
        item=item[data.item],
        worker=worker[data.worker],
        label=cls[data.label],
        gold=np.where(data.has_gold, cls[data.gold], UNKNOWN)[np.argsort(item)],
    )
    before, after = run_on(method, data), run_on(method, renamed)
    same = after.posterior[item][:, cls]
    np.testing.assert_allclose(before.posterior, same, atol=1e-6)
    if before.confusion is not None and after.confusion is not None:
        back = after.confusion[worker][:, cls][:, :, cls]
        np.testing.assert_allclose(before.confusion, back, atol=1e-6)


def test_unanimous_items_keep_their_label(method: Method) -> None:
    data = suited(method, easy_crowd())
    result = run_on(method, data)
    unanimous = (data.votes > 0).sum(1) == 1
    assert unanimous.sum() > 10
    np.testing.assert_array_equal(result.truth[unanimous], data.votes[unanimous].argmax(1))


def test_confusion_is_oriented_right(method: Method) -> None:
    data, truth = lopsided_crowd(2 if method.needs.two_classes else 3)
    data = with_some_gold(data) if method.needs.gold else data
    confusion = worker_confusion(run_on(method, data))
    turned = truth.transpose(0, 2, 1) / truth.transpose(0, 2, 1).sum(2, keepdims=True)
    assert np.abs(confusion - truth).mean() < np.abs(confusion - turned).mean()


def test_easy_crowd_is_solved_about_as_well_as_by_majority(method: Method) -> None:
    data = easy_crowd(2 if method.needs.two_classes else 3)
    result, majority = run_on(method, suited(method, data)), fit(data, "mv")
    assert data.gold is not None
    judged = unseen(result)
    right = (result.truth == data.gold)[judged].mean()
    assert right > 1.5 / data.n_classes
    assert right >= (majority.truth == data.gold)[judged].mean() - WORSE_THAN_MAJORITY


def test_unmet_needs_are_sentences(method: Method) -> None:
    if method.needs != Needs():
        bare = dataclasses.replace(easy_crowd(3), gold=None)
        assert all(sentence.endswith(".") for sentence in method.needs.unmet(bare))
