"""The commands worklist, adjudicate, audit-sample, guideline and spend."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from crowdcore import fit
from crowdcore.cli import app
from crowdcore.simulation.classes import simulate
from crowdcore.workspace import Workspace

runner = CliRunner()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr("crowdcore.jobs.ensure_daemon", lambda _workspace: None)
    home = Workspace(tmp_path / "home")
    data = simulate(items=60, workers=10, classes=3, labels_per_item=4, features=0, seed=5).data
    dataset = home.add_data(
        home.create_project("Birds").id, replace(data, gold=None), name="birds.csv"
    )
    run = home.queue(dataset.id, "ds")
    home.save_result(run.id, fit(home.run_data(run.id), "ds"))
    return home


def command(home: Workspace, *words: str, typed: str = "") -> str:
    done = runner.invoke(app, [*words, "--workspace", str(home.root)], input=typed)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_list_is_printed_and_written_whole(home: Workspace, tmp_path: Path) -> None:
    said = command(home, "worklist", "Birds#1", "--limit", "3", "--out", str(tmp_path / "w.csv"))
    assert "more decision" in said
    assert len(pd.read_csv(tmp_path / "w.csv")) == 60
    facts = json.loads(command(home, "worklist", "Birds#1", "--limit", "2", "--json"))
    assert len(facts["items"]) == 2
    assert facts["decisions_at_best"] <= facts["decisions"]


def test_items_are_decided_in_the_terminal_and_run_by(home: Workspace) -> None:
    run = home.runs(home.projects()[0].id)[0]
    first, second, third = home.worklist(run.id).table(3)["item"]
    said = command(home, "adjudicate", "Birds#1", "--by", "Ann", typed="2\nnothing\n?\n.\n")
    assert "none of the classes" in said
    assert "Kept 2 decisions" in said
    assert "Queued" in said
    truths = home.standing(run.project_id, run.dataset_id).truths
    assert {name: made.value for name, made in truths.items()} == {
        first: home.load_result(run.id).data.classes[1]
    }
    assert home.unsure_items(run.id) == [second]
    assert third in home.worklist(run.id).table()["item"].tolist()


def test_an_audit_is_drawn_and_decided_without_seeing_labels(home: Workspace) -> None:
    said = command(home, "audit-sample", "draw", "Birds#1", "--size", "10", "--by", "Ann")
    assert "sample 1" in said
    said = command(
        home, "audit-sample", "decide", "Birds#1", "sample 1", "--by", "Ann", typed="1\n" * 10
    )
    assert "Labels:" not in said
    assert "95% interval" in said
    (facts,) = json.loads(command(home, "audit-sample", "show", "Birds#1", "--json"))
    assert (facts["n_decided"], facts["left"]) == (10, [])
    both = runner.invoke(
        app, ["audit-sample", "draw", "Birds#1", "--by", "Ann", "--workspace", str(home.root)]
    )
    assert both.exit_code == 2


def test_problems_and_plans_are_told(home: Workspace, tmp_path: Path) -> None:
    assert "good workers" in command(home, "guideline", "Birds#1")
    said = command(
        home, "spend", "Birds#1", "--budget", "5", "--price", "0.1", "--out", str(tmp_path / "b")
    )
    assert "50 labels for 5.00 of 5.00" in said
    assert "sure already" in said
    assert pd.read_csv(tmp_path / "b" / "items.csv")["n_further"].sum() == 50
    assert len(pd.read_csv(tmp_path / "b" / "assignments.csv")) == 50
