"""`crowdcore ask`: questions in the terminal, answers in the ledger, a run in the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdcore.artefacts.candidates import Candidates
from crowdcore.confidence.accuracy import expected_accuracy
from crowdcore.jobs.fit_process import execute
from crowdcore.simulation.classes import simulate
from crowdcore.workspace import Workspace, run_states
from crowdcore.workspace.answers import drawing_chances
from tests.cli.calling import call
from tests.crowds import golden_ratings


def do_queued(home: Workspace) -> None:
    while (run_id := run_states.claim(home.catalogue)) is not None:
        execute(home, run_id)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("CROWDCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("crowdcore.jobs.ensure_daemon", do_queued)
    home = Workspace(tmp_path / "home")
    project = home.create_project("Birds")
    crowd = simulate(items=80, workers=10, classes=2, labels_per_item=3, seed=5)
    data = replace(crowd.data, gold=None)
    dataset = home.add_data(project.id, data, name="labels.csv")
    home.queue(dataset.id, "auto")
    do_queued(home)
    return home


def test_answers_are_kept_as_they_are_given_and_choose_afterwards(home: Workspace) -> None:
    typed = "\n".join(["1", "?", "c2", "nonsense", "2", *["1"] * 8, "."]) + "\n"
    done = call("ask", "Birds#1", "--by", "Ann", "--questions", "30", typed=typed)
    assert done.exit_code == 0, done.output
    assert "'nonsense' is none of them" in done.stdout
    assert "11 answers, 1 unsure" in done.stdout
    runs = home.runs(home.projects()[0].id)
    answered = next(run for run in runs if run.member_of is None)
    made = home.decisions(answered.project_id)
    assert [one.action for one in made].count("unsure") == 1
    assert {one.by for one in made} == {"Ann"}
    assert {one.evidence["question"]["drawn"] for one in made} <= {"random", "disagreement"}
    assert len({one.subject for one in made}) == len(made) == 12
    result = home.load_result(answered.id)
    candidates = result.artefact(Candidates)
    assert candidates is not None
    assert len(candidates.answered) == 11
    truth_of = dict(zip(result.data.items, result.data.class_names(result.truth), strict=True))
    assert all(truth_of[one.subject] == one.value for one in made if one.value)
    assert result.score() is None  # what chose cannot score
    chances = drawing_chances(home.run(answered.id).decisions)
    assert set(chances) == {one.subject for one in made if one.value}
    expected = expected_accuracy(result, chances)
    assert expected is not None
    assert expected.n_checked == expected.n_asked == 11
    assert "11 of them asked for" in expected.describe()
    assert expected_accuracy(result).n_asked == 0  # type: ignore[union-attr]
    changed = result.item_scores["changed_by_answers"]
    assert np.array_equal(changed > 0, candidates.changed)
    assert any("known answers weighed" in note for note in result.provenance.notes)


def test_a_second_round_goes_on_where_the_first_ended(home: Workspace) -> None:
    first = call("ask", "Birds#1", "--by", "Ann", typed="1\n2\n.\n")
    assert first.exit_code == 0, first.output
    second = call("ask", "Birds#1", "--by", "Bob", typed="1\n.\n")
    assert "After 2 answers" in second.stdout
    asked = home.decisions(home.projects()[0].id)
    assert [one.by for one in asked] == ["Ann", "Ann", "Bob"]
    assert len({one.subject for one in asked}) == 3
    newest = home.runs(home.projects()[0].id)[0]
    assert len(home.asked(newest.id)) == 3


def test_a_run_of_another_method_is_refused(home: Workspace) -> None:
    dataset = home.datasets(home.projects()[0].id)[0]
    home.queue(dataset.id, "mv")
    do_queued(home)
    number = max(run.number for run in home.runs(home.projects()[0].id))
    done = call("ask", f"Birds#{number}", "--by", "Ann", typed=".\n")
    assert done.exit_code == 2
    assert "about runs of auto" in done.stderr
    assert np.isfinite(number)


def test_labels_that_are_no_classes_are_refused_in_a_sentence(home: Workspace) -> None:
    ratings = golden_ratings()
    dataset = home.add_data(home.projects()[0].id, ratings, name="ratings.csv")
    home.queue(dataset.id, "auto")
    do_queued(home)
    number = max(run.number for run in home.runs(home.projects()[0].id))
    done = call("ask", f"Birds#{number}", "--by", "Ann", typed=".\n")
    assert done.exit_code == 2
    assert "where labels are classes; these are ratings" in done.stderr
