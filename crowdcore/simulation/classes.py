"""Crowds with a known truth: experts, spammers, adversaries, copiers, hard items, class bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError, Floats

Character = Literal[
    "expert", "good", "careless", "lopsided", "random", "one answer", "adversary", "copier"
]
CHARACTERS: tuple[Character, ...] = get_args(Character)

SKILL: dict[Character, float] = {"expert": 0.95, "good": 0.75, "lopsided": 0.75, "careless": 0.4}
"""How far such a worker's mean accuracy lies from chance (0) to perfection (1)."""

SPREAD = 60.0
"""How alike workers of one character are: the size of the Beta their skills are drawn from."""

PULL = (0.35, 0.6)
"""How often a lopsided worker gives their favourite class without looking."""

LURE = (0.3, 0.6)
"""How often a hard item is taken for its look-alike class."""

DISGUISE = 0.85
"""How often an adversary gives the class they have agreed to give instead of the true one."""

FIDELITY = 0.95
"""How often a copier hands in the other's answer; else they answer like them, on their own."""

CLASS_DISTANCE = 3.0
"""How far apart two classes lie in feature space, in standard deviations."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation:
    """Simulated labels, and all that an auditor would love to know about them."""

    data: CrowdData  # gold is the truth of every item
    truth: Codes  # [N]
    confusion: Floats  # [W, true, given], as asked for; a copier has that of the one copied
    character: tuple[Character, ...]  # [W]
    copied_from: Codes  # [W]; UNKNOWN where nobody is copied
    lure: Floats  # [N] how often an item is taken for its look-alike; 0 for easy items
    lookalike: Codes  # [N]


def simulate(
    *,
    items: int = 1000,
    workers: int = 50,
    classes: int = 4,
    labels_per_item: int = 5,
    experts: float = 0.1,
    careless: float = 0.2,
    spammers: float = 0.1,
    adversaries: float = 0.0,
    copiers: float = 0.0,
    class_bias: float = 0.1,
    hard_items: float = 0.0,
    skew: float = 0.0,
    activity: float = 0.8,
    features: int = 16,
    truth: Sequence[int] | NDArray[np.integer] | None = None,
    seed: int = 0,
) -> Simulation:
    """Simulate a crowd whose truths and workers are known.

    Parameters
    ----------
    items, workers, classes
        How many there are.
    labels_per_item
        How many workers label each item.
    experts, careless, class_bias
        Shares of the honest workers who are very good, make many errors, or confuse classes
        mostly in one direction. Who is none of these is good.
    spammers
        The share of workers who label without looking: half at random, half always the same.
    adversaries
        The share of workers who mean to be wrong.
    copiers
        The share of workers who copy another one.
    hard_items
        The share of items that are hard to tell.
    skew
        How uneven the classes are: class k has a prior of (k + 1) ** -skew.
    activity
        How uneven the workers are: the r-th busiest works r ** -activity as much as the first.
    features
        How many features describe an item; 0 for none.
    truth
        Class codes of the items, instead of drawn ones; their number is that of the items.
    seed
        From which all random numbers come.

    Returns
    -------
    Simulation
        The data, with the truths as gold, and what each worker is.

    Raises
    ------
    DataError
        If the numbers do not fit together.

    Examples
    --------
    >>> simulate(items=20, workers=6, labels_per_item=3).data.n_labels
    60
    """
    known = None if truth is None else np.asarray(truth)
    items = items if known is None else len(known)
    _check_sizes(items, workers, classes, labels_per_item, features, skew, activity)
    bad = {"spammers": spammers, "adversaries": adversaries, "copiers": copiers}
    honest = {"experts": experts, "careless": careless, "class_bias": class_bias}
    counts = _count(workers, bad, honest)
    _check_share("hard_items", hard_items)
    if counts["copier"] and labels_per_item < 2:  # noqa: PLR2004  (the other and the copier)
        raise DataError("Copiers need two labels per item: the other's and their own")
    if labels_per_item > (others := workers - counts["copier"]):
        people = f"{others} workers who do not copy" if counts["copier"] else f"{others} workers"
        raise DataError(
            f"{labels_per_item} labels per item need as many workers; there are {people}",
            fix="Ask for more workers or for fewer labels per item.",
        )

    rng = np.random.default_rng(seed)
    character = rng.permutation(np.repeat(CHARACTERS, [counts[name] for name in CHARACTERS]))
    copied_from = _choose_models(rng, character)
    confusion = _draw_confusion(rng, character, classes)
    confusion[copied_from >= 0] = confusion[copied_from[copied_from >= 0]]

    if known is None:
        prior = np.arange(1, classes + 1, dtype=np.float64) ** -skew
        codes = rng.choice(classes, size=items, p=prior / prior.sum()).astype(np.int32)
    else:
        codes = _check_truth(known, classes)
    drawn = _draw_difficulty(rng, codes, classes, hard_items)
    weight = rng.permutation(np.arange(1, workers + 1, dtype=np.float64) ** -activity)
    who = _assign(rng, weight, copied_from, items, labels_per_item)  # [N, R]
    label = _answer(rng, who, drawn, confusion)
    _copy(rng, label, who, copied_from)

    data = CrowdData(
        item=np.repeat(np.arange(items, dtype=np.int32), labels_per_item),
        worker=who.ravel(),
        label=label.ravel(),
        items=_names("i", items),
        workers=_names("w", workers),
        classes=_names("c", classes),
        gold=codes,
        features=_draw_features(rng, drawn, classes, features),
        feature_names=_names("x", features) if features else (),
    )
    return Simulation(
        data=data,
        truth=codes,
        confusion=confusion,
        character=tuple(str(name) for name in character),  # type: ignore[misc]
        copied_from=copied_from,
        lure=drawn.lure,
        lookalike=drawn.lookalike,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Items:
    truth: Codes  # [N]
    lure: Floats  # [N]
    lookalike: Codes  # [N]


def _check_sizes(  # noqa: PLR0917  (one line per bound)
    items: int, workers: int, classes: int, labels: int, features: int, skew: float, activity: float
) -> None:
    bounds = [
        ("items", items, 1),
        ("workers", workers, 1),
        ("classes", classes, 2),
        ("labels_per_item", labels, 1),
        ("features", features, 0),
        ("skew", skew, 0),
        ("activity", activity, 0),
    ]
    for name, value, least in bounds:
        if not least <= value < np.inf:
            raise DataError(f"{name} must be at least {least}, not {value}")


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise DataError(f"{name} is a share between 0 and 1, not {share}")


def _check_truth(truth: NDArray[np.integer], classes: int) -> Codes:
    if truth.ndim != 1 or not np.issubdtype(truth.dtype, np.integer):
        raise DataError("The given truth must be one class code an item")
    if truth.min() < 0 or truth.max() >= classes:
        raise DataError(f"The given truth must hold class codes from 0 to {classes - 1}")
    return truth.astype(np.int32)


def _count(workers: int, bad: dict[str, float], honest: dict[str, float]) -> dict[Character, int]:
    """Turn shares into whole workers; honest ones who are nothing else are good."""
    for shares, whole in [(bad, "the workers"), (honest, "the honest workers")]:
        for name, share in shares.items():
            _check_share(name, share)
        if (total := sum(shares.values())) > 1 + 1e-9:
            names = " + ".join(shares)
            raise DataError(f"{names} is {total:.3g} of {whole}, more than all of them")
    spammers, adversaries, copiers = _round(workers, bad)
    experts, careless, lopsided = _round(workers - spammers - adversaries - copiers, honest)
    counts: dict[Character, int] = {
        "expert": experts,
        "careless": careless,
        "lopsided": lopsided,
        "random": (spammers + 1) // 2,
        "one answer": spammers // 2,
        "adversary": adversaries,
        "copier": copiers,
    }
    return {**counts, "good": workers - sum(counts.values())}


def _round(whole: int, shares: dict[str, float]) -> list[int]:
    """Whole numbers whose running sums are the nearest to those of the shares."""
    bounds = np.rint(np.cumsum([0.0, *shares.values()]) * whole + 1e-9).astype(int)
    return [int(size) for size in np.diff(bounds)]


def _choose_models(rng: np.random.Generator, character: NDArray[np.str_]) -> Codes:
    """Give every copier somebody to copy; honest workers where there are any."""
    copied_from = np.full(len(character), UNKNOWN, np.int32)
    honest = np.flatnonzero(np.isin(character, list(SKILL)))
    pool = honest if len(honest) else np.flatnonzero(character != "copier")
    copier = np.flatnonzero(character == "copier")
    if len(copier):
        copied_from[copier] = rng.choice(pool, size=len(copier))
    return copied_from


def _draw_confusion(rng: np.random.Generator, character: NDArray[np.str_], classes: int) -> Floats:
    """One matrix [true, given] a worker, by character."""
    n = len(character)
    skill = np.array([SKILL.get(name, 0.5) for name in character.tolist()])
    skill = rng.beta(skill * SPREAD, (1 - skill) * SPREAD)
    accuracy = 1 / classes + skill * (1 - 1 / classes)
    errors = rng.dirichlet(np.full(classes, 2.0), size=(n, classes))
    own = np.arange(classes)
    errors[:, own, own] = 0
    errors /= errors.sum(2, keepdims=True)
    confusion = errors * (1 - accuracy)[:, None, None]
    confusion[:, own, own] = accuracy[:, None]

    favourite = np.eye(classes)[rng.integers(classes, size=n)]  # [W, K]
    pull = np.where(character == "lopsided", rng.uniform(*PULL, size=n), 0)[:, None, None]
    confusion = (1 - pull) * confusion + pull * favourite[:, None, :]

    confusion[character == "random"] = 1 / classes
    confusion[character == "one answer"] = favourite[character == "one answer"][:, None, :]
    shift = rng.integers(1, classes, size=n)
    liars = np.flatnonzero(character == "adversary")
    lies = (own[None, :] + shift[liars, None]) % classes  # [A, true] -> given
    confusion[liars] = (1 - DISGUISE) / classes
    confusion[liars[:, None], own[None, :], lies] += DISGUISE
    return confusion


def _draw_difficulty(
    rng: np.random.Generator, truth: Codes, classes: int, hard_items: float
) -> _Items:
    """How strongly each item is mistaken, and for which other class."""
    n = len(truth)
    lookalike = (truth + rng.integers(1, classes, size=n)) % classes
    lure = np.zeros(n)
    hard = rng.choice(n, size=round(hard_items * n), replace=False)
    lure[hard] = rng.uniform(*LURE, size=len(hard))
    return _Items(truth=truth, lure=lure, lookalike=lookalike.astype(np.int32))


def _assign(
    rng: np.random.Generator, weight: Floats, copied_from: Codes, items: int, labels: int
) -> Codes:
    """Choose different workers [N, R] for every item; copiers follow those they copy."""
    alone = np.flatnonzero(copied_from < 0)
    who = alone.astype(np.int32)[_draw_distinct(rng, weight[alone], items, labels)]
    copiers = np.flatnonzero(copied_from >= 0)
    if not len(copiers):
        return who
    # Every place where somebody is copied is a chance for each of their copiers.
    order = np.argsort(who, axis=None, kind="stable")
    sizes = np.bincount(who.ravel(), minlength=len(weight))
    starts = np.cumsum(sizes) - sizes
    model = copied_from[copiers]
    copier = np.repeat(copiers, sizes[model])
    nth = np.arange(len(copier)) - np.repeat(np.cumsum(sizes[model]) - sizes[model], sizes[model])
    row, column = np.divmod(order[starts[copied_from[copier]] + nth], labels)
    keen = rng.random(len(copier)) < weight[copier] / weight[copied_from[copier]]
    copier, row, column = copier[keen], row[keen], column[keen]
    # A copier takes another worker's place, never that of the one they copy.
    column = (column + rng.integers(1, labels, size=len(column))) % labels
    who[row, column] = copier
    return who


def _draw_distinct(rng: np.random.Generator, weight: Floats, rows: int, n: int) -> Codes:
    """Draw n different positions for each row, one after the other, by weight."""
    chosen = np.empty((rows, n), np.int32)
    if 2 * n > len(weight):
        step = max(1, 4_000_000 // len(weight))
        for start in range(0, rows, step):
            stop = min(rows, start + step)
            # The n smallest of exponential waiting times are a draw without replacement.
            wait = rng.standard_exponential((stop - start, len(weight))) / weight
            chosen[start:stop] = np.argsort(wait, axis=1)[:, :n]
        return chosen
    bounds = np.cumsum(weight / weight.sum())
    bounds[-1] = 1.0
    for column in range(n):
        open_rows = np.arange(rows)
        while len(open_rows):
            draw = np.searchsorted(bounds, rng.random(len(open_rows)), side="right")
            chosen[open_rows, column] = draw
            again = (chosen[open_rows, :column] == draw[:, None]).any(1)
            open_rows = open_rows[again]
    return chosen


def _answer(rng: np.random.Generator, who: Codes, items: _Items, confusion: Floats) -> Codes:
    """Draw every label [N, R] from its worker's row for the class that they see."""
    classes = confusion.shape[1]
    seen = np.broadcast_to(items.truth[:, None], who.shape)
    if items.lure.any():
        mistaken = rng.random(who.shape) < items.lure[:, None]
        seen = np.where(mistaken, items.lookalike[:, None], seen)
    # All rows' cumulative sums end to end: row r covers r to r + 1, so one search serves all.
    bounds = np.cumsum(confusion.reshape(-1, classes), axis=1)
    bounds[:, -1] = 1.0
    bounds += np.arange(len(bounds))[:, None]
    row = who.astype(np.int64) * classes + seen
    position = np.searchsorted(bounds.ravel(), row + rng.random(who.shape), side="right")
    given: Codes = np.clip(position - row * classes, 0, classes - 1).astype(np.int32)
    return given


