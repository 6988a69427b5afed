from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import pytest

from crowdcore.audit.kinds import audit_of
from dashboard.charts.history import history_curve
from dashboard.charts.palette import (
    MAX_POINTS,
    VERDICT_STYLES,
    class_colours,
    plain,
    verdict_words,
)
from dashboard.charts.truths import (
    NO_GOLD,
    RIGHT,
    WRONG,
    classes_shown,
    confidence_histogram,
    posterior_bars,
    reliability_curve,
)
from dashboard.charts.workers import (
    MAX_CLASSES,
    MAX_TEXTS,
    MAX_WHISKERS,
    class_shares,
    confusion_heatmap,
    matrix_order,
    sampled_workers,
    worker_scatter,
)
from dashboard.kinds import VIEWS

THEMES: list[Literal["light", "dark"]] = ["light", "dark"]


def crowd(n: int, verdict: str = "good") -> pd.DataFrame:
    accuracy = np.linspace(0.2, 0.9, n)
    return pd.DataFrame(
        {
            "worker": [f"w{i}" for i in range(n)],
            "n_labels": np.arange(1, n + 1),
            "accuracy": accuracy,
            "accuracy_low": accuracy - 0.1,
            "accuracy_high": accuracy + 0.1,
            "verdict": verdict,
        }
    )


def test_verdicts_differ_in_sign_and_marker_not_only_in_colour() -> None:
    for kind in VIEWS:
        styles = [VERDICT_STYLES[name] for name in audit_of(kind).best_first]
        assert len({style.sign for style in styles}) == len(styles)
        assert len({style.symbol for style in styles}) == len(styles)
    assert verdict_words("good").endswith("good")


def test_a_class_keeps_its_colour_when_others_come() -> None:
    assert class_colours(12, "light")[:3] == class_colours(3, "light")
    assert len(set(class_colours(10, "dark"))) == 10


def test_names_from_the_data_cannot_be_tags() -> None:
    assert "<" not in plain('<a href="http://evil">x</a>', 80)
    assert plain("") == "(empty)"
    assert len(plain("x" * 100, 10)) == 10


@pytest.mark.parametrize("theme", THEMES)
def test_the_histogram_counts_every_item_once(theme: Literal["light", "dark"]) -> None:
    confidence = np.array([0.0, 0.5, 0.99, 1.0, 1.0])
    against = np.array([RIGHT, WRONG, NO_GOLD, RIGHT, RIGHT])
    figure = confidence_histogram(confidence, against, theme=theme)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert {bar.name: int(np.sum(bar.y)) for bar in bars} == {"right": 3, "wrong": 1, "no gold": 1}
    assert figure.layout.xaxis.range == (0, 1.01)
    wrong = next(bar for bar in bars if bar.name == "wrong")
    assert wrong.marker.pattern.shape == "/"  # told apart without colour


def test_without_gold_the_histogram_has_one_plain_series() -> None:
    figure = confidence_histogram(np.ones(3), np.full(3, NO_GOLD), theme="light")
    assert [trace.name for trace in figure.data if trace.type == "bar"] == ["items"]
    assert not figure.layout.showlegend


def test_an_empty_histogram_is_still_a_figure() -> None:
    assert confidence_histogram(np.zeros(0), np.zeros(0, int), theme="light").layout.height


def test_the_reliability_curve_has_intervals_and_the_line_of_honesty() -> None:
    bins = pd.DataFrame(
        {
            "n": [10, 90],
            "confidence": [0.6, 0.95],
            "accuracy": [0.5, 0.9],
            "accuracy_low": [0.2, 0.8],
            "accuracy_high": [0.8, 0.95],
        }
    )
    line, points = reliability_curve(bins, theme="dark").data
    assert (list(line.x), list(line.y)) == ([0, 1], [0, 1])
    assert list(points.x) == [0.6, 0.95]
    np.testing.assert_allclose(points.error_y.array, [0.3, 0.05])
    np.testing.assert_allclose(points.error_y.arrayminus, [0.3, 0.1])


def test_posterior_bars_carry_the_class_colours_and_the_share_of_labels() -> None:
    figure = posterior_bars(np.array([0.1, 0.9]), np.array([2, 1]), ["cat", "dog"], theme="light")
    bars, numbers, votes = figure.data
    assert list(numbers.text) == ["90.0%", "10.0%"]
    assert list(bars.x) == [0.9, 0.1]  # the first class on top
    assert list(figure.layout.yaxis.ticktext) == ["dog", "cat"]
    assert list(bars.marker.color) == class_colours(2, "light")[::-1]
    assert list(votes.x) == pytest.approx([1 / 3, 2 / 3])


