"""KOS and M-MSR against plain loops and against liars."""

from __future__ import annotations

import dataclasses

import numpy as np

from crowdcore.registry import fit
from tests.crowds import draw, golden_crowd


def test_kos_equals_the_messages_of_the_paper() -> None:
    data = golden_crowd(2)
    edges = list(zip(data.item, data.worker, 2 * data.label - 1, strict=True))
    to_item = dict.fromkeys(range(len(edges)), 1.0)
    for _ in range(4):
        to_worker = {
            e: sum(
                edges[o][2] * to_item[o]
                for o in range(len(edges))
                if edges[o][0] == edges[e][0] and o != e
            )
            for e in range(len(edges))
        }
        to_item = {
            e: sum(
                edges[o][2] * to_worker[o]
                for o in range(len(edges))
                if edges[o][1] == edges[e][1] and o != e
            )
            for e in range(len(edges))
        }
    score, weight = np.zeros(data.n_items), np.zeros(data.n_items)
    for e, (item, _, sign) in enumerate(edges):
        score[item] += sign * to_item[e]
        weight[item] += abs(to_item[e])
    result = fit(data, "kos", max_iter=4, tol=0, per_label=False)
    np.testing.assert_allclose(result.posterior[:, 1], (1 + score / weight) / 2, atol=1e-9)


def test_liars_turn_the_majority_but_neither_kos_nor_mmsr() -> None:
    rng = np.random.default_rng(3)
    right = np.where(np.arange(30) % 5 < 2, 0.15, 0.9)[:, None, None]
    confusion = right * np.eye(2) + (1 - right) * (1 - np.eye(2))
    data = draw(confusion, rng.integers(0, 2, 400), 7, rng)
    scores = {name: fit(data, name).score() for name in ("mv", "kos", "mmsr")}
    accuracy = {name: score.accuracy for name, score in scores.items() if score is not None}
    assert accuracy["mv"] < 0.75
    assert accuracy["kos"] > 0.95
    assert accuracy["mmsr"] > 0.95


def test_mmsr_recovers_the_skills() -> None:
    rng = np.random.default_rng(4)
    right = np.linspace(0.4, 0.95, 12)[:, None, None]
    confusion = right * np.eye(3) + (1 - right) / 2 * (1 - np.eye(3))
    data = draw(confusion, rng.integers(0, 3, 3000), 6, rng)
    skill = (right.ravel() - 1 / 3) / (2 / 3)
    found = fit(data, "mmsr", tol=1e-5).worker_scores["skill"]
    np.testing.assert_allclose(found, skill, atol=0.06)


def test_items_without_labels_do_not_move_the_skills_of_mmsr() -> None:
    data = golden_crowd()
    more = dataclasses.replace(data, items=(*data.items, *map(str, range(-9, 0))), gold=None)
    plain, beside = fit(data, "mmsr"), fit(more, "mmsr")
    np.testing.assert_allclose(beside.worker_scores["skill"], plain.worker_scores["skill"])
