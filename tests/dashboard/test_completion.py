from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData, fit
from crowdcore.artefacts.adverse_workers import AdverseWorkers
from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.registry import methods
from crowdcore.workspace import Dataset, RunRow, Workspace, run_states
from dashboard.completion import matrix as completion_matrix
from tests.completing import completed, filled, sparse_pets
from tests.dashboard.results import charts, everything_said, key_like, open_view, pets, save_run

OpenPage = Callable[..., AppTest]

TRUTH = np.array([0, 1, 0, 1, 0, 1])[:, None]


def save_completed(
    home: Workspace,
    data: CrowdData | None = None,
    label: Any = TRUTH,
    *,
    excluded: tuple[str, ...] = (),
    artefacts: Sequence[Artefact] = (),
) -> RunRow:
    """Save a run whose truths are what was filled in, for all that a hand-made filler knows."""
    data = sparse_pets() if data is None else data
    known = {one.name: one.id for one in home.projects()}
    project = known.get("Pets") or home.create_project("Pets").id
    dataset = home.add_data(project, data, name="pets.csv")
    run = home.queue(dataset.id, "ds", complete="wslc", excluded=excluded)
    data = home.run_data(run.id)
    completion = filled(data, label, artefacts=artefacts)
    truth = np.broadcast_to(np.asarray(label, np.int32), completion.label.shape)[:, 0]
    posterior = np.full((data.n_items, data.n_classes), 0.1 / max(1, data.n_classes - 1))
    posterior[np.arange(data.n_items), truth] = 0.9
    result = fit(data, "ds").with_fields(
        posterior=posterior, truth=truth, tied=np.zeros(data.n_items, bool)
    )
    home.save_result(run.id, completed(result, completion))
    return home.run(run.id)


def metrics(page: AppTest) -> dict[str, str]:
    return {one.label: str(one.value) for one in page.metric}


def table(page: AppTest, column: str) -> pd.DataFrame:
    return next(one.value for one in page.dataframe if column in one.value)


def test_without_data_the_page_says_where_to_begin(home: Workspace) -> None:
    assert open_view("completion").subheader[0].value == "There is no project yet"


def test_without_a_run_there_is_nothing_to_show(dataset: Dataset) -> None:
    assert open_view("completion").subheader[0].value == "No run has finished yet"


def test_a_run_that_failed_is_told_of(home: Workspace, dataset: Dataset) -> None:
    run = home.queue(dataset.id, "mv", complete="wslc")
    run_states.claim(home.catalogue)
    run_states.end(home.catalogue, run.id, "failed", "It broke.", folder=home.run_folder(run.id))
    page = open_view("completion")
    assert page.subheader[0].value == "No run has finished yet"
    assert "It broke" in everything_said(page)


def test_a_run_without_completion_leads_to_the_settings_of_one(
    home: Workspace, open_page: OpenPage
) -> None:
    save_run(home, pets(), "ds")
    page = open_page("completion")
    assert page.title[0].value == "Completion"
    assert "Nothing was filled in for this run" in everything_said(page)
    assert not charts(page)
    page.button(key="completion_run").click().run()
    assert not page.exception
    assert page.title[0].value == "Run"
    assert page.query_params["method"] == "ds"
    assert page.selectbox(key="complete:ds").value in methods("complete")


