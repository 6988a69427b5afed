from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData, fit
from crowdcore.artefacts.attention import AttentionMap
from crowdcore.artefacts.embedding import Embedding
from crowdcore.registry import methods
from crowdcore.workspace import Dataset, Workspace
from dashboard.attention import workers
from tests.attending import attending
from tests.dashboard.attentive import (
    copied,
    pick_cell,
    pick_row,
    save,
    save_attending,
    table,
)
from tests.dashboard.results import (
    charts,
    everything_said,
    key_like,
    open_view,
    pets,
    save_run,
)
from tests.left_behind import left_behind

OpenPage = Callable[..., AppTest]


def test_without_a_project_the_page_says_where_to_begin(home: Workspace) -> None:
    assert open_view("attention").subheader[0].value == "There is no project yet"


def test_without_a_run_there_is_no_attention(dataset: Dataset) -> None:
    assert open_view("attention").subheader[0].value == "No run has finished yet"


def test_a_run_without_attention_leads_to_a_method_that_has_some(
    home: Workspace, open_page: OpenPage
) -> None:
    save_run(home, pets())
    page = open_page("attention")
    assert "This run has no attention" in everything_said(page)
    assert "Graph networks do" in everything_said(page)
    assert not charts(page)
    page.button(key="attention_run").click().run()
    assert not page.exception
    assert page.title[0].value == "Run"
    if "hgnn" in methods():
        assert page.query_params["method"] == "hgnn"


