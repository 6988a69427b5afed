"""Probabilities as they were right among simulated crowds; truths and their order stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.candidates import Candidates
from crowdcore.artefacts.feature_voice import FeatureVoice
from crowdcore.artefacts.own_confidence import OwnConfidence
from crowdcore.calibration import tempered
from crowdcore.confidence import constants
from crowdcore.confidence.features import Votes, item_features, log_odds
from crowdcore.data import Floats
from crowdcore.distributions import TIE_TOLERANCE
from crowdcore.results.result import Result

ANY_METHOD = "any"
"""The map of methods that have none of their own."""

MIN_LEAD = 1e-4
"""By how much the truth is likelier than the next class, unless it led by less."""

NOTE = (
    "Probabilities say how often truths like these were right among simulated crowds; errors that "
    "this crowd shares cannot be seen without gold."
)

NOTE_WITH_FEATURES = (
    "Probabilities say how often truths like these were right among simulated crowds, moved by "
    "what the features say; errors that this crowd shares cannot be seen without gold."
)

NOTE_WITH_ANSWERS = (
    "Probabilities say how often truths like these were right among simulated crowds, moved up or "
    "down to fit the known answers."
)

MAX_SHIFT_SPREAD = 0.7
"""How far log-odds of single crowds lie from what all crowds together suggest."""


def map_confidence(result: Result) -> Result:
    """Replace a method's probabilities by those that other crowds suggest.

    Parameters
    ----------
    result
        Truths with the method's own probabilities, of labels with classes.

    Returns
    -------
    Result
        The same truths. The truth's probability is mapped, the others keep their proportions;
        items without labels and items whose gold the method was given stay as they are. The
        method's own confidences are kept as the artefact `OwnConfidence`.
    """
    candidates = result.artefact(Candidates)
    if candidates is None or not len(candidates.answered):
        mapped = sure = mapped_confidence(result)
        voice = result.artefact(FeatureVoice)
        note = NOTE if voice is None or not voice.is_heard else NOTE_WITH_FEATURES
    else:  # of an item whose answer is known, what was found without that answer
        answered = candidates.answered
        mapped = mapped_confidence(_without_answers(result, candidates))
        sure = shifted(mapped, answer_shift(mapped[answered], candidates.right))
        note = NOTE_WITH_ANSWERS
    posterior = rescaled(result.posterior, sure)
    stays = result.data.labels_per_item == 0
    if candidates is not None and len(candidates.answered):
        stays[candidates.answered] = True
    elif result.provenance.used_gold:
        stays |= result.data.has_gold
    posterior[stays] = result.posterior[stays]
    provenance = replace(result.provenance, notes=(*result.provenance.notes, note))
    kept = OwnConfidence(confidence=result.confidence, mapped=mapped)
    return result.with_fields(posterior=posterior, provenance=provenance).with_artefacts(kept)


def _without_answers(result: Result, candidates: Candidates) -> Result:
    posterior, truth = result.posterior.copy(), result.truth.copy()
    posterior[candidates.answered] = candidates.pooled
    truth[candidates.answered] = candidates.pooled.argmax(1)
    return result.with_fields(posterior=posterior, truth=truth)


def mapped_confidence(result: Result) -> Floats:
    """Return how often truths like these were right among simulated crowds [N].

    Parameters
    ----------
    result
        A result with the method's own probabilities, or one that is mapped already.
    """
    if (kept := result.artefact(OwnConfidence)) is not None:
        mapped: Floats = kept.mapped
        return mapped
    votes = Votes.from_data(result.data)
    own = result.confidence
    if result.provenance.temperature is not None:
        own = tempered(result.posterior, 1 / result.provenance.temperature).max(1)
    features = item_features(result, votes, own)
    intercept, *weights = constants.MAPS.get(result.provenance.method, constants.MAPS[ANY_METHOD])
    by_labels = np.asarray(1 / (1 + np.exp(-(intercept + features @ np.array(weights)))))
    voice = result.artefact(FeatureVoice)
    if voice is None or voice.confidence is None:
        return by_labels
    return np.where(result.truth == voice.truth, voice.confidence, by_labels)


def answer_shift(confidence: Floats, right: NDArray[np.bool_]) -> float:
    """Estimate by how much log-odds must move to fit known answers.

    Parameters
    ----------
    confidence
        Mapped confidences of items whose answer is known [A]. Which items were asked may hang on
        how sure the methods are: that is allowed for.
    right
        Whether their truths, found without their own answers, are right [A].

    Returns
    -------
    float
        Towards 0 where few answers are known.
    """
    logits, shift = log_odds(np.clip(confidence, 0.001, 0.999)), 0.0
    for _ in range(20):  # Newton's steps on a concave function
        probability = 1 / (1 + np.exp(-(logits + shift)))
        gradient = (right - probability).sum() - shift / MAX_SHIFT_SPREAD**2
        curvature = (probability * (1 - probability)).sum() + 1 / MAX_SHIFT_SPREAD**2
        shift += float(np.clip(gradient / curvature, -1, 1))
    return shift


def shifted(confidence: Floats, shift: float) -> Floats:
    """Move log-odds.

    Parameters
    ----------
    confidence
        Probabilities.
    shift
        What to add to their log-odds.

    Returns
    -------
    numpy.ndarray
        Probabilities.
    """
    logits = log_odds(np.clip(confidence, 1e-6, 1 - 1e-6)) + shift
    return np.asarray(1 / (1 + np.exp(-logits)))


def rescaled(posterior: Floats, confidence: Floats) -> Floats:
    """Give the likeliest class of each row another probability; no class overtakes it.

    Parameters
    ----------
    posterior
        Distributions [N, K].
    confidence
        The wanted probabilities of the likeliest classes [N].

    Returns
    -------
    numpy.ndarray
        Distributions in which the order of the classes, and ties, are as before.
    """
    n_classes = posterior.shape[1]
    if n_classes == 1:
        return posterior.copy()
    rows, top = np.arange(len(posterior)), posterior.argmax(1)
    others = posterior.copy()
    others[rows, top] = 0
    rest = others.sum(1)
    nothing = rest <= 0
    others[nothing] = 1.0
    others[rows, top] = 0
    others /= others.sum(1, keepdims=True)
    second = others.max(1)
    # A tie stays one, and elsewhere the truth keeps a lead that shows.
    lead = np.minimum(MIN_LEAD, posterior[rows, top] - np.where(nothing, 0, second * rest))
    lowest = (second + lead) / (1 + second)
    top_probability = np.where(lead < TIE_TOLERANCE, lowest, np.maximum(confidence, lowest))
    scaled: Floats = others * (1 - top_probability)[:, None]
    scaled[rows, top] = top_probability
    return scaled
