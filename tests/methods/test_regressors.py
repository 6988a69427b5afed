"""Methods that learn ratings from features: what they tell of rated and of further items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.engine.learning.classifier import FILE, Classifier
from crowdcore.engine.learning.ridge import fit_ridge
from crowdcore.registry import fit, methods
from crowdcore.results.result import Result
from crowdcore.simulation.ratings import simulate_ratings
from tests.cli.calling import call, rows

N_RATED = 150
QUICK: dict[str, Any] = {"epochs": 25, "rate": 0.01}


def crowd(seed: int = 1) -> tuple[CrowdData, NDArray[np.float32], Floats]:
    """Rated items with features and gold; features and truths of a hundred further items."""
    whole = simulate_ratings(
        items=N_RATED + 100, workers=12, ratings_per_item=4, features=8, seed=seed
    ).data
    assert whole.gold is not None
    assert whole.features is not None
    rated = whole.only(whole.item < N_RATED)
    data = replace(
        rated,
        items=whole.items[:N_RATED],
        gold=whole.gold[:N_RATED],
        features=whole.features[:N_RATED],
    )
    return data, whole.features[N_RATED:], whole.gold[N_RATED:]


def fitted(name: str, data: CrowdData, **params: Any) -> Result:
    blind = data if name == "dl_true" or "calibrate" in params else replace(data, gold=None)
    return fit(blind, name, **({} if name == "ridge" else QUICK), **params)


def learnt(result: Result) -> Classifier:
    classifier = Classifier.from_result(result)
    assert classifier is not None
    return classifier


REGRESSORS = sorted(
    name for name, method in methods(kind="ratings").items() if TrainedNetwork in method.leaves
)


@pytest.mark.parametrize("name", REGRESSORS)
def test_further_items_get_numbers_near_their_truths_with_intervals_that_hold(name: str) -> None:
    data, features, truth = crowd()
    told = learnt(fitted(name, data)).predict_numbers(features)
    assert np.corrcoef(told.truth, truth)[0, 1] > 0.6
    assert np.sqrt(((told.truth - truth) ** 2).mean()) < truth.std()
    assert ((told.low <= truth) & (truth <= told.high)).mean() > 0.8
    assert (told.high - told.low).mean() < 6  # of a scale from 0 to 10


def test_rated_items_get_what_the_net_says_of_them() -> None:
    data, _, _ = crowd()
    result = fitted("dl_gauss", data)
    assert data.features is not None
    told = learnt(result).predict_numbers(data.features)
    for name in ("truth", "spread", "low", "high"):
        np.testing.assert_allclose(getattr(told, name), getattr(result, name), rtol=1e-4)


def test_em_joins_features_and_ratings_and_does_not_collapse() -> None:
    """Truths follow their ratings more closely than the net, and beat both alone."""
    data, _, _ = crowd()
    result = fitted("dl_em", data)
    assert data.gold is not None
    assert data.features is not None
    told = learnt(result).predict_numbers(data.features).truth
    means = fit(replace(data, gold=None), "mean").truth
    error = {
        name: float(np.sqrt(((truth - data.gold) ** 2).mean()))
        for name, truth in {"em": result.truth, "net": told, "mean": means}.items()
    }
    assert error["em"] < 0.8 * min(error["mean"], error["net"])
    assert np.abs(result.truth - means).mean() < 0.6 * np.abs(told - means).mean()


def test_the_layer_learns_who_is_lenient() -> None:
    simulated = simulate_ratings(
        items=250, workers=12, ratings_per_item=5, features=8, seed=2,
        shares={"lenient": 0.25, "strict": 0.25},
    )  # fmt: skip
    result = fitted("crowd_layer", simulated.data, layer="b")
    assert np.corrcoef(result.worker_scores["bias"], simulated.bias)[0, 1] > 0.8
    both = fitted("crowd_layer", simulated.data, layer="s+b")
    assert set(both.worker_scores) == {"bias", "slope"}


def test_what_was_learnt_comes_back_from_its_file_the_same(tmp_path: Path) -> None:
    data, features, _ = crowd()
    here = learnt(fitted("ridge", replace(data, label=data.label + 1), scale="log"))
    here.save(tmp_path / FILE)
    there = Classifier.load(tmp_path / FILE)
    first, second = here.predict_numbers(features), there.predict_numbers(features)
    np.testing.assert_array_equal(first.truth, second.truth)
    assert (first.low > 0).all()  # on logarithms
    with pytest.raises(DataError, match="numbers instead of classes"):
        there.predict(features)


def test_gold_that_moves_the_truths_moves_predictions_too() -> None:
    data, _, _ = crowd()
    assert data.gold is not None
    assert data.features is not None
    doubled = 2 * data.gold + 3
    result = fitted("ridge", replace(data, gold=doubled), calibrate="gold")
    told = learnt(result).predict_numbers(data.features).truth
    np.testing.assert_allclose(told, result.truth, rtol=1e-4)
    assert abs(result.truth.mean() - doubled.mean()) < 1


def test_errors_of_left_out_items_are_those_of_fits_without_them() -> None:
    rng = np.random.default_rng(0)
    for n, width in ((30, 5), (20, 40)):
        x = rng.normal(size=(n, width))
        y = x[:, 0] + rng.normal(size=n)
        whole = fit_ridge(x, y)
        centred = x - x.mean(0)
        residual = y - whole.intercept - x @ whole.weight
        # The penalty that was chosen follows from the normal equations of the weights.
        penalty = float(centred.T.dot(residual) @ whole.weight / (whole.weight @ whole.weight))
        others = np.arange(n) != 3
        mean_x, mean_y = x[others].mean(0), y[others].mean()
        rest = x[others] - mean_x
        weight = np.linalg.solve(
            rest.T @ rest + penalty * np.eye(width), rest.T @ (y[others] - mean_y)
        )
        expected = y[3] - mean_y - (x[3] - mean_x) @ weight
        np.testing.assert_allclose(whole.left_out[3], expected, rtol=1e-6)


def test_sparse_counts_are_scaled_together_and_plain_measures_one_by_one() -> None:
    data, _, _ = crowd()
    assert data.features is not None
    mixed_units = data.features * 10.0 ** np.arange(8)
    of_units = learnt(fitted("ridge", replace(data, features=mixed_units.astype(np.float32))))
    assert np.ptp(of_units.network.scale) > 1
    rng = np.random.default_rng(3)
    rare = (rng.random((N_RATED, 300)) < 0.02).astype(np.float32)
    words = np.hstack([data.features, 0.2 * rare]).astype(np.float32)
    together = learnt(fitted("ridge", replace(data, features=words)))
    assert np.ptp(together.network.scale) == 0


def test_the_command_tells_numbers_of_new_items(tmp_path: Path) -> None:
    data, features, _ = crowd()
    learnt(fitted("ridge", data)).save(tmp_path / FILE)
    names = np.array([f"new{n}" for n in range(len(features))])
    np.savez(tmp_path / "new.npz", item=names, x=features)
    out = tmp_path / "predicted.csv"
    done = call("predict", tmp_path / FILE, tmp_path / "new.npz", "--out", out)
    assert "mean spread" in done.output
    first = rows(out)[0]
    assert list(first) == ["item", "truth", "spread", "low", "high"]
    assert first["item"] == "new0"
    assert float(first["low"]) < float(first["truth"]) < float(first["high"])
