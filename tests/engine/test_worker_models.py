"""Worker models: abilities by the paper's formula, and the best ones for what is believed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from crowdcore.data import CrowdData
from crowdcore.engine import em
from crowdcore.engine.labels import Labels
from crowdcore.engine.worker_models import (
    MAX_ABILITY,
    AbilityModel,
    ConfusionModel,
    Difficulty,
    purity,
)
from tests.crowds import easy_crowd, golden_crowd

CPU = torch.device("cpu")


def started(data: CrowdData, difficulty: Difficulty, smoothing: float = 0.1) -> AbilityModel:
    labels = Labels(data, CPU)
    workers = AbilityModel(labels, smoothing, difficulty)
    workers.start(labels.shares())
    return workers


def random_posterior(data: CrowdData, seed: int) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.dirichlet(np.full(data.n_classes, 0.7), data.n_items))


def test_purity_of_two_classes_is_the_papers_square() -> None:
    p = torch.linspace(0, 1, 11, dtype=torch.float64)
    torch.testing.assert_close(purity(torch.stack([1 - p, p], 1)), 4 * (p - 0.5) ** 2)
    assert purity(torch.full((1, 5), 0.2)).item() == pytest.approx(0, abs=1e-6)
    assert purity(torch.eye(5)).tolist() == pytest.approx([1] * 5)
    assert purity(torch.ones(2, 1)).tolist() == [0, 0]


def test_the_likelihood_of_two_classes_is_that_of_equations_1_and_2() -> None:
    data = easy_crowd(2)
    workers = started(data, "classifier")
    prior = random_posterior(data, 0)
    workers.m_step(random_posterior(data, 1), prior, torch.ones(data.n_items, dtype=torch.float64))
    strength = 4 * workers.ability.numpy()  # the paper's lambda, [W, class]
    square = (prior[:, 1].numpy() - 0.5) ** 2
    a, b = np.zeros(data.n_items), np.zeros(data.n_items)
    for i, w, y in zip(data.item, data.worker, data.label, strict=True):
        alpha = 1 / (1 + np.exp(-strength[w, 1] * square[i]))
        beta = 1 / (1 + np.exp(-strength[w, 0] * square[i]))
        a[i] += np.log(alpha if y == 1 else 1 - alpha)
        b[i] += np.log(beta if y == 0 else 1 - beta)
    np.testing.assert_allclose(workers.log_likelihood(), np.stack([b, a], 1), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_m_step_finds_the_best_ability_of_every_worker_and_class(classes: int) -> None:
    data = golden_crowd(classes)
    workers = started(data, "posterior")
    q = random_posterior(data, 2)
    workers.m_step(q, q, torch.ones(data.n_items, dtype=torch.float64))
    easy, belief = purity(q).numpy(), q.numpy()

    def cost(ability: float, worker: int, k: int) -> float:
        mine = data.worker == worker
        item, given = data.item[mine], data.label[mine]
        logit = ability * easy[item]
        fits = (given == k) * logit - np.logaddexp(logit, np.log(classes - 1))
        certain = ability - classes * np.logaddexp(ability, np.log(classes - 1))
        return -float((belief[item, k] * fits).sum() + 0.1 * certain)

    for w in (0, 5):
        for k in range(classes):
            best = minimize_scalar(
                cost,
                args=(w, k),
                bounds=(0, MAX_ABILITY),
                method="bounded",
                options={"xatol": 1e-9},
            )
            assert cost(float(workers.ability[w, k]), w, k) <= best.fun + 1e-6


def test_abilities_never_fall_below_chance_and_never_run_away() -> None:
    rows = [
        (f"i{i}", w, "ab"[(i % 2) ^ turned])
        for i in range(40)
        for w, turned in (("x", 1), ("y", 0))
    ]
    data = CrowdData.from_triples(rows)
    truth = torch.eye(2, dtype=torch.float64).repeat(20, 1)
    for smoothing in (1e-9, 0.1):
        workers = started(data, "posterior", smoothing)
        workers.m_step(truth, truth, torch.ones(40, dtype=torch.float64))
        inverted, perfect = workers.ability
        assert inverted.tolist() == [0, 0]
        assert (perfect <= MAX_ABILITY).all()
        assert (perfect > 4).all()
        assert workers.log_likelihood().isfinite().all()


def test_abilities_that_made_the_labels_are_found_again() -> None:
    rng = np.random.default_rng(3)
    truth, easy = rng.integers(0, 3, 4000), rng.random(4000)
    ability = np.array([0.5, 2.0, 5.0])
    item, worker = (axis.ravel() for axis in np.indices((4000, 3)))
    right = rng.random(len(item)) < 1 / (1 + 2 * np.exp(-ability[worker] * easy[item]))
    wrong = (truth[item] + rng.integers(1, 3, len(item))) % 3
    data = CrowdData(
        item=item,
        worker=worker,
        label=np.where(right, truth[item], wrong),
        items=tuple(map(str, range(4000))),
        workers=("weak", "fair", "good"),
        classes=("a", "b", "c"),
    )
    share = np.sqrt(easy)[:, None]  # of these mixtures with even chances, the purity is `easy`
    prior = torch.tensor(share * np.eye(3)[truth] + (1 - share) / 3)
    workers = started(data, "classifier")
    certain = torch.eye(3, dtype=torch.float64)[truth]
    workers.m_step(certain, prior, torch.ones(4000, dtype=torch.float64))
    np.testing.assert_allclose(workers.ability.mean(1), ability, rtol=0.1)


def test_items_that_do_not_count_teach_nothing() -> None:
    data = golden_crowd()
    q = random_posterior(data, 4)
    kept = torch.tensor(np.arange(data.n_items) % 2, dtype=torch.float64)
    weighted, fewer = started(data, "votes"), started(data.only(data.item % 2 == 1), "votes")
    weighted.m_step(q, q, kept)
    fewer.m_step(q, q, torch.ones_like(kept))
    torch.testing.assert_close(weighted.ability, fewer.ability, atol=1e-6, rtol=1e-6)


def test_an_evenly_split_item_is_no_evidence_where_votes_say_what_is_hard() -> None:
    split = [("even", "x", "a"), ("even", "y", "b")]
    clear = [(f"i{i}", w, "ab"[i % 2]) for i in range(10) for w in "xyz"]
    data = CrowdData.from_triples([*split, *clear])
    workers = started(data, "votes")
    q = Labels(data, CPU).shares()
    workers.m_step(q, q, torch.ones(data.n_items, dtype=torch.float64))
    even, clear_one = workers.log_likelihood()[0], workers.log_likelihood()[1]
    assert float(even[0] - even[1]) == pytest.approx(0, abs=1e-6)
    assert abs(float(clear_one[0] - clear_one[1])) > 3
    assert workers.item_scores()["difficulty"].tolist()[:2] == pytest.approx([1, 0], abs=1e-6)


def test_the_confusion_matrix_is_what_is_expected_on_the_items_that_were_seen() -> None:
    data = golden_crowd()
    workers = started(data, "posterior")
    q = random_posterior(data, 5)
    workers.m_step(q, q, torch.ones(data.n_items, dtype=torch.float64))
    matrix = workers.confusion()
    torch.testing.assert_close(matrix.sum(2), torch.ones_like(matrix.sum(2)))
    diagonal = matrix.diagonal(dim1=1, dim2=2)
    assert (diagonal <= workers.accuracy() + 1e-9).all()  # items are no easier than the easiest
    assert (diagonal >= 1 / 3 - 1e-9).all()


def test_confusions_explain_labels_as_dawid_and_skene_do() -> None:
    labels = Labels(golden_crowd(), CPU)
    workers = ConfusionModel(labels, 0.01)
    q = random_posterior(golden_crowd(), 6)
    workers.m_step(q, q, torch.ones(labels.n_items, dtype=torch.float64))
    confusion = em.normalise_rows(em.given_counts(labels, q), 0.01)
    even = torch.full((3,), 1 / 3, dtype=torch.float64)
    expected, _ = em.e_step(labels, even, confusion)
    torch.testing.assert_close(workers.log_likelihood().softmax(1), expected)
