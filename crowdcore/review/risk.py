"""How likely each truth is wrong, as far as other crowds and the decisions so far can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.confidence.accuracy import ExpectedAccuracy, expected_accuracy
from crowdcore.confidence.features import log_odds
from crowdcore.confidence.mapping import MAX_SHIFT_SPREAD, mapped_confidence, shifted
from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.decisions import Decision
from crowdcore.results.result import Result

CLASS_SPREAD = 0.5
"""How far log-odds of being right differ between the truths of different classes."""

MAX_LEARNT_CLASSES = 30
"""With more classes only one number is learnt from decisions."""

N_STEPS = 25
TOLERANCE_SHARE = 0.1
"""A rating is right within this share of the range of all ratings, unless it is said otherwise."""

NO_RISK = (
    "Comparisons have no truth of an item to look up: the order of the items is what is inferred. "
    "The Truths page and the spend plan list the pairs that are worth asking next."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Risk:
    """How likely the truth of each unit is wrong.

    A unit is an item; of sequences it is a text.

    Parameters
    ----------
    names
        Names of the units [U].
    chance
        The probability that the truth is wrong [U]; 0 where the answer is known.
    is_open
        Whether the answer is not known and somebody labelled the unit, or could [U].
    n_labels
        Labels of each unit [U].
    basis
        What the probabilities rest on, in a sentence.
    low, high
        Between which the share of right truths lies, nine times of ten.
    n_learnt
        Decisions that the probabilities were learnt from, beside other crowds.
    """

    names: Sequence[str]
    chance: Floats
    is_open: NDArray[np.bool_]
    n_labels: NDArray[np.int64]
    basis: str
    low: float
    high: float
    n_learnt: int = 0

    @property
    def expected_right(self) -> float:
        """The expected share of right truths."""
        return float(1 - self.chance.mean()) if len(self.chance) else 1.0


def item_risk(
    result: Result,
    decided: Sequence[Decision] = (),
    *,
    used: Sequence[str] = (),
    tolerance: float | None = None,
) -> Risk:
    """Say how likely each truth is wrong.

    Parameters
    ----------
    result
        The truths.
    decided
        Truths that people decided. What they decided is right; where it can be told whether the
        run was right about such an item without knowing the decision, the others are judged by it.
    used
        Ids of the decisions that the run was given: of these the evidence kept with the decision
        counts, not what the run says.
    tolerance
        By how much a rating may be off and still be right; a tenth of the range of all ratings if
        not given. Other kinds of labels have none.

    Returns
    -------
    Risk
        By item, or by text.

    Raises
    ------
    DataError
        If the labels are comparisons.
    """
    kind = result.data.kind
    if kind == "comparisons":
        raise DataError(NO_RISK)
    if tolerance is not None and kind != "ratings":
        raise DataError("Only ratings are right within a tolerance", fix="Leave it out.")
    by_name = {made.subject: made for made in decided}
    if kind == "ratings":
        return _of_ratings(result, by_name, tolerance)
    if kind == "sequences":
        return _of_texts(result)
    if kind == "sets":
        return _of_sets(result, by_name)
    return _of_classes(result, by_name, frozenset(used))


def known_units(data: CrowdData, decided: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Tell which items have a known answer, by gold or by decision [N]."""
    known = data.has_gold.copy()
    if decided:
        known |= np.isin(np.array(data.items, dtype=object), list(decided))
    return known


def _of_classes(result: Result, decided: Mapping[str, Decision], used: frozenset[str]) -> Risk:
    data = result.data
    expected = expected_accuracy(result)
    if expected is None:  # filled-in labels, or a single class
        sure, basis = result.confidence.copy(), "By the method's own probabilities."
    else:
        sure = mapped_confidence(result).copy()
        basis = "As far as other crowds can tell."
        if data.gold is not None and not result.provenance.used_gold and data.has_gold.any():
            sure = _with_gold(sure, result, expected)
            basis = "As far as other crowds and gold can tell."
    rows = _comparable(result, decided, used, sure)
    if len(rows.right):
        sure = learnt_confidence(
            sure, result.truth, rows.sure, rows.predicted, rows.right, n_classes=data.n_classes
        )
        basis = f"By what other crowds tell and by {len(rows.right):,} decisions."
    # No truth is less likely than a guess: the likeliest of K classes has 1/K at least.
    chance = np.clip(1 - sure, 0, 1 - 1 / max(data.n_classes, 1))
    unlabelled = data.labels_per_item == 0
    chance[unlabelled] = 1 - result.confidence[unlabelled]
    known = known_units(data, decided)
    right = _known_right(result, decided)
    chance[known] = np.where(right[known], 0.0, 1.0)
    low, high = _limits(1 - chance.mean(), expected)
    return Risk(
        names=data.items,
        chance=chance,
        is_open=~known,
        n_labels=data.labels_per_item,
        basis=basis,
        low=low,
        high=high,
        n_learnt=len(rows.right),
    )


