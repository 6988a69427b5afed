"""The bench of worklist and spend plan, on a simulated crowd."""

from __future__ import annotations

from dataclasses import replace

from crowdcore.bench.datasets import DataSet
from crowdcore.bench.spending import label_areas, look_areas
from crowdcore.simulation.classes import simulate


def dataset(labels_per_item: int) -> DataSet:
    crowd = simulate(
        items=200, workers=25, classes=4, labels_per_item=labels_per_item, features=0, seed=8
    )
    data = replace(crowd.data, gold=None)
    return DataSet(name="simulated", data=data, truth=crowd.truth.astype("int32"), unlabelled=0)


def test_the_plan_beats_random_and_least_confident_buying_at_equal_cost() -> None:
    areas = {area.strategy: area.area for area in label_areas(dataset(12), 3)}
    assert areas["random"] == 0
    assert areas["plan"] > max(areas["least confident"], 0) + 0.005
    assert areas["plan, any worker"] > 0


def test_the_worklist_beats_looking_at_random() -> None:
    areas = {area.strategy: area.area for area in look_areas(dataset(3))}
    assert areas["worklist"] > 0.005
