"""What `crowdcore run` says of its truths where there is gold, and where the gold was used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdcore import fit, read_labels
from crowdcore.audit.reliability import calibration_error, reliability
from crowdcore.samples import samples
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


def test_a_run_without_gold_says_what_a_check_would_tell_and_how_little_is_known() -> None:
    done = call("run", LABELS, "--method", "ds", "-p", "calibrate=labels")
    assert done.exit_code == 0, done.output
    assert "Accuracy: not known without gold" in done.stdout
    assert "100 items to ±10 points" in done.stdout
    assert "as far as other crowds can tell" in done.stdout
    assert "not known without gold" not in run()
    without = json.loads(call("run", LABELS, "--method", "ds", "--json").stdout)
    with_gold = json.loads(run(more=("--json",)))["expected_accuracy"]
    expected = without["expected_accuracy"]
    assert expected["high"] - expected["low"] >= 0.1
    assert expected["n_checked"] == 0
    assert with_gold["n_checked"] > 0
    assert with_gold["high"] - with_gold["low"] < expected["high"] - expected["low"]


def test_gold_that_was_used_is_named_and_not_scored() -> None:
    text = run("use_gold=true")
    assert "given the gold of 38 items" in text
    assert "Accuracy against gold" not in text
    assert json.loads(run("use_gold=true", more=("--json",)))["used_gold"] is True
