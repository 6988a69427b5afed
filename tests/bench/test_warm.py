"""What a start from the last result saves."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from crowdcore.bench.warm_start import changes, simulated
from crowdcore.cli import app


def test_every_method_is_fitted_after_every_change(tmp_path: Path) -> None:
    out = tmp_path / "warm.json"
    arguments = ["--labels", "3000", "--classes", "3", "--methods", "ds,mace"]
    done = CliRunner().invoke(app, ["bench", "warm", *arguments, "--json", str(out)])
    assert done.exit_code == 0, done.output
    gains = json.loads(out.read_text())
    assert len(gains) == 8
    assert sum(gain["warm_steps"] for gain in gains) < sum(gain["cold_steps"] for gain in gains)
    assert "1 % more labels" in done.stdout.splitlines()[0]


def test_changes_are_small_and_the_truth_stays_hidden_but_for_ten_answers() -> None:
    dataset = simulated(2000, 3)
    more, median, busiest, told = changes(dataset)
    assert more.after.n_labels - more.before.n_labels == 20
    assert busiest.after.n_labels < median.after.n_labels < dataset.data.n_labels
    assert told.after.n_gold == 10
    assert not any(change.before.n_gold for change in (more, median, busiest, told))
