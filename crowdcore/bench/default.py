"""How honest the default is about itself, and what a few answers bring, on sets with a truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore import questions
from crowdcore.bench.datasets import DataSet
from crowdcore.confidence.accuracy import ExpectedAccuracy, expected_accuracy, with_known_answers
from crowdcore.confidence.mapping import mapped_confidence
from crowdcore.data import UNKNOWN, Floats
from crowdcore.methods.pool.auto import _choosing
from crowdcore.registry import fit
from crowdcore.results.classes import ClassResult

Strategy = Literal["disagreement", "random", "least confident"]
STRATEGIES: tuple[Strategy, ...] = ("disagreement", "random", "least confident")
N_ANSWERS = (5, 10, 20, 40)
MIN_TRUTHS = 90
"""Sets with fewer truths tell too little."""

MAX_SCORED = 4000
"""Items of a set that questions are drawn from, at most."""

MIN_DISTANCE = 0.01
"""From this distance to the best method in hindsight on it is told how much of it is closed."""

N_BINS = 10

RELATED = (("zc_all", "zc_in"), ("trec", "relevance"), ("sp", "sp_amt"), ("music", "music_genre"))
"""Sets of one source, which count as one."""

PROTOCOL = (
    "No truth entered the map, the interval or the weights, so that no set has to be left out; "
    "sets of one source count as one. Answers are the sets' truths. Accuracy is that on the items "
    "not asked, so that the figure of auto itself moves with what was asked. Best: the best "
    "candidate in hindsight. Closed: the share of the distance from auto to the best, "
    "over sets where it is a point or more."
)


@dataclass(frozen=True, kw_only=True)
class Honesty:
    """How far the confidence of `auto` can be believed on one set."""

    dataset: str
    n: int
    accuracy: float
    ece: float
    mapped_ece: float
    log_loss: float
    mapped_log_loss: float
    bias: float
    mapped_bias: float
    low: float
    high: float
    disputed: float  # share of the items on which a member of the pool differs from it
    open_share: float  # on which a candidate drawn by its first weight does

    @property
    def is_covered(self) -> bool:
        """Whether the interval holds the accuracy."""
        return self.low <= self.accuracy <= self.high


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What answers brought on one set: means over repetitions, on items not asked."""

    dataset: str
    strategy: Strategy
    n_answers: int
    auto: float
    pooled: float
    best: float
    covered: float  # how often the interval of the accuracy held it


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """Candidates on one set, as far as its truths are known."""

    name: str
    posteriors: list[Floats]  # of the scored items [S, K]
    truths: NDArray[np.integer]  # [C, S]
    answers: NDArray[np.integer]  # [S]
    confidence: Floats  # [S] mapped, of auto
    prior: ExpectedAccuracy


def examine(dataset: DataSet) -> tuple[Honesty, Fitted]:
    """Fit the default and its rivals on one set.

    Parameters
    ----------
    dataset
        Labels without gold, and the truth.

    Returns
    -------
    tuple
        How honest the default is, and what questions can be asked about.
    """
    data = dataset.data
    # With features `auto` is measured by `feature_gains`.
    pool = fit(data, "auto", device="cpu", calibrate="off", feature_seconds=0)
    others = [each for each in pool.members if each.provenance.method in _choosing.OF_THE_POOL]
    for name in _choosing.FURTHER:
        if name != _choosing.EBCC:
            others.append(fit(data, name, device="cpu"))
        elif data.n_labels * data.n_classes <= _choosing.MAX_EBCC_SIZE:
            others.append(fit(data, name, device="cpu", restarts=_choosing.EBCC_RESTARTS))
    scored = np.flatnonzero(dataset.truth != UNKNOWN)
    sure = mapped_confidence(pool)
    expected = expected_accuracy(pool)
    assert expected is not None  # the labels are classes
    assert isinstance(pool, ClassResult)
    some = np.random.default_rng(0).permutation(scored)[:MAX_SCORED]
    candidates = [pool, *others]
    fitted = Fitted(
        name=dataset.name,
        posteriors=[each.posterior[some] for each in candidates],
        truths=np.stack([each.truth[some] for each in candidates]),
        answers=dataset.truth[some],
        confidence=sure[some],
        prior=expected,
    )
    return _honesty(dataset, pool, sure, fitted), fitted


def _honesty(dataset: DataSet, pool: ClassResult, sure: Floats, fitted: Fitted) -> Honesty:
    scored = dataset.truth != UNKNOWN
    right = (pool.truth == dataset.truth)[scored]
    own, mapped = pool.confidence[scored], sure[scored]
    n_classes = dataset.data.n_classes
    return Honesty(
        dataset=dataset.name,
        n=len(right),
        accuracy=float(right.mean()),
        ece=calibration_error(own, right, n_classes),
        mapped_ece=calibration_error(mapped, right, n_classes),
        log_loss=_log_loss(own, right),
        mapped_log_loss=_log_loss(mapped, right),
        bias=float(own.mean() - right.mean()),
        mapped_bias=float(mapped.mean() - right.mean()),
        low=fitted.prior.low,
        high=fitted.prior.high,
        disputed=float((pool.item_scores["members_against"] > 0).mean()),
        open_share=questions.open_disagreement(
            fitted.truths, questions.weigh(fitted.truths[:, :0], fitted.answers[:0])
        ),
    )


def calibration_error(sure: Floats, right: NDArray[np.bool_], n_classes: int) -> float:
    """Return the expected calibration error over bins of confidence.

    Parameters
    ----------
    sure
        Confidences [S].
    right
        Which truths are right [S].
    n_classes
        How many classes there are; the bins begin at chance.
    """
    edges = np.linspace(1 / n_classes, 1, N_BINS + 1)
    index = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, N_BINS - 1)
    gaps = np.bincount(index, weights=sure - right, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(sure))


