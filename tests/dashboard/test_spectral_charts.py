from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from crowdcore.audit.spectral import density
from dashboard.charts.spectral import (
    MAX_EXPERTS,
    Mark,
    accuracy_scale,
    expert_bars,
    heaviest,
    point_sizes,
    spectral_scatter,
)

THEMES: list[Literal["light", "dark"]] = ["light", "dark"]

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
BLINDNESS = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


def draw(n: int, *, chosen: int = 0, theme: Literal["light", "dark"] = "light") -> Any:
    rng = np.random.default_rng(0)
    places = rng.normal(size=(n, 2))
    shares = rng.random(n)
    shares[0] = np.nan
    names = np.array([f"w{i}" for i in range(n)], dtype=object)
    star = Mark(name="oracle", position=np.array([50.0, 0]), symbol="star", strong=True)
    other = Mark(name="mean", position=np.zeros(2), symbol="star-open", strong=False)
    return spectral_scatter(
        places,
        names,
        names,
        shares=shares,
        against="right",
        labels=np.arange(1, n + 1),
        marks=[star, other],
        density=density(places),
        chosen=np.arange(n) < chosen,
        theme=theme,
    )


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("n", [1, 20, 2000])
def test_workers_lie_over_their_density_and_the_star_over_all(
    n: int, theme: Literal["light", "dark"]
) -> None:
    figure = draw(n, theme=theme)
    assert (figure.data[0].type == "contour") == (n > 2)
    assert figure.data[-1].marker.symbol == "star"
    assert figure.data[-2].marker.symbol == "star-open"
    points = sum(len(trace.x) for trace in figure.data if trace.customdata is not None)
    assert points == n
    assert figure.layout.xaxis.range[1] > 50  # the star is never cut off
    assert figure.layout.dragmode == "lasso"
    kinds = {trace.type for trace in figure.data} - {"contour"}
    assert kinds == {"scattergl" if n > 1500 else "scatter"}  # one layer, or the star would sink


def test_a_worker_of_unknown_accuracy_has_no_colour_of_the_scale() -> None:
    (unknown,) = draw(20).select_traces({"marker.symbol": "circle-open"})
    assert unknown.marker.coloraxis is None
    assert unknown.customdata[0][0] == "w0"


def test_chosen_workers_stand_out_and_the_others_back() -> None:
    (known,) = draw(20, chosen=4).select_traces({"marker.symbol": "circle"})
    assert (np.asarray(known.marker.opacity) == 1).sum() == 3  # and w0, who has no accuracy
    assert known.marker.line.width[0] > known.marker.line.width[-1]


def test_areas_go_with_labels_and_points_shrink_in_a_crowd() -> None:
    sizes = point_sizes(np.array([25, 100]))
    assert sizes[1] == pytest.approx(2 * sizes[0])
    assert point_sizes(np.full(2000, 5)).max() < sizes[1]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", list(BLINDNESS))
def test_the_scale_can_be_read_by_the_colour_blind(
    kind: str, theme: Literal["light", "dark"]
) -> None:
    colours = [
        [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for _, colour in accuracy_scale(theme)
    ]
    seen = np.clip((np.array(colours) ** 2.2) @ np.array(BLINDNESS[kind]).T, 0, 1) ** (1 / 2.2)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)
    assert apart[np.triu_indices(len(seen), 1)].min() > 0.2
    assert apart[0, -1] > 0.4


def test_bars_show_the_experts_that_matter_in_either_blend() -> None:
    own, oracle = np.zeros(60), np.full(60, 0.001)
    own[59], oracle[30] = 0.9, 0.8
    shown = heaviest(own, oracle)
    assert len(shown) == MAX_EXPERTS
    assert {59, 30} <= set(shown.tolist())
    figure = expert_bars(own, oracle, "<b>evil", theme="dark")
    assert figure.data[0].y[-1] == 0.9
    assert figure.layout.xaxis.ticktext[-1] == 60
    assert "<b>" not in figure.data[0].name
