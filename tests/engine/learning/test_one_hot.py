"""Networks on one-hot labels against the dense input they stand for."""

from __future__ import annotations

import pytest
import torch

from crowdcore.engine.labels import Labels
from crowdcore.engine.learning.one_hot import linear
from crowdcore.methods.neural import _laa as laa
from tests.crowds import golden_crowd


def test_sparse_layer_equals_the_dense_one_forward_and_backward() -> None:
    data = golden_crowd()
    labels = Labels(data, torch.device("cpu"))
    keys = labels.n_workers * labels.n_classes
    rows = torch.zeros(labels.n_items, keys, dtype=torch.float64)
    cells = data.worker * data.n_classes + data.label
    rows.index_put_(
        (torch.tensor(data.item), torch.tensor(cells)), torch.tensor(1.0).double(), accumulate=True
    )
    weight = torch.rand(keys, 5, dtype=torch.float64, requires_grad=True)
    weights = torch.rand(labels.n_items, 5, dtype=torch.float64)
    sparse, dense = linear(labels, weight), rows @ weight
    torch.testing.assert_close(sparse, dense)
    (by_sparse,) = torch.autograd.grad((sparse.sin() * weights).sum(), weight)
    (by_dense,) = torch.autograd.grad((dense.sin() * weights).sum(), weight)
    torch.testing.assert_close(by_sparse, by_dense)


def test_reconstruction_in_chunks_equals_that_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = Labels(golden_crowd(), torch.device("cpu"))
    model = laa.Aspects(labels, 2, torch.Generator().manual_seed(1))
    q = labels.shares()
    at_once = model.reconstruction(q)
    gradient = torch.autograd.grad(at_once, model.decoder)
    monkeypatch.setattr(laa, "NUMBERS_PER_CHUNK", 500)
    in_chunks = model.reconstruction(q)
    torch.testing.assert_close(in_chunks, at_once)
    torch.testing.assert_close(torch.autograd.grad(in_chunks, model.decoder), gradient)


def test_reconstruction_is_the_mean_cross_entropy_over_all_inputs() -> None:
    data = golden_crowd()
    labels = Labels(data, torch.device("cpu"))
    model = laa.Aspects(labels, 1, None)
    # Untrained decoders say 1/K for everything.
    inputs = labels.n_items * labels.n_workers * labels.n_classes
    expected = data.n_labels * torch.log(torch.tensor(3.0).double()) / inputs
    torch.testing.assert_close(model.reconstruction(labels.shares()).detach(), expected)
