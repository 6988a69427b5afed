"""What is held out: whole groups, single rows, one label per item, or every row once."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from crowdcore.engine.labels import Labels
from crowdcore.engine.splits import (
    MIN_HELD_OUT_ROWS,
    MIN_LABELS_PER_ITEM,
    folds,
    hold_out_groups,
    hold_out_rows,
    one_label_per_item,
)
from crowdcore.run import Run
from tests.crowds import easy_crowd


def test_groups_are_held_out_whole() -> None:
    labels = Labels(easy_crowd(), torch.device("cpu"))
    items = labels.rows.item.numpy()
    split = hold_out_groups(labels, items, 0.2, Run())
    held, kept = set(items[split.held_out.numpy()]), set(items[split.train.numpy()])
    assert len(held) == round(0.2 * labels.n_items)
    assert not held & kept
    assert split.all_rows.tolist() == list(range(labels.n_labels))


@pytest.mark.parametrize(("share", "held"), [(0.19, 0), (0.2, 20), (1.0, 0)])
def test_nothing_is_held_out_where_that_would_be_too_little_or_all(share: float, held: int) -> None:
    labels = Labels(easy_crowd(), torch.device("cpu"))
    split = hold_out_groups(labels, np.arange(100), share, Run())
    assert MIN_HELD_OUT_ROWS == 20
    assert len(split.held_out) == held
    assert len(split.train) == 100 - held


def test_rows_are_either_learnt_from_or_held_out() -> None:
    train, held_out = hold_out_rows(10, 3, np.random.default_rng(0))
    assert len(held_out) == 3
    assert sorted([*train, *held_out]) == list(range(10))


def test_one_label_is_drawn_of_every_item_that_has_enough_whatever_the_order() -> None:
    data = easy_crowd()
    few = data.item != 0
    few[np.flatnonzero(data.item == 0)[: MIN_LABELS_PER_ITEM - 1]] = True
    data = data.only(few)  # of the first item two labels are left
    drawn = one_label_per_item(data, np.random.default_rng(0))
    assert sorted(data.item[drawn]) == list(range(1, data.n_items))
    order = np.random.default_rng(1).permutation(data.n_labels)
    mixed = dataclasses.replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    again = order[one_label_per_item(mixed, np.random.default_rng(0))]
    assert again.tolist() == drawn.tolist()


def test_only_the_items_that_may_do_lose_a_label() -> None:
    data = easy_crowd()
    drawn = one_label_per_item(data, np.random.default_rng(0), np.arange(data.n_items) < 5)
    assert sorted(data.item[drawn]) == list(range(5))


def test_folds_hold_out_every_row_once() -> None:
    rows = np.array([3, 5, 8, 9, 11])
    splits = folds(rows, 3, np.random.default_rng(0))
    assert [len(held) for _, held in splits] == [2, 2, 1]
    assert sorted(np.concatenate([held for _, held in splits])) == rows.tolist()
    for train, held in splits:
        assert sorted([*train, *held]) == rows.tolist()


def test_there_are_no_more_folds_than_rows_and_one_at_least() -> None:
    rng = np.random.default_rng(0)
    assert len(folds(np.arange(2), 5, rng)) == 2
    ((train, held),) = folds(np.arange(0), 5, rng)
    assert len(train) == len(held) == 0
