"""The ordered probit: steps of unequal width, and what it says of many values."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from crowdcore.data import CrowdData
from crowdcore.registry import fit
from crowdcore.simulation.ratings import simulate_ratings

CUTS = np.array([-1.6, -1.2, 0.2, 1.8])
"""Where the steps of the scale end: the second one is narrow, the fourth wide."""


def likert_crowd(seed: int = 0) -> tuple[CrowdData, np.ndarray]:
    """Five steps of unequal width, workers with biases; and the hidden numbers of the items."""
    rng = np.random.default_rng(seed)
    hidden, bias = rng.normal(size=300), rng.normal(0, 0.5, 25)
    item = np.repeat(np.arange(300), 5)
    worker = np.concatenate([rng.permutation(25)[:5] for _ in range(300)])
    seen = hidden[item] + bias[worker] + rng.normal(0, 0.5, len(item))
    data = CrowdData(
        item=item,
        worker=worker,
        label=1.0 + np.searchsorted(CUTS, seen),
        items=tuple(f"i{n}" for n in range(300)),
        workers=tuple(f"w{n}" for n in range(25)),
        kind="ratings",
    )
    return data, hidden


def test_items_are_ordered_better_than_by_the_mean() -> None:
    data, hidden = likert_crowd()
    of_ranks = {
        name: spearmanr(fit(data, name).truth, hidden).statistic for name in ("mean", "ordinal")
    }
    assert of_ranks["ordinal"] > 0.95
    assert 1 - of_ranks["ordinal"] < 0.85 * (1 - of_ranks["mean"])


def test_workers_biases_are_told_in_hidden_units() -> None:
    data, hidden = likert_crowd()
    result = fit(data, "ordinal")
    noise = result.worker_scores["latent_noise"]
    assert (noise > 0).all()
    error = np.bincount(data.worker, data.label - 1 - np.searchsorted(CUTS, hidden)[data.item])
    assert np.corrcoef(result.worker_scores["latent_bias"], error)[0, 1] > 0.85
    assert result.truth.min() >= 1
    assert result.truth.max() <= 5


def test_many_different_values_are_grouped_and_that_is_said() -> None:
    data = simulate_ratings(items=80, workers=10, seed=1).data
    assert data.gold is not None
    result = fit(data, "ordinal")
    assert any("grouped into 11 steps that occur" in note for note in result.provenance.notes)
    assert np.corrcoef(result.truth, data.gold)[0, 1] > 0.9
    steps = simulate_ratings(items=80, workers=10, steps=10, seed=1).data
    assert not any("grouped" in note for note in fit(steps, "ordinal").provenance.notes)
