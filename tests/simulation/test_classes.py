from collections import Counter
from typing import Any

import numpy as np
import pytest

from crowdcore.data import DataError
from crowdcore.simulation.classes import CHARACTERS, FIDELITY, LURE, Simulation, simulate


def realised(simulation: Simulation) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Count [W, true, given]; return the shares given the truth, and the counts of the truth."""
    data = simulation.data
    counts = np.zeros(simulation.confusion.shape)
    np.add.at(counts, (data.worker, simulation.truth[data.item], data.label), 1)
    total = counts.sum(2, keepdims=True)
    return counts / np.maximum(total, 1), total[..., 0]


def test_there_are_as_many_workers_of_each_character_as_asked_for() -> None:
    simulation = simulate(
        items=20,
        workers=40,
        experts=0.1,
        careless=0.2,
        spammers=0.15,
        adversaries=0.05,
        copiers=0.1,
        class_bias=0.05,
    )
    assert Counter(simulation.character) == {
        "expert": 3,  # of the 28 honest ones
        "careless": 5,
        "lopsided": 2,
        "good": 18,
        "random": 3,
        "one answer": 3,
        "adversary": 2,
        "copier": 4,
    }
    assert set(simulation.character) == set(CHARACTERS)


@pytest.mark.parametrize("seed", range(5))
def test_sizes_are_exact_and_an_item_never_has_a_worker_twice(seed: int) -> None:
    simulation = simulate(
        items=500, workers=23, classes=3, labels_per_item=6, copiers=0.3, features=7, seed=seed
    )
    data = simulation.data
    assert (data.n_items, data.n_workers, data.n_classes, data.n_labels) == (500, 23, 3, 3000)
    assert (data.labels_per_item == 6).all()
    pairs = data.item.astype(np.int64) * data.n_workers + data.worker
    assert len(np.unique(pairs)) == data.n_labels
    assert data.features is not None
    assert data.features.shape == (500, 7)
    assert data.gold is not None
    assert (data.gold == simulation.truth).all()


def test_every_worker_can_label_every_item() -> None:
    data = simulate(items=50, workers=6, labels_per_item=6, activity=1.5).data
    assert (data.labels_per_worker == 50).all()


def test_the_same_seed_gives_the_same_crowd_and_another_seed_another() -> None:
    settings: dict[str, Any] = {"items": 200, "workers": 30, "copiers": 0.2, "hard_items": 0.3}
    one, two = simulate(**settings, seed=3), simulate(**settings, seed=3)
    assert one.data.fingerprint == two.data.fingerprint
    assert one.character == two.character
    assert (one.confusion == two.confusion).all()
    assert simulate(**settings, seed=4).data.fingerprint != one.data.fingerprint


def test_workers_answer_as_their_confusion_matrix_says() -> None:
    simulation = simulate(
        items=40_000, workers=20, adversaries=0.1, copiers=0.1, features=0, activity=0, skew=0.5
    )
    share, total = realised(simulation)
    error = np.sqrt(simulation.confusion * (1 - simulation.confusion) / total[..., None])
    away = np.abs(share - simulation.confusion) / np.maximum(error, 1e-9)
    certain = (simulation.confusion == 0) | (simulation.confusion == 1)
    assert (share[certain] == simulation.confusion[certain]).all()
    # Copiers' labels depend on another's, within each item, but each is still a fair draw.
    assert away[~certain].max() < 5
    assert np.sqrt((away[~certain] ** 2).mean()) == pytest.approx(1, abs=0.2)


def test_each_character_behaves_as_its_name_says() -> None:
    simulation = simulate(
        items=10, workers=200, classes=3, spammers=0.3, adversaries=0.2, class_bias=0.2
    )
    character = np.array(simulation.character)
    accuracy = simulation.confusion.diagonal(axis1=1, axis2=2)
    mean = {name: accuracy[character == name].mean() for name in set(simulation.character)}
    assert mean["expert"] > 0.9 > mean["good"] > 0.75 > mean["careless"] > 0.45
    assert mean["random"] == pytest.approx(1 / 3)
    assert mean["adversary"] < 0.1
    favourite = simulation.confusion.min(axis=1)  # what is given whatever the truth is
    assert (favourite[character == "one answer"].max(axis=1) == 1).all()
    assert (favourite[character == "lopsided"].max(axis=1) >= 0.35).all()
    assert (favourite[character == "good"].max(axis=1) < 0.35).all()
    assert np.allclose(simulation.confusion.sum(axis=2), 1)


def test_copiers_hand_in_the_label_of_the_one_they_copy() -> None:
    simulation = simulate(items=4000, workers=40, copiers=0.2, careless=0.5, seed=1)
    data = simulation.data
    said = np.full((data.n_items, data.n_workers), -1)
    said[data.item, data.worker] = data.label
    same, both, alone = 0, 0, 0
    for copier in np.flatnonzero(simulation.copied_from >= 0):
        model = simulation.copied_from[copier]
        assert simulation.character[model] in {"expert", "good", "careless", "lopsided"}
        assert (simulation.confusion[copier] == simulation.confusion[model]).all()
        met = (said[:, copier] >= 0) & (said[:, model] >= 0)
        same += int((said[met, copier] == said[met, model]).sum())
        both += int(met.sum())
        alone += int(((said[:, copier] >= 0) & (said[:, model] < 0)).sum())
    assert FIDELITY - 0.01 < same / both < 1  # now and then they answer themselves
    assert alone < 0.2 * both  # a copier works where the other has worked
    copier_of_nobody = [name == "copier" for name in simulation.character]
    assert ((simulation.copied_from >= 0) == np.array(copier_of_nobody)).all()


def test_hard_items_are_taken_for_their_lookalike() -> None:
    simulation = simulate(
        items=5000, workers=30, classes=4, experts=1, careless=0, spammers=0, class_bias=0,
        hard_items=0.2,
    )  # fmt: skip
    data, hard = simulation.data, simulation.lure > 0
    assert hard.sum() == 1000
    assert (simulation.lookalike != simulation.truth).all()
    right = data.label == simulation.truth[data.item]
    fooled = data.label == simulation.lookalike[data.item]
    of_hard = hard[data.item]
    assert right[~of_hard].mean() > 0.93
    assert fooled[of_hard].mean() == pytest.approx(np.mean(LURE), abs=0.03)
    assert right[of_hard].mean() < 0.6


def test_features_tell_the_classes_apart_but_hard_items_less() -> None:
    simulation = simulate(items=4000, workers=10, classes=3, hard_items=0.5, seed=2)
    values, truth = simulation.data.features, simulation.truth
    assert values is not None
    easy = simulation.lure == 0
    centre = np.stack([values[easy & (truth == k)].mean(0) for k in range(3)])
    nearest = ((values[:, None] - centre) ** 2).sum(2).argmin(1)
    assert (nearest == truth)[easy].mean() > 0.85
    assert (nearest == truth)[~easy].mean() < (nearest == truth)[easy].mean() - 0.1
    assert simulate(items=5, workers=5, features=0).data.features is None


def test_activity_follows_a_power_law_and_skew_the_class_prior() -> None:
    simulation = simulate(
        items=20_000, workers=100, classes=3, labels_per_item=2, activity=1.0, skew=1.0, features=0
    )
    busiest = np.sort(simulation.data.labels_per_worker)[::-1]
    assert busiest[0] / busiest[9] == pytest.approx(10, rel=0.2)
    share = np.bincount(simulation.truth) / 20_000
    assert share == pytest.approx(np.array([6, 3, 2]) / 11, abs=0.02)
    even = simulate(items=20_000, workers=100, activity=0, features=0).data.labels_per_worker
    assert even.max() < 1.2 * even.min()


def test_a_given_truth_is_kept() -> None:
    truth = np.array([2, 0, 1, 1, 2, 0, 0])
    simulation = simulate(truth=truth, classes=3, workers=8)
    assert (simulation.truth == truth).all()
    assert simulation.data.n_items == 7


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"items": 0}, "items must be at least 1"),
        ({"classes": 1}, "classes must be at least 2"),
        ({"workers": 3}, "5 labels per item need as many workers; there are 3 workers"),
        ({"workers": 10, "copiers": 0.6}, "4 workers who do not copy"),
        ({"spammers": 1.2}, "spammers is a share between 0 and 1"),
        ({"hard_items": -0.1}, "hard_items is a share"),
        ({"spammers": 0.7, "adversaries": 0.4}, "is 1.1 of the workers, more than all"),
        ({"experts": 0.7, "careless": 0.4}, "is 1.2 of the honest workers"),
        ({"copiers": 0.1, "labels_per_item": 1}, "Copiers need two labels per item"),
        ({"skew": float("nan")}, "skew must be at least 0"),
        ({"truth": [0, 4]}, "class codes from 0 to 3"),
        ({"truth": [0.5, 1.0]}, "one class code an item"),
        ({"truth": []}, "items must be at least 1"),
    ],
)
def test_impossible_wishes_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        simulate(**settings)


@pytest.mark.slow
def test_a_million_labels_take_seconds_and_not_gigabytes() -> None:
    simulation = simulate(items=200_000, workers=2000, copiers=0.05, hard_items=0.1)
    assert simulation.data.n_labels == 1_000_000
