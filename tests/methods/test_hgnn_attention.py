"""Attention to all pairs in O(n log n), and to fewer pairs, against the dense softmax."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import leaky_relu

from crowdcore.methods.graph.hgnn import _attention as attention


def dense(query: Tensor, key: Tensor, value: Tensor, slope: float, allowed: Tensor) -> Tensor:
    """The n × n softmax, as the equations have it."""
    scores = leaky_relu(query.unsqueeze(1) + key, slope) if query.dim() == 1 else query @ key.T
    return scores.masked_fill(~allowed, -torch.inf).softmax(1) @ value


def assert_same(found: Tensor, expected: Tensor, inputs: Sequence[Tensor], atol: float) -> None:
    """Outputs and gradients agree."""
    torch.manual_seed(1)
    weigh = torch.randn(expected.shape, dtype=expected.dtype)
    torch.testing.assert_close(found.double(), expected, atol=atol, rtol=atol)
    ours = torch.autograd.grad((found * weigh.to(found.dtype)).sum(), inputs)
    theirs = torch.autograd.grad((expected * weigh).sum(), inputs)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=atol, rtol=atol)


def drawn(n: int, size: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Random queries, keys and values that want gradients; with size 0 scores are additive."""
    torch.manual_seed(0)
    shapes = [(n, size) if size else (n,), (n, size) if size else (n,), (n, 3)]
    query, key, value = (torch.randn(s, dtype=torch.float64).requires_grad_() for s in shapes)
    return query, key, value


def everywhere(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool)


SCORES = st.one_of(
    st.floats(-1e4, 1e4),
    st.floats(-3, 3),
    st.integers(-2, 2).map(float),  # ties, and sums of exactly 0
    st.sampled_from([1e4, -1e4, 0.0]),
)


@given(
    pairs=st.lists(st.tuples(SCORES, SCORES, st.floats(-100, 100)), min_size=1, max_size=12),
    slope=st.sampled_from([0.0, 0.01, 0.2, 1.0]),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_scores_give_what_the_dense_softmax_gives(
    pairs: list[tuple[float, float, float]], slope: float
) -> None:
    columns = torch.tensor(pairs, dtype=torch.float64)
    query, key = (columns[:, place].clone().requires_grad_() for place in range(2))
    value = torch.stack([columns[:, 2], columns[:, 2].sin()], 1).requires_grad_()
    found = attention.full(query, key, value, slope)
    expected = dense(query, key, value, slope, everywhere(len(pairs)))
    assert_same(found, expected, [query, key, value], 1e-8)


@pytest.mark.parametrize("shift", [-50.0, 0.0, 50.0])
@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_all_above_or_all_below_the_split_is_no_special_case(shift: float, slope: float) -> None:
    query, key, value = drawn(40)
    found = attention.full(query + shift, key, value, slope)
    expected = dense(query + shift, key, value, slope, everywhere(40))
    assert_same(found, expected, [query, key, value], 1e-10)


@pytest.mark.parametrize("n", [1, 2, 700])
def test_single_precision_stays_within_a_hundred_thousandth(n: int) -> None:
    torch.manual_seed(3)
    query, key, value = (torch.randn(s).requires_grad_() for s in ((n,), (n,), (n, 30)))
    singles = query, key, value
    q, k, v = (one.detach().double().requires_grad_() for one in singles)
    doubles = q, k, v
    found, expected = attention.full(query, key, value), dense(q, k, v, 0.0, everywhere(n))
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-5)
    weigh = torch.randn(n, 30) / n**0.5
    ours = torch.autograd.grad((found * weigh).sum(), singles)
    theirs = torch.autograd.grad((expected * weigh.double()).sum(), doubles)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.double(), other, atol=1e-5, rtol=1e-5)


def test_a_tiny_part_of_a_wide_range_keeps_its_digits() -> None:
    # The lowest rows attend to keys whose powers are e^-600 of the largest.
    key = torch.linspace(-600, 0, 50, dtype=torch.float64).requires_grad_()
    query = torch.linspace(-700, 700, 50, dtype=torch.float64).requires_grad_()
    _, _, value = drawn(50)
    found = attention.full(query, key, value, 0.9)
    expected = dense(query, key, value, 0.9, everywhere(50))
    assert_same(found, expected, [query, key, value], 1e-10)


def test_many_columns_at_a_time_and_one_at_a_time_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = drawn(30)
    whole = attention.full(*inputs)
    gradients = torch.autograd.grad(whole.square().sum(), inputs)
    monkeypatch.setattr(attention, "NUMBERS_PER_CHUNK", 1)
    parts = attention.full(*inputs)
    torch.testing.assert_close(parts, whole, rtol=0, atol=0)
    torch.testing.assert_close(torch.autograd.grad(parts.square().sum(), inputs), gradients)


def test_fifty_thousand_nodes_need_no_square_of_memory() -> None:
    n = 50_000  # the weights alone would be 10 GB
    query, key, value = (torch.randn(shape).requires_grad_() for shape in ((n,), (n,), (n, 4)))
    found = attention.full(query, key, value)
    found.sum().backward()  # type: ignore[no-untyped-call]
    some = torch.randint(n, (5,))
    rows = leaky_relu(query[some].unsqueeze(1).double() + key, 0.0).softmax(1) @ value.double()
    torch.testing.assert_close(found[some].double(), rows, atol=1e-6, rtol=1e-5)


def test_dot_products_are_dense_softmax_too() -> None:
    inputs = drawn(40, 6)
    expected = dense(*inputs, 0.0, everywhere(40))
    assert_same(attention.full(*inputs), expected, inputs, 1e-10)


@pytest.mark.parametrize("size", [0, 6])
def test_only_near_nodes_are_heard(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "SCORES_PER_CHUNK", 200)  # in parts of five rows
    inputs = drawn(40, size)
    allowed = (torch.rand(40, 40) < 0.2) | torch.eye(40, dtype=torch.bool)
    expected = dense(*inputs, 0.1, allowed)
    assert_same(attention.within(*inputs, allowed, 0.1), expected, inputs, 1e-10)


@pytest.mark.parametrize("size", [0, 6])
def test_a_sample_and_oneself_are_heard(size: int) -> None:
    inputs = drawn(40, size)
    chosen = torch.tensor([3, 17, 20])
    allowed = torch.eye(40, dtype=torch.bool)
    allowed[:, chosen] = True
    expected = dense(*inputs, 0.1, allowed)
    assert_same(attention.sampled(*inputs, chosen, 0.1), expected, inputs, 1e-10)


COPIES = torch.tensor([1.0, 3.0, 2.0, 1.0, 5.0], dtype=torch.float64)


@pytest.mark.parametrize("size", [0, 6])
@pytest.mark.parametrize("slope", [0.0, 0.2])
@pytest.mark.parametrize("everyone", [True, False])
def test_a_node_that_stands_for_many_is_heard_as_often(
    everyone: bool, slope: float, size: int
) -> None:
    query, key, value = inputs = drawn(5, size)
    often = COPIES.long()
    keys, values = (rows.repeat_interleave(often, 0) for rows in (key, value))
    if everyone:
        allowed, found = everywhere(5), attention.full(*inputs, slope, COPIES)
    else:
        allowed = (torch.rand(5, 5) < 0.5) | torch.eye(5, dtype=torch.bool)
        found = attention.within(*inputs, allowed, slope, copies=COPIES)
    expected = dense(query, keys, values, slope, allowed.repeat_interleave(often, 1))
    assert_same(found, expected, inputs, 1e-10)
