"""Agreement of every kind of labels, and of every two workers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdcore.audit.agreements.panel import MAX_STEPS, measure_agreement
from crowdcore.audit.agreements.worker_pairs import busiest_workers, compare_workers
from crowdcore.audit.kinds import audit_of
from crowdcore.audit.ratings.agreement import compare_raters
from crowdcore.audit.sets.answer_pairs import sets_of
from crowdcore.data import CrowdData, DataError
from crowdcore.samples import load_sample, samples
from crowdcore.simulation.spans import simulate_spans

SAMPLES = [sample.id for sample in samples()]


def crowd_of(name: str) -> CrowdData:
    return (
        simulate_spans(texts=30, workers=6, seed=1).data if name == "spans" else load_sample(name)
    )


@pytest.mark.parametrize("name", [*SAMPLES, "spans"])
def test_every_kind_has_its_measures_and_says_the_alpha_of_the_health_report(name: str) -> None:
    data = crowd_of(name)
    panel, agreed = measure_agreement(data), audit_of(data.kind).agreement(data)
    assert panel.main.value == pytest.approx(agreed.alpha)
    assert panel.n_items == agreed.n_items
    assert len(panel.by_item) > 0
    assert panel.by_class.empty == bool(panel.no_classes)
    assert all(entry.meaning for entry in panel.coefficients)
    assert all(entry.value is not None or entry.note for entry in panel.coefficients)
    assert f"{panel.main.value:.3f}" in panel.describe()
    shares = panel.by_class["agreement"].to_numpy()
    assert ((shares >= 0) & (shares <= 1)).all()


def test_ratings_on_a_fine_scale_say_why_they_have_no_percent() -> None:
    data = load_sample("quality")
    fine = CrowdData(
        item=data.item,
        worker=data.worker,
        label=np.asarray(data.label) + np.linspace(0, 0.01, data.n_labels),
        items=data.items,
        workers=data.workers,
        kind="ratings",
    )
    panel = measure_agreement(fine)
    assert panel.percent.value is None
    assert f"at most {MAX_STEPS} steps" in panel.percent.note
    assert panel.no_classes


@pytest.mark.parametrize("name", ["relevance", "tags", "quality"])
def test_pairs_of_workers_are_those_counted_one_by_one(name: str) -> None:
    data = load_sample(name)
    names = busiest_workers(data, 5)
    pairs = compare_workers(data, names)
    for a, b in itertools.combinations(range(5), 2):
        codes = [data.workers.index(names[k]) for k in (a, b)]
        rows = [
            dict(zip(data.item[data.worker == w], data.label[data.worker == w], strict=True))
            for w in codes
        ]
        shared = sorted(rows[0].keys() & rows[1].keys())
        assert pairs.n_shared[a, b] == pairs.n_shared[b, a] == len(shared)
        if name == "quality":
            expected = compare_raters(data, *codes).kappa
        elif name == "tags":
            sets = sets_of(data)
            mine, theirs = (sets[[row[item] for item in shared]] for row in rows)
            either = (mine | theirs).sum(1)
            alike = np.where(either > 0, (mine & theirs).sum(1) / np.maximum(either, 1), 1)
            expected = alike.mean()
        else:
            expected = np.mean([rows[0][item] == rows[1][item] for item in shared])
        if expected is not None and shared:
            assert pairs.agreement[a, b] == pytest.approx(expected)
    table = pairs.table()
    assert table["n_shared"].is_monotonic_decreasing
    assert ("agreement_low" in table) == (name == "relevance")


def test_two_annotators_who_mark_the_same_have_an_f1_of_one() -> None:
    data = simulate_spans(texts=30, workers=6, seed=1).data
    twin = np.where(data.worker == 0)[0]
    names = (*data.workers, "twin")
    doubled = CrowdData(
        item=np.concatenate([data.item, data.item[twin]]),
        worker=np.concatenate([data.worker, np.full(len(twin), len(names) - 1)]),
        label=np.concatenate([data.label, data.label[twin]]),
        items=data.items,
        workers=names,
        classes=data.classes,
        kind="sequences",
        offsets=data.offsets,
    )
    pairs = compare_workers(doubled, [names[0], "twin", names[1]])
    assert pairs.agreement[0, 1] == pytest.approx(1)
    assert pairs.agreement[0, 2] < 1
    texts = np.searchsorted(np.asarray(data.offsets), data.item[twin], side="right")
    assert pairs.n_shared[0, 1] == len(np.unique(texts))


def test_a_comparison_counts_whichever_item_stood_on_the_left() -> None:
    from crowdcore.building import comparisons_of

    data = comparisons_of(
        [("x", "y", "a", "left"), ("y", "x", "b", "right"), ("x", "y", "c", "right")]
    )
    pairs = compare_workers(data, ["a", "b", "c"])
    assert pairs.agreement[0, 1] == 1
    assert pairs.agreement[0, 2] == 0
    assert pairs.n_shared[0, 1] == 1


def test_unknown_workers_are_refused() -> None:
    with pytest.raises(DataError, match="no worker called 'nobody'"):
        compare_workers(load_sample("relevance"), ["nobody"])
