"""How many truths are right: as far as other crowds can tell, and as gold narrows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdcore.artefacts.candidates import Candidates
from crowdcore.artefacts.feature_voice import FeatureVoice
from crowdcore.confidence import constants
from crowdcore.confidence.features import Votes, crowd_features, log_odds
from crowdcore.confidence.mapping import ANY_METHOD, mapped_confidence
from crowdcore.data import Floats
from crowdcore.questions import testing_weights, unbiased_accuracy
from crowdcore.results.result import Result
from crowdcore.wording import count, interval, percent

LEVEL = 0.9
"""How often the interval is to hold the accuracy."""

TAIL = (1 - LEVEL) / 2

Z = 1.6448536269514722
"""Standard deviations on either side of a 90 % interval."""

MAX_SCALES = 3.0
"""How many standard deviations beyond the simulated mean a number of a crowd may count."""

MIN_HALF_WIDTH = 0.05
"""Without gold no interval is narrower than twice this."""

GRID = np.linspace(0.0005, 0.9995, 1999)
"""Accuracies that are weighed against each other."""


@dataclass(frozen=True, kw_only=True)
class ExpectedAccuracy:
    """How many truths are probably right.

    Parameters
    ----------
    estimate
        The expected share.
    low, high
        The 90 % interval.
    n_checked, n_right
        Items whose answer is known, and how many of them are right; 0 where other crowds alone
        stand behind the interval.
    n_asked, asked_share
        Known answers that were asked for, and the share of the truths that is right by them alone:
        without bias, because each counts by its chance of being asked.
    """

    estimate: float
    low: float
    high: float
    n_checked: int = 0
    n_right: int = 0
    n_asked: int = 0
    asked_share: float | None = None

    def describe(self) -> str:
        """Say it in a sentence.

        Returns
        -------
        str
            Without names, for pages, files and the terminal.
        """
        limits = interval(self.low, self.high)
        if not self.n_checked:
            return (
                f"Expected accuracy: {percent(self.estimate)}, {limits} as far as other crowds can "
                "tell (90% interval). Errors that the whole crowd shares cannot be seen in labels."
            )
        checked = f"{count(self.n_right)} of {count(self.n_checked, 'known answer')} right"
        drawn = "as if they had been drawn at random."
        if self.asked_share is not None:
            drawn = (
                f"{count(self.n_asked)} of them asked for: these count by their chance of being "
                f"asked, and alone tell of {percent(self.asked_share, 0)} without bias."
            )
        return (
            f"Expected accuracy: {percent(self.estimate)}, {limits} (90% interval) by what other "
            f"crowds tell and {checked}, {drawn}"
        )


def expected_accuracy(
    result: Result, asked: Mapping[str, float] | None = None
) -> ExpectedAccuracy | None:
    """Estimate how many truths are right.

    Parameters
    ----------
    result
        Truths of labels with classes, with probabilities of any kind.
    asked
        Names of items that were asked about, in their order, with the chance by which each was
        drawn: those that were likelier to be asked count less.

    Returns
    -------
    ExpectedAccuracy or None
        Gold that the method was not given narrows the interval. None where labels are no classes,
        nobody gave any, or some were filled in.
    """
    data = result.data
    is_decision = data.kind == "classes" and data.n_classes > 1
    if not is_decision or result.provenance.completion is not None:
        return None
    votes = Votes.from_data(data)
    if not votes.n.any():
        return None
    sure = mapped_confidence(result)
    features = crowd_features(data, votes, sure)
    fitted = constants.INTERVALS.get(result.provenance.method, constants.INTERVALS[ANY_METHOD])
    low, high = crowd_interval(features, fitted)
    voice = result.artefact(FeatureVoice)
    if voice is not None and voice.by_labels is not None:
        # No simulated crowd had features: they may widen the interval, not narrow it.
        without = crowd_interval(crowd_features(data, votes, voice.by_labels), fitted)
        low, high = min(low, without[0]), max(high, without[1])
    estimate = float(np.clip(sure[votes.n > 0].mean(), low, high))
    prior = ExpectedAccuracy(estimate=estimate, low=low, high=high)
    candidates = result.artefact(Candidates)
    if candidates is not None and len(candidates.answered):
        return _with_chosen_answers(prior, result, candidates, asked or {})
    score = result.score()
    if score is None:
        return prior
    return with_known_answers(prior, n_right=score.correct, n_checked=score.n, n_items=data.n_items)


def _with_chosen_answers(
    prior: ExpectedAccuracy, result: Result, candidates: Candidates, asked: Mapping[str, float]
) -> ExpectedAccuracy:
    """Count answers that chose between methods, each judged by all others.

    Asked items count by their chance of being asked; other known answers as drawn at random.
    """
    items = result.data.items
    right = dict(zip(candidates.answered.tolist(), candidates.right.tolist(), strict=True))
    codes = {items[code]: code for code in right}
    drawn = [name for name in asked if name in codes]
    weights = testing_weights([asked[name] for name in drawn], len(items))
    asked_right = np.array([right[codes[name]] for name in drawn], bool)
    share, n_asked = unbiased_accuracy(asked_right, weights)
    others = [code for name, code in codes.items() if name not in asked]
    n_right = sum(right[code] for code in others) + (share * n_asked if n_asked else 0.0)
    of_the_rest = with_known_answers(
        prior, n_right=n_right, n_checked=len(others) + n_asked, n_items=None
    )

    def overall(share: float) -> float:  # the known answers stand
        return (len(right) + (len(items) - len(right)) * share) / len(items)

    return ExpectedAccuracy(
        estimate=overall(of_the_rest.estimate),
        low=overall(of_the_rest.low),
        high=overall(of_the_rest.high),
        n_checked=len(right),
        n_right=sum(right.values()),
        n_asked=len(drawn),
        asked_share=share if drawn else None,
    )


def crowd_interval(features: Floats, fitted: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    """Return between which accuracies crowds like this one lay, nine times of ten.

    Parameters
    ----------
    features
        What `crowd_features` returns [8].
    fitted
        The entry of a method in `constants.INTERVALS`.

    Returns
    -------
    tuple of float
        The ends of the interval, at least ten points apart.
    """
    scaled = (features - np.array(fitted["means"])) / np.array(fitted["scales"])
    row = np.array([1.0, *np.clip(scaled, -MAX_SCALES, MAX_SCALES)])
    logits = np.sort([row @ np.array(fitted[name]) for name in ("low", "middle", "high")])
    low, middle, high = (1 / (1 + np.exp(-logits))).tolist()
    return max(0.0, min(low, middle - MIN_HALF_WIDTH)), min(1.0, max(high, middle + MIN_HALF_WIDTH))


def with_known_answers(
    prior: ExpectedAccuracy, *, n_right: float, n_checked: float, n_items: int | None
) -> ExpectedAccuracy:
    """Narrow an interval by answers that are known of items drawn at random.

    Parameters
    ----------
    prior
        What other crowds tell.
    n_right, n_checked
        Known answers that agree with the truths, and all; they need not be whole numbers.
    n_items
        Items in all; None to estimate the accuracy of those that were not checked.

    Returns
    -------
    ExpectedAccuracy
        Of all items: those that were checked, and the others by what both sources say of them.
    """
    weights = _prior_weights(prior) * np.exp(
        n_right * np.log(GRID) + (n_checked - n_right) * np.log1p(-GRID) - _peak(n_right, n_checked)
    )
    cumulative = np.cumsum(weights) / weights.sum()
    low, middle, high = np.interp((TAIL, 0.5, 1 - TAIL), cumulative, GRID).tolist()

    def overall(share: float) -> float:
        if n_items is None:
            return share
        return float((n_right + max(0.0, n_items - n_checked) * share) / max(n_items, n_checked))

    return ExpectedAccuracy(
        estimate=overall(middle),
        low=overall(low),
        high=overall(high),
        n_checked=round(n_checked),
        n_right=round(n_right),
    )


def _prior_weights(prior: ExpectedAccuracy) -> Floats:
    """A normal on the scale of log-odds, wider on the side where the interval is, on `GRID`."""
    low, middle, high = log_odds(np.clip([prior.low, prior.estimate, prior.high], 0.002, 0.998))
    middle = np.clip(middle, low + 0.1, max(low + 0.2, high - 0.1))
    offset = log_odds(GRID) - middle
    scale = np.where(offset < 0, (middle - low) / Z, (high - middle) / Z)
    weights: Floats = np.exp(-0.5 * (offset / np.maximum(scale, 0.05)) ** 2) / (GRID * (1 - GRID))
    return weights


def _peak(n_right: float, n_checked: float) -> float:
    """The largest log-likelihood of so many right answers."""
    share = np.clip(n_right / max(n_checked, 1e-9), 0.0005, 0.9995)
    return float(n_right * np.log(share) + (n_checked - n_right) * np.log1p(-share))
