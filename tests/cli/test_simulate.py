"""`crowdcore simulate`."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

from crowdcore.cli.simulate import simulate as simulate_command
from crowdcore.simulation.classes import simulate
from tests.cli.calling import call, rows


def test_simulate_writes_a_crowd_that_the_other_commands_read(tmp_path: Path) -> None:
    out = tmp_path / "crowd"
    wishes = ["--items", "60", "--workers", "12", "--classes", "3", "--copiers", "0.1"]
    done = call("simulate", "--out", out, *wishes, "--seed", "5")
    assert done.exit_code == 0, done.output
    assert "300 labels of 60 items by 12 workers" in done.stdout
    crowd = simulate(items=60, workers=12, classes=3, copiers=0.1, seed=5)
    people = rows(out / "workers.csv")
    assert tuple(row["character"] for row in people) == crowd.character
    copier = crowd.character.index("copier")
    assert people[copier]["copied_from"] == crowd.data.workers[crowd.copied_from[copier]]
    files: list[str | Path] = ["--gold", out / "truth.csv", "--features", out / "features.npz"]
    summary = json.loads(call("run", out / "labels.csv", "-m", "mv", *files, "--json").stdout)
    assert summary["score"]["n"] == 60
    truth = [row["truth"] for row in rows(out / "truth.csv")]
    assert truth == [crowd.data.classes[code] for code in crowd.truth]


def test_simulate_never_overwrites_labels_unasked(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("precious")
    refused = call("simulate", "--out", tmp_path, "--items", "10")
    assert refused.exit_code == 2
    assert "already has labels.csv" in refused.stderr
    assert (tmp_path / "labels.csv").read_text() == "precious"
    assert call("simulate", "--out", tmp_path, "--items", "10", "--force").exit_code == 0
    assert len(rows(tmp_path / "labels.csv")) == 50
    assert call("simulate", "--out", tmp_path, "--features", "0", "--force").exit_code == 0
    assert not (tmp_path / "features.npz").exists()


def test_a_wish_that_cannot_be_met_leaves_old_files_alone(tmp_path: Path) -> None:
    assert call("simulate", "--out", tmp_path, "--items", "10").exit_code == 0
    done = call("simulate", "--out", tmp_path, "--workers", "2", "--force")
    assert done.exit_code == 2
    assert "5 labels per item need as many workers" in done.stderr
    assert len(rows(tmp_path / "labels.csv")) == 50


def test_the_command_simulates_by_the_same_defaults_as_the_function() -> None:
    function = inspect.signature(simulate).parameters
    command = inspect.signature(simulate_command).parameters
    shared = set(function) - {"truth"}
    assert shared == set(command) - {"out", "force", "kind"}
    assert {name: command[name].default for name in shared} == {
        name: function[name].default for name in shared
    }
