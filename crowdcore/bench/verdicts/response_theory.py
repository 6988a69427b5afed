"""A crowd by item response theory: abilities and difficulties, no confusion matrices.

Written apart from `crowdcore.simulation.classes`, so that rules are not tried only on the kind of
crowd that they were thought out with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdcore.bench.verdicts.crowds import KnownCrowd
from crowdcore.data import UNKNOWN, CrowdData, Floats

DISCRIMINATION = 1.3
LURED = 0.3
"""How often a guess falls for the item's own wrong class."""

MIN_SKILL = 0.3
"""Honest workers are at least this far from guessing to always right: above the yardstick."""

SLIPS = 0.03
"""How often a one-answer worker gives something else."""

TURNED = 0.9
"""How often an adversary gives another class than the true one, on purpose."""

COPYING = 0.95
"""How often a copier hands in the other's answer."""


def response_crowd(
    *,
    items: int,
    workers: int,
    classes: int,
    labels_per_item: int,
    hard: bool,
    shares: dict[str, float],
    seed: int,
) -> KnownCrowd:
    """Simulate a crowd whose workers know an item or do not, and then guess.

    Parameters
    ----------
    items, workers, classes, labels_per_item
        Sizes.
    hard
        Whether items are difficult for most workers.
    shares
        Shares of the workers that are "random", "one answer", "adversary", "copier" and
        "lopsided"; the others are "good".
    seed
        The seed.

    Returns
    -------
    KnownCrowd
        The labels, and who is what.
    """
    rng = np.random.default_rng(seed)
    character = np.array(["good"] * workers, dtype=object)
    order, begin = rng.permutation(workers), 0
    for name, share in shares.items():
        number = round(share * workers)
        character[order[begin : begin + number]] = name
        begin += number
    difficulty = rng.normal(0.5 if hard else -0.5, 1.2 if hard else 0.8, items)
    pull = np.where(character == "lopsided", rng.uniform(0.3, 0.6, workers), 0.0)
    ability = _abilities(rng, difficulty, pull, classes)
    prior = rng.dirichlet(np.full(classes, 8.0))
    truth = rng.choice(classes, size=items, p=prior)
    who, copied_from = _assign(rng, character, items, labels_per_item)
    item = np.repeat(np.arange(items), labels_per_item)
    worker = who.ravel()
    knows = rng.random(len(item)) < _known(ability[worker], difficulty[item])
    label = _answers(rng, character, pull, knows, truth, item, worker, classes)
    _copy(rng, label, item, worker, copied_from)
    data = CrowdData(
        item=item.astype(np.int32),
        worker=worker.astype(np.int32),
        label=label.astype(np.int32),
        items=tuple(f"i{number}" for number in range(items)),
        workers=tuple(f"w{number}" for number in range(workers)),
        classes=tuple(f"c{number}" for number in range(classes)),
    )
    return KnownCrowd(
        data=data, truth=truth, character=tuple(character), copied_from=copied_from, hard=hard
    )


def _known(ability: Floats, difficulty: Floats) -> Floats:
    return 1 / (1 + np.exp(-DISCRIMINATION * (ability - difficulty)))


def _abilities(rng: np.random.Generator, difficulty: Floats, pull: Floats, classes: int) -> Floats:
    """Abilities [W] of workers who are skilled enough, drawn again where they are not."""
    ability = rng.normal(1.0, 0.9, len(pull))
    while True:
        known = _known(ability[:, None], difficulty[None]).mean(1)
        accuracy = known + (1 - known) * (1 - LURED) / classes
        skill = (1 - pull) * (accuracy - 1 / classes) / (1 - 1 / classes)
        poor = skill < MIN_SKILL
        if not poor.any():
            return ability
        ability[poor] = rng.normal(1.0, 0.9, int(poor.sum()))


def _assign(
    rng: np.random.Generator, character: NDArray[np.object_], items: int, labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Workers of each item [N, R], by a lognormal eagerness; copiers follow one honest worker."""
    workers = len(character)
    eager = rng.lognormal(0, 0.9, workers)
    copied_from = np.full(workers, UNKNOWN)
    copiers = np.flatnonzero(character == "copier")
    honest = np.flatnonzero(character == "good")
    copied_from[copiers] = rng.choice(honest, size=len(copiers), replace=False)
    apart = np.flatnonzero(character != "copier")
    wait = rng.exponential(size=(items, len(apart))) / eager[apart]
    who = apart[np.argsort(wait, axis=1)[:, :labels]]
    for copier in copiers:
        row, column = np.nonzero(who == copied_from[copier])
        follows = rng.random(len(row)) < min(1.0, eager[copier] / eager[copied_from[copier]])
        row, column = row[follows], column[follows]
        if labels > 1:
            who[row, (column + rng.integers(1, labels, len(row))) % labels] = copier
    return who, copied_from


def _answers(  # noqa: PLR0917  (what each answer hangs on)
    rng: np.random.Generator,
    character: NDArray[np.object_],
    pull: Floats,
    knows: NDArray[np.bool_],
    truth: NDArray[np.int64],
    item: NDArray[np.int64],
    worker: NDArray[np.int64],
    classes: int,
) -> NDArray[np.int64]:
    n = len(item)
    distractor = (truth + rng.integers(1, classes, len(truth))) % classes
    guess = np.where(rng.random(n) < LURED, distractor[item], rng.integers(classes, size=n))
    label = np.where(knows, truth[item], guess)
    own = character[worker]
    favourite = rng.integers(classes, size=len(character))
    pulled = rng.random(n) < pull[worker]
    label = np.where(pulled, favourite[worker], label)
    habits = np.cumsum(rng.dirichlet(np.full(classes, 4.0), len(character)), axis=1)
    blind = (rng.random(n)[:, None] > habits[worker]).sum(1).clip(max=classes - 1)
    label = np.where(own == "random", blind, label)
    slips = rng.random(n) < SLIPS
    one_answer = np.where(slips, rng.integers(classes, size=n), favourite[worker])
    label = np.where(own == "one answer", one_answer, label)
    shift = rng.integers(1, classes, len(character))
    turned = (truth[item] + shift[worker]) % classes
    return np.where((own == "adversary") & (rng.random(n) < TURNED), turned, label)


def _copy(
    rng: np.random.Generator,
    label: NDArray[np.int64],
    item: NDArray[np.int64],
    worker: NDArray[np.int64],
    copied_from: NDArray[np.int64],
) -> None:
    """Let copiers hand in the other's answer, in place."""
    for copier in np.flatnonzero(copied_from != UNKNOWN):
        theirs = dict(
            zip(
                item[worker == copied_from[copier]].tolist(),
                label[worker == copied_from[copier]].tolist(),
                strict=True,
            )
        )
        for row in np.flatnonzero(worker == copier):
            if item[row] in theirs and rng.random() < COPYING:
                label[row] = theirs[item[row]]
