import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crowdcore.bench import peers, speed
from crowdcore.bench.measure import measured
from crowdcore.cli import app
from crowdcore.data import DataError


def test_each_row_has_the_steps_the_time_and_the_memory(tmp_path: Path) -> None:
    out = tmp_path / "speed.json"
    arguments = ["--labels", "1e4", "--methods", "ds", "--steps", "7", "--repeats", "1"]
    done = CliRunner().invoke(app, ["bench", "speed", *arguments, "--json", str(out)])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(out.read_text())
    assert (row["method"], row["labels"], row["ours"]["steps"]) == ("ds", 10_000, 7)
    assert row["ours"]["seconds"] > 0
    assert row["ours"]["bytes"] >= 0
    assert row["labels_a_second"] == pytest.approx(10_000 / row["ours"]["seconds"])
    assert row["theirs"] is row["times_faster"] is None
    assert done.stdout.splitlines()[0].split() == [
        "method", "labels", "steps", "seconds", "CPU", "s", "labels/s", "memory",
    ]  # fmt: skip


def test_memory_is_what_a_fit_adds_at_its_peak() -> None:
    def fit() -> int:
        values = np.ones(8_000_000)  # 64 MB, gone before the end
        return int(values[0])

    outcome = measured(fit)
    assert 60e6 < outcome["bytes"] < 90e6
    assert outcome["steps"] == 1
    assert measured(lambda: 0)["bytes"] < 10e6


def test_only_settings_that_a_method_has_are_set() -> None:
    assert speed.settings("ds", 9) == {"max_iter": 9, "tol": 0.0}
    assert speed.settings("mv", 9) == speed.settings("alpha", 9) == {}


def test_the_cost_is_the_median_and_the_ratio_is_theirs_over_ours() -> None:
    outcomes = [
        {"seconds": seconds, "cpu_seconds": seconds / 2, "bytes": 5.0, "steps": 3}
        for seconds in (9.0, 1.0, 2.0)
    ]
    ours = speed.Cost.of(outcomes)
    assert ours.seconds == 2.0
    theirs = speed.Cost(seconds=50.0, cpu_seconds=50.0, bytes=1.0, steps=3)
    row = speed.Measurement(
        method="ds", n_labels=10, n_workers=2, ours=ours, theirs=theirs, smallest=ours
    )
    assert (row.ratio, row.growth) == (50.0, 1.0)
    alone = speed.Measurement(method="ds", n_labels=10, n_workers=2, ours=ours)
    assert alone.ratio is alone.growth is None


def test_sizes_are_measured_in_turn_and_held_against_the_smallest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[int] = []

    def spawn(_: str, job: dict[str, Any], __: str) -> dict[str, float]:
        n_labels = len(np.load(job["codes"])["label"])
        order.append(n_labels)
        return {"seconds": n_labels, "cpu_seconds": n_labels / 2, "bytes": 0.0, "steps": 3}

    monkeypatch.setattr(speed, "_spawn", spawn)
    out = tmp_path / "speed.json"
    arguments = ["--labels", "4000", "--labels", "1000", "--workers", "9", "--methods", "ds"]
    arguments += ["--repeats", "2", "--json", str(out)]
    done = CliRunner().invoke(app, ["bench", "speed", *arguments])
    assert done.exit_code == 0, done.output
    assert order == [1000, 4000, 1000, 4000]
    rows = json.loads(out.read_text())
    assert [(row["labels"], row["workers"]) for row in rows] == [(1000, 9), (4000, 9)]
    assert [row["times_the_fewest"] for row in rows] == [1.0, 4.0]
    assert "times the fewest" in done.stdout
    assert "1,000 of 9 and 4,000 of 9 workers" in " ".join(done.stdout.split())


def test_a_peer_makes_as_many_steps_as_ours_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[tuple[str, dict[str, Any]]] = []

    def spawn(python: str, job: dict[str, Any], name: str) -> dict[str, float]:
        jobs.append((python, job))
        return {"seconds": 1.0, "cpu_seconds": 1.0, "bytes": 0.0, "steps": 6}

    monkeypatch.setattr(speed, "_spawn", spawn)
    python = tmp_path / "python"
    rows = speed.compare(["ds"], sizes=[500], n_classes=3, steps=20, repeats=2, peers=python)
    assert [command for command, _ in jobs] == [sys.executable, str(python)] * 2  # in turn
    assert jobs[0][1]["params"] == {"max_iter": 20, "tol": 0.0}
    assert jobs[1][1]["peer"] == "DawidSkene"
    assert jobs[1][1]["params"] == {"n_iter": 6, "tol": -1e300}
    assert rows[0].ratio == 1.0


def test_alpha_is_measured_as_methods_are() -> None:
    (row,) = speed.compare(["alpha"], sizes=[5000], n_classes=3, steps=20, repeats=1)
    assert row.ours is not None, row.reason
    assert row.ours.steps == 0
    assert row.ours.seconds > 0
    assert peers.PEERS["alpha"].name == "krippendorff.alpha"


def test_the_crowd_has_as_many_workers_as_are_wished_for() -> None:
    assert speed.crowd(50_000, 3, seed=0).data.n_workers == 50
    assert speed.crowd(50_000, 3, seed=0, n_workers=7).data.n_workers == 7
    arguments = ["--labels", "1000", "--workers", "7", "--methods", "mv", "--repeats", "1"]
    done = CliRunner().invoke(app, ["bench", "speed", *arguments])
    assert done.exit_code == 0, done.output
    assert "1,000 of 7 workers" in done.stdout
    done = CliRunner().invoke(app, ["bench", "speed", "--workers", "3"])  # of five labels an item
    assert done.exit_code == 2


def test_a_wrong_name_is_told_before_anything_is_measured() -> None:
    done = CliRunner().invoke(app, ["bench", "speed", "--methods", "alpha,dss"])
    assert done.exit_code == 2
    assert "dss" in done.stderr


def test_a_fit_that_fails_is_a_reason_in_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr="Traceback\nMemoryError: oh")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    rows = speed.compare(["mv"], sizes=[500], n_classes=3, steps=2, repeats=1)
    assert rows[0].ours is None
    assert rows[0].reason == "mv could not be measured: MemoryError: oh."


def test_peers_that_are_not_installed_are_a_sentence_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"bench peers --into {tmp_path}"):
        peers.python_of(tmp_path)
    done = CliRunner().invoke(app, ["bench", "speed", "--peers", "--peers-in", str(tmp_path)])
    assert done.exit_code == 2
    assert "There is no environment with the peers" in done.stderr


def test_an_environment_is_never_made_among_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(DataError, match="holds other files"):
        peers.make_environment(tmp_path)


def test_an_environment_is_ready_only_when_all_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def refuse(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        code = 1 if "pip" in command else 0
        return subprocess.CompletedProcess(command, code, stdout="", stderr="no\nNo such package")

    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(DataError, match="environment failed: No such package"):
        peers.make_environment(tmp_path / "peers")
    assert not peers.is_ready(tmp_path / "peers")
    assert "venv" in commands[0]

    def accept(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, stdout="", stderr="")

    monkeypatch.setattr(subprocess, "run", accept)
    peers.make_environment(tmp_path / "peers")  # goes on where it failed
    assert peers.is_ready(tmp_path / "peers")
    assert peers.python_of(tmp_path / "peers").parent.parent == tmp_path / "peers"
