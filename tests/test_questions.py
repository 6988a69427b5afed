"""Questions: weights, draws with their chances, accuracies without bias, the end."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from crowdcore import questions


def test_answers_move_weight_and_the_default_has_a_head_start() -> None:
    nothing = questions.weigh(np.zeros((3, 0), int), np.zeros(0, int))
    assert nothing[0] == pytest.approx(questions.HEAD_START / (questions.HEAD_START + 2))
    truths = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 0]])
    weights = questions.weigh(truths, np.array([1, 1, 0]))
    ratio = math.sqrt(0.8 / 0.2)
    assert weights[1] / weights[2] == pytest.approx(ratio)
    assert weights[1] / weights[0] == pytest.approx(ratio**2 / questions.HEAD_START)


def test_each_answer_can_be_judged_by_all_others() -> None:
    rng = np.random.default_rng(0)
    truths, answers = rng.integers(3, size=(4, 12)), rng.integers(3, size=12)
    without = questions.weigh_without_each(truths, answers)
    for index in range(12):
        others = np.arange(12) != index
        expected = questions.weigh(truths[:, others], answers[others])
        assert without[:, index] == pytest.approx(expected)


def test_questions_are_drawn_where_weights_are_split_and_some_at_random() -> None:
    rng = np.random.default_rng(1)
    truths = np.zeros((4, 400), int)
    truths[1:, :8] = 1  # the only items on which candidates differ
    weights = np.full(4, 0.25)
    asked = np.zeros(400, bool)
    asked[0] = True
    drawn = [questions.next_question(truths, weights, asked, rng) for _ in range(400)]
    assert all(question is not None and question.item != 0 for question in drawn)
    contested = [q for q in drawn if q is not None and q.drawn == "disagreement"]
    assert {q.item for q in contested} == set(range(1, 8))
    assert 0.65 < len(contested) / 400 < 0.85
    random_share = questions.RANDOM_SHARE
    assert contested[0].chance == pytest.approx(random_share / 399 + (1 - random_share) / 7)
    elsewhere = next(q for q in drawn if q is not None and q.item > 8)
    assert elsewhere.chance == pytest.approx(random_share / 399)
    assert questions.next_question(truths, weights, np.ones(400, bool), rng) is None


def test_accuracies_from_questions_are_unbiased_and_plain_shares_are_not() -> None:
    rng = np.random.default_rng(2)
    n_items, truth = 300, np.zeros(300, int)
    truths = np.zeros((3, n_items), int)
    hard = rng.permutation(n_items)[:60]
    truths[1, hard] = 1
    truths[0, hard[:40]] = 1  # wrong where candidates differ, right elsewhere: 87 %
    weights = np.array([0.5, 0.3, 0.2])
    plain, weighted, used = [], [], []
    for _ in range(400):
        asked, right, chances = np.zeros(n_items, bool), [], []
        for _ in range(20):
            question = questions.next_question(truths, weights, asked, rng)
            assert question is not None
            asked[question.item] = True
            right.append(truths[0, question.item] == truth[question.item])
            chances.append(question.chance)
        counts = questions.testing_weights(chances, n_items)
        weighted.append(float(counts @ np.array(right) / len(right)))
        plain.append(np.mean(right))
        used.append(questions.unbiased_accuracy(np.array(right), counts)[0])
    accuracy = float((truths[0] == truth).mean())
    assert abs(np.mean(plain) - accuracy) > 0.05
    assert abs(np.mean(weighted) - accuracy) < 4 * np.std(weighted) / 20
    assert abs(np.mean(used) - accuracy) < 0.04  # steadier, and nearly without bias
    assert np.std(used) < np.std(weighted)


def test_the_end_comes_when_weights_leave_little_open() -> None:
    truths = np.zeros((2, 100), int)
    truths[1, :30] = 1
    assert not questions.is_settled(truths, np.array([0.5, 0.5]), 12)
    assert questions.is_settled(truths, np.array([0.99, 0.01]), 12)
    assert not questions.is_settled(truths, np.array([0.99, 0.01]), 9)
    assert questions.is_settled(truths, np.array([0.5, 0.5]), questions.MAX_ANSWERS)


def test_a_question_among_a_hundred_thousand_items_takes_no_time() -> None:
    rng = np.random.default_rng(3)
    truths = rng.integers(5, size=(9, 100_000))
    began = time.process_time()
    questions.next_question(truths, np.full(9, 1 / 9), np.zeros(100_000, bool), rng)
    assert time.process_time() - began < 0.2


def test_what_ten_answers_may_bring_is_said_in_points() -> None:
    assert "about 0.3 points from ten answers" in questions.describe_gain(0.003)
    assert "less than 0.1 points" in questions.describe_gain(0.0002)
