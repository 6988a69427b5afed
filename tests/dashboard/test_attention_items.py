"""Attention of items to items, and the plane of an embedding."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.workspace import Workspace
from dashboard import plane
from tests.dashboard.attentive import (
    fake_start,
    pick_cell,
    pick_row,
    save_attending,
    table,
)
from tests.dashboard.results import (
    charts,
    decoded,
    everything_said,
    key_like,
    open_view,
)

OpenPage = Callable[..., AppTest]


def test_items_are_seen_class_by_class_then_link_by_link(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention", view="items")
    (figure,) = charts(page)
    assert [name.split(" ")[0] for name in figure["layout"]["yaxis"]["ticktext"]] == [
        "bird",
        "cat",
        "dog",
    ]
    assert "Items that others look at most" in everything_said(page)
    pick_cell(page, "attention_groups", 0, 2)
    assert "Strongest links from bird to dog" in everything_said(page)
    links = table(page, "other")
    groups = key_like(page, "attention_groups")
    page.session_state[groups] = {"selection": {"points": [{"customdata": [0, 2]}]}}
    pick_row(page, "attention_between", 1)
    assert page.query_params["item"] == links["item"].iloc[1]
    assert f"Which items {links['item'].iloc[1]} looks at most" in everything_said(page)
    pick_cell(page, "attention_groups", 1, 1)
    assert "item" not in page.query_params
    assert "Strongest links from cat to cat" in everything_said(page)


def test_an_item_says_whose_labels_weigh_most_and_leads_there(
    home: Workspace, open_page: OpenPage
) -> None:
    save_attending(home)
    page = open_page("attention", view="items", item="i3")
    labels = next(one.value for one in page.dataframe if "share" in one.value)
    assert labels["share"].sum() == pytest.approx(100)
    assert labels["share"].is_monotonic_decreasing
    links = table(page, "shared")
    assert links["shared"].str.contains("of 7").all()
    pick_row(page, "attention_item_labels", 0)
    page.button(key="attention_open_worker").click().run()
    assert page.title[0].value == "Workers"
    assert page.query_params["worker"] == labels["worker"].iloc[0]


def test_an_item_can_be_named_and_unnamed(home: Workspace) -> None:
    save_attending(home)
    page = open_view("attention", view="items")
    page.text_input(key="attention_item").set_value(" i7 ").run()
    assert page.query_params["item"] == "i7"
    assert "Item i7" in everything_said(page)
    page.text_input(key="attention_item").set_value("nothing").run()
    assert "no item called nothing" in page.warning[0].value
    page.text_input(key="attention_item").set_value("").run()
    assert "item" not in page.query_params


def test_points_of_the_space_choose_workers_and_items(home: Workspace) -> None:
    run = save_attending(home)
    page = open_view("attention", view="space")
    (figure,) = charts(page)
    assert sum(len(trace["customdata"]) for trace in figure["data"]) == 7
    chosen = {"selection": {"points": [{"customdata": ["model"]}]}}
    page.session_state[key_like(page, f"space_{run.id}")] = chosen
    page.run()
    assert page.query_params["worker"] == "model"
    assert any("**model**" in one.value for one in page.markdown)
    page.button_group(key="space_colour").set_value("accuracy").run()
    colours = [
        share
        for trace in charts(page)[0]["data"][:-1]
        for share in decoded(trace["marker"]["color"])
    ]
    assert 0 < min(colours) < max(colours) <= 1
    page.button_group(key="space_what").set_value("items").run()
    assert not page.exception
    names = [trace["name"] for trace in charts(page)[0]["data"]]
    assert [name.split(" ")[0] for name in names] == ["bird", "cat", "dog"]


def test_of_many_items_a_sample_is_placed_and_said(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plane, "MAX_POINTS", 25)
    save_attending(home)
    page = open_view("attention", view="space", item="i3")
    assert (
        sum(len(trace["customdata"]) for trace in charts(page)[0]["data"] if "customdata" in trace)
        == 25
    )
    assert any("25 of 60 items drawn" in one.value for one in page.caption)


def test_slow_places_are_waited_for_and_made_once(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr("dashboard.plane.projections.start", fake_start(0, made))
    save_attending(home)
    page = open_view("attention", view="space")
    page.button_group(key="space_kind").set_value("umap").run()
    assert not page.exception
    assert charts(page)
    page.run()
    assert made == ["workers"]


def test_places_that_fail_can_be_tried_again(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr("dashboard.plane.projections.start", fake_start(3, made))
    save_attending(home)
    page = open_view("attention", view="space")
    page.button_group(key="space_kind").set_value("umap").run()
    assert "ended without a result (exit code 3)" in page.error[0].value
    page.run()
    assert made == ["workers"]  # not over and over
    page.button(key="placing_again_workers_umap").click().run()
    assert made == ["workers"] * 2
