"""Recipes make the features of new items as they made those of the old."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.reading import open_table, read_labels
from crowdcore.reading.features.read import read_new_features
from crowdcore.reading.features.recipe import FeatureRecipe
from tests.reading.tables import table
from tests.reading.test_feature_columns import ITEMS, LABELS, csv, texts
from tests.reading.test_features import MATRIX, npy, npz
from tests.reading.test_pictures import GREY, RED, packed, picture

CELLS = [f"{place},{'yes' if place % 2 else 'no'},{one}" for place, one in enumerate(texts())]
TABLE = csv("age,member,text", CELLS)
PICTURES = packed(t1__png=picture(RED), t2__png=picture(GREY))


def of_table() -> CrowdData:
    return read_labels(LABELS, features=TABLE)


def of_pictures() -> CrowdData:
    return read_labels(table(), features=PICTURES, picture_size=16)


def again(recipe: FeatureRecipe) -> FeatureRecipe:
    """The recipe after a journey through JSON and arrays."""
    facts, arrays = recipe.pack()
    return FeatureRecipe.unpack(json.loads(json.dumps(facts)), arrays)


@pytest.mark.parametrize(("make", "source"), [(of_table, TABLE), (of_pictures, PICTURES)])
def test_the_same_file_gives_the_same_features_bit_by_bit(
    make: Callable[[], CrowdData], source: bytes
) -> None:
    data = make()
    rows = again(data.recipe).apply(source)
    assert rows.ids == data.items
    assert data.features is not None
    assert rows.values.tobytes() == data.features.tobytes()
    assert rows.names == data.feature_names


def test_an_item_has_the_same_features_whatever_stands_beside_it() -> None:
    data = of_table()
    part = b"\n".join([TABLE.splitlines()[0], *TABLE.splitlines()[8:11]])
    assert data.features is not None
    assert np.array_equal(data.recipe.apply(part).values, data.features[7:10])


def test_two_recipes_are_equal_when_they_say_the_same() -> None:
    recipe = of_table().recipe
    assert recipe == again(recipe)
    assert hash(recipe) == hash(again(recipe))
    assert recipe != read_labels(LABELS, features=csv("age", ["1"] * len(ITEMS))).recipe
    assert recipe != of_pictures().recipe


def test_new_words_and_values_count_as_nothing_and_the_values_are_told() -> None:
    rows = of_table().recipe.apply(b"item,age,member,text\nn1,5,maybe,zzz qqq\n")
    assert rows.values[0, :3].tolist() == [5, 0, 0]
    assert not rows.values[0, 3:].any()
    (found,) = rows.findings
    assert (found.severity, found.examples) == ("warning", ("'member': 'maybe'",))


def test_colour_is_turned_to_grey_where_grey_was_learnt() -> None:
    grey = read_labels(table(), features=packed(t1__png=picture(GREY), t2__png=picture(GREY)))
    rows = grey.recipe.apply(packed(new__png=picture(RED)))
    assert rows.values.shape == (1, 1, 32, 32)
    assert rows.values.max() == pytest.approx(0.299 * 200 / 255, abs=0.003)
    told = {finding.id: finding.count for finding in rows.findings}
    assert told["features_turned_grey"] == 1


def test_pictures_of_one_name_in_two_folders_keep_their_folders() -> None:
    recipe = of_pictures().recipe
    apart = recipe.apply(packed(a___x__png=picture(), b___y__png=picture()))
    alike = recipe.apply(packed(a___x__png=picture(), b___x__png=picture()))
    assert (apart.ids, alike.ids) == (("x", "y"), ("a/x.png", "b/x.png"))


@pytest.mark.parametrize("key", ["item", "task_id", "id", "anything"])
def test_the_column_of_ids_may_have_another_name(key: str) -> None:
    rows = of_table().recipe.apply(f"age,{key},member,text\n5,n1,yes,a cat\n".encode())
    assert rows.ids == ("n1",)


def test_rows_without_an_id_have_none() -> None:
    assert of_table().recipe.apply(b"age,member,text\n5,yes,a cat\n").ids is None


def test_finished_numbers_are_taken_with_any_recipe() -> None:
    for recipe in (None, of_table().recipe):
        rows = read_new_features(npz(item=np.array(["a", "b"]), x=MATRIX), recipe)
        assert rows.ids == ("a", "b")
        assert np.array_equal(rows.values, MATRIX)
        assert read_new_features(npy(MATRIX), recipe).ids is None


def test_without_a_recipe_a_table_must_be_numbers() -> None:
    rows = read_new_features(b"a,task,b\n1,t1,2\n3,t2,4\n", None)
    assert (rows.ids, rows.values.tolist()) == (("t1", "t2"), [[1, 2], [3, 4]])
    with pytest.raises(DataError, match="'cat' is not a number"):
        read_new_features(b"task,a\nt1,cat\n", None)


def wrong_column() -> None:
    of_table().recipe.apply(b"item,age,text\nn1,5,a cat\n")


def wrong_number() -> None:
    of_table().recipe.apply(b"item,age,member,text\nn1,old,yes,a cat\n")


def wrong_width() -> None:
    made = read_labels(table(), features=b'[{"id":"t1","e":[1,2]},{"id":"t2","e":[3,4]}]')
    made.recipe.apply(b'[{"id":"t1","e":[1,2,3]}]')


def table_for_pictures() -> None:
    of_pictures().recipe.apply(TABLE)


def parsed_table_for_pictures() -> None:
    of_pictures().recipe.apply(open_table(TABLE))


def pictures_for_table() -> None:
    of_table().recipe.apply(PICTURES)


def pictures_for_numbers() -> None:
    read_new_features(PICTURES, None)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (wrong_column, "column is missing .*'member'"),
        (wrong_number, "'old' is not a number"),
        (wrong_width, "3 numbers where 2 were learnt"),
        (table_for_pictures, "neither a folder nor a zip"),
        (parsed_table_for_pictures, "pictures are needed"),
        (pictures_for_table, "not a table"),
        (pictures_for_numbers, "came as finished numbers"),
    ],
)
def test_what_does_not_fit_the_recipe_is_a_sentence(call: Callable[[], None], says: str) -> None:
    with pytest.raises(DataError, match=says):
        call()


def test_a_folder_for_a_table_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a folder.*'age', 'member', 'text'"):
        of_table().recipe.apply(tmp_path)
    with pytest.raises(DataError, match="came as finished numbers"):
        read_new_features(tmp_path, None)
