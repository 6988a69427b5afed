"""Promises of methods that infer spans in texts."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from crowdcore.data import UNKNOWN, CrowdData, Kind
from crowdcore.method import Method
from crowdcore.registry import fit
from crowdcore.results.sequences import SequenceResult
from crowdcore.simulation.spans import simulate_spans
from crowdcore.spans import find_spans, is_among, repaired
from tests.conformance.suites import texts_with_some_gold

KIND: Kind = "sequences"
WORSE_THAN_VOTE = 0.02
DRAWS = {"ebcc", "fds"}
"""Methods whose random numbers go by the order of items or classes."""


@cache
def easy_texts() -> CrowdData:
    return simulate_spans(texts=120, workers=8, types=2, annotations_per_text=5, seed=4).data


def texts(method: Method) -> CrowdData:
    """Return simulated texts, with gold of a third where the method needs it."""
    return texts_with_some_gold(easy_texts()) if method.needs.gold else easy_texts()


def run_on(method: Method, data: CrowdData, **extra: Any) -> SequenceResult:
    result = method.fit(data, **{**method.quick, **extra})
    assert isinstance(result, SequenceResult)
    return result


def test_truths_are_valid_tags(method: Method) -> None:
    result = run_on(method, texts(method))
    np.testing.assert_array_equal(
        repaired(result.truth, result.starts, result.tag_set), result.truth
    )


def test_unanimous_spans_stay(method: Method) -> None:
    data = texts(method)
    result = run_on(method, data)
    unanimous = (data.votes > 0).sum(1) == 1
    everywhere = np.minimum.reduceat(unanimous, result.starts)  # texts about which all agree
    agreed = find_spans(data.votes.argmax(1), result.starts, result.tag_set)
    text = np.searchsorted(result.starts, agreed.start, side="right") - 1
    agreed = agreed.only(everywhere[text])
    assert len(agreed) > 5
    assert is_among(agreed, result.spans, len(result.tag_set.types)).all()


def test_other_names_and_another_order_give_the_same_spans(method: Method) -> None:
    if method.id in DRAWS:
        return  # ties are drawn in the order of the items, or starts in that of the classes
    data = texts(method)
    rng = np.random.default_rng(1)
    worker = rng.permutation(data.n_workers)
    # Types change places: B-1, I-1 and B-2, I-2.
    tag = np.array([0, 3, 4, 1, 2])
    offsets = np.asarray(data.offsets)
    order = rng.permutation(len(offsets) - 1)
    lengths = np.diff(offsets)[order]
    new_offsets = np.concatenate([[0], np.cumsum(lengths)])
    token = np.concatenate([np.arange(offsets[t], offsets[t + 1]) for t in order])
    item = np.argsort(token)
    assert data.gold is not None
    renamed = dataclasses.replace(
        data,
        item=item[data.item],
        worker=worker[data.worker],
        label=tag[data.label],
        gold=np.where(data.has_gold, tag[data.gold], UNKNOWN)[token],
        offsets=new_offsets,
        details={name: tuple(np.array(v)[token].tolist()) for name, v in data.details.items()},
    )
    before, after = run_on(method, data), run_on(method, renamed)
    np.testing.assert_allclose(before.posterior, after.posterior[item][:, tag], atol=1e-6)


def test_easy_texts_are_solved_about_as_well_as_by_a_vote(method: Method) -> None:
    data = texts(method)
    score, vote = run_on(method, data).score(), fit(data, "token_mv").score()
    if score is None:  # the method has seen the gold
        return
    assert score.exact.f1 >= vote.exact.f1 - WORSE_THAN_VOTE  # type: ignore[union-attr]
