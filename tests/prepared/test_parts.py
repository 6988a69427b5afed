from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from crowdcore.data import CrowdData
from crowdcore.engine.prepared_labels import PreparedLabels
from crowdcore.engine.ratings import Ratings
from crowdcore.parts import Threads
from crowdcore.prepared.layout import PreparedFolder
from crowdcore.prepared.part import PreparedPart
from crowdcore.prepared.prepare import prepare
from crowdcore.registry import all_methods, fit, get_method
from crowdcore.run import Cancelled, Run

CPU = torch.device("cpu")
SPREADING = sorted(m.id for m in all_methods() if m.spreads and "classes" in m.kinds)


def write_labels(path: Path, *, n_items: int = 400, seed: int = 0, gold_items: int = 0) -> None:
    """A table of labels of three classes; the first items have gold."""
    rng = np.random.default_rng(seed)
    names = np.array(["cat", "dog", "owl"])
    truth = rng.integers(0, 3, n_items)
    accuracy = rng.uniform(0.4, 0.95, 25)
    rows = ["task,worker,label,gold"]
    for item in range(n_items):
        gold = names[truth[item]] if item < gold_items else ""
        for worker in rng.choice(25, rng.integers(2, 7), replace=False):
            right = rng.random() < accuracy[worker]
            label = truth[item] if right else rng.integers(0, 3)
            rows.append(f"t{item},w{worker},{names[label]},{gold}")
    order = rng.permutation(len(rows) - 1) + 1
    path.write_text("\n".join([rows[0], *(rows[at] for at in order)]) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> PreparedFolder:
    where = tmp_path_factory.mktemp("prepared")
    write_labels(where / "labels.csv", gold_items=40)
    return prepare([where / "labels.csv"], where / "out")


def run_threads(work: Callable[[int], None], n: int) -> None:
    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def fit_parts(folder: PreparedFolder, name: str, shares: list[list[int]], **params: Any) -> Any:
    """Fit a method on threads, one for each share of the buckets."""
    chosen = get_method(name)
    config = chosen.configure(params)
    parts = Threads.make(len(shares))
    estimates: list[Any] = [None] * len(shares)
    errors: list[BaseException] = []

    def work(rank: int) -> None:
        data = PreparedPart(folder, shares[rank])
        use_gold = bool(params.get("use_gold"))
        labels = PreparedLabels(data, CPU, parts=parts[rank], use_gold=use_gold)
        try:
            estimates[rank] = chosen.function(labels, config, Run(device="cpu", parts=parts[rank]))
        except BaseException as error:
            errors.append(error)
            parts[rank].abort()

    run_threads(work, len(shares))
    if errors:
        raise errors[0]
    by_bucket = {}
    for share, estimate in zip(shares, estimates, strict=True):
        starts = PreparedPart(folder, share).bucket_starts
        for place, bucket in enumerate(share):
            by_bucket[bucket] = estimate.posterior[starts[place] : starts[place + 1]]
    whole = torch.cat([by_bucket[bucket] for bucket in sorted(by_bucket)])
    return whole.numpy(), estimates, parts


@pytest.mark.parametrize("name", ["mean", "gauss"])
def test_ratings_over_parts_are_those_of_one(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(1)
    truth, bias = rng.normal(50, 10, 150), rng.normal(0, 5, 12)
    rows = [
        f"i{item},w{worker},{truth[item] + bias[worker] + rng.normal(0, 3):.2f}"
        for item in range(150)
        for worker in rng.choice(12, 5, replace=False)
    ]
    (tmp_path / "ratings.csv").write_text("\n".join(["item,worker,score", *rows]) + "\n")
    folder = prepare([tmp_path / "ratings.csv"], tmp_path / "out", roles={"label": "score"})
    assert folder.manifest.kind == "ratings"
    expected = fit(everything(folder), name)
    found: list[Any] = [None, None, None]
    parts = Threads.make(3)
    shares = [[0, 1, 2, 3], [4], [5, 6, 7]]

    def work(rank: int) -> None:
        data = PreparedPart(folder, shares[rank])
        ratings = Ratings(data, CPU, parts=parts[rank])
        method = get_method(name, kind="ratings")
        run = Run(device="cpu", parts=parts[rank])
        found[rank] = method.function(ratings, method.configure({}), run)

    run_threads(work, 3)
    np.testing.assert_allclose(
        np.concatenate([each.truth for each in found]), expected.truth, atol=1e-8
    )
    np.testing.assert_allclose(
        np.concatenate([each.spread for each in found]), expected.spread, atol=1e-8
    )
    assert parts[0].calls == parts[1].calls == parts[2].calls


def everything(folder: PreparedFolder) -> CrowdData:
    return PreparedPart(folder, range(len(folder.manifest.buckets))).in_memory()


@pytest.mark.parametrize("name", SPREADING)
def test_parts_of_unequal_size_find_what_one_finds(folder: PreparedFolder, name: str) -> None:
    one, (single,), _ = fit_parts(folder, name, [list(range(8))])
    three, estimates, parts = fit_parts(folder, name, [[0, 3, 4, 5, 6], [], [1, 2, 7]])
    np.testing.assert_allclose(three, one, atol=1e-9)
    for score, values in single.worker_scores.items():
        np.testing.assert_allclose(estimates[1].worker_scores[score], values, atol=1e-8)
    assert parts[0].calls == parts[1].calls == parts[2].calls


@pytest.mark.parametrize("name", [name for name in SPREADING if name not in ("fds", "auto")])
def test_prepared_labels_give_what_labels_in_memory_give(folder: PreparedFolder, name: str) -> None:
    posterior, _, _ = fit_parts(folder, name, [list(range(8))])
    result = fit(everything(folder), name)
    np.testing.assert_allclose(posterior, result.posterior, atol=1e-9)


def test_gold_that_one_part_holds_counts_for_all(folder: PreparedFolder) -> None:
    one, _, _ = fit_parts(folder, "ds", [list(range(8))], use_gold=True)
    three, _, _ = fit_parts(folder, "ds", [[0, 1, 2], [3], [4, 5, 6, 7]], use_gold=True)
    np.testing.assert_allclose(three, one, atol=1e-9)
    data = everything(folder)
    assert data.gold is not None
    known = np.flatnonzero(data.has_gold)
    assert len(known) == 40
    assert (one[known, data.gold[known]] == 1).all()


def test_random_ties_do_not_depend_on_the_number_of_parts(folder: PreparedFolder) -> None:
    def truths(shares: list[list[int]]) -> list[int]:
        _, estimates, _ = fit_parts(folder, "mv", shares, ties="random")
        found = {}
        for share, estimate in zip(shares, estimates, strict=True):
            starts = PreparedPart(folder, share).bucket_starts
            for place, bucket in enumerate(share):
                found[bucket] = estimate.truth[starts[place] : starts[place + 1]].tolist()
        return [code for bucket in sorted(found) for code in found[bucket]]

    assert truths([list(range(8))]) == truths([[5, 1], [0, 2, 3], [4, 6, 7]])


def test_a_stop_that_one_part_sees_ends_all(folder: PreparedFolder) -> None:
    parts = Threads.make(2)
    ended: list[int] = []

    def work(rank: int) -> None:
        labels = PreparedLabels(PreparedPart(folder, folder.share(rank, 2)), CPU, parts=parts[rank])
        run = Run(device="cpu", parts=parts[rank], should_stop=lambda: rank == 1 and run.steps > 2)
        with pytest.raises(Cancelled):
            get_method("ds").function(labels, get_method("ds").configure({}), run)
        ended.append(run.steps)

    run_threads(work, 2)
    assert ended == [3, 3]
