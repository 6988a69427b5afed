"""Spend plans: labels go where they bring most, to the best who have not seen the item."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.data import DataError
from crowdcore.methods import DEFAULTS
from crowdcore.samples import load_sample
from crowdcore.simulation.classes import simulate
from crowdcore.simulation.spans import simulate_spans
from crowdcore.spending.batch import PLATFORMS, batch_files, fitting_platforms
from crowdcore.spending.past import past_labels
from crowdcore.spending.plan import plan_spending
from crowdcore.spending.value import choose_labels, label_gains, variance_gains
from tests.export.finished import MTURK, finished


def test_a_label_is_worth_most_where_it_can_turn_the_truth() -> None:
    posterior = np.array([[0.5, 0.5], [0.8, 0.2], [0.999, 0.001]])
    gains = label_gains(posterior, np.array([[2, 2], [2, 1], [5, 0]]), 0.8)
    assert gains[0, 0] > gains[1, 0] > gains[2, 0] - 1e-12
    assert (np.diff(gains, axis=1) >= -1e-12).all()
    assert gains[0, 0] == pytest.approx(0.5 * (2 * (4 * 0.8 + 2) / 8 - 1))


def test_an_item_that_twenty_are_split_over_is_worth_less_than_one_that_two_are() -> None:
    posterior = np.full((2, 2), 0.5)
    few, many = label_gains(posterior, np.array([[1, 1], [10, 10]]), 0.8)[:, 0]
    assert few > 3 * many


def test_labels_are_spread_by_the_steepest_way_up_within_the_number() -> None:
    gains = np.array([[0.0, 0.3, 0.3], [0.1, 0.11, 0.12], [0.05, 0.1, 0.15]])
    assert choose_labels(gains, 2).tolist() == [2, 0, 0]
    assert choose_labels(gains, 3).tolist() == [2, 1, 0]
    assert choose_labels(gains, 6).tolist() == [2, 1, 3]
    assert choose_labels(gains, 1).tolist() == [0, 1, 0]
    assert choose_labels(gains, 3, np.array([1, 1, 1])).tolist() == [0, 1, 1]
    assert variance_gains(np.array([1.0]), 1.0)[0, :2].tolist() == pytest.approx([1 / 2, 2 / 3])


def test_nobody_gets_an_item_twice_or_more_than_their_share_and_unwanted_ones_get_none() -> None:
    data = simulate(items=80, workers=10, classes=3, labels_per_item=3, features=0, seed=1).data
    result = fit(replace(data, gold=None), "ds")
    plan = plan_spending(result, budget=6, price=0.1, unwanted=["w1"], known=[data.items[0]])
    assert plan.n_labels == 60 == len(plan.assignments) == plan.items["n_further"].sum()
    seen = {
        (data.items[item], data.workers[worker])
        for item, worker in zip(data.item.tolist(), data.worker.tolist(), strict=True)
    }
    asked = list(plan.assignments.itertuples(index=False, name=None))
    assert not seen & set(asked)
    assert len(set(asked)) == 60
    unwanted = plan_spending(result, budget=6, price=0.1, unwanted=[data.workers[0]])
    assert data.workers[0] not in set(unwanted.assignments["worker"])
    assert data.items[0] not in set(plan.items["item"])
    assert plan.workers["n_further"].max() <= 2 * 60 / 9 + 1
    few = plan_spending(result, budget=6, price=0.1, labels_per_worker=2)
    assert few.workers["n_further"].max() == 2
    assert (few.assignments["worker"] == "").sum() == 60 - 2 * 10
    assert plan.measure is not None
    assert plan.measure.before[0] < plan.measure.after[0]
    assert plan.measure.after[1] <= plan.measure.after[0] <= plan.measure.after[2]


def test_a_plan_needs_money_and_somebody_to_ask() -> None:
    data = CrowdData.from_triples([("a", "v", "x"), ("a", "w", "y"), ("b", "v", "x")])
    result = fit(data, "mv")
    with pytest.raises(DataError, match="pays for no label"):
        plan_spending(result, budget=0.01, price=0.05)
    with pytest.raises(DataError, match="price"):
        plan_spending(result, budget=1, price=0)
    with pytest.raises(DataError, match="Nobody is left"):
        plan_spending(result, budget=1, price=0.1, unwanted=["v", "w"])


@pytest.mark.parametrize("sample", ["quality", "tags", "arena"])
def test_every_kind_of_labels_has_a_plan(sample: str) -> None:
    data = load_sample(sample)
    plan = plan_spending(fit(data, DEFAULTS[data.kind]), budget=5, price=0.05)
    assert plan.n_labels == 100
    assert plan.describe()
    if data.kind == "ratings":
        assert plan.measure is not None
        assert plan.measure.after[0] < plan.measure.before[0]


def test_texts_get_whole_annotations_where_their_tokens_gain_most() -> None:
    data = replace(simulate_spans(seed=1).data, gold=None)
    plan = plan_spending(fit(data, "token_mv"), budget=5, price=0.05)
    assert plan.n_labels == 100
    assert plan.measure is not None
    assert plan.measure.title == "Tokens that are right"
    assert plan.measure.before[0] < plan.measure.after[0] < 1
    assert plan.items["item"].is_unique


def test_labels_that_came_late_or_tell_nothing_are_counted() -> None:
    rng = np.random.default_rng(0)
    triples = []
    for item in range(60):
        truth = item % 2
        for worker in range(9):
            right = rng.random() < (0.5 if worker == 8 else 0.95)
            triples.append((f"i{item}", f"w{worker}", "xy"[truth if right else 1 - truth]))
    past = past_labels(fit(CrowdData.from_triples(triples), "ds"))
    late = past.labels[past.labels["reason"] == "item was sure already"]
    assert len(late) > 60 * 3
    assert not late["worker"].isin(["w0", "w1"]).any()
    empty = past.labels[past.labels["reason"] == "tells next to nothing"]
    assert set(empty["worker"]) <= {"w8"}
    assert "at 0.05 each" in past.describe(0.05)[0]
    assert "no times" in past.describe()[-1]


def test_a_batch_goes_back_to_mechanical_turk_with_the_columns_that_workers_saw(
    tmp_path: Path,
) -> None:
    run = finished(MTURK, "batch.csv")
    plan = plan_spending(fit(run.data, "mv"), budget=2, price=0.5)
    assert fitting_platforms(run, plan) == ["mturk", "csv"]
    files = batch_files("mturk", run, plan)
    header = [name.removeprefix("Input.") for name in run.columns() if name.startswith("Input.")]
    n_rows = 0
    for file in files[:-1]:
        file.write(tmp_path / file.name)
        lines = (tmp_path / file.name).read_text(encoding="utf-8").splitlines()
        assert lines[0].split(",") == header
        n_rows += len(lines) - 1
    assert n_rows == len(plan.items)
    assert files[-1].name == "workers.csv"
    with pytest.raises(DataError, match="no column that begins with INPUT"):
        batch_files("toloka", run, plan)
    with pytest.raises(DataError, match="no platform"):
        batch_files("mail", run, plan)
    for file in batch_files("csv", run, plan):
        file.write(tmp_path / file.name)
        assert (tmp_path / file.name).stat().st_size
    assert set(PLATFORMS) == {"mturk", "toloka", "appen", "csv"}
