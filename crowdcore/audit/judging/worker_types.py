"""What kind of worker gives such labels: a likelihood over types, with a fixed yardstick.

Each type is a handful of atoms, each with a probability for every label that depends on what
the others believe of its item. How far an atom's answers follow the truth is its `skill`: 0 if
they do not depend on the item, 1 if they are always right. The crowd's mean plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.crowd_fit import CrowdFit, LabelEvidence, Peculiarities
from crowdcore.audit.judging.labels import Rows
from crowdcore.data import Floats

KNOWS, BLIND, FAVOURITE, ONE_ANSWER, TAKES_FOR, INVERTED = range(6)
TYPES = ("knows", "blind", "favourite", "one answer", "takes for", "inverted")

PRIOR = np.array([0.79, 0.07, 0.05, 0.03, 0.03, 0.03])
"""How common the types are, before any crowd is seen."""

PRIOR_WORKERS = 60.0
"""Workers that this prior is worth: many, so that it matters less who else is in the crowd."""

MAX_BAD = 0.35
"""The share of blind, one-answer and inverted workers is never taken to be larger."""

SKILL_MEAN, SKILL_SD, SKILL_WORKERS = 0.65, 0.20, 30.0
"""Skills of those who know, before any crowd is seen, and how many workers this is worth."""

NEARLY_RANDOM = 0.25
"""Up to this skill answers count as random: a quarter of the way from guessing to always right."""

MIN_EXCESS = 0.10
"""Points by which a habit favours a class, from which it counts as a bias."""

MIN_LABELS = 5
"""Workers with fewer comparable labels have no say in how common types are."""

TILTS = (-1.5, -0.75, 0.0, 0.75, 1.5, 2.5, 4.0)
"""By how much the log-odds of a right answer differ from the crowd's."""

MIXED_TILTS = (0.0, 1.5, 4.0)
LOOKING = tuple(np.linspace(0.1, 0.9, 9).round(1).tolist())
"""How often a worker looks at the item, if not always."""

PULLS = (0.3, 0.45, 0.6, 0.75)
"""How often a worker gives a favourite class without looking."""

CONFUSIONS = (0.3, 0.5, 0.7, 0.9)
"""How often a worker takes one class for another."""

INVERSIONS = (0.45, 0.6, 0.75, 0.85, 0.95)
"""How often an inverted worker avoids the truth."""

ONE_ANSWER_BETA = 30.0
"""The share of a one-answer worker's class follows Beta(30, 1)."""