def _with_gold(sure: Floats, result: Result, expected: ExpectedAccuracy) -> Floats:
    """Move confidences so that their mean is what gold says of the whole."""
    is_open = ~result.data.has_gold
    chance = np.where(is_open, 1 - sure, ~_known_right(result, {}))
    moved = with_mean(chance, is_open, 1 - expected.estimate)
    return np.where(is_open, 1 - moved, sure)


def _known_right(result: Result, decided: Mapping[str, Decision]) -> NDArray[np.bool_]:
    """Whether a known answer will stand after the next run: decisions do, other gold as it is."""
    data = result.data
    right = np.ones(data.n_items, bool)
    if data.gold is not None and not result.provenance.used_gold:
        gold_known = data.has_gold
        right[gold_known] = result.truth[gold_known] == data.gold[gold_known]
    codes = {name: code for code, name in enumerate(data.items)}
    for name in decided:
        if name in codes:
            right[codes[name]] = True
    return right


@dataclass(frozen=True, kw_only=True, eq=False)
class _Comparable:
    """Decisions beside what a run said that had not seen them."""

    sure: Floats  # [D]
    predicted: NDArray[np.int64]  # [D]
    right: NDArray[np.bool_]  # [D]


def _comparable(
    result: Result, decided: Mapping[str, Decision], used: frozenset[str], sure: Floats
) -> _Comparable:
    data = result.data
    items = {name: code for code, name in enumerate(data.items)}
    classes = {name: code for code, name in enumerate(data.classes)}
    rows: list[tuple[float, int, bool]] = []
    for name, made in decided.items():
        item, answer = items.get(name), classes.get(made.value)
        if item is None or answer is None:
            continue
        if made.id not in used:
            rows.append((float(sure[item]), int(result.truth[item]), result.truth[item] == answer))
            continue
        said, how_sure = made.evidence.get("truth"), made.evidence.get("confidence")
        if said in classes and isinstance(how_sure, float):
            rows.append((how_sure, classes[said], classes[said] == answer))
    return _Comparable(
        sure=np.array([row[0] for row in rows], np.float64),
        predicted=np.array([row[1] for row in rows], np.int64),
        right=np.array([row[2] for row in rows], bool),
    )


def learnt_confidence(
    sure: Floats,
    predicted: NDArray[np.integer],
    known_sure: Floats,
    known_predicted: NDArray[np.integer],
    known_right: NDArray[np.bool_],
    *,
    n_classes: int,
) -> Floats:
    """Move confidences by how often truths like these turned out to be right.

    A logistic regression whose offset is the log-odds of the confidence: one number for all
    items and one for each class, both pulled towards 0. Which items were looked at may hang on
    their confidence and class: both are allowed for.

    Parameters
    ----------
    sure, predicted
        Confidence and truth of every item [N].
    known_sure, known_predicted, known_right
        The same of items whose answer is known, found without it, and whether it was right [D].
    n_classes
        K.

    Returns
    -------
    numpy.ndarray
        Confidences [N].
    """
    n_learnt = n_classes if n_classes <= MAX_LEARNT_CLASSES else 0
    spreads = np.array([MAX_SHIFT_SPREAD, *[CLASS_SPREAD] * n_learnt])
    design = _design(known_predicted, n_learnt)
    offset = log_odds(np.clip(known_sure, 0.001, 0.999))
    weights = np.zeros(1 + n_learnt)
    for _ in range(N_STEPS):  # Newton's steps on a concave function
        probability = 1 / (1 + np.exp(-(offset + design @ weights)))
        gradient = design.T @ (known_right - probability) - weights / spreads**2
        curvature = (design * (probability * (1 - probability))[:, None]).T @ design
        step = np.linalg.solve(curvature + np.diag(1 / spreads**2), gradient)
        weights = weights + np.clip(step, -1, 1)
    by_class = np.zeros(max(n_classes, 1))
    by_class[:n_learnt] = weights[1:]
    move = weights[0] + by_class[np.maximum(predicted, 0)]
    logits = log_odds(np.clip(sure, 1e-6, 1 - 1e-6)) + move
    return np.asarray(1 / (1 + np.exp(-logits)))


