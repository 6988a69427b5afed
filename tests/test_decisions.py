"""What decisions about a part of the labels do to data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore.audit.judging.worker_evidence import worker_evidence
from crowdcore.audit.judging.worse_part import worse_part
from crowdcore.building import comparisons_of, sets_of
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.decisions import Decision, holding_ids, names_in, names_text, standing
from crowdcore.decisions.applying import apply, labels_of, surplus_votes
from crowdcore.decisions.files import as_csv, as_jsonl, read_decisions
from crowdcore.errors import DataError
from crowdcore.samples import load_sample


def decision(action: str, subject: str, value: str = "", number: int = 0) -> Decision:
    return Decision(
        id=f"d{number}",
        time=f"2026-01-0{number + 1}T00:00:00",
        by="Ann",
        action=action,  # type: ignore[arg-type]
        subject=subject,
        value=value,
        reason="seen",
    )


def crowd() -> CrowdData:
    return CrowdData.from_triples(
        [(item, worker, "yes") for item in "abcd" for worker in ("ann", "bob", "eve")]
        + [("e", "bob", "no"), ("f", "eve", "no")]
    )


def labels(data: CrowdData) -> set[tuple[str, str]]:
    return {
        (data.items[item], data.workers[worker])
        for item, worker in zip(data.item.tolist(), data.worker.tolist(), strict=True)
    }


def test_a_part_of_a_workers_labels_is_left_out_and_the_others_stay() -> None:
    made = decision("leave_out", "bob", names_text(["a", "e", "gone"]))
    applied = apply(crowd(), [made])
    assert labels(crowd()) - labels(applied.data) == {("a", "bob"), ("e", "bob")}
    assert applied.used == (made,)
    assert applied.effects == ("Left out by decision: 2 labels of bob.",)
    assert made.sentence == "Leave out 3 labels of worker bob"


def test_a_group_votes_once_per_item_and_loses_no_item() -> None:
    data = crowd()
    applied = apply(data, [decision("one_vote", names_text(["ann", "bob", "eve"]))])
    assert applied.data.labels_per_item.tolist() == [1] * 6
    assert applied.effects == (
        "By decision 'ann', 'bob', 'eve' vote once per item: 8 labels left out.",
    )
    # bob and eve have five labels each, ann four: bob, the first of the two, speaks where he can.
    assert labels(applied.data) == {*((item, "bob") for item in "abcde"), ("f", "eve")}


def test_groups_that_share_a_worker_vote_once_together() -> None:
    made = [
        decision("one_vote", names_text(["ann", "bob"])),
        decision("one_vote", names_text(["bob", "eve"]), number=1),
    ]
    assert apply(crowd(), made).data.labels_per_item.tolist() == [1] * 6
    assert apply(crowd(), made[:1]).data.labels_per_item.tolist() == [2, 2, 2, 2, 1, 1]


def test_a_vote_of_a_group_is_per_comparison_not_per_item() -> None:
    data = comparisons_of(
        [
            ("a", "b", "ann", "a"),
            ("b", "a", "bob", "a"),
            ("a", "c", "bob", "c"),
            ("a", "c", "eve", "c"),
        ]
    )
    goes = surplus_votes(data, ["ann", "bob"])
    assert {data.workers[code] for code in data.worker[goes].tolist()} == {"ann"}


def test_what_does_not_fit_is_said_and_what_leaves_nothing_is_refused() -> None:
    applied = apply(crowd(), [decision("one_vote", names_text(["ann", "zoe"]))])
    assert applied.used == ()
    assert "is not in these data: let workers who answer alike vote once" in applied.skipped[0]
    alone = CrowdData.from_triples([("a", "ann", "yes")])
    with pytest.raises(DataError, match="there is none"):
        apply(alone, [decision("leave_out", "ann", names_text(["a"]))])


@pytest.mark.parametrize(
    ("action", "subject", "value", "problem"),
    [
        ("one_vote", '["ann"]', "", "takes two workers"),
        ("one_vote", "ann", "", "no list of names"),
        ("leave_out", "ann", "", "no list of names"),
        ("leave_out", "ann", "[]", "No item is named"),
    ],
)
def test_decisions_that_name_nothing_are_refused(
    action: str, subject: str, value: str, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        decision(action, subject, value)
    with pytest.raises(DataError, match="no reason"):
        replace(decision("one_vote", names_text(["ann", "bob"])), reason=" ")


def test_the_latest_decision_on_a_worker_holds_beside_groups() -> None:
    part = decision("leave_out", "ann", names_text(["a"]))
    group = decision("one_vote", names_text(["bob", "ann"]), number=1)
    keep = decision("keep", "ann", number=2)
    assert standing([part, group]).changing_data == (part, group)
    assert standing([part, group, keep]).changing_data == (group,)
    undo = decision("undo", group.id, number=3)
    assert standing([part, group, undo]).changing_data == (part,)


@pytest.mark.parametrize("write", [as_csv, as_jsonl])
def test_long_parts_survive_a_file(write: object) -> None:
    made = decision("leave_out", "ann", names_text(f"item {n}" for n in range(20_000)))
    assert read_decisions(write([made])) == [made]  # type: ignore[operator]


def test_the_worse_part_is_what_came_late_or_too_fast_and_only_that() -> None:
    data = load_sample("verdicts")
    evidence = worker_evidence(data)
    (drifting,) = np.flatnonzero(evidence.is_drifting)[:1]
    late = worse_part(data, evidence, drifting)
    own = np.flatnonzero(data.worker == drifting)
    assert data.time is not None
    if not evidence.is_hasty[drifting]:
        earlier = np.setdiff1d(own, late)
        assert data.time[late].min() >= data.time[earlier].max()
        assert (evidence.place[late] > evidence.drift_at[drifting]).all()
    (hasty,) = np.flatnonzero(evidence.is_hasty & ~evidence.is_drifting)[:1]
    fast = worse_part(data, evidence, hasty)
    assert evidence.is_fast[fast].all()
    assert len(fast) >= evidence.n_fast[hasty] > 0
    nobody = int(np.flatnonzero(~evidence.is_hasty & ~evidence.is_drifting)[0])
    assert not len(worse_part(data, evidence, nobody))
    named = [data.items[item] for item in data.item[fast].tolist()]
    goes = labels_of(data, data.workers[hasty], names_in(names_text(named)))
    assert np.array_equal(np.flatnonzero(goes), fast)


def test_audits_and_open_answers_hold_until_they_are_taken_back_or_decided() -> None:
    audit, unsure, told = (
        decision("audit", "sample 1", "10 of 20 items, random"),
        decision("unsure", "a"),
        decision("unsure", "b"),
    )
    truth = decision("truth", "b", "cat")
    assert holding_ids([audit, unsure, told, truth]) == {audit.id, unsure.id, truth.id}
    assert holding_ids([audit, decision("undo", audit.id)]) == set()


def test_a_decided_set_is_gold_also_where_nobody_gave_it() -> None:
    data = sets_of([("a", "w", ["x"]), ("a", "v", ["y"]), ("b", "w", ["x"])])
    made = [decision("truth", "a", '["x", "y"]'), decision("truth", "b", '["z"]')]
    applied = apply(data, made)
    assert applied.used == (made[0],)
    assert "is no answer here" in applied.skipped[0]
    assert applied.data.gold is not None
    assert applied.data.sets is not None
    assert applied.data.class_names(applied.data.gold)[0] == '["x", "y"]'
    assert applied.data.gold[1] == UNKNOWN
