from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData, fit
from crowdcore.artefacts.communities import Communities
from crowdcore.artefacts.spam_habits import SpamHabits
from crowdcore.audit import workers
from crowdcore.audit.workers import WorkerAudit
from crowdcore.export.columns import TableColumn
from crowdcore.workspace import Dataset, Workspace
from dashboard.workers import table as grid
from tests.crowds import golden_crowd
from tests.dashboard.results import (
    charts,
    decoded,
    everything_said,
    key_like,
    open_view,
    pets,
    save_run,
)
from tests.left_behind import left_behind

OpenPage = Callable[..., AppTest]


def workers_of(page: AppTest) -> list[str]:
    return [str(name) for name in page.dataframe[0].value["worker"]]


def evidence_of(page: AppTest) -> pd.DataFrame:
    frame: pd.DataFrame = page.dataframe[1].value
    return frame


def cells_of(matrix: dict[str, Any]) -> dict[tuple[int, int], str]:
    """What is written into the cells (true, given) of a confusion matrix."""
    return {
        (int(true), int(given)): text
        for trace in matrix["data"]
        if trace.get("mode") == "text"
        for true, given, text in zip(
            decoded(trace["y"]), decoded(trace["x"]), trace["text"], strict=True
        )
    }


def test_without_a_project_the_page_says_where_to_begin(home: Workspace) -> None:
    page = open_view("workers")
    assert page.subheader[0].value == "There is no project yet"
    assert not page.dataframe


def test_without_a_run_there_are_no_verdicts(dataset: Dataset) -> None:
    page = open_view("workers")
    assert page.subheader[0].value == "No run has finished yet"


