"""The crowd layer's Table 2: ratings of movie reviews, learnt from their words.

Every method of the family of regressors takes part, with its default settings. No method sees a
true rating, but for the ceiling, which learns from nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.bench.papers import OnDone, Table
from crowdcore.bench.rated_sets import HeldOutRatings, RatedSet, load_rated
from crowdcore.bench.variants import Variant, variants_of
from crowdcore.data import DataError
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.results.numbers import NumberScore
from crowdcore.results.result import Result

OPTIONS = ("seeds",)
SEEDS = 5
FAMILY = "regressors"
SET = "movie_reviews"
TRUTHS = ("mean", "gauss")
"""Methods whose truths a ridge regression learns."""

PAPER = {
    "dl_mean": ("1.215", "1.498", "31.50 ± 4.69"),
    "dl_em": ("1.201", "1.482", "32.97 ± 4.46"),
    "dl_dn": ("1.270", "1.549", "26.78 ± 2.10"),
    "dl_wdn": ("1.261", "1.541", "27.60 ± 1.76"),
    "crowd_layer s": ("1.228", "1.508", "30.56 ± 4.10"),
    "crowd_layer s+b": ("1.163", "1.440", "37.09 ± 2.41"),
    "crowd_layer b": ("1.130", "1.411", "39.28 ± 2.37"),
    "dl_true": ("1.050", "1.330", "45.98 ± 2.90"),
}
"""The paper's Table 2: MAE, RMSE and R² over 30 runs, of word vectors and convolutions."""

MIN_RATINGS = 10
"""Workers with fewer ratings have no true bias worth comparing."""

