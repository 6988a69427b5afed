"""GLAD and MACE against plain numpy and scipy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import digamma, expit, log_expit, softmax

from crowdcore.artefacts.spam_habits import SpamHabits
from crowdcore.data import CrowdData, Floats
from crowdcore.engine import em, response_models
from crowdcore.engine.given_classes import GivenClasses
from crowdcore.engine.labels import Labels
from crowdcore.methods.ability import mace
from crowdcore.registry import fit
from crowdcore.run import Run
from crowdcore.simulation.classes import simulate
from tests.crowds import draw, golden_crowd
from tests.left_behind import left_behind


def expected_likelihood(
    data: CrowdData, posterior: Floats, hold: float = 1.0
) -> Callable[[Floats], float]:
    """Minus GLAD's goal, with a fixed prior of some strength, written label by label."""
    right = posterior[data.item, data.label]

    def value(point: Floats) -> float:
        ability, easiness = point[: data.n_workers], point[data.n_workers :]
        odds = ability[data.worker] * np.exp(easiness[data.item])
        others = np.log(max(1, data.n_classes - 1))
        terms = right * log_expit(odds) + (1 - right) * (log_expit(-odds) - others)
        return float(-terms.sum() + 0.5 * hold * ((point - 1) ** 2).sum())

    return value


def test_goal_of_glad_and_its_gradient_equal_those_of_the_formula() -> None:
    data = golden_crowd()
    cells = GivenClasses(Labels(data, torch.device("cpu")))
    posterior = data.votes / data.votes.sum(1, keepdims=True)
    cell = cells.from_table(torch.tensor(posterior)).unsqueeze(1)
    point = np.random.default_rng(0).normal(1, 0.5, data.n_workers + data.n_items)
    formula = expected_likelihood(data, posterior)
    value, slope = response_models.MStepObjective(cells, cell, 1.0)(torch.tensor(point))
    assert abs(float(value) - formula(point)) < 1e-8
    for place in (0, 3, data.n_workers, data.n_workers + 7):
        step = np.zeros_like(point)
        step[place] = 1e-5
        numeric = (formula(point + step) - formula(point - step)) / 2e-5
        assert abs(float(slope[place]) - numeric) < 1e-5


def test_one_m_step_of_glad_reaches_the_optimum_that_scipy_finds() -> None:
    data = golden_crowd()
    first = fit(data, "glad", max_iter=1, m_steps=60)
    votes = data.votes * (np.e + np.log(max(1, data.n_classes - 1)))
    scores = np.exp(votes - votes.max(1, keepdims=True))
    start = scores / scores.sum(1, keepdims=True)  # the E step at ability 1 and log easiness 1
    formula = expected_likelihood(data, start)
    found = minimize(formula, np.ones(data.n_workers + data.n_items), method="L-BFGS-B")
    np.testing.assert_allclose(first.worker_scores["ability"], found.x[: data.n_workers], atol=5e-3)
    np.testing.assert_allclose(
        -np.log(first.item_scores["difficulty"]), found.x[data.n_workers :], atol=5e-3
    )


def test_without_a_prior_glad_goes_the_way_of_the_benchmarks_code() -> None:
    """Nothing holds the numbers, so that even the optimiser has to be the same."""
    data = golden_crowd()
    others = max(1, data.n_classes - 1)
    point = np.ones(data.n_workers + data.n_items)

    def believe(point: Floats) -> Floats:
        ability, easiness = np.split(point, [data.n_workers])
        odds = ability[data.worker] * np.exp(easiness[data.item]) + np.log(others)
        scores = np.zeros((data.n_items, data.n_classes))
        np.add.at(scores, (data.item, data.label), odds)
        return np.asarray(softmax(scores, 1))

    def slope(point: Floats, posterior: Floats) -> Floats:
        ability, easiness = np.split(point, [data.n_workers])
        easy = np.exp(easiness[data.item])
        missed = expit(ability[data.worker] * easy) - posterior[data.item, data.label]
        by_worker = np.bincount(data.worker, missed * easy, data.n_workers)
        by_item = np.bincount(data.item, missed * easy * ability[data.worker], data.n_items)
        return np.concatenate([by_worker, by_item])

    for _ in range(3):
        posterior = believe(point)
        goal = expected_likelihood(data, posterior, hold=0.0)
        gradient = partial(slope, posterior=posterior)
        found = minimize(goal, point, (), "CG", gradient, tol=0.01, options={"maxiter": 5})
        point = found.x
    ours = fit(data, "glad", prior="moving", m_steps=5, max_iter=3, tol=0)
    np.testing.assert_allclose(ours.posterior, believe(point), atol=1e-7)
    np.testing.assert_allclose(ours.worker_scores["ability"], point[: data.n_workers], atol=1e-7)


def test_without_a_prior_abilities_run_further_apart() -> None:
    data = golden_crowd()
    held = fit(data, "glad").worker_scores["ability"]
    free = fit(data, "glad", prior="moving").worker_scores["ability"]
    assert free.std() > 1.5 * held.std()


