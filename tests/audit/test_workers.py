from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crowdcore.audit.worker_scores import (
    GivenColumns,
    confusion_scores,
    cost_quality,
    spammer_score,
)
from crowdcore.audit.workers import COLUMNS, worker_table
from crowdcore.confusion import given_counts, worker_confusion
from crowdcore.data import CrowdData, Floats
from crowdcore.registry import fit
from tests.crowds import draw, golden_crowd

EYE = np.eye(2)


def columns(confusion: Floats) -> GivenColumns:
    """All columns of confusion matrices [W, true, given]."""
    n_classes = confusion.shape[1]
    values = confusion.transpose(0, 2, 1).reshape(-1, n_classes)
    return GivenColumns(values, np.arange(len(confusion)) * n_classes)


def test_spammer_score_is_one_for_the_perfect_and_zero_for_the_blind() -> None:
    blind = np.array([[0.3, 0.7], [0.3, 0.7]])
    score = spammer_score(columns(np.stack([EYE, EYE[::-1], blind])))
    np.testing.assert_allclose(score, [1, 1, 0], atol=1e-12)


def test_spammer_score_equals_the_pairwise_form() -> None:
    rng = np.random.default_rng(0)
    confusion = rng.dirichlet(np.ones(4), size=(6, 4))
    pairs = [
        ((confusion[:, c] - confusion[:, d]) ** 2).sum(1) for c in range(4) for d in range(c + 1, 4)
    ]
    np.testing.assert_allclose(spammer_score(columns(confusion)), sum(pairs) / 12, atol=1e-12)


def test_cost_quality_forgives_a_bias_that_can_be_undone() -> None:
    prior = np.array([0.5, 0.5])
    blind = np.full((2, 2), 0.5)
    quality = cost_quality(columns(np.stack([EYE, EYE[::-1], blind])), prior)
    np.testing.assert_allclose(quality, [1, 1, 0], atol=1e-12)
    assert np.isnan(cost_quality(columns(EYE[None]), np.array([1.0, 0.0]))).all()


def test_scores_by_given_columns_equal_those_of_whole_matrices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    confusion = rng.dirichlet(np.full(7, 0.3), size=(30, 7))
    data = draw(confusion, rng.integers(0, 7, 80), 3, rng)
    result = fit(data, "soft_mv")
    counts = given_counts(result)
    total = counts.sum(2, keepdims=True)
    shares = np.stack([np.bincount(data.label[data.worker == w], minlength=7) for w in range(30)])
    matrices = (counts + (shares / shares.sum(1, keepdims=True))[:, None]) / (total + 1)
    noise = matrices * (1 - matrices) * total / (total + 1) ** 2
    prior = result.posterior.mean(0)
    expected = (
        spammer_score(columns(matrices), columns(noise).values),
        cost_quality(columns(matrices), prior),
    )
    monkeypatch.setattr("crowdcore.audit.worker_scores.MAX_NUMBERS", 40)  # a few workers at a time
    np.testing.assert_allclose(confusion_scores(result, prior), expected, atol=1e-12)


def crowd_of_characters() -> CrowdData:
    """Ten good workers, then: blind, one answer, inverted, and one with hardly any labels."""
    good = np.tile(0.85 * np.eye(2) + 0.15 * (1 - np.eye(2)), (10, 1, 1))
    others = np.array([[[0.5, 0.5]] * 2, [[1.0, 0.0]] * 2, [[0.15, 0.85], [0.85, 0.15]]])
    confusion: Floats = np.concatenate([good, others, good[:1]])
    rng = np.random.default_rng(3)
    data = draw(confusion, rng.integers(0, 2, 400), 7, rng)
    rare = np.flatnonzero(data.worker == 13)[3:]
    keep = np.ones(data.n_labels, bool)
    keep[rare] = False
    return data.only(keep)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return worker_table(fit(crowd_of_characters(), "ds"))


def test_verdicts_name_the_characters(table: pd.DataFrame) -> None:
    assert set(table["verdict"][:10]) == {"good"}
    expected = ["random", "one answer", "inverted", "undecided"]
    assert table["verdict"][10:].tolist() == expected


def test_every_verdict_comes_with_a_sentence_that_has_numbers(table: pd.DataFrame) -> None:
    for sentence in table["evidence"]:
        assert sentence.endswith(".")
        assert any(sign.isdigit() for sign in sentence)


