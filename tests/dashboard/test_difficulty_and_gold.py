"""What pages show of difficulty, of expertise by class, and of ROC curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import fit
from crowdcore.audit.expertise import Expertise, expertise
from crowdcore.audit.reliability import calibration_error, reliability
from crowdcore.audit.roc import RocCurve, RocCurves, roc_curves
from crowdcore.workspace import Workspace
from dashboard.charts.expertise import (
    MAX_CLASSES,
    MAX_NAMES,
    MAX_ROWS,
    expertise_map,
    expertise_plane,
)
from dashboard.charts.roc import MAX_CURVES, roc_chart
from tests.crowds import featured_crowd, golden_crowd
from tests.dashboard.results import (
    charts,
    decoded,
    everything_said,
    key_like,
    open_view,
    pets,
    save_run,
)


def view(page: AppTest, key: str, name: str) -> AppTest:
    return page.button_group(key=key).set_value(name).run()


def made_up(n_workers: int, n_classes: int, *, gold: bool = True) -> Expertise:
    rng = np.random.default_rng(0)
    return Expertise(
        workers=tuple(f"w{i}" for i in range(n_workers)),
        classes=tuple(f"class {k}" for k in range(n_classes)),
        n_labels=rng.integers(1, 100, n_workers),
        right=rng.uniform(0.5, 1, (n_workers, n_classes)),
        gold=rng.uniform(0.5, 1, (n_workers, n_classes))
        if gold
        else np.full((n_workers, n_classes), np.nan),
    )


def test_difficulty_is_a_column_an_order_and_a_fact_of_an_item(home: Workspace) -> None:
    save_run(home, featured_crowd(), "adaptive_difficulty_em")
    page = open_view("truths", item="i3")
    assert "Hardest first" in page.selectbox(key="truths_order").options
    page.selectbox(key="truths_order").select("Hardest first").run()
    assert not page.exception
    shown = page.dataframe[0].value["difficulty"].to_numpy()
    assert (np.diff(shown) <= 0).all()
    assert shown[0] > shown[-1]
    assert "harder than" in everything_said(page)


def test_other_methods_that_know_difficulty_show_it_too(home: Workspace) -> None:
    save_run(home, pets(), "glad")
    assert "difficulty" in open_view("truths").dataframe[0].value.columns


def test_without_difficulty_there_is_neither_column_nor_order(home: Workspace) -> None:
    save_run(home, pets(), "ds")
    page = open_view("truths", item="i3")
    assert "difficulty" not in page.dataframe[0].value.columns
    assert "Hardest first" not in page.selectbox(key="truths_order").options
    assert "harder than" not in everything_said(page)


def test_an_order_that_the_next_run_does_not_have_is_let_go(home: Workspace) -> None:
    without, hard = save_run(home, pets(), "ds"), save_run(home, pets(), "glad")
    page = open_view("truths", run=hard.id)
    page.selectbox(key="truths_order").select("Hardest first").run()
    page.query_params["run"] = without.id
    page.run()
    assert not page.exception
    assert page.selectbox(key="truths_order").value == "Least sure first"


def test_roc_curves_are_offered_where_there_is_gold(home: Workspace) -> None:
    save_run(home, featured_crowd(2), "raykar_em")
    page = view(open_view("truths"), "truths_view", "ROC")
    assert not page.exception
    (chart,) = charts(page)
    names = [str(trace.get("name")) for trace in chart["data"] if trace.get("showlegend", True)]
    assert [name.split(" (")[0] for name in names] == ["truths", "classifier alone"]
    assert "The class is b." in everything_said(page)


def test_more_classes_list_their_areas_worst_first(home: Workspace) -> None:
    save_run(home, featured_crowd(), "raykar_em")
    page = view(open_view("truths"), "truths_view", "ROC")
    areas = page.dataframe[1].value
    assert set(areas["class"]) == {"a", "b", "c"}
    assert (np.diff(areas["auc"]) >= 0).all()
    assert areas["alone"].between(0.5, 1).all()
    assert "one class" not in everything_said(page).lower()


def test_confidence_is_held_against_gold_with_the_calibration_error(home: Workspace) -> None:
    run = save_run(home, featured_crowd(2), "ds")
    page = view(open_view("truths"), "truths_view", "Against gold")
    bins = reliability(home.load_result(run.id))
    assert bins is not None
    gap = 100 * calibration_error(bins)
    assert gap > 0
    assert f"{gap:.1f} points apart on average" in everything_said(page)


def test_gold_that_was_used_makes_no_curve(home: Workspace) -> None:
    save_run(home, pets(), "ds", use_gold=True)
    page = open_view("truths")
    assert "truths_view" not in page.session_state
    accuracy = next(one for one in page.metric if one.label == "Accuracy vs. gold")
    assert accuracy.value == "not known"
    assert accuracy.delta == "the method was given its 10 answers"


def test_workers_can_be_seen_by_class(home: Workspace) -> None:
    run = save_run(home, pets(), "ds")
    page = view(open_view("workers"), "workers_view", "By class")
    assert not page.exception
    chart = charts(page)[0]
    estimated = next(trace for trace in chart["data"] if trace.get("name") == "estimated")
    names = [row[0] for row in estimated["customdata"]]
    always_cat = names.index("always cat")
    found = expertise(home.load_result(run.id))
    code = found.workers.index("always cat")
    assert decoded(estimated["x"])[always_cat] == pytest.approx(found.right[code, 0])
    assert decoded(estimated["x"])[always_cat] > 0.9  # right about cats
    assert decoded(estimated["y"])[always_cat] < 0.1  # never about dogs
    assert "on gold" in [trace.get("name") for trace in chart["data"]]
    assert "Diamonds" in everything_said(page)


def test_a_point_among_the_classes_opens_its_worker(home: Workspace) -> None:
    save_run(home, pets(), "ds")
    page = view(open_view("workers"), "workers_view", "By class")
    key = key_like(page, "workers_expertise")
    page.session_state[key] = {"selection": {"points": [{"customdata": ["turned"]}]}}
    page.run()
    assert page.query_params["worker"] == "turned"
    assert "Worker turned" in [one.value for one in page.subheader]


def test_more_classes_make_a_map_of_workers_and_classes(home: Workspace) -> None:
    save_run(home, golden_crowd(), "ds")
    page = view(open_view("workers"), "workers_view", "By class")
    assert charts(page)[0]["data"][0]["type"] == "heatmap"
    assert "(row)" in everything_said(page)


def test_workers_whose_labels_were_left_out_have_no_point(home: Workspace) -> None:
    save_run(home, pets(), "ds", excluded=["turned"])
    page = view(open_view("workers"), "workers_view", "By class")
    points = [row[0] for trace in charts(page)[0]["data"] for row in trace.get("customdata", [])]
    assert "good0" in points
    assert "turned" not in points


def test_one_class_cannot_be_seen_by_class(home: Workspace) -> None:
    data = replace(pets(), classes=("cat",), label=np.zeros(pets().n_labels, int), gold=None)
    save_run(home, data, "mv")
    page = open_view("workers")
    assert "workers_view" not in page.session_state


def test_the_plane_has_larger_points_for_more_labels_and_lines_to_gold() -> None:
    found = made_up(5, 2)
    figure = expertise_plane(found, np.arange(5), theme="light", selected="w2")
    guess, bridges, estimated, gold, ring = figure.data
    assert (list(guess.x), list(guess.y)) == ([0, 1], [1, 0])
    assert np.argmax(estimated.marker.size) == np.argmax(found.n_labels)
    np.testing.assert_allclose(estimated.y, found.right[:, 1])
    np.testing.assert_allclose(gold.x, found.gold[:, 0])
    assert len(bridges.x) == 3 * 5
    assert list(ring.x) == [found.right[2, 0]]
    assert figure.layout.xaxis.range[0] < 0.5 < figure.layout.xaxis.range[1]
    assert "class 1 (sensitivity)" in figure.layout.yaxis.title.text


def test_the_plane_without_gold_has_estimates_only_and_spares_names_in_a_crowd() -> None:
    figure = expertise_plane(
        made_up(MAX_NAMES + 1, 2, gold=False), np.arange(MAX_NAMES + 1), theme="dark"
    )
    _, estimated = figure.data
    assert estimated.mode == "markers"
    assert estimated.text is None


def test_a_poor_worker_is_not_cut_off_the_plane() -> None:
    found = made_up(2, 2)
    found.right[0] = 0.05
    figure = expertise_plane(found, np.arange(2), theme="light")
    assert figure.layout.xaxis.range[0] < 0.05


def test_the_map_shows_as_many_workers_and_classes_as_fit() -> None:
    found = made_up(MAX_ROWS + 5, MAX_CLASSES + 5)
    figure = expertise_map(found, np.arange(MAX_ROWS + 5)[::-1], theme="light", selected="w9")
    heat, dots, cells = figure.data
    assert np.shape(heat.z) == (MAX_ROWS, MAX_CLASSES)
    assert len(dots.x) == len(cells.x) == MAX_ROWS * MAX_CLASSES
    assert list(cells.customdata[0]) == [f"w{MAX_ROWS + 4}"]  # in the order that was given
    (frame,) = figure.layout.shapes
    assert frame.y0 == MAX_ROWS + 4 - 9 - 0.5


def test_the_roc_chart_draws_the_worst_classes_and_the_average() -> None:
    line = np.linspace(0, 1, 5)
    names = [f"c{k}" for k in range(MAX_CURVES + 3)]
    curves = tuple(
        RocCurve(name=name, n=3, false_positive_rate=line, true_positive_rate=line, auc=1 - k / 100)
        for k, name in enumerate(names)
    )
    average = RocCurve(name="", n=9, false_positive_rate=line, true_positive_rate=line, auc=0.9)
    figure = roc_chart(RocCurves(curves=curves, average=average), None, names, theme="light")
    drawn = [trace.name for trace in figure.data[1:]]
    assert drawn[:-1] == names[3:]
    assert drawn[-1].startswith("truths, average (0.9")
    assert [trace.showlegend for trace in figure.data[1:]] == [False] * MAX_CURVES + [True]


def test_the_roc_chart_of_two_classes_has_one_thick_line() -> None:
    data = golden_crowd(2)
    found = roc_curves(fit(data, "ds"))
    assert found is not None
    _, line = roc_chart(found, None, data.classes, theme="dark").data
    assert line.line.width == 3
    assert f"({found.macro_auc:.3f})" in line.name


def test_a_pool_shows_its_members_and_how_far_they_agree(home: Workspace) -> None:
    other = save_run(home, pets(), "ds")
    pooled = save_run(home, pets(), "auto")
    page = view(open_view("truths", run=pooled.id), "truths_view", "Methods")
    assert not page.exception
    (chart,) = charts(page)
    (cells,) = chart["data"]
    assert cells["y"] == ["hds × 1", "ds × 1", "hbcc × 1", "mace × 3"]
    assert cells["x"][0] == "pool"
    shares = np.reshape(decoded(cells["z"]), (4, 5))
    assert (np.diag(shares[:, 1:]) == 1).all()
    same = home.load_result(pooled.id).truth == home.load_result(other.id).truth
    assert shares[1, 0] == pytest.approx(same.mean())
    assert "The votes themselves weigh 1." in everything_said(page)
    page.query_params["run"] = other.id
    page.run()  # the view of another run is that of all runs
    assert not page.exception
    assert charts(page)[0]["data"][0]["type"] == "bar"
