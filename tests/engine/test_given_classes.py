"""The compact E step against one over all classes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.engine.given_classes import GivenClasses
from crowdcore.engine.labels import Labels
from tests.crowds import golden_crowd


def crowd() -> CrowdData:
    """Unused classes, an item without labels, and gold that nobody gave."""
    data = golden_crowd()
    gold = np.full(data.n_items + 1, UNKNOWN)
    gold[:10] = data.n_classes + 1  # a class that nobody gave
    gold[10:20] = 0
    return dataclasses.replace(
        data,
        items=(*data.items, "nobody saw it"),
        classes=(*data.classes, "unused", "rare"),
        gold=gold,
    )


def dense(labels: Labels, table: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
    """Posterior [N, K] where a label adds its table entry to the class that it gives."""
    data = labels.data
    scores = np.tile(prior.log().numpy(), (data.n_items, 1))
    key = data.worker * data.n_classes + data.label
    np.add.at(scores, (data.item, data.label), table.numpy()[key, 0])
    return torch.softmax(labels.clamp(torch.tensor(scores), other=-torch.inf), 1)


@pytest.mark.parametrize("size", [3, 300])  # small scores need no common factor
def test_compact_posterior_equals_the_full_one_with_and_without_prior_and_gold(size: int) -> None:
    for use_gold in (False, True):
        labels = Labels(crowd(), torch.device("cpu"), use_gold=use_gold)
        cells = GivenClasses(labels)
        table = torch.randn((labels.n_workers * labels.n_classes, 2)).double() * size
        uniform = torch.full((labels.n_classes,), 1 / labels.n_classes).double()
        skewed = torch.arange(1.0, labels.n_classes + 1).double().pow(-2)
        for prior in (uniform, skewed):
            columns = None if prior is uniform else prior.unsqueeze(1).repeat(1, 2)
            given, unseen, _ = cells.normalise(cells.sum_by_cell(table), columns)
            each = None if prior is uniform else prior
            posterior = cells.to_table(given.select(1, 0), unseen.select(1, 0), each)
            expected = dense(labels, table, prior)
            np.testing.assert_allclose(posterior, expected, atol=1e-12)


def test_class_totals_and_sums_over_keys_equal_those_of_the_full_table() -> None:
    labels = Labels(crowd(), torch.device("cpu"))
    cells = GivenClasses(labels)
    table = torch.rand((labels.n_workers * labels.n_classes, 1)).double()
    prior = torch.arange(1.0, labels.n_classes + 1).double().unsqueeze(1)
    given, unseen, _ = cells.normalise(cells.sum_by_cell(table), prior)
    posterior = cells.to_table(given.squeeze(1), unseen.squeeze(1), prior.squeeze(1))
    expected = posterior[:-1].sum(0)  # nobody labelled the last item
    np.testing.assert_allclose(cells.class_totals(given, unseen, prior).squeeze(1), expected)
    np.testing.assert_allclose(
        cells.sum_by_key(given).reshape(labels.n_workers, -1).sum(1), labels.hits(posterior)
    )


def test_large_scores_neither_overflow_nor_vanish() -> None:
    labels = Labels(golden_crowd(), torch.device("cpu"))
    labels.dtype = torch.float32
    cells = GivenClasses(labels)
    for size in (1e4, -1e4):
        scores = torch.full((len(cells.code), 1), size)
        given, unseen, total = cells.normalise(scores)
        assert torch.isfinite(total).all()
        posterior = cells.to_table(given.squeeze(1), unseen.squeeze(1))
        np.testing.assert_allclose(posterior.sum(1), 1, atol=1e-6)
