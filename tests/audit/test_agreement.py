"""Krippendorff's alpha against published numbers and against pairs counted one by one."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdcore import CrowdData
from crowdcore.audit import agreement as module
from crowdcore.audit.agreement import agreement
from tests.crowds import easy_crowd, golden_crowd

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011): a string a worker, a
# character an item, a point where there is no answer.
PUBLISHED = [
    (["0100000010", "1110010000"], 0.095),
    (["aabbdcccedda", "babbbccceddd"], 0.692),
    (["123321412...", "1233224125.3", ".3332342251.", "12332441251."], 0.743),
]
Triples = list[tuple[str, str, str]]


def crowd(answers: list[str]) -> CrowdData:
    return CrowdData.from_triples(
        [
            (f"i{item}", f"w{worker}", given)
            for worker, row in enumerate(answers)
            for item, given in enumerate(row)
            if given != "."
        ]
    )


def slow_alpha(triples: Triples) -> float | None:
    """Every pair of labels, one by one; None where alpha is not defined."""
    by_item = defaultdict(list)
    for item, worker, label in triples:
        by_item[item].append((worker, label))
    agreed, values = 0.0, Counter[str]()
    for given_labels in by_item.values():
        pairs = [
            one[1] == other[1]
            for one, other in itertools.permutations(given_labels, 2)
            if one[0] != other[0]
        ]
        if pairs:
            agreed += len(given_labels) * sum(pairs) / len(pairs)
            values.update(label for _, label in given_labels)
    n = values.total()
    expected = sum(count * (n - count) for count in values.values())
    return 1 - (n - 1) * (n - agreed) / expected if expected else None


@pytest.mark.parametrize(("answers", "alpha"), PUBLISHED)
def test_alpha_is_as_published(answers: list[str], alpha: float) -> None:
    assert agreement(crowd(answers)).alpha == pytest.approx(alpha, abs=5e-4)


def test_the_parts_of_the_published_example_are_those_of_its_coincidence_table() -> None:
    agreed = agreement(crowd(PUBLISHED[2][0]))
    # Its diagonal is 7, 10, 8, 4 and 3; its margins are 9, 13, 10, 5 and 3.
    assert (agreed.n_items, agreed.n_alone) == (11, 1)
    assert agreed.observed == pytest.approx((7 + 10 + 8 + 4 + 3) / 40)
    pairs = sum(count * (count - 1) for count in (9, 13, 10, 5, 3))
    assert agreed.chance == pytest.approx(pairs / (40 * 39))


triples = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("vwxyz"), st.sampled_from("012")),
    min_size=1,
    max_size=40,
)


@given(triples)
@settings(max_examples=200, deadline=None)
def test_alpha_is_that_of_all_pairs_also_where_workers_repeat_themselves(rows: Triples) -> None:
    agreed, expected = agreement(CrowdData.from_triples(rows)), slow_alpha(rows)
    if expected is None:
        assert agreed.alpha is None
        assert agreed.interval is None
        assert agreed.note
    else:
        assert agreed.alpha == pytest.approx(expected, abs=1e-12)
        assert not agreed.note
    repeats = len(rows) - len({row[:2] for row in rows})
    assert agreed.n_repeated == repeats


@given(triples)
@settings(max_examples=30, deadline=None)
def test_the_order_of_labels_changes_nothing(rows: Triples) -> None:
    data = CrowdData.from_triples(rows)
    mixed = np.random.default_rng(0).permutation(data.n_labels)
    parts = {name: getattr(data, name)[mixed] for name in ("item", "worker", "label")}
    assert agreement(replace(data, **parts)) == agreement(data)


def test_items_with_one_label_are_left_out_and_counted() -> None:
    some = crowd(["aab", "aba"])
    more = crowd(["aabaa", "aba.."])
    agreed = agreement(more)
    assert (agreed.n_items, agreed.n_alone) == (3, 2)
    assert agreed.alpha == agreement(some).alpha


def test_two_labels_of_one_worker_are_no_agreement() -> None:
    agreed = agreement(CrowdData.from_triples([("i", "w", "a"), ("i", "w", "a"), ("j", "w", "b")]))
    assert agreed.alpha is None
    assert (agreed.n_items, agreed.n_alone, agreed.n_repeated) == (0, 2, 1)
    assert "No item has labels of two workers" in agreed.note


def test_one_class_says_nothing() -> None:
    agreed = agreement(crowd(["aaa", "aaa"]))
    assert (agreed.alpha, agreed.interval, agreed.observed, agreed.chance) == (None, None, 1, 1)
    assert "one class" in agreed.note


def test_all_agree_or_answer_at_random() -> None:
    assert agreement(crowd(["abcabc", "abcabc"])).alpha == 1
    item, worker = np.divmod(np.arange(4000), 4)
    blind = CrowdData(
        item=item,
        worker=worker,
        label=np.random.default_rng(0).integers(0, 3, 4000),
        items=tuple(map(str, range(1000))),
        workers=("w", "x", "y", "z"),
        classes=("a", "b", "c"),
    )
    agreed = agreement(blind)
    assert agreed.interval is not None
    assert agreed.interval[0] < 0 < agreed.interval[1]


def test_the_interval_covers_alpha_about_as_often_as_it_says() -> None:
    data = easy_crowd()
    whole = agreement(data).alpha
    assert whole is not None
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(100):
        drawn = rng.integers(data.n_items, size=data.n_items)
        rows = [np.flatnonzero(data.item == item) for item in drawn]
        sample = CrowdData(
            item=np.repeat(np.arange(len(rows)), [len(row) for row in rows]),
            worker=data.worker[np.concatenate(rows)],
            label=data.label[np.concatenate(rows)],
            items=tuple(map(str, range(len(rows)))),
            workers=data.workers,
            classes=data.classes,
        )
        low, high = agreement(sample).interval or (1.0, 0.0)
        covered += low <= whole <= high
    assert 88 <= covered <= 100


def test_items_in_groups_vary_as_single_items_do(monkeypatch: pytest.MonkeyPatch) -> None:
    data = easy_crowd()
    single = agreement(data).interval
    monkeypatch.setattr(module, "MAX_GROUPS", 70)
    grouped = agreement(data).interval
    assert single is not None
    assert grouped is not None
    assert grouped != single
    assert grouped == pytest.approx(single, abs=0.02)


def test_the_numbers_can_be_written_as_json() -> None:
    agreed = json.loads(json.dumps(agreement(golden_crowd()).to_json()))
    assert agreed["alpha"] == agreement(golden_crowd()).alpha
    assert len(agreed["interval"]) == 2
