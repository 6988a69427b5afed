from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData, fit
from crowdcore.registry import methods
from crowdcore.workspace import Dataset, RunRow, Workspace
from dashboard import plane
from dashboard.spectral import centres as spectral_centres
from tests.blending import blending
from tests.dashboard.attentive import fake_start, save
from tests.dashboard.results import (
    charts,
    decoded,
    everything_said,
    key_like,
    open_view,
    pets,
    save_run,
)

OpenPage = Callable[..., AppTest]


def save_blending(home: Workspace, data: CrowdData | None = None, **how: Any) -> RunRow:
    return save(home, blending(fit(pets() if data is None else data, "ds"), **how))


def table(page: AppTest, column: str) -> pd.DataFrame:
    return next(one.value for one in page.dataframe if column in one.value)


def loop(page: AppTest, *names: str) -> None:
    """Draw a loop around some workers and the star."""
    points = [{"customdata": [name]} for name in names] + [{"x": 0.0, "y": 0.0}]
    page.session_state[key_like(page, "spectral_plane")] = {"selection": {"points": points}}
    page.run()
    assert not page.exception


def stars(page: AppTest) -> dict[str, str]:
    return {
        trace["name"]: trace["marker"]["symbol"]
        for trace in charts(page)[0]["data"]
        if "star" in str(trace.get("marker", {}).get("symbol"))
    }


def test_without_a_run_there_is_no_space(dataset: Dataset) -> None:
    assert open_view("spectral").subheader[0].value == "No run has finished yet"


def test_a_run_without_experts_leads_to_a_method_that_has_some(
    home: Workspace, open_page: OpenPage
) -> None:
    save_run(home, pets())
    page = open_page("spectral")
    assert page.title[0].value == "Spectral space"
    assert "This run has no spectral space" in everything_said(page)
    assert not charts(page)
    page.button(key="spectral_run").click().run()
    assert page.title[0].value == "Run"
    if "mmlc_owf" in methods():
        assert page.query_params["method"] == "mmlc_owf"


def test_workers_lie_around_the_oracle_coloured_by_fresh_gold(home: Workspace) -> None:
    save_blending(home)
    page = open_view("spectral", plane="pca")
    (figure,) = charts(page)
    points = [trace for trace in figure["data"] if "customdata" in trace]
    assert {len(trace["customdata"]) for trace in points} == {1, 5}  # a stranger has no gold
    colours = decoded(points[0]["marker"]["color"])
    assert sorted(colours) == [0, 0.5, 1, 1, 1]
    assert stars(page)["oracle: density peak"] == "star"
    assert list(stars(page).values()).count("star-open") == 2
    assert "accuracy against gold, which the fit has not seen" in everything_said(page)
    page.button_group(key="spectral_against").set_value("truths").run()
    assert page.query_params["against"] == "truths"
    assert "accuracy against the inferred truths" in everything_said(page)


def test_gold_that_the_fit_used_colours_nobody(home: Workspace) -> None:
    result = blending(fit(pets(), "ds"))
    save(home, replace(result, provenance=replace(result.provenance, used_gold=True)))
    page = open_view("spectral", plane="pca")
    assert "accuracy against the inferred truths" in everything_said(page)
    assert "Right on gold" not in {one.label for one in page.metric}
    assert "gold" not in table(page, "apart")


@pytest.mark.parametrize(
    ("origin", "told"),
    [("features", "Items were known by their features"), ("labels", "known only by their labels")],
)
def test_it_is_said_how_items_were_known_and_what_nearness_proves(
    home: Workspace, origin: Any, told: str
) -> None:
    save_blending(home, origin=origin)
    page = open_view("spectral", plane="pca")
    assert told in page.info[0].value
    assert "proves neither that they copy nor that they are right" in page.info[0].value


def test_another_centre_shows_the_truths_that_change(home: Workspace, open_page: OpenPage) -> None:
    save_blending(home)
    page = open_page("spectral", plane="pca")
    metrics = {one.label: one.value for one in page.metric}
    assert metrics["Truths that change"] == "0 of 21"
    assert metrics["Right on gold"] == "100.0%"
    page.selectbox(key="choose:Oracle found by").select("mean").run()
    assert not page.exception
    assert page.query_params["centre"] == "mean"
    metrics = {one.label: one.value for one in page.metric}
    assert metrics["Truths that change"] == "4 of 21"
    assert metrics["Right on gold"] == "60.0%"
    assert stars(page)["oracle: mean"] == "star"
    centres = table(page, "changed").set_index("centre")
    assert centres["changed"].to_dict() == {
        "★ density peak": 0,
        "density peak, by labels": 0,
        "mean": 4,
    }
    assert str(centres.loc["mean", "gold"]).startswith("60.0% (")
    changes = table(page, "then")
    assert changes["item"].tolist() == ["i0", "i1", "i2", "i3"]
    assert (changes["now"] != changes["then"]).all()
    assert (changes["now"] == changes["gold"]).all()
    assert changes["then_sure"].iloc[0] == pytest.approx(90)
    page.session_state[key_like(page, "spectral_changes")] = {"selection": {"rows": [2]}}
    page.run()
    page.button(key="spectral_open_item").click().run()
    assert page.title[0].value == "Truths"
    assert page.query_params["item"] == "i2"