def test_a_link_to_the_settings_completes_the_labels_first(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page("run", method="mv", complete="wslc")
    page.button(key="start:mv").click().run()
    assert not page.exception
    assert home.runs(dataset.project_id)[0].complete == "wslc"


def test_a_run_without_completion_leads_to_one_that_has_some(
    home: Workspace, open_page: OpenPage
) -> None:
    done = save_completed(home)
    plain = save_run(home, sparse_pets(), "ds")
    page = open_page("completion", run=plain.id)
    page.button(key="completion_open_run").click().run()
    assert not page.exception
    assert page.query_params["run"] == done.id
    assert metrics(page)["Filled labels"] == "16"


def test_a_completion_that_waits_or_failed_is_told_of(home: Workspace) -> None:
    plain = save_run(home, pets(), "ds")
    run = home.queue(plain.dataset_id, "ds", complete="wslc")
    assert "is waiting for its turn" in everything_said(open_view("completion"))
    run_states.claim(home.catalogue)
    run_states.end(home.catalogue, run.id, "failed", "No luck.", folder=home.run_folder(run.id))
    page = open_view("completion")
    assert "ended without a result" in page.warning[0].value
    assert "No luck" in page.warning[0].value


def test_the_numbers_are_those_of_the_completion(home: Workspace) -> None:
    label = np.where(TRUTH == 1, 1, -1)
    save_completed(home, label=np.where(np.arange(6)[:, None] < 4, label, TRUTH))
    told = metrics(open_view("completion"))
    assert told["Given labels"] == "14"
    assert told["Filled labels"] == "12"
    assert told["Left empty"] == "4"
    assert told["Cells with a label"] == "86.7%"
    assert told["Mean sureness"] == "75%"


def test_the_matrix_tells_given_from_filled_cells(home: Workspace) -> None:
    save_completed(home)
    page = open_view("completion")
    matrix, bars, sureness = charts(page)
    heat = matrix["data"][0]
    assert heat["type"] == "heatmap"
    texts = np.array(heat["text"], dtype=object)
    assert texts.shape == (5, 6)
    gave = sum("gave:" in text for text in texts.ravel())
    assert (gave, texts.size - gave) == (14, 16)
    assert "All 5 workers by all 6 items that pass: 14 cells given, 16 filled in, 0 empty" in (
        everything_said(page)
    )
    assert [trace["type"] for trace in bars["data"]] == ["bar", "bar"]
    assert sureness["data"][0]["type"] == "bar"


def test_items_stand_by_truth_and_certainty(home: Workspace) -> None:
    run = save_completed(home)
    texts = charts(open_view("completion"))[0]["data"][0]["text"][0]
    truths = [text.split("truth: ")[1].split(" ")[0] for text in texts]
    assert truths == sorted(truths)
    assert run.status == "done"


def rows_of(page: AppTest) -> list[str]:
    return [str(name) for name in charts(page)[0]["layout"]["yaxis"]["ticktext"]]


def test_every_control_of_the_matrix_works(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion_matrix, "SIZES", {"2 × 3": (2, 3), "4 × 9": (4, 9)})
    run = save_completed(home)
    page = open_view("completion")
    page.selectbox(key="completion_size").set_value("2 × 3").run()
    assert set(rows_of(page)) == {"ann", "cy"}  # with the most labels
    assert "2 of 5 workers by 3 of 6 items" in everything_said(page)
    before = charts(page)[0]["data"][0]["text"]
    page.button(key="completion_draw").click().run()
    assert charts(page)[0]["data"][0]["text"] != before
    page.text_input(key="completion_name").set_value("TURN").run()
    assert rows_of(page) == ["turned"]
    page.text_input(key="completion_name").set_value("nobody").run()
    assert "No worker passes these filters" in page.info[-1].value
    page.text_input(key="completion_name").set_value("").run()
    page.selectbox(key="completion_who").set_value("drawn").run()
    page.selectbox(key="completion_who").set_value("changed").run()
    page.selectbox(key="completion_order").set_value("labels").run()
    page.selectbox(key="completion_size").set_value("4 × 9").run()
    assert rows_of(page)[0] == "ann"
    page.selectbox(key=f"completion_class_{run.id}").set_value("dog").run()
    assert "all 3 items" in everything_said(page) or "3 of 3 items" in everything_said(page)
    page.selectbox(key="completion_pick").set_value("unsure").run()
    page.selectbox(key="completion_pick").set_value("changed").run()
    assert page.button(key="completion_draw").disabled
    page.selectbox(key=f"completion_class_{run.id}").set_value(None).run()
    page.button_group(key="completion_colour").set_value("Sureness").run()
    assert not page.exception
    assert [trace["type"] for trace in charts(page)[0]["data"]][:2] == ["heatmap", "heatmap"]


def test_nothing_filled_in_is_shown_as_nothing(home: Workspace) -> None:
    save_completed(home, label=-1)
    page = open_view("completion")
    assert metrics(page)["Filled labels"] == "0"
    assert "Nothing was filled in" in everything_said(page)
    for view in ("workers", "truths", "export"):
        open_view("completion", view=view)


def test_workers_are_compared_before_and_after_on_gold(
    home: Workspace, open_page: OpenPage
) -> None:
    save_completed(home)
    page = open_page("completion", view="workers")
    assert metrics(page)["Given, right"] == "82%"  # 9 of 11
    assert metrics(page)["Filled, right"] == "100%"
    frame = table(page, "change").set_index("worker")
    assert frame["own"]["turned"] == 0
    assert frame["completed"]["turned"] == 50
    assert frame["change"]["turned"] == 50
    assert frame["n_filled"]["new"] == 5
    names = [
        name
        for trace in charts(page)[0]["data"]
        for (name,) in trace.get("customdata", [])
        if trace.get("text")
    ]
    assert sorted(names) == ["ann", "bob", "cy", "turned"]  # nothing of "new" has gold
    page.button_group(key="completion_against").set_value("truths").run()
    assert page.query_params["against"] == "truths"
    assert "flatters" in everything_said(page)
    key = key_like(page, "completion_quality")
    page.session_state[key] = {"selection": {"points": [{"customdata": ["turned"]}]}}
    page.run()
    assert page.query_params["worker"] == "turned"
    page.selectbox(key="completion_worker_order").set_value("Most labels first").run()
    assert table(page, "change")["worker"].iloc[0] == "ann"
    page.button(key="completion_open_worker").click().run()
    assert page.title[0].value == "Workers"
    assert page.query_params["worker"] == "turned"


def test_a_filler_that_repeats_the_crowd_is_told_from_one_that_imitates(home: Workspace) -> None:
    names = ["cat", "dog"]
    triples = [(f"i{i}", "good", names[i % 2]) for i in range(40)]
    triples += [(f"i{i}", "turned", names[1 - i % 2]) for i in range(20)]
    data = CrowdData.from_triples(triples, gold={f"i{i}": names[i % 2] for i in range(40)})
    truth = np.arange(40) % 2
    crowd = np.column_stack([truth, truth])
    run = save_completed(home, data, crowd)
    page = open_view("completion", view="workers", run=run.id)
    assert "repeats what the crowd says" in everything_said(page)
    assert "**1 of 2 workers** is better or worse" in everything_said(page)
    run = save_completed(home, data, np.column_stack([truth, 1 - truth]))
    page = open_view("completion", view="workers", run=run.id)
    assert "repeats what the crowd says" not in everything_said(page)
    assert "**0 of 2 workers** are better or worse" in everything_said(page)


def test_a_row_of_the_table_opens_its_worker(home: Workspace, open_page: OpenPage) -> None:
    save_completed(home)
    page = open_page("completion", view="workers")
    place = table(page, "change")["worker"].tolist().index("bob")
    keys = [
        str(key)
        for key in page.session_state
        if str(key).startswith("completion_workers_") and "page" not in str(key)
    ]
    page.session_state[keys[0]] = {"selection": {"rows": [place]}}
    page.run()
    assert page.query_params["worker"] == "bob"


def test_adverse_workers_are_listed_with_evidence(home: Workspace) -> None:
    adverse = AdverseWorkers(adverse=np.array([False, False, False, True, False]))
    save_completed(home, artefacts=[adverse])
    page = open_view("completion", view="workers")
    frame = table(page, "evidence")
    assert frame["worker"].tolist() == ["turned"]
    assert "nothing was filled in for them" in everything_said(page)
    assert not any("unrelated or opposed" in one.value for one in page.caption)


def test_a_filler_that_found_nobody_adverse_says_so(home: Workspace) -> None:
    save_completed(home, artefacts=[AdverseWorkers(adverse=np.zeros(5, bool))])
    page = open_view("completion", view="workers")
    assert "found no worker whose labels are unrelated" in everything_said(page)


def test_excluded_workers_are_not_shown(home: Workspace) -> None:
    label = np.broadcast_to(TRUTH, (6, 5)).copy()
    label[:, 3] = -1
    save_completed(home, label=label, excluded=("turned",))
    page = open_view("completion")
    assert "turned" not in rows_of(page)
    assert "All 4 workers" in everything_said(page)
    assert "turned" not in set(table(open_view("completion", view="workers"), "change")["worker"])


def test_names_in_the_data_are_shown_as_they_are(home: Workspace) -> None:
    evil = "![x](http://evil/)"
    triples = [
        (f"{evil}{i}", worker, f"<b>{'ab'[i % 2]}")
        for i in range(6)
        for worker in (evil, "<i>w")
        if (i + len(worker)) % 3
    ]
    data = CrowdData.from_triples(triples)
    adverse = AdverseWorkers(adverse=np.array([True, False]))
    places = np.random.default_rng(0).normal(size=(data.n_labels, 3)).astype(np.float32)
    label = np.arange(data.n_items)[:, None] % 2
    points = LabelEmbeddings(with_transfer=places, without_transfer=places)
    save_completed(home, data, label, artefacts=[adverse, points])
    for view in ("matrix", "workers", "truths", "space", "export"):
        page = open_view("completion", view=view, worker=evil)
        assert "![x]" not in everything_said(page)
        for figure in charts(page):
            shown = [
                (trace.get("text"), trace.get("name"), figure["layout"]) for trace in figure["data"]
            ]
            assert "<i>w" not in f"{shown}"


@pytest.mark.parametrize("n", [1, 2])
def test_the_smallest_crowds_are_shown_too(home: Workspace, n: int) -> None:
    data = CrowdData.from_triples([("i", f"w{w}", "ab"[w]) for w in range(n)])
    save_completed(home, data, 0)
    for view in ("matrix", "workers", "truths", "export"):
        open_view("completion", view=view)
