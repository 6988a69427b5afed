from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from crowdcore.audit.judging import copying
from crowdcore.audit.judging.copying import AlikePairs, Meetings, alike_pairs
from crowdcore.audit.judging.judgement import judge_crowd
from crowdcore.audit.judging.labels import JudgedLabels
from crowdcore.data import CrowdData
from crowdcore.simulation.classes import Simulation, simulate
from tests.audit.judging.crowds import without_gold


def crowd_with_copiers(classes: int, seed: int, copiers: float = 0.05) -> Simulation:
    return simulate(
        items=600,
        workers=40,
        classes=classes,
        labels_per_item=6,
        copiers=copiers,
        spammers=0.1,
        features=0,
        activity=0.3,
        seed=seed,
    )


def pairs(**values: float) -> AlikePairs:
    """One pair among a hundred."""
    facts = {"shared": 40, "log_factor": 20.0, "rate": 0.9} | values
    number = np.arange(100)
    first = number == 0
    return AlikePairs(
        worker=number,
        partner=number + 100,
        shared=np.where(first, facts["shared"], 40).astype(np.int64),
        same=np.full(100, 30),
        log_factor=np.where(first, facts["log_factor"], -9.0),
        rate=np.where(first, facts["rate"], 0.0),
        min_shared=5,
        n_compared=200,
    )


def test_a_pair_is_flagged_by_odds_against_all_pairs_and_by_its_rate() -> None:
    assert pairs().flagged.sum() == 1
    needed = float(np.log(3 * 100))  # all hundred pairs share equally many items
    assert pairs(log_factor=needed + 0.01).flagged.sum() == 1
    assert pairs(log_factor=needed - 0.01).flagged.sum() == 0
    assert pairs(rate=0.69).flagged.sum() == 0
    assert pairs(shared=4).flagged.sum() == 0


def test_pairs_with_few_shared_items_need_more_in_the_fourth_power() -> None:
    fewer, usual = 20.0, 40.0
    total = 99 * usual**4 + fewer**4
    needed = float(np.log(3 * total / fewer**4))
    assert pairs(shared=fewer, log_factor=needed + 0.01).flagged.sum() == 1
    assert pairs(shared=fewer, log_factor=needed - 0.01).flagged.sum() == 0


def test_flagged_pairs_are_joined_to_groups() -> None:
    alike = replace(
        pairs(),
        worker=np.array([1, 2, 7]),
        partner=np.array([2, 3, 8]),
        log_factor=np.full(3, 9.0),
        rate=np.full(3, 0.9),
        shared=np.full(3, 20),
    )
    assert [group.tolist() for group in alike.groups(12)] == [[1, 2, 3], [7, 8]]


@pytest.mark.parametrize("classes", [2, 4, 12])
def test_copies_are_found_and_nobody_else(classes: int) -> None:
    found, missed, wrong = 0, 0, 0
    for seed in range(4):
        simulation = crowd_with_copiers(classes, seed)
        judgement = judge_crowd(without_gold(simulation.data))
        source = np.where(simulation.copied_from >= 0, simulation.copied_from, np.arange(40))
        alike = judgement.pairs
        true = source[alike.worker] == source[alike.partner]
        enough = alike.shared >= 60
        found += int((alike.flagged & true & enough).sum())
        missed += int((~alike.flagged & true & enough).sum())
        wrong += int((alike.flagged & ~true).sum())
        assert judgement.schools == ()
    assert wrong == 0
    assert found > 4 * missed


def test_a_group_speaks_once_so_that_copied_errors_do_not_become_the_truth() -> None:
    simulation = crowd_with_copiers(4, 1)
    judgement = judge_crowd(without_gold(simulation.data))
    group = judgement.groups[0]
    assert len(set(judgement.labels.voice[group].tolist())) == 1
    assert judgement.labels.weight.min() == pytest.approx(0.5)


def test_too_many_alike_are_schools_of_thought_and_no_copies() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    other_view = np.where(truth == 2, 1, truth)  # half of the crowd was taught otherwise
    given = [
        np.where(rng.random(300) < 0.95, view, rng.integers(0, 3, 300))
        for view in [truth] * 10 + [other_view] * 10
    ]
    copies = [given[0]] * 3
    labels = np.concatenate([*given, *copies])
    data = CrowdData(
        item=np.tile(np.arange(300), 23),
        worker=np.repeat(np.arange(23), 300),
        label=labels,
        items=tuple(map(str, range(300))),
        workers=tuple(map(str, range(23))),
        classes=("a", "b", "c"),
    )
    judgement = judge_crowd(data)
    assert judgement.groups == ()
    assert sum(map(len, judgement.schools)) >= 4


def test_only_the_busiest_are_compared_in_a_huge_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = JudgedLabels.from_data(without_gold(crowd_with_copiers(3, 0).data))
    assert Meetings.from_labels(labels).n_compared == 40
    monkeypatch.setattr(copying, "MAX_MEETINGS", 2000)
    meetings = Meetings.from_labels(labels)
    assert meetings.n_compared < 40
    busy = np.diff(labels.starts)
    compared = np.union1d(meetings.worker, meetings.partner)
    assert busy[compared].min() >= np.sort(busy)[-meetings.n_compared]


def test_meetings_are_counted_once_per_item() -> None:
    triples = [(item, worker, "a") for item in range(6) for worker in "uvw"]
    triples[1] = (0, "v", "b")
    meetings = Meetings.from_labels(JudgedLabels.from_data(CrowdData.from_triples(triples)))
    assert meetings.shared.tolist() == [6, 6, 6]
    assert sorted(meetings.same.tolist()) == [5, 5, 6]


@dataclass(frozen=True)
class _Fit:
    """A fit in which every same answer has these two ratios."""

    ratios: tuple[float, float]
    has_matrices: bool = True

    def same_answer_ratios(self, labels: JudgedLabels) -> Any:
        del labels
        return lambda first, _second: tuple(np.full(len(first), ratio) for ratio in self.ratios)


def test_the_smaller_of_both_factors_counts() -> None:
    labels = JudgedLabels.from_data(without_gold(crowd_with_copiers(2, 0).data))
    meetings = Meetings.from_labels(labels)
    small, mixed, turned, large = (
        alike_pairs(labels, _Fit(ratios), meetings).log_factor  # type: ignore[arg-type]
        for ratios in ((1.2, 1.2), (1.2, 3.0), (3.0, 1.2), (3.0, 3.0))
    )
    np.testing.assert_allclose(mixed, np.minimum(small, large))
    np.testing.assert_allclose(turned, mixed)
    assert (small < large).any()
