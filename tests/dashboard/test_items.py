"""The pages Items and Spend plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData
from crowdcore.samples import load_sample
from crowdcore.simulation.classes import simulate
from crowdcore.workspace import RunRow, Workspace
from crowdcore.workspace.item_review import SHOWN
from tests.dashboard.results import everything_said, open_view, save_run


def crowd(n_classes: int = 3) -> CrowdData:
    data = simulate(
        items=60, workers=10, classes=n_classes, labels_per_item=4, features=0, seed=5
    ).data
    return replace(data, gold=None)


def asked(page: AppTest) -> str:
    (heading,) = [each.value for each in page.subheader if each.value.startswith("What is")]
    return str(heading).removeprefix("What is ").removesuffix("?")


def signed(view: str, run: RunRow, **query: str) -> AppTest:
    page = open_view(view, run=run.id, **query)
    page.text_input(key="items_by").set_value("Ann").run()
    return page


def test_the_worklist_is_decided_skipped_and_taken_back(home: Workspace) -> None:
    run = save_run(home, crowd())
    page = open_view("items", run=run.id)
    assert page.button(key="items_answer_1").disabled
    page.text_input(key="items_by").set_value("Ann").run()
    order = home.worklist(run.id).table()["item"].tolist()
    assert asked(page) == order[0]
    page.button(key="items_skip").click().run()
    assert asked(page) == order[1]
    code = crowd().items.index(order[1])
    page.text_input(key=f"items_note_{code}").set_value("blurred").run()
    page.button(key="items_answer_2").click().run()
    (made,) = home.decisions(run.project_id)
    assert (made.action, made.subject, made.note) == ("truth", order[1], "blurred")
    assert made.value == crowd().classes[1]
    assert made.evidence[SHOWN] is True
    assert "truth" in made.evidence
    assert "Refit with 1 new decision" in [button.label for button in page.button]
    page.button(key="items_undo").click().run()
    assert home.standing(run.project_id, run.dataset_id).truths == {}
    unsure = asked(page)
    page.button(key="items_unsure").click().run()
    assert home.unsure_items(run.id) == [unsure]
    assert asked(page) != unsure


def test_a_refit_goes_on_in_the_background_and_is_offered_when_it_is_done(home: Workspace) -> None:
    run = save_run(home, crowd())
    page = signed("items", run)
    name = asked(page)
    page.button(key="items_answer_1").click().run()
    page.button(key="items_refit").click().run()
    assert not page.exception
    queued = home.runs(run.project_id)[0]
    assert (queued.warm_from, queued.params["use_gold"]) == (run.id, True)
    assert [made.subject for made in queued.decisions] == [name]
    assert asked(page) != name


def test_an_audit_is_drawn_decided_blind_and_tells_the_accuracy(home: Workspace) -> None:
    run = save_run(home, crowd())
    page = open_view("items", run=run.id, view="audit")
    page.text_input(key="audit_by").set_value("Ann").run()
    page.segmented_control(key="audit_margin").set_value(0.1).run()
    page.button(key="audit_draw").click().run()
    (audit,) = home.audits(run.id)
    assert audit.sample.design == "random"
    assert asked(page) == audit.sample.items[0]
    assert "Labels and truth are hidden" in everything_said(page)
    assert not page.get("plotly_chart")
    truths = home.truths(run.id).set_index("item")["truth"]
    for item in audit.sample.items[:12]:
        number = crowd().classes.index(str(truths[item])) + 1
        page.button(key=f"items_answer_{number}").click().run()
    (audit,) = home.audits(run.id)
    assert (audit.estimate.n_decided, audit.estimate.n_right) == (12, 12)
    assert audit.estimate.low < 1
    made = home.decisions(run.project_id)[-1]
    assert made.evidence[SHOWN] is False
    assert made.evidence["sample"] == audit.id
    page.toggle(key="audit_shown").set_value(True).run()
    assert page.get("plotly_chart")


def test_classes_are_merged_from_the_guideline_problems(home: Workspace) -> None:
    run = save_run(home, crowd(), "mv")
    page = open_view("items", run=run.id, view="guideline")
    assert "Counting" in everything_said(page)
    page.text_input(key="merge_by").set_value("Ann").run()
    page.button(key="merge_decide").click().run()
    assert len(home.standing(run.project_id, run.dataset_id).merges) == 1
    assert home.runs(run.project_id)[0].status == "queued"


@pytest.mark.parametrize("sample", ["quality", "tags", "arena"])
def test_every_kind_of_labels_has_a_list_or_a_sentence(home: Workspace, sample: str) -> None:
    methods = {"quality": "mean", "tags": "mv", "arena": "bradley_terry"}
    run = save_run(home, load_sample(sample), methods[sample], project=sample)
    page = open_view("items", run=run.id)
    said = everything_said(page)
    if sample == "arena":
        assert "pairs that are worth asking" in said
        return
    page.text_input(key="items_by").set_value("Ann").run()
    code = load_sample(sample).items.index(asked(page))
    if sample == "quality":
        page.number_input(key=f"items_rating_{code}").set_value(3.5).run()
    else:
        page.multiselect(key=f"items_set_{code}").set_value(["size"]).run()
    page.button(key="items_answer").click().run()
    assert not page.exception
    (made,) = home.decisions(run.project_id)
    assert made.value == ("3.5" if sample == "quality" else '["size"]')
    assert home.run_data(home.run_decided(run.id).id).n_gold == load_sample(sample).n_gold + 1


def test_a_spend_plan_says_what_to_buy_of_whom_and_what_it_would_bring(home: Workspace) -> None:
    run = save_run(home, crowd())
    page = open_view("spend", run=run.id)
    page.number_input(key="spend_budget").set_value(3.0).run()
    metrics = {metric.label: metric.value for metric in page.metric}
    assert metrics["Labels to buy"] == "60"
    assert "Now: right" in metrics
    assert "not worth their price" in everything_said(page)
    page.number_input(key="spend_price").set_value(9.0).run()
    assert "pays for no label" in everything_said(page)
