"""Verdicts: crowds on which each of them just fires, and just does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from crowdcore.audit.judging.worker_evidence import worker_evidence
from crowdcore.audit.verdicts import (
    BEST_FIRST,
    IN_DOUBT,
    VERDICTS,
    WORST_FIRST,
    describe_verdicts,
    labels_to_decide,
    sure,
    verdict_named,
)
from crowdcore.audit.worker_numbers import WorkerNumbers, worker_numbers
from crowdcore.audit.workers import with_requirement, worker_table
from crowdcore.data import CrowdData
from crowdcore.registry import fit

N_ITEMS, N_CLASSES, N_OTHERS = 160, 3, 24
TRUTH = np.random.default_rng(0).integers(0, N_CLASSES, N_ITEMS)
GUESSES = np.random.default_rng(1).integers(0, N_CLASSES, N_ITEMS)
ORDER = np.arange(N_ITEMS)


def right_in(share: float, otherwise: NDArray[Any] = GUESSES) -> NDArray[Any]:
    """Answers that look at the item in this share, spread over the items, and else as given."""
    looks = np.random.default_rng(2).permutation(N_ITEMS) < round(share * N_ITEMS)
    return np.where(looks, TRUTH, otherwise)


def judged(answers: NDArray[Any], *, fast: NDArray[Any] | None = None, **options: Any) -> pd.Series:
    """What is said of a first worker with these answers, beside others of different skill."""
    rng = np.random.default_rng(3)
    given = [answers]
    for skill in np.linspace(0.55, 0.95, N_OTHERS):
        looks = rng.random(N_ITEMS) < skill
        given.append(np.where(looks, TRUTH, rng.integers(0, N_CLASSES, N_ITEMS)))
    sizes = [len(one) for one in given]
    seconds = np.full(sum(sizes), 12.0) * np.exp(rng.normal(0, 0.2, sum(sizes)))
    if fast is not None:
        seconds[: len(answers)] /= np.where(fast, 10, 1)
    data = CrowdData(
        item=np.concatenate([np.arange(size) for size in sizes]),
        worker=np.repeat(np.arange(len(given)), sizes),
        label=np.concatenate(given),
        items=tuple(map(str, range(N_ITEMS))),
        workers=tuple(f"w{number}" for number in range(len(given))),
        classes=("a", "b", "c"),
        duration=None if fast is None else seconds,
    )
    return worker_table(fit(data, "mv"), **options).iloc[0]


IN_ORDER = {"rows_in_order": True}
SWAPPED = np.where(TRUTH == 0, 1, np.where(TRUTH == 1, 0, TRUTH))
CASES: dict[str, tuple[NDArray[Any], dict[str, Any], str]] = {
    "works": (right_in(0.7), {}, "good"),
    "a little above the yardstick": (right_in(0.4), {}, "good"),
    "below the yardstick": (right_in(0.1), {}, "random"),
    "near the yardstick": (right_in(0.22), {}, "undecided"),
    "four labels": (TRUTH[:4], {}, "undecided"),
    "one class whatever the item is": (np.full(N_ITEMS, 2), {}, "one answer"),
    "avoids the truth": ((TRUTH + 1) % N_CLASSES, {}, "inverted"),
    "leans to a class": (right_in(0.5, np.full(N_ITEMS, 1)), {}, "biased"),
    "takes one class for another": (np.where(TRUTH == 2, 1, TRUTH), {}, "biased"),
    "surely below what is asked for": (right_in(0.5), {"requirement": 0.8}, "weak"),
    "perhaps below what is asked for": (right_in(0.7), {"requirement": 0.8}, "good"),
    "stops looking": (np.where(ORDER < 80, TRUTH, GUESSES), IN_ORDER, "drifting"),
    "stops looking, in an unknown order": (np.where(ORDER < 80, TRUTH, GUESSES), {}, "good"),
    "goes round the classes": (ORDER % N_CLASSES, IN_ORDER, "pattern"),
    "goes round, in an unknown order": (ORDER % N_CLASSES, {}, "random"),
    "does not look when fast": (
        np.where(ORDER % 2, TRUTH, GUESSES),
        {"fast": ORDER % 2 == 0},
        "too fast in part",
    ),
    "looks also when fast": (right_in(0.9), {"fast": ORDER % 2 == 0}, "good"),
}


@pytest.mark.parametrize(("answers", "options", "verdict"), CASES.values(), ids=CASES)
def test_each_verdict_fires_up_to_its_threshold(
    answers: NDArray[Any], options: dict[str, Any], verdict: str
) -> None:
    worker = judged(answers, **options)
    assert worker["verdict"] == verdict, worker["evidence"]
    named = verdict_named(verdict)
    assert named is not None
    assert worker["advice"] == named.advice
    assert worker["evidence"].endswith(".")


def copied_crowd() -> CrowdData:
    """A crowd in which the last worker hands in the answers of the first."""
    rng = np.random.default_rng(5)
    given = [
        np.where(rng.random(N_ITEMS) < 0.7, TRUTH, rng.integers(0, N_CLASSES, N_ITEMS))
        for _ in range(25)
    ]
    given.append(given[0])
    return CrowdData(
        item=np.tile(np.arange(N_ITEMS), len(given)),
        worker=np.repeat(np.arange(len(given)), N_ITEMS),
        label=np.concatenate(given),
        items=tuple(map(str, range(N_ITEMS))),
        workers=tuple(f"w{number}" for number in range(len(given))),
        classes=("a", "b", "c"),
    )


def test_both_of_a_pair_that_answers_alike_are_named_and_neither_is_blamed() -> None:
    table = worker_table(fit(copied_crowd(), "mv"))
    alike = table[table["verdict"] == "alike"]
    assert alike["worker"].tolist() == ["w0", "w25"]
    assert alike["group"].tolist() == ["1", "1"]
    assert "160 of 160 shared answers equal those of 'w25'" in alike["evidence"].iloc[0]
    assert "unknown" in alike["evidence"].iloc[0]


def test_every_verdict_has_a_crowd_on_which_it_fires() -> None:
    fired = {verdict for _, _, verdict in CASES.values()} | {"alike"}
    assert fired == {verdict.name for verdict in VERDICTS}


def test_a_verdict_does_not_depend_on_the_method() -> None:
    data = copied_crowd()
    columns = ["worker", "verdict", "probability", "accuracy", "accuracy_low", "evidence"]
    first, *others = (fit(data, method).workers()[columns] for method in ("mv", "ds", "glad"))
    for other in others:
        pd.testing.assert_frame_equal(first, other)


def test_a_requirement_can_be_set_afterwards() -> None:
    data = copied_crowd()
    result = fit(data, "mv")
    again = with_requirement(result.workers(), worker_evidence(data), 0.9)
    pd.testing.assert_frame_equal(again, result.workers(requirement=0.9))
    assert (again["verdict"] == "weak").sum() > 5
    assert not (result.workers()["verdict"] == "weak").any()


def test_the_most_harmful_come_first_and_those_of_whom_nothing_is_known_last() -> None:
    assert WORST_FIRST[:3] == ("inverted", "pattern", "random")
    assert WORST_FIRST[-2:] == ("good", "undecided")
    assert BEST_FIRST[0] == "good"
    assert BEST_FIRST[-2:] == ("inverted", "undecided")
    assert set(IN_DOUBT) == set(BEST_FIRST) - {"good", "undecided"}


def test_every_verdict_is_explained() -> None:
    text = describe_verdicts()
    for verdict in VERDICTS:
        assert f"**{verdict.name}**: {verdict.meaning}" in text
        assert verdict_named(verdict.name) is verdict
        assert verdict.meaning.endswith(".")
        assert verdict.caveat.endswith(".")
        assert verdict.advice.endswith(".")
    assert verdict_named("of an earlier version") is None


def test_review_comes_before_exclude_in_every_advice() -> None:
    for verdict in VERDICTS:
        words = verdict.advice.lower()
        if "exclude" in words:
            assert words.index("review") < words.index("exclude")


def test_nothing_is_a_hundred_percent_sure() -> None:
    assert sure(0.9999) == "More than 99% sure"
    assert sure(0.94) == "94% sure"


def first_numbers() -> WorkerNumbers:
    data = copied_crowd()
    return next(worker_numbers(data.workers, data.labels_per_worker, worker_evidence(data)))


def test_a_better_crowd_needs_fewer_labels_to_tell_guessing_from_work() -> None:
    numbers = first_numbers()._replace(chance=0.5)
    needed = [
        labels_to_decide(numbers._replace(crowd_accuracy=share)) for share in (0.6, 0.8, 0.95)
    ]
    assert needed == sorted(needed, reverse=True)
    assert needed[1] == 20  # log 19 over a divergence of 0.19 nats, rounded up to fives


def test_gold_turns_the_interval_into_a_promise() -> None:
    data = copied_crowd()
    assert "as the others see it" in worker_table(fit(data, "mv"))["evidence"][3]
    few, enough = (replace(data, gold=np.where(np.arange(N_ITEMS) < n, TRUTH, -1)) for n in (9, 10))
    assert "as the others see it" in worker_table(fit(few, "mv"))["evidence"][3]
    assert "95% interval" in worker_table(fit(enough, "mv"))["evidence"][3]
