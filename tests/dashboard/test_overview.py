"""The Overview and Agreement pages, and what the Workers page says beyond one run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import fit
from crowdcore.data import CrowdData
from crowdcore.methods import BASELINES
from crowdcore.samples import load_sample
from crowdcore.simulation.spans import simulate_spans
from crowdcore.terms import TERMS
from crowdcore.workspace import Workspace
from crowdcore.workspace.history import worker_history
from crowdcore.workspace.overviews import overview
from dashboard.pages import get_page
from dashboard.terms import TERMS_OF_PAGE, explain
from tests.dashboard.results import charts, everything_said, open_view, pets, save_run

OpenPage = Callable[..., AppTest]


def small_crowd(name: str) -> CrowdData:
    return (
        simulate_spans(texts=20, workers=5, seed=1).data if name == "spans" else load_sample(name)
    )


def test_a_workspace_without_a_project_opens_on_its_data(open_page: OpenPage) -> None:
    assert open_page("overview").title[0].value == "Data"


def test_the_overview_says_how_right_who_is_in_doubt_and_what_to_do(
    home: Workspace, open_page: OpenPage
) -> None:
    run = save_run(home, pets(), "ds")
    page = open_page("overview")
    assert "21 items with a truth from 101 labels of 6 workers" in everything_said(page)
    shown = {entry.label: entry for entry in page.metric}
    assert shown["Right against gold"].value == "100.0%"
    assert shown["Right against gold"].delta == "72–100%, 10 with gold"
    assert shown["Workers in doubt"].value == "2 of 6"
    assert shown["Changed truths"].value == "–"
    links = [link.proto for link in page.main.get("page_link")]
    assert [link.page for link in links] == ["truths", "workers", "truths", "agreement", "compare"]
    assert all(f"run={run.id}" in link.query_string for link in links)
    steps = [button.label for button in page.main.button]
    assert steps[0] == "Look at them"
    assert steps[-1] == "Export and report"


def test_the_overview_goes_on_when_something_was_decided(
    home: Workspace, open_page: OpenPage
) -> None:
    run = save_run(home, pets(), "ds")
    home.decide(run.project_id, "exclude", ["turned"], by="Ann", reason="opposite", run_id=run.id)
    titles = [step.title for step in overview(home, run.id).steps]
    assert titles[:2] == ["Run by your decisions", "Decide about 1 worker in doubt"]
    decided = home.run_decided(run.id)
    home.save_result(decided.id, fit(home.run_data(decided.id), "ds"))
    page = open_page("overview", run=decided.id)
    assert "1 decision that" not in everything_said(page)
    shown = {entry.label: entry for entry in page.metric}
    assert shown["Workers in doubt"].value == "1 of 5"
    assert shown["Changed truths"].delta.endswith("since #1")


@pytest.mark.parametrize("name", ["relevance", "tags", "quality", "arena", "spans"])
def test_every_kind_of_labels_has_an_overview_and_its_agreement(
    home: Workspace, open_page: OpenPage, name: str
) -> None:
    data = small_crowd(name)
    save_run(home, data, BASELINES[data.kind])
    page = open_page("overview")
    assert len(page.metric) == 5
    assert len(page.main.button) >= 1
    page = open_view("agreement")
    said = everything_said(page)
    assert "95% interval" in said
    assert "How they were computed" in [panel.label for panel in page.expander]
    assert len(charts(page)) == (1 if name == "arena" else 2)


def test_agreement_needs_no_run_and_explains_the_paradox(home: Workspace) -> None:
    answers = [("no", "no")] * 94 + [("yes", "no")] * 3 + [("no", "yes")] * 2 + [("yes", "yes")]
    triples = [
        (str(item), worker, label)
        for item, row in enumerate(answers)
        for worker, label in zip("ab", row, strict=True)
    ]
    data = CrowdData.from_triples(triples)
    home.add_data(home.create_project("Rare").id, data, name="rare.csv")
    page = open_view("agreement")
    assert "prevalence paradox" in page.info[0].value
    assert "two labels of one worker" not in everything_said(page)


def test_agreement_can_leave_out_whom_the_run_leaves_out(home: Workspace) -> None:
    save_run(home, pets(), "ds", excluded=["turned", "always cat"])
    page = open_view("agreement")
    before = page.markdown[0].value
    page.toggle[0].set_value(True).run()
    assert page.markdown[0].value != before
    assert "alpha is 1\\.000" in page.markdown[0].value


def test_the_worker_page_compares_workers_whatever_the_method(home: Workspace) -> None:
    run = save_run(home, pets(), "mv")
    page = open_view("workers")
    page.session_state[f"workers_matrix_{run.id}"] = True
    page.run()
    maps = [figure for figure in charts(page) if figure["data"][0]["type"] == "heatmap"]
    assert len(maps) == 1
    assert sorted(maps[0]["data"][0]["x"]) == sorted(pets().workers)


def test_a_worker_is_known_by_what_other_projects_say_and_decided(home: Workspace) -> None:
    first = save_run(home, pets(), "ds", project="First")
    save_run(home, pets(), "mv", project="Second")
    home.decide(first.project_id, "watch", ["turned"], by="Ann", reason="asked", run_id=first.id)
    history = worker_history(home, "turned").set_index("project")
    assert (history["decision"]["First"], history["by"]["First"]) == ("watch", "Ann")
    assert history.loc["Second", "decision"] == ""
    assert history.loc["Second", "n_labels"] == 20
    assert worker_history(home, "stranger to all").empty


def test_runs_are_compared_with_decided_truths_that_they_were_not_given(home: Workspace) -> None:
    run = save_run(home, pets(), "ds")
    assert home.against_decisions(run.id) == (0, 0)
    truths = dict(home.truths(run.id)[["item", "truth"]].astype(str).to_numpy().tolist())
    wrong = "cat" if truths["i3"] == "dog" else "dog"
    for item, value in (("i2", truths["i2"]), ("i3", wrong)):
        home.decide(run.project_id, "truth", [item], by="Ann", value=value, run_id=run.id)
    assert home.against_decisions(run.id) == (1, 2)
    save_run(home, pets(), "mv")
    said = everything_said(open_view("compare"))
    assert "Against the truths that people decided" in said
    assert "has 1 of 2" in said


def test_every_page_explains_its_terms_on_hover(home: Workspace) -> None:
    assert all(get_page(name) and explain(name) for name in TERMS_OF_PAGE)
    save_run(home, pets(), "mv")
    captions = [caption.proto.help for caption in open_view("truths").caption]
    assert f"**posterior**: {TERMS['posterior']}" in captions[0]


def test_a_preview_says_what_would_change_without_judging_workers(home: Workspace) -> None:
    run = save_run(home, pets(), "ds")
    preview = home.preview(run.id, exclude=["turned"])
    home.save_result(preview.id, fit(home.run_data(preview.id), "ds"))
    assert home.evidence(run.id) is not None
    assert home.evidence(preview.id) is None
    compared = home.compare(run.id, preview.id)
    assert compared.labels_before - compared.labels_after == 20
    assert compared.workers.empty