def test_a_map_of_workers_comes_with_the_pairs_that_stand_out(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention")
    metrics = {one.label: one.value for one in page.metric}
    assert metrics["Workers"] == "7"
    assert metrics["Alike beyond expected"] == "1 pair"
    pairs = table(page, "weight")
    assert {pairs["worker"].iloc[0], pairs["other"].iloc[0]} == {"model", "copy"}
    assert pairs["agree"].iloc[0] == "▲ 100% of 60"
    assert not pairs["agree"].iloc[1:].str.startswith("▲").any()
    assert "1 pair of 21 is more alike than expected" in everything_said(page)
    (figure,) = charts(page)
    heat, cells = figure["data"][:2]
    assert heat["type"] == "heatmap"
    assert len(cells["text"]) == 49
    assert any("more alike than that explains" in text for text in cells["text"])
    assert sorted(figure["layout"]["yaxis"]["ticktext"])[0] == "copy"
    meaning = " ".join(one.value for one in page.markdown)
    assert "not evidence of copying" in meaning


def test_a_cell_opens_the_items_that_both_labelled(home: Workspace, open_page: OpenPage) -> None:
    run = save_attending(home)
    names = home.load_result(run.id).data.workers
    page = open_page("attention")
    pick_cell(page, "attention_map", names.index("copy"), names.index("model"))
    assert page.query_params["worker"] == "copy"
    assert page.query_params["other"] == "model"
    said = everything_said(page)
    assert "on 60 of 60 shared items" in said
    assert "That is more than luck explains" in said
    items = table(page, "kind")
    assert len(items) == 60
    assert items["kind"].iloc[0] == "● same, wrong"
    assert (items["worker"] == items["other"]).all()
    assert len(charts(page)[0]["layout"]["shapes"]) == 3  # the map, the row, the cell
    code = names.index("model")
    page.button(key=f"pair_open_{code}").click().run()
    assert page.title[0].value == "Workers"
    assert page.query_params["worker"] == "model"


def test_the_diagonal_chooses_a_worker_alone(home: Workspace) -> None:
    run = save_attending(home)
    names = home.load_result(run.id).data.workers
    page = open_view("attention", worker="copy", other="model")
    pick_cell(page, "attention_map", names.index("good1"), names.index("good1"))
    assert page.query_params["worker"] == "good1"
    assert "other" not in page.query_params


def test_a_worker_has_links_with_evidence_and_verdicts(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention", worker="copy")
    links = table(page, "given")
    assert len(links) == 6
    assert "copy" not in set(links["other"])
    model = links.set_index("other").loc["model"]
    assert model["agree"] == "▲ 100% of 60"
    assert model["verdict"] == "≈ alike"
    assert str(model["wrong"]).split(" ")[0] != "0"
    pick_row(page, "attention_links", int(np.flatnonzero(links["other"] == "good0")[0]))
    assert page.query_params["other"] == "good0"
    assert "within what luck explains" in everything_said(page)
    page.button(key="pair_close").click().run()
    assert "other" not in page.query_params
    page.selectbox(key="choose:Worker").select("").run()
    assert "worker" not in page.query_params


def test_a_row_of_pairs_opens_the_pair(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention")
    pick_row(page, "attention_pairs", 0)
    assert {page.query_params["worker"], page.query_params["other"]} == {"copy", "model"}
    assert not page.exception


def test_coloured_by_agreement_the_most_alike_come_first(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention", worker="copy")
    page.button_group(key=key_like(page, "attention_colour")).set_value("agreement").run()
    assert not page.exception
    assert table(page, "given")["other"].iloc[0] == "model"
    assert "in points" in charts(page)[0]["data"][0]["colorbar"]["title"]["text"]
    assert "Who answers most like copy" in everything_said(page)


def test_even_weights_are_said_and_agreement_is_shown_instead(home: Workspace) -> None:
    result = attending(fit(copied(), "ds"), kind="additive")
    attention = left_behind(result, AttentionMap)
    names = ("workers_query", "workers_key", "items_query", "items_key")
    even: dict[str, Any] = {name: np.zeros_like(getattr(attention, name)) for name in names}
    save(home, result.with_artefacts(replace(attention, **even)))
    page = open_view("attention")
    assert "nearly even" in page.info[0].value
    assert {one.label: one.value for one in page.metric}["Most looked at"] == "All alike"
    assert "in points" in charts(page)[0]["data"][0]["colorbar"]["title"]["text"]
    assert "nearly even" in everything_said(open_view("attention", view="items"))


def test_rows_that_are_all_alike_are_said_to_be(home: Workspace) -> None:
    save_attending(home, kind="additive")
    run = home.runs(home.projects()[0].id)[0]
    result = home.load_result(run.id)
    attention = left_behind(result, AttentionMap)
    alike = replace(attention, workers_query=np.full(7, 50.0))  # all keys are above the threshold
    again = save(home, replace(result, artefacts={}).with_artefacts(alike))
    assert "The rows are all alike" in everything_said(open_view("attention", run=again.id))


def test_the_scale_can_be_plain(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention")
    assert charts(page)[0]["data"][0]["zmin"] < 0
    page.toggle(key="attention_log").set_value(False).run()
    assert charts(page)[0]["data"][0]["zmin"] == 0


def test_which_labels_of_a_worker_weigh_most_leads_to_the_item(
    home: Workspace, open_page: OpenPage
) -> None:
    save_attending(home)
    page = open_page("attention", worker="copy")
    assert "Which labels of copy the method looks at most" in everything_said(page)
    labels = table(page, "label")
    assert labels["weight"].is_monotonic_decreasing
    assert labels["label"].iloc[0].startswith("✓")  # made by hand so that right ones are heavier
    pick_row(page, "attention_labels", 2)
    page.button(key="attention_label_item").click().run()
    assert page.title[0].value == "Truths"
    assert page.query_params["item"] == labels["item"].iloc[2]


def test_of_a_large_crowd_some_are_shown_by_a_rule(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "ALL_SHOWN", 5)
    monkeypatch.setattr(workers, "SHOWN", 10)
    rng = np.random.default_rng(0)
    triples = [
        (f"i{i}", f"w{w}", "ab"[int(rng.random() < 0.8) ^ (i % 2)])
        for i in range(30)
        for w in range(14)
        if rng.random() < 0.3 + w / 20
    ]
    save_attending(home, CrowdData.from_triples(triples))
    page = open_view("attention")
    assert any("10 of 14 workers shown" in one.value for one in page.caption)
    page.selectbox(key="attention_rule").select("labels").run()
    assert not page.exception
    shown = set(charts(page)[0]["layout"]["yaxis"]["ticktext"])
    assert len(shown) == 10
    assert "w13" in shown
    page.selectbox(key="attention_rule").select("links").run()
    assert not page.exception


def test_excluded_workers_are_left_out_and_counted(home: Workspace) -> None:
    run = save_run(home, copied(), "ds", excluded=["good4"])
    result = attending(home.load_result(run.id))
    again = home.queue(run.dataset_id, "ds", excluded=["good4"])
    home.save_result(again.id, result)
    page = open_view("attention")
    assert {one.label: one.value for one in page.metric}["Workers"] == "6"
    assert "1 worker without labels in this run left out" in everything_said(page)


@pytest.mark.parametrize("kind", ["additive", "dot"])
@pytest.mark.parametrize("neighbourhood", ["full", "two_hop"])
@pytest.mark.parametrize("view", ["workers", "items", "space"])
def test_every_kind_of_attention_is_shown(
    home: Workspace, kind: str, neighbourhood: str, view: str
) -> None:
    save_attending(home, pets(), kind=kind, neighbourhood=neighbourhood)
    page = open_view("attention", view=view, worker="good0", item="i3")
    assert charts(page)


def test_a_method_without_links_still_weighs_labels(home: Workspace) -> None:
    save_attending(home, sides=())
    page = open_view("attention", worker="copy")
    assert "does not let workers look at each other" in page.info[0].value
    assert "Which labels of copy" in everything_said(page)
    page = open_view("attention", view="items", item="i3")
    assert "does not let items look at each other" in page.info[0].value
    assert "Whose labels weigh most" in everything_said(page)


def test_a_method_without_weights_of_labels_says_so(home: Workspace) -> None:
    save_attending(home, weighs_labels=False)
    page = open_view("attention", view="items", item="i3")
    assert "does not weigh single labels" in everything_said(page)
    assert "Which labels of" not in everything_said(open_view("attention", worker="copy"))


def test_only_an_embedding_is_only_a_space(home: Workspace) -> None:
    result = attending(fit(copied(), "ds"))
    embedding = left_behind(result, Embedding)
    save(home, replace(result, artefacts={}).with_artefacts(embedding))
    page = open_view("attention")
    assert page.button_group(key="attention_view").options == ["Learnt space"]
    assert len(charts(page)) == 1


def test_names_in_the_data_are_shown_as_they_are(home: Workspace) -> None:
    evil = "![x](http://evil/)"
    triples = [
        (f"{evil}{i}", worker, f"<b>{'ab'[i % 2]}")
        for i in range(12)
        for worker in (evil, "<i>w", "good")
    ]
    save_attending(home, CrowdData.from_triples(triples))
    pages = [
        open_view("attention", worker=evil, other="<i>w"),
        open_view("attention", view="items", item=f"{evil}3"),
        open_view("attention", view="space", worker=evil),
    ]
    for page in pages:
        assert "![x]" not in everything_said(page)
        for figure in charts(page):
            axes = [figure["layout"][axis].get("ticktext", []) for axis in ("xaxis", "yaxis")]
            shown = [(trace.get("text"), trace.get("name")) for trace in figure["data"]]
            assert "<i>w" not in f"{axes}{shown}"


def test_a_link_to_nobody_says_so(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention", worker="nobody")
    assert "no worker called nobody" in page.warning[0].value
    assert charts(page)


@pytest.mark.parametrize("view", ["workers", "items", "space"])
def test_the_smallest_crowds_are_shown_too(home: Workspace, view: str) -> None:
    for triples in ([("i", "w", "yes")], [("i", "w", "yes"), ("i", "v", "no")]):
        save_attending(home, CrowdData.from_triples(triples))
        assert charts(open_view("attention", view=view, worker="w", item="i"))
