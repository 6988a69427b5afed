"""Verdicts on real crowds with gold: whether intervals hold, and who is accused."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np

from crowdcore.audit.judging.judgement import judge_crowd
from crowdcore.bench.datasets import DataSet
from crowdcore.bench.papers import Table
from crowdcore.bench.verdicts.coverage import Coverage, coverage
from crowdcore.bench.verdicts.rivals import rules_on_truths
from crowdcore.results.result import wilson

GOLD_ITEMS = (0, 10, 20, 50)
MIN_GOLD_LABELS = 20
MIN_WORKERS = 5
"""Sets with fewer workers to compare are not called the worst."""

NEARLY_RANDOM = 0.25


def tables(datasets: Sequence[DataSet], on_done: Callable[[str], None]) -> list[Table]:
    """Measure verdicts on data sets with known truths.

    Parameters
    ----------
    datasets
        Labels with truths.
    on_done
        Called with a short text after each data set.

    Returns
    -------
    list of Table
        How often intervals hold, and how right accusations are.
    """
    return [_coverage(datasets, on_done), _accusations(datasets, on_done)]


def _coverage(datasets: Sequence[DataSet], on_done: Callable[[str], None]) -> Table:
    measured: dict[int, dict[str, Coverage]] = {n_gold: {} for n_gold in GOLD_ITEMS}
    for dataset in datasets:
        truth = dataset.truth.astype(np.int64)
        seed = zlib.crc32(dataset.name.encode())
        usable = int(((truth >= 0) & (dataset.data.labels_per_item > 0)).sum())
        for n_gold in GOLD_ITEMS:
            if usable >= 2 * max(GOLD_ITEMS[2], n_gold):
                measure = coverage(dataset.data, truth, n_gold=n_gold, seed=seed)
                if len(measure.holds):
                    measured[n_gold][dataset.name] = measure
        on_done(dataset.name)
    rows = []
    for n_gold, sets in measured.items():
        if not sets:
            continue
        holds = np.concatenate([measure.holds for measure in sets.values()])
        largest = max(sets, key=lambda name: len(sets[name].holds))
        rest = np.concatenate(
            [np.zeros(0), *(measure.holds for name, measure in sets.items() if name != largest)]
        )
        means = {
            name: float(measure.holds.mean())
            for name, measure in sets.items()
            if len(measure.holds) >= MIN_WORKERS
        }
        worst = min(means, key=lambda name: means[name])
        error = np.concatenate([measure.error for measure in sets.values()])
        width = np.concatenate([measure.width for measure in sets.values()])
        rows.append(
            [
                str(n_gold),
                f"{len(sets)}",
                f"{len(holds):,}",
                _percent(holds.mean()),
                f"{_percent(rest.mean())} ({largest})" if len(rest) else "-",
                _percent(float(np.mean(list(means.values())))),
                _percent(float(np.median(list(means.values())))),
                f"{_percent(means[worst])} ({worst})",
                f"{100 * error.mean():+.1f}",
                f"{np.median(width):.2f}",
            ]
        )
    return Table(
        title="Intervals of accuracies on new items of real crowds: how often 95 % ones hold",
        header=[
            "gold items",
            "sets",
            "workers",
            "all workers",
            "without the largest set",
            "mean of sets",
            "median set",
            "worst set",
            "bias, points",
            "width",
        ],
        rows=rows,
        notes=["Half of the items with a truth are kept away; workers with ten labels on them."],
    )


def _accusations(datasets: Sequence[DataSet], on_done: Callable[[str], None]) -> Table:
    names = ("rules on truths", "evidence")
    counts = {name: np.zeros(4, np.int64) for name in names}
    n_workers, n_above, n_certain = 0, 0, 0
    for dataset in datasets:
        data, truth = dataset.data, dataset.truth
        on_gold = truth[data.item] >= 0
        worker = data.worker[on_gold]
        n = np.bincount(worker, minlength=data.n_workers).astype(np.float64)
        is_hit = truth[data.item[on_gold]] == data.label[on_gold]
        hits = np.bincount(worker, weights=is_hit, minlength=data.n_workers)
        key = worker.astype(np.int64) * data.n_classes
        size = data.n_workers * data.n_classes
        given = np.bincount(key + data.label[on_gold], minlength=size)
        seen = np.bincount(key + truth[data.item[on_gold]], minlength=size)
        both = given * seen.astype(np.float64)
        chance = both.reshape(-1, data.n_classes).sum(1) / np.maximum(n, 1) ** 2
        low, high = wilson(hits, n)
        enough = n >= MIN_GOLD_LABELS
        above = enough & (low > chance)
        certain = enough & (high < chance + NEARLY_RANDOM * (1 - chance))
        accused = (rules_on_truths(data).accused, judge_crowd(data).accused.accused)
        for name, flags in zip(names, accused, strict=True):
            parts = (flags & enough, flags & above, flags & certain)
            counts[name][:3] += [int(part.sum()) for part in parts]
        n_workers += int(enough.sum())
        n_above += int(above.sum())
        n_certain += int(certain.sum())
        on_done(dataset.name)
    rows = [
        [
            name,
            f"{n_workers:,}",
            f"{measure[0]:,}",
            f"{measure[1]:,}",
            _percent(measure[1] / max(1, n_above), 2),
            f"{_percent(measure[2] / max(1, n_certain))} of {n_certain:,}",
        ]
        for name, measure in counts.items()
    ]
    return Table(
        title=f"Accusations in real crowds, without gold ({MIN_GOLD_LABELS} or more gold labels)",
        header=[
            "",
            "workers",
            "accused",
            "of them above chance",
            "share of all above chance",
            "certainly nearly random: caught",
        ],
        rows=rows,
        notes=[
            "Above chance: the 95 % interval of the accuracy on gold lies above that of blind "
            "answers. Certainly nearly random: it lies below a quarter of the way to always right."
        ],
    )


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"
