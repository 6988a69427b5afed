"""Every method keeps every promise, whatever kind of labels it works on."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
import torch
from annotated_types import Ge, Gt, Le, Lt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from crowdcore.data import CrowdData, DataError, Kind
from crowdcore.method import Method
from crowdcore.results.result import Result
from crowdcore.run import Cancelled, Progress, Run
from tests.conformance import test_classes, test_ratings, test_sequences
from tests.conformance.suites import SUITES, Suite, golden_numbers
from tests.crowds import GOLDEN

HEADINGS = ["Idea", "Use it when", "Avoid it when", "Departures from the paper", "Cost"]
BY_KIND = [test_classes, test_ratings, test_sequences]
"""The modules with promises of one kind."""


def run_on(method: Method, data: CrowdData, **extra: Any) -> Result:
    return method.fit(data, **{**method.quick, **extra})


def test_same_seed_gives_the_same_numbers(suite: Suite, method: Method) -> None:
    data = suite.golden(method)
    first, second = run_on(method, data, seed=3), run_on(method, data, seed=3)
    for name in first.answers:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_order_of_labels_is_irrelevant(suite: Suite, method: Method) -> None:
    data = suite.golden(method)
    order = np.random.default_rng(1).permutation(data.n_labels)
    before, after = run_on(method, data), run_on(method, data.only(order))
    answer = before.answers[0]
    np.testing.assert_allclose(getattr(before, answer), getattr(after, answer), atol=1e-9)


def test_input_is_not_modified(suite: Suite, method: Method) -> None:
    data = suite.golden(method)
    copies = [array.copy() for array in (data.item, data.worker, data.label)]
    run_on(method, data)
    for array, copy in zip((data.item, data.worker, data.label), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_cancel_stops_an_iterating_method(suite: Suite, method: Method) -> None:
    data = suite.golden(method)
    free = Run()
    run_on(method, data, run=free)
    if free.steps < 2:
        return  # it does not iterate, so there is nothing to stop
    asked = iter(range(1000))
    run = Run(should_stop=lambda: next(asked) >= 1)
    with pytest.raises(Cancelled):
        run_on(method, data, run=run)
    assert run.steps == 1


def test_progress_is_reported_by_an_iterating_method(suite: Suite, method: Method) -> None:
    told: list[Progress] = []
    run = Run(watch=told.append)
    run_on(method, suite.golden(method), run=run)
    if run.steps < 2:
        return  # done in one go
    assert told
    assert all(0 < report.step <= report.total for report in told)
    assert any(len(row) > 2 for row in run.history), "it iterates but logs no curve"


def test_labels_of_another_kind_are_refused_in_a_sentence(method: Method) -> None:
    crowds = {
        "classes": CrowdData.from_triples([("i", "a", "yes"), ("i", "b", "no")]),
        "ratings": CrowdData(
            item=np.zeros(2, np.int32),
            worker=np.arange(2),
            label=np.array([1.5, 2.5]),
            items=("i",),
            workers=("a", "b"),
            kind="ratings",
        ),
    }
    for kind, data in crowds.items():
        if kind not in method.kinds:
            with pytest.raises(DataError, match=f"these data are {kind}"):
                run_on(method, data)


@given(drawing=st.data())
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_any_small_crowd_gives_a_valid_result_or_a_sentence(
    kind: Kind, method: Method, drawing: st.DataObject
) -> None:
    data = drawing.draw(SUITES[kind].tiny)
    sentence = "."
    try:
        result = run_on(method, data)
    except DataError as error:
        sentence = str(error)
    assert sentence.endswith((".", "?"))
    if sentence != ".":
        return
    table = result.workers()
    assert len(table) == data.n_workers
    assert len(result.truths()) == SUITES[kind].n_truths(data)


def test_leaves_what_it_declares(suite: Suite, method: Method) -> None:
    result = run_on(method, suite.featured(method))
    assert set(result.artefacts) == {kind.name for kind in method.leaves}


def test_excuses_are_for_promises_that_there_are(method: Method) -> None:
    names = [name for module in BY_KIND for name in vars(module)]
    promises = [
        name.removeprefix("test_") for name in (*globals(), *names) if name.startswith("test_")
    ]
    for excused, reason in method.excuses.items():
        assert any(promise.startswith(excused) for promise in promises), excused
        assert reason.endswith(".")


def test_result_pickles(suite: Suite, method: Method) -> None:
    result = run_on(method, suite.golden(method))
    again = pickle.loads(pickle.dumps(result))
    for name in result.answers:
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
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


def test_golden_numbers_hold(kind: Kind, method: Method) -> None:
    found = golden_numbers(kind, method)
    kept = json.loads((GOLDEN / kind / f"{method.id}.json").read_text())
    assert set(found) == set(kept)
    for name, value in kept.items():
        if isinstance(value, int):
            assert found[name] == value, name
        else:
            np.testing.assert_allclose(found[name], value, rtol=2e-5, atol=2e-5)


def move_shapes_only(module: torch.nn.Module, device: torch.device) -> torch.nn.Module:
    """What `Module.to` does, for a device that is not there: weights exist in shape only."""
    for part in module.modules():
        for name, weight in part.named_parameters(recurse=False):
            moved = torch.zeros_like(weight, device=device)
            setattr(part, name, torch.nn.Parameter(moved, requires_grad=weight.requires_grad))
        for name, values in part.named_buffers(recurse=False):
            setattr(part, name, torch.zeros_like(values, device=device))
    return module


class BlindRun(Run):
    """A run on a device that is not there: numbers exist in shape only."""

    def log(self, **metrics: Any) -> None:
        """Drop what cannot be read."""

    def plateaued(self, name: str, tol: float, *, relative: bool = False) -> bool:
        return False

    def settled(self, change: Any, tol: float) -> bool:
        return False

    def part(self, title: str, *, stop_at: float = math.inf) -> Run:
        return self

    def generator(self) -> Any:
        return None


def test_fake_cuda_finds_no_tensor_left_on_the_cpu(
    suite: Suite, method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without CUDA in the build, torch aborts in a backward pass there: only forward is tried.
    monkeypatch.setattr(torch.Tensor, "backward", lambda loss: None)
    monkeypatch.setattr(torch.nn.Module, "to", move_shapes_only)
    steps = {"max_iter": 2} if "max_iter" in method.config.model_fields else {}
    config = method.configure({**method.quick, **steps})
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        labels = suite.shapes_only(suite.golden(method), torch.device("cuda"))
        estimate = method.function(labels, config, BlindRun())
    tensors = [value for value in vars(estimate).values() if isinstance(value, torch.Tensor)]
    assert tensors
    assert all(tensor.device.type == "cuda" for tensor in tensors)
