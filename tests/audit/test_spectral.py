from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.artefacts.spectral import SpectralSpace
from crowdcore.audit.spectral import (
    blends,
    centre_facts,
    changed_items,
    comparable_items,
    density,
    distance,
)
from crowdcore.results.result import Result
from tests.blending import blending


def crowd(*, unlabelled: int = 0) -> CrowdData:
    triples = [(f"i{i}", f"w{w}", "ab"[i % 2]) for i in range(12) for w in range(4)]
    gold = {f"i{i}": "ab"[i % 2] for i in range(6)}
    gold |= {f"bare{i}": "a" for i in range(unlabelled)}
    return CrowdData.from_triples(triples, gold=gold)


def space_of(result: Result) -> SpectralSpace:
    space = result.artefact(SpectralSpace)
    assert space is not None
    return space


def test_the_same_blend_is_no_distance_however_strong_it_is() -> None:
    oracle = np.array([0.2, 0.8, 0.0])
    distances = distance(np.array([[2, 8, 0], [0, 0, 3], [1, 0, 1], [0, 0, 0.0]]), oracle)
    assert distances == pytest.approx([0, 1, 0.8, 1])


def test_blends_add_up_to_one_unless_there_is_no_weight() -> None:
    assert blends(np.array([[1, 3], [0, 0]])).tolist() == [[0.25, 0.75], [0, 0]]


def test_a_centre_changes_the_items_that_it_sees_otherwise_the_surest_first() -> None:
    result = blending(fit(crowd(), "mv"), moved=3)
    space = space_of(result)
    space.confidence[2, :3] = [0.6, 0.9, 0.7]
    assert changed_items(result, space, "mean").tolist() == [1, 2, 0]
    assert not len(changed_items(result, space, "kde_w"))


def test_every_centre_is_held_against_gold_that_the_fit_has_not_seen() -> None:
    result = blending(fit(crowd(), "mv"), moved=3)
    used, _, mean = centre_facts(result, space_of(result))
    assert (used.name, used.n_changed, used.distance) == ("kde", 0, 0)
    assert used.score is not None
    assert mean.score is not None
    assert (used.score.correct, used.score.n) == (6, 6)
    assert (mean.n_changed, mean.score.correct) == (3, 3)
    assert mean.distance > 0


def test_gold_that_the_fit_has_seen_judges_no_centre() -> None:
    result = blending(fit(crowd(), "mv"))
    result = replace(result, provenance=replace(result.provenance, used_gold=True))
    assert all(one.score is None for one in centre_facts(result, space_of(result)))


def test_without_features_an_item_without_labels_cannot_change() -> None:
    result = fit(crowd(unlabelled=2), "mv")
    everything = blending(result, moved=result.data.n_items)
    assert comparable_items(everything, space_of(everything)).all()
    told = blending(result, moved=result.data.n_items, origin="labels")
    assert comparable_items(told, space_of(told)).sum() == 12
    assert centre_facts(told, space_of(told))[2].n_changed == 12


def test_a_density_peaks_where_points_are_thickest() -> None:
    rng = np.random.default_rng(0)
    far = rng.normal([4, 9], 0.3, (40, 2))
    estimate = density(np.vstack([rng.normal([0, 0], 2.0, (10, 2)), far]))
    assert estimate is not None
    y, x = np.unravel_index(estimate.height.argmax(), estimate.height.shape)
    assert estimate.x[x] == pytest.approx(4, abs=0.7)
    assert estimate.y[y] == pytest.approx(9, abs=0.9)
    assert estimate.height.max() == 1
    assert estimate.height[0, 0] < 0.05


@pytest.mark.parametrize(
    "places", [np.zeros((0, 2)), np.eye(2), np.zeros((9, 2)), np.outer(np.arange(9.0), [1, 0])]
)
def test_points_without_width_have_no_density(places: np.ndarray) -> None:
    assert density(places) is None
