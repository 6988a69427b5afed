"""An audit sample: items drawn by chance and decided by a person tell the accuracy without bias."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError, Kind
from crowdcore.results.result import Result, wilson
from crowdcore.review.risk import Risk, item_risk, rating_tolerance
from crowdcore.wording import count, interval, percent

Design = Literal["random", "stratified"]

MIN_SIZE, MAX_SIZE = 10, 10_000
N_STRATA = 4
MIN_PER_STRATUM = 5
"""Items of every stratum that are drawn, where it has as many."""

PROPORTIONAL = 0.5
"""How much of a stratified sample is drawn in proportion to the strata's sizes: confidence may be
wrong, and then the surest items need a look too."""

N_PRIOR = 2.0
"""Answers that each stratum's expected accuracy counts for when the error is estimated."""

CANNOT = {
    "comparisons": "An order of items has no answer of one item to check. Add known scores as gold "
    "to measure it.",
    "sequences": "Spans are checked in the tool that they are marked in: download the sample, mark "
    "its texts with care, and add them as gold. Span F1 with its interval is then on Truths.",
}
"""Kinds of labels of which no single answer can be decided here, and what to do instead."""


@dataclass(frozen=True, kw_only=True)
class AuditSample:
    """Items that were drawn from a run, and what the run said of them then.

    Parameters
    ----------
    design
        Whether all items had the same chance, or those that are less sure a higher one.
    kind
        What the labels are.
    n_items
        Items that the sample was drawn from.
    items
        Names in the order in which they were drawn, which is random.
    truths
        What the run said of them.
    strata
        The stratum of each.
    stratum_sizes
        Items of each stratum.
    stratum_sure
        The expected share of right truths of each stratum.
    tolerance
        By how much a rating may be off and still be right; 0 for other kinds.
    seed
        By which it was drawn.
    """

    design: Design
    kind: Kind
    n_items: int
    items: tuple[str, ...]
    truths: tuple[str, ...]
    strata: tuple[int, ...]
    stratum_sizes: tuple[int, ...]
    stratum_sure: tuple[float, ...]
    tolerance: float = 0.0
    seed: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return plain values, for the ledger."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> AuditSample:
        """Read what `as_json` returned.

        Parameters
        ----------
        values
            Plain values.

        Raises
        ------
        DataError
            If they are no sample.
        """
        try:
            lists = {
                name: tuple(values[name])
                for name in ("items", "truths", "strata", "stratum_sizes", "stratum_sure")
            }
            return cls(**{**{name: values[name] for name in _FIELDS}, **lists})
        except (KeyError, TypeError) as error:
            raise DataError(f"This entry is no audit sample: {error}") from None

    def is_right(self, position: int, answer: str) -> bool:
        """Tell whether the run was right about an item.

        Parameters
        ----------
        position
            Of the item in the sample.
        answer
            What a person decided.
        """
        return is_same_answer(self.kind, self.truths[position], answer, self.tolerance)


_FIELDS = ("design", "kind", "n_items", "tolerance", "seed")


@dataclass(frozen=True, kw_only=True)
class AuditEstimate:
    """How many truths of a run are right, as a sample tells.

    Parameters
    ----------
    n_sampled, n_decided, n_right, n_unsure
        Items of the sample, those decided so far, how many of these the run was right about, and
        how many could not be told.
    n_items
        Items that the sample was drawn from.
    accuracy, low, high
        The estimate and its 95 % interval; NaN, 0 and 1 as long as a stratum has no answer.
    """

    n_sampled: int
    n_decided: int
    n_right: int
    n_unsure: int
    n_items: int
    accuracy: float
    low: float
    high: float

    @property
    def n_left(self) -> int:
        """Items that nobody has decided yet."""
        return self.n_sampled - self.n_decided - self.n_unsure

    def describe(self) -> str:
        """Say it in a sentence or two.

        Returns
        -------
        str
            Plain text.
        """
        unsure = f" {count(self.n_unsure)} could not be told." if self.n_unsure else ""
        if math.isnan(self.accuracy):
            return f"{count(self.n_left)} of {count(self.n_sampled, 'item')} to decide.{unsure}"
        drawn = f"{count(self.n_decided)} of {count(self.n_items, 'item')}, drawn by chance"
        said = (
            f"{percent(self.accuracy)} of the truths are right, {interval(self.low, self.high)} "
            f"(95% interval), by {drawn}: {count(self.n_right)} right.{unsure}"
        )
        return f"{said} {count(self.n_left)} left to decide." if self.n_left else said


