"""Tables as features: numbers stay, categories become switches, texts are embedded."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.reading import read_labels
from crowdcore.reading.features.texts import learn_texts
from tests.reading.tables import finding, table

N = 40
ITEMS = tuple(f"t{number}" for number in range(N))
LABELS = table([(item, "w1", "ab"[place % 2]) for place, item in enumerate(ITEMS)])
ANIMALS = ["a cat sleeps on the mat", "the dog runs in the park", "one bird sings a song"]


def csv(header: str, cells: list[str]) -> bytes:
    rows = [f"{item},{cell}" for item, cell in zip(ITEMS, cells, strict=True)]
    return "\n".join([f"item,{header}", *rows]).encode()


def texts(n: int = N) -> list[str]:
    """Three kinds of sentences, each with a number of its own."""
    return [f"{ANIMALS[place % 3]} {place * 7919 % 1000} times" for place in range(n)]


def features(data: CrowdData) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    assert data.features is not None
    return data.features


def test_few_values_become_switches_and_the_report_says_so() -> None:
    cells = [["Private", " State ", ""][place % 3] for place in range(N)]
    data = read_labels(LABELS, features=csv("sector", cells))
    assert data.feature_names == ("sector=Private", "sector=State")
    assert features(data)[:3].tolist() == [[1, 0], [0, 1], [0, 0]]
    found = finding(data, "features_categories")
    assert (found.count, found.examples) == (1, ("'sector': 'Private', 'State'; 13 blank cells",))
    assert "1 or 0" in found.done


@pytest.mark.parametrize(
    ("distinct", "kind"), [(20, "features_categories"), (21, "features_texts")]
)
def test_up_to_twenty_values_are_categories(distinct: int, kind: str) -> None:
    words = [f"{'xyz'[place % 3]}{place:02d} same" for place in range(distinct)]
    cells = [words[place % distinct] for place in range(N)]
    assert finding(read_labels(LABELS, features=csv("c", cells)), kind).count == 1


def test_a_few_sentences_that_all_differ_are_texts() -> None:
    rows = table([(item, "w1", "a") for item in ITEMS[:6]])
    file = "\n".join(["item,text", *(f"{i},{t}" for i, t in zip(ITEMS, texts(6), strict=False))])
    data = read_labels(rows, features=file.encode())
    assert finding(data, "features_texts").count == 1
    assert features(data).shape[1] <= 6


def test_texts_about_the_same_lie_close_together() -> None:
    data = read_labels(LABELS, features=csv("text", texts()))
    x = features(data)
    assert np.linalg.norm(x[0] - x[3]) < 0.5 * np.linalg.norm(x[0] - x[1])
    assert data.feature_names[0] == "text[0]"
    found = finding(data, "features_texts")
    assert "words and pairs →" in found.examples[0]
    assert f"{N} items with {x.shape[1]} numbers each; text 'text': " in data.report.features


def test_texts_become_the_same_numbers_every_time() -> None:
    file = csv("text", texts())
    one, two = (read_labels(LABELS, features=file) for _ in range(2))
    assert np.array_equal(features(one), features(two))
    assert one.fingerprint == two.fingerprint


def test_numbers_categories_and_texts_stand_side_by_side() -> None:
    cells = [f"{place},{'yes' if place % 2 else 'no'},{one}" for place, one in enumerate(texts())]
    data = read_labels(LABELS, features=csv("age,member,text", cells))
    assert data.feature_names[:4] == ("age", "member=no", "member=yes", "text[0]")
    assert features(data)[5, :3].tolist() == [5, 0, 1]
    assert finding(data, "features_left_out").severity == "ok"


def test_a_word_must_occur_in_two_texts_where_there_are_enough() -> None:
    many, few = learn_texts(texts()), learn_texts(texts(5))
    assert many is not None
    assert few is not None
    assert "cat sleeps" in many.vocabulary
    assert not any(word.isdigit() for word in many.vocabulary)
    assert any(word.isdigit() for word in few.vocabulary)


def test_a_hundred_directions_are_kept_at_most_and_no_empty_ones() -> None:
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(400)]
    varied = learn_texts([" ".join(rng.choice(words, 8)) for _ in range(300)])
    assert varied is not None
    assert len(varied.directions) == 100
    alike = learn_texts([ANIMALS[place % 3] for place in range(300)])
    assert alike is not None
    assert len(alike.directions) == 3


def test_a_blank_text_is_all_zeros_and_counted() -> None:
    cells = texts()
    cells[4] = "  "
    data = read_labels(LABELS, features=csv("text", cells))
    assert not features(data)[4].any()
    assert "1 blank cell" in finding(data, "features_texts").examples[0]


def test_columns_that_say_nothing_are_left_out_and_told() -> None:
    rare = [f"{'abcdefghij'[place % 10] * (place + 3)}" for place in range(N)]
    cells = [f"same,,{one},{place}" for place, one in enumerate(rare)]
    data = read_labels(LABELS, features=csv("one,none,names,number", cells))
    assert data.feature_names == ("number",)
    assert finding(data, "features_left_out").examples == (
        "'one': the same for every item",
        "'none': blank for every item",
        "'names': no word occurs in two texts",
    )
    with pytest.raises(DataError, match="No column can be used as features; 'one': the same"):
        read_labels(LABELS, features=csv("one,none", ["same,"] * N))


def test_mostly_numbers_are_numbers_and_the_odd_one_is_told() -> None:
    cells = ["1"] * (N - 1) + ["many"]
    with pytest.raises(DataError, match="'many' is not a number") as caught:
        read_labels(LABELS, features=csv("a", cells))
    assert caught.value.row == N + 1


def test_items_that_nobody_labelled_do_not_shape_the_features() -> None:
    cells = [["yes", "no"][place % 2] for place in range(N)]
    file = csv("member", cells)
    data = read_labels(LABELS, features=file + b"\nstranger,maybe\n")
    assert data.feature_names == ("member=no", "member=yes")
    assert data.recipe == read_labels(LABELS, features=file).recipe


WITH_TEXT = table(
    [
        (item, worker, "ab"[place % 2], one, str(place), "a")
        for place, (item, one) in enumerate(zip(ITEMS, texts(), strict=True))
        for worker in ("w1", "w2")
    ],
    header=("tweet_id", "worker", "label", "tweet text", "length", "gold"),
)


def test_columns_of_the_labels_file_may_be_the_features() -> None:
    data = read_labels(WITH_TEXT, feature_columns=["tweet text"])
    other = read_labels(LABELS, features=csv("tweet text", texts()))
    assert np.array_equal(features(data), features(other))
    assert data.recipe.key == "tweet_id"
    assert "tweet text" in data.details
    both = read_labels(WITH_TEXT, feature_columns=["length", "tweet text"])
    assert both.feature_names[:2] == ("length", "tweet text[0]")


def test_a_column_that_differs_within_an_item_is_told_when_it_becomes_features() -> None:
    rows = [(i, w, "a", f"{i} {w}") for i in ("i1", "i2", "i3") for w in ("w1", "w2")]
    data = read_labels(
        table(rows, header=("item", "worker", "label", "note")), feature_columns=["note"]
    )
    assert finding(data, "details_vary").examples == ("'note'",)


@pytest.mark.parametrize("column", ["gold", "label", "worker", "tweet_id", "nothing"])
def test_answers_workers_and_unknown_columns_cannot_be_features(column: str) -> None:
    with pytest.raises(DataError, match="cannot be a feature") as caught:
        read_labels(WITH_TEXT, feature_columns=[column])
    assert caught.value.column == column
    assert caught.value.fix is not None
    assert "'tweet text'" in caught.value.fix


def test_features_come_from_one_place() -> None:
    with pytest.raises(DataError, match="not from both"):
        read_labels(WITH_TEXT, feature_columns=["length"], features=csv("a", ["1"] * N))


def test_rows_of_workers_have_no_columns_about_items() -> None:
    wide = b"worker,q1,q2,age\nann,x,y,3\nbo,x,x,4\n"
    roles = {"layout": "wide", "worker": "worker", "worker_columns": ("q1", "q2")}
    with pytest.raises(DataError, match="Rows are workers here"):
        read_labels(wide, roles=roles, feature_columns=["age"])
