"""Learners from features: they speak in the pool if they foretell labels held out from them.

A learner says what it thinks of an item without having seen any label of it: items are dealt into
folds, and each fold is judged by a fit on all others. So what it says can be multiplied with what
the labels say. Whether it is heard is decided on single labels that are held out: the votes left
on the item and the habits of the worker foretell them; features must do so better.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.artefacts.feature_voice import FeatureVoice
from crowdcore.confusion import crowd_shrunk, given_counts
from crowdcore.data import CrowdData, Floats
from crowdcore.run import Cancelled
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.engine.labels import Labels
    from crowdcore.methods.pool.auto._pool import Pool
    from crowdcore.run import Run

LEARNERS = ("max_mig", "dl_em", "crowd_layer")
"""Methods that are tried, the quick ones first. `mmlc_owf` costs two to five times as much as all
of them together, and added nothing to them on four sets."""

N_FOLDS = 3

N_SPLITS = 3
"""How often a label of every item is held out anew: which ones they are is a matter of luck."""

MIN_LABELS_PER_ITEM = 2
"""Labels that an item must have for one of them to be held out."""

MIN_HELD_OUT = 50
"""Fewer labels than this tell nothing of the features."""

MIN_STANDARD_ERRORS = 3.0
"""By how many standard errors a learner must foretell labels better than votes and habits do."""

LABEL_WEIGHTS = (0.1, 0.15, 0.25, 0.4, 0.6, 0.8, 1.0)
MAPPED_LABEL_WEIGHTS = (0.25, 0.5, 0.75, 1.0)
FEATURE_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
"""Powers to choose among on the labels held out: of the pool's probabilities, of those mapped by
other crowds, and of what learners say."""

MAX_SMALL_FEATURES = 5_000_000
"""Numbers that describe all items, up to which one thread is as quick as several."""

MIN_PROBABILITY = 1e-3
"""What a learner leaves to every class at least."""

FitPool = Callable[["Labels", "Run"], "Pool"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Heard:
    """What became of the features.

    Parameters
    ----------
    voice
        How much they told; None where there was nothing to try.
    posterior
        Of the pool with features [N, K]; None where they are not heard.
    learners
        What each learner that is heard says [N, K], by its id and title.
    notes
        All of it in sentences.
    """

    voice: FeatureVoice | None = None
    posterior: Floats | None = None
    learners: tuple[tuple[str, str, Floats], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Trial:
    """Labels that were held out, and what is known of them without features [H, K]."""

    item: NDArray[np.integer]  # [H]
    likelihood: Floats  # of the label given, under each class
    pooled: Floats
    mapped: Floats

    def log_likelihood(self, posterior: Floats) -> Floats:
        return np.asarray(np.log((posterior * self.likelihood).sum(1) + 1e-12))

    def best_weights(
        self, own: Floats, evidence: Floats, label_weights: tuple[float, ...]
    ) -> tuple[float, float, Floats]:
        """The weights of labels and features that foretell best, and the log-likelihoods [H]."""
        rows = evidence[self.item]
        tried = [
            (label, feature, self.log_likelihood(combine(own, rows, label, feature)))
            for label in label_weights
            for feature in FEATURE_WEIGHTS
        ]
        return max(tried, key=lambda each: float(each[2].sum()))

    def gains(self, evidence: Floats) -> tuple[float, float, Floats]:
        """The best weights, and by how much labels are foretold better than without [H]."""
        nothing = np.zeros_like(evidence)
        without = self.best_weights(self.pooled, nothing, LABEL_WEIGHTS)[2]
        label, feature, with_features = self.best_weights(self.pooled, evidence, LABEL_WEIGHTS)
        return label, feature, with_features - without


def listen(labels: Labels, pool: Pool, run: Run, fit_pool: FitPool, *, seconds: float) -> Heard:
    """Try learners on the features of the items, and let those speak that foretell labels.

    Parameters
    ----------
    labels
        The labels, and the items with their features.
    pool
        What labels alone say.
    run
        Counts the fits, and can stop them.
    fit_pool
        Fits the pool on fewer labels.
    seconds
        After which learners are stopped.

    Returns
    -------
    Heard
        Nothing where items have no features.
    """
    if not _has_features(labels):
        return Heard()
    stop_at = time.perf_counter() + seconds
    trial = _hold_out(labels, run, fit_pool)
    if trial is None:
        return Heard(
            notes=(
                f"Features were left out: fewer than {MIN_HELD_OUT} items have "
                f"{MIN_LABELS_PER_ITEM} labels or more, too few to tell whether features help.",
            )
        )
    opinions, left_out = _opinions(labels, run, stop_at)
    return _decide(labels, pool, run, trial, opinions=opinions, left_out=left_out)


def _has_features(labels: Labels) -> bool:
    """Whether there is anything to learn from; filled labels tell nothing new."""
    observed = labels.observed
    if observed.features is None or labels.n_classes == 1 or not labels.listable:
        return False
    return labels.data is observed and bool(_is_described(observed).any())


def _is_described(data: CrowdData) -> NDArray[np.bool_]:
    """Which items have labels and features [N]."""
    assert data.features is not None  # or nothing would be asked
    complete = ~np.isnan(data.features.reshape(data.n_items, -1)).any(1)
    described: NDArray[np.bool_] = complete & (data.labels_per_item > 0)
    return described


def _hold_out(labels: Labels, run: Run, fit_pool: FitPool) -> _Trial | None:
    """Hold out a label of every item that can spare one, a few times, and fit the pool on the rest.

    None where too few items can spare one.
    """
    splits = [_split(labels, run, fit_pool, number) for number in range(N_SPLITS)]
    parts = [part for part in splits if part is not None]
    if not parts:
        return None
    return _Trial(
        item=np.concatenate([part.item for part in parts]),
        likelihood=np.concatenate([part.likelihood for part in parts]),
        pooled=np.concatenate([part.pooled for part in parts]),
        mapped=np.concatenate([part.mapped for part in parts]),
    )


def _split(labels: Labels, run: Run, fit_pool: FitPool, number: int) -> _Trial | None:
    from crowdcore.confidence.mapping import map_confidence
    from crowdcore.engine.splits import one_label_per_item

    data = labels.data
    rng = np.random.default_rng([run.seed, 1, number])
    rows = one_label_per_item(data, rng, _is_described(data), min_labels=MIN_LABELS_PER_ITEM)
    if len(rows) < MIN_HELD_OUT:
        return None
    keep = np.ones(data.n_labels, bool)
    keep[rows] = False
    part = run.part(f"Without held-out labels, {number + 1} of {N_SPLITS}")
    fewer = labels.with_data(data.only(keep))
    result = fit_pool(fewer, part).as_result(fewer, part)
    item = data.item[rows]
    confusion = crowd_shrunk(given_counts(result))
    return _Trial(
        item=item,
        likelihood=confusion[data.worker[rows], :, data.label[rows]],
        pooled=result.posterior[item],
        mapped=map_confidence(result).posterior[item],
    )


def _opinions(
    labels: Labels, run: Run, stop_at: float
) -> tuple[list[tuple[str, str, Floats]], list[str]]:
    """What each learner says of items without having seen their labels; who had no time."""
    from crowdcore.engine.splits import folds
    from crowdcore.registry import get_method

    data = labels.data
    items = np.flatnonzero(_is_described(data))
    dealt = folds(items, N_FOLDS, np.random.default_rng([run.seed, 2]))
    opinions, left_out = [], []
    tables: dict[str, Floats] = {}
    with _threads_for(data):
        for step in run.loop(len(LEARNERS) * len(dealt), "Learning from features"):
            learner = get_method(LEARNERS[step // len(dealt)])
            train, judged = dealt[step % len(dealt)]
            if learner.id in left_out:
                continue
            table = tables.setdefault(learner.id, np.full((data.n_items, data.n_classes), np.nan))
            title = f"{learner.id}, part {step % len(dealt) + 1} of {len(dealt)}"
            try:
                fitted = learner.fit(
                    data.only(np.isin(data.item, train)), run=run.part(title, stop_at=stop_at)
                )
            except Cancelled:
                run.check()  # whoever watches wants everything to stop
                left_out.append(learner.id)
                continue
            table[judged] = fitted.posterior[judged]
            run.log(fits=step + 1)
            if step % len(dealt) == len(dealt) - 1:
                opinions.append((learner.id, learner.title, table))
    return opinions, left_out


@contextmanager
def _threads_for(data: CrowdData) -> Iterator[None]:
    """Let small nets learn on one thread: several wait for each other more than they help."""
    import torch

    before = torch.get_num_threads()
    if data.n_items * data.n_features <= MAX_SMALL_FEATURES:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _decide(
    labels: Labels,
    pool: Pool,
    run: Run,
    trial: _Trial,
    *,
    opinions: list[tuple[str, str, Floats]],
    left_out: list[str],
) -> Heard:
    """Let the learners speak that foretell labels; together they get one weight."""
    from crowdcore.confidence.mapping import map_confidence, mapped_confidence

    gains = [trial.gains(log_evidence(table))[2] for *_, table in opinions]
    # Labels of one item say much the same: items count, not how often a label of theirs was used.
    n_items = len(np.unique(trial.item))
    errors = [float(gain.std() / math.sqrt(n_items)) for gain in gains]
    speaks = [
        float(gain.mean()) > MIN_STANDARD_ERRORS * error
        for gain, error in zip(gains, errors, strict=True)
    ]
    late = []
    if left_out:
        late = [
            f"Time ran out before {', '.join(left_out)} had learnt from the features, so these "
            "have no say; raise feature_seconds and run again for what they would tell."
        ]
    voice = FeatureVoice(
        names=[name for name, *_ in opinions],
        titles=[title for _, title, _ in opinions],
        gains=np.array([gain.mean() for gain in gains]),
        errors=np.array(errors),
        speaks=np.array(speaks, bool),
        n_held_out=len(trial.item),
        left_out=late,
    )
    heard = [opinion for opinion, is_heard in zip(opinions, speaks, strict=True) if is_heard]
    if not heard:
        return Heard(voice=voice, notes=(*_unheard(voice), *late))
    evidence = log_evidence(np.mean([table for *_, table in heard], axis=0))
    label_weight, feature_weight, gain = trial.gains(evidence)
    posterior = combine(pool.probabilities, evidence, label_weight, feature_weight)
    is_described = _is_described(labels.data)
    posterior[~is_described] = pool.probabilities[~is_described]
    truth = np.where(is_described, posterior.argmax(1), pool.truth)
    by_labels = pool.as_result(labels, run.part("Pool"))
    mapped = map_confidence(by_labels).posterior
    both = trial.best_weights(trial.mapped, evidence, MAPPED_LABEL_WEIGHTS)[:2]
    mapped = np.where(is_described[:, None], combine(mapped, evidence, *both), mapped)
    confidence = mapped[np.arange(len(truth)), truth]
    voice = replace(
        voice,
        gain=float(gain.mean()),
        label_weight=label_weight,
        feature_weight=feature_weight,
        truth=truth.astype(np.int32),
        confidence=np.maximum(confidence, 1 / labels.n_classes),
        by_labels=mapped_confidence(by_labels),
        changed=truth != pool.truth,
    )
    return Heard(
        voice=voice,
        posterior=posterior,
        learners=tuple(heard),
        notes=(*_heard_notes(voice), *late),
    )


def log_evidence(opinions: Floats) -> Floats:
    """What learners say of each class beyond how common they find it, in logarithms [N, K]."""
    judged = np.isfinite(opinions.sum(1))
    usual = opinions[judged].mean(0)
    evidence = np.log(np.maximum(opinions, MIN_PROBABILITY))
    evidence -= np.log(np.maximum(usual, MIN_PROBABILITY))
    evidence[~judged] = 0.0
    return np.asarray(evidence)


def combine(own: Floats, evidence: Floats, label_weight: float, feature_weight: float) -> Floats:
    """Multiply what labels and features say, each to the power of its weight [N, K]."""
    from crowdcore.methods.pool.auto._pool import MIN_OTHER_PROBABILITY

    least = MIN_OTHER_PROBABILITY / max(1, own.shape[1] - 1)
    scores: Floats = label_weight * np.log(np.maximum(own, least)) + feature_weight * evidence
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores


def _unheard(voice: FeatureVoice) -> tuple[str, ...]:
    if not len(voice.names):
        return ()
    return (
        f"Features told nothing that labels do not: {', '.join(voice.names)} did not foretell "
        f"{count(voice.n_held_out)} labels held out from them better than the other votes and the "
        "habits of the workers do. So the labels alone decide.",
    )


def _heard_notes(voice: FeatureVoice) -> tuple[str, ...]:
    assert voice.changed is not None  # or nothing would be heard
    heard = [name for name, is_heard in zip(voice.names, voice.speaks, strict=True) if is_heard]
    return (
        f"Features have a voice: with what {', '.join(heard)} learnt from them, "
        f"{count(voice.n_held_out)} labels held out were {math.exp(voice.gain):.2f} times as "
        "likely, on average, as by the other votes and the habits of the workers alone.",
        f"Features changed {count(voice.changed.sum())} of {count(len(voice.changed))} truths "
        f"({percent(voice.changed.mean())}).",
    )