def is_same_answer(kind: Kind, truth: str, answer: str, tolerance: float = 0.0) -> bool:
    """Tell whether a truth is what a person decided.

    Parameters
    ----------
    kind
        What the labels are.
    truth, answer
        As text: a class, a number, or a JSON list of classes.
    tolerance
        By how much numbers may differ.
    """
    try:
        if kind == "ratings":
            return abs(float(truth) - float(answer)) <= tolerance + 1e-9
        if kind == "sets":
            return set(json.loads(truth)) == set(json.loads(answer))
    except (ValueError, TypeError):
        return False
    return truth == answer


def sample_size(margin: float, *, n_items: int, accuracy: float = 0.5) -> int:
    """Say how many items a random sample needs for an interval of a certain width.

    Parameters
    ----------
    margin
        Half the width of the 95 % interval, as a share, such as 0.05.
    n_items
        Items in all.
    accuracy
        The share that is expected to be right; one half is the worst case.

    Returns
    -------
    int
        At most all items.

    Raises
    ------
    DataError
        If the margin is not between 0 and one half.

    Examples
    --------
    >>> sample_size(0.05, n_items=100_000)
    381
    >>> sample_size(0.05, n_items=100_000, accuracy=0.9)
    141
    """
    if not 0 < margin < 0.5:  # noqa: PLR2004  (half of all there is)
        raise DataError(f"The margin is {margin:g}", fix="Give a share between 0 and 0.5.")
    low, high = 1, max(1, n_items)
    while low < high:
        middle = (low + high) // 2
        left, right = _wilson_of(accuracy, _worth(middle, n_items))
        low, high = (low, middle) if right - left <= 2 * margin else (middle + 1, high)
    return low


def draw_sample(
    result: Result,
    size: int,
    *,
    design: Design = "random",
    seed: int = 0,
    tolerance: float | None = None,
) -> AuditSample:
    """Draw items of a run to be decided by a person.

    Items whose answer the run was given, and items that nobody labelled, are not drawn.

    Parameters
    ----------
    result
        The run.
    size
        Items to draw.
    design
        "random" gives all items the same chance. "stratified" draws more of those that are less
        sure, which gives a narrower interval from as many items if confidence means anything, and
        an unbiased one even if not.
    seed
        Of the drawing.
    tolerance
        By how much a rating may be off and still be right; a tenth of their range if not given.

    Returns
    -------
    AuditSample
        In the order in which to decide.

    Raises
    ------
    DataError
        If the labels are comparisons or spans, or the size does not fit.
    """
    data = result.data
    if data.kind in CANNOT:
        raise DataError(CANNOT[data.kind])
    if design not in get_args(Design):
        raise DataError(f"There is no design {design!r}", fix="Choose random or stratified.")
    risk = item_risk(result, tolerance=tolerance)
    drawable = risk.n_labels > 0
    if result.provenance.used_gold:
        drawable &= ~data.has_gold
    population = np.flatnonzero(drawable)
    if not MIN_SIZE <= size <= min(MAX_SIZE, len(population)):
        most = min(MAX_SIZE, len(population))
        raise DataError(
            f"A sample of {size:,} cannot be drawn from {len(population):,} items",
            fix=f"Choose between {MIN_SIZE} and {most:,}."
            if most >= MIN_SIZE
            else "There are too few items without a known answer.",
        )
    rng = np.random.default_rng([seed, len(population)])
    stratum = _strata(risk, population, design, size)
    sizes = np.bincount(stratum)
    sure = np.bincount(stratum, 1 - risk.chance[population]) / sizes
    numbers = _allocate(sizes, sure, size)
    drawn = np.concatenate(
        [
            rng.choice(np.flatnonzero(stratum == each), number, replace=False)
            for each, number in enumerate(numbers.tolist())
        ]
    )
    drawn = rng.permutation(drawn)
    return AuditSample(
        design=design,
        kind=data.kind,
        n_items=len(population),
        items=tuple(str(risk.names[code]) for code in population[drawn].tolist()),
        truths=tuple(_truth_texts(result, population[drawn])),
        strata=tuple(stratum[drawn].tolist()),
        stratum_sizes=tuple(sizes.tolist()),
        stratum_sure=tuple(float(share) for share in sure),
        tolerance=_tolerance(result, tolerance),
        seed=seed,
    )


def _tolerance(result: Result, tolerance: float | None) -> float:
    if result.data.kind != "ratings":
        return 0.0
    return rating_tolerance(result.data) if tolerance is None else tolerance


def _truth_texts(result: Result, codes: NDArray[np.intp]) -> list[str]:
    if result.data.kind == "classes":
        return [str(name) for name in result.data.class_names(result.truth[codes])]
    values = result.truths()["truth"].iloc[codes]
    return [repr(float(value)) if isinstance(value, float) else str(value) for value in values]


