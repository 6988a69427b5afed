"""Whether EBCC's own evidence for subtypes tells where to take it instead of the pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from crowdcore.bench.datasets import DataSet
from crowdcore.bench.default import MIN_TRUTHS, source_of
from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.engine import dirichlet, em
from crowdcore.engine.labels import Labels
from crowdcore.methods.bayesian.ebcc import MIN_CLASS_ITEMS, EnhancedConfig
from crowdcore.methods.bayesian.ebcc import _subtypes as subtypes
from crowdcore.methods.pool.auto import _choosing
from crowdcore.registry import fit
from crowdcore.results.classes import ClassResult
from crowdcore.run import Run

SUBTYPES = 10
N_BEST = 3
"""Starts whose evidence is averaged, and whose posteriors are, by their evidence."""

DROPPED_SHARE = 1 / 3
"""Workers that a resampled crowd is without."""

MAX_SIZE = 120_000
"""Labels times classes of the sets that are measured: each is fitted dozens of times."""

THRESHOLDS = (0.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, np.inf)
"""Surpluses of evidence, in nats, to choose among; infinity never takes EBCC."""

VARIANTS = ("best start", "best starts averaged", "pooled with auto")

PROTOCOL = (
    "Evidence: the bound with ten subtypes, averaged over the three best of ten starts, less that "
    "with one. The threshold is chosen on the other sources, on all their crowds (seeds, and "
    "crowds without a third of the workers), by the mean gain over auto; it is then used on the "
    "source left out. Steady: the gate must be open on all resampled crowds of the set, too."
)


@dataclass(frozen=True, kw_only=True)
class GateCrowd:
    """EBCC against the pool on one crowd.

    Parameters
    ----------
    dataset
        The set it was drawn from.
    is_resampled
        Whether a third of the workers was left out.
    seed
        Of the starts, and of the workers left out.
    surplus
        Evidence for subtypes in nats, the mean over the best starts.
    vote, auto
        How often the majority vote and the pool are right.
    ebcc
        How often the variants are right, in the order of `VARIANTS`.
    """

    dataset: str
    is_resampled: bool
    seed: int
    surplus: float
    vote: float
    auto: float
    ebcc: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class GateGain:
    """What a gate gains over the pool on sources that had no say in its threshold.

    Parameters
    ----------
    variant
        What is taken where the gate is open.
    is_steady
        Whether it must be open on the resampled crowds, too.
    gains
        Mean gain of each source.
    n_open
        Sources on which it was open.
    """

    variant: str
    is_steady: bool
    gains: tuple[float, ...]
    n_open: int


def compare_on(dataset: DataSet, n_seeds: int, n_resampled: int) -> list[GateCrowd]:
    """Fit the pool and EBCC on a set, and on crowds without a third of its workers.

    Parameters
    ----------
    dataset
        Labels without gold, and the truth.
    n_seeds, n_resampled
        Fits of the whole crowd, and resampled crowds.

    Returns
    -------
    list of GateCrowd
        The whole crowd first.
    """
    data = _without_repeats(dataset.data)
    crowds = [_compare(dataset, data, seed, is_resampled=False) for seed in range(n_seeds)]
    for seed in range(n_resampled):
        workers = np.random.default_rng(seed).permutation(data.n_workers)
        kept = workers[round(DROPPED_SHARE * len(workers)) :]
        fewer = data.only(np.isin(data.worker, kept))
        crowds.append(_compare(dataset, fewer, seed, is_resampled=True))
    return crowds


def _without_repeats(data: CrowdData) -> CrowdData:
    """The first label of each worker on each item: repeated ones look like shared errors."""
    _, first = np.unique(np.stack([data.item, data.worker]), axis=1, return_index=True)
    return data.only(np.sort(first))


def _compare(dataset: DataSet, data: CrowdData, seed: int, *, is_resampled: bool) -> GateCrowd:
    pool = fit(data, "auto", device="cpu", calibrate="off", feature_seconds=0, seed=seed)
    assert isinstance(pool, ClassResult)
    vote = fit(data, "mv", device="cpu", seed=seed)
    evidence, posteriors = _starts(data, SUBTYPES, _choosing.EBCC_RESTARTS, seed)
    without, _ = _starts(data, 1, 1, seed)
    best = np.argsort(-evidence)[:N_BEST]
    weights = np.exp(evidence[best] - evidence[best[0]])
    averaged = np.tensordot(weights / weights.sum(), posteriors[best], 1)
    even = np.full(2, 0.5)
    pooled = _choosing.pool_by_weight([pool.posterior, averaged], even)
    scored = (dataset.truth != UNKNOWN) & (data.labels_per_item > 0)
    truth = dataset.truth[scored]

    def accuracy(answers: NDArray[np.integer]) -> float:
        return float((answers[scored] == truth).mean())

    return GateCrowd(
        dataset=dataset.name,
        is_resampled=is_resampled,
        seed=seed,
        surplus=float(evidence[best].mean() - without.max()),
        vote=accuracy(vote.truth),
        auto=accuracy(pool.truth),
        ebcc=tuple(accuracy(each.argmax(1)) for each in (posteriors[best[0]], averaged, pooled)),
    )


def _starts(data: CrowdData, n_subtypes: int, n_starts: int, seed: int) -> tuple[Floats, Floats]:
    """The evidence [S] and the posterior [S, N, K] of each start by itself."""
    cfg, run = EnhancedConfig.model_validate({}), Run(seed=seed, device="cpu")
    labels = Labels(data, run.device)
    shares = em.initial_posterior(labels, "votes")
    priors = subtypes.Priors(
        confusion=dirichlet.confusion_prior(labels, cfg.right, cfg.wrong),
        subtype=cfg.sparsity / n_subtypes,
        classes=em.class_totals(labels, shares).clamp(min=MIN_CLASS_ITEMS),
    )
    generator = run.generator()
    evidence, posteriors = [], []
    for _ in range(n_starts):
        shape = (labels.n_items, 1, labels.n_classes, n_subtypes)
        begun = torch.empty(shape).exponential_(generator=generator)
        begun /= begun.sum(3, keepdim=True)
        begun *= shares.to(begun.dtype).unsqueeze(1).unsqueeze(3)
        bound, posterior = subtypes.fit_starts(
            labels, priors, begun, run, max_iter=cfg.max_iter, tol=cfg.tol
        )
        evidence.append(bound)
        posteriors.append(posterior.sum(3).squeeze(1).double().numpy())
    return np.array(evidence), np.stack(posteriors)


def measure(
    datasets: Sequence[DataSet],
    *,
    n_seeds: int,
    n_resampled: int,
    on_done: Callable[[str], None] = lambda _: None,
) -> list[GateCrowd]:
    """Compare on every set that is small enough and has enough truths.

    Parameters
    ----------
    datasets
        The sets.
    n_seeds, n_resampled
        As for `compare_on`.
    on_done
        Called after each set.

    Returns
    -------
    list of GateCrowd
    """
    crowds: list[GateCrowd] = []
    for dataset in datasets:
        is_small = dataset.data.n_labels * dataset.data.n_classes <= MAX_SIZE
        if dataset.n_scored >= MIN_TRUTHS and is_small:
            crowds += compare_on(dataset, n_seeds, n_resampled)
        on_done(dataset.name)
    return crowds


def left_out_gains(crowds: Sequence[GateCrowd]) -> list[GateGain]:
    """Choose the threshold on all other sources, and use it on the one left out.

    Parameters
    ----------
    crowds
        What `measure` returns.

    Returns
    -------
    list of GateGain
        One per variant, without and with resampled crowds in the gate.
    """
    sources = sorted({source_of(crowd.dataset) for crowd in crowds})
    gains = []
    for variant in range(len(VARIANTS)):
        for is_steady in (False, True):
            rows, n_open = [], 0
            for source in sources:
                others = [each for each in crowds if source_of(each.dataset) != source]
                threshold = best_threshold(others, variant)
                own = [each for each in crowds if source_of(each.dataset) == source]
                by_set = [
                    _set_gain([each for each in own if each.dataset == name], variant, threshold)
                    if not is_steady or _is_steady(own, name, threshold)
                    else 0.0
                    for name in sorted({each.dataset for each in own})
                ]
                rows.append(float(np.mean(by_set)))
                n_open += any(by_set)
            gains.append(
                GateGain(
                    variant=VARIANTS[variant],
                    is_steady=is_steady,
                    gains=tuple(rows),
                    n_open=n_open,
                )
            )
    return gains


def best_threshold(crowds: Sequence[GateCrowd], variant: int) -> float:
    """Return the threshold with the highest mean gain over sources; the highest of equals.

    Where there is no crowd to choose by, that is infinity.

    Parameters
    ----------
    crowds
        Crowds of several sources, whole and resampled.
    variant
        Index in `VARIANTS`.
    """
    sources = sorted({source_of(crowd.dataset) for crowd in crowds})
    means = []
    for threshold in THRESHOLDS:
        by_source = [
            np.mean(
                [
                    _gain(each, variant, threshold)
                    for each in crowds
                    if source_of(each.dataset) == source
                ]
            )
            for source in sources
        ]
        means.append(float(np.sum(by_source)) / max(1, len(sources)))
    return max(zip(means, THRESHOLDS, strict=True))[1]


def _gain(crowd: GateCrowd, variant: int, threshold: float) -> float:
    return crowd.ebcc[variant] - crowd.auto if crowd.surplus > threshold else 0.0


def _set_gain(crowds: list[GateCrowd], variant: int, threshold: float) -> float:
    whole = [each for each in crowds if not each.is_resampled]
    return float(np.mean([_gain(each, variant, threshold) for each in whole]))


def _is_steady(crowds: list[GateCrowd], name: str, threshold: float) -> bool:
    resampled = [each for each in crowds if each.dataset == name and each.is_resampled]
    return all(each.surplus > threshold for each in resampled)


def to_json(crowds: Sequence[GateCrowd], gains: Sequence[GateGain]) -> dict[str, object]:
    """Turn everything that was measured into plain JSON values.

    Parameters
    ----------
    crowds, gains
        What `measure` and `left_out_gains` return.
    """
    return {
        "crowds": [asdict(crowd) for crowd in crowds],
        "gains": [asdict(gain) for gain in gains],
    }