def test_disputed_items_are_difficult_and_inverted_workers_have_negative_ability() -> None:
    rng = np.random.default_rng(0)
    right = np.array([0.9] * 9 + [0.1])
    confusion = np.stack([np.array([[r, 1 - r], [1 - r, r]]) for r in right])
    data = draw(confusion, rng.integers(0, 2, 200), 10, rng)
    result = fit(data, "glad")
    assert result.worker_scores["ability"][9] < 0
    assert (result.worker_scores["ability"][:9] > 0.5).all()
    margin = data.votes.max(1) / data.votes.sum(1)
    difficulty_of = result.item_scores["difficulty"]
    assert difficulty_of[margin < 0.75].mean() > difficulty_of[margin > 0.85].mean()


def plain_mace(data: CrowdData, steps: int, *, class_prior: bool) -> tuple[Floats, Floats]:
    """MACE by variational Bayes, label by label, from vote shares with half of them known."""
    i, w, given = data.item, data.worker, data.label
    size = (data.n_workers, data.n_classes)
    posterior = data.votes / data.votes.sum(1, keepdims=True)
    known: NDArray[np.float64] = np.full(len(i), 0.5)
    for _ in range(steps):
        knew = posterior[i, given] * known
        habit = np.zeros(size)
        np.add.at(habit, (w, given), 1 - knew)
        trust = np.stack([np.bincount(w, knew, size[0]), habit.sum(1)], 1)
        theta = np.exp(digamma(trust + 0.5) - digamma(trust.sum(1, keepdims=True) + 1))
        habits = digamma(habit + 10) - digamma(habit.sum(1, keepdims=True) + 10 * size[1])
        spam = theta[w, 1] * np.exp(habits[w, given])
        scores = np.zeros(posterior.shape)
        if class_prior:
            scores += digamma(1 + posterior.sum(0))
        np.add.at(scores, (i, given), np.log1p(theta[w, 0] / spam))
        scores = np.exp(scores - scores.max(1, keepdims=True))
        posterior = scores / scores.sum(1, keepdims=True)
        known = theta[w, 0] / (theta[w, 0] + spam)
    return posterior, (trust[:, 0] + 0.5) / (trust.sum(1) + 1)


@pytest.mark.parametrize("class_prior", [False, True])
def test_mace_equals_plain_loops(class_prior: bool) -> None:
    data = golden_crowd()
    posterior, trust = plain_mace(data, 7, class_prior=class_prior)
    result = fit(data, "mace", restarts=1, max_iter=7, tol=0, class_prior=class_prior)
    np.testing.assert_allclose(result.posterior, posterior, atol=1e-9)
    np.testing.assert_allclose(result.worker_scores["trust"], trust, atol=1e-9)


@pytest.mark.parametrize("class_prior", [False, True])
def test_the_bound_of_mace_never_falls(class_prior: bool) -> None:
    result = fit(golden_crowd(), "mace", restarts=1, tol=0, class_prior=class_prior)
    bounds = [float(row["bound"]) for row in result.history]
    assert len(bounds) == 50
    assert min(np.diff(bounds)) > -1e-12


def test_mace_finds_spammers_and_their_habits() -> None:
    rng = np.random.default_rng(4)
    honest = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
    spammer = np.tile([0.1, 0.8, 0.1], (3, 1))
    confusion = np.stack([honest] * 8 + [spammer] * 2)
    data = draw(confusion, rng.integers(0, 3, 300), 10, rng)
    for inference in ("variational", "EM"):
        result = fit(data, "mace", inference=inference)
        assert (result.worker_scores["trust"][8:] < 0.1).all()
        assert (result.worker_scores["trust"][:8] > 0.75).all()
        habit = left_behind(result, SpamHabits).habit
        np.testing.assert_allclose(habit[8:, 1], 0.8, atol=0.1)


def test_mace_has_converged_only_if_every_batch_of_starts_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = golden_crowd()
    monkeypatch.setattr(em, "MAX_RESTART_NUMBERS", 1)  # one start per batch
    began: list[int] = []
    settled = Run.settled

    def first_never(run: Run, change: float | torch.Tensor, tol: float) -> bool:
        began.append(run.steps)
        return settled(run, change, 0.0 if run.steps <= 3 else 1e9)

    monkeypatch.setattr(Run, "settled", first_never)
    assert not fit(data, "mace", restarts=2, max_iter=3).provenance.converged
    assert began == [1, 2, 3, 4]


@pytest.mark.parametrize("inference", ["variational", "EM"])
@pytest.mark.parametrize("class_prior", [True, False])
def test_mace_on_large_data_takes_the_neutral_start_to_the_same_end(
    monkeypatch: pytest.MonkeyPatch, inference: str, class_prior: bool
) -> None:
    data = simulate(items=200, workers=20, classes=4, labels_per_item=5, seed=3).data
    settings = {"inference": inference, "class_prior": class_prior, "restarts": 1}
    listed = fit(data, "mace", **settings)  # type: ignore[arg-type]
    monkeypatch.setattr(mace, "MAX_LABELS_FOR_RANDOM_STARTS", 100)
    summed = fit(data, "mace", **settings)  # type: ignore[arg-type]
    assert summed.history[0]["stage"] == "Starts"
    assert np.allclose(summed.posterior, listed.posterior, atol=1e-9)
    assert np.allclose(summed.confusion, listed.confusion, atol=1e-9)
    assert summed.history[-1]["bound"] == pytest.approx(listed.history[-1]["bound"])
    assert summed.provenance.steps == listed.provenance.steps
