from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from dashboard.charts.attention import (
    MAX_NAMES,
    by_excess,
    by_weight,
    group_map,
    node_map,
    times,
)
from dashboard.charts.space import MAX_CLASSES, class_groups, space_scatter, verdict_groups

THEMES: list[Literal["light", "dark"]] = ["light", "dark"]


def weights(n: int, top: float = 4.0) -> NDArray[np.float64]:
    found = np.geomspace(1 / top, top, n * n).reshape(n, n)
    np.fill_diagonal(found, 100 * top)
    return found


def words(n: int) -> NDArray[np.object_]:
    texts: NDArray[Any] = np.empty((n, n), dtype=object)
    texts[:] = "told"
    return texts


def links(n: int) -> NDArray[np.bool_]:
    return ~np.eye(n, dtype=bool)


def draw_map(n: int, **more: Any) -> Any:
    names = [f"w{i}" for i in range(n)]
    shade = by_weight(weights(n), log=True, links=links(n))
    codes = np.arange(n)[::-1] + 7
    return node_map(shade, words(n), codes, names, ["good"] * n, theme="light", **more)


@pytest.mark.parametrize(
    ("weight", "told"),
    [(123.4, "123×"), (9.94, "9.9×"), (1.0, "1.0×"), (0.1, "0.1×"), (0.04, "0.04×"), (0, "<0.01×")],
)
def test_a_weight_is_written_with_as_many_digits_as_say_something(weight: float, told: str) -> None:
    assert times(weight) == told


def test_in_logs_even_is_in_the_middle_and_the_scale_ends_with_the_links() -> None:
    shade = by_weight(weights(6), log=True, links=links(6))
    assert (shade.low, shade.high) == (-2, 2)  # the diagonal does not stretch it
    assert shade.tick_texts[shade.ticks.index(0)] == "even"
    assert shade.tick_texts[0] == "1/4"
    assert shade.tick_texts[-1] == "4×"
    assert by_weight(weights(6), log=True).high == 6


def test_without_logs_the_scale_begins_at_nothing() -> None:
    shade = by_weight(weights(6), log=False, links=links(6))
    assert (shade.low, shade.high) == (0, 4)
    assert shade.tick_texts[:2] == ["0×", "1×"]


def test_weights_of_nothing_are_blank_and_even_ones_keep_a_readable_scale() -> None:
    zero = by_weight(np.zeros((3, 3)), log=True)
    assert np.isnan(zero.z).all()
    even = by_weight(np.ones((3, 3)), log=True)
    assert (even.low, even.high) == (-1, 1)
    assert by_weight(np.ones((1, 1)), log=True, links=links(1)).high == 1
    assert by_weight(np.full((2, 2), np.nan), log=True).high == 1


def test_excess_agreement_is_read_in_points_from_zero_up() -> None:
    excess = np.array([[np.nan, 0.15], [0.15, np.nan]])
    shade = by_excess(excess)
    assert (shade.low, shade.high) == (0, 0.2)
    assert shade.tick_texts == ["+0", "+5", "+10", "+15", "+20"]
    assert by_excess(np.full((2, 2), np.nan)).high == 0.1


def test_a_map_has_names_verdicts_and_cells_that_carry_codes() -> None:
    figure = draw_map(5, worker=9, other=11)
    heat, cells, strip = figure.data
    assert heat.hoverinfo == "skip"
    assert cells.marker.opacity == 0
    at = next(i for i in range(25) if (cells.x[i], cells.y[i]) == (0, 2))
    assert list(cells.customdata[at]) == [9, 11]  # row, column
    assert list(figure.layout.yaxis.ticktext) == [f"w{i}" for i in range(5)]
    assert figure.layout.yaxis.range == (4.5, -0.5)
    assert strip.name == "good"
    row, cell, edge = figure.layout.shapes
    assert (row.y0, row.y1) == (1.5, 2.5)
    assert (cell.x0, cell.x1, cell.y0, cell.y1) == (-0.5, 0.5, 1.5, 2.5)
    assert (edge.x1, edge.y1) == (4.5, 4.5)


def test_a_large_map_has_no_names_and_is_drawn_by_the_graphics_card() -> None:
    figure = draw_map(MAX_NAMES + 1)
    assert figure.data[1].type == "scattergl"
    assert len(figure.layout.xaxis.ticktext) == 0
    assert draw_map(3).data[1].type == "scatter"


def test_a_worker_who_is_not_shown_gets_no_frame() -> None:
    assert len(draw_map(5, worker=99, other=100).layout.shapes) == 1


@pytest.mark.parametrize("theme", THEMES)
def test_groups_have_their_weights_written_in_and_a_frame_when_chosen(
    theme: Literal["light", "dark"],
) -> None:
    found = np.array([[3.0, 0.5], [np.nan, 1.0]])
    figure = group_map(
        by_weight(found, log=True),
        found,
        np.array([5, 1200]),
        ["cat", "<b>dog"],
        theme=theme,
        chosen=(0, 1),
    )
    written = {
        (x, y): text
        for trace in figure.data
        if trace.type == "scatter" and trace.mode == "text"
        for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)
    }
    assert written == {(0, 0): "3.0×", (1, 0): "0.5×", (1, 1): "1.0×"}
    assert list(figure.layout.yaxis.ticktext) == ["cat (5)", "&lt;b&gt;dog (1,200)"]
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.y0) == (0.5, -0.5)


def test_workers_differ_by_sign_and_colour_and_the_chosen_one_has_a_ring() -> None:
    verdicts = np.array(["weak", "good", "good"], dtype=object)
    names = np.array(["a", "b", "c"], dtype=object)
    groups = verdict_groups(verdicts, "light")
    figure = space_scatter(
        np.arange(6.0).reshape(3, 2), names, names, groups, theme="light", selected="b"
    )
    good, weak, ring = figure.data
    assert [list(row) for row in good.customdata] == [["b"], ["c"]]
    assert good.marker.symbol != weak.marker.symbol
    assert list(ring.x) == [2.0]
    assert good.name == "good (2)"


def test_shares_colour_points_and_keep_their_signs() -> None:
    names = np.array(["a", "b"], dtype=object)
    groups = verdict_groups(np.array(["weak", "good"], dtype=object), "dark")
    figure = space_scatter(
        np.zeros((2, 2)), names, names, groups, theme="dark", shares=np.array([0.2, 0.9])
    )
    assert [list(trace.marker.color) for trace in figure.data] == [[0.9], [0.2]]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert figure.layout.xaxis.range[0] < figure.layout.xaxis.range[1]  # also in one place


def test_of_many_classes_the_rare_and_the_undecided_stand_back() -> None:
    codes = np.concatenate([np.arange(12), np.arange(MAX_CLASSES), [-1]])
    classes = [f"c{i}" for i in range(12)]
    rest, *own = class_groups(codes, classes, "light")
    assert [group.name for group in own] == classes[:MAX_CLASSES]
    assert rest.name == "other"
    assert len(rest.rows) == 12 - MAX_CLASSES + 1
    assert sum(len(group.rows) for group in (rest, *own)) == len(codes)


def test_no_point_is_still_a_figure() -> None:
    none = np.zeros(0, dtype=object)
    assert space_scatter(np.zeros((0, 2)), none, none, [], theme="light").layout.height
