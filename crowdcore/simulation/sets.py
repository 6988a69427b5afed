"""Crowds that tick several classes, with known truths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, DataError

Ticker = Literal["careful", "ticks too much", "ticks too little", "random", "one answer"]
TICKERS: tuple[Ticker, ...] = get_args(Ticker)

RATES: dict[Ticker, tuple[float, float]] = {
    "careful": (0.88, 0.03),
    "ticks too much": (0.9, 0.25),
    "ticks too little": (0.45, 0.01),
}
"""How often such workers tick a class that applies, and one that does not."""

COMPANION_LIFT = 0.5
"""How often a class brings its companion along, beside the companion's own frequency."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SetCrowd:
    """Simulated sets, and all that an auditor would love to know about them."""

    data: CrowdData  # gold is the truth of every item
    truth: NDArray[np.bool_]  # [N, K]
    ticker: tuple[Ticker, ...]  # [W]


def simulate_sets(
    *,
    items: int = 300,
    workers: int = 30,
    classes: int = 8,
    labels_per_item: int = 5,
    classes_per_item: float = 1.8,
    too_much: float = 0.1,
    too_little: float = 0.1,
    random: float = 0.1,
    one_answer: float = 0.05,
    seed: int = 0,
) -> SetCrowd:
    """Simulate workers who tick any number of classes.

    Classes come in pairs of companions that apply together more often than by chance.

    Parameters
    ----------
    items, workers, classes
        How many there are.
    labels_per_item
        How many workers answer each item.
    classes_per_item
        How many classes apply to an item on average; to some none does.
    too_much, too_little, random, one_answer
        Shares of the workers who tick too much, too little, blindly, or always the same class.
    seed
        From which all random numbers come.

    Returns
    -------
    SetCrowd
        The data, with the truths as gold, and what each worker is.

    Raises
    ------
    DataError
        If the numbers do not fit together.

    Examples
    --------
    >>> simulate_sets(items=10, workers=6, labels_per_item=3).data.n_labels
    30
    """
    if min(items, workers, labels_per_item) < 1 or classes < 2:  # noqa: PLR2004
        raise DataError("A crowd needs an item, a worker, a label and two classes at least")
    if labels_per_item > workers:
        raise DataError(f"{labels_per_item} labels per item need as many workers")
    shares = {
        "ticks too much": too_much,
        "ticks too little": too_little,
        "random": random,
        "one answer": one_answer,
    }
    if min(shares.values()) < 0 or sum(shares.values()) > 1 + 1e-9:
        raise DataError("Shares of workers lie between 0 and 1 and add up to at most 1")
    rng = np.random.default_rng(seed)
    bounds = np.rint(np.cumsum([0.0, *shares.values()]) * workers + 1e-9).astype(int)
    kinds = np.repeat([*shares, "careful"], [*np.diff(bounds), workers - bounds[-1]])
    ticker = rng.permutation(kinds)
    own = min(0.9, classes_per_item / classes / (1 + COMPANION_LIFT / 2))
    truth = rng.random((items, classes)) < own
    companion = np.arange(1, classes, 2)
    truth[:, companion] |= truth[:, companion - 1] & (
        rng.random((items, len(companion))) < COMPANION_LIFT
    )
    who = np.argsort(rng.random((items, workers)), 1)[:, :labels_per_item].ravel()
    item = np.repeat(np.arange(items), labels_per_item)
    hit, extra = (
        np.array([RATES.get(name, (own, own))[column] for name in ticker.tolist()])
        for column in (0, 1)
    )
    chance = np.where(truth[item], hit[who][:, None], extra[who][:, None])
    ticks = rng.random(chance.shape) < chance
    favourite = rng.integers(classes, size=workers)
    stuck = ticker[who] == "one answer"
    ticks[stuck] = np.eye(classes, dtype=bool)[favourite[who[stuck]]]
    sets, codes = np.unique(np.concatenate([ticks, truth]), axis=0, return_inverse=True)
    codes = codes.ravel()
    data = CrowdData(
        item=item,
        worker=who,
        label=codes[: len(ticks)],
        items=tuple(f"i{number:04d}" for number in range(1, items + 1)),
        workers=tuple(f"w{number:02d}" for number in range(1, workers + 1)),
        classes=tuple(f"c{number}" for number in range(1, classes + 1)),
        kind="sets",
        sets=sets,
        gold=codes[len(ticks) :],
    )
    return SetCrowd(data=data, truth=truth, ticker=tuple(ticker.tolist()))