SKILL_BINS = np.linspace(0, 1, 11)
ROUNDS = 40
LEAST_PROBABILITY = 1e-6
TWO_CLASSES = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Atoms:
    """The atoms of all types for one crowd."""

    prior: Floats  # [K] how common the classes are
    has_matrices: bool  # without, nothing is known of pairs of classes
    type: Rows  # [A]
    skill: Floats  # [A]; NaN but for those who know
    by_habit: Floats  # [A] how often a worker who knows answers by own habit

    @classmethod
    def from_fit(cls, fit: CrowdFit) -> Atoms:
        """List the atoms in the order of `log_likelihoods`."""
        has_matrices = fit.has_matrices and len(fit.prior) > TWO_CLASSES
        kinds: list[tuple[int, float, float]] = [(BLIND, np.nan, 0.0)] * 3
        kinds.append((ONE_ANSWER, np.nan, 0.0))
        skill = {tilt: fit.skill(tilt) for tilt in TILTS}
        kinds += [(KNOWS, skill[tilt], 0.0) for tilt in TILTS]
        for tilt in MIXED_TILTS:
            for looking in LOOKING:
                kinds.append((KNOWS, looking * skill[tilt], 0.0))
                kinds.append((KNOWS, looking * skill[tilt], 1 - looking))
            kinds += [(FAVOURITE, np.nan, 0.0)] * len(PULLS)
            if has_matrices:
                kinds += [(TAKES_FOR, np.nan, 0.0)] * len(CONFUSIONS)
        kinds += [(INVERTED, np.nan, 0.0)] * ((1 + has_matrices) * len(INVERSIONS))
        types, skills, by_habit = zip(*kinds, strict=True)
        prior = fit.prior.astype(np.float64)
        return cls(
            prior=prior / prior.sum(),
            has_matrices=has_matrices,
            type=np.array(types),
            skill=np.array(skills),
            by_habit=np.array(by_habit),
        )

    def log_likelihoods(
        self, evidence: LabelEvidence, sizes: Rows, given_counts: Floats
    ) -> tuple[Floats, Peculiarities]:
        """How probable workers' labels are under each atom.

        Parameters
        ----------
        evidence
            What the others believe of the labels' items, those of one worker together.
        sizes
            How many labels each worker has [m]; none is 0.
        given_counts
            How often each worker gives each class [m, K].

        Returns
        -------
        logs
            Log-likelihoods, less what choosing a class after the fact costs.
        chosen
            The classes that were chosen.
        """
        k, n_workers = len(self.prior), len(sizes)
        worker = np.repeat(np.arange(n_workers), sizes)
        starts = np.cumsum(sizes) - sizes
        given, dtype = evidence.given, evidence.hit.dtype
        chosen = evidence.peculiarities(worker, n_workers)
        habit = (given_counts + 1) / (given_counts.sum(1, keepdims=True) + k)
        habit_logs = _dirichlet_multinomial(given_counts)
        habit_price = (given_counts * np.log(habit)).sum(1) - habit_logs

        def total(probability: NDArray[Any]) -> Floats:
            logs = np.log(np.maximum(probability, LEAST_PROBABILITY))
            sums: Floats = np.add.reduceat(logs, starts, dtype=np.float64)
            return sums

        by_share = self.prior.astype(dtype)[given]
        by_habit = habit.astype(dtype)[worker, given]
        logs = [-sizes * np.log(k), total(by_share), habit_logs, _one_answer(given_counts)]
        expected = {tilt: evidence.expected(tilt) for tilt in TILTS}
        logs += [total(expected[tilt]) for tilt in TILTS]
        is_favourite = (given == chosen.favourite[worker]).astype(dtype)
        for tilt in MIXED_TILTS:
            for looking in LOOKING:
                seen = looking * expected[tilt]
                logs.append(total(seen + (1 - looking) * by_share))
                price = (1 - looking) * habit_price
                logs.append(total(seen + (1 - looking) * by_habit) - price)
            for pull in PULLS:
                logs.append(total((1 - pull) * expected[tilt] + pull * is_favourite) - np.log(k))
            if self.has_matrices:
                change = evidence.confused(tilt, chosen.taken[worker], chosen.taken_for[worker])
                price = np.log(k * (k - 1))
                logs += [total(expected[tilt] + share * change) - price for share in CONFUSIONS]
        avoided = (1 - evidence.hit) / max(1, k - 1)
        logs += [total(share * avoided + (1 - share) / k) for share in INVERSIONS]
        if self.has_matrices:
            shifted = evidence.shifted(evidence.best_shift(worker, n_workers)[worker])
            price = np.log(k - 1)
            logs += [total(share * shifted + (1 - share) / k) - price for share in INVERSIONS]
        return np.stack(logs, axis=1), chosen


def _dirichlet_multinomial(counts: Floats) -> Floats:
    """Log-probability of sequences with these counts [m, K], all habits being equally likely."""
    from scipy.special import gammaln

    k = counts.shape[1]
    logs: Floats = gammaln(k) - gammaln(counts.sum(1) + k) + gammaln(counts + 1).sum(1)
    return logs


def _one_answer(counts: Floats) -> Floats:
    """Log-probability of sequences with these counts [m, K] from workers who give one class."""
    from scipy.special import betaln

    k = counts.shape[1]
    top = counts.max(1)
    others = counts.sum(1) - top
    logs: Floats = betaln(ONE_ANSWER_BETA + top, 1 + others) - betaln(ONE_ANSWER_BETA, 1)
    values: Floats = logs - others * np.log(max(1, k - 1)) - np.log(k)
    return values


@dataclass(frozen=True, kw_only=True, eq=False)
class TypeShares:
    """How probable each type is for each worker, and how common in the crowd."""

    probability: Floats  # [W, types]
    low_skill: Floats  # [W] P(knows, but nearly random)
    biased: Floats  # [W] P(a favourite class, or one class taken for another)
    prior: Floats  # [types] in this crowd
    skill: tuple[float, float]  # mean and sd of those who know

    @property
    def bad(self) -> Floats:
        """P(random, one answer or inverted) of each worker [W]."""
        types = self.probability
        total: Floats = types[:, BLIND] + types[:, ONE_ANSWER] + types[:, INVERTED] + self.low_skill
        return np.minimum(total, 1.0)


