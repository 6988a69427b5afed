"""The Decisions and Compare pages."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from crowdcore import fit
from crowdcore.workspace import Workspace
from crowdcore.workspace.run_states import claim
from tests.dashboard.results import everything_said, open_view, pets, save_run

OpenPage = Callable[..., AppTest]


def test_decisions_are_listed_taken_back_and_run_by(home: Workspace, open_page: OpenPage) -> None:
    run = save_run(home, pets())
    made = home.decide(
        run.project_id, "exclude", ["turned"], by="Ann", reason="Copies", run_id=run.id
    )
    page = open_page("decisions")
    listed = page.dataframe[0].value
    assert listed["decision"].tolist() == ["Exclude worker turned"]
    assert listed["state"].tolist() == ["holds, not in this run yet"]
    page.session_state["decisions_table"] = {"selection": {"rows": [0]}}
    page.run()
    assert "Reason: Copies" in everything_said(page)
    assert "accuracy" in page.dataframe[1].value["name"].tolist()
    page.button(key="decided_run").click().run()
    assert not page.exception
    queued = home.runs(run.project_id)[0]
    assert (queued.excluded, [one.id for one in queued.decisions]) == (("turned",), [made[0].id])
    page = open_page("decisions", run=run.id)
    page.session_state["decisions_table"] = {"selection": {"rows": [0]}}
    page.run()
    page.text_input(key="undo_by").set_value("Bob").run()
    page.button(key="decision_undo").click().run()
    assert not page.exception
    assert home.standing(run.project_id).excluded == ()
    assert page.dataframe[0].value["state"].tolist() == ["", "replaced or taken back"]


def test_a_requirement_is_set_with_a_name(home: Workspace) -> None:
    run = save_run(home, pets())
    page = open_view("decisions")
    assert "Nothing was decided yet" in everything_said(page)
    assert page.button(key="required_set").disabled
    page.number_input(key="required_percent").set_value(80)
    page.text_input(key="required_by").set_value("Ann").run()
    page.button(key="required_set").click().run()
    assert not page.exception
    assert home.standing(run.project_id).required_accuracy == 0.8


def test_two_runs_stand_side_by_side_and_one_is_renamed(home: Workspace) -> None:
    first = save_run(home, pets())
    second = home.run_again(first.id, excluded=["turned"], warm_from=first.id)
    claim(home.catalogue)
    home.save_result(second.id, fit(home.run_data(second.id), second.method))
    page = open_view("compare", run=second.id)
    labels = [metric.label for metric in page.metric]
    assert labels[:2] == ["Truths that changed", "Verdicts that changed"]
    settings = next(table.value for table in page.dataframe if "setting" in table.value.columns)
    assert ["left out", "nobody", "turned"] in settings.to_numpy().tolist()
    page.session_state["compare_runs"] = {"selection": {"rows": [1]}}
    page.run()
    page.text_input(key=f"compare_name_{first.id}").set_value("baseline").run()
    page.button(key="compare_rename").click().run()
    assert not page.exception
    assert home.run(first.id).label == "#1 baseline"