def _copy(rng: np.random.Generator, label: Codes, who: Codes, copied_from: Codes) -> None:
    """Let copiers hand in the answer of the one they copy, where that one has answered."""
    row, column = np.nonzero(copied_from[who] >= 0)
    there = who[row] == copied_from[who[row, column]][:, None]  # [C, R]
    copied = there.any(1) & (rng.random(len(row)) < FIDELITY)
    row, column, source = row[copied], column[copied], there.argmax(1)[copied]
    label[row, column] = label[row, source]


def _draw_features(
    rng: np.random.Generator, items: _Items, classes: int, width: int
) -> NDArray[np.float32] | None:
    """One Gaussian a class; hard items lie towards their look-alike class."""
    if not width:
        return None
    scale = CLASS_DISTANCE / np.sqrt(2 * width)
    centre = rng.normal(scale=scale, size=(classes, width)).astype(np.float32)
    values = rng.standard_normal((len(items.truth), width), dtype=np.float32)
    values += centre[items.truth]
    hard = np.flatnonzero(items.lure)
    step = centre[items.lookalike[hard]] - centre[items.truth[hard]]
    values[hard] += items.lure[hard, None].astype(np.float32) * step
    return values


def _names(prefix: str, n: int) -> tuple[str, ...]:
    width = len(str(n))
    return tuple(f"{prefix}{number:0{width}d}" for number in range(1, n + 1))