def _strata(
    risk: Risk, population: NDArray[np.intp], design: Design, size: int
) -> NDArray[np.int64]:
    """Cut items by how sure they are, where a square root of the variance adds up to as much."""
    n_strata = min(N_STRATA, size // (2 * MIN_PER_STRATUM))
    if design == "random" or n_strata < 2:  # noqa: PLR2004  (one stratum is none)
        return np.zeros(len(population), np.int64)
    chance = np.clip(risk.chance[population], 0.01, 0.99)
    order = np.argsort(chance, kind="stable")
    total = np.cumsum(np.sqrt(chance[order] * (1 - chance[order])))
    stratum = np.empty(len(population), np.int64)
    stratum[order] = np.minimum((total / total[-1] * n_strata).astype(np.int64), n_strata - 1)
    _, dense = np.unique(stratum, return_inverse=True)
    return np.asarray(dense, np.int64)


def _allocate(sizes: NDArray[np.int64], sure: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """How many items of each stratum are drawn; all together `size`."""
    clipped = np.clip(sure, 0.02, 0.98)
    spread = sizes * np.sqrt(clipped * (1 - clipped))
    share = PROPORTIONAL * sizes / sizes.sum() + (1 - PROPORTIONAL) * spread / spread.sum()
    least = np.minimum(sizes, MIN_PER_STRATUM)
    numbers: NDArray[np.int64] = np.clip(np.floor(size * share).astype(np.int64), least, sizes)
    while numbers.sum() != size:  # rounding, and strata that are drawn whole
        step = 1 if numbers.sum() < size else -1
        free = (numbers < sizes) if step > 0 else (numbers > least)
        lack = np.where(free, step * (size * share - numbers), -np.inf)
        numbers[int(lack.argmax())] += step
    return numbers


def estimate_accuracy(sample: AuditSample, answers: Mapping[str, str | None]) -> AuditEstimate:
    """Estimate how many truths are right from what a person decided.

    Every stratum counts by its size, so that the estimate is unbiased whatever confidence means.
    The interval is Wilson's, with as many answers as a random sample would need for the same
    error; the part of the items that was looked at has none.

    Parameters
    ----------
    sample
        The items, and what the run said of them.
    answers
        What was decided, by item; None where it could not be told. Other items are passed over.

    Returns
    -------
    AuditEstimate
        Also of a sample that is decided in part, since its order is random.
    """
    sizes = np.array(sample.stratum_sizes, np.float64)
    n, right = np.zeros(len(sizes)), np.zeros(len(sizes))
    n_unsure = 0
    for position, (item, stratum) in enumerate(zip(sample.items, sample.strata, strict=True)):
        if item not in answers:
            continue
        answer = answers[item]
        if answer is None:
            n_unsure += 1
            continue
        n[stratum] += 1
        right[stratum] += sample.is_right(position, answer)
    accuracy, low, high = math.nan, 0.0, 1.0
    if (n > 0).all():
        accuracy, low, high = _interval(n, right, sizes, np.array(sample.stratum_sure))
    return AuditEstimate(
        n_sampled=len(sample.items),
        n_decided=int(n.sum()),
        n_right=int(right.sum()),
        n_unsure=n_unsure,
        n_items=sample.n_items,
        accuracy=accuracy,
        low=low,
        high=high,
    )


def _interval(
    n: NDArray[np.float64],
    right: NDArray[np.float64],
    sizes: NDArray[np.float64],
    sure: NDArray[np.float64],
) -> tuple[float, float, float]:
    weight = sizes / sizes.sum()
    accuracy = float(weight @ (right / n))
    smooth = (right + N_PRIOR * sure) / (n + N_PRIOR)
    smooth = np.clip(smooth, 0.01, 0.99)
    unseen = np.clip((sizes - n) / np.maximum(sizes - 1, 1), 0, 1)
    n_free = np.maximum(n - (len(n) > 1), 1)  # each stratum's own share was estimated, too
    variance = float((weight**2 * smooth * (1 - smooth) / n_free * unseen).sum())
    if variance <= 0:  # every item was looked at
        return accuracy, accuracy, accuracy
    mean = float(weight @ smooth)
    low, high = _wilson_of(accuracy, mean * (1 - mean) / variance)
    return accuracy, low, high


def _wilson_of(share: float, n: float) -> tuple[float, float]:
    low, high = wilson(share * n, n)
    return float(low), float(high)


def _worth(n: int, n_items: int) -> float:
    """How many answers drawn from endlessly many items tell as much as n of these."""
    return n * max(1, n_items - 1) / max(1e-9, n_items - n)


def decided_answers(
    sample: AuditSample, truths: Mapping[str, str], unsure: Sequence[str]
) -> dict[str, str | None]:
    """Put together what was decided of a sample's items.

    Parameters
    ----------
    sample
        The items.
    truths
        Decided answers by item.
    unsure
        Items whose answer could not be told.

    Returns
    -------
    dict
        Answers by item, None where it could not be told; items without a decision are missing.
    """
    could_not = set(unsure)
    return {item: truths.get(item) for item in sample.items if item in truths or item in could_not}
