"""Every method keeps every promise; the registry says which methods there are."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
import torch
from annotated_types import Ge, Gt, Le, Lt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from crowdcore.audit.workers import worker_confusion
from crowdcore.data import UNKNOWN, CrowdData, DataError
from crowdcore.labels import Labels
from crowdcore.method import Method, Needs
from crowdcore.registry import fit, get_method, methods
from crowdcore.result import Result
from crowdcore.run import Cancelled, Progress, Run
from tests.crowds import (
    GOLDEN,
    easy_crowd,
    golden_crowd,
    lopsided_crowd,
    unseen,
    with_some_gold,
)
from tests.excuses import EXCUSES
from tests.golden.renew import numbers

HEADINGS = ["Idea", "Use it when", "Avoid it when", "Departures from the paper", "Cost"]
WORSE_THAN_MAJORITY = 0.02


@pytest.fixture(params=list(methods()))
def method(request: pytest.FixtureRequest) -> Method:
    promise = request.node.originalname.removeprefix("test_")
    for (name, excused), reason in EXCUSES.items():
        if name == request.param and promise.startswith(excused):
            request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    return get_method(request.param)


def suited(method: Method, data: CrowdData) -> CrowdData:
    """Give the method two classes, and gold for a third of the items, where it needs them."""
    data = easy_crowd(2) if method.needs.two_classes else data
    return with_some_gold(data) if method.needs.gold else data


def run_on(method: Method, data: CrowdData, **extra: Any) -> Result:
    return method.fit(data, **{**method.quick, **extra})


def test_same_seed_gives_the_same_numbers(method: Method) -> None:
    data = suited(method, golden_crowd())
    first, second = run_on(method, data, seed=3), run_on(method, data, seed=3)
    np.testing.assert_array_equal(first.posterior, second.posterior)
    np.testing.assert_array_equal(first.truth, second.truth)


def test_order_of_labels_is_irrelevant(method: Method) -> None:
    data = suited(method, golden_crowd())
    order = np.random.default_rng(1).permutation(data.n_labels)
    shuffled = dataclasses.replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    before, after = run_on(method, data), run_on(method, shuffled)
    np.testing.assert_allclose(before.posterior, after.posterior, atol=1e-9)


def test_renaming_renames_the_answers(method: Method) -> None:
    data = suited(method, easy_crowd())
    rng = np.random.default_rng(2)
    item, worker = rng.permutation(data.n_items), rng.permutation(data.n_workers)
    cls = rng.permutation(data.n_classes)
    assert data.gold is not None
    renamed = dataclasses.replace(
        data,
        item=item[data.item],
        worker=worker[data.worker],
        label=cls[data.label],
        gold=np.where(data.has_gold, cls[data.gold], UNKNOWN)[np.argsort(item)],
    )
    before, after = run_on(method, data), run_on(method, renamed)
    same = after.posterior[item][:, cls]
    np.testing.assert_allclose(before.posterior, same, atol=1e-6)
    if before.confusion is not None and after.confusion is not None:
        back = after.confusion[worker][:, cls][:, :, cls]
        np.testing.assert_allclose(before.confusion, back, atol=1e-6)


def test_unanimous_items_keep_their_label(method: Method) -> None:
    data = suited(method, easy_crowd())
    result = run_on(method, data)
    unanimous = (data.votes > 0).sum(1) == 1
    assert unanimous.sum() > 10
    np.testing.assert_array_equal(result.truth[unanimous], data.votes[unanimous].argmax(1))


def test_input_is_not_modified(method: Method) -> None:
    data = suited(method, golden_crowd())
    copies = [array.copy() for array in (data.item, data.worker, data.label)]
    run_on(method, data)
    for array, copy in zip((data.item, data.worker, data.label), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_cancel_stops_an_iterating_method(method: Method) -> None:
    data = suited(method, golden_crowd())
    free = Run()
    run_on(method, data, run=free)
    if free.steps < 2:
        return  # it does not iterate, so there is nothing to stop
    asked = iter(range(1000))
    run = Run(should_stop=lambda: next(asked) >= 1)
    with pytest.raises(Cancelled):
        run_on(method, data, run=run)
    assert run.steps == 1


def test_progress_is_reported_by_an_iterating_method(method: Method) -> None:
    told: list[Progress] = []
    run = Run(watch=told.append)
    run_on(method, suited(method, golden_crowd()), run=run)
    if run.steps < 2:
        return  # done in one go
    assert told
    assert all(0 < report.step <= report.total for report in told)
    assert any(len(row) > 2 for row in run.history), "it iterates but logs no curve"


def test_confusion_is_oriented_right(method: Method) -> None:
    data, truth = lopsided_crowd(2 if method.needs.two_classes else 3)
    data = with_some_gold(data) if method.needs.gold else data
    confusion = worker_confusion(run_on(method, data))
    turned = truth.transpose(0, 2, 1) / truth.transpose(0, 2, 1).sum(2, keepdims=True)
    assert np.abs(confusion - truth).mean() < np.abs(confusion - turned).mean()


def test_easy_crowd_is_solved_about_as_well_as_by_majority(method: Method) -> None:
    data = easy_crowd(2 if method.needs.two_classes else 3)
    result, majority = run_on(method, suited(method, data)), fit(data, "mv")
    assert data.gold is not None
    judged = unseen(result)
    right = (result.truth == data.gold)[judged].mean()
    assert right > 1.5 / data.n_classes
    assert right >= (majority.truth == data.gold)[judged].mean() - WORSE_THAN_MAJORITY


def test_unmet_needs_are_sentences(method: Method) -> None:
    ratings = CrowdData(
        item=np.zeros(2, np.int32), worker=np.arange(2), label=np.array([1.5, 2.5]), items=("i",),
        workers=("a", "b"), kind="ratings",
    )  # fmt: skip
    with pytest.raises(DataError, match="ratings"):
        run_on(method, ratings)
    if method.needs != Needs():
        bare = dataclasses.replace(easy_crowd(3), gold=None)
        assert all(sentence.endswith(".") for sentence in method.needs.unmet(bare))


@st.composite
def tiny_crowds(draw: st.DrawFn) -> CrowdData:
    n_items, n_workers = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n_classes = draw(st.integers(1, 3))
    cell = st.tuples(
        st.integers(0, n_items - 1), st.integers(0, n_workers - 1), st.integers(0, n_classes - 1)
    )
    triples = np.array(draw(st.lists(cell, min_size=1, max_size=10)))
    return CrowdData(
        item=triples[:, 0],
        worker=triples[:, 1],
        label=triples[:, 2],
        items=tuple(f"i{i}" for i in range(n_items)),
        workers=tuple(f"w{w}" for w in range(n_workers)),
        classes=tuple("abc"[:n_classes]),
    )


@given(data=tiny_crowds())
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_any_small_crowd_gives_a_valid_result_or_a_sentence(
    method: Method, data: CrowdData
) -> None:
    sentence = "."
    try:
        result = run_on(method, data)
    except DataError as error:
        sentence = str(error)
    assert sentence.endswith((".", "?"))
    if sentence != ".":
        return
    assert np.isfinite(result.posterior).all()
    table = result.workers()
    assert len(table) == data.n_workers
    assert len(result.truths()) == data.n_items


def test_result_pickles(method: Method) -> None:
    result = run_on(method, suited(method, golden_crowd()))
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.posterior, result.posterior)
    assert again.provenance == result.provenance


def bounds_are_told(method: Method) -> None:
    for name, field in method.config.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name
        assert not field.is_required(), name
        kind: Any = field.annotation
        if kind in (int, float):
            marks = {type(mark) for mark in field.metadata}
            assert marks & {Ge, Gt}, f"{name} has no lower bound"
            assert marks & {Le, Lt}, f"{name} has no upper bound"
        else:
            assert kind is bool or get_origin(kind) is Literal, name
            assert kind is bool or len(get_args(kind)) > 1, name


def test_every_parameter_has_bounds_a_description_and_a_plain_type(method: Method) -> None:
    bounds_are_told(method)


def test_card_is_complete(method: Method) -> None:
    parts = ("\n" + method.card).split("\n## ")[1:]
    assert [part.splitlines()[0] for part in parts] == HEADINGS
    for part in parts:
        assert len(part.split()) > 8, part
    assert method.summary.endswith(".")


def test_golden_numbers_hold(method: Method) -> None:
    found = numbers(method.id)
    kept = json.loads((GOLDEN / f"{method.id}.json").read_text())
    assert {key: found[key] for key in ("correct", "of", "tied")} == {
        key: kept[key] for key in ("correct", "of", "tied")
    }
    np.testing.assert_allclose(found["posterior"], kept["posterior"], atol=2e-5)


class _ShapesOnly(Labels):
    """Labels on a device that is not there; builds of torch without CUDA refuse to copy to it."""

    def tensor(self, array: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        kind = dtype or torch.from_numpy(array.copy()).dtype
        return torch.zeros(array.shape, dtype=kind, device=self.device)


def _move_shapes_only(module: torch.nn.Module, device: torch.device) -> torch.nn.Module:
    """What `Module.to` does, for a device that is not there: weights exist in shape only."""
    for part in module.modules():
        for name, weight in part.named_parameters(recurse=False):
            moved = torch.zeros_like(weight, device=device)
            setattr(part, name, torch.nn.Parameter(moved, requires_grad=weight.requires_grad))
        for name, values in part.named_buffers(recurse=False):
            setattr(part, name, torch.zeros_like(values, device=device))
    return module


class _BlindRun(Run):
    """A run on a device that is not there: numbers exist in shape only."""

    def log(self, **metrics: Any) -> None:
        """Drop what cannot be read."""

    def plateaued(self, name: str, tol: float, *, relative: bool = False) -> bool:
        return False

    def settled(self, change: Any, tol: float) -> bool:
        return False

    def part(self, title: str) -> Run:
        return self

    def generator(self) -> Any:
        return None


def test_fake_cuda_finds_no_tensor_left_on_the_cpu(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without CUDA in the build, torch aborts in a backward pass there: only forward is tried.
    monkeypatch.setattr(torch.Tensor, "backward", lambda loss: None)
    monkeypatch.setattr(torch.nn.Module, "to", _move_shapes_only)
    steps = {"max_iter": 2} if "max_iter" in method.config.model_fields else {}
    config = method.configure({**method.quick, **steps})
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        labels = _ShapesOnly(suited(method, golden_crowd()), torch.device("cuda"))
        estimate = method.function(labels, config, _BlindRun())
    assert isinstance(estimate.posterior, torch.Tensor)
    assert estimate.posterior.device.type == "cuda"
