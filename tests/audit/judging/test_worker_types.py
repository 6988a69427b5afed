from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdcore.audit.judging.confusion_fit import ConfusionEvidence, ConfusionFit
from crowdcore.audit.judging.worker_types import (
    BLIND,
    FAVOURITE,
    INVERTED,
    KNOWS,
    ONE_ANSWER,
    TAKES_FOR,
    TYPES,
    Atoms,
    TypeShares,
    type_shares,
)
from tests.audit.judging.crowds import BAD, judged_crowd, mixed_crowd, workers_called

N_CLASSES = 4
TRUTH = np.random.default_rng(0).integers(0, N_CLASSES, 120)


def shares_of(*answers: NDArray[np.int64], n_classes: int = N_CLASSES) -> TypeShares:
    """Types of workers who gave these answers to items of known truths, beside good ones."""
    rng = np.random.default_rng(1)
    good = [
        np.where(rng.random(120) < 0.8, TRUTH, rng.integers(0, n_classes, 120)) for _ in range(12)
    ]
    given = [*answers, *good]
    crowd = 0.8 * np.eye(n_classes) + 0.2 / n_classes
    fit = ConfusionFit(
        posterior=np.zeros((0, n_classes)),
        log_given=np.zeros((0, n_classes)),
        crowd=crowd,
        prior=np.full(n_classes, 1 / n_classes),
    )
    belief = np.full((120, n_classes), 0.02 / (n_classes - 1))
    belief[np.arange(120), TRUTH] = 0.98
    evidence = ConfusionEvidence(
        belief=np.tile(belief, (len(given), 1)), given=np.concatenate(given), crowd=crowd
    )
    sizes = np.full(len(given), 120)
    counts = np.stack([np.bincount(one, minlength=n_classes) for one in given]).astype(float)
    atoms = Atoms.from_fit(fit)
    logs, chosen = atoms.log_likelihoods(evidence, sizes, counts)
    return type_shares(atoms, logs, sizes, chosen.surplus)


def right_in(share: float, otherwise: NDArray[np.int64], seed: int = 5) -> NDArray[np.int64]:
    """Answers that are right this often, and else as given."""
    looks = np.random.default_rng(seed).permutation(120) < round(share * 120)
    return np.where(looks, TRUTH, otherwise)


GUESSES = np.random.default_rng(3).integers(0, N_CLASSES, 120)


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        (right_in(0.75, GUESSES), KNOWS),
        (GUESSES, BLIND),
        (np.full(120, 2), ONE_ANSWER),
        (right_in(0.5, np.full(120, 1)), FAVOURITE),
        (np.where(TRUTH == 3, 0, TRUTH), TAKES_FOR),
        ((TRUTH + 1) % N_CLASSES, INVERTED),
    ],
    ids=TYPES,
)
def test_each_type_is_told_from_the_others(answers: NDArray[np.int64], kind: int) -> None:
    probability = shares_of(answers).probability[0]
    assert probability.argmax() == kind
    assert probability[kind] > 0.9
    assert probability.sum() == pytest.approx(1)


@pytest.mark.parametrize(("skill", "is_bad"), [(0.1, True), (0.45, False)])
def test_the_yardstick_is_a_quarter_of_the_way_to_always_right(skill: float, is_bad: bool) -> None:
    probability = shares_of(right_in(skill, GUESSES)).bad[0]
    assert (probability > 0.9) if is_bad else (probability < 0.1)


def test_just_above_and_just_below_the_yardstick_differ() -> None:
    below, above = (shares_of(right_in(skill, GUESSES)).bad[0] for skill in (0.15, 0.35))
    assert below > 0.75
    assert above < 0.25


def test_a_skewed_habit_counts_as_bias_only_if_it_is_large() -> None:
    often, seldom = (shares_of(right_in(share, np.full(120, 1))) for share in (0.55, 0.95))
    assert often.biased[0] > 0.9
    assert seldom.biased[0] < 0.3


def test_bad_workers_of_any_number_leave_most_of_the_prior_to_the_others() -> None:
    rng = np.random.default_rng(8)
    crowd = shares_of(*(rng.integers(0, N_CLASSES, 120) for _ in range(40)))
    assert crowd.prior[[BLIND, ONE_ANSWER, INVERTED]].sum() == pytest.approx(0.35)
    assert crowd.prior.sum() == pytest.approx(1)


def test_probabilities_mean_what_they_say_in_a_simulated_crowd() -> None:
    probability, is_bad = [], []
    for seed in range(6):
        judgement = judged_crowd(2 + seed % 3, seed)
        enough = judgement.judged
        bad = np.zeros(60, bool)
        bad[workers_called(mixed_crowd(2 + seed % 3, seed), *BAD)] = True
        probability.append(judgement.types.bad[enough])
        is_bad.append(bad[enough])
    chance, truth = np.concatenate(probability), np.concatenate(is_bad)
    assert truth[chance > 0.97].mean() > 0.95
    assert truth[chance < 0.05].mean() < 0.02
    middle = (chance > 0.2) & (chance < 0.8)
    assert abs(truth[middle].mean() - chance[middle].mean()) < 0.25


def certain_of(atom: int, atoms: Atoms, n_workers: int = 1) -> NDArray[np.float64]:
    """Log-likelihoods of workers whom a single atom explains."""
    logs = np.full((n_workers, len(atoms.type)), -200.0)
    logs[:, atom] = 0.0
    return logs


def atoms_of_four_classes() -> Atoms:
    fit = ConfusionFit(
        posterior=np.zeros((0, N_CLASSES)),
        log_given=np.zeros((0, N_CLASSES)),
        crowd=0.8 * np.eye(N_CLASSES) + 0.2 / N_CLASSES,
        prior=np.full(N_CLASSES, 1 / N_CLASSES),
    )
    return Atoms.from_fit(fit)


@pytest.mark.parametrize(("excess", "is_biased"), [(0.21, True), (0.19, False)])
def test_a_habit_is_a_bias_from_ten_points_on(excess: float, is_biased: bool) -> None:
    atoms = atoms_of_four_classes()
    half = np.isclose(atoms.by_habit, 0.5) & (np.nan_to_num(atoms.skill) > 0.3)
    logs = certain_of(int(np.flatnonzero(half)[0]), atoms)
    shares = type_shares(atoms, logs, np.array([100]), np.array([excess]))
    assert bool(shares.biased[0] > 0.99) is is_biased


def test_what_was_thought_before_is_worth_sixty_workers() -> None:
    atoms = atoms_of_four_classes()
    knows = int(np.flatnonzero((atoms.type == KNOWS) & (atoms.skill > 0.5))[0])
    logs = certain_of(knows, atoms, n_workers=20)
    shares = type_shares(atoms, logs, np.full(20, 100), np.zeros(20))
    assert shares.prior[BLIND] == pytest.approx(0.07 * 60 / 80, abs=1e-4)
