"""Spans of tags: where they begin and end, how they are scored, and valid tags."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.annotations import annotation_order, annotation_spans, vote_by_token
from crowdcore.data import CrowdData, DataError
from crowdcore.results.sequences import score_tags
from crowdcore.spans import (
    Spans,
    TagSet,
    find_spans,
    relaxed_score,
    repaired,
    score,
    spans_to_tags,
)

TAGS = TagSet.of_types(["LOC", "PER"])
O, B_LOC, I_LOC, B_PER, I_PER = range(5)  # noqa: E741
START = np.array([0])


def triples(spans: Spans) -> list[tuple[int, int, int]]:
    return list(zip(spans.start.tolist(), spans.end.tolist(), spans.type.tolist(), strict=True))


@pytest.mark.parametrize(
    ("tags", "conlleval", "with_b"),
    [
        ([B_LOC, I_LOC, O, B_PER], [(0, 2, 0), (3, 4, 1)], [(0, 2, 0), (3, 4, 1)]),
        ([I_LOC, I_LOC, O], [(0, 2, 0)], []),
        ([B_LOC, I_PER, I_PER], [(0, 1, 0), (1, 3, 1)], [(0, 1, 0)]),
        ([B_LOC, B_LOC, I_LOC], [(0, 1, 0), (1, 3, 0)], [(0, 1, 0), (1, 3, 0)]),
        ([O, O], [], []),
    ],
)
def test_spans_begin_where_the_rule_says(
    tags: list[int], conlleval: list[tuple[int, int, int]], with_b: list[tuple[int, int, int]]
) -> None:
    assert triples(find_spans(np.array(tags), START, TAGS)) == conlleval
    assert triples(find_spans(np.array(tags), START, TAGS, "begins with B")) == with_b


def test_no_span_crosses_from_one_text_into_the_next() -> None:
    tags = np.array([B_LOC, I_LOC, I_LOC])
    assert triples(find_spans(tags, np.array([0, 2]), TAGS)) == [(0, 2, 0), (2, 3, 0)]
    assert repaired(tags, np.array([0, 2]), TAGS).tolist() == [B_LOC, I_LOC, B_LOC]


def test_repaired_tags_describe_the_same_spans_and_tags_come_back_from_spans() -> None:
    tags = np.array([I_PER, I_LOC, I_LOC, O, B_PER, I_LOC])
    valid = repaired(tags, START, TAGS)
    spans = find_spans(tags, START, TAGS)
    assert triples(spans) == triples(find_spans(valid, START, TAGS, "begins with B"))
    assert spans_to_tags(spans, len(tags), TAGS).tolist() == valid.tolist()


def test_exact_and_relaxed_scores() -> None:
    predicted = find_spans(np.array([B_LOC, I_LOC, O, B_PER, O]), START, TAGS)
    expected = find_spans(np.array([B_LOC, I_LOC, O, B_PER, I_PER]), START, TAGS)
    exact = score(predicted, expected, 2)
    assert (exact.precision, exact.recall, exact.f1) == (0.5, 0.5, 0.5)
    relaxed = relaxed_score(predicted, expected, 5)
    assert relaxed.precision == 1.0
    assert relaxed.recall == 0.75
    assert relaxed.f1 == pytest.approx(2 * 0.75 / 1.75)
    nothing = find_spans(np.array([O]), START, TAGS)
    assert score(nothing, nothing, 2).f1 == 1.0


def test_a_score_leaves_out_texts_without_gold_and_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    starts = np.arange(0, 200, 4)
    gold = np.tile([B_LOC, I_LOC, O, B_PER], 50)
    truth = np.where(rng.random(200) < 0.1, O, gold)
    truth = repaired(truth, starts, TAGS)
    gold[:4] = -1
    documents = np.repeat([f"d{i}" for i in range(25)], 8).astype(object)
    found = score_tags(truth, gold, starts=starts, tag_set=TAGS, documents=documents)
    assert found.n == 49
    assert found.exact.expected == 98
    low, high = found.interval
    assert low < found.exact.f1 < high
    assert high - low < 0.25


def data_of(tags: dict[str, list[int]], offsets: list[int]) -> CrowdData:
    n = offsets[-1]
    return CrowdData(
        item=np.concatenate([np.arange(n)] * len(tags)),
        worker=np.repeat(np.arange(len(tags)), n),
        label=np.concatenate([np.array(t) for t in tags.values()]),
        items=tuple(map(str, range(n))),
        workers=tuple(tags),
        classes=TAGS.classes,
        kind="sequences",
        offsets=np.array(offsets),
    )


def test_annotations_are_put_in_order_with_the_tag_before() -> None:
    data = data_of({"a": [B_LOC, I_LOC, B_PER], "b": [O, O, B_LOC]}, [0, 2, 3])
    shuffled = data.only(np.random.default_rng(0).permutation(6))
    order = annotation_order(shuffled)
    assert len(order) == 4
    assert order.worker.tolist() == [0, 0, 1, 1]
    assert order.text.tolist() == [0, 1, 0, 1]
    assert order.previous(shuffled.label, O).tolist() == [O, B_LOC, O, O, O, O]
    marked = annotation_spans(shuffled, TAGS)
    assert triples(marked.spans) == [(0, 2, 0), (2, 3, 1), (2, 3, 0)]
    assert marked.annotations_per_text.tolist() == [2, 2]


def test_ties_of_the_vote_go_to_spans_unless_one_says_otherwise() -> None:
    data = data_of({"a": [B_LOC, I_LOC], "b": [O, O]}, [0, 2])
    assert vote_by_token(data).tolist() == [B_LOC, I_LOC]
    assert vote_by_token(data, ties="outside").tolist() == [O, O]


def test_tags_and_offsets_that_make_no_sense_are_refused() -> None:
    with pytest.raises(DataError, match="is no tag"):
        TagSet(("O", "PER"))
    with pytest.raises(DataError, match="lack O"):
        TagSet(("B-a",))
    with pytest.raises(DataError, match="do not cut the tokens"):
        data_of({"a": [O, O]}, [0, 1, 1, 2])
