from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData
from crowdcore.workspace import Dataset, Workspace
from crowdcore.workspace.run_states import claim, end
from tests.dashboard.results import (
    PIXEL,
    charts,
    everything_said,
    key_like,
    open_view,
    pets,
    save_run,
)

OpenPage = Callable[..., AppTest]


def show(page: AppTest, preset: str) -> AppTest:
    return page.button_group(key=key_like(page, "truths_show")).set_value(preset).run()


def items_of(page: AppTest) -> list[str]:
    return [str(name) for name in page.dataframe[0].value["item"]]


def test_without_a_project_the_page_says_where_to_begin(home: Workspace) -> None:
    page = open_view("truths")
    assert page.subheader[0].value == "There is no project yet"
    assert page.button(key="empty_data_go").label == "Load data"
    assert not page.dataframe


def test_without_a_run_the_page_leads_to_the_methods(open_page: OpenPage, dataset: Dataset) -> None:
    page = open_page("truths")
    assert page.subheader[0].value == "No run has finished yet"
    page.button(key="empty_run_go").click().run()
    assert not page.exception
    assert page.title[0].value == "Run"


def test_a_run_still_going_is_shown_as_such(home: Workspace, dataset: Dataset) -> None:
    home.queue(dataset.id, "mv")
    page = open_view("truths")
    assert page.subheader[0].value == "The first run is still going"


def test_a_failed_run_is_named_with_its_reason(home: Workspace, dataset: Dataset) -> None:
    row = home.queue(dataset.id, "mv")
    claim(home.catalogue)
    end(home.catalogue, row.id, "failed", "It ran out of memory.", folder=home.run_folder(row.id))
    said = everything_said(open_view("truths"))
    assert "failed" in said
    assert "ran out of memory" in said