def test_an_item_without_labels_has_no_share_of_labels() -> None:
    figure = posterior_bars(np.array([0.5, 0.5]), np.zeros(2, int), ["a", "b"], theme="light")
    assert [trace.name for trace in figure.data] == ["probability", None]


def test_of_many_classes_only_the_likeliest_get_bars() -> None:
    posterior = np.arange(100) / np.arange(100).sum()
    names = [f"c{i}" for i in range(100)]
    figure = posterior_bars(posterior, np.ones(100, int), names, theme="light")
    assert list(figure.layout.yaxis.ticktext) == [f"c{i}" for i in range(99, 84, -1)]


def test_of_several_classes_those_that_nobody_gave_and_cannot_be_get_no_bar() -> None:
    posterior = np.array([0.6, 0.4, 0, 0, 0, 0, 0, 0])
    votes = np.array([2, 0, 0, 0, 0, 1, 0, 0])
    assert classes_shown(posterior, votes).tolist() == [0, 1, 5]
    assert classes_shown(np.array([1.0, 0, 0]), np.array([1, 0, 0])).tolist() == [0, 1, 2]
    figure = posterior_bars(posterior, votes, "abcdefgh", theme="light")
    assert list(figure.data[-1].y) == [0, 2]  # f and a were given, b was not


@pytest.mark.parametrize("theme", THEMES)
def test_the_matrix_has_truths_as_rows_and_a_fixed_scale(theme: Literal["light", "dark"]) -> None:
    confusion = np.array([[0.7, 0.3], [0.0, 1.0]])
    counts = np.array([[7, 3], [0, 10]])
    figure = confusion_heatmap(confusion, counts, ["a", "b"], show_counts=False, theme=theme)
    heat, weak, strong, cells = figure.data
    assert (heat.zmin, heat.zmax) == (0, 1)
    np.testing.assert_array_equal(heat.z, confusion)
    assert list(weak.text) == ["0.30", ""]  # nothing is written into an empty cell
    assert list(strong.text) == ["0.70", "1.00"]
    assert weak.textfont.color != strong.textfont.color
    assert figure.layout.yaxis.range == (1.5, -0.5)  # the first truth on top
    true_a_given_b = next(i for i, pair in enumerate(cells.customdata) if list(pair) == [0, 1])
    assert (cells.x[true_a_given_b], cells.y[true_a_given_b]) == (1, 0)
    assert "truth a → given b" in cells.text[true_a_given_b]
    assert cells.marker.opacity == 0


def test_counts_are_written_but_coloured_by_row() -> None:
    counts = np.array([[30, 10], [0, 0]])
    figure = confusion_heatmap(np.eye(2), counts, ["a", "b"], show_counts=True, theme="light")
    np.testing.assert_array_equal(figure.data[0].z, [[0.75, 0.25], [0, 0]])
    written = {
        (x, y): text
        for trace in figure.data[1:3]
        for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)
    }
    assert written == {(0, 0): "30", (1, 0): "10", (0, 1): "0", (1, 1): "0"}


def test_the_chosen_cell_gets_a_frame() -> None:
    counts = np.ones((3, 3), int)
    figure = confusion_heatmap(
        np.full((3, 3), 1 / 3), counts, "abc", show_counts=False, theme="light", chosen=(2, 0)
    )
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 0.5, 1.5, 2.5)


def test_a_large_matrix_has_no_text_and_puts_the_most_confused_first() -> None:
    size = MAX_CLASSES + 10
    counts = np.eye(size, dtype=int) * 5
    counts[17, 3] = 50
    order = matrix_order(np.eye(size), counts)
    assert len(order) == MAX_CLASSES
    assert set(order[:2].tolist()) == {3, 17}
    names = [str(i) for i in range(size)]
    figure = confusion_heatmap(np.eye(size), counts, names, show_counts=True, theme="light")
    assert len(figure.data) == 2
    assert list(figure.data[1].customdata[0]) == [order[0], order[0]]
    assert list(matrix_order(np.eye(MAX_TEXTS), np.eye(MAX_TEXTS, dtype=int))) == list(range(12))


