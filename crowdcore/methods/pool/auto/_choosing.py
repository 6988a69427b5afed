"""Further candidates beside the pool, weighed by known answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from crowdcore import questions
from crowdcore.artefacts.candidates import Candidates
from crowdcore.data import Floats
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.engine.labels import Labels
    from crowdcore.results.classes import ClassResult
    from crowdcore.run import Run

FURTHER = ("mv", "wawa", "zc", "ibcc", "ebcc")
"""Methods that are fitted only to be chosen among."""

OF_THE_POOL = ("ds", "mace")
"""Members of the pool that are candidates too."""

EBCC = "ebcc"
EBCC_RESTARTS = 10
MAX_EBCC_SIZE = 500_000
"""Labels times classes up to which EBCC is fitted: beyond it takes minutes."""

MIN_PROBABILITY = 0.01
"""What a candidate leaves to all classes that it finds unlikely, so that none can veto a class."""

FitMember = Callable[[str, dict[str, object]], "ClassResult"]


def fit_candidates(
    labels: Labels, run: Run, fit_member: FitMember, *, stop_at: float
) -> tuple[list[ClassResult], list[str]]:
    """Fit the further candidates, and say which there was no time for.

    Parameters
    ----------
    labels
        The labels.
    run
        Counts the candidates.
    fit_member
        Fits a method by its id and settings.
    stop_at
        By `time.perf_counter`, when no further one is started.

    Returns
    -------
    tuple of list
        Their results, and sentences on those that were left out.
    """
    results: list[ClassResult] = []
    left_out: list[str] = []
    for step in run.loop(len(FURTHER), "Candidates"):
        name = FURTHER[step]
        if not labels.listable:
            left_out.append(f"{name} was left out: the labels are too many to list.")
        elif name == EBCC and labels.n_labels * labels.n_classes > MAX_EBCC_SIZE:
            left_out.append(f"{name} was left out: it takes minutes on so many labels.")
        elif time.perf_counter() > stop_at:
            left_out.append(f"{name} was left out: time ran out.")
        else:
            params: dict[str, object] = {"restarts": EBCC_RESTARTS} if name == EBCC else {}
            results.append(fit_member(name, params))
    return results, left_out


def choose(
    *,
    names: list[str],
    titles: list[str],
    posteriors: list[Floats],
    truths: NDArray[np.integer],
    gold: NDArray[np.integer],
    left_out: list[str],
) -> tuple[Floats, Candidates, list[str]]:
    """Weigh candidates by the items whose answer is known, and pool them.

    Parameters
    ----------
    names, titles
        Of the candidates, the default first.
    posteriors
        What each says [N, K].
    truths
        What each chooses [C, N].
    gold
        Known answers [N]; negative where none is known.
    left_out
        Sentences on methods that are no candidates.

    Returns
    -------
    posterior : numpy.ndarray [N, K]
        The default's own where too few answers are known.
    candidates : Candidates
    notes : list of str
        What was done, in sentences.
    """
    answered = np.flatnonzero(gold >= 0)
    if len(answered) < questions.MIN_GOLD_TO_CHOOSE:
        answered = answered[:0]
    answers = gold[answered]
    weights = questions.weigh(truths[:, answered], answers)
    posterior = posteriors[0]
    pooled = posterior[answered]
    if len(answered):
        posterior = pool_by_weight(posteriors, weights)
        each = questions.weigh_without_each(truths[:, answered], answers)  # [C, A]
        rows = [table[answered] for table in posteriors]
        pooled = pool_by_weight(rows, each)
    changed = posterior.argmax(1) != truths[0]
    changed[answered] = False
    candidates = Candidates(
        names=names,
        titles=titles,
        truths=truths.astype(np.int32),
        weights=weights,
        answered=answered,
        right=pooled.argmax(1) == answers,
        pooled=pooled,
        changed=changed,
        left_out=left_out,
    )
    return posterior, candidates, _notes(candidates, n_gold=int((gold >= 0).sum()))


def pool_by_weight(posteriors: list[Floats], weights: Floats) -> Floats:
    """Multiply what candidates say, each to the power of its weight: one [C], or one a row."""
    n_classes = posteriors[0].shape[1]
    least = MIN_PROBABILITY / max(1, n_classes - 1)
    scores = np.zeros_like(posteriors[0], dtype=np.float64)
    for posterior, weight in zip(posteriors, weights, strict=True):
        scores += np.reshape(weight, (-1, 1)) * np.log(np.maximum(posterior, least))
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores


def _notes(candidates: Candidates, n_gold: int) -> list[str]:
    n_items = candidates.truths.shape[1]
    n_answers = len(candidates.answered)
    notes = list(candidates.left_out)
    if not n_answers:
        sentence = (
            f"{count(len(candidates.names))} methods are ready to be chosen among by answers."
        )
        if n_gold:
            sentence = (
                f"{count(n_gold)} known answers are too few to choose between methods "
                f"({questions.MIN_GOLD_TO_CHOOSE} are needed), so the pool decides."
            )
        return [sentence, *notes]
    order = np.argsort(-candidates.weights)[:3]
    leaders = ", ".join(
        f"{candidates.titles[index]} {percent(candidates.weights[index], 0)}" for index in order
    )
    return [
        f"{count(n_answers)} known answers weighed {count(len(candidates.names))} methods: "
        f"{leaders} of the weight. The truths are theirs, pooled by weight.",
        f"That changed {count(candidates.changed.sum())} of {count(n_items)} truths. Judged by all "
        f"other answers, {count(candidates.right.sum())} of the {count(n_answers)} are right.",
        *notes,
    ]
