"""Networks on one-hot labels against the dense input they stand for."""

from __future__ import annotations

import pytest
import torch

from crowdcore.engine import autoencoder
from crowdcore.engine.onehot import linear
from crowdcore.labels import Labels
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
    weigh = torch.rand(labels.n_items, 5, dtype=torch.float64)
    sparse, dense = linear(labels, weight), rows @ weight
    torch.testing.assert_close(sparse, dense)
    (by_sparse,) = torch.autograd.grad((sparse.sin() * weigh).sum(), weight)
    (by_dense,) = torch.autograd.grad((dense.sin() * weigh).sum(), weight)
    torch.testing.assert_close(by_sparse, by_dense)


def test_reconstruction_in_parts_equals_that_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = Labels(golden_crowd(), torch.device("cpu"))
    model = autoencoder.Aspects(labels, 2, torch.Generator().manual_seed(1))
    q = labels.shares()
    whole = model.reconstruction(q)
    gradient = torch.autograd.grad(whole, model.decoder)
    monkeypatch.setattr(autoencoder, "AT_ONCE", 500)
    parts = model.reconstruction(q)
    torch.testing.assert_close(parts, whole)
    torch.testing.assert_close(torch.autograd.grad(parts, model.decoder), gradient)


def test_reconstruction_is_the_mean_cross_entropy_over_all_inputs() -> None:
    data = golden_crowd()
    labels = Labels(data, torch.device("cpu"))
    model = autoencoder.Aspects(labels, 1, None)
    # Untrained decoders say 1/K for everything.
    inputs = labels.n_items * labels.n_workers * labels.n_classes
    expected = data.n_labels * torch.log(torch.tensor(3.0).double()) / inputs
    torch.testing.assert_close(model.reconstruction(labels.shares()).detach(), expected)
