"""The crowd layer's table of ratings: who takes part, on what they are scored."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from crowdcore.bench.papers import crowd_layer_ratings, reproduce
from crowdcore.bench.papers.crowd_layer_ratings import taking_part, weigh_words
from crowdcore.bench.rated_sets import load_rated
from crowdcore.bench.variants import Variant
from crowdcore.data import DataError
from crowdcore.registry import get_method
from crowdcore.simulation.ratings import simulate_ratings

LEARNT = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rated items whose features are counts, under the name of the paper's data set."""
    data = simulate_ratings(items=180, workers=8, features=6, seed=3).data
    place = tmp_path / "movie_reviews"
    place.mkdir()
    assert data.gold is not None
    assert data.features is not None
    counts = np.maximum(np.round(2 + data.features), 0)
    with (place / "labels.csv").open("w", newline="") as file:
        triples = zip(data.item, data.worker, data.label, strict=True)
        rows = [(data.items[i], data.workers[w], y) for i, w, y in triples if i < LEARNT]
        csv.writer(file).writerows([("task", "worker", "label"), *rows])
    with (place / "truth.csv").open("w", newline="") as file:
        known = zip(data.items[:LEARNT], data.gold[:LEARNT], strict=True)
        csv.writer(file).writerows([("task", "truth"), *known])
    np.savez(place / "features.npz", task=np.array(data.items[:LEARNT]), x=counts[:LEARNT])
    np.savez(place / "test.npz", x=counts[LEARNT:], truth=data.gold[LEARNT:])
    return tmp_path


def test_networks_are_scored_on_items_that_nobody_rated(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few() -> Iterator[Variant]:
        for name in ("dl_true", "crowd_layer", "ridge"):
            method = get_method(name, kind="ratings")
            yield Variant(title=name, method=method, params=dict(method.quick))

    monkeypatch.setattr(crowd_layer_ratings, "taking_part", few)
    told: list[str] = []
    (table,) = reproduce("crowd-layer-ratings", folder, told.append, seeds=2)
    assert "60 test reviews" in table.title
    rows = {row[0]: row for row in table.rows}
    position = table.header.index("R²")
    assert rows["dl_true"][position + 1] == "45.98 ± 2.90"
    assert 20 < float(rows["ridge"][position]) < 100
    assert "±" in rows["crowd_layer"][position]
    assert rows["dl_true"][table.header.index("labelled")] == "–"  # it was told these numbers
    assert "correlation crowd_layer" in table.notes[-1]
    assert told == ["dl_true", "crowd_layer", "ridge"]


def test_the_whole_family_takes_part_and_every_layer() -> None:
    titles = [variant.title for variant in taking_part()]
    assert set(crowd_layer_ratings.PAPER) <= set(titles)
    assert {"ridge on mean", "ridge on gauss", "dl_gauss"} <= set(titles)


def test_words_are_weighed_by_the_rated_reviews_alone(folder: Path) -> None:
    counted = load_rated(folder / "movie_reviews")
    weighed = weigh_words(counted)
    assert weighed.data.features is not None
    assert weighed.test is not None
    assert counted.test is not None
    np.testing.assert_allclose(np.linalg.norm(weighed.data.features, axis=1), 1, rtol=1e-5)
    assert ((weighed.test.features > 0) == (counted.test.features > 0)).all()


def test_a_folder_without_the_set_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"movie_reviews, with its test\.npz"):
        reproduce("crowd-layer-ratings", tmp_path, lambda _: None)