def test_many_narrow_cells_leave_out_the_leading_zero() -> None:
    confusion = np.full((10, 10), 0.04) + 0.6 * np.eye(10)
    counts, names = np.ones((10, 10), int), [str(i) for i in range(10)]
    figure = confusion_heatmap(confusion, counts, names, show_counts=False, theme="light")
    _, weak, strong, _ = figure.data
    assert set(weak.text) == {".04"}
    assert set(strong.text) == {".64"}


def test_names_that_look_like_numbers_or_each_other_keep_their_own_cells() -> None:
    names = ["1", "10", "x" * 60 + "a", "x" * 60 + "b"]
    figure = confusion_heatmap(
        np.eye(4), np.eye(4, dtype=int), names, show_counts=False, theme="light"
    )
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2, 3]


def test_points_carry_the_worker_and_its_interval() -> None:
    figure = worker_scatter(crowd(5), theme="light", selected="w2", chance=0.5)
    points = figure.data[0]
    assert [list(row) for row in points.customdata] == [[f"w{i}"] for i in range(5)]
    np.testing.assert_allclose(points.error_y.array, 0.1)
    assert points.error_y.visible
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.yaxis.range == (-0.03, 1.03)
    ring = figure.data[1]
    assert list(ring.x) == [3]
    assert "w2" in points.text[2]


def test_too_many_intervals_are_left_to_hovering() -> None:
    figure = worker_scatter(crowd(MAX_WHISKERS + 1), theme="light")
    assert not figure.data[0].error_y.visible


def test_workers_with_nothing_to_compare_are_not_drawn() -> None:
    frame = crowd(3)
    frame.loc[1, "accuracy"] = np.nan
    assert len(worker_scatter(frame, theme="light").data[0].x) == 2


def test_a_huge_crowd_is_sampled_with_everyone_in_doubt() -> None:
    frame = crowd(MAX_POINTS + 5000)
    frame.loc[frame.index[-50:], "verdict"] = "random"
    sample = sampled_workers(frame, keep="w7")
    assert len(sample) == MAX_POINTS
    assert (sample["verdict"] == "random").sum() == 50
    assert "w7" in set(sample["worker"])


def test_shares_are_shown_against_those_of_others_from_zero_up() -> None:
    figure = class_shares(np.array([0.9, 0.1]), np.array([0.5, 0.5]), ["a", "b"], theme="light")
    assert [trace.name for trace in figure.data] == ["this worker", "others, same items"]
    assert list(figure.data[0].y) == [0.9, 0.1]
    assert figure.layout.yaxis.range == (0, 1.02)
    small = class_shares(
        np.full(20, 0.05), np.full(20, np.nan), "abcdefghijklmnopqrst", theme="dark"
    )
    assert small.layout.yaxis.range == pytest.approx((0, 0.102))


def test_each_logged_number_gets_its_own_strip() -> None:
    history = pd.DataFrame(
        {
            "stage": ["EM"] * 3,
            "step": [0, 1, 2],
            "loglik": [-3.0, -2.0, -1.5],
            "change": [1, 0.5, None],
        }
    )
    figure = history_curve(history, theme="dark")
    assert [trace.name for trace in figure.data] == ["loglik", "change"]
    assert list(figure.data[1].x) == [1, 2]
    assert history_curve(history[["stage", "step"]], theme="light").data == ()


def test_a_short_curve_has_whole_steps_on_its_axis() -> None:
    history = pd.DataFrame({"stage": ["EM"] * 2, "step": [0, 1], "loglik": [-3.0, -2.0]})
    assert history_curve(history, theme="light").layout.xaxis.dtick == 1


def test_long_names_under_a_matrix_are_tilted_and_short_ones_are_not() -> None:
    square, counts = np.eye(3), np.eye(3, dtype=int)
    angles = [
        confusion_heatmap(
            square, counts, names, show_counts=False, theme="light"
        ).layout.xaxis.tickangle
        for names in (["a", "b", "<&>"], ["very negative", "neutral", "very positive"])
    ]
    assert angles == [0, -45]


def test_a_cell_tells_its_interval_where_the_method_has_one() -> None:
    confusion, counts = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[9, 1], [2, 8]])
    ends = np.stack([confusion - 0.05, confusion + 0.05])
    figure = confusion_heatmap(
        confusion, counts, ("a", "b"), show_counts=False, theme="light", interval=ends
    )
    assert "likely 85% to 95%" in figure.data[-1].text[0]
