"""ROC curves on gold: as scikit-learn draws them, and only where they mean something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from crowdcore import fit
from crowdcore.audit.roc import MAX_POINTS, roc_curves
from crowdcore.data import UNKNOWN
from crowdcore.results.result import Result
from tests.crowds import easy_crowd, golden_crowd


def with_posterior(result: Result, seed: int) -> Result:
    """Other beliefs, with many equal ones among them."""
    rng = np.random.default_rng(seed)
    wide = rng.integers(1, 6, result.posterior.shape).astype(float)
    return result.with_fields(posterior=wide / wide.sum(1, keepdims=True))


@pytest.mark.parametrize("classes", [2, 3])
def test_areas_are_those_of_scikit_learn_also_where_scores_are_equal(classes: int) -> None:
    data = golden_crowd(classes)
    result = with_posterior(fit(data, "mv"), 0)
    curves = roc_curves(result)
    assert curves is not None
    assert data.gold is not None
    for curve in curves.curves:
        code = data.classes.index(curve.name)
        area = roc_auc_score(data.gold == code, result.posterior[:, code])
        assert curve.auc == pytest.approx(area)
        assert curve.n == (data.gold == code).sum()
        assert (
            curve.false_positive_rate[0],
            curve.true_positive_rate[0],
            curve.false_positive_rate[-1],
            curve.true_positive_rate[-1],
        ) == (0, 0, 1, 1)


def test_two_classes_have_the_curve_of_the_second_and_no_average() -> None:
    curves = roc_curves(fit(golden_crowd(2), "ds"))
    assert curves is not None
    assert [curve.name for curve in curves.curves] == ["rest"]
    assert curves.average is None
    assert curves.macro_auc == curves.curves[0].auc


def test_more_classes_have_an_average_in_which_all_count_the_same() -> None:
    curves = roc_curves(with_posterior(fit(golden_crowd(), "mv"), 1))
    assert curves is not None
    assert curves.average is not None
    assert curves.average.auc == pytest.approx(np.mean([curve.auc for curve in curves.curves]))
    between = np.trapezoid(curves.average.true_positive_rate, curves.average.false_positive_rate)
    assert between == pytest.approx(curves.macro_auc, abs=0.02)


def test_sure_and_right_is_an_area_of_one_and_the_other_way_round_of_none() -> None:
    data = golden_crowd(2)
    assert data.gold is not None
    right = np.eye(2)[data.gold]
    result = fit(data, "mv")
    areas = [roc_curves(result, share) for share in (right, 1 - right)]
    assert [one.macro_auc for one in areas if one is not None] == [1, 0]


def test_without_gold_that_the_method_has_not_seen_there_is_no_curve() -> None:
    data = golden_crowd()
    assert roc_curves(fit(replace(data, gold=None), "mv")) is None
    assert roc_curves(fit(data, "ds", use_gold=True)) is None
    assert data.gold is not None
    one = np.where(data.gold == 1, 1, UNKNOWN)
    assert roc_curves(fit(replace(data, gold=one), "mv")) is None  # nothing to tell it from


def test_classes_without_gold_have_no_curve() -> None:
    data = golden_crowd()
    assert data.gold is not None
    two = np.where(data.gold == 2, UNKNOWN, data.gold)
    curves = roc_curves(fit(replace(data, gold=two), "mv"))
    assert curves is not None
    assert [curve.name for curve in curves.curves] == list(data.classes[:2])


def test_long_curves_are_thinned_and_keep_their_ends_and_area() -> None:
    data = easy_crowd(2)
    rng = np.random.default_rng(2)
    many = replace(
        fit(data, "mv"),
        data=replace(data, items=tuple(map(str, range(5000))), gold=rng.integers(0, 2, 5000)),
    )
    score = rng.random(5000)
    curves = roc_curves(many, np.stack([1 - score, score], 1))
    assert curves is not None
    (curve,) = curves.curves
    assert len(curve.true_positive_rate) == MAX_POINTS
    assert (curve.true_positive_rate[-1], curve.false_positive_rate[-1]) == (1, 1)
    assert curve.auc == pytest.approx(roc_auc_score(many.data.gold, score))