def _design(predicted: NDArray[np.integer], n_classes: int) -> Floats:
    columns = np.zeros((len(predicted), 1 + n_classes))
    columns[:, 0] = 1
    if n_classes:
        columns[np.arange(len(predicted)), 1 + np.maximum(predicted, 0)] = 1
    return columns


def _limits(estimate: float, expected: ExpectedAccuracy | None) -> tuple[float, float]:
    """The interval around an estimate that decisions may have moved."""
    if expected is None:
        return float(estimate), float(estimate)
    move = log_odds(np.clip(estimate, 0.002, 0.998)) - log_odds(
        np.clip(expected.estimate, 0.002, 0.998)
    )
    ends = shifted(np.array([expected.low, expected.high]), float(move))
    return float(min(ends[0], estimate)), float(max(ends[1], estimate))


def _of_sets(result: Result, decided: Mapping[str, Decision]) -> Risk:
    known = known_units(result.data, decided)
    chance = np.where(known, 0.0, 1 - result.confidence)
    return _plain(
        result.data.items,
        chance,
        ~known,
        result.data.labels_per_item,
        "By the method's own probability that the whole set is right.",
    )


def _of_ratings(result: Result, decided: Mapping[str, Decision], tolerance: float | None) -> Risk:
    from scipy.special import ndtr

    data = result.data
    allowed = rating_tolerance(data) if tolerance is None else tolerance
    if allowed <= 0:
        raise DataError("The tolerance of ratings must be above 0", fix="Give a larger number.")
    known = known_units(data, decided)
    spread = np.maximum(np.nan_to_num(result.spread, nan=np.inf), 1e-12)
    chance = np.where(known, 0.0, 2 * ndtr(-allowed / spread))
    basis = f"A rating is right within {allowed:g}; by the method's own spread."
    return _plain(data.items, chance, ~known, data.labels_per_item, basis)


def rating_tolerance(data: CrowdData) -> float:
    """Return by how much a rating may be off unless it is said otherwise."""
    return float(TOLERANCE_SHARE * (data.label.max() - data.label.min())) or 1.0


def _of_texts(result: Result) -> Risk:
    from crowdcore.audit.kinds import audit_of

    truths = audit_of("sequences").truths(result)
    known = result.data.has_gold
    starts = result.data.offsets
    if starts is not None and known.any():
        known = np.maximum.reduceat(known, starts[:-1])
    else:
        known = np.zeros(len(truths), bool)
    chance = np.where(known, 0.0, 1 - np.nan_to_num(truths["confidence"].to_numpy(np.float64)))
    return _plain(
        tuple(truths["item"].astype(str)),
        chance,
        ~known,
        truths["n_labels"].to_numpy(np.int64),
        "By the method's own probability of the least sure span of a text.",
    )


def _plain(
    names: Sequence[str],
    chance: Floats,
    is_open: NDArray[np.bool_],
    n_labels: NDArray[np.int64],
    basis: str,
) -> Risk:
    right = float(1 - chance.mean()) if len(chance) else 1.0
    return Risk(
        names=names,
        chance=chance,
        is_open=is_open,
        n_labels=n_labels,
        basis=basis,
        low=right,
        high=right,
    )


def with_mean(chance: Floats, is_open: NDArray[np.bool_], mean: float) -> Floats:
    """Move the log-odds of open chances so that the mean of all is another one.

    Parameters
    ----------
    chance
        Probabilities [U].
    is_open
        Which of them move; the others stay [U].
    mean
        The wanted mean of all.

    Returns
    -------
    numpy.ndarray
        Probabilities in the same order of size [U].
    """
    wanted = mean * len(chance) - chance[~is_open].sum()
    current = chance[is_open]
    if not len(current) or np.isclose(current.sum(), wanted):
        return chance
    low, high = -12.0, 12.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if shifted(current, middle).sum() < wanted else (low, middle)
    moved = chance.copy()
    moved[is_open] = shifted(current, (low + high) / 2)
    return moved