NOTES = (
    "R² in percent, mean ± sample standard deviation over the seeds, of the network alone on "
    "reviews that nobody rated. Labelled: R² of the truths of the reviews that it learnt from. "
    "Within: the share of the 95 % intervals that hold the true rating.",
    "dl_true learns from the true ratings and is a ceiling; all others see ratings alone. The "
    "paper's MA-sLDAr, a topic model that is not built here, has 35.55 ± 1.28.",
    "The paper's net reads word vectors through two convolutions; here words are counted, their "
    "counts weighed (1 + log, times the inverse frequency among the rated reviews, length 1), and "
    "a net has one hidden layer. So the order can be compared, not the size of the numbers.",
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one seed gave."""

    test: NumberScore
    labelled: float  # R² of the truths of rated items; NaN where it was told them
    bias_correlation: float  # of learnt and true biases; NaN where none are learnt
    cpu_seconds: float


def tables(folder: Path, on_done: OnDone, *, seeds: int = SEEDS) -> list[Table]:
    """Make Table 2 again, ours beside the paper's.

    Parameters
    ----------
    folder : Path
        The folder above `movie_reviews`, or that folder itself.
    on_done : OnDone
        Called after each method.
    seeds : int
        How often nets are trained.

    Returns
    -------
    list of Table
        One table.

    Raises
    ------
    DataError
        The data set is not there.
    """
    path = folder if (folder / "test.npz").exists() else folder / SET
    if not (path / "test.npz").exists():
        raise DataError(
            f"The data set of the paper is not in {str(folder)!r}",
            fix=f"Give the folder above {SET}, with its test.npz.",
        )
    dataset = weigh_words(load_rated(path))
    rows, correlations = [], []
    for variant in taking_part():
        n = 1 if variant.method.id == "ridge" else seeds
        outcomes = [measure(variant, dataset, seed) for seed in range(n)]
        rows.append(_line(variant.title, outcomes))
        known = [each.bias_correlation for each in outcomes]
        if not np.isnan(known).any():
            correlations.append(f"{variant.title} {mean(known):.2f}")
        on_done(variant.title)
    biases = (
        f"Learnt biases against true ones, of workers with {MIN_RATINGS} ratings or more "
        f"(the paper's Figure 4): correlation {', '.join(correlations)}."
    )
    assert dataset.test is not None
    title = f"Crowd layer, Table 2: {dataset.name}, {len(dataset.test.truth):,} test reviews"
    header = ["method", "MAE", "paper", "RMSE", "paper", "R²", "paper", "within", "labelled"]
    return [
        Table(title=title, header=[*header, "CPU s"], rows=rows, notes=(*NOTES, biases)),
    ]


def taking_part() -> Iterator[Variant]:
    """List every method of the family; the crowd layer once with each of its layers.

    Returns
    -------
    iterator of Variant
        The methods with their settings.
    """
    for variant in variants_of([FAMILY], kind="ratings"):
        if variant.method.id != "ridge":
            yield variant
            continue
        for name in TRUTHS:
            yield replace(variant, title=f"ridge on {name}", params={"truths": name})


def weigh_words(dataset: RatedSet) -> RatedSet:
    """Turn counts of words into weights, by the rated reviews alone.

    Parameters
    ----------
    dataset : RatedSet
        Features are counts.

    Returns
    -------
    RatedSet
        The same with weights as features, of the held-out items too.
    """
    counts, test = dataset.data.features, dataset.test
    assert counts is not None
    assert test is not None
    n_with = (counts > 0).sum(0)
    rarity = np.log((1 + len(counts)) / (1 + n_with)) + 1

    def weights(values: NDArray[Any]) -> NDArray[np.float32]:
        weighed = np.where(values > 0, 1 + np.log(np.maximum(values, 1)), 0) * rarity
        length = np.linalg.norm(weighed, axis=1, keepdims=True)
        return np.asarray(weighed / np.maximum(length, 1e-12), np.float32)

    held_out = HeldOutRatings(features=weights(test.features), truth=test.truth)
    return replace(dataset, data=replace(dataset.data, features=weights(counts)), test=held_out)


def measure(variant: Variant, dataset: RatedSet, seed: int) -> Outcome:
    """Train once, and compare with the true ratings.

    Parameters
    ----------
    variant : Variant
        The method and its settings.
    dataset : RatedSet
        With held-out items.
    seed : int
        Of the fit.

    Returns
    -------
    Outcome
    """
    told = variant.method.needs.gold
    data = replace(dataset.data, gold=dataset.truth) if told else dataset.data
    begun = time.process_time()
    result = variant.method.fit(data, seed=seed, **variant.params)
    cpu = time.process_time() - begun
    classifier, test = Classifier.from_result(result), dataset.test
    assert classifier is not None
    assert test is not None
    numbers = classifier.predict_numbers(test.features)
    score = NumberScore.from_numbers(numbers.truth, test.truth, numbers.low, numbers.high)
    own = NumberScore.from_numbers(result.truth, dataset.truth, result.low, result.high)
    return Outcome(
        test=score,
        labelled=np.nan if told else own.r2,
        bias_correlation=_bias_correlation(result, dataset),
        cpu_seconds=cpu,
    )


def _bias_correlation(result: Result, dataset: RatedSet) -> float:
    data, learnt = dataset.data, result.worker_scores.get("bias")
    if learnt is None:
        return float("nan")
    n = np.maximum(data.labels_per_worker, 1)
    error = data.label - dataset.truth[data.item]
    true = np.bincount(data.worker, error, data.n_workers) / n
    busy = data.labels_per_worker >= MIN_RATINGS
    if busy.sum() < 3:  # noqa: PLR2004  (two points are a line)
        return float("nan")
    return float(np.corrcoef(learnt[busy], true[busy])[0, 1])


def _line(title: str, outcomes: list[Outcome]) -> list[str]:
    paper = PAPER.get(title, ("–", "–", "–"))
    mae, rmse = (mean(getattr(each.test, name) for each in outcomes) for name in ("mae", "rmse"))
    return [
        title,
        f"{mae:.3f}",
        paper[0],
        f"{rmse:.3f}",
        paper[1],
        _percent([each.test.r2 for each in outcomes]),
        paper[2],
        f"{100 * mean(each.test.coverage for each in outcomes):.0f} %",
        _percent([each.labelled for each in outcomes]),
        f"{mean(each.cpu_seconds for each in outcomes):.1f}",
    ]


def _percent(shares: list[float]) -> str:
    if np.isnan(shares).any():
        return "–"
    spread = f" ± {100 * stdev(shares):.2f}" if len(shares) > 1 else ""
    return f"{100 * mean(shares):.2f}{spread}"