def test_a_centre_that_changes_nothing_says_so(home: Workspace) -> None:
    save_blending(home)
    assert "No truth changes" in everything_said(open_view("spectral", plane="pca", centre="kde_w"))
    page = open_view("spectral", plane="pca", centre="nonsense")
    assert stars(page)["oracle: density peak"] == "star"


def test_many_changes_come_a_page_at_a_time(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectral_centres, "PAGE_ROWS", 3)
    save_blending(home, moved=8)
    page = open_view("spectral", plane="pca", centre="mean")
    assert len(table(page, "then")) == 3
    page.number_input[0].set_value(3).run()
    assert table(page, "then")["item"].tolist() == ["i6", "i7"]


def test_a_bound_is_shown_as_a_ceiling(home: Workspace) -> None:
    save_blending(home, bound=True)
    page = open_view("spectral", plane="pca")
    assert "a ceiling, not a result" in everything_said(page)
    assert "oracle fitted to gold" in {trace.get("name") for trace in charts(page)[0]["data"]}


def test_a_loop_chooses_workers_with_their_experts_and_matrices(
    home: Workspace, open_page: OpenPage
) -> None:
    save_blending(home)
    page = open_page("spectral", plane="pca", worker="good0")
    assert "1 worker chosen" in everything_said(page)  # by the link
    loop(page, "turned", "always cat", "good1", "good2")
    assert "worker" not in page.query_params
    assert page.query_params["chosen"].count(".") == 3
    assert "4 workers chosen" in everything_said(page)
    chosen = table(page, "of")
    assert set(chosen["worker"]) == {"turned", "always cat", "good1", "good2"}
    assert chosen["distance"].is_monotonic_decreasing
    assert chosen.set_index("worker")["accuracy"]["turned"] == 0
    kinds = [figure["data"][0]["type"] for figure in charts(page)]
    assert kinds == ["contour", "bar", "heatmap", "heatmap", "heatmap"]
    assert "3 of 4 workers" in everything_said(page)
    page.session_state[key_like(page, "spectral_workers")] = {"selection": {"rows": [3]}}
    page.run()
    assert charts(page)[1]["data"][0]["name"] == chosen["worker"].iloc[3]
    page.button(key="spectral_open_worker").click().run()
    assert page.title[0].value == "Workers"
    assert page.query_params["worker"] == chosen["worker"].iloc[3]


def test_the_choice_can_be_closed(home: Workspace) -> None:
    save_blending(home)
    page = open_view("spectral", plane="pca")
    loop(page, "turned")
    page.button(key="spectral_close").click().run()
    assert "chosen" not in page.query_params
    assert "worker chosen" not in everything_said(page)


def test_chosen_workers_are_excluded_in_a_new_run(home: Workspace, open_page: OpenPage) -> None:
    old = save_run(home, pets(), "ds", excluded=["good2"])
    run = home.queue(old.dataset_id, "ds", excluded=["good2"])
    home.save_result(run.id, blending(home.load_result(old.id)))
    page = open_page("spectral", plane="pca", run=run.id)
    assert "1 worker without labels in this run left out" in everything_said(page)
    loop(page, "turned", "always cat")
    page.text_input(key="spectral_by").set_value("Ann")
    page.selectbox(key="spectral_reason_exclude").set_value("Answers at random").run()
    page.button(key="spectral_exclude").click().run()
    assert not page.exception
    assert page.title[0].value == "Spectral space"
    assert page.query_params["run"] == home.runs(run.project_id)[0].id
    new = home.runs(run.project_id)[0]
    assert new.status == "queued"
    assert set(new.excluded) == {"good2", "turned", "always cat"}


def test_everybody_cannot_be_excluded(home: Workspace) -> None:
    save_blending(home)
    page = open_view("spectral", plane="pca", chosen="0.1.2.3.4.5.99.x")
    assert page.button(key="spectral_exclude").disabled


def test_isomap_comes_first_and_is_made_once(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr("dashboard.plane.projections.start", fake_start(0, made))
    save_blending(home)
    page = open_view("spectral")
    assert page.button_group(key="spectral_kind").value == "isomap"
    assert charts(page)
    page.run()
    assert made == ["spectral"]


def test_of_a_large_crowd_a_sample_is_drawn_and_said(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plane, "MAX_POINTS", 4)
    save_blending(home)
    page = open_view("spectral", plane="pca")
    assert "4 of 6 workers drawn" in everything_said(page)


def test_names_in_the_data_are_shown_as_they_are(home: Workspace) -> None:
    evil = "![x](http://evil/)"
    triples = [
        (f"{evil}{i}", worker, f"<b>{'ab'[i % 2]}")
        for i in range(12)
        for worker in (evil, "<i>w", "good")
    ]
    save_blending(home, CrowdData.from_triples(triples))
    page = open_view("spectral", plane="pca", centre="mean", chosen="0.1.2")
    assert "![x]" not in everything_said(page)
    for figure in charts(page):
        shown = [(trace.get("text"), trace.get("name")) for trace in figure["data"]]
        assert "<i>w" not in f"{shown}"


@pytest.mark.parametrize("n", [1, 2])
def test_the_smallest_crowds_are_shown_too(home: Workspace, n: int) -> None:
    triples = [("i", f"w{w}", "ab"[w]) for w in range(n)]
    save_blending(home, CrowdData.from_triples(triples), moved=1)
    page = open_view("spectral", plane="pca", centre="mean", worker="w0")
    assert len(charts(page)) > 1
