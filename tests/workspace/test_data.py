"""Data sets come back as they were saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.reading.features.encoders import (
    CategoryColumn,
    FeatureColumn,
    NumberColumn,
    TextColumn,
)
from crowdcore.reading.features.pictures import PictureForm
from crowdcore.reading.features.recipe import FeatureRecipe
from crowdcore.reading.features.texts import learn_texts
from crowdcore.workspace import Workspace
from tests.workspace.samples import assert_same_data, rich_data, small_data


def _saved(root: Path, data: CrowdData) -> tuple[Workspace, str]:
    workspace = Workspace(root)
    project = workspace.create_project("Birds")
    return workspace, workspace.add_data(project.id, data, name="labels.csv").id


def _ratings() -> CrowdData:
    return CrowdData(
        item=np.array([0, 1]),
        worker=np.array([0, 0]),
        label=np.array([0.1 + 0.2, -3.0]),
        items=("a", "b"),
        workers=("w",),
        kind="ratings",
        gold=np.array([np.nan, 2.5]),
    )


def _sequence() -> CrowdData:
    return CrowdData(
        item=np.array([0, 1, 2]),
        worker=np.array([0, 0, 0]),
        label=np.array([0, 1, 0]),
        items=("a", "b", "c"),
        workers=("w",),
        classes=("O", "B"),
        kind="sequences",
        offsets=np.array([0, 2, 3], np.int64),
    )


def _pictures() -> CrowdData:
    return replace(
        small_data(),
        features=np.random.default_rng(0).random((4, 3, 8, 8), np.float32),
        recipe=FeatureRecipe(pictures=PictureForm(size=8, channels=3)),
    )


def _texts() -> CrowdData:
    columns: tuple[FeatureColumn, ...] = (
        NumberColumn(name="=1+1", width=2),
        CategoryColumn(name="Ζωή 🙂", values=("ja", "nein")),
    )
    space = learn_texts(["one cat", "two cats", "one dog"])
    assert space is not None
    columns += (TextColumn(name="../text", space=space),)
    recipe = FeatureRecipe(key="id", columns=columns)
    values = np.ones((4, len(recipe.names)), np.float32)
    return replace(small_data(), features=values, feature_names=recipe.names, recipe=recipe)


@pytest.mark.parametrize("make", [small_data, rich_data, _ratings, _sequence, _pictures, _texts])
def test_data_come_back_bit_by_bit(tmp_path: Path, make: object) -> None:
    assert callable(make)
    data = make()
    workspace, dataset_id = _saved(tmp_path, data)
    assert_same_data(Workspace(workspace.root).load_data(dataset_id), data)


def test_a_data_set_knows_its_facts_without_being_read(tmp_path: Path) -> None:
    workspace, dataset_id = _saved(tmp_path, rich_data())
    facts = workspace.dataset(dataset_id)
    assert (facts.n_labels, facts.n_items, facts.n_workers, facts.n_classes) == (4, 4, 2, 4)
    assert (facts.n_gold, facts.n_features, facts.kind) == (2, 2, "classes")
    assert facts.fingerprint == rich_data().fingerprint
    assert workspace.report(dataset_id) == rich_data().report


def test_the_numbers_of_a_picture_are_its_features(tmp_path: Path) -> None:
    workspace, dataset_id = _saved(tmp_path, _pictures())
    assert workspace.dataset(dataset_id).n_features == 3 * 8 * 8


def test_the_same_data_are_saved_once_in_a_project_and_newest_come_first(tmp_path: Path) -> None:
    workspace, first = _saved(tmp_path, small_data())
    project_id = workspace.dataset(first).project_id
    assert workspace.add_data(project_id, small_data(), name="again.csv").id == first
    second = workspace.add_data(project_id, small_data(1), name="../../more.csv").id
    assert [one.id for one in workspace.datasets(project_id)] == [second, first]
    assert len(list((tmp_path / "data").iterdir())) == 2
    other = workspace.create_project("Cats")
    assert workspace.add_data(other.id, small_data(), name="labels.csv").id != first


def test_the_item_table_names_gold_details_and_counts(tmp_path: Path) -> None:
    workspace, dataset_id = _saved(tmp_path, rich_data())
    table = workspace.item_table(dataset_id)
    assert list(table) == ["item", "gold", "text", "gold (detail)", "n_labels"]
    assert list(table["item"]) == list(rich_data().items)
    assert list(table["gold"]) == ["null", "", "", "never given"]
    assert list(table["n_labels"]) == [2, 0, 2, 0]


def test_the_item_table_has_a_gold_column_without_gold(tmp_path: Path) -> None:
    data = CrowdData.from_triples([("a", "w", "x"), ("b", "w", "x")])
    workspace, dataset_id = _saved(tmp_path, data)
    assert list(workspace.item_table(dataset_id)["gold"]) == ["", ""]


def test_the_tables_of_ratings_hold_numbers(tmp_path: Path) -> None:
    workspace, dataset_id = _saved(tmp_path, _ratings())
    assert list(workspace.label_table(dataset_id)["label"]) == [0.1 + 0.2, -3.0]
    assert workspace.item_table(dataset_id)["gold"].isna().tolist() == [True, False]


def test_the_label_table_holds_names_as_categories_in_the_order_of_the_codes(
    tmp_path: Path,
) -> None:
    data = rich_data()
    workspace, dataset_id = _saved(tmp_path, data)
    table = workspace.label_table(dataset_id)
    assert list(table) == ["item", "worker", "label", "time"]
    for name, names in [("item", data.items), ("worker", data.workers), ("label", data.classes)]:
        assert isinstance(table[name].dtype, pd.CategoricalDtype)
        assert tuple(table[name].cat.categories) == names
    assert list(table["label"]) == ["null", "", "ja", "ja"]


def test_a_broken_character_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    data = CrowdData.from_triples([("a\ud800", "w", "x")])
    with pytest.raises(DataError, match="broken character"):
        _saved(tmp_path, data)
    assert not list((tmp_path / "data").iterdir())
