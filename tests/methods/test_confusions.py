"""Learning from crowds and minimax entropy, against their formulas."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from crowdcore.data import CrowdData, DataError
from crowdcore.engine.given_classes import GivenClasses
from crowdcore.engine.labels import Labels
from crowdcore.methods.confusion import minimax
from crowdcore.methods.confusion.minimax._model import Minimax
from crowdcore.registry import fit
from tests.crowds import golden_crowd


def test_without_a_belief_learning_from_crowds_is_dawid_skene() -> None:
    data = golden_crowd()
    free = fit(data, "lfc", strength=0, max_iter=12, tol=0)
    plain = fit(data, "ds", smoothing=0, max_iter=12, tol=0)
    np.testing.assert_allclose(free.posterior, plain.posterior, atol=1e-8)


def test_a_worker_who_never_met_a_class_keeps_the_belief_about_it() -> None:
    triples = [(f"i{i}", w, "no") for i in range(6) for w in ("a", "b")]
    data = CrowdData.from_triples(triples, classes=["no", "yes", "maybe"])
    for strength in (0.0, 3.0):
        confusion = fit(data, "lfc", strength=strength, belief=0.8).confusion
        assert confusion is not None
        np.testing.assert_allclose(confusion[:, 1], [[0.1, 0.8, 0.1]] * 2, atol=1e-9)


def test_rows_of_next_to_nothing_are_still_distributions() -> None:
    triples = [(f"i{i}", w, "no") for i in range(6) for w in ("a", "b")]
    data = CrowdData.from_triples([*triples, ("j", "a", "yes"), ("j", "b", "no")])
    confusion = fit(data, "ds", smoothing=0, tol=0).confusion
    assert confusion is not None
    np.testing.assert_allclose(confusion.sum(2), 1)


def test_the_posterior_density_of_learning_from_crowds_never_falls() -> None:
    result = fit(golden_crowd(), "lfc", tol=0, max_iter=60, prevalence=2)
    values = [float(row["logpost"]) for row in result.history]
    assert min(np.diff(values)) > -1e-9


def model() -> tuple[Minimax, CrowdData]:
    data = golden_crowd()
    return Minimax(GivenClasses(Labels(data, torch.device("cpu"))), (2.0, 5.0)), data


def test_the_objective_of_minimax_and_its_gradient_equal_the_formula() -> None:
    formula, data = model()
    k = data.n_classes
    generator = torch.Generator().manual_seed(0)
    point = torch.randn(formula.zeros().shape, generator=generator, dtype=torch.float64)
    point.requires_grad_(True)
    posterior = torch.tensor(data.votes / data.votes.sum(1, keepdims=True))
    matrices = point.reshape(-1, k, k)
    workers, items = matrices[: data.n_workers], matrices[data.n_workers :]
    item, worker = torch.tensor(data.item).long(), torch.tensor(data.worker).long()
    given = torch.tensor(data.label).long()
    logs = (workers[worker] + items[item]).log_softmax(2)
    log_given = logs[torch.arange(len(given)), :, given]  # [L, true]
    value = -(posterior[item] * log_given).sum() + (workers**2).sum() + 2.5 * (items**2).sum()
    (gradient,) = torch.autograd.grad(value, point)
    objective, gradient_found = formula.objective(point.detach(), posterior)
    np.testing.assert_allclose(float(objective), value.item(), rtol=1e-10)
    np.testing.assert_allclose(gradient_found, gradient, atol=1e-9)
    scores = torch.zeros_like(posterior).index_add_(0, item, log_given.detach())
    np.testing.assert_allclose(formula.e_step(point.detach()), scores, atol=1e-9)


def test_chunks_of_labels_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    data = golden_crowd()
    whole = fit(data, "minimax", max_iter=3)
    monkeypatch.setattr(
        "crowdcore.methods.confusion.minimax._model.NUMBERS_PER_CHUNK", 37 * data.n_classes**2
    )
    np.testing.assert_allclose(fit(data, "minimax", max_iter=3).posterior, whole.posterior)


def test_minimax_refuses_data_that_would_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimax, "MAX_NUMBERS", 100)
    with pytest.raises(DataError, match="matrix of classes for every item"):
        fit(golden_crowd(), "minimax")


def test_homogeneous_rows_that_a_worker_never_met_are_guesses_without_smoothing() -> None:
    data = golden_crowd()
    wider = dataclasses.replace(data, workers=(*data.workers, "nobody"))
    confusion = fit(wider, "hds", smoothing=0).confusion
    assert confusion is not None
    np.testing.assert_allclose(confusion[-1], 1 / 3)


def test_a_hybrid_start_of_fast_dawid_skene_always_ends_with_decisions() -> None:
    result = fit(golden_crowd(), "fds", hybrid=True, tol=1)
    assert result.provenance.steps > 1
    assert result.provenance.converged