def type_shares(atoms: Atoms, logs: Floats, n_labels: Rows, excess: Floats) -> TypeShares:
    """Learn from a crowd how common types are, and weigh each worker's types.

    Parameters
    ----------
    atoms
        What the columns of `logs` stand for.
    logs
        Log-likelihoods of the workers' labels [W, A].
    n_labels
        How many labels each of these rests on [W].
    excess
        By how much the favourite class's share of a worker's own habit exceeds what their items
        suggest. Who answers so often by habit that this adds `MIN_EXCESS` is biased as well.

    Returns
    -------
    TypeShares
        The probabilities of the types, and what they rest on.
    """
    teaching = n_labels >= MIN_LABELS
    types = PRIOR.copy()
    if not (atoms.type == TAKES_FOR).any():
        types[TAKES_FOR] = 0
        types /= types.sum()
    start = types.copy()
    mean, sd = SKILL_MEAN, SKILL_SD
    knows = atoms.type == KNOWS
    weights = _atom_weights(atoms, types, mean, sd)
    for _ in range(ROUNDS):
        if not teaching.any():
            break
        shares = _responsibilities(logs[teaching], weights)
        totals = np.array([shares[:, atoms.type == kind].sum() for kind in range(len(TYPES))])
        types = _capped(totals + PRIOR_WORKERS * start)
        of_skill = shares[:, knows].sum(0)
        mean, sd = _moments(of_skill, atoms.skill[knows])
        updated = _atom_weights(atoms, types, mean, sd)
        moved = float(np.abs(updated - weights).max())
        weights = updated
        if moved < 1e-5:  # noqa: PLR2004  (nothing that is shown changes)
            break
    shares = _responsibilities(logs, weights)
    probability = np.stack([shares[:, atoms.type == kind].sum(1) for kind in range(len(TYPES))], 1)
    low = knows & (np.nan_to_num(atoms.skill, nan=1.0) <= NEARLY_RANDOM)
    lopsided = (excess[:, None] * atoms.by_habit >= MIN_EXCESS) & ~low
    biased = probability[:, FAVOURITE] + probability[:, TAKES_FOR] + (shares * lopsided).sum(1)
    return TypeShares(
        probability=probability,
        low_skill=shares[:, low].sum(1),
        biased=np.minimum(biased, 1.0),
        prior=types,
        skill=(mean, sd),
    )


def _responsibilities(logs: Floats, weights: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        scores = logs + np.log(weights)
    scores -= scores.max(1, keepdims=True)
    shares: Floats = np.exp(scores)
    values: Floats = shares / shares.sum(1, keepdims=True)
    return values


def _capped(totals: Floats) -> Floats:
    """Shares of the types, those that are bad capped together."""
    shares = totals / totals.sum()
    bad = [BLIND, ONE_ANSWER, INVERTED]
    share = float(shares[bad].sum())
    if share > MAX_BAD:
        rest = 1 - share
        shares[bad] *= MAX_BAD / share
        others = [KNOWS, FAVOURITE, TAKES_FOR]
        shares[others] *= (1 - MAX_BAD) / rest
    values: Floats = shares
    return values


def _moments(weight: Floats, skill: Floats) -> tuple[float, float]:
    """Mean and sd of skills, with a prior worth some workers."""
    total = float(weight.sum()) + SKILL_WORKERS
    mean = (float(weight @ skill) + SKILL_WORKERS * SKILL_MEAN) / total
    square = float(weight @ (skill - mean) ** 2)
    square += SKILL_WORKERS * (SKILL_SD**2 + (SKILL_MEAN - mean) ** 2)
    return mean, float(np.sqrt(square / total))


def _atom_weights(atoms: Atoms, types: Floats, mean: float, sd: float) -> Floats:
    """How probable each atom is [A]; skills of those who know follow a Beta distribution."""
    from scipy.special import betainc

    weights = np.zeros(len(atoms.type))
    for kind in range(len(TYPES)):
        own = atoms.type == kind
        if kind != KNOWS:
            weights[own] = types[kind] / max(1, own.sum())
            continue
        mean = float(np.clip(mean, 0.05, 0.97))
        size = max(mean * (1 - mean) / sd**2 - 1, 1.0)
        masses = np.diff(betainc(mean * size, (1 - mean) * size, SKILL_BINS))
        of_bin = np.clip(np.digitize(atoms.skill[own], SKILL_BINS) - 1, 0, len(masses) - 1)
        members = np.bincount(of_bin, minlength=len(masses))
        masses = np.where(members > 0, masses, 0)
        share = masses[of_bin] / members[of_bin]
        weights[own] = types[kind] * share / share.sum()
    return weights
