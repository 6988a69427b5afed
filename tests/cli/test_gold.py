"""What `crowdcore run` says of its truths where there is gold, and where the gold was used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdcore import fit, read_labels
from crowdcore.audit.calibration import calibration_error, reliability
from crowdcore.io.samples import samples
from tests.cli.calling import call

SAMPLE = next(sample.folder for sample in samples() if sample.id == "relevance")
LABELS, GOLD = SAMPLE / "labels.csv", SAMPLE / "gold.csv"


def run(*params: str, more: tuple[str, ...] = ()) -> Any:
    given = [part for param in params for part in ("-p", param)]
    done = call("run", LABELS, "--gold", GOLD, "--method", "ds", *given, *more)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_gap_between_confidence_and_accuracy_is_told() -> None:
    bins = reliability(fit(read_labels(LABELS, gold=GOLD), "ds"))
    assert bins is not None
    error = calibration_error(bins)
    assert 0 < error < 1
    assert f"Expected calibration error: {error:.4f}" in run()
    said = json.loads(run(more=("--json",)))["score"]
    assert said["calibration_error"] == pytest.approx(error)


def test_a_calibrated_run_tells_the_accuracy_that_it_expects() -> None:
    text, said = run("calibrate=labels"), json.loads(run("calibrate=labels", more=("--json",)))
    point, low, high = said["expected_accuracy"]
    assert low < point < high
    assert f"Expected accuracy: {point:.4f} (95 % interval {low:.4f} to {high:.4f})" in text
    assert "Expected accuracy" not in run()


def test_gold_that_was_used_is_named_and_not_scored() -> None:
    text = run("use_gold=true")
    assert "given the gold of 38 items" in text
    assert "Accuracy against gold" not in text
    assert json.loads(run("use_gold=true", more=("--json",)))["used_gold"] is True
