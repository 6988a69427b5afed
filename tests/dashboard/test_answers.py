"""The page Answer a few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from crowdcore import fit
from crowdcore.simulation.classes import simulate
from crowdcore.workspace import RunRow, Workspace
from crowdcore.workspace.run_states import claim
from tests.dashboard.results import everything_said, open_view, pets, save_run

OpenPage = Callable[..., AppTest]


def save_pool(home: Workspace) -> RunRow:
    project = home.create_project("Birds")
    crowd = simulate(items=60, workers=8, classes=2, labels_per_item=3, seed=5).data
    dataset = home.add_data(project.id, replace(crowd, gold=None), name="labels.csv")
    return finish(home, home.queue(dataset.id, "auto").id)


def finish(home: Workspace, run_id: str) -> RunRow:
    claim(home.catalogue)
    run = home.run(run_id)
    home.save_result(run_id, fit(home.run_data(run_id), run.method, **run.params))
    return home.run(run_id)


def test_questions_are_prepared_answered_and_run_by(home: Workspace, open_page: OpenPage) -> None:
    run = save_pool(home)
    page = open_page("answers", run=run.id)
    page.button(key="answers_prepare").click().run()
    assert not page.exception
    prepared = finish(home, home.runs(run.project_id)[0].id)
    assert prepared.params["choose"] == "ask"
    page = open_page("answers", run=prepared.id)
    assert "What is" in everything_said(page)
    assert page.button(key="answer_0").disabled
    assert page.button(key="answers_run").disabled
    page.text_input(key="answers_by").set_value("Ann").run()
    page.button(key="answer_unsure").click().run()
    for number in range(10):
        page.button(key=f"answer_{number % 2}").click().run()
        assert not page.exception
    asked = home.asked(prepared.id)
    assert [made.action for made in asked] == ["unsure", *["truth"] * 10]
    assert len({made.subject for made in asked}) == 11
    assert "After 10 answers" in everything_said(page)
    weights = page.dataframe[0].value
    assert weights["weight"].sum() == 100 or abs(weights["weight"].sum() - 100) < 1e-6
    page.button(key="answers_run").click().run()
    assert not page.exception
    chosen = finish(home, home.runs(run.project_id)[0].id)
    assert (chosen.params["choose"], len(chosen.decisions)) == ("gold", 10)
    page = open_page("truths", run=chosen.id)
    assert "Expected accuracy" in [metric.label for metric in page.metric]
    assert "10 known answers weighed" in everything_said(page)
    page.segmented_control(key="truths_view").set_value("Answers").run()
    assert not page.exception
    tables = {tuple(frame.value.columns): frame.value for frame in page.dataframe}
    known = tables["item", "answer", "others", "right"]
    assert set(known["item"]) == {made.subject for made in asked if made.action == "truth"}


def test_other_methods_have_nothing_to_choose_among(home: Workspace) -> None:
    save_run(home, pets())
    assert "Questions are about runs of auto" in everything_said(open_view("answers"))