def test_the_page_names_project_run_and_seed_and_counts_what_there_is(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("truths")
    assert "Pets · " in page.caption[0].value
    assert "seed 0" in page.caption[0].value
    metrics = {one.label: one.value for one in page.metric}
    assert metrics["Items"] == "21"
    assert metrics["Accuracy vs. gold"] == "100.0%"
    deltas = {metric.label: metric.delta for metric in page.metric}
    assert deltas["Accuracy vs. gold"] == "72–100%, n = 10"
    assert charts(page)[0]["data"][0]["name"] == "right"


def test_without_gold_nothing_about_gold_is_claimed(home: Workspace) -> None:
    save_run(home, replace(pets(), gold=None))
    page = open_view("truths")
    (accuracy,) = [metric for metric in page.metric if metric.label == "Accuracy vs. gold"]
    assert (accuracy.value, accuracy.delta) == ("no gold", "100 checked items: ±10 points")
    assert "30 items to ±17 points" in accuracy.help
    assert "gold" not in page.dataframe[0].value.columns
    assert "Wrong" not in str(page.button_group(key=key_like(page, "truths_show")).options)


def test_presets_keep_what_they_say_and_count_it(home: Workspace) -> None:
    # Two clear items, one tied, one where most are wrong against gold.
    triples = [("clear", w, "a") for w in "xyz"] + [("also", w, "b") for w in "xyz"]
    triples += [("tied", "x", "a"), ("tied", "y", "b")]
    triples += [("fooled", "x", "b"), ("fooled", "y", "b"), ("fooled", "z", "a")]
    save_run(home, CrowdData.from_triples(triples, gold={"fooled": "a", "clear": "a"}), "mv")
    page = open_view("truths")
    assert page.button_group(key=key_like(page, "truths_show")).options == [
        "All :gray[4]",
        "Disputed :gray[1]",
        "Changed vs. majority :gray[0]",
        "Low confidence :gray[2]",
        "Tied :gray[1]",
        "Wrong vs. gold :gray[1]",
    ]
    assert items_of(show(page, "tied")) == ["tied"]
    assert page.query_params["show"] == "tied"
    assert items_of(show(page, "wrong")) == ["fooled"]
    assert page.dataframe[0].value["flags"].tolist() == [["wrong"]]
    assert items_of(show(page, "unsure")) == ["tied", "fooled"]  # least sure first
    show(page, "changed")
    assert "No item passes" in page.info[0].value


def test_search_class_and_order_narrow_and_sort_all_items(home: Workspace) -> None:
    texts = [f"photo of number {i}" for i in range(21)]
    save_run(home, pets(details={"text": texts}))
    page = open_view("truths")
    page.text_input(key="truths_search").set_value("NUMBER 20").run()
    assert items_of(page) == ["solo"]
    page.text_input(key="truths_search").set_value("i1").run()
    page.selectbox(key=key_like(page, "truths_class")).select("dog").run()
    page.selectbox(key="truths_order").select("As in the data").run()
    assert items_of(page) == ["i1", "i11", "i13", "i15", "i17", "i19"]
    assert page.dataframe[0].value["detail:text"].iloc[0] == "photo of number 1"


def test_a_search_is_taken_literally(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("truths")
    page.text_input(key="truths_search").set_value("(.*").run()
    assert not page.exception
    assert "No item passes" in page.info[0].value


def test_a_link_to_an_item_shows_who_said_what(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("truths", item="i3")
    labels = page.dataframe[1].value.set_index("worker")
    assert labels.loc["good0", "label"] == "✓ dog"
    assert labels.loc["always cat", "label"] == "✕ cat"
    assert labels.loc["turned", "verdict"] == "⇅ inverted"
    assert "(" in str(labels.loc["good0", "accuracy"])
    assert "gold **dog** (✓ right)" in everything_said(page)
    bars = charts(page)[0]["data"][0]
    assert bars["orientation"] == "h"
    table = page.session_state[key_like(page, "truths_table")]
    assert items_of(page)[table["selection"]["rows"][0]] == "i3"  # marked in the table too


def test_a_selected_row_goes_to_the_address_and_close_takes_it_out(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("truths")
    names = items_of(page)
    page.session_state[key_like(page, "truths_table")] = {"selection": {"rows": [4]}}
    page.run()
    assert page.query_params["item"] == names[4]
    assert names[4] in [one.value for one in page.subheader]
    page.button(key="item_close").click().run()
    assert "item" not in page.query_params
    assert "How sure the truths are" in [one.value for one in page.subheader]


def test_from_an_item_one_gets_to_the_worker(home: Workspace, open_page: OpenPage) -> None:
    save_run(home, pets())
    page = open_page("truths", item="i3")
    key = key_like(page, "item_labels")
    place = page.dataframe[1].value["worker"].tolist().index("turned")
    page.session_state[key] = {"selection": {"rows": [place]}}
    page.run()
    page.button[-1].click().run()
    assert not page.exception
    assert page.title[0].value == "Workers"
    assert page.query_params["worker"] == "turned"


def test_a_link_to_an_unknown_item_says_so(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("truths", item="nowhere")
    assert "no item of that name" in page.warning[0].value


def test_labels_of_excluded_workers_are_marked_as_left_out(home: Workspace) -> None:
    save_run(home, pets(), excluded=["turned"])
    page = open_view("truths", item="i3")
    labels = page.dataframe[1].value.set_index("worker")
    assert labels.loc["turned", "verdict"] == "excluded"
    assert "without turned" in page.caption[0].value
    assert "· 4 labels" in everything_said(page)  # the excluded one does not count


def test_pictures_in_the_data_are_shown_and_addresses_are_not_loaded(home: Workspace) -> None:
    address = ["http://evil.example/a.png"] * 21
    save_run(home, pets(details={"image": [PIXEL] * 21, "source": address}))
    page = open_view("truths", item="i3")
    cells = page.dataframe[0].value
    assert cells["picture"].iloc[0] == PIXEL
    assert cells["detail:source"].iloc[0] == address[0]
    assert page.get("image")
    assert "http://evil" not in everything_said(page)


def test_an_address_among_pictures_makes_the_column_text(home: Workspace) -> None:
    mixed = [PIXEL, "http://evil.example/a.png", *[PIXEL] * 19]
    save_run(home, pets(details={"image": mixed}))
    page = open_view("truths", item="i0")
    assert "picture" not in page.dataframe[0].value.columns
    assert not page.get("image")


def test_one_item_one_worker_one_class_is_a_page_like_any_other(home: Workspace) -> None:
    save_run(home, CrowdData.from_triples([("i", "w", "yes")]), "mv")
    page = open_view("truths", item="i")
    assert items_of(page) == ["i"]
    assert "posterior" not in page.dataframe[0].value.columns
    assert page.dataframe[1].value["verdict"].tolist() == ["? undecided"]


def test_an_undecided_truth_is_called_undecided(home: Workspace) -> None:
    data = CrowdData.from_triples([("i", "x", "a"), ("i", "y", "b")])
    save_run(home, data, "mv", ties="undecided")
    said = everything_said(open_view("truths", item="i"))
    assert "**undecided**" in said
    assert "Tied" in said


def test_data_never_reach_markdown_unescaped(home: Workspace) -> None:
    beacon = "![x](http://evil.example/p.png)"
    triples = [
        (f"{beacon}{i}", f"w{w} {beacon}", f"{beacon}{i % 2}") for i in range(6) for w in "ab"
    ]
    data = CrowdData.from_triples(triples)
    data = replace(data, details={beacon: (beacon,) * 6})
    save_run(home, data, project=f"P {beacon}")
    page = open_view("truths", item=f"{beacon}3")
    assert "evil" in everything_said(page)
    assert "![" not in everything_said(page)
    assert "](http" not in everything_said(page)
    columns = page.dataframe[0].proto.columns
    assert "evil" in columns
    assert "![" not in json.loads(columns)["posterior"]["help"]


def test_a_hundred_thousand_items_come_a_page_at_a_time(home: Workspace) -> None:
    n = 100_000
    rng = np.random.default_rng(0)
    data = CrowdData(
        item=np.repeat(np.arange(n, dtype=np.int32), 3),
        worker=np.tile(np.arange(3, dtype=np.int32), n),
        label=rng.integers(0, 2, 3 * n).astype(np.int32),
        items=tuple(f"i{i}" for i in range(n)),
        workers=("x", "y", "z"),
        classes=("a", "b"),
    )
    save_run(home, data, "mv")
    page = open_view("truths", item="i99999")
    assert len(page.dataframe[0].value) == 5_000
    assert any("Page 1 of 20: items 1 to 5,000 of 100,000" in one.value for one in page.caption)
    page.number_input(key="truths_page").set_value(20).run()
    assert any("items 95,001 to 100,000" in one.value for one in page.caption)
    assert page.subheader[0].value == "i99999"  # whatever page is in view


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_follow_the_theme(home: Workspace, theme: str) -> None:
    save_run(home, pets())
    page = open_view("truths")
    page.context = {"theme": theme}
    page.run()
    ink = charts(page)[0]["layout"]["font"]["color"]
    assert ink == {"light": "#31333F", "dark": "#FAFAFA"}[theme]
