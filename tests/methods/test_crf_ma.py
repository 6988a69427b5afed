"""CRF-MA: the gradient of its loss, and whom it follows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from crowdcore.data import CrowdData, DataError
from crowdcore.engine import minimise
from crowdcore.engine.labels import Labels
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.methods.sequences.crf_ma import _model
from crowdcore.methods.sequences.crf_ma._model import CrowdCRF
from crowdcore.registry import fit
from crowdcore.simulation.spans import simulate_spans

CPU = torch.device("cpu")


def small(texts: int = 6) -> CrowdData:
    return simulate_spans(texts=texts, workers=4, types=1, annotations_per_text=3, seed=3).data


def loss_of(model: CrowdCRF, monkeypatch: pytest.MonkeyPatch) -> minimise.Function:
    """The function that an M step minimises."""
    seen: list[minimise.Function] = []

    def keep(
        function: minimise.Function, point: torch.Tensor, **_: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        seen.append(function)
        return point, torch.zeros(())

    monkeypatch.setattr(_model, "lbfgs", keep)
    model.fit_weights(1)
    return seen[0]


def test_the_gradient_is_that_of_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    model = CrowdCRF(Labels(small(), CPU), 2.0)
    loss = loss_of(model, monkeypatch)
    torch.manual_seed(0)
    point = 0.3 * torch.randn_like(model.point)
    point[: model.n_tags] = 0.0  # the row of what is not there
    _, gradient = loss(point)
    used = torch.nonzero(gradient.abs() > 1e-3).flatten()
    for index in used[:: max(1, len(used) // 12)].tolist():
        step = torch.zeros_like(point)
        step[index] = 1e-5
        slope = (loss(point + step)[0] - loss(point - step)[0]) / 2e-5
        assert float(slope) == pytest.approx(float(gradient[index]), rel=1e-4, abs=1e-6)


def test_the_loss_is_that_of_all_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    data = CrowdData(
        item=np.array([0, 1]),
        worker=np.zeros(2, int),
        label=np.array([1, 2]),
        items=("a", "b"),
        workers=("w",),
        classes=("O", "B-x", "I-x"),
        kind="sequences",
        offsets=np.array([0, 2]),
        details={"token": ("New", "York")},
    )
    model = CrowdCRF(Labels(data, CPU), 1.0)
    torch.manual_seed(1)
    point = torch.randn_like(model.point)
    point[: model.n_tags] = 0.0
    table, transition = model._split(point)
    scores = model._scores(table)
    paths = {
        path: float(
            transition[0, path[0]] + scores[0, path[0]] + transition[path] + scores[1, path[1]]
        )
        for path in itertools.product(range(3), repeat=2)
    }
    total = np.logaddexp.reduce(list(paths.values()))
    value, _ = loss_of(model, monkeypatch)(point)
    assert float(value) == pytest.approx(total - paths[1, 2] + float(point @ point) / 2)


def test_a_worker_who_marks_at_random_is_followed_least() -> None:
    data = small(150)
    rng = np.random.default_rng(0)
    label = data.label.copy()
    theirs = data.worker == 2
    label[theirs] = rng.choice([0, 1], theirs.sum())
    marked = CrowdData(
        item=data.item,
        worker=data.worker,
        label=label,
        items=data.items,
        workers=data.workers,
        classes=data.classes,
        kind="sequences",
        offsets=data.offsets,
        details=data.details,
    )
    result = fit(marked, "crf_ma", max_iter=4)
    assert int(np.argmin(result.worker_scores["reliability"])) == 2
    again = Classifier.from_result(result)
    assert again is not None
    offsets = np.asarray(data.offsets)
    words = data.details["token"]
    texts = [(str(n), words[a:b]) for n, (a, b) in enumerate(itertools.pairwise(offsets))]
    np.testing.assert_array_equal(again.tag(texts).truth, result.truth)


def test_annotations_of_a_part_of_a_text_are_left_out_and_counted() -> None:
    data = small(30)
    kept = np.ones(data.n_labels, bool)
    kept[np.flatnonzero((data.worker == data.worker[0]) & (data.item == data.item[0]))] = False
    result = fit(data.only(np.flatnonzero(kept)), "crf_ma", max_iter=1)
    assert "1 annotations of a part" in result.provenance.notes[0]
    one = data.only(np.array([0]))
    with pytest.raises(DataError, match="Nobody annotated a whole text"):
        fit(one, "crf_ma")