def test_every_worker_has_a_verdict_in_words_with_an_interval(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers")
    table = page.dataframe[0].value.set_index("worker")
    assert table.loc["turned", "verdict"] == "⇅ inverted"
    assert table.loc["good0", "verdict"] == "✓ good"
    assert table.loc["good0", "interval"] == "85–100%"
    assert table.loc["good0", "gold"] == "100% of 10"
    assert "right in" in str(table.loc["turned", "evidence"])
    assert workers_of(page)[0] == "turned"  # who may do harm stands on top
    metrics = {one.label: one.value for one in page.metric}
    assert metrics["Workers"] == "6"
    assert metrics["Undecided"] == "1"


def test_agreement_is_of_the_workers_that_take_part(home: Workspace) -> None:
    save_run(home, pets())
    (found,) = [one for one in open_view("workers").metric if one.label == "Agreement (alpha)"]
    assert found.value == "-0.03"  # 50 % of pairs agree, 51.5 % would by chance
    assert "1 item with labels of one worker only" in found.help
    save_run(home, pets(), excluded=["turned", "always cat"])
    (found,) = [one for one in open_view("workers").metric if one.label == "Agreement (alpha)"]
    assert found.value == "1.00"
    assert "agree in 100.0% of cases" in found.help


def test_agreement_that_is_not_defined_is_a_dash_with_the_reason(home: Workspace) -> None:
    save_run(home, CrowdData.from_triples([("i", "w", "a"), ("j", "w", "b")]), "mv")
    (found,) = [one for one in open_view("workers").metric if one.label == "Agreement (alpha)"]
    assert found.value == "–"
    assert "No item has labels of two workers" in found.help


def test_a_worker_of_whom_little_is_known_gets_no_accuracy_bar(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers")
    table = page.dataframe[0].value.set_index("worker")
    assert table.loc["stranger", "verdict"] == "? undecided"
    assert table["accuracy"].isna()["stranger"]
    assert workers_of(page)[-1] == "stranger"
    drawn = [name for trace in charts(page)[0]["data"] for name in trace.get("customdata", [])]
    assert ["stranger"] not in drawn
    assert any("nothing to compare" in one.value for one in page.caption)


def test_filters_keep_the_verdict_the_name_and_the_busy(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers")
    shown = page.button_group(key=key_like(page, "workers_show"))
    assert "⇅ inverted :gray[1]" in shown.options
    shown.set_value("good").run()
    assert set(workers_of(page)) == {"good0", "good1", "good2"}
    assert page.query_params["verdict"] == "good"
    page.text_input(key="workers_search").set_value("GOOD1").run()
    assert workers_of(page) == ["good1"]
    page.number_input(key="workers_fewest").set_value(21).run()
    assert "No worker passes" in page.info[0].value


def test_orders_sort_all_workers(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers")
    page.selectbox(key="workers_order").select("By name").run()
    assert workers_of(page) == ["always cat", "good0", "good1", "good2", "stranger", "turned"]
    page.selectbox(key="workers_order").select("Least accurate first").run()
    assert workers_of(page)[:2] == ["turned", "always cat"]
    assert workers_of(page)[-1] == "stranger"  # unknown is not inaccurate


def test_a_link_to_a_worker_shows_matrix_shares_and_evidence(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers", worker="turned")
    scatter, matrix, shares = charts(page)
    assert any(trace.get("marker", {}).get("symbol") == "circle-open" for trace in scatter["data"])
    assert float(cells_of(matrix)[0, 1]) > 0.9  # truth cat, given dog
    assert [trace["name"] for trace in shares["data"]] == ["this worker", "others, same items"]
    evidence = evidence_of(page)
    assert len(evidence) == 20
    assert (evidence["given"] != evidence["truth"]).all()
    assert evidence["confidence"].is_monotonic_decreasing
    assert set(evidence["same"]) <= {"0 of 4", "1 of 4"}
    assert "Where they differ from the truth: 20 labels" in everything_said(page)
    table = page.session_state[key_like(page, "workers_table")]
    assert workers_of(page)[table["selection"]["rows"][0]] == "turned"


def test_a_row_or_a_point_selects_and_the_last_one_wins(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers")
    place = workers_of(page).index("good1")
    page.session_state[key_like(page, "workers_table")] = {"selection": {"rows": [place]}}
    page.run()
    assert page.query_params["worker"] == "good1"
    scatter = {"selection": {"points": [{"customdata": ["turned"]}]}}
    page.session_state[key_like(page, "workers_scatter")] = scatter
    page.run()
    assert page.query_params["worker"] == "turned"
    table = page.session_state[key_like(page, "workers_table")]
    assert table["selection"]["rows"] == [workers_of(page).index("turned")]
    page.button(key="worker_close").click().run()
    assert "worker" not in page.query_params
    assert len(page.dataframe) == 1


def test_the_selected_worker_stays_selected_in_any_order(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers")
    place = workers_of(page).index("good1")
    page.session_state[key_like(page, "workers_table")] = {"selection": {"rows": [place]}}
    page.run()
    for order in ("By name", "Least accurate first", "Doubtful first"):
        page.selectbox(key="workers_order").select(order).run()
        assert page.query_params["worker"] == "good1"
        table = page.session_state[key_like(page, "workers_table")]
        assert workers_of(page)[table["selection"]["rows"][0]] == "good1"
    page.session_state[key_like(page, "workers_table")] = {"selection": {"rows": []}}
    page.run()
    assert "worker" not in page.query_params  # unmarking the row closes the panel


def test_a_click_on_a_cell_lists_the_items_behind_it(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers", worker="always cat")
    key = key_like(page, "worker_matrix")
    page.session_state[key] = {"selection": {"points": [{"customdata": [1, 0]}]}}
    page.run()
    assert "10 labels: truth dog, given cat" in everything_said(page)
    assert set(evidence_of(page)["truth"]) == {"dog"}
    assert charts(page)[1]["layout"]["shapes"]  # the cell is framed
    page.session_state[key] = {"selection": {"points": [{"customdata": {"0": 0, "1": 1}}]}}
    page.run()
    assert "0 labels: truth cat, given dog" in everything_said(page)
    assert "No item is behind this cell" in everything_said(page)


def test_counts_can_be_read_instead_of_shares(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers", worker="always cat")
    page.button_group(key="worker_cells").set_value("Counts").run()
    assert cells_of(charts(page)[1]) == {(0, 0): "10", (0, 1): "0", (1, 0): "10", (1, 1): "0"}


def test_the_evidence_leads_to_the_item(home: Workspace, open_page: OpenPage) -> None:
    save_run(home, pets())
    page = open_page("workers", worker="turned")
    item = str(evidence_of(page)["item"].iloc[3])
    page.session_state[key_like(page, "worker_evidence")] = {"selection": {"rows": [3]}}
    page.run()
    page.button[-1].click().run()
    assert not page.exception
    assert page.title[0].value == "Truths"
    assert page.query_params["item"] == item


def test_an_excluded_worker_is_listed_and_can_come_back(
    home: Workspace, open_page: OpenPage
) -> None:
    run = save_run(home, pets(), excluded=["turned"])
    page = open_page("workers", worker="turned")
    assert "left out the labels of turned" in page.info[0].value
    table = page.dataframe[0].value.set_index("worker")
    assert table.loc["turned", "verdict"] == "– excluded"
    assert {one.label: one.value for one in page.metric}["Workers"] == "5"
    assert "Excluded from this run" in everything_said(page)
    assert len(evidence_of(page)) == 20  # still compared, with truths they had no part in
    assert cells_of(charts(page)[1]) == {(0, 0): "0", (0, 1): "10", (1, 0): "10", (1, 1): "0"}
    page.text_input(key="workers_by").set_value("Ann").run()
    page.button(key="workers_exclude").click().run()
    assert home.runs(run.project_id)[0].excluded == ()


def test_an_unknown_worker_in_a_link_is_said_to_be_unknown(home: Workspace) -> None:
    save_run(home, pets())
    assert "no worker of that name" in open_view("workers", worker="x").warning[0].value


def test_items_of_one_worker_show_their_details(home: Workspace) -> None:
    save_run(home, pets(details={"text": [f"photo {i}" for i in range(21)]}))
    evidence = evidence_of(open_view("workers", worker="turned")).set_index("item")
    assert evidence.loc["i7", "detail:text"] == "photo 7"


def test_a_great_many_workers_come_a_page_at_a_time(home: Workspace) -> None:
    n = 6_000
    data = CrowdData(
        item=np.arange(2 * n, dtype=np.int32) % 500,
        worker=np.repeat(np.arange(n, dtype=np.int32), 2),
        label=np.zeros(2 * n, np.int32),
        items=tuple(f"i{i}" for i in range(500)),
        workers=tuple(f"w{i}" for i in range(n)),
        classes=("a", "b"),
    )
    save_run(home, data, "mv")
    page = open_view("workers")
    assert len(page.dataframe[0].value) == 5_000
    assert any("Page 1 of 2: workers 1 to 5,000 of 6,000" in one.value for one in page.caption)
    assert any("Hover over a point" in one.value for one in page.caption)


def test_data_never_reach_markdown_unescaped(home: Workspace) -> None:
    beacon = "![x](http://evil.example/p.png)"
    data = pets()
    names = tuple(f"{name} {beacon}" for name in data.workers)
    data = replace(data, workers=names, classes=(f"cat {beacon}", f"dog {beacon}"))
    save_run(home, data, excluded=[names[3]], project=f"P {beacon}")
    page = open_view("workers", worker=names[4])
    page.session_state[key_like(page, "worker_matrix")] = {
        "selection": {"points": [{"customdata": [0, 1]}]}
    }
    page.run()
    assert "evil" in everything_said(page)
    assert "![" not in everything_said(page)
    assert "](http" not in everything_said(page)


def test_communities_are_shown_where_the_method_found_some(home: Workspace) -> None:
    run = save_run(home, pets(), "cbcc")
    page = open_view("workers")
    page.button_group(key="workers_view").set_value("Communities").run()
    assert not page.exception
    result = home.load_result(run.id)
    found = left_behind(result, Communities).with_members(result)
    (box,) = [one for one in page.selectbox if one.label == "Community"]
    assert len(box.options) == len(found)
    place = next(place for place, one in enumerate(found) if len(one.members))
    box.set_value(place).run()
    assert not page.exception
    assert home.load_result(run.id).data.workers[found[place].members[0]] in everything_said(page)


def test_the_panel_says_what_the_method_itself_found(home: Workspace) -> None:
    run = save_run(home, pets(), "mace")
    share = left_behind(home.load_result(run.id), SpamHabits).share
    code = home.load_result(run.id).data.workers.index("always cat")
    said = everything_said(open_view("workers", worker="always cat"))
    assert f"MACE finds: trust {1 - share[code]:.3g}" in said
    assert "of the labels without looking, then cat" in said
    save_run(home, pets(), "mv")
    assert " finds: " not in everything_said(open_view("workers", worker="always cat"))


def test_a_number_that_is_added_to_the_workers_shows_up_in_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pace = TableColumn[WorkerAudit](
        name="pace",
        title="Pace",
        help="Labels per item.",
        unit="share",
        values=lambda audit: audit.data.labels_per_worker / audit.data.n_items,
    )
    monkeypatch.setattr(workers, "COLUMNS", (*workers.COLUMNS, pace))
    monkeypatch.setattr(grid, "COLUMNS", workers.COLUMNS)
    crowd = golden_crowd()
    cells = grid._cells(workers.worker_table(fit(crowd, "mv")))
    np.testing.assert_allclose(cells["pace"], 100 * crowd.labels_per_worker / crowd.n_items)
    assert grid._columns()["pace"]["label"] == "Pace"
    assert grid._columns()["pace"]["help"] == "Labels per item."
