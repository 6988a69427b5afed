"""Figures of the papers: what is drawn lies where the numbers say."""

from __future__ import annotations

import numpy as np

from crowdcore.bench.charts import against_true


def test_estimates_stand_over_the_true_values_with_their_spread() -> None:
    true = np.array([[0.8, 0.6], [0.7, 0.7]])
    found = np.array([true - 0.1, true + 0.1])
    figure = against_true("t", true, {"one": found, "other": found + 0.05})
    spots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in spots] == 2 * ["sensitivity", "specificity"]
    np.testing.assert_allclose(spots[0].x, true[0], atol=0.01)
    np.testing.assert_allclose(spots[0].y, true[0])
    np.testing.assert_allclose(spots[3].y, true[1] + 0.05)
    np.testing.assert_allclose(spots[0].error_y.array, np.sqrt(2) * 0.1)
    assert spots[1].x[0] != spots[1].x[1]  # two experts of one ability do not cover each other
    assert [note.text for note in figure.layout.annotations] == ["one", "other"]
