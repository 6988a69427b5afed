"""What features bring to the default: where they tell something, and where they tell nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdcore.artefacts.feature_voice import FeatureVoice
from crowdcore.bench.datasets import DataSet
from crowdcore.bench.default import calibration_error
from crowdcore.bench.pathological_crowds import draw_crowd
from crowdcore.confidence.accuracy import expected_accuracy
from crowdcore.data import UNKNOWN, DataError
from crowdcore.registry import fit
from crowdcore.results.result import Result

NOISE_CROWDS = ((0, 20), (3, 200))
"""Seeds of simulated crowds, and numbers of features that are drawn without a look at them."""

SAMPLE = "digits"
"""The sample project whose items have features."""


@dataclass(frozen=True, kw_only=True)
class FeatureGain:
    """`auto` with features against `auto` without, on one set with one seed.

    Parameters
    ----------
    dataset, seed
        What was fitted.
    without, with_features
        How often truths are right.
    is_heard
        Whether learners got a voice.
    nats
        By how much labels held out were foretold better, per label; of the best learner where none
        is heard.
    ece_without, ece
        Calibration errors of the mapped probabilities.
    low, high
        The 90 % interval of the accuracy, with features.
    seconds
        Of processor time, with features.
    """

    dataset: str
    seed: int
    without: float
    with_features: float
    is_heard: bool
    nats: float
    ece_without: float
    ece: float
    low: float
    high: float
    seconds: float


def featured_sets(datasets: Sequence[DataSet]) -> list[DataSet]:
    """List the sets with features, the sample of digits, and crowds whose features tell nothing.

    Parameters
    ----------
    datasets
        Sets of any kind.

    Returns
    -------
    list of DataSet
    """
    given = [dataset for dataset in datasets if dataset.data.features is not None]
    return [*given, *_sample(), *(_noise_crowd(seed, n) for seed, n in NOISE_CROWDS)]


def _sample() -> list[DataSet]:
    from crowdcore.bench.datasets import load
    from crowdcore.samples import samples

    for sample in samples():
        if sample.id == SAMPLE:
            return [load(sample.folder, f"{SAMPLE} (sample)")]
    raise DataError(f"There is no sample project {SAMPLE!r}")


def _noise_crowd(seed: int, n_features: int) -> DataSet:
    """A simulated crowd with features that know nothing of it."""
    data = draw_crowd(np.random.default_rng([7, seed])).data
    assert data.gold is not None  # simulated truths
    features = np.random.default_rng(seed).normal(size=(data.n_items, n_features))
    return DataSet(
        name=f"simulated, {n_features} features of noise",
        data=replace(data, gold=None, features=features.astype(np.float32)),
        truth=data.gold,
        unlabelled=0,
    )


def measure(
    datasets: Sequence[DataSet], n_seeds: int, on_done: Callable[[str], None] = lambda _: None
) -> list[FeatureGain]:
    """Fit `auto` with and without features.

    Parameters
    ----------
    datasets
        Sets with features.
    n_seeds
        Seeds of the folds, the nets and the labels held out.
    on_done
        Called after each set.

    Returns
    -------
    list of FeatureGain
        One per set and seed.
    """
    gains = []
    for dataset in datasets:
        without = fit(dataset.data, "auto", device="cpu", feature_seconds=0)
        gains += [_compare(dataset, without, seed) for seed in range(n_seeds)]
        on_done(dataset.name)
    return gains


def _compare(dataset: DataSet, without: Result, seed: int) -> FeatureGain:
    began = time.process_time()
    result = fit(dataset.data, "auto", device="cpu", seed=seed)
    seconds = time.process_time() - began
    voice, expected = result.artefact(FeatureVoice), expected_accuracy(result)
    assert expected is not None  # the labels are classes
    scored = dataset.truth != UNKNOWN

    def rate(each: Result) -> tuple[float, float]:
        right = (each.truth == dataset.truth)[scored]
        n_classes = dataset.data.n_classes
        return float(right.mean()), calibration_error(each.confidence[scored], right, n_classes)

    (before, ece_without), (after, ece) = rate(without), rate(result)
    nats = 0.0
    if voice is not None and len(voice.names):
        nats = voice.gain if voice.is_heard else float(np.max(voice.gains))
    return FeatureGain(
        dataset=dataset.name,
        seed=seed,
        without=before,
        with_features=after,
        is_heard=voice is not None and voice.is_heard,
        nats=nats,
        ece_without=ece_without,
        ece=ece,
        low=expected.low,
        high=expected.high,
        seconds=seconds,
    )
