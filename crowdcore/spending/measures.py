"""What further labels are worth for each kind of labels, and how quality is measured there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.confidence.accuracy import expected_accuracy
from crowdcore.confidence.mapping import mapped_confidence, rescaled
from crowdcore.data import Floats, Kind
from crowdcore.results.result import Result
from crowdcore.review.risk import with_mean
from crowdcore.spending.value import MAX_FURTHER, label_gains, variance_gains
from crowdcore.spending.workers import FAIR_SHARES, WorkerQuality, worker_quality
from crowdcore.wording import interval, percent

ACCURACY_LIMIT = 0.98
"""No label is taken to be right more often than this."""

DELIVERED = 0.65
"""How much of the gain that the model of a label foretells came about on nine public sets: the
errors of a crowd are shared more than it knows."""

MIN_LEAD = 0.02
"""By how much labels are right more often than a guess, at least."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Quality before and after a batch.

    Parameters
    ----------
    title
        What is measured.
    unit
        "share" of right answers, or "number" where smaller is better.
    before, after
        Estimate, lower and upper end of each.
    """

    title: str
    unit: str
    before: tuple[float, float, float]
    after: tuple[float, float, float]

    @property
    def has_interval(self) -> bool:
        """Whether more than an estimate is known."""
        return self.before[1] < self.before[2]

    def describe(self) -> str:
        """Say it in a sentence."""
        if self.unit == "share":
            said = [
                f"{percent(estimate)} ({interval(low, high)})" if low < high else percent(estimate)
                for estimate, low, high in (self.before, self.after)
            ]
        else:
            said = [f"{estimate:.3g}" for estimate, _, _ in (self.before, self.after)]
        return f"{self.title}: {said[0]} before, {said[1]} expected after."


@dataclass(frozen=True, kw_only=True, eq=False)
class Worth:
    """What further labels of each unit, an item or a text, would bring.

    Parameters
    ----------
    names
        Names of the units [U].
    n_labels
        Labels of each so far [U].
    unit_of_label
        The unit of each label [L].
    gains
        What 1 to `MAX_FURTHER` further labels bring [U, M].
    workers
        Whom to ask.
    measure
        Makes the quality before and after from the further labels of each unit [U].
    basis
        What this rests on, in a sentence.
    """

    names: Sequence[str]
    n_labels: NDArray[np.int64]
    unit_of_label: NDArray[np.integer]
    gains: Floats
    workers: WorkerQuality
    measure: Callable[[NDArray[np.int64]], Measure]
    basis: str


def worth_of(result: Result, known: Collection[str], unwanted: Collection[str]) -> Worth:
    """Say what further labels are worth, for labels of any kind but comparisons.

    Parameters
    ----------
    result
        The truths so far.
    known
        Names of items whose answer was decided.
    unwanted
        Names of workers not to ask.

    Returns
    -------
    Worth
        By item, or by text.
    """
    is_known = result.data.has_gold | np.isin(np.array(result.data.items, object), list(known))
    return _WORTH[result.data.kind](result, is_known, unwanted)


def honest_posterior(result: Result) -> tuple[Floats, bool]:
    """Return probabilities of the classes as other crowds suggest them, where they can.

    Parameters
    ----------
    result
        Truths of labels with classes.

    Returns
    -------
    tuple
        Probabilities [N, K], and whether they were mapped.
    """
    if result.data.n_classes < 2 or result.provenance.completion is not None:  # noqa: PLR2004
        return result.posterior, False
    posterior = rescaled(result.posterior, mapped_confidence(result))
    unlabelled = result.data.labels_per_item == 0
    posterior[unlabelled] = result.posterior[unlabelled]
    return posterior, True


def label_accuracy(workers: WorkerQuality, n_classes: int) -> float:
    """Return how often labels of the workers to ask are right.

    The better workers are asked first, each for more than an equal share, so they alone count.

    Parameters
    ----------
    workers
        Whom to ask.
    n_classes
        K.
    """
    best = workers.best_first
    n_used = max(1, round(len(best) / FAIR_SHARES)) if best else 0
    mean = float(workers.quality[best[:n_used]].mean()) if best else 0.0
    return float(np.clip(mean, 1 / n_classes + MIN_LEAD, ACCURACY_LIMIT))


def _of_classes(result: Result, known: NDArray[np.bool_], unwanted: Collection[str]) -> Worth:
    data = result.data
    posterior, is_mapped = honest_posterior(result)
    workers = worker_quality(data, posterior[data.item, data.label], unwanted)
    accuracy = label_accuracy(workers, max(2, data.n_classes))
    expected = expected_accuracy(result)

    right = np.where(known, 1.0, posterior.max(1))

    def gains_of(table: Floats) -> Floats:
        gains = label_gains(table, data.votes, accuracy)
        gains[known] = 0
        return gains

    gains = gains_of(posterior)

    def measure(wanted: NDArray[np.int64]) -> Measure:
        means = [float(right.mean())]
        if expected is not None:  # the same figure as elsewhere, and the ends of its interval
            means = [expected.estimate, expected.low, expected.high]
        gained = []
        for mean in means:
            moved = 1 - with_mean(1 - right, ~known, 1 - mean)
            brought = _taken(gains_of(rescaled(posterior, moved)), wanted)
            gained.append(brought / max(1, data.n_items))
        return _measure("Truths that are right", means, gained)

    return Worth(
        names=data.items,
        n_labels=data.labels_per_item,
        unit_of_label=data.item,
        gains=gains,
        workers=workers,
        measure=measure,
        basis=(
            "As far as other crowds can tell (90% interval); errors that the whole crowd shares "
            "cannot be bought away with labels of the same crowd."
            if is_mapped
            else "By the method's own probabilities."
        ),
    )


def _measure(title: str, before: list[float], gains: list[float]) -> Measure:
    """An estimate and, if there are three numbers, its interval.

    At the lower end nothing is gained: on some sets hardly anything was.
    """
    after = [mean + DELIVERED * gain for mean, gain in zip(before, gains, strict=True)]
    low = min(before) if len(before) > 1 else after[0]
    return Measure(
        title=title,
        unit="share",
        before=(before[0], min(before), max(before)),
        after=(min(1.0, after[0]), low, min(1.0, max(after))),
    )


def _taken(gains: Floats, wanted: NDArray[np.int64]) -> float:
    """The sum of the gains of so many further labels each."""
    rows = np.flatnonzero(wanted)
    return float(gains[rows, wanted[rows] - 1].sum())


def _of_sets(result: Result, known: NDArray[np.bool_], unwanted: Collection[str]) -> Worth:
    data, probability = result.data, result.probability
    assert data.sets is not None  # the labels are sets
    ticked = np.zeros((data.n_items, data.n_classes), np.int64)
    np.add.at(ticked, data.item, data.sets[data.label].astype(np.int64))
    given = data.sets[data.label]
    right_cells = np.where(given, probability[data.item], 1 - probability[data.item])
    workers = worker_quality(data, right_cells.mean(1), unwanted)
    accuracy = label_accuracy(workers, 2)
    n = data.labels_per_item
    gains = np.zeros((data.n_items, MAX_FURTHER))
    for code in range(data.n_classes):
        chances = np.stack([probability[:, code], 1 - probability[:, code]], 1)
        votes = np.stack([ticked[:, code], n - ticked[:, code]], 1)
        gains += label_gains(chances, votes, accuracy)
    gains[known] = 0
    right = np.maximum(probability, 1 - probability)
    right[known] = 1

    def measure(wanted: NDArray[np.int64]) -> Measure:
        before = float(right.mean())
        gain = _taken(gains, wanted) / max(1, right.size)
        return _measure("Classes ticked or left out rightly", [before], [gain])

    return Worth(
        names=data.items,
        n_labels=n,
        unit_of_label=data.item,
        gains=gains,
        workers=workers,
        measure=measure,
        basis="By the method's own probabilities of each class.",
    )


def _of_texts(result: Result, known: NDArray[np.bool_], unwanted: Collection[str]) -> Worth:
    data = result.data
    starts = np.asarray(data.offsets, np.int64)  # of each text, and the end of the last
    workers = worker_quality(data, result.posterior[data.item, data.label], unwanted)
    accuracy = label_accuracy(workers, max(2, data.n_classes))
    gains = label_gains(result.posterior, data.votes, accuracy)
    gains[known] = 0
    by_text = np.add.reduceat(gains, starts[:-1], axis=0)
    right = result.confidence.copy()
    right[known] = 1
    text_of_token = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    truths = result.truths()

    def measure(wanted: NDArray[np.int64]) -> Measure:
        before = float(right.mean())
        gain = _taken(by_text, wanted) / max(1, data.n_items)
        return _measure("Tokens that are right", [before], [gain])

    return Worth(
        names=tuple(truths["item"].astype(str)),
        n_labels=truths["n_labels"].to_numpy(np.int64),
        unit_of_label=text_of_token[data.item],
        gains=by_text,
        workers=workers,
        measure=measure,
        basis="A label is a whole text marked by one worker. By the method's own probabilities of "
        "the tokens.",
    )


def _of_ratings(result: Result, known: NDArray[np.bool_], unwanted: Collection[str]) -> Worth:
    data = result.data
    residual = data.label - result.truth[data.item]
    finite = np.isfinite(residual)
    noise = float(np.mean(residual[finite] ** 2)) if finite.any() else 1.0
    noise = max(noise, 1e-12)
    hits = np.exp(-0.5 * np.where(finite, residual, 0.0) ** 2 / noise)
    workers = worker_quality(data, hits, unwanted)
    variance = np.nan_to_num(result.spread, nan=np.sqrt(noise)) ** 2
    gains = variance_gains(variance, noise)
    gains[known] = 0
    variance = np.where(known, 0.0, variance)

    def measure(wanted: NDArray[np.int64]) -> Measure:
        total = float(variance.sum())
        n_items = max(1, data.n_items)
        before = float(np.sqrt(total / n_items))
        after = float(np.sqrt(max(0.0, total - _taken(gains, wanted)) / n_items))
        return Measure(
            title="Expected error of a truth (root mean square)",
            unit="number",
            before=(before, before, before),
            after=(after, after, after),
        )

    return Worth(
        names=data.items,
        n_labels=data.labels_per_item,
        unit_of_label=data.item,
        gains=gains,
        workers=workers,
        measure=measure,
        basis="By the method's own spread of the truths.",
    )


_WORTH: Mapping[Kind, Callable[[Result, NDArray[np.bool_], Collection[str]], Worth]] = {
    "classes": _of_classes,
    "sets": _of_sets,
    "sequences": _of_texts,
    "ratings": _of_ratings,
}
