"""What the worklist and the spend plan bring: accuracy against number of answers, beside rivals.

Answers of a person are the sets' truths; bought labels are labels of the set that were held back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.bench.datasets import DataSet
from crowdcore.confidence.mapping import mapped_confidence
from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.registry import fit
from crowdcore.results.result import Result
from crowdcore.review.risk import learnt_confidence
from crowdcore.spending.measures import worth_of
from crowdcore.spending.value import choose_labels

Look = Literal["least confident", "worklist"]
LOOKS: tuple[Look, ...] = ("least confident", "worklist")
Buy = Literal["random", "least confident", "plan, any worker", "plan"]
BUYS: tuple[Buy, ...] = ("random", "least confident", "plan, any worker", "plan")

METHOD = "ds"
"""Infers the truths after each batch of bought labels."""

N_BATCHES = 10
START_LABELS = 2
"""Labels of each item that are known at the start; the others are held back."""

BOUGHT_SHARE = 0.5
"""How many of the labels held back are bought in the end."""

MIN_LABELS = 6
"""Sets with fewer labels per item have too little to hold back."""

MAX_SCORED = 3000

PROTOCOL = (
    "Looks: items are decided by the truth in the order of each list, up to half of them; the "
    "worklist learns from every decision, and nothing is fitted again. Buying: two labels of each "
    "item are known, the others held back; half of these are bought in ten batches, with a fit of "
    f"{METHOD} after each. 'plan, any worker' chooses the items alone; 'plan' also takes, of the "
    "labels held back, those of the workers it rates best. Area: mean accuracy above random, over "
    "all numbers of answers. Foretold, found: the mean gain of a batch by the plan. Settings were "
    "set before any set was looked at."
)


@dataclass(frozen=True, kw_only=True)
class Area:
    """How far above random one way of choosing is on one set."""

    dataset: str
    part: Literal["looks", "labels"]
    strategy: str
    area: float
    start: float  # accuracy before
    end: float  # accuracy after all answers
    foretold: float | None = None  # mean gain of a batch as the model of a label tells it
    found: float | None = None  # mean gain of a batch that came about


def look_areas(dataset: DataSet) -> list[Area]:
    """Let a person decide items in the order of each list.

    Parameters
    ----------
    dataset
        Labels without gold, and the truth.

    Returns
    -------
    list of Area
        One per list.
    """
    result = fit(dataset.data, "auto", device="cpu")
    scored = np.flatnonzero(dataset.truth != UNKNOWN)
    scored = np.random.default_rng(0).permutation(scored)[:MAX_SCORED]
    right = (result.truth == dataset.truth)[scored]
    n_looks = len(scored) // 2
    grid = np.arange(1, n_looks + 1) / len(scored)
    by_chance = right.mean() + (1 - right.mean()) * grid
    areas = []
    for strategy in LOOKS:
        order = _look_order(result, scored, right, strategy, n_looks)
        curve = (right.sum() + np.cumsum(~right[order])) / len(scored)
        areas.append(
            Area(
                dataset=dataset.name,
                part="looks",
                strategy=strategy,
                area=float((curve - by_chance).mean()),
                start=float(right.mean()),
                end=float(curve[-1]),
            )
        )
    return areas


def _look_order(
    result: Result, scored: NDArray[np.intp], right: NDArray[np.bool_], strategy: Look, n: int
) -> NDArray[np.intp]:
    if strategy == "least confident":
        return np.argsort(result.confidence[scored], kind="stable")[:n]
    sure, predicted = mapped_confidence(result)[scored], result.truth[scored]
    asked: list[int] = []
    remaining = np.ones(len(scored), bool)
    step = max(1, len(scored) // 200)  # decisions between two rankings
    while len(asked) < n:
        moved = sure
        if asked:
            moved = learnt_confidence(
                sure, predicted, sure[asked], predicted[asked], right[asked],
                n_classes=result.data.n_classes,
            )  # fmt: skip
        rest = np.flatnonzero(remaining)
        chosen = rest[np.argsort(moved[rest], kind="stable")[:step]]
        remaining[chosen] = False
        asked += chosen.tolist()
    return np.array(asked[:n], np.intp)


def label_areas(dataset: DataSet, repeats: int) -> list[Area]:
    """Buy labels that were held back, by each way of choosing.

    Parameters
    ----------
    dataset
        Labels without gold, and the truth.
    repeats
        Ways to hold labels back.

    Returns
    -------
    list of Area
        One per way of choosing, means over repeats; none for sets with too few labels per item.
    """
    if dataset.data.n_labels < MIN_LABELS * dataset.data.n_items:
        return []
    rounds = {buy: [_buy(dataset, buy, number) for number in range(repeats)] for buy in BUYS}
    base = np.mean([curve for curve, _ in rounds["random"]], axis=0)
    areas = []
    for buy, found in rounds.items():
        curve = np.mean([each for each, _ in found], axis=0)
        foretold = float(np.mean([each for _, each in found]))
        areas.append(
            Area(
                dataset=dataset.name,
                part="labels",
                strategy=buy,
                area=float((curve - base)[1:].mean()),
                start=float(curve[0]),
                end=float(curve[-1]),
                foretold=None if np.isnan(foretold) else foretold,
                found=float(np.diff(curve).mean()),
            )
        )
    return areas


def _buy(dataset: DataSet, buy: Buy, number: int) -> tuple[Floats, float]:
    """Accuracy before the first and after each batch, and the mean gain that was foretold."""
    data, scored = dataset.data, dataset.truth != UNKNOWN
    rng = np.random.default_rng([number, 7])
    turn = _turns(data.item, rng.permutation(data.n_labels), data.n_items)
    is_known = turn < START_LABELS
    size = max(1, int((~is_known).sum() * BOUGHT_SHARE / N_BATCHES))
    accuracies, foretold = [], []
    for batch in range(N_BATCHES + 1):
        result = fit(data.only(is_known), METHOD, device="cpu")
        accuracies.append(float((result.truth[scored] == dataset.truth[scored]).mean()))
        if batch == N_BATCHES:
            break
        held = np.flatnonzero(~is_known)
        bought, gain = _choose(result, data, held, buy, size=size, rng=rng)
        foretold.append(gain)
        is_known[bought] = True
    return np.array(accuracies), float(np.mean(foretold))


def _choose(
    result: Result,
    data: CrowdData,
    held: NDArray[np.intp],
    buy: Buy,
    *,
    size: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], float]:
    """Labels to buy among those held back, and the gain that is foretold."""
    held = rng.permutation(held)
    if buy == "random":
        return held[:size], np.nan
    room = np.bincount(data.item[held], minlength=data.n_items)
    if buy == "least confident":
        wanted = _least_confident(result.confidence, room, size, rng)
        return held[_turns(data.item[held], np.arange(len(held)), data.n_items)
                    < wanted[data.item[held]]], np.nan  # fmt: skip
    worth = worth_of(result, (), ())
    wanted = choose_labels(worth.gains, size, room).astype(np.int64)
    taken = np.flatnonzero(wanted)
    gain = float(worth.gains[taken, wanted[taken] - 1].sum() / data.n_items)
    if buy == "plan":
        held = held[np.argsort(-worth.workers.quality[data.worker[held]], kind="stable")]
    turn = _turns(data.item[held], np.arange(len(held)), data.n_items)
    chosen = held[turn < wanted[data.item[held]]]
    others = np.setdiff1d(held, chosen)  # where nothing is worth more, the money is spent anyway
    return np.concatenate([chosen, rng.permutation(others)[: size - len(chosen)]]), gain


def _least_confident(
    sure: Floats, room: NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    order = np.lexsort((rng.random(len(sure)), sure))
    wanted = np.zeros(len(sure), np.int64)
    while wanted.sum() < size:
        open_items = order[wanted[order] < room[order]][: size - int(wanted.sum())]
        wanted[open_items] += 1
    return wanted


def _turns(item: NDArray[np.integer], order: NDArray[np.intp], n_items: int) -> NDArray[np.int64]:
    """Which label of its item each label is, if they come in some order [L]."""
    ordered = item[order]
    by_item = np.argsort(ordered, kind="stable")
    counts = np.bincount(ordered, minlength=n_items)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    turn = np.empty(len(item), np.int64)
    turn[order[by_item]] = np.arange(len(item)) - np.repeat(first, counts)
    return turn


def measure(
    datasets: Sequence[DataSet], repeats: int, on_done: Callable[[str], None] = lambda _: None
) -> list[Area]:
    """Measure the worklist and the spend plan on sets with a truth.

    Parameters
    ----------
    datasets
        The sets.
    repeats
        Ways to hold labels back, per set.
    on_done
        Called after each set.

    Returns
    -------
    list of Area
        By set and way of choosing.
    """
    areas: list[Area] = []
    for dataset in datasets:
        areas += look_areas(dataset)
        areas += label_areas(dataset, repeats)
        on_done(dataset.name)
    return areas


def to_json(areas: Sequence[Area]) -> list[dict[str, Any]]:
    """Turn all rows into plain JSON values."""
    return [asdict(area) for area in areas]