def test_intervals_hold_the_point_and_are_wider_for_fewer_labels(table: pd.DataFrame) -> None:
    assert (table["accuracy_low"] <= table["accuracy"]).all()
    assert (table["accuracy"] <= table["accuracy_high"]).all()
    width = table["accuracy_high"] - table["accuracy_low"]
    assert width[13] > 2 * width[:13].max()


def test_few_labels_do_not_look_like_skill() -> None:
    rng = np.random.default_rng(1)
    blind = np.full((60, 4, 4), 0.25)
    good = np.tile(0.9 * np.eye(4) + 0.1 / 3 * (1 - np.eye(4)), (20, 1, 1))
    data = draw(np.concatenate([blind, good]), rng.integers(0, 4, 200), 20, rng)
    score = worker_table(fit(data, "ds"))["spammer_score"]
    assert score[:60].mean() < 0.1
    assert score[60:].mean() > 0.5


def test_the_spammer_score_of_the_blind_is_near_zero_however_few_their_labels() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 2000)
    blind, good = np.full((200, 3, 3), 1 / 3), np.tile(np.eye(3), (20, 1, 1))
    data = draw(np.concatenate([blind, good]), truth, 6, rng)
    certain = fit(data, "mv").with_fields(posterior=np.eye(3)[truth])
    score = worker_table(certain)["spammer_score"]
    assert score[:200].mean() < 0.02


def test_items_that_nobody_else_labelled_are_no_evidence() -> None:
    triples = [(f"i{i}", "alone", "a") for i in range(50)] + [("j", "x", "a"), ("j", "y", "b")]
    table = worker_table(fit(CrowdData.from_triples(triples), "mv")).set_index("worker")
    assert table.loc["alone", "n_compared"] == 0
    assert table.loc["alone", "verdict"] == "undecided"
    assert table["agreement"].isna()["alone"]


def test_gold_is_counted_apart() -> None:
    data = golden_crowd()
    table = worker_table(fit(data, "mv"))
    assert data.gold is not None
    right = data.label == data.gold[data.item]
    for w in range(data.n_workers):
        own = data.worker == w
        assert table["gold_n"][w] == own.sum()
        assert table["gold_accuracy"][w] == pytest.approx(right[own].mean())


def test_a_method_without_matrices_gets_them_from_its_posterior() -> None:
    result = fit(golden_crowd(), "mv")
    assert result.confusion is None
    confusion = worker_confusion(result)
    np.testing.assert_allclose(confusion.sum(2), 1)
    swapper = confusion[13]
    assert swapper[0, 1] > swapper[0, 0]


def test_whoever_saw_one_class_only_and_gave_it_always_is_not_accused() -> None:
    rng = np.random.default_rng(0)
    confusion = np.tile(0.85 * EYE + 0.15 * (1 - EYE), (4, 1, 1))
    data = draw(confusion, np.repeat([0, 1], 100), 4, rng)
    expert = np.arange(40)  # all of the first class
    more = CrowdData(
        item=np.concatenate([data.item, expert]),
        worker=np.concatenate([data.worker, np.full(40, 4)]),
        label=np.concatenate([data.label, np.zeros(40, np.int32)]),
        items=data.items,
        workers=(*data.workers, "expert"),
        classes=data.classes,
    )
    assert worker_table(fit(more, "ds"))["verdict"].tolist() == [*["good"] * 4, "undecided"]


def test_a_hair_below_chance_is_random_however_many_labels_show_it() -> None:
    rows = []
    for item in range(20_000):
        truth, right = item % 2, item % 100 < 48
        rows += [(str(item), worker, str(truth)) for worker in "abc"]
        rows.append((str(item), "blind", str(truth if right else 1 - truth)))
    row = worker_table(fit(CrowdData.from_triples(rows), "mv")).set_index("worker").loc["blind"]
    assert row["accuracy_high"] < 0.5
    assert row["verdict"] == "random"


def test_the_table_has_the_columns_that_are_listed_and_no_score_takes_the_place_of_one() -> None:
    result = fit(golden_crowd(), "mv")
    scores = {"accuracy": np.arange(float(result.data.n_workers))}
    table = worker_table(replace(result, worker_scores=scores))
    names = [column.name for column in COLUMNS if not column.is_family]
    given = [f"given:{name}" for name in result.data.classes]
    assert table.columns.tolist() == [*names, "score:accuracy", *given]
    assert table["accuracy"].max() <= 1
    np.testing.assert_allclose(table[given].sum(axis=1), 1)
