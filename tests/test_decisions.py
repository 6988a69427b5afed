"""Decisions: what holds after all of them, and what they do to data."""

from __future__ import annotations

import csv
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcore.data import UNKNOWN, CrowdData, DataError
from crowdcore.decisions import Decision, standing
from crowdcore.decisions.applying import apply
from crowdcore.decisions.files import as_csv, as_jsonl, read_decisions

NUMBERS = itertools.count()


def decision(action: str, subject: str = "", value: str = "", **details: object) -> Decision:
    number = next(NUMBERS)
    values = {"reason": "answers at random", **details}
    return Decision(
        id=f"{number:016x}",
        time=f"2026-01-01T00:00:00.{number:06}+00:00",
        by="Ann",
        action=action,  # type: ignore[arg-type]
        subject=subject,
        value=value,
        **values,  # type: ignore[arg-type]
    )


def crowd() -> CrowdData:
    return CrowdData.from_triples(
        [("a", "w", "cat"), ("a", "v", "dog"), ("b", "w", "kitten"), ("b", "u", "cat")],
        gold={"b": "kitten"},
    )


def test_the_latest_decision_on_a_worker_holds() -> None:
    entries = [decision("exclude", "w"), decision("watch", "v"), decision("keep", "w")]
    holding = standing(entries)
    assert holding.excluded == ()
    assert {name: made.action for name, made in holding.workers.items()} == {
        "w": "keep",
        "v": "watch",
    }


def test_an_undone_decision_gives_way_to_the_one_before_and_an_undo_can_be_undone() -> None:
    first, second = decision("truth", "a", "cat"), decision("truth", "a", "dog")
    undo = decision("undo", second.id)
    assert standing([first, second]).truths["a"].value == "dog"
    assert standing([first, second, undo]).truths["a"].value == "cat"
    again = decision("undo", undo.id)
    assert standing([first, second, undo, again]).truths["a"].value == "dog"


def test_truths_of_another_data_set_do_not_hold_for_this_one() -> None:
    entries = [
        decision("truth", "a", "cat", dataset="one"),
        decision("exclude", "w"),
        decision("merge", "kitten", "cat", dataset="two"),
    ]
    holding = standing(entries, dataset="one")
    assert (set(holding.truths), set(holding.merges), holding.excluded) == ({"a"}, set(), ("w",))
    assert set(standing(entries, dataset="two").merges) == {"kitten"}


def test_what_is_required_is_the_latest_number() -> None:
    entries = [decision("require", value="0.7"), decision("require", value="0.8")]
    assert standing(entries).required_accuracy == 0.8
    assert standing([*entries, decision("undo", entries[1].id)]).required_accuracy == 0.7
    assert standing([]).required_accuracy is None


def test_data_are_changed_as_decided_and_what_does_not_fit_is_said() -> None:
    entries = [
        decision("exclude", "v"),
        decision("exclude", "nobody"),
        decision("truth", "a", "kitten"),
        decision("truth", "b", "bird"),
        decision("merge", "kitten", "cat"),
        decision("watch", "w"),
    ]
    applied = apply(crowd(), entries)
    data = applied.data
    assert data.classes == ("cat", "dog")
    assert data.class_names(data.label).tolist() == ["cat", "cat", "cat"]
    assert data.gold is not None
    assert data.class_names(data.gold).tolist() == ["cat", "cat"]  # merged, also where decided
    assert [made.subject for made in applied.used] == ["v", "a", "kitten"]
    assert len(applied.skipped) == 2
    assert "'nobody' is not in these data" in applied.skipped[0]
    assert "'bird', the decided truth of 'b'" in applied.skipped[1]


def test_a_truth_without_other_gold_leaves_the_other_items_unknown() -> None:
    data = CrowdData.from_triples([("a", "w", "x"), ("b", "w", "y")])
    gold = apply(data, [decision("truth", "b", "x")]).data.gold
    assert gold is not None
    assert gold.tolist() == [UNKNOWN, 0]
    numbers = CrowdData(
        item=np.array([0, 1]),
        worker=np.array([0, 0]),
        label=np.array([1.5, 2.0]),
        items=("a", "b"),
        workers=("w",),
        kind="ratings",
    )
    gold = apply(numbers, [decision("truth", "b", "2.5"), decision("truth", "a", "x")]).data.gold
    assert gold is not None
    np.testing.assert_array_equal(gold, [np.nan, 2.5])


def test_nobody_left_is_refused() -> None:
    data = CrowdData.from_triples([("a", "w", "x"), ("b", "v", "y")])
    with pytest.raises(DataError, match="no label left"):
        apply(data, [decision("exclude", "w"), decision("exclude", "v")])


@pytest.mark.parametrize(
    ("merges", "classes"),
    [
        ({"kitten": "cat", "cat": "dog"}, ("dog",)),
        ({"kitten": "cat", "cat": "kitten"}, ("kitten", "dog", "cat")),
        ({"kitten": "pet"}, ("cat", "dog", "pet")),
    ],
)
def test_merges_are_followed_to_their_end(merges: dict[str, str], classes: tuple[str, ...]) -> None:
    entries = [decision("merge", name, into) for name, into in merges.items()]
    assert set(apply(crowd(), entries).data.classes) == set(classes)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"action": "dismiss"}, "is no kind of decision"),
        ({"by": " "}, "the name of who makes it"),
        ({"subject": ""}, "Nothing is named"),
        ({"reason": " "}, "no reason to exclude"),
        ({"action": "truth"}, "has no answer"),
        ({"action": "require", "value": "70"}, "between 0 and 1"),
        ({"note": "x" * 2001}, "at most 2,000 characters"),
    ],
)
def test_an_incomplete_decision_is_refused(change: dict[str, str], sentence: str) -> None:
    values = {"action": "exclude", "by": "Ann", "subject": "w", "reason": "copies", **change}
    with pytest.raises(DataError, match=sentence):
        Decision(id="1", time="", **values)  # type: ignore[arg-type]


@given(st.text(min_size=1), st.text(max_size=50), st.dictionaries(st.text(), st.integers()))
def test_both_files_give_back_what_was_written(
    subject: str, note: str, evidence: dict[str, int]
) -> None:
    made = [
        decision("exclude", subject, note=note, evidence=evidence),
        decision("truth", subject, value=subject, run="r"),
    ]
    assert read_decisions(as_jsonl(made)) == made
    if "\r" not in subject + note:  # csv turns a lone carriage return into a line break
        assert read_decisions(as_csv(made)) == made


def test_a_line_that_is_no_decision_is_named() -> None:
    text = as_jsonl([decision("keep", "w")]) + "{}\n"
    with pytest.raises(DataError, match=r"no decision.*row 2"):
        read_decisions(text)
    with pytest.raises(DataError, match="no decision in this file"):
        read_decisions("id,time\n")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b" " * 50_000_001, "too large"),
        (b"", "no decision"),
    ],
)
def test_a_file_that_holds_no_decisions_is_a_sentence(source: bytes, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read_decisions(source)


def test_a_cell_beyond_the_limit_of_csv_is_a_sentence() -> None:
    limit = csv.field_size_limit(1000)
    try:
        with pytest.raises(DataError, match="cannot be cut into columns"):
            read_decisions(b"id,time\n" + b"x" * 2000)
    finally:
        csv.field_size_limit(limit)
