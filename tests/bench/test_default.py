"""How honest the default is, and what answers bring, on sets with a truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crowdcore.bench.default import Fitted, ask, by_source
from crowdcore.confidence.accuracy import ExpectedAccuracy
from crowdcore.simulation.classes import simulate
from tests.cli.calling import call


def save(folder: Path, seed: int) -> Path:
    crowd = simulate(items=110, workers=8, classes=2, labels_per_item=3, seed=seed)
    data, folder = crowd.data, folder / f"crowd{seed}"
    folder.mkdir()
    rows = zip(data.item, data.worker, data.label, strict=True)
    lines = [f"{data.items[i]},{data.workers[w]},{data.classes[c]}" for i, w, c in rows]
    (folder / "labels.csv").write_text("\n".join(["item,worker,label", *lines]))
    answers = zip(data.items, crowd.truth, strict=True)
    lines = [f"{item},{data.classes[code]}" for item, code in answers]
    (folder / "truth.csv").write_text("\n".join(["item,truth", *lines]))
    return folder


def test_the_command_tabulates_confidence_and_questions(tmp_path: Path) -> None:
    folders = [save(tmp_path, seed) for seed in (1, 2)]
    file = tmp_path / "numbers.json"
    done = call("bench", "default", *folders, "--repeats", "2", "--seeds", "0", "--json", file)
    assert done.exit_code == 0, done.output
    assert "of 2 held" in done.stdout
    numbers = json.loads(file.read_text())
    assert [row["dataset"] for row in numbers["honesty"]] == ["crowd1", "crowd2"]
    strategies = {row["strategy"] for row in numbers["gains"]}
    assert strategies == {"disagreement", "random", "least confident"}
    assert all(row["best"] >= row["auto"] for row in numbers["gains"])


def test_answers_find_the_better_candidate_sooner_where_candidates_disagree() -> None:
    rng = np.random.default_rng(0)
    answers = rng.integers(2, size=600)
    good, bad = answers.copy(), answers.copy()
    good[rng.permutation(600)[:12]] ^= 1
    bad[rng.permutation(600)[:72]] ^= 1
    truths = np.stack([bad, bad, good])
    fitted = Fitted(
        name="made",
        posteriors=[0.05 + 0.9 * np.eye(2)[truth] for truth in truths],
        truths=truths,
        answers=answers,
        confidence=np.full(600, 0.9),
        prior=ExpectedAccuracy(estimate=0.9, low=0.75, high=0.97),
    )
    gains = {(gain.strategy, gain.n_answers): gain for gain in ask(fitted, 6)}
    contested, random = gains["disagreement", 10], gains["random", 10]
    assert contested.pooled - contested.auto > 0.05
    assert contested.pooled - contested.auto > random.pooled - random.auto + 0.03


def test_sets_of_one_source_count_as_one() -> None:
    values = by_source({"zc_all": 0.2, "zc_in": 0.4, "bird": 0.9})
    assert sorted(values) == pytest.approx([0.3, 0.9])
