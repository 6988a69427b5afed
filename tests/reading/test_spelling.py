"""Spellings that are probably one class are proposed, and those that are not are left alone."""

from __future__ import annotations

import tracemalloc

import pytest

from crowdcore.reading.labels.spelling import near_spellings


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"cat": 9, "Cat": 2, "CAT": 1}, {"Cat": "cat", "CAT": "cat"}),
        ({"cat": 9, "cat ": 2, " cat": 1}, {"cat ": "cat", " cat": "cat"}),
        ({"hot dog": 9, "hot  dog": 2, "hotdog": 1}, {"hot  dog": "hot dog", "hotdog": "hot dog"}),
        ({"ﬁsh": 1, "fish": 9}, {"ﬁsh": "fish"}),
        ({"ice-cream": 9, "ice cream": 2}, {"ice cream": "ice-cream"}),
        (
            {"positive": 100, "postive": 2, "Positve": 1},
            {"postive": "positive", "Positve": "positive"},
        ),
        ({"flower": 100, "flowers": 3}, {"flowers": "flower"}),
        ({" cat": 5, " dog": 5}, {" cat": "cat", " dog": "dog"}),
        ({"Cat ": 5, "cat": 5}, {"Cat ": "cat"}),
    ],
)
def test_variants_of_one_class_are_proposed(
    counts: dict[str, int], expected: dict[str, str]
) -> None:
    assert near_spellings(counts) == expected


@pytest.mark.parametrize(
    "counts",
    [
        {"cat": 100, "car": 1},
        {"1": 100, "-1": 1, "1.5": 1, "15": 1, "01": 1},
        {"C": 100, "C++": 9, "C#": 1},
        {"class1": 100, "class2": 1},
        {"horse": 30, "house": 20},
        {"typical": 100, "atypical": 1},
        {"+": 5, "-": 5},
        {"": 5, " ": 1},
    ],
)
def test_classes_of_their_own_are_left_alone(counts: dict[str, int]) -> None:
    assert near_spellings(counts) == {}


@pytest.mark.parametrize(("n_rare", "is_slip"), [(5, True), (6, False), (30, False)])
def test_a_slip_is_twenty_times_rarer_than_the_right_spelling(n_rare: int, is_slip: bool) -> None:
    proposals = near_spellings({"flower": 100, "flowers": n_rare})
    assert proposals == ({"flowers": "flower"} if is_slip else {})


def test_a_slip_of_a_variant_is_led_to_the_right_spelling() -> None:
    counts = {"negative": 100, "negativ": 2, "NEGATIV": 1}
    assert near_spellings(counts) == {"negativ": "negative", "NEGATIV": "negative"}


def test_free_text_is_not_compared() -> None:
    assert near_spellings({f"{'A' if n % 2 else 'a'}{n // 2}": 1 for n in range(20_000)}) == {}


def test_a_very_long_label_costs_no_more_than_its_length() -> None:
    word = "letters" * 15_000
    tracemalloc.start()
    try:
        assert near_spellings({word: 1, word.upper(): 1, "cat": 1}) == {}
        assert tracemalloc.get_traced_memory()[1] < 20 * len(word)
    finally:
        tracemalloc.stop()
