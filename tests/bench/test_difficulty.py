"""The difficulty paper made again: its own draws, and crowds that err where digits are unclear."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdcore.bench import difficulty_crowds
from crowdcore.bench.difficulty_crowds import digit_crowd, gaussian_crowd
from crowdcore.bench.papers import difficulty, reproduce, write_charts


def test_the_points_are_the_papers_on_which_the_best_rule_is_lucky() -> None:
    crowd = gaussian_crowd()
    assert ((crowd.features.sum(1) > 0) == crowd.truth).mean() == pytest.approx(0.941)
    assert crowd.data.n_labels == 5 * 1000
    other = gaussian_crowd(labels_seed=1)
    np.testing.assert_array_equal(other.data.features, crowd.data.features)
    assert (other.data.label != crowd.data.label).any()


def test_experts_guess_at_the_boundary_and_reach_their_expertise_far_from_it() -> None:
    crowds = [gaussian_crowd(labels_seed=seed).data for seed in range(5)]
    right = np.concatenate([(c.label == c.gold[c.item]).reshape(-1, 5) for c in crowds])  # type: ignore[index]
    features = crowds[0].features
    assert features is not None
    away = np.tile(np.abs(features.sum(1)), 5)
    positive = np.tile(np.repeat([True, False], 500), 5)
    assert right[away < 0.5].mean() == pytest.approx(0.5, abs=0.05)
    far = right[(away > 4) & positive].mean(0)
    np.testing.assert_allclose(far, difficulty_crowds.SENSITIVITY, atol=0.06)


@pytest.mark.parametrize("look_alikes", [False, True])
def test_workers_err_on_digits_that_the_reference_finds_unclear(look_alikes: bool) -> None:
    data = digit_crowd(0, look_alikes=look_alikes).data
    assert data.gold is not None
    right = (
        (data.label == data.gold[data.item]).reshape(-1, difficulty_crowds.LABELS_PER_DIGIT).mean(1)
    )
    assert data.labels_per_item.tolist() == [difficulty_crowds.LABELS_PER_DIGIT] * 1000
    assert right.mean() == pytest.approx(0.48, abs=0.04)
    assert right.std() > 1.2 * np.sqrt(
        0.25 / difficulty_crowds.LABELS_PER_DIGIT
    )  # more than by luck
    cells = np.bincount(10 * data.gold[data.item] + data.label, minlength=100).reshape(10, 10)
    errors = cells[~np.eye(10, dtype=bool)]
    assert (errors.max() > 4 * np.median(errors)) == look_alikes


@pytest.mark.slow
def test_the_tables_have_the_papers_numbers_beside_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(difficulty, "DRAWS", 2)
    monkeypatch.setattr(difficulty, "DIGIT_DRAWS", 2)
    monkeypatch.setattr(difficulty_crowds, "DIGITS_LEARNT", 150)
    told: list[str] = []
    accuracy, truths, expertise, digits = reproduce("difficulty", tmp_path, told.append)
    rows = {row[0]: row for row in accuracy.rows}
    for method, paper in (("Majority vote", 93.6), ("Original EM", 94.0), ("Adaptive", 93.9)):
        assert float(rows[method][1]) == paper
        assert float(rows[method][2]) == pytest.approx(paper, abs=0.7)
    assert float(rows["Fixed"][2]) == pytest.approx(94.4, abs=0.7)
    assert rows["best possible rule"][2] == "94.1"
    assert len(truths.rows) == len(accuracy.rows) - 1
    errors = dict(zip(expertise.header[2:], map(float, expertise.rows[-1][2:]), strict=True))
    assert errors["Adaptive"] < errors["Original EM"] < errors["Fixed"]
    assert [row[0] for row in digits.rows][:3] == ["Majority vote", "Original EM", "No difficulty"]
    assert len(told) == 11
    assert "at most 0." in accuracy.notes[0]
    page = tmp_path / "chart.html"
    write_charts([accuracy, truths, expertise, digits], page)
    assert "Vote shares" in page.read_text(encoding="utf-8")
