"""Forward-backward and Viterbi over many texts at once, held to the enumeration of all paths."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crowdcore.engine.texts.chain import FORBIDDEN, ChainLayout, forward_backward, viterbi

Array = NDArray[np.float64]


def enumerated(
    emission: Array, transition: Array, start: Array
) -> tuple[Array, Array, float, tuple[int, ...]]:
    """Beliefs [T, K], expected transitions [K, K], log-likelihood and best path of one text."""
    length, n_classes = emission.shape
    paths = list(product(range(n_classes), repeat=length))
    scores = np.array(
        [
            start[path[0]]
            + sum(emission[t, k] for t, k in enumerate(path))
            + sum(transition[a, b] for a, b in pairwise(path))
            for path in paths
        ]
    )
    top = scores.max()
    weight = np.exp(scores - top)
    beliefs, expected = np.zeros_like(emission), np.zeros_like(transition)
    for path, share in zip(paths, weight / weight.sum(), strict=True):
        for t, k in enumerate(path):
            beliefs[t, k] += share
        for a, b in pairwise(path):
            expected[a, b] += share
    return beliefs, expected, float(top + np.log(weight.sum())), paths[int(scores.argmax())]


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=6),
    n_classes=st.integers(1, 4),
    seed=st.integers(0, 10_000),
    forbid=st.booleans(),
)
def test_every_belief_equals_the_enumeration_of_all_paths(
    lengths: list[int], n_classes: int, seed: int, forbid: bool
) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    emission = rng.normal(size=(offsets[-1], n_classes)) * 4
    transition, start = rng.normal(size=(n_classes, n_classes)), rng.normal(size=n_classes)
    if forbid and n_classes > 1:
        transition[0, -1] = start[-1] = FORBIDDEN
    layout = ChainLayout(offsets)
    tensors = (
        torch.tensor(emission[layout.order]),
        torch.tensor(transition),
        torch.tensor(start),
    )
    beliefs = forward_backward(layout, *tensors)
    posterior = beliefs.posterior.numpy()[layout.rank]
    best = viterbi(layout, *tensors).numpy()[layout.rank]
    transitions, log_likelihood, starts = np.zeros_like(transition), 0.0, np.zeros(n_classes)
    for begin, end in pairwise(offsets):
        exact, expected, log_total, path = enumerated(emission[begin:end], transition, start)
        np.testing.assert_allclose(posterior[begin:end], exact, atol=1e-12)
        assert tuple(best[begin:end]) == path
        transitions += expected
        starts += exact[0]
        log_likelihood += log_total
    np.testing.assert_allclose(beliefs.transitions.numpy(), transitions, atol=1e-12)
    np.testing.assert_allclose(beliefs.starts.numpy(), starts, atol=1e-12)
    assert float(beliefs.log_likelihood) == pytest.approx(log_likelihood, abs=1e-10)


def test_a_text_whose_every_path_is_unlikely_still_has_beliefs() -> None:
    layout = ChainLayout(np.array([0, 3]))
    emission = torch.tensor([[0.0, -3000.0], [-3000.0, 0.0], [0.0, -3000.0]])
    transition = torch.tensor([[0.0, FORBIDDEN], [FORBIDDEN, 0.0]])
    for dtype in (torch.float32, torch.float64):
        beliefs = forward_backward(layout, emission.to(dtype), transition, torch.zeros(2))
        assert torch.isfinite(beliefs.posterior).all()
        torch.testing.assert_close(beliefs.posterior.sum(1), torch.ones(3, dtype=dtype))
    assert viterbi(layout, emission, transition, torch.zeros(2)).tolist() == [0, 0, 0]


def test_single_precision_gives_the_same_beliefs() -> None:
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 40, 200))])
    layout = ChainLayout(offsets)
    emission = torch.tensor(rng.normal(size=(offsets[-1], 5)) * 3)
    transition = torch.tensor(rng.normal(size=(5, 5))).log_softmax(1)
    double = forward_backward(layout, emission, transition, transition[0])
    single = forward_backward(layout, emission.float(), transition, transition[0])
    torch.testing.assert_close(single.posterior.double(), double.posterior, atol=1e-4, rtol=0)
    torch.testing.assert_close(single.transitions, double.transitions, rtol=1e-4, atol=1e-2)
