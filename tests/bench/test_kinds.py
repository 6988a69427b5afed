"""Accuracy of methods for ratings, sets and comparisons, and how the command tells it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crowdcore.bench import kinds
from tests.bench.test_crowd_layer_ratings import folder
from tests.cli.calling import call

__all__ = ["folder"]


def test_ratings_are_scored_against_their_known_numbers(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    done = call(
        "bench", "accuracy", folder, "--kind", "ratings", "--methods", "mean,gauss", "--json", out
    )  # fmt: skip
    assert "movie_reviews" in done.output
    rows = {row["method"]: row for row in json.loads(out.read_text())}
    assert set(rows) == {"mean", "gauss"}
    assert rows["gauss"]["r"] > 0.9
    assert 0 < rows["gauss"]["rmse"] < rows["mean"]["rmse"]


def test_comparisons_are_ordered_as_by_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {**kinds.ARENA, "items": 8, "workers": 6, "comparisons": 400}
    monkeypatch.setattr(kinds, "ARENA", small)
    monkeypatch.setattr(kinds, "PEER_STEPS", 20)
    rows, skipped = kinds.compare_kind(
        "comparisons", [], names=["bradley_terry"], repeats=1, on_done=lambda _: None
    )
    assert not skipped
    tau = {row.method: row.figures["tau"] for row in rows}
    assert tau["bradley_terry"] > 0.5
    if "crowd-kit BradleyTerry" in tau:
        assert abs(tau["bradley_terry"] - tau["crowd-kit BradleyTerry"]) < 0.1
        assert np.isfinite(tau["crowd-kit NoisyBradleyTerry"])


def test_sets_are_simulated_and_a_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "TAGS", {"items": 40, "workers": 8, "labels_per_item": 3})
    done = call("bench", "accuracy", "--kind", "sets", "--methods", "mv", "--repeats", "1")
    assert "simulated, seed 0" in done.output
    refused = call("bench", "accuracy", tmp_path, "--kind", "sets")
    assert "simulated here" in refused.output
    nothing = call("bench", "accuracy")
    assert "no classes to measure on" in nothing.output
    unknown = call("bench", "accuracy", "--kind", "sets", "--methods", "gauss")
    assert "no method 'gauss' for sets" in unknown.output
