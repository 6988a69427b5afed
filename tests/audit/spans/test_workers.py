"""Workers who mark spans: kinds of error, and verdicts on simulated crowds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from crowdcore.audit.spans import comparison
from crowdcore.audit.spans.agreement import span_agreement
from crowdcore.audit.spans.comparison import EDGE_ERRORS, OUTCOMES, compare
from crowdcore.audit.spans.verdicts import SPAN_VERDICTS
from crowdcore.audit.spans.workers import SpanWorkerAudit
from crowdcore.audit.verdicts import judge
from crowdcore.registry import fit
from crowdcore.results.result import Result
from crowdcore.simulation.spans import SpanSimulation, simulate_spans
from dashboard.charts.palette import VERDICT_STYLES
from tests.test_spans import B_LOC, B_PER, I_LOC, I_PER, O, data_of


@pytest.mark.parametrize(
    ("given", "truth", "outcomes"),
    [
        ([B_LOC, I_LOC, O], [B_LOC, I_LOC, O], ["exact"]),
        ([B_PER, I_PER, O], [B_LOC, I_LOC, O], ["wrong type"]),
        ([B_LOC, O, O], [B_LOC, I_LOC, O], ["edges"]),
        ([B_LOC, B_LOC, O], [B_LOC, I_LOC, O], ["split", "split"]),
        ([B_LOC, I_LOC, I_LOC], [B_LOC, O, B_LOC], ["fused"]),
        ([O, O, B_LOC], [B_LOC, I_LOC, O], ["invented"]),
    ],
)
def test_every_mark_is_one_kind_of_error(
    given: list[int], truth: list[int], outcomes: list[str]
) -> None:
    found = compare(data_of({"a": given}, [0, 3]), np.array(truth))
    assert [OUTCOMES[code] for code in found.outcome] == outcomes
    assert found.missed.all() == (outcomes == ["invented"])


def test_edges_say_which_side_is_off() -> None:
    data = data_of({"a": [O, B_LOC, I_LOC, I_LOC, O]}, [0, 5])
    cases = {
        (O, O, B_LOC, I_LOC, O): ["early start"],
        (B_LOC, I_LOC, I_LOC, I_LOC, O): ["late start"],
        (O, B_LOC, I_LOC, I_LOC, I_LOC): ["early end"],
        (O, B_LOC, I_LOC, O, O): ["late end"],
    }
    for truth, names in cases.items():
        found = compare(data, np.array(truth))
        assert [EDGE_ERRORS[i] for i in np.flatnonzero(found.edges[0])] == names


@cache
def simulated() -> tuple[SpanSimulation, Result]:
    crowd = simulate_spans(
        texts=500,
        workers=24,
        types=3,
        annotations_per_text=6,
        characters={
            "expert": 2,
            "misses much": 2,
            "over-marks": 2,
            "wrong types": 2,
            "sloppy edges": 2,
            "marks nothing": 1,
            "random": 1,
        },
        seed=5,
    )
    return crowd, fit(crowd.data, "bsc")


def test_verdicts_say_what_workers_are_and_accuse_nobody_else() -> None:
    crowd, result = simulated()
    verdicts = dict(zip(result.workers()["worker"], result.workers()["verdict"], strict=True))
    wanted = {"expert": "good", "good": "good"}
    for name, character in zip(crowd.data.workers, crowd.character, strict=True):
        assert verdicts[name] == wanted.get(character, character), (name, character)


def test_every_verdict_has_a_look_and_is_given_on_some_crowd() -> None:
    names = {verdict.name for verdict in SPAN_VERDICTS}
    assert names <= set(VERDICT_STYLES)
    thin = fit(simulate_spans(texts=6, workers=3, annotations_per_text=3).data, "bsc")
    given = set(simulated()[1].workers()["verdict"]) | set(thin.workers()["verdict"])
    assert given == names - {"weak"}


def test_a_worker_whose_errors_have_no_one_kind_is_weak() -> None:
    crowd, result = simulated()
    good = next(
        numbers
        for numbers, character in zip(
            SpanWorkerAudit(result).numbers(), crowd.character, strict=True
        )
        if character == "good"
    )
    assert judge(good, SPAN_VERDICTS)[0].name == "good"
    below = good.crowd_recall - 0.16
    assert judge(replace(good, recall_high=below), SPAN_VERDICTS)[0].name == "weak"
    assert judge(replace(good, recall_high=below + 0.02), SPAN_VERDICTS)[0].name == "good"


def test_workers_are_compared_with_what_the_others_alone_would_give() -> None:
    """A worker who invents spans that nobody sees is not right because the truths follow them."""
    _crowd, result = simulated()
    table = result.workers()
    by_gold = table["gold_f1"].to_numpy()
    assert np.corrcoef(table["f1"].fillna(0), by_gold)[0, 1] > 0.9
    assert abs(float((table["f1"].fillna(0) - by_gold).mean())) < 0.1
    alone = simulate_spans(texts=30, workers=1, annotations_per_text=1)
    audit = SpanWorkerAudit(fit(alone.data, "bsc"))
    assert audit.n_expected.sum() == 0  # nobody else saw the texts


def test_intervals_of_recall_hold_what_gold_says_about_as_often_as_they_promise() -> None:
    inside = []
    for seed in range(6):
        crowd = simulate_spans(texts=150, workers=10, annotations_per_text=6, seed=seed)
        audit = SpanWorkerAudit(fit(crowd.data, "bsc"))
        assert audit.gold is not None
        recall = audit.gold[0] / audit.gold[2]
        table = audit.result.workers()
        inside += ((table["recall_low"] <= recall) & (recall <= table["recall_high"])).tolist()
    assert np.mean(inside) > 0.9


def test_agreement_counts_pairs_of_annotations_with_the_same_span() -> None:
    data = data_of({"a": [B_LOC, O, B_PER], "b": [B_LOC, O, O], "c": [B_LOC, I_LOC, O]}, [0, 3])
    # Four marks, each beside two others' annotations; only a and b agree, on one span.
    assert span_agreement(data).alpha == pytest.approx(2 / 8)
    assert span_agreement(data_of({"a": [B_LOC]}, [0, 1])).alpha is None
    assert comparison.EXACT == 0
