"""The crowd layer's table: who takes part, on what they are scored, and what they never see."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdcore.bench.papers import crowd_layer, reproduce
from crowdcore.bench.papers.crowd_layer import PUBLISHED, digits, taking_part
from crowdcore.bench.variants import Variant
from crowdcore.data import DataError
from crowdcore.registry import get_method, methods
from tests.featured import featured_crowd

LEARNT = 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The crowd with features under the name of the paper's data set; the last items are tests."""
    crowd, place = featured_crowd(), tmp_path / "labelme"
    data, names = crowd.data, np.array(crowd.data.items)
    place.mkdir()
    assert data.features is not None
    truth = np.array(data.classes)[crowd.truth]
    triples = zip(data.item, data.worker, data.label, strict=True)
    labels = [("task", "worker", "label")]
    labels += [(names[i], data.workers[w], data.classes[k]) for i, w, k in triples if i < LEARNT]
    with (place / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(labels)
    with (place / "truth.csv").open("w", newline="") as file:
        rows = zip(names[:LEARNT], truth[:LEARNT], strict=True)
        csv.writer(file).writerows([("task", "truth"), *rows])
    parts = {"features": slice(0, LEARNT), "test": slice(LEARNT, None)}
    for name, part in parts.items():
        extra: dict[str, Any] = {"truth": truth[part]} if name == "test" else {}
        np.savez(place / f"{name}.npz", task=names[part], x=data.features[part], **extra)
    return tmp_path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def few() -> Iterator[Variant]:
        for name in ("dl_mv", "dl_true", "aali"):
            method = get_method(name)
            yield Variant(title=name, method=method, params=dict(method.quick))

    monkeypatch.setattr(crowd_layer, "SEEDS", 2)
    monkeypatch.setattr(crowd_layer, "DIGITS_LEARNT", 120)
    monkeypatch.setattr(crowd_layer, "taking_part", few)


@pytest.mark.usefixtures("quick")
def test_classifiers_are_scored_on_items_without_labels(folder: Path) -> None:
    told: list[str] = []
    real, simulated = reproduce("crowd-layer", folder, told.append)
    assert "100 test items" in real.title
    rows = {row[0]: dict(zip(real.header, row, strict=True)) for row in real.rows}
    assert rows["dl_mv"]["paper"] == "76.74 ± 1.21"
    assert 60 < float(rows["dl_mv"]["test"].split(" ± ")[0]) <= 100
    assert 60 < float(rows["dl_mv"]["as published"].split(" ± ")[0]) <= 100
    assert rows["aali"]["as published"] == "–"  # the paper does not have it
    assert rows["dl_true"]["labelled"] == "–"  # it was told these answers
    assert rows["aali"]["test"] == "–"  # it leaves no classifier
    assert rows["aali"]["labelled"] != "–"
    assert [row[0] for row in simulated.rows] == ["dl_mv", "dl_true", "aali"]
    assert len(told) == 6


def test_the_whole_family_takes_part_and_every_layer() -> None:
    titles = [row.title for row in taking_part()]
    family = {name for name, method in methods().items() if method.family == "classifiers"}
    assert {title.split()[0] for title in titles} == family
    assert [title for title in titles if title.startswith("crowd_layer")] == [
        "crowd_layer vw", "crowd_layer vb", "crowd_layer vw+b", "crowd_layer mw",
    ]  # fmt: skip


def test_a_method_is_trained_as_published_where_it_can_be() -> None:
    layer = get_method("crowd_layer").configure(PUBLISHED)
    assert not layer.model_dump()["gain"]
    assert PUBLISHED.keys() - get_method("dl_mv").config.model_fields.keys() == {"pace", "gain"}


def test_digits_carry_no_gold_and_tests_are_others() -> None:
    dataset = digits(1, seed=0)
    assert dataset.data.gold is None
    assert dataset.data.n_labels == dataset.data.n_items == 1000
    assert dataset.data.features is not None
    assert len(dataset.data.features) + dataset.n_tested == 1797
    assert not np.array_equal(dataset.data.label, dataset.truth)


def test_a_folder_without_the_sets_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"labelme and music, each with a test\.npz"):
        reproduce("crowd-layer", tmp_path, lambda _: None)
