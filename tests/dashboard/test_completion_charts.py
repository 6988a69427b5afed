from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdcore.audit.completion import MatrixPiece
from dashboard.charts.completion import (
    MAX_BARS,
    MAX_NAMES,
    class_bars,
    coloured,
    label_matrix,
    quality_scatter,
    sureness_histogram,
    sureness_matrix,
)
from dashboard.charts.palette import Theme, class_colours, lighter, quiet

THEMES: list[Theme] = ["light", "dark"]


def cells(label: Any, observed: Any, sure: float = 0.5) -> MatrixPiece:
    codes = np.array(label)
    return MatrixPiece(
        label=codes,
        observed=np.array(observed, bool),
        probability=np.full(codes.shape, sure, np.float16),
    )


def texts(piece: MatrixPiece) -> Any:
    return np.full(piece.label.shape, "words", dtype=object)


def colour_of(figure: Any, value: float) -> str:
    """The colour that a discrete scale gives a value."""
    heat = figure.data[0]
    share = (value - heat.zmin) / (heat.zmax - heat.zmin)
    return str([colour for edge, colour in heat.colorscale if edge <= share][-1])


@pytest.mark.parametrize("theme", THEMES)
def test_filled_cells_are_fainter_and_empty_ones_blank(theme: Theme) -> None:
    piece = cells([[0, 0, 1], [1, -1, 1]], [[1, 0, 0], [1, 0, 0]])
    figure = label_matrix(
        piece,
        texts(piece),
        ["ann", "<b>"],
        np.array([0, 0, 1]),
        ["cat", "dog"],
        shown=np.arange(2),
        theme=theme,
    )
    z = figure.data[0].z
    cat, dog = class_colours(2, theme)
    assert colour_of(figure, z[0][0]) == cat
    assert colour_of(figure, z[0][1]) == lighter(cat, theme)
    assert colour_of(figure, z[0][2]) == lighter(dog, theme)
    assert colour_of(figure, z[1][0]) == dog
    assert np.isnan(z[1][1])
    assert [trace.name for trace in figure.data[1:]] == ["cat", "dog"]
    assert list(figure.layout.yaxis.ticktext) == ["ann", "&lt;b&gt;"]
    assert list(figure.layout.xaxis.ticktext) == ["cat", "dog"]
    assert len(figure.layout.shapes) == 1  # between the two truths


def test_of_many_classes_the_commonest_have_colours() -> None:
    assert coloured(np.ones(10, int)).tolist() == list(range(10))
    sizes = np.arange(20)
    shown = coloured(sizes)
    assert shown.tolist() == list(range(11, 20))
    piece = cells([[0, 15]], [[1, 1]])
    figure = label_matrix(
        piece,
        texts(piece),
        ["w"],
        np.array([0, -1]),
        [f"c{i}" for i in range(20)],
        shown=shown,
        theme="light",
    )
    z = figure.data[0].z[0]
    assert colour_of(figure, z[0]) == quiet("light")
    assert colour_of(figure, z[1]) == class_colours(9, "light")[4]
    assert "other" in {trace.name for trace in figure.data}
    assert "undecided" in figure.layout.xaxis.ticktext


def test_many_rows_carry_no_names() -> None:
    n = MAX_NAMES + 1
    piece = cells(np.zeros((n, 1), int), np.zeros((n, 1)))
    figure = sureness_matrix(
        piece, texts(piece), [f"w{i}" for i in range(n)], np.zeros(1, int), ["a"], theme="dark"
    )
    assert len(figure.layout.yaxis.ticktext) == 0
    assert figure.data[0].z[0][0] == 0.5
    assert np.isnan(figure.data[1].z).all()


def test_bars_compare_shares_of_the_commonest_classes() -> None:
    observed, filled = np.array([1, 3]), np.array([30, 10])
    figure = class_bars(observed, filled, ["cat", "dog"], theme="light")
    assert figure.data[0].x.tolist() == [0.25, 0.75]  # filled in: dog, cat
    assert figure.data[1].x.tolist() == [0.75, 0.25]
    assert list(figure.layout.yaxis.ticktext) == ["dog", "cat"]
    many = class_bars(np.arange(40), np.zeros(40, int), [f"c{i}" for i in range(40)], theme="dark")
    assert len(many.data[0].x) == MAX_BARS
    assert np.isfinite(many.data[0].x).all()  # nothing was filled in


def test_sureness_is_drawn_in_its_bins() -> None:
    figure = sureness_histogram(np.array([0, 1, 2, 3]), theme="light")
    assert figure.data[0].x.tolist() == [0.125, 0.375, 0.625, 0.875]
    assert figure.data[0].customdata[3] == "75% to 100%"


def test_workers_lie_on_the_line_where_nothing_changed() -> None:
    frame = pd.DataFrame(
        {
            "worker": ["ann", "bob"],
            "own": [0.5, 0.9],
            "completed": [0.5, 0.7],
            "n_labels": [100, 25],
            "verdict": ["good", "random"],
        }
    )
    figure = quality_scatter(frame, ["a", "b"], theme="light", selected="bob")
    line, good, random, ring = figure.data
    assert list(line.x) == list(line.y)
    assert (good.x[0], good.y[0], good.customdata[0][0]) == (0.5, 0.5, "ann")
    assert good.marker.size[0] == 2 * random.marker.size[0]  # areas go with labels
    assert (ring.x[0], ring.y[0]) == (0.9, 0.7)
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
