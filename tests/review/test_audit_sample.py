"""Audit samples: unbiased, with intervals that hold, and kept whole."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crowdcore import fit
from crowdcore.data import DataError
from crowdcore.results.classes import ClassResult
from crowdcore.review.audit_sample import (
    AuditSample,
    Design,
    draw_sample,
    estimate_accuracy,
    sample_size,
)
from crowdcore.simulation.classes import simulate

N_AUDITS = 1000


def result(n_items: int = 600) -> tuple[ClassResult, np.ndarray]:
    simulated = simulate(
        items=n_items, workers=20, classes=3, labels_per_item=3, features=0, seed=4
    )
    fitted = fit(replace(simulated.data, gold=None), "mv")
    assert isinstance(fitted, ClassResult)
    return fitted, simulated.truth


@pytest.mark.parametrize("design", ["random", "stratified"])
def test_the_interval_holds_in_93_to_97_of_100_audits_and_the_mean_is_unbiased(
    design: Design,
) -> None:
    fitted, truth = result()
    answers = {
        name: fitted.data.classes[code]
        for name, code in zip(fitted.data.items, truth.tolist(), strict=True)
    }
    accuracy = float((fitted.truth == truth).mean())
    held, errors = 0, []
    for seed in range(N_AUDITS):
        sample = draw_sample(fitted, 80, design=design, seed=seed)
        found = estimate_accuracy(sample, answers)
        held += found.low <= accuracy <= found.high
        errors.append(found.accuracy - accuracy)
    assert 0.93 <= held / N_AUDITS <= 0.97
    assert abs(np.mean(errors)) < 3 * np.std(errors) / N_AUDITS**0.5


def test_strata_narrow_the_error_where_confidence_means_something() -> None:
    fitted, truth = result()
    classes = fitted.data.classes
    answers = dict(zip(fitted.data.items, [classes[code] for code in truth], strict=True))
    spread = {}
    for design in ("random", "stratified"):
        found = [
            estimate_accuracy(draw_sample(fitted, 80, design=design, seed=seed), answers).accuracy
            for seed in range(200)
        ]
        spread[design] = np.std(found)
    assert spread["stratified"] < spread["random"]


def test_a_sample_of_all_items_tells_the_accuracy_exactly() -> None:
    fitted, truth = result(60)
    classes = fitted.data.classes
    answers = dict(zip(fitted.data.items, [classes[code] for code in truth], strict=True))
    found = estimate_accuracy(draw_sample(fitted, 60), answers)
    assert found.low == found.high == pytest.approx((fitted.truth == truth).mean())


def test_what_cannot_be_told_is_counted_and_what_is_left_is_said() -> None:
    fitted, _ = result(60)
    sample = draw_sample(fitted, 20, seed=1)
    half: dict[str, str | None] = dict(zip(sample.items[:10], sample.truths, strict=False))
    half[sample.items[10]] = None
    found = estimate_accuracy(sample, half)
    assert (found.n_decided, found.n_right, found.n_unsure, found.n_left) == (10, 10, 1, 9)
    assert "1 could not be told" in found.describe()
    assert "9 left to decide" in found.describe()
    assert np.isnan(estimate_accuracy(sample, {}).accuracy)


def test_a_sample_survives_the_ledger() -> None:
    sample = draw_sample(result(60)[0], 20, design="stratified", seed=1)
    assert AuditSample.from_json(json.loads(json.dumps(sample.as_json()))) == sample
    assert len(set(sample.items)) == 20
    with pytest.raises(DataError, match="no audit sample"):
        AuditSample.from_json({})


def test_a_narrower_interval_needs_more_items_and_never_more_than_all() -> None:
    assert sample_size(0.05, n_items=10**6) == 381
    assert sample_size(0.05, n_items=10**6, accuracy=0.9) < 381
    assert sample_size(0.01, n_items=200) <= 200
    with pytest.raises(DataError, match="margin"):
        sample_size(0.0, n_items=100)
    with pytest.raises(DataError, match="cannot be drawn"):
        draw_sample(result(60)[0], 61)