def _log_loss(sure: Floats, right: NDArray[np.bool_]) -> float:
    clipped = np.clip(sure, 1e-4, 1 - 1e-4)
    return float(-np.where(right, np.log(clipped), np.log1p(-clipped)).mean())


def ask(fitted: Fitted, repeats: int) -> list[Gain]:
    """Let questions be answered by the truth, again and again.

    Parameters
    ----------
    fitted
        The candidates on one set.
    repeats
        Rounds of questions for each strategy.

    Returns
    -------
    list of Gain
        One per strategy and number of answers that leaves half of the items unasked.
    """
    gains = []
    numbers = [number for number in N_ANSWERS if 2 * number <= len(fitted.answers)]
    for strategy in STRATEGIES:
        rows = [
            _ask_once(fitted, strategy, numbers, np.random.default_rng([number, 1]))
            for number in range(1 if strategy == "least confident" else repeats)
        ]
        means = np.mean(rows, axis=0)
        gains += [
            Gain(
                dataset=fitted.name,
                strategy=strategy,
                n_answers=number,
                auto=float(auto),
                pooled=float(pooled),
                best=float(best),
                covered=float(covered),
            )
            for number, (auto, pooled, best, covered) in zip(numbers, means, strict=True)
        ]
    return gains


def _ask_once(
    fitted: Fitted, strategy: Strategy, numbers: Sequence[int], rng: np.random.Generator
) -> list[tuple[float, float, float, float]]:
    asked = np.zeros(len(fitted.answers), bool)
    items: list[int] = []
    chances: list[float] = []
    rows = []
    for n_answers in range(1, max(numbers, default=0) + 1):
        weights = questions.weigh(fitted.truths[:, items], fitted.answers[items])
        item, chance = _draw(fitted, strategy, weights, asked, rng)
        asked[item] = True
        items.append(item)
        chances.append(chance)
        if n_answers in numbers:
            rows.append(_score(fitted, items, chances, asked))
    return rows


def _draw(
    fitted: Fitted,
    strategy: Strategy,
    weights: Floats,
    asked: NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[int, float]:
    remaining = np.flatnonzero(~asked)
    if strategy == "disagreement":
        question = questions.next_question(fitted.truths, weights, asked, rng)
        assert question is not None  # half of the items stay unasked
        return question.item, question.chance
    if strategy == "random":
        return int(rng.choice(remaining)), 1 / len(remaining)
    return int(remaining[fitted.confidence[remaining].argmin()]), 1.0


def _score(
    fitted: Fitted, items: list[int], chances: list[float], asked: NDArray[np.bool_]
) -> tuple[float, float, float, float]:
    answers, rest = fitted.answers[items], ~asked
    weights = questions.weigh(fitted.truths[:, items], answers)
    rows = [table[rest] for table in fitted.posteriors]
    pooled = float((_pooled(rows, weights) == fitted.answers[rest]).mean())
    each = (fitted.truths[:, rest] == fitted.answers[rest]).mean(1)
    without = questions.weigh_without_each(fitted.truths[:, items], answers)
    right = _pooled([table[items] for table in fitted.posteriors], without) == answers
    counts = questions.testing_weights(chances, len(fitted.answers))
    share, n_worth = questions.unbiased_accuracy(right, counts)
    estimate = with_known_answers(
        fitted.prior, n_right=share * n_worth, n_checked=n_worth, n_items=None
    )
    overall = (right.sum() + pooled * rest.sum()) / len(rest)
    return (
        float(each[0]),
        pooled,
        float(each.max()),
        float(estimate.low <= overall <= estimate.high),
    )


def _pooled(posteriors: list[Floats], weights: Floats) -> NDArray[np.intp]:
    return np.asarray(_choosing.pool_by_weight(posteriors, weights).argmax(1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """Everything that was measured."""

    honesty: list[Honesty]
    gains: list[Gain]

    def to_json(self) -> dict[str, list[dict[str, object]]]:
        """Turn all rows into plain JSON values."""
        return {
            "honesty": [asdict(row) for row in self.honesty],
            "gains": [asdict(row) for row in self.gains],
        }


def measure(
    datasets: Sequence[DataSet], repeats: int, on_done: Callable[[str], None] = lambda _: None
) -> Report:
    """Measure the default on sets with enough truths.

    Parameters
    ----------
    datasets
        The sets; those with fewer than `MIN_TRUTHS` truths are passed over.
    repeats
        Rounds of questions for each set and strategy.
    on_done
        Called after each set.

    Returns
    -------
    Report
        Rows by set.
    """
    honesty, gains = [], []
    for dataset in datasets:
        if dataset.n_scored >= MIN_TRUTHS:
            row, fitted = examine(dataset)
            honesty.append(row)
            gains += ask(fitted, repeats)
        on_done(dataset.name)
    return Report(honesty=honesty, gains=gains)


def by_source(values: dict[str, float]) -> Floats:
    """Average values of sets over sets of one source.

    Parameters
    ----------
    values
        One per set, by name.

    Returns
    -------
    numpy.ndarray
        One per source.
    """
    groups: dict[str, list[float]] = {}
    for name, value in values.items():
        groups.setdefault(source_of(name), []).append(value)
    return np.array([np.mean(group) for group in groups.values()])


def source_of(name: str) -> str:
    """Return the set that stands for all sets of the same source.

    Parameters
    ----------
    name
        The name of a set.
    """
    return next((group[0] for group in RELATED if name in group), name)
